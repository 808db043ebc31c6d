"""The domains of the quasi-identifiers in order, and the frequency sets over them: what can be cut.

Numbers, dates and times are ordered by value, enumerations as their type lists them; text and all
else by its label's characters. What a hierarchy's rows list is in their order instead: as they stand
in a file or a tree, by its first column in a table. NULL comes last, and
may share an interval with the values before it.

An *atom* is a run of values that no candidate cut comes between: one value, unless the spec limits
the cuts. Python learns where in its domain each atom lies, and neither values nor counts of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SearchTooLarge, SpecError
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import Lookup, kind_of, listed_for
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, exact_text, identifier, source_relation

__all__ = [
    "BY_VALUE",
    "MAX_CUTS",
    "Domain",
    "Order",
    "Ordered",
    "Places",
    "is_listed",
    "order_domains",
    "order_of",
    "positions_of",
]

MAX_CUTS = 2_000
"""The most candidate cuts of all quasi-identifiers together."""

BY_VALUE = ("integer", "decimal", "float", "date", "timestamp", "moment")
"""Kinds of columns whose values are ordered as such; others are by a list, or by the characters of their labels."""

Places = Sequence[int]
"""Where a domain is cut, in ascending order: 3 cuts before the fourth atom."""


@dataclass(frozen=True)
class Order:
    """The values of a quasi-identifier in order.

    Attributes:
        table: the scratch table of them: ``code``, ``label``, ``is_null``, ``domain_position`` from 0 on, ``atom``.
        open: the source's own values are the domain (a rule), not the rows of a hierarchy.
        positions: the scratch table of :func:`positions_of`.
    """

    table: Relation
    open: bool
    positions: Relation | None = None


@dataclass(frozen=True)
class Domain:
    """The ordered domain of one quasi-identifier.

    Attributes:
        lookup: its lookup table.
        order: the scratch table of its values in order; None where the hierarchy has no level below the top.
        open: the source's own values are the domain (a rule), not the rows of a hierarchy.
        first, last: per atom, the first and last place in the domain that it covers.
        values: per atom, how many values of the source it holds.
        null: whether the last atom is NULL.
    """

    lookup: Lookup
    order: Relation | None
    open: bool
    first: Sequence[int]
    last: Sequence[int]
    values: Sequence[int]
    null: bool

    def intervals(self, places: Places) -> list[tuple[int, int, int]]:
        """The intervals: their first atom, the one after their last, and the domain values under them, NULL being one.

        Without a cut there is one, which is the top: unless the rows of a hierarchy go beyond its values.
        """
        bounds = [0, *places, len(self.first)]
        return [(start, end, self._size(start, end)) for start, end in pairwise(bounds)]

    def last_interval(self, places: Places) -> int:
        """The number of the last interval that has values, counted from 1; NULL alone comes after it."""
        apart = self.null and bool(places) and places[-1] == len(self.first) - 1
        return len(places) + 1 - int(apart)

    def _size(self, start: int, end: int) -> int:
        if start == 0 and end == len(self.first) and (self.open or self.order is None):
            return self.lookup.domain_rows
        null = int(self.null and end == len(self.first))
        beyond = end - null
        return null + (self.last[beyond - 1] - self.first[start] + 1 if beyond > start else 0)

    def level(self, places: Places) -> int:
        """The level of a partition in the hierarchy value, interval, top."""
        if self.order is None:
            return 0
        found = self.intervals(places)
        if all(self.values[start] == 1 and end == start + 1 for start, end, _ in found):
            return 0
        return 2 if len(found) == 1 and found[0][2] == self.lookup.domain_rows else 1


@dataclass(frozen=True)
class Ordered:
    """The ordered domains, and the frequency sets over their atoms.

    Attributes:
        domains: one per quasi-identifier.
        base: the vectors of atoms, ``a<i>`` for quasi-identifier i; a column for each that has an order.
        values: per sensitive attribute, its set of the same kind.
        limited: whether the spec's limit took candidate cuts away.
    """

    domains: Sequence[Domain]
    base: Relation
    values: Mapping[str, Relation]
    limited: bool

    @property
    def cut(self) -> list[int]:
        """The quasi-identifiers that have an order."""
        return [domain.lookup.index for domain in self.domains if domain.order is not None]


def order_domains(
    workspace: Workspace, spec: Spec, columns: Mapping[str, Column], sets: FrequencySets, *, most: int | None
) -> Ordered:
    """Order every domain and group the frequency sets by its atoms.

    Args:
        workspace: where to build the tables.
        spec: names the hierarchies.
        columns: the source's columns by name.
        sets: the frequency sets.
        most: the most candidate cuts per quasi-identifier, at quantiles of the rows; None for all.

    Raises:
        SearchTooLarge: there are more than ``MAX_CUTS`` candidate cuts.
    """
    workspace.report("ordering the domains", None)
    orders: dict[int, Order] = {}
    for lookup in sets.lookups:
        if lookup.height:
            orders[lookup.index] = order_of(workspace, spec, columns[lookup.name], sets, lookup, most=most)
    tables = {index: {"order": order.table} for index, order in orders.items()}
    atoms: dict[int, list[tuple[int, ...]]] = {}
    if tables:
        counts = workspace.each("evaluate/partitions/count", len(tables), tables)
        found = sum(max(0, int(count) - 1) for _, count in counts)
        if found > MAX_CUTS:
            raise SearchTooLarge(
                f"the domains have {found:,} places to cut at (at most {MAX_CUTS:,} for the algorithm 'k_optimize'); "
                "limit them with search.cuts, such as 'cuts: 50' per quasi-identifier"
            )
        for index, *atom in workspace.each("evaluate/partitions/atoms", found + len(tables), tables):
            atoms.setdefault(index, []).append(tuple(int(number) for number in atom))
    domains = [_domain(lookup, orders.get(lookup.index), atoms.get(lookup.index, _ALONE)) for lookup in sets.lookups]

    def vectors(what: str, source: Relation, *, values: bool) -> Relation:
        named = {f"order_{index}": order.table for index, order in orders.items()} | {"source_set": source}
        codes = {f"code_{index}": sets.codes.code(index, 0, workspace.dialect, "vectors") for index in orders}
        return workspace.make(
            "evaluate/partitions/vectors",
            what,
            named,
            codes,
            items=tuple(orders),
            values=values,
            counting=sets.counting,
        )

    return Ordered(
        domains=domains,
        base=vectors("atoms", sets.base, values=False),
        values={
            name: vectors(f"atoms{number}", table, values=True)
            for number, (name, table) in enumerate(sets.values.items())
        },
        limited=any(sum(domain.values) > len(domain.values) for domain in domains),
    )


_ALONE = [(0, 0, 0, 1, 0)]
"""The atom of a hierarchy that is its top alone."""


def _domain(lookup: Lookup, order: Order | None, atoms: Sequence[tuple[int, ...]]) -> Domain:
    _, first, last, values, null = zip(*sorted(atoms), strict=True)
    table, is_open = (None, True) if order is None else (order.table, order.open)
    return Domain(lookup=lookup, order=table, open=is_open, first=first, last=last, values=values, null=bool(null[-1]))


def order_of(
    workspace: Workspace, spec: Spec, column: Column, sets: FrequencySets, lookup: Lookup, *, most: int | None = None
) -> Order:
    """Order the values of a quasi-identifier.

    Args:
        workspace: where to build the tables.
        spec: names the hierarchy.
        column: the source's column.
        sets: the frequency sets.
        lookup: its lookup table, which has a level below the top.
        most: the most candidate cuts, at quantiles of the rows; None for all.
    """
    listed = is_listed(lookup)
    positions = positions_of(workspace, spec, lookup, column, source_relation())
    tables = {"lookup": lookup.table, "frequency": sets.base}
    order = workspace.make(
        "evaluate/partitions/order",
        f"order{lookup.index}",
        tables if positions is None else {**tables, "positions": positions},
        {
            "code": sets.codes.code(lookup.index, 0, workspace.dialect),
            "of_lookup": sets.codes.from_lookup(lookup.index, 0, workspace.dialect),
        },
        positioned=positions is not None,
        listed=listed,
        by_value=positions is None and column.kind in BY_VALUE,
        skip_nulls=spec.nulls == "suppress",
        most=most,
    )
    return Order(order, not listed, positions)


def is_listed(lookup: Lookup) -> bool:
    """Whether the rows of a hierarchy are a column's domain and its order."""
    return lookup.quasi_identifier.is_listed


