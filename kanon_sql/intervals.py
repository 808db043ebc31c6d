"""A chosen partition as an ordinary hierarchy: value, interval, top. All that follows a search goes on from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kanon_sql.errors import HierarchyError, Problem
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import Lookup
from kanon_sql.lattice import Node
from kanon_sql.ordering import Domain, Ordered, Places
from kanon_sql.sql.text import Relation
from kanon_sql.workspace import Workspace

__all__ = ["with_intervals"]


def with_intervals(
    workspace: Workspace, sets: FrequencySets, ordered: Ordered, places: Sequence[Places]
) -> tuple[FrequencySets, Node]:
    """The frequency sets over hierarchies whose level 1 is the partition's intervals, and its node in them.

    Args:
        workspace: where to build the tables.
        sets: the frequency sets over the hierarchies as given.
        ordered: the ordered domains.
        places: per quasi-identifier, where its domain is cut.

    Raises:
        HierarchyError: two intervals of a quasi-identifier would have the same label.
    """
    lookups = [
        domain.lookup if domain.order is None else _lookup(workspace, domain, domain.order, own)
        for domain, own in zip(ordered.domains, places, strict=True)
    ]
    items: list[dict[str, Any]] = [
        {"index": index, "table": lookups[index].table, "stride": sets.packing.places[index].stride}
        for index in ordered.cut
    ]
    node = tuple(domain.level(own) for domain, own in zip(ordered.domains, places, strict=True))
    _refuse_same_labels(workspace, lookups, [item for item in items if node[item["index"]] == 1])

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
    return replace(sets, lookups=lookups, base=base, values=values), node


def _lookup(workspace: Workspace, domain: Domain, order: Relation, places: Places) -> Lookup:
    lookup, compiler = domain.lookup, workspace.compiler
    target = workspace.table(f"interval{lookup.index}")
    shape = compiler.shape(
        "partition/intervals",
        (lookup.index, domain.open),
        lambda: {
            "target": target,
            "lookup": lookup.table,
            "order": order,
            "open": domain.open,
            "top": lookup.top,
        },
    )
    rows = [[number, start, end] for number, (start, end, _) in enumerate(domain.intervals(places))]
    chosen = compiler.dialect.numbers("chosen", ["interval_number", "first_atom", "end_atom"], rows)
    workspace.run(compiler.fill("partition/intervals", shape, {"intervals": chosen}))
    return replace(lookup, table=target, height=2)


def _refuse_same_labels(workspace: Workspace, lookups: Sequence[Lookup], items: Sequence[dict[str, Any]]) -> None:
    if not items:
        return
    problems = [
        Problem(
            f"quasi_identifiers.{lookups[attribute].name}: {intervals - labels} of its {intervals} intervals would "
            "have the label of another one; recode its values in a source query"
        )
        for attribute, intervals, labels in workspace.fetch("partition/labels", len(items), items=items)
        if intervals != labels
    ]
    if problems:
        raise HierarchyError(problems)
