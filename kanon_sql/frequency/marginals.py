"""How many labels each level has, and how the rows are spread over them: what the bounds of metrics are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from kanon_sql.engines import Workspace
from kanon_sql.hierarchies import Lookup, Widest
from kanon_sql.models import Attribute, Counts
from kanon_sql.sql import Relation, render, slot

if TYPE_CHECKING:
    from kanon_sql.frequency.sets import FrequencySets

__all__ = ["LabelNumbers", "Marginals", "count_attributes", "counted_in", "label_numbers"]

Marginals = dict[tuple[int, int], tuple[int, int, int, float]]
"""Per quasi-identifier and level: labels, domain values under them, the most under one, the sum of n log n."""


@dataclass(frozen=True)
class LabelNumbers:
    """What lookup tables say of each level, by the numbers of their quasi-identifiers.

    Attributes:
        widest: per lookup table, in order, and level: the largest numbers of its labels, for :class:`Codes`.
        marginals: what was counted of the labels in the data; see :func:`count_attributes`.
    """

    widest: list[list[Widest]]
    marginals: Marginals


def label_numbers(workspace: Workspace, lookups: Sequence[Lookup]) -> LabelNumbers:
    """The numbers of labels of some lookup tables, in one statement."""
    quote = workspace.compiler.quote
    branches = [
        workspace.compiler.filled(
            "frequency/label_numbers",
            {
                "attribute": str(lookup.index),
                "level": str(level),
                "among_all": quote(f"c{level}"),
                # The highest level below the top is numbered among all of it: there is one parent.
                "among_siblings": quote(f"d{level}" if level + 1 < lookup.height else f"c{level}"),
                "size": quote(f"s{level}"),
                "lookup": workspace.quoted(lookup.table),
            },
        )
        for lookup in lookups
        for level in lookup.levels
    ]
    widest = {lookup.index: [Widest(0)] * lookup.height for lookup in lookups}
    marginals: Marginals = {}
    if branches:
        for index, level, labels, siblings, *counted in workspace.query(
            workspace.compiler.union(branches), len(branches)
        ):
            widest[int(index)][int(level)] = Widest(int(labels or 0), int(siblings or 0))
            marginals[int(index), int(level)] = _counted(*counted)
    return LabelNumbers([widest[lookup.index] for lookup in lookups], marginals)


def _counted(labels: Any, covered: Any, largest: Any, row_log: Any) -> tuple[int, int, int, float]:
    return int(labels or 0), int(covered or 0), int(largest or 1), float(row_log or 0.0)


def _marginals(workspace: Workspace, sets: FrequencySets) -> Marginals:
    """The same as :func:`label_numbers` counts, of the rows that the base has."""
    compiler = workspace.compiler
    sizes = render("frequency/sizes", code=slot("code"), size=slot("size"), table=slot("lookup"), name="label_size")
    branches = [
        compiler.filled(
            "frequency/marginals",
            {
                "attribute": str(lookup.index),
                "level": str(level),
                "frequency_code": sets.codes.code(lookup.index, level, compiler.dialect),
                "frequency": workspace.quoted(sets.base),
                "code": sets.codes.from_lookup(lookup.index, level, compiler.dialect),
                "size": compiler.quote(f"s{level}"),
                "lookup": workspace.quoted(lookup.table),
            },
            sizes=sizes,
        )
        for lookup in sets.lookups
        for level in lookup.levels
    ]
    return {
        (int(attribute), int(level)): _counted(*counted)
        for attribute, level, *counted in workspace.query(compiler.union(branches), len(branches))
    }


def counted_in(base: Relation, lookups: Sequence[Lookup]) -> tuple[Relation, ...]:
    """What marginals are counted in."""
    return base, *(lookup.table for lookup in lookups)


def count_attributes(workspace: Workspace, sets: FrequencySets) -> Counts:
    """The numbers per quasi-identifier and level that metrics take their bounds from; counted once."""
    tables = counted_in(sets.base, sets.lookups)
    if tables not in sets.marginals:
        sets.marginals[tables] = _marginals(workspace, sets)
    found = sets.marginals[tables]
    kept = sets.rows - sets.null_rows
    heaviest = max(lookup.quasi_identifier.weight for lookup in sets.lookups)
    attributes = []
    for lookup in sets.lookups:
        levels = [found[lookup.index, level] for level in lookup.levels]
        attributes.append(
            Attribute(
                height=lookup.height,
                weight=lookup.quasi_identifier.weight / heaviest if heaviest else 1.0,
                domain_rows=lookup.domain_rows,
                labels=[*(labels for labels, *_ in levels), 1],
                covered=[*(covered for _, covered, _, _ in levels), kept * lookup.domain_rows],
                largest=[*(largest for _, _, largest, _ in levels), lookup.domain_rows],
                row_log=[*(row_log for *_, row_log in levels), kept * log(kept) if kept else 0.0],
            )
        )
    return Counts(rows=sets.rows, null_rows=sets.null_rows, attributes=attributes)
