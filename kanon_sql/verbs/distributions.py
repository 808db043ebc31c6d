"""How the rows of the source and of the release are distributed over the labels of each column, side by side.

It is asked for by name, since it shows labels: those of the release, which enough rows have that none is small. A
count below k is never shown, nor are counts from which one follows. Three counts belong to a label: the rows of the
source with it, the released ones, and the suppressed ones, which are the difference. A label with a count between 1 and
k - 1 among these three is merged with the others of this kind. What is left to know is then the merged counts, and that
each label in them has a small count; from that a single one follows where

- a merged count is itself between 1 and k - 1, or
- few enough or enough rows are merged that each label must have 1 of them, or each k - 1.

Then the source is not shown beside the release, whose own labels are judged once more by themselves; and if they fail
as well, nothing is shown of the column. ``tests/verbs/test_distributions.py`` tries all small tables.

Marginals of several columns tell no joint count below k either: a joint count of a table with given marginals may be
anything from max(0, a + b - n) to min(a, b), which is one number only where a or b is n (the bounds of Fréchet), and
then it is a marginal count itself.

Where the spec protects persons, they are counted instead of rows: those who have the label, those with a released row,
and those without one, which is the difference again. All of the above is said of a table in which every person has one
label, as every row has. Where a person has several, the counts add up to more than all persons, and from that it may
follow how few these are, or how few have no row of a label; so nothing is shown of the column. Of the release alone the
same is asked of those who have a row in it.

Everything is a sum over the frequency sets of the search; the source is not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.evaluate import Chosen, Searched, few
from kanon_sql.frequency import FrequencySets
from kanon_sql.sql import PORTABLE, Relation, Sql
from kanon_sql.verbs.details import CellDetails, Details, DistributionDetails, of_search

__all__ = ["Asked", "details_of", "follows_small"]

Asked = bool | Literal["distributions"]
"""Whether a run counts what a report shows; with the distributions of its columns, if these are named."""

MOST = 30
"""This many labels of a column are shown, those that most rows have; the others are merged."""

_NO_RECORDS, _SHOWN, _MERGED, _SMALL = 3, 2, 1, 0
"""Kinds of rows of the template."""


@dataclass(frozen=True)
class _Suppressed:
    """The suppressed classes, by the keys of the vectors in them; no table of them where there is none."""

    classes: Relation | None
    keys: Sequence[Sql]


@dataclass(frozen=True)
class _Column:
    """Where the labels of a column are counted, and where they are named.

    Attributes:
        name: the column's.
        level: of its hierarchy; None for a sensitive attribute, whose values are released as they are.
        vectors: the frequency set.
        code: a label's number there.
        names: the lookup table.
        name_code: a label's number there.
        label: its column of labels.
    """

    name: str
    level: int | None
    vectors: Relation
    code: Sql
    names: Relation
    name_code: Sql
    label: str


def details_of(found: Searched, asked: Asked) -> Details | None:
    """What a report shows of a search that is over, while its workspace is open; None where it was not asked for."""
    if not asked:
        return None
    details = of_search(found)
    return details.model_copy(update={"distributions": _distributions(found)}) if asked == "distributions" else details


def _distributions(found: Searched) -> tuple[DistributionDetails, ...]:
    """The distributions of the quasi-identifiers below their top, and of the sensitive attributes that were counted.

    Args:
        found: a search that is over, its workspace still open. One or two statements per column, of at most
            ``MOST`` + 2 rows each.
    """
    if not isinstance(found, Chosen):
        return ()
    workspace, least = found.workspace, few(found.models)
    workspace.report("counting the rows by label", None)
    classes: Relation | None = None
    keys: Sequence[Sql] = ()
    if found.rows()["suppressed"] > found.sets.null_rows:
        classes = found.evaluator.suppressed_classes(found.node)
        keys = [Sql(key) for key in found.sets.codes.keys(found.node, PORTABLE, "held")]
    suppressed = _Suppressed(classes, keys)
    counted = _Counted(found.sets, suppressed, found.rows()["released"], least)
    made: list[DistributionDetails] = []
    for column in _columns(found):
        shown = None
        for released_alone in (False, True):
            shown = shown or counted.of(workspace, column, released_alone=released_alone)
        made.append(shown or counted.details(column, (), source=False))
    return tuple(made)


def _columns(found: Chosen) -> list[_Column]:
    sets, columns = found.sets, []
    for lookup, level in zip(sets.lookups, found.node, strict=True):
        if level < lookup.height:
            code = Sql(sets.codes.code(lookup.index, level, PORTABLE, "held"))
            own = Sql(sets.codes.from_lookup(lookup.index, level, PORTABLE))
            columns.append(_Column(lookup.name, level, sets.base, code, lookup.table, own, f"l{level}"))
    for name in found.spec.sensitive:
        if name in sets.values and name in sets.references:
            code, own = Sql("held.value_code"), Sql("code")
            columns.append(_Column(name, None, sets.values[name], code, sets.references[name], own, "value"))
    return columns


@dataclass(frozen=True)
class _Counted:
    """What labels are counted over.

    Attributes:
        sets: the frequency sets.
        suppressed: the suppressed classes.
        released: rows that are released.
        least: fewer rows or persons than this are few.
    """

    sets: FrequencySets
    suppressed: _Suppressed
    released: int
    least: int

    def details(self, column: _Column, cells: Sequence[CellDetails], *, source: bool) -> DistributionDetails:
        """A column with what is shown of it."""
        return DistributionDetails(
            name=column.name, level=column.level, least=self.least, source=source, cells=tuple(cells),
            counted="rows" if self.sets.counting == "rows" else "persons",
        )  # fmt: skip

    def of(self, workspace: Workspace, column: _Column, *, released_alone: bool) -> DistributionDetails | None:
        """The distribution of a column; None where a small count would follow from it."""
        answer = workspace.fetch(
            "verbs/distributions/labels",
            MOST + 3,
            vectors=column.vectors,
            code=column.code,
            names=column.names,
            name_code=column.name_code,
            label=column.label,
            counting=self.sets.counting,
            least=self.least,
            most=MOST,
            released_alone=released_alone,
            **self._left_out(),
        )
        cells: list[CellDetails] = []
        merged_source = merged_released = merged = judged_rows = 0
        small = False
        for kind, label, labels, source, released, rows in answer:
            judged_rows += int(rows)
            if int(kind) == _SHOWN:
                cells.append(_cell(label, int(source), int(released), released_alone=released_alone))
            elif int(kind) != _NO_RECORDS:
                follows = follows_small(int(labels), int(source), int(released), self.least)
                small = small or (int(kind) == _SMALL and follows)
                merged, merged_source = merged + int(labels), merged_source + int(source)
                merged_released += int(released)
        refuse_incomplete("verbs/distributions/labels", judged_rows, self.sets.kept_rows)
        judged = merged_source + sum(cell.released if cell.source is None else cell.source for cell in cells)
        there = self._there(workspace, released_alone=released_alone)
        refuse_incomplete("verbs/distributions/labels", judged, there, self.sets.counting, at_least=self._of_persons)
        if small or judged != there:
            return None
        cells.sort(key=lambda cell: _order(cell.label))
        if merged:
            rows = None if released_alone else merged_source
            cells.append(CellDetails(label=None, source=rows, released=merged_released, merged=True))
        return self.details(column, cells, source=not released_alone)

    @property
    def _of_persons(self) -> bool:
        return self.sets.counting != "rows"

    def _there(self, workspace: Workspace, *, released_alone: bool) -> int:
        """The rows, or persons, that all labels together have if each has one."""
        sets = self.sets
        if not self._of_persons:
            return self.released if released_alone else sets.kept_rows
        if not released_alone:
            assert sets.kept_persons is not None
            return sets.kept_persons
        context = {"vectors": sets.base, "counting": sets.counting, **self._left_out()}
        (released,) = workspace.row("verbs/distributions/persons", **context)
        return int(released or 0)

    def _left_out(self) -> dict[str, object]:
        """What templates need to know the suppressed vectors by."""
        classes = self.suppressed.classes
        condition = "1 = 0" if classes is None else "suppressed.class_rows IS NOT NULL"
        return {"suppressed": classes, "keys": self.suppressed.keys, "left_out": Sql(condition)}


def _cell(label: object, source: int, released: int, *, released_alone: bool) -> CellDetails:
    shown = None if label is None else str(label)
    return CellDetails(label=shown, source=None if released_alone else source, released=released, merged=False)


def follows_small(labels: int, source: int, released: int, least: int) -> bool:
    """Whether a count between 1 and ``least`` - 1 follows from those of merged labels, each of which has one.

    Args:
        labels: how many are merged.
        source: rows of the source with one of them.
        released: rows of the release with one of them.
        least: fewer rows than this are few.
    """
    suppressed = source - released
    if any(0 < count < least for count in (source, released, suppressed)):
        return True
    small = suppressed or released
    return not labels < small < labels * (least - 1)


def _order(label: str | None) -> tuple[int, float, str]:
    """Numbers by size, then texts, NULL last: an interval stands where it begins."""
    if label is None:
        return 2, 0.0, ""
    try:
        return 0, float(label.lstrip("[(<>= ").split(",")[0].rstrip(")] ")), label
    except ValueError:
        return 1, 0.0, label
