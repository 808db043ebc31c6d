"""Claims about several tables that were released together: their keys and cells, and who shares what may be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import explained_if_missing, plain_source_of
from kanon_sql.hierarchies import exact_value, value_text
from kanon_sql.relations import Placed, identifying, released_keys, requirement_label
from kanon_sql.release import MANIFEST_TABLE
from kanon_sql.spec import PERSON, Coherence, ItemColumn, KmAnonymity, RelationalSpec, Requirement
from kanon_sql.sql import Relation, Sql, Statement, exact_text, identifier, render, source_relation
from kanon_sql.verbs.certify.book import Book, Must
from kanon_sql.verbs.certify.classes import At, judged_classes
from kanon_sql.verbs.certify.definitions import Definition, NotCertified, definition_of
from kanon_sql.verbs.certify.ground import Attribute, attribute_of
from kanon_sql.verbs.certify.provenance import FINGERPRINT, Provenance, recorded, written
from kanon_sql.verbs.certify.release import CELLS, MEASURED, foreign_cells

__all__ = ["claim_several"]

_UNCERTIFIED = (
    NotCertified("that no other release loses less", "no bound is stated for several tables"),
    NotCertified(
        "that released rows belong together as those of the source do",
        "keys are new, and nothing shows which old ones they stand for; instead it is claimed that each row belongs to "
        "one row above it",
    ),
    NotCertified(
        "whose labels those of a row are",
        "labels differ by class, and persons or rows may be left out; instead it is claimed that each cell is a label "
        "of a value of the source, and that other released values occur no more often than there",
    ),
)


@dataclass(frozen=True)
class _Table:
    """One table of the release and of the source.

    Attributes:
        number: its place among them.
        placed: what the spec says of it.
        release: the released table.
        released: its columns.
        reader: a workspace whose statements read the source.
        columns: the columns of the source.
        rows: the released rows, with whose they are and what they say; a table of the session.
    """

    number: int
    placed: Placed
    release: Relation
    released: Mapping[str, Column]
    reader: Workspace
    columns: Mapping[str, Column]
    rows: Relation

    @property
    def name(self) -> str:
        """Its name in the spec."""
        return self.placed.name

    @property
    def unchanged(self) -> list[str]:
        """The columns that are released as they are."""
        return [*self.placed.table.sensitive, *self.placed.table.keep]

    @property
    def is_split(self) -> bool:
        """Whether its rows are items of a text, which plain SQL does not split."""
        return isinstance(self.placed.table, ItemColumn)

    def id(self, kind: str) -> str:
        """The name of a claim about it."""
        return kind if not self.number else f"{kind}_{self.number}"


def claim_several(
    workspace: Workspace, spec: RelationalSpec, manifest: Mapping[str, Any]
) -> tuple[Book, dict[str, Any]]:
    """Claim all that can be said of a release of several tables.

    Args:
        workspace: where statements run.
        spec: what published it.
        manifest: of the run that did.

    Returns:
        The claims, and the other parts of a certificate.
    """
    book = Book(workspace)
    tables = {name: _table(book, spec, name, number) for number, name in enumerate([PERSON, *spec.below])}
    for table in tables.values():
        _make_rows(book, table, tables)
    _claim_rows(book, spec, tables, manifest)
    left = list(_UNCERTIFIED)
    vectors = _claim_cells(book, tables, manifest, left)
    _claim_requirements(book, spec, tables, vectors, left)
    provenance = _claim_provenance(book, spec, tables, manifest)
    return book, {
        "claims": [claim.to_dict() for claim in book.claims],
        "optimality": None,
        "not_certified": [item.to_dict() for item in left],
        "provenance": provenance,
    }


def _table(book: Book, spec: RelationalSpec, name: str, number: int) -> _Table:
    workspace, placed, parts = book.workspace, Placed(spec, name), spec.released(name)
    with explained_if_missing(workspace.engine, parts):
        released = workspace.columns(Relation(parts))
    form = plain_source_of(workspace.engine, placed)
    with explained_if_missing(workspace.engine, placed.source.table):
        columns = workspace.described(form)
    found = _Table(
        number, placed, Relation(parts), released, workspace.reading(form), columns, book.table(f"rows{number}")
    )
    wanted = [name for name in (*released_keys(spec, name), *placed.quasi_identifiers, *found.unchanged) if name]
    missing = [name for name in wanted if name not in released]
    if missing:
        raise SpecError(
            f"release: {'.'.join(parts)} has no column {missing[0]!r}, which the spec releases, so it is not the "
            "published table; publish again"
        )
    return found


def _cell(name: str) -> Sql:
    return exact_text(Sql(f"CAST(released.{identifier(name)} AS VARCHAR)"))


def _make_rows(book: Book, table: _Table, tables: Mapping[str, _Table]) -> None:
    """The released rows, each with the person whose it is, by the released keys alone."""
    spec, placed = table.placed.spec, table.placed
    _, refers = released_keys(spec, table.name)
    own = identifying(spec, table.name)
    labels = [_cell(name) for name in placed.quasi_identifiers]
    sensitive = [exact_value(table.released[name], "released") for name in placed.table.sensitive]
    shared = {"target": table.rows, "release": table.release, "sensitive": sensitive, "labels": labels}
    key = exact_value(table.released[own[0]], "released") if own else None
    if refers is None:
        statement = book.workspace.compiler.statement("verbs/certify/tables/persons", key=key, **shared)
    else:
        above = spec.below[table.name].above
        statement = book.workspace.compiler.statement(
            "verbs/certify/tables/rows",
            key=key,
            refers=exact_value(table.released[refers], "released"),
            parent=tables[above].rows,
            of_person=above == PERSON,
            **shared,
        )
    book.make(table.rows, f"rows{table.number}", statement)


# --- Rows and cells ------------------------------------------------------------------------


def _claim_rows(book: Book, spec: RelationalSpec, tables: Mapping[str, _Table], manifest: Mapping[str, Any]) -> None:
    """Claim the columns of each released table, its rows, and that each belongs to one row above it."""
    compiler = book.workspace.compiler
    for table in tables.values():
        expected = [name for name in released_keys(spec, table.name) if name is not None]
        expected += [*table.placed.quasi_identifiers, *table.unchanged, *table.placed.table.replace]
        statement = compiler.statement("verbs/certify/columns", release=table.release)
        shown = ".".join(table.release.parts)
        book.claim(
            "release", table.id("columns"), f"{shown} has exactly these columns", statement, list(table.released)
        )
        if sorted(table.released) != sorted(expected):
            have, should = ", ".join(table.released), ", ".join(expected)
            book.problems.append(f"{shown} has the columns {have}, and should have {should}")
    noted = manifest["release_of_tables"]["tables"]
    counts = [
        table.reader.compiler.statement(
            "verbs/certify/tables/counts",
            name=name,
            source=None if table.is_split else source_relation(),
            release=table.release,
            rows=table.rows,
            has_key=bool(identifying(spec, name)),
            limit=spec.suppression.most_persons(int(noted[name]["rows"])) if name == PERSON else None,
        )
        for name, table in tables.items()
    ]
    book.claim(
        "release",
        "counts",
        "each released row has a key of its own, if any, and belongs to one row of the table above it; there are no "
        "more rows than in the source, and not too many persons were left out",
        compiler.union(counts),
        ("table_name", "source_rows", "released_rows", "wrong_rows", "exceeding"),
        [("wrong_rows", "=", 0), ("exceeding", "=", 0)],
    )
    for row in book.claims[-1].rows:
        item = noted.get(row[0], {})
        if row[2] != item.get("released") or row[1] not in (None, item.get("rows")):
            book.problems.append(f"{row[0]} does not have the rows that the manifest says")


def _claim_cells(
    book: Book, tables: Mapping[str, _Table], manifest: Mapping[str, Any], left: list[NotCertified]
) -> dict[str, Relation]:
    """Claim that cells are labels of the source's values, and other values no more frequent than there.

    Returns:
        Table -> its different rows in the source.
    """
    compiler, vectors = book.workspace.compiler, dict[str, Relation]()
    node = manifest["release_of_tables"]["node"] if manifest["release_of_tables"]["recoding"] == "full_domain" else None
    branches: list[Statement] = []
    for name, table in tables.items():
        if table.is_split:
            left.append(
                NotCertified(
                    f"that every cell of {name} is a label of its hierarchy",
                    "its values are split from a text, and plain SQL has no one way to do that",
                )
            )
            continue
        first = sum(len(other.placed.quasi_identifiers) for other in tables.values() if other.number < table.number)
        places = {column: f"q{first + place}" for place, column in enumerate(table.placed.quasi_identifiers)}
        others = {column: f"a{place}" for place, column in enumerate(table.unchanged)}
        vectors[name] = book.table(f"vectors{table.number}")
        read = {**places, **others}
        book.make(
            vectors[name],
            f"vectors{table.number}",
            table.reader.compiler.statement(
                "frequency/raw",
                target=vectors[name],
                names=list(read.values()),
                values=[exact_value(table.columns[column], "kanon_source") for column in read],
                source=source_relation(),
            ),
        )
        if not read:
            continue
        released = book.table(f"released{table.number}")
        values = [
            *(_cell(column) for column in places),
            *(exact_value(table.released[column], "released") for column in others),
        ]
        book.make(
            released,
            f"released{table.number}",
            compiler.statement(
                "verbs/certify/released", target=released, columns=list(read.values()), values=values,
                release=table.release,
            ),
        )  # fmt: skip
        for place, column in enumerate(places, first):
            found = attribute_of(book, table.placed, table.columns[column], place, vectors[name])
            branches.append(_foreign(book, found, released, None if node is None else int(node[name][column])))
        if others:
            book.claim(
                "release",
                table.id("contained"),
                f"each combination of the values of {', '.join(others)} occurs in the source of {name} at least as "
                "often as in the release",
                compiler.statement(
                    "verbs/certify/contained", others=list(others.values()), released=released, vectors=vectors[name]
                ),
                ["exceeding"],
                [("exceeding", "=", 0)],
            )
    if branches:
        says = "every cell of a quasi-identifier is a label that its hierarchy gives to a value"
        book.claim("release", "cells", says, compiler.union(branches), CELLS, [("foreign_cells", "=", 0)])
    return vectors


def _foreign(book: Book, found: Attribute, released: Relation, level: int | None) -> Statement:
    """Cells of a column that are no label of a level, or of none."""
    levels = range(found.height) if level is None else [level]
    tops = [found.top] if level is None or level >= found.height else []
    return foreign_cells(book, found, released, level, levels, tops)


# --- Requirements --------------------------------------------------------------------------


def _claim_requirements(
    book: Book,
    spec: RelationalSpec,
    tables: Mapping[str, _Table],
    vectors: Mapping[str, Relation],
    left: list[NotCertified],
) -> None:
    """Claim each requirement, straight from its definition."""
    compiler = book.workspace.compiler
    classes, items = book.table("classes"), book.table("items")
    sensitive = spec.person.sensitive
    book.make(
        classes,
        "classes",
        compiler.statement(
            "verbs/certify/tables/classes",
            target=classes,
            persons=tables[PERSON].rows,
            sensitive=len(sensitive),
            counted=[tables[name].rows for name in spec.counted_tables],
        ),
    )
    below = [table.rows for name, table in tables.items() if name != PERSON]
    if below:
        statement = compiler.statement("verbs/certify/tables/items", target=items, classes=classes, tables=below)
        book.make(items, "items", statement)
    held = _held(book, tables) if spec.coherence else None
    for place, asked in enumerate(spec.requirements):
        if isinstance(asked, KmAnonymity):
            _claim_shared(book, asked, place, classes, items if below else None, left)
        elif isinstance(asked, Coherence):
            assert held is not None
            _claim_coherent(book, asked, place, classes, items if below else None, held)
        else:
            defined = definition_of(asked, tuple(spec.person.quasi_identifiers), sensitive)
            if isinstance(defined, Definition) and defined.kind == "order":
                defined = "certificates have no plain SQL for its order among several tables; check measures it"
            if isinstance(defined, str):
                left.append(NotCertified(requirement_label(asked), defined))
            else:
                _claim_classes(book, asked, place, defined, tables[PERSON], classes, vectors[PERSON])


def _claim_shared(
    book: Book, asked: KmAnonymity, place: int, classes: Relation, items: Relation | None, left: list[NotCertified]
) -> None:
    label = requirement_label(asked)
    if asked.m == "all":
        why = "no second opinion in plain SQL was written about whole sets of items; check measures it"
        left.append(NotCertified(label, why))
        return
    says = (
        f"{label}: at least {asked.k} persons share the labels of a person and every combination of at most {asked.m} "
        "of the person's items"
    )
    statement = book.workspace.compiler.statement(
        "verbs/certify/tables/shared",
        says=says,
        classes=classes,
        items=items,
        most=int(asked.m) if items is not None else 0,
        k=asked.k,
    )
    must: list[Must] = [("violating", "=", 0), ("worst", ">=", asked.k)]
    columns = ("requirement", "combinations", "violating", "worst")
    book.claim("release", f"requirement_{place}", says, statement, columns, must)


def _claim_coherent(
    book: Book, asked: Coherence, place: int, classes: Relation, items: Relation | None, held: Relation
) -> None:
    most, of = asked.bound
    says = (
        f"{requirement_label(asked)}: of the persons who share the labels of a person and a combination of at most "
        f"{asked.m} of the person's items, at most the share {asked.h:g} has any one sensitive value"
    )
    statement = book.workspace.compiler.statement(
        "verbs/certify/tables/coherent",
        says=says,
        classes=classes,
        items=items,
        held=held,
        most=int(asked.m or 0) if items is not None else 0,
        numerator=most,
        denominator=of,
    )
    columns = ("requirement", "combinations", "violating", "worst")
    book.claim("release", f"requirement_{place}", says, statement, columns, [("violating", "=", 0)])


def _held(book: Book, tables: Mapping[str, _Table]) -> Relation:
    """Which sensitive values each person has."""
    target = book.table("held")
    columns = [
        {
            "table": table.rows,
            "name": f"s{place}",
            "value": exact_text(value_text(table.released[name], Sql(f"listed.{identifier(f's{place}')}"))),
        }
        for table in tables.values()
        for place, name in enumerate(table.placed.table.sensitive)
    ]
    statement = book.workspace.compiler.statement("verbs/certify/tables/held", target=target, columns=columns)
    return book.make(target, "held", statement)


def _claim_classes(
    book: Book,
    asked: Requirement,
    place: int,
    item: Definition,
    persons: _Table,
    classes: Relation,
    vectors: Relation,
) -> None:
    """Claim a requirement on the classes of persons."""
    assert item.attribute is not None
    number = persons.unchanged.index(item.attribute)
    base = render(
        "verbs/certify/base",
        keys=[Sql("class")],
        carried=[{"name": "value", "value": identifier(f"s{number}")}],
        counted=Sql("1"),
        table=classes,
        alias="classes",
        filtered=False,
    )
    source = render(
        "verbs/certify/columns_of",
        alias="vectors",
        table=vectors,
        values=[identifier(f"a{number}"), identifier("row_count")],
        columns=["value", "row_count"],
    )
    says = f"{requirement_label(asked)}: {item.says} (counting persons)"
    measured = judged_classes(item, At(base, 1, classes), Sql("SUM(row_count)"), source, by_person=False)
    statement = book.workspace.compiler.statement(
        "verbs/certify/worst", says=says, classes=measured, largest=item.largest_is_worst
    )
    book.claim("release", f"requirement_{place}", says, statement, MEASURED, [("violating", "=", 0)])


# --- Provenance ----------------------------------------------------------------------------


def _claim_provenance(
    book: Book, spec: RelationalSpec, tables: Mapping[str, _Table], manifest: Mapping[str, Any]
) -> Provenance:
    """Claim the fingerprints of source and release, and what the database has recorded of the run."""
    compiler = book.workspace.compiler
    sources = [table for table in tables.values() if not table.is_split]
    read = [_source_fingerprint(table) for table in sources]
    says = "the source tables are those that were certified, by their rows whatever their order"
    book.claim("provenance", "source", says, compiler.union(read), FINGERPRINT)
    released = [written(book, table.number, table.release, list(table.released)) for table in tables.values()]
    says = "the rows of the released tables are those of which the other claims were made"
    book.claim("release", "fingerprint", says, compiler.union(released), FINGERPRINT)
    listed = list(_hierarchy_tables(tables))
    if listed:
        hierarchies = [
            written(book, number, table, list(book.workspace.columns(table))) for number, table in enumerate(listed)
        ]
        says = "the hierarchies that are tables are those that were certified"
        book.claim("provenance", "hierarchies", says, compiler.union(hierarchies), FINGERPRINT)
    release = spec.released(PERSON)
    found = recorded(
        book, "manifest", Relation((*release[:-1], MANIFEST_TABLE)), str(manifest["run_id"]), spec.hash,
        "the database has this manifest of the run that published the release, by the spec with this hash",
        release_name=book.workspace.capabilities.folded(release[-1]),
    )  # fmt: skip
    return {"source_columns": [table.name for table in sources], "manifest": found, "ledger": None}


def _source_fingerprint(table: _Table) -> Statement:
    """The rows of a source table, whatever their order, by the columns that are used."""
    spec, item = table.placed.spec, table.placed.table
    split = [column.column for column in spec.items.values() if column.table == table.name]
    names = dict.fromkeys((*item.own_keys, *item.quasi_identifiers, *table.unchanged, *item.replace, *split))
    cells = [exact_text(value_text(table.columns[name], Sql(f"listed.{identifier(name)}"))) for name in names]
    values = render("verbs/certify/written", cells=cells, table=source_relation())
    return table.reader.compiler.statement(
        "verbs/certify/fingerprint", number=table.number, text=Sql("value"), values=values
    )


def _hierarchy_tables(tables: Mapping[str, _Table]) -> Iterator[Relation]:
    columns: Sequence[Any] = [item for table in tables.values() for item in table.placed.quasi_identifiers.values()]
    yield from (Relation(name) for name in dict.fromkeys(item.table for item in columns) if name is not None)