def positions_of(
    workspace: Workspace, spec: Spec, lookup: Lookup, column: Column | None, source: Relation
) -> Relation | None:
    """A scratch table of the values that a list orders, ``l0``, and their places in it, ``l1``.

    The list is the rows of a hierarchy, or the labels of an enumeration. None where neither orders the values.

    Args:
        workspace: where to build it.
        spec: where hierarchy files are.
        lookup: the lookup table of a column.
        column: the column; None where there is none of its name.
        source: the table that it is in, which is read where it is an enumeration whose labels are not known.

    Raises:
        SpecError: an enumeration has values besides its labels.
    """
    if not is_listed(lookup):
        if column is None or column.labels is None:
            return None
        return _positions_in_type(workspace, lookup, column, source)
    target = workspace.table(f"positions{lookup.index}")
    named = lookup.quasi_identifier.table
    if named is not None:
        table = Relation(named)
        first = next(iter(workspace.columns(table).values()))
        name = Sql(f"listed.{identifier(first.name)}")
        by_value = first.kind in BY_VALUE or first.labels is not None
        sort = name if by_value else exact_text(Sql(f"CAST({name} AS VARCHAR)"))
        workspace.execute(
            "evaluate/partitions/positions", target=target, table=table, name=first.name, sort=sort, distinct=False
        )
    else:
        item = lookup.quasi_identifier
        rows = kind_of(item).listed_rows(spec) if column is None else listed_for(spec, item, column, lookup.where)
        assert rows is not None, "what is listed and in no table is in the spec or its files"
        workspace.load(target, ["l0", "l1"], [(row[0], str(place)) for place, row in enumerate(rows)])
    return target


def _positions_in_type(workspace: Workspace, lookup: Lookup, column: Column, source: Relation) -> Relation:
    """The labels of an enumeration, or those that occur, in the order of the type."""
    target = workspace.table(f"positions{lookup.index}")
    if column.labels:
        workspace.load(target, ["l0", "l1"], [(label, str(place)) for place, label in enumerate(column.labels)])
    else:
        workspace.execute(
            "evaluate/partitions/positions",
            target=target, table=source, name=column.name, sort=Sql(f"listed.{identifier(column.name)}"), distinct=True,
        )  # fmt: skip
    (strangers,) = workspace.row("evaluate/partitions/strangers", lookup=lookup.table, positions=target)
    if strangers:
        why = "are not among the labels of its type" if column.labels else f"are not in the source's {column.name!r}"
        raise SpecError(
            f"quasi_identifiers.{lookup.name}: {strangers} of its values {why}, so that their place in the order of an "
            "enumeration is not known; cast the column to text in a source query, or give it a hierarchy (a tree or a "
            "file) whose rows are in order"
        )
    return target
