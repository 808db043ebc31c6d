"""A chosen partition as an ordinary hierarchy: value, interval, top. All that follows a search goes on from there.

First the codes, with which the partition is measured like any node; then, once it is known which
classes are suppressed, the labels. They are made of values that released rows hold, and of nothing
else: a label must not say what only a suppressed row has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.errors import HierarchyError, Problem
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import Lookup
from kanon_sql.lattice import Node
from kanon_sql.ordering import Domain, Ordered, Places
from kanon_sql.sql.text import Relation, Sql, identifier
from kanon_sql.workspace import Workspace

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
        last: per quasi-identifier, the number of its last interval; NULL is in none.
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
        domain.lookup if domain.order is None else _coded(workspace, domain, domain.order, own)
        for domain, own in zip(ordered.domains, places, strict=True)
    ]
    items: list[dict[str, Any]] = [
        {"index": index, "table": lookups[index].table, "stride": sets.packing.places[index].stride}
        for index in ordered.cut
    ]

    def encoded(what: str, source: Relation, *, values: bool) -> Relation:
        target = workspace.table(what)
        workspace.execute(
            "partition/encode", target=target, source=source, items=items, values=values, counting=sets.counting
        )
        return target

    base = encoded("intervals", sets.base, values=False)
    values = {
        name: encoded(f"intervals_values{number}", table, values=True)
        for number, (name, table) in enumerate(sets.values.items())
    }
    return Coded(
        sets=replace(sets, lookups=lookups, base=base, values=values),
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
    items: list[dict[str, Any]] = []
    for domain in coded.ordered.domains:
        index = domain.lookup.index
        if domain.order is not None and coded.node[index] == _INTERVALS:
            labels = _labels(workspace, coded, domain, suppressed, few)
            items.append({"index": index, "labels": labels})
            lookups[index] = _labelled(workspace, lookups[index], labels)
    described = workspace.fetch("partition/described", len(items), items=items) if items else []
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


def _coded(workspace: Workspace, domain: Domain, order: Relation, places: Places) -> Lookup:
    """The lookup table of a partition, with codes and sizes. Its statement is compiled once for all domains."""
    lookup, compiler = domain.lookup, workspace.compiler
    target = workspace.table(f"coded{lookup.index}")
    rows = [[number, start, end, size] for number, (start, end, size) in enumerate(domain.intervals(places), 1)]
    columns = ["interval_number", "first_atom", "end_atom", "interval_size"]
    fills = {
        "lookup": workspace.quoted(lookup.table),
        "order": workspace.quoted(order),
        "intervals": compiler.dialect.numbers("chosen", columns, rows),
    }
    workspace.run(compiler.filled("partition/coded", fills, target=workspace.quoted(target), top=lookup.top))
    return replace(lookup, table=target, height=_TOP)


def _labels(workspace: Workspace, coded: Coded, domain: Domain, suppressed: Relation | None, few: int) -> Relation:
    """A scratch table with the label of every interval of a quasi-identifier that has a released row."""
    sets, node, index = coded.sets, coded.node, domain.lookup.index

    def code(attribute: int, level: int) -> Sql:
        return Sql(f"{identifier('vectors')}.{identifier(f'c{attribute}_{level}')}")

    held, ends, labels = (workspace.table(f"{what}{index}") for what in ("held", "ends", "labels"))
    workspace.execute(
        "partition/held",
        target=held,
        base=sets.base,
        code=code(index, 0),
        counting=sets.counting,
        suppressed=suppressed,
        keys=[Sql(key) for key in sets.packing.keys(sets.keyed(node), lambda other: code(other, node[other]))],
        coded=sets.lookups[index].table,
        order=domain.order,
        stride=sets.packing.places[index].stride,
    )
    workspace.execute("partition/ends", target=ends, held=held)
    workspace.execute("partition/labels", target=labels, ends=ends, open=domain.open, last=coded.last[index], few=few)
    return labels


def _labelled(workspace: Workspace, lookup: Lookup, labels: Relation) -> Lookup:
    """The lookup table of a partition, with its labels."""
    target = workspace.table(f"interval{lookup.index}")
    workspace.execute("partition/intervals", target=target, coded=lookup.table, labels=labels, top=lookup.top)
    return replace(lookup, table=target)
