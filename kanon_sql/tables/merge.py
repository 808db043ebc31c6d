"""Categories that have no hierarchy, merged with their neighbours until no cell is sensitive.

The categories of a dimension stand in an order, and a group is a run of neighbours. The database judges every group of
every dimension with all cells that it has, in one statement; which groups are safe is all that the client learns. Of
the ways to cut the orders into safe groups, one with the most groups is taken: the fewest merges. It is found by trying
all cuts of all dimensions but the one of the most categories, and by dynamic programming along that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import pairwise, product
from math import prod

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.spec import TableSpec
from kanon_sql.sql import Relation, Sql, exact_text
from kanon_sql.tables.shape import Shape, Step

__all__ = ["merged"]

MOST_CATEGORIES = 40
"""More categories of a dimension are not merged."""

MOST_GROUPS = 5_000
"""More combinations of groups are not judged."""

MOST_CUTS = 4_096
"""More cuts of all dimensions but one are not tried."""

Group = tuple[int, int]
"""A run of neighbours: the places of the first and the last."""
Cut = tuple[Group, ...]
"""The groups of a dimension, in order."""


def merged(
    workspace: Workspace,
    shape: Shape,
    names: Sequence[Sequence[str]],
    finest: Relation,
    columns: Mapping[str, Column],
    kept: Sequence[Sequence[str]],
    add_up: Callable[..., Relation],
) -> tuple[Relation, Step | None, str | None, list[str]]:
    """Merge neighbours.

    Args:
        workspace: where.
        shape: the margins.
        names: the columns of the labels of each dimension.
        finest: the finest cells.
        columns: those of the source, whose types order their values.
        kept: the labels that the cells of each margin have.
        add_up: makes cells of margins (the labels that each keeps) and of finest cells.

    Returns:
        The finest cells with the labels of the groups, the levels that the table has (the top where a dimension is a
        single group, None where nothing may be published), why, and what was merged.

    Raises:
        SpecError: a category that the spec does not list, or too many.
    """
    spec = shape.spec
    workspace.report("choosing which neighbouring categories to merge", None)
    places = [place for place, item in enumerate(shape.dimensions) if item.merge is not None]
    own = [names[place][0] for place in places]
    orders = _orders(workspace, spec, places, own, finest, columns)
    if prod(len(order) * (len(order) + 1) // 2 for order in orders) > MOST_GROUPS:
        raise SpecError(
            f"dimensions: the runs of neighbours make more than {MOST_GROUPS:,} combinations; merge fewer dimensions, "
            "or group values in a source query"
        )
    runs = [[(low, high) for low in range(len(order)) for high in range(low, len(order))] for order in orders]
    every = _relabelled(
        workspace, spec, names, finest, "every_group",
        [[(label, f"{low}-{high}") for low, high in own_runs for label in order[low : high + 1]]
         for own_runs, order in zip(runs, orders, strict=True)],
    )  # fmt: skip
    margins = [keeps for keeps in kept if set(own) <= set(keeps)]
    cells = add_up(margins, every, "group_cells")
    rows = workspace.fetch(
        "tables/merge/sensitive", MOST_GROUPS, cells=cells, merged=own,
        differences=max(1, sum(rule is not None for rule in (spec.rules.p_percent, spec.rules.pq))),
    )  # fmt: skip
    bad = {tuple(_group(str(item)) for item in row) for row in rows}
    cuts = _fewest_merges([len(order) for order in orders], bad)
    if cuts is None:
        return finest, None, "every table has a sensitive cell, however many neighbours are merged", []
    labels = [[_label(order, group) for group in cut] for order, cut in zip(orders, cuts, strict=True)]
    _refuse_taken(spec, places, orders, cuts, labels)
    relabelled = _relabelled(
        workspace, spec, names, finest, "merged",
        [[(order[place], label) for (low, high), label in zip(cut, own_labels, strict=True)
          for place in range(low, high + 1)]
         for order, cut, own_labels in zip(orders, cuts, labels, strict=True)],
    )  # fmt: skip
    step = list(shape.first)
    notes = []
    for place, order, cut in zip(places, orders, cuts, strict=True):
        name = list(spec.dimensions)[place]
        notes.append(f"dimensions.{name}: {len(order)} categories were merged with their neighbours into {len(cut)}")
        if len(cut) == 1 and len(order) > 1:
            step[place] = shape.heights[place]
    return relabelled, tuple(step), None, notes


def _orders(
    workspace: Workspace,
    spec: TableSpec,
    places: Sequence[int],
    own: Sequence[str],
    finest: Relation,
    columns: Mapping[str, Column],
) -> list[list[str | None]]:
    """The categories of each dimension, in order; NULL is the last."""
    rows = workspace.fetch("tables/merge/categories", len(own) * (MOST_CATEGORIES + 1), finest=finest, merged=own)
    orders = []
    for number, place in enumerate(places):
        name, item = list(spec.dimensions.items())[place]
        found = [None if label is None else str(label) for dimension, label in rows if int(dimension) == number]
        if len(found) > MOST_CATEGORIES:
            raise SpecError(
                f"dimensions.{name}.merge: at most {MOST_CATEGORIES} categories are merged, and there are more; group "
                "them by a hierarchy, or in a source query"
            )
        listed = list(item.merge or ())
        unknown = {label for label in found if label is not None} - set(listed)
        if listed and unknown:
            raise SpecError(
                f"dimensions.{name}.merge: the list leaves out {len(unknown):,} of the source's categories; "
                "list all of them, in order"
            )
        known = listed.index if listed else partial(_in_order, columns[name].kind)
        orders.append(sorted(found, key=lambda label: (label is None, 0 if label is None else known(label))))
    return orders


def _in_order(kind: str, label: str) -> Decimal | str:
    """What values are ordered by: numbers by their size, others by the characters of their text."""
    if kind not in ("integer", "decimal", "float"):
        return label
    try:
        return Decimal(label)
    except InvalidOperation:
        raise SpecError("merge: a label of a number is no number, so there is no order; list the categories") from None


def _relabelled(
    workspace: Workspace,
    spec: TableSpec,
    names: Sequence[Sequence[str]],
    finest: Relation,
    name: str,
    pairs: Sequence[Sequence[tuple[str | None, str | None]]],
) -> Relation:
    """The finest cells with other labels: of each dimension that is merged, which label becomes which."""
    tables = {}
    merging = [own[0] for own, item in zip(names, spec.dimensions.values(), strict=True) if item.merge is not None]
    for number, (column, own) in enumerate(zip(merging, pairs, strict=True)):
        loaded = workspace.table(f"{name}_loaded{number}")
        texts = [[text for item in pair for text in ("01"[item is not None], item or "")] for pair in own]
        workspace.load(loaded, ["l0", "l1", "l2", "l3"], texts)
        tables[column] = groups = workspace.table(f"{name}_groups{number}")
        label, group = (
            exact_text(Sql(f"CAST(CASE WHEN loaded.l{at} = '1' THEN loaded.l{at + 1} END AS VARCHAR)")) for at in (0, 2)
        )
        workspace.execute("tables/merge/groups", target=groups, loaded=loaded, label=label, group=group)
    target = workspace.table(name)
    all_names = [column for own in names for column in own]
    numbers = [
        *(["unit"] if spec.unit is not None else []),
        *(["holding", "lone_unit"] if spec.rules.by is not None else []),
        *(["amount", "contribution_count"] if spec.added is not None else []),
        "row_count",
    ]
    columns = [
        {"name": column, "table": tables.get(column), "number": number} for number, column in enumerate(all_names)
    ]
    workspace.execute("tables/merge/relabelled", target=target, finest=finest, columns=columns, numbers=numbers)
    return target


def _group(text: str) -> Group:
    low, high = text.split("-")
    return int(low), int(high)


def _label(order: Sequence[str | None], group: Group) -> str | None:
    """What a group is called: its first and last category."""
    first, last = order[group[0]], order[group[1]]
    return first if group[0] == group[1] else f"{_shown(first)} to {_shown(last)}"


def _shown(label: str | None) -> str:
    return "NULL" if label is None else label


def _refuse_taken(
    spec: TableSpec,
    places: Sequence[int],
    orders: Sequence[Sequence[str | None]],
    cuts: Sequence[Cut],
    labels: Sequence[Sequence[str | None]],
) -> None:
    """Refuse a group that is called as another category or group is."""
    for place, order, cut, own in zip(places, orders, cuts, labels, strict=True):
        made = [label for label, (low, high) in zip(own, cut, strict=True) if low < high]
        if len(set(own)) < len(own) or set(made) & set(order):
            name = list(spec.dimensions)[place]
            raise SpecError(
                f"dimensions.{name}.merge: a merged category would be called as another one; rename that one"
            )


# --- The fewest merges ---------------------------------------------------------------------


def _fewest_merges(sizes: Sequence[int], bad: set[tuple[Group, ...]]) -> list[Cut] | None:
    """Cuts of all dimensions with the most groups, of which no combination is bad; None where there are none.

    Args:
        sizes: how many categories each dimension has.
        bad: combinations of groups, one for each dimension, that have a sensitive cell.
    """
    longest = max(range(len(sizes)), key=lambda place: (sizes[place], -place))
    others = [place for place in range(len(sizes)) if place != longest]
    if prod(2 ** max(0, sizes[place] - 1) for place in others) > MOST_CUTS:
        raise SpecError(
            f"dimensions: more than {MOST_CUTS:,} ways to merge categories of all dimensions but one would have to be "
            "tried; merge fewer dimensions, or group values in a source query"
        )
    whole = (0, sizes[longest] - 1)
    best: tuple[int, list[Cut]] | None = None
    for cuts in product(*(_cuts(sizes[place]) for place in others)):
        combined = list(product(*({*cut, (0, sizes[place] - 1)} for place, cut in zip(others, cuts, strict=True))))

        def safe(group: Group, combined: Sequence[tuple[Group, ...]] = combined) -> bool:
            return not any((*own[:longest], group, *own[longest:]) in bad for own in combined)

        cut = _most_groups(sizes[longest], safe) if safe(whole) else None
        if cut is None:
            continue
        count = sum(map(len, cuts)) + len(cut)
        if best is None or count > best[0]:
            best = count, [*cuts[:longest], cut, *cuts[longest:]]
    return None if best is None else best[1]


def _cuts(size: int) -> Iterator[Cut]:
    """All ways to cut an order into runs, the most runs first."""
    found = []
    for between in product((True, False), repeat=size - 1):
        ends = [0, *(place + 1 for place, cut in enumerate(between) if cut), size]
        found.append(tuple((low, high - 1) for low, high in pairwise(ends)))
    yield from sorted(found, key=lambda cut: -len(cut))


def _most_groups(size: int, safe: Callable[[Group], bool]) -> Cut | None:
    """The cut into the most safe runs; of several the one whose first runs are the shortest."""
    best: list[Cut | None] = [None] * size + [()]
    for low in reversed(range(size)):
        for high in range(low, size):
            rest = best[high + 1]
            if rest is not None and safe((low, high)) and (best[low] is None or len(rest) + 1 > len(best[low] or ())):
                best[low] = ((low, high), *rest)
    return best[0]
