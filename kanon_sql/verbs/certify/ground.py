"""What the statements of a certificate stand on: the source's vectors, and the labels of their values at every level.

Made by plain SQL from the source and the spec's hierarchies alone: nothing of the run that made the release is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Column
from kanon_sql.errors import UnsupportedError
from kanon_sql.hierarchies import TOP, exact_value, listed_for, rule_labels, value_text, with_top
from kanon_sql.relations import Placed
from kanon_sql.spec import QuasiIdentifier, Spec
from kanon_sql.sql import Relation, Sql, exact_text, identifier, literal, source_relation
from kanon_sql.verbs.certify.book import Book

__all__ = ["Attribute", "Ground", "attribute_of", "lay_ground", "numbered"]


NARROW = 30_000
"""Of fewer different values the numbers of their labels are stored in 16 bits, which are grouped faster."""


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier.

    Attributes:
        index: its place among them.
        column: the source's.
        item: its hierarchy, weight and limits.
        height: the level of its top.
        top: the one label there, as SQL that cells are compared with.
        salt: of a hierarchy given as rows, whose labels are numbers; None where labels are texts.
        values: the table of its values in the source, NULL among them, and how many rows have each.
        labels: the table of its values and their labels.
        different: how many values it has there, NULL among them.
        listed: the rows of its hierarchy; None where its domain is the values that occur.
    """

    index: int
    column: Column
    item: QuasiIdentifier
    height: int
    top: Sql
    salt: str | None
    values: Relation
    labels: Relation
    different: int
    listed: int | None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def lowest(self) -> int:
        """The lowest level that may be released."""
        return self.item.minimum_level

    @property
    def highest(self) -> int:
        """The highest one."""
        return self.height if self.item.maximum_level is None else self.item.maximum_level

    def label(self, level: int) -> Sql:
        """The column of the labelled vectors with the numbers of its labels of a level below the top."""
        return identifier(f"l{self.index}_{level}")

    @property
    def cell(self) -> Sql:
        """The cells of the release, as labels are compared."""
        text = identifier(f"q{self.index}")
        if self.salt is None:
            return text
        return Sql(f'({literal(self.salt)} || {text}) COLLATE "draw"')


@dataclass(frozen=True)
class Ground:
    """The tables of the session that claims are made of.

    Attributes:
        spec: what was asked.
        columns: the source's columns.
        release: the different rows of the release, with how many there are: ``q0``, ... and ``others``.
        released: its columns.
        attributes: the quasi-identifiers.
        others: column -> its name in the tables: what is released besides, and what a requirement looks at.
        vectors: every different row of the source by these columns (and its person), with how many rows it has.
        rows: the same with the numbers of their labels at every level in place of the values.
        looked_at: those of ``others`` that requirements look at.
    """

    spec: Spec
    columns: Mapping[str, Column]
    release: Relation
    released: Mapping[str, Column]
    attributes: Sequence[Attribute]
    others: Mapping[str, str]
    vectors: Relation
    rows: Relation
    looked_at: Sequence[str]

    @property
    def by_person(self) -> bool:
        """Whether persons are counted, not rows."""
        return self.spec.unit is not None

    @property
    def drops_nulls(self) -> bool:
        """Whether rows with a NULL quasi-identifier are suppressed."""
        return self.spec.nulls == "suppress"

    @property
    def kept(self) -> list[str]:
        """The columns of the release that the source has, and that are no quasi-identifiers."""
        return [name for name in self.released if name in self.others]


def numbered(salt: str, text: str) -> int:
    """What ``COLLATE "draw"`` makes of a salted text: the first 48 bits of its SHA-256."""
    return int(hashlib.sha256((salt + text).encode()).hexdigest()[:12], 16)


def lay_ground(
    book: Book, spec: Spec, columns: Mapping[str, Column], release: Relation, attributes_of_models: Sequence[str]
) -> Ground:
    """Make the tables of the session.

    Args:
        book: where statements are written down.
        spec: the source, the roles and the hierarchies.
        columns: the source's columns.
        release: the release.
        attributes_of_models: the sensitive attributes that requirements look at.

    Raises:
        UnsupportedError: values have several parents, of which a run has chosen one.
    """
    workspace = book.workspace
    released = workspace.columns(release)
    names = list(spec.quasi_identifiers)
    kept = [name for name in columns if name in released and name not in names]
    others = {name: f"a{place}" for place, name in enumerate(dict.fromkeys([*attributes_of_models, *kept]))}
    taken = {**{name: f"q{place}" for place, name in enumerate(names)}, **others}
    values = {column: exact_value(columns[name], "kanon_source") for name, column in taken.items()}
    if spec.unit is not None:
        values["person"] = exact_value(columns[spec.unit], "kanon_source")
    workspace.report("reading the source: one pass", None)
    vectors = book.table("vectors")
    book.make(
        vectors,
        "vectors",
        workspace.compiler.statement(
            "frequency/raw", target=vectors, names=list(values), values=list(values.values()), source=source_relation()
        ),
    )
    written = {
        taken[name]: exact_value(columns[name], "released")
        if name in others
        else exact_text(_as_label(spec, columns[name]))
        for name in released
        if name in taken
    }
    workspace.report("reading the release: one pass", None)
    found = book.table("released")
    book.make(
        found,
        "released",
        workspace.compiler.statement(
            "verbs/certify/released", target=found, columns=list(written), values=list(written.values()),
            release=release,
        ),
    )  # fmt: skip
    attributes = [attribute_of(book, spec, columns[name], place, vectors) for place, name in enumerate(names)]
    rows = book.table("rows")
    book.make(
        rows,
        "rows",
        workspace.compiler.statement(
            "verbs/certify/labelled",
            target=rows,
            vectors=vectors,
            heights=[attribute.height for attribute in attributes],
            tables=[attribute.labels for attribute in attributes],
            carried=[
                *(f"q{attribute.index}" for attribute in attributes if not attribute.height),
                *others.values(),
                *(["person"] if spec.unit is not None else []),
            ],
            drops_nulls=spec.nulls == "suppress",
        ),
    )
    looked_at = [others[name] for name in attributes_of_models]
    return Ground(spec, columns, found, released, attributes, others, vectors, rows, looked_at)


