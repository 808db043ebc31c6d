"""The columns of a source and of its release: what became of each, and what its levels mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kanon_sql.engines import Column
from kanon_sql.hierarchies import kind_of
from kanon_sql.spec import ComputedColumn, Count, Document, QuasiIdentifier, Spec, Text, parts_of_key
from kanon_sql.verbs.evidence.published import Published

__all__ = ["Became", "Entry", "column_entries", "level_meaning"]

Became = Literal["released", "generalized", "withheld", "dropped"]


@dataclass(frozen=True)
class Entry(Document):
    """A column of the source, or of the release.

    Attributes:
        column: its name.
        role: what the spec calls it.
        became: ``released`` as it is, ``generalized``, ``withheld`` (there, with one label in every row), ``dropped``.
        level: of a quasi-identifier, where all rows have one and the run says which.
        height: its highest level, where that is known.
        meaning: what the values in the release are, in words; no value of the data.
    """

    column: Text
    role: Text
    became: Became
    level: Count | None
    height: Count | None
    meaning: Text

    @property
    def informative(self) -> bool:
        """Whether the release says anything by it."""
        return self.became in ("released", "generalized")


def column_entries(
    spec: Spec,
    source: Sequence[str],
    release: Mapping[str, Column],
    labels: Mapping[str, int],
    run: Published | None,
) -> list[Entry]:
    """Every column, in the source's order; then those that only the release has.

    Args:
        spec: the roles.
        source: the source's columns, as they stand there.
        release: the release's.
        labels: quasi-identifier -> how many different labels it has in the release.
        run: what published it; None where that is not known.
    """
    names = [*source, *(name for name in [*spec.quasi_identifiers, *release] if name not in source)]
    return [
        _quasi_identifier(spec, name, labels, run, is_there=name in release)
        if name in spec.quasi_identifiers
        else Entry(name, *_other(spec, name, is_there=name in release, in_source=name in source))
        for name in dict.fromkeys(names)
    ]


def _other(spec: Spec, name: str, *, is_there: bool, in_source: bool) -> tuple[str, Became, None, None, str]:
    by_name = {column.name: column for column in spec.computed}
    if is_there and name in by_name:
        return "computed from a label", "generalized", None, None, _computed(by_name[name])
    roles = list(_roles(spec, name))
    role = " and ".join(roles) or "not named in the spec"
    if not is_there:
        return role, "dropped", None, None, "not in the release"
    if name in spec.identifiers or name in parts_of_key(spec.unit):
        return role, "released", None, None, "as in the source, although the spec does not release it"
    if not roles:
        where = "as it is" if in_source else "a column that the source does not have"
        return role, "released", None, None, f"{where}; unknown, so examine it"
    step = None if spec.steps is None else spec.steps.columns.get(name)
    if step is None:
        return role, "released", None, None, "the value as it is in the source"
    done = [
        f"{what} {value}"
        for what, value in (
            ("rounded to multiples of", step.round), ("from below, one label up to", step.bottom),
            ("from above, one label from", step.top),
        )
        if value is not None
    ]  # fmt: skip
    return role, "released", None, None, "; ".join(done)


def _computed(column: ComputedColumn) -> str:
    """What stands beside a label: that it tells no more was seen when the table was opened."""
    position = {"from": "where it begins", "to": "where it ends (exclusive)", "mid": "its middle"}[column.part]
    return f"the label of {column.of} as a {'date' if column.dates else 'number'}: {position}"


def _roles(spec: Spec, name: str) -> Iterator[str]:
    listed = {"identifier": spec.identifiers, "sensitive attribute": spec.sensitive, "kept as it is": spec.keep}
    yield from (role for role, names in listed.items() if name in names)
    if name in parts_of_key(spec.unit):
        yield "the protected person"
    if any(name in point.columns for point in spec.points.values()):
        yield "coordinate of a point"


def _quasi_identifier(
    spec: Spec, name: str, labels: Mapping[str, int], run: Published | None, *, is_there: bool
) -> Entry:
    item = spec.quasi_identifiers[name]
    role = "quasi-identifier"
    if not is_there:
        return Entry(name, role, "dropped", None, None, "not in the release")
    if run is None or not run.vouches:
        return Entry(name, role, "generalized", None, item.height_hint, _of_unknown_level(run))
    height = run.heights.get(name, item.height_hint)
    level = None if run.node is None else run.node.get(name)
    # At a level below the top, one label in every row still says what the rows have in common, such as an area.
    at_top = name in run.withheld if level is None or height is None else level >= height > 0
    if at_top and labels.get(name, 0) <= 1:
        return Entry(name, role, "withheld", level, height, "one label in every row, which reveals nothing")
    if level == 0:
        return Entry(name, role, "released", level, height, level_meaning(item, 0, height))
    if level is not None:
        if run.intervals is not None and name in run.intervals and level == 1:
            meaning = f"{run.intervals[name]:,} intervals that the search chose"
        else:
            meaning = level_meaning(item, level, height)
        return Entry(name, role, "generalized", level, height, meaning)
    meaning = f"labels whose level differs by class or value (recoding: {run.recoding})"
    return Entry(name, role, "generalized", None, height, meaning)


def _of_unknown_level(run: Published | None) -> str:
    """A table that no one vouches for may hold values as they are: nothing good is said of it."""
    if run is None:
        return "unknown, possibly the value: there is no manifest of this table"
    if not run.unchanged:
        return "unknown, possibly the value: the table has changed since its run"
    return "unknown, possibly the value: the table was published with another spec"


def level_meaning(item: QuasiIdentifier, level: int, height: int | None) -> str:
    """What a level's labels are, in words that hold no value of the data.

    Args:
        item: the hierarchy.
        level: 0 is the value.
        height: the highest level, which is one label for all; None where it is not known.
    """
    if level == 0:
        return "the value as it is in the source"
    if height is not None and level >= height:
        return "one label for all values"
    meaning = kind_of(item).meaning(level)
    if meaning is not None:
        return meaning
    return f"groups of level {level} of the hierarchy" + ("" if height is None else f", which has {height}")
