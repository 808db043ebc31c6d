"""A chosen partition as an ordinary hierarchy: value, interval, top. All that follows a search goes on from there.

First the codes, with which the partition is measured like any node; then, once it is known which
classes are suppressed, the labels. They are made of values that released rows hold, and of nothing
else: a label must not say what only a suppressed row has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engines import Workspace
from kanon_sql.errors import HierarchyError, Problem
from kanon_sql.evaluate.partitions.order import Domain, Ordered, Places
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import Codes, Lookup, Widest
from kanon_sql.search import Node
from kanon_sql.sql import Relation

__all__ = ["Coded", "Labelled", "with_codes", "with_labels"]

_INTERVALS, _TOP = 1, 2
"""The levels of the hierarchy above the value."""


@dataclass(frozen=True)
class Coded:
    """A chosen partition, ready to be measured. It cannot be released: its intervals have no labels.

    Attributes:
        sets: the frequency sets over hierarchies whose level 1 is the partition's intervals.
        node: the partition in them.
        ordered: the ordered domains.
        last: per quasi-identifier, the number of its last interval that has values: NULL alone comes after it.
    """

    sets: FrequencySets
    node: Node
    ordered: Ordered
    last: Sequence[int]


@dataclass(frozen=True)
class Labelled:
    """The intervals of a release.

    Attributes:
        sets: the frequency sets, over hierarchies with labels.
        counts: per quasi-identifier at the level of intervals, how many of them have a released row.
        rare: per such quasi-identifier, how many of these have an end that only a few released rows or
            persons hold; left out where there is none.
    """

    sets: FrequencySets
    counts: Mapping[str, int]
    rare: Mapping[str, int]


def with_codes(workspace: Workspace, sets: FrequencySets, ordered: Ordered, places: Sequence[Places]) -> Coded:
    """A partition as codes.

    Args:
        workspace: where to build the tables.
        sets: the frequency sets over the hierarchies as given.
        ordered: the ordered domains.
        places: per quasi-identifier, where its domain is cut.
    """
    lookups = [
        domain.lookup if domain.order is None else _coded(workspace, sets, domain, domain.order, own)
        for domain, own in zip(ordered.domains, places, strict=True)
    ]
    codes = Codes([_widest(sets, domain, own) for domain, own in zip(ordered.domains, places, strict=True)])
    dialect = workspace.dialect
    words = {f"word_{word}": text for word, text in enumerate(codes.vectors(dialect, lambda index: f"chosen{index}"))}
    found = {f"code_{index}": sets.codes.code(index, 0, dialect, "vectors") for index in ordered.cut}

    def encoded(what: str, source: Relation, *, values: bool) -> Relation:
        tables = {f"table_{index}": lookups[index].table for index in ordered.cut} | {"source_set": source}
        return workspace.make(
            "evaluate/partitions/encode", what, tables, {**words, **found},
            items=tuple(ordered.cut), words=codes.words, values=values, counting=sets.counting,
        )  # fmt: skip

    base = encoded("intervals", sets.base, values=False)
    values = {
        name: encoded(f"intervals_values{number}", table, values=True)
        for number, (name, table) in enumerate(sets.values.items())
    }
    return Coded(
        sets=replace(sets, lookups=lookups, codes=codes, base=base, values=values),
        node=tuple(domain.level(own) for domain, own in zip(ordered.domains, places, strict=True)),
        ordered=ordered,
        last=[domain.last_interval(own) for domain, own in zip(ordered.domains, places, strict=True)],
    )


def with_labels(workspace: Workspace, coded: Coded, suppressed: Relation | None, few: int) -> Labelled:
    """Label the intervals of a partition by what its released rows hold.

    Args:
        workspace: where to build the tables.
        coded: the partition.
        suppressed: the packed keys of its suppressed classes; None when there is none.
        few: an end is rare if fewer released rows or persons than this hold it.

    Raises:
        HierarchyError: two intervals of a quasi-identifier would have the same label.
    """
    lookups = list(coded.sets.lookups)
    tables: dict[int, dict[str, Relation]] = {}
    for domain in coded.ordered.domains:
        index = domain.lookup.index
        if domain.order is not None and coded.node[index] == _INTERVALS:
            labels = _labels(workspace, coded, domain, suppressed, few)
            tables[index] = {"labels": labels}
            coded_and_labels = {"coded": lookups[index].table, "labels": labels}
            table = workspace.make(
                "evaluate/partitions/intervals", f"interval{index}", coded_and_labels, {}, top=lookups[index].top
            )
            lookups[index] = replace(lookups[index], table=table, unlabelled=())
    described = workspace.each("evaluate/partitions/described", len(tables), tables) if tables else []
    counts: dict[str, int] = {}
    rare: dict[str, int] = {}
    problems = []
    for attribute, intervals, different, rare_intervals in sorted(described):
        name = lookups[attribute].name
        counts[name] = int(intervals)
        if rare_intervals:
            rare[name] = int(rare_intervals)
        if intervals != different:
            problems.append(
                Problem(
                    f"quasi_identifiers.{name}: {intervals - different} of its {intervals} intervals would have the "
                    "label of another one; recode its values in a source query"
                )
            )
    if problems:
        raise HierarchyError(problems)
    return Labelled(replace(coded.sets, lookups=lookups), counts, rare)


def _widest(sets: FrequencySets, domain: Domain, places: Places) -> list[Widest]:
    """The largest numbers in the lookup table of a partition: of values, and of intervals."""
    if domain.order is None:
        return []
    labels = sets.codes.widest[domain.lookup.index][0].labels
    return [Widest(labels, sum(domain.values)), Widest(len(places) + 1)]


def _coded(workspace: Workspace, sets: FrequencySets, domain: Domain, order: Relation, places: Places) -> Lookup:
    """The lookup table of a partition, with codes and sizes."""
    lookup = domain.lookup
    rows = [[number, start, end, size] for number, (start, end, size) in enumerate(domain.intervals(places), 1)]
    columns = ["interval_number", "first_atom", "end_atom", "interval_size"]
    table = workspace.make(
        "evaluate/partitions/coded",
        f"coded{lookup.index}",
        {"lookup": lookup.table, "order": order},
        {
            "intervals": workspace.dialect.numbers("chosen", columns, rows),
            "of_lookup": sets.codes.from_lookup(lookup.index, 0, workspace.dialect, "labels"),
        },
        top=lookup.top,
    )
    return replace(lookup, table=table, height=_TOP, unlabelled=(_INTERVALS,))


def _labels(workspace: Workspace, coded: Coded, domain: Domain, suppressed: Relation | None, few: int) -> Relation:
    """A scratch table with the label of every interval of a quasi-identifier that has a released row."""
    sets, node, index = coded.sets, coded.node, domain.lookup.index
    dialect = workspace.dialect
    assert domain.order is not None
    tables = {"base": sets.base, "coded": sets.lookups[index].table, "order": domain.order}
    fills = {
        "code": sets.codes.code(index, 0, dialect, "vectors"),
        "of_lookup": sets.codes.from_lookup(index, 0, dialect),
    }
    keys: list[str] = []
    if suppressed is not None:
        tables["suppressed"] = suppressed
        keys = sets.codes.keys(node, dialect, "vectors")
        fills |= {f"key_{position}": key for position, key in enumerate(keys)}
    held = workspace.make(
        "evaluate/partitions/held", f"held{index}", tables, fills, keys=len(keys), counting=sets.counting
    )
    ends = workspace.make("evaluate/partitions/ends", f"ends{index}", {"held": held}, {})
    last = coded.last[index]
    return workspace.make(
        "evaluate/partitions/labels", f"labels{index}", {"ends": ends}, {"last": str(last)},
        open=domain.open, alone=last == 1, few=few,
    )  # fmt: skip