def _as_label(spec: Spec, column: Column) -> Sql:
    """A cell of the release as the label that it is; of what is released as a number, as values are written."""
    cell = Sql(f"released.{identifier(column.name)}")
    if spec.quasi_identifiers[column.name].as_ == "number":
        return value_text(column, cell)
    return Sql(f"CAST({cell} AS VARCHAR)")


def attribute_of(book: Book, spec: Spec | Placed, column: Column, index: int, vectors: Relation) -> Attribute:
    """A quasi-identifier, with tables of its values and of their labels.

    Args:
        book: where statements are written down.
        spec: says what its hierarchy is.
        column: the source's.
        index: its place among all quasi-identifiers.
        vectors: the rows of the source, with its values as ``q`` and that place.

    Raises:
        UnsupportedError: values have several parents, or a hierarchy table has changed.
    """
    item = spec.quasi_identifiers[column.name]
    if item.parents == "several":
        raise UnsupportedError(
            f"quasi_identifiers.{column.name}: its values have several parents, from which the run chose by the data; "
            "a certificate needs one parent per value: write the chosen ones into a hierarchy"
        )
    if item.by_counts:
        raise UnsupportedError(
            f"quasi_identifiers.{column.name}: which values are rare depends on the rows of one moment, which no "
            "certificate counts; write the labels into a file (kanon-sql hierarchy --output), and publish with it"
        )
    table, values = book.table(f"labels{index}"), book.table(f"values{index}")
    compiler = book.workspace.compiler
    counted = compiler.statement("verbs/certify/values", target=values, vectors=vectors, column=f"q{index}")
    book.make(values, f"values{index}", counted)
    _, _, _, known, nulls = book.workspace.row("verbs/certify/domain", index=index, name="", listed=0, found=values)
    different = int(known) + int(nulls)
    context: dict[str, Any] = {"target": table, "found": values, "narrow": different < NARROW}
    text = value_text(column, Sql("value"))
    if item.table is not None:
        named = Relation(item.table)
        names = list(book.workspace.columns(named))
        rows, missing, repeated, tops, top = _summary(book, named, names)
        if missing or repeated or not rows:
            raise UnsupportedError(
                f"quasi_identifiers.{column.name}: its hierarchy table has changed: {repeated} values have several "
                f"rows, and {missing} rows lack a label; restore the table that the release was made with, or publish "
                "again"
            )
        height = len(names) - 1 if tops == 1 and len(names) > 1 else len(names)
        top_label = exact_text(Sql(f"CAST({literal(str(top) if height < len(names) else TOP)} AS VARCHAR)"))
        statement = compiler.statement(
            "verbs/certify/labels_by_table", text=text, names=names, table=named, height=height,
            **context,
        )  # fmt: skip
        book.make(table, f"labels{index}", statement)
        return Attribute(index, column, item, height, top_label, None, values, table, different, int(rows))
    given = listed_for(spec, item, column, f"quasi_identifiers.{column.name}")
    if given is not None:
        labels = with_top(given)
        height = len(labels[0]) - 1
        if not height:  # one label for all
            statement = compiler.statement("verbs/certify/labels_by_rule", labels=[], height=0, **context)
            book.make(table, f"labels{index}", statement)
            top_label = exact_text(Sql(f"CAST({literal(labels[0][0])} AS VARCHAR)"))
            return Attribute(index, column, item, 0, top_label, None, values, table, different, len(labels))
        salt = f"{spec.hash[:16]}:{index}:"
        sizes = [_sizes(labels, level) for level in range(height)]
        rows_of_numbers = [
            [number for level in range(height) for number in (numbered(salt, row[level]), sizes[level][row[level]])]
            for row in labels
        ]
        names_of_numbers = [name for level in range(height) for name in (f"l{level}", f"s{level}")]
        given_form = book.workspace.dialect.numbers("given_rows", names_of_numbers, rows_of_numbers)
        shape = compiler.shape(
            "verbs/certify/labels_by_number",
            (index, salt, text),
            lambda: {"text": text, "salt": salt, "columns": names_of_numbers, "height": height, **context},
        )
        statement = compiler.fill("verbs/certify/labels_by_number", shape, {"given": given_form})
        book.make(table, f"labels{index}", statement)
        top_label = literal(numbered(salt, labels[0][-1]))
        return Attribute(index, column, item, height, top_label, salt, values, table, different, len(labels))
    rules = rule_labels(column, item)
    statement = compiler.statement("verbs/certify/labels_by_rule", labels=rules, height=len(rules), **context)
    book.make(table, f"labels{index}", statement)
    top_label = exact_text(Sql(f"CAST({literal(TOP)} AS VARCHAR)"))
    return Attribute(index, column, item, len(rules), top_label, None, values, table, different, None)


def _summary(book: Book, table: Relation, names: Sequence[str]) -> Sequence[Any]:
    """Rows of a hierarchy table, those with a NULL, repeated values, labels of the last column, and one of them."""
    return book.workspace.row("verbs/certify/hierarchy_table", table=table, names=names)


def _sizes(labels: Sequence[Sequence[str]], level: int) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for row in labels:
        found[row[level]] = found.get(row[level], 0) + 1
    return found
