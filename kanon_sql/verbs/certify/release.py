"""Claims about the release itself: its rows, its cells, its classes, and what they have in common with the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.hierarchies import computed_value, exact_value, value_text
from kanon_sql.sql import Relation, Sql, Statement, exact_text, identifier, literal
from kanon_sql.verbs.certify.book import Book, Must
from kanon_sql.verbs.certify.classes import At, at_levels, classes_of, of_release, released_cells, released_there
from kanon_sql.verbs.certify.definitions import Definition, NotCertified
from kanon_sql.verbs.certify.ground import Attribute, Ground, numbered
from kanon_sql.verbs.certify.provenance import FINGERPRINT, written

__all__ = ["CELLS", "MEASURED", "claim_release", "foreign_cells"]

CELLS = ("column_number", "level", "cells", "foreign_cells")
"""The columns of a claim about cells."""

MEASURED = ("requirement", "classes", "violating", "worst", "unmeasured")
"""The columns of a claim about classes."""

_MASK = "*"
"""What a suppressed row that stays has for a label."""


def claim_release(
    book: Book,
    ground: Ground,
    release: Relation,
    definitions: Sequence[Definition],
    manifest: Mapping[str, Any],
    limit: int,
) -> Iterator[NotCertified]:
    """Claim all that can be said of the release; yields what cannot, and why.

    Args:
        book: where claims are written.
        ground: the tables of the session.
        release: the release.
        definitions: the requirements.
        manifest: of the run that published the release.
        limit: rows that may be suppressed.
    """
    rows = manifest["rows"]
    masked = int(rows.get("masked") or 0)
    compiler = book.workspace.compiler
    columns = compiler.statement("verbs/certify/columns", release=release)
    spec = ground.spec
    named = {*spec.quasi_identifiers, *spec.sensitive, *spec.keep}
    expected = [name for name in ground.columns if name in named] + [column.name for column in spec.computed]
    book.claim("release", "columns", "the release has exactly these columns", columns, list(ground.released))
    if sorted(ground.released) != sorted(expected):
        have, should = ", ".join(ground.released), ", ".join(expected)
        book.problems.append(f"the release has the columns {have}, and should have {should}")
    book.claim(
        "release", "counts",
        "the rows of the source are those of the release and the suppressed ones, of which there are not too many",
        compiler.statement("verbs/certify/counts", rows=ground.rows, release=ground.release, limit=limit),
        ("source_rows", "released_rows", "suppressed_rows", "uncovered_rows", "null_rows", "exceeding"),
        [
            ("source_rows", "=", rows["source"]), ("released_rows", "=", rows["released"] + masked),
            ("suppressed_rows", "<=", limit), ("suppressed_rows", ">=", 0), ("uncovered_rows", "=", 0),
        ],
    )  # fmt: skip
    node = None if manifest.get("intervals") is not None else manifest.get("node")
    yield from _cells(book, ground, node, masked)
    _computed_columns(book, ground, release)
    if node is None or masked:
        yield NotCertified(
            "that each class has the source's rows under its labels",
            "labels differ by class or value, so labels of several classes may fit a row; instead it is claimed that "
            "the release shows no combination of values more often than the source"
            "" if node is None else
            "the suppressed rows are in the release, masked, and their labels do not show which source rows they are",
        )  # fmt: skip
        _containment(book, ground)
    else:
        _agreement(book, ground, node, rows)
    if node is None or masked or any(ground.columns[name].kind == "float" for name in ground.kept):
        book.claim(
            "release", "fingerprint", "the rows of the release are those of which the other claims were made",
            written(book, 0, release, list(ground.released)), FINGERPRINT,
        )  # fmt: skip
    for place, item in enumerate(definitions):
        at = of_release(ground, item)
        if ground.by_person:
            if node is None or masked or not item.by_all:
                yield NotCertified(
                    item.label, "labels do not show which persons a class has; the source does so only for "
                        "full-domain recoding by all quasi-identifiers without masked rows"
                )  # fmt: skip
                continue
            at = released_there(ground, node, item)
        _requirement(book, ground, item, at, place)


def _requirement(book: Book, ground: Ground, item: Definition, at: At, place: int) -> None:
    classes = classes_of(ground, item, at)
    compiler = book.workspace.compiler
    name = f"requirement_{place}"
    counted = "persons" if ground.by_person else "rows"
    says = f"{item.label}: {item.says} (counting {counted})"
    if item.kind == "risk":
        numbers = item.numbers
        must: list[Must] = [] if numbers["average"] is None else [("average", "<=", numbers["average"])]
        must += [] if numbers["highest"] is None else [("at_risk", "<=", item.threshold)]
        statement = compiler.statement(
            "verbs/certify/risk", says=says, classes=classes, safe_size=numbers["safe_size"],
            most_average=numbers["average"], most_at_risk=None if numbers["highest"] is None else item.threshold,
        )  # fmt: skip
        book.claim(
            "release", name, says, statement, ("requirement", "classes", "average", "at_risk", "exceeding"), must
        )
        return
    statement = compiler.statement("verbs/certify/worst", says=says, classes=classes, largest=item.largest_is_worst)
    must = [("violating", "=", 0)]
    book.claim("release", name, says, statement, MEASURED, must)


def _cells(book: Book, ground: Ground, node: Mapping[str, int] | None, masked: int) -> Iterator[NotCertified]:
    """Claim that every cell is a label of its column's hierarchy: of the node's level, or else of any."""
    compiler = book.workspace.compiler
    branches = []
    for attribute in ground.attributes:
        if node is None and (why := _no_labels(ground, attribute)) is not None:
            yield NotCertified(f"that every cell of {attribute.name} is a label of its hierarchy", why)
            continue
        levels = range(attribute.height) if node is None else [node[attribute.name]]
        tops = [attribute.top] if node is None or node[attribute.name] >= attribute.height else []
        if masked or node is None:
            tops.append(_masked(attribute))
        level = None if node is None else node[attribute.name]
        branches.append(foreign_cells(book, attribute, ground.release, level, levels, tops))
    if branches:
        book.claim(
            "release", "cells", "every cell of a quasi-identifier is a label that its hierarchy gives to a value",
            compiler.union(branches), CELLS, [("foreign_cells", "=", 0)],
        )  # fmt: skip


def foreign_cells(
    book: Book, attribute: Attribute, release: Relation, level: int | None, levels: Sequence[int], tops: Sequence[Sql]
) -> Statement:
    """What counts the cells of a column that are no label of some levels.

    Args:
        book: where statements are compiled.
        attribute: the column.
        release: the different rows of the release.
        level: the only level that labels may have; None where they may have any.
        levels: those whose labels may be there.
        tops: other labels that may be.
    """
    return book.workspace.compiler.statement(
        "verbs/certify/cells", number=attribute.index, level=-1 if level is None else level, release=release,
        found=attribute.values, tops=tops, labels=attribute.labels, cell=attribute.cell, written=f"q{attribute.index}",
        levels=[f"l{level}" for level in levels if level < attribute.height],
    )  # fmt: skip


def _computed_columns(book: Book, ground: Ground, release: Relation) -> None:
    """Claim of columns beside labels that they say what the label says, and of all numbers that no label is split."""
    compared = []
    for column in ground.spec.computed:
        if column.name in ground.released:
            label, cell = (Sql(f"released.{identifier(name)}") for name in (column.of, column.name))
            item, kind = ground.spec.quasi_identifiers[column.of], ground.columns[column.of].kind
            compared.append({
                "label": exact_value(ground.released[column.of], "released"),
                "written": exact_value(ground.released[column.name], "released"),
                "compared": exact_text(Sql(f"CAST({cell} AS VARCHAR)")) if column.dates else cell,
                "expected": computed_value(column, item, kind, label, as_text=column.dates),
            })  # fmt: skip
    for attribute in ground.attributes:
        if attribute.item.as_ == "number":  # 0 and -0, or 1.0 and 1.00, are one value, and a reader sees two
            cell = Sql(f"released.{identifier(attribute.name)}")
            label = exact_text(value_text(attribute.column, cell))
            written = exact_text(Sql(f"CAST({cell} AS VARCHAR)"))
            compared.append({"label": label, "written": written, "compared": cell, "expected": cell})
    branches = [
        book.workspace.compiler.statement("verbs/certify/computed", number=number, release=release, **item)
        for number, item in enumerate(compared)
    ]
    if branches:
        book.claim(
            "release", "computed", "every computed column agrees with its label, and no computed column or number "
                "distinguishes rows with the same label"
            "", book.workspace.compiler.union(branches),
            ("column_number", "wrong_rows", "split_labels"), [("wrong_rows", "=", 0), ("split_labels", "=", 0)],
        )  # fmt: skip


def _masked(attribute: Attribute) -> Sql:
    if attribute.salt is None:
        return exact_text(Sql(f"CAST({literal(_MASK)} AS VARCHAR)"))
    return literal(numbered(attribute.salt, _MASK))


def _no_labels(ground: Ground, attribute: Attribute) -> str | None:
    options = ground.spec.recoding
    if ground.spec.search.of_intervals and options.is_full_domain:
        return "its labels are intervals that the search chose"
    if options.declared.of_numbers:
        return "its cells are aggregates of a group's values"
    if options.in_ranges(attribute.name):
        return "its labels are ranges of the values of a class"
    return None


def _agreement(book: Book, ground: Ground, node: Mapping[str, int], rows: Mapping[str, int]) -> None:
    others = [ground.others[name] for name in ground.kept]
    made = at_levels(ground, node, [{"name": name, "value": identifier(name)} for name in others])
    statement = book.workspace.compiler.statement(
        "verbs/certify/agreement", keys=made.names, others=others, made=made.base,
        released=released_cells(ground, node, others),
    )  # fmt: skip
    dropped = book.claims[1].rows[0][4]
    book.claim(
        "release", "agreement",
        "each class of the release has exactly the rows that the source has under its labels, with all other "
        "released columns",
        statement, ("classes", "differing", "released_rows", "suppressed_rows"),
        [("differing", "=", 0), ("suppressed_rows", "=", rows["source"] - rows["released"] - dropped)],
    )  # fmt: skip


def _containment(book: Book, ground: Ground) -> None:
    """Where a row's class does not follow from its values: what can be said of the rows of both tables."""
    others = [ground.others[name] for name in ground.kept]
    if others:
        statement = book.workspace.compiler.statement(
            "verbs/certify/contained", others=others, released=ground.release, vectors=ground.vectors
        )
        book.claim(
            "release", "contained", "each combination of other released values occurs in the source at least as "
                "often as in the release",
            statement, ["exceeding"], [("exceeding", "=", 0)],
        )  # fmt: skip
