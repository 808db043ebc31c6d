"""The tables of a release: each read once, its rows numbered, its columns with lookup tables of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Problem, SpecError, UnsupportedError, counted, have
from kanon_sql.frequency import drawn_number, explained_if_missing, plain_source_of, unknown_columns
from kanon_sql.hierarchies import (
    Lookup,
    build_lookups,
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
)
from kanon_sql.relations.dates import refuse_no_dates
from kanon_sql.relations.lists import is_list, unnest
from kanon_sql.spec import (
    PERSON,
    ChildTable,
    ItemColumn,
    PersonTable,
    QuasiIdentifier,
    RelationalSpec,
    Source,
    derived_key,
    new_secret,
)
from kanon_sql.sql import Relation, Sql, exact_text, identifier, source_relation

__all__ = [
    "DIGITS",
    "MOST_PACKED",
    "LabelledColumn",
    "Member",
    "Pack",
    "States",
    "key_counts",
    "members",
    "path_of",
    "unchanged_columns",
]

_SOURCE = "kanon_source"

States = Mapping[str, Relation]
"""Table -> its rows that stay, each with the level of each of its quasi-identifiers; scratch tables."""

MOST_PACKED = 2**62
"""Labels of several columns are one number up to this, so that it can still be multiplied by a few."""

DIGITS = 9
"""Engines add fractions in different orders: what decides between nodes and steps is rounded to this many digits."""


@dataclass(frozen=True)
class Placed:
    """One table of a spec of several, as what reads and publishes a single one knows it.

    Attributes:
        spec: of all tables.
        name: the table's name in it; ``person`` for the table of persons.
    """

    spec: RelationalSpec
    name: str

    @property
    def table(self) -> PersonTable | ChildTable | ItemColumn:
        """What the spec says of it."""
        return self.spec.person if self.name == PERSON else self.spec.below[self.name]

    @property
    def source(self) -> Source:
        """Where it is."""
        return self.spec.source_of(self.name)

    @property
    def release(self) -> tuple[str, ...] | None:
        """The full name of the released table; None where nothing is published."""
        return None if self.spec.release is None else self.spec.released(self.name)

    @property
    def hash(self) -> str:
        """Of the whole spec."""
        return self.spec.hash

    @property
    def quasi_identifiers(self) -> Mapping[str, QuasiIdentifier]:
        """Its own."""
        return self.table.quasi_identifiers

    @property
    def nulls(self) -> str:
        """NULL is a value of its own."""
        return "value"

    @property
    def shown(self) -> str:
        """What messages call it."""
        if self.name == PERSON:
            return PERSON
        return f"items.{self.name}" if self.name in self.spec.items else f"tables.{self.name}"

    def resolve(self, path: str | Path) -> Path:
        """A path of the spec."""
        return self.spec.resolve(path)


@dataclass(frozen=True)
class LabelledColumn:
    """A quasi-identifier of one of the tables.

    Attributes:
        name: the column.
        number: its position among those of its table.
        lookup: its lookup table.
        labels: a value's labels, their numbers, and what each loses; a scratch table.
        losses: what a row loses on average, per level, weighted as the spec says.
        counts: how many labels there are, per level.
    """

    name: str
    number: int
    lookup: Lookup
    labels: Relation
    losses: Sequence[float]
    counts: Sequence[int]

    @property
    def lowest(self) -> int:
        """The lowest level that the spec allows."""
        return self.lookup.quasi_identifier.minimum_level

    @property
    def highest(self) -> int:
        """The highest level that the spec allows."""
        return self.lookup.highest

    @property
    def levels(self) -> range:
        """The levels that are allowed."""
        return range(self.lowest, self.highest + 1)

    def item(self) -> dict[str, object]:
        """What a statement needs of it."""
        return {
            "number": self.number,
            "labels": self.labels,
            "has_nulls": self.lookup.has_nulls,
            "levels": list(self.levels),
        }


@dataclass(frozen=True)
class Pack:
    """Labels of several columns in one whole number, which is quicker to group and to join by than each of them.

    Attributes:
        inherited: what the number of the row above is multiplied by; 0 where it has none.
        own: columns of the table itself, by their place in it, with what the numbers of their labels are multiplied by.
        room: a larger number than it can be.
    """

    inherited: int
    own: Sequence[tuple[int, int]]
    room: int


@dataclass(frozen=True)
class Member:
    """One of the tables, read.

    Attributes:
        placed: what the spec says of it.
        parent: the table above it; None for that of persons.
        rows: its rows, numbered, with their values; a scratch table.
        coded: the numbers of its rows' labels on every level; a scratch table.
        columns: its quasi-identifiers.
        types: the columns of the source by name.
        count: its rows.
        sensitive: the sensitive columns that it has; their values are ``s0``, ``s1``, ... of its rows.
        sampled_out: rows that were left out by random choice, of persons with more than the spec allows, and the rows
            below them.
        all_rows: its rows before that.
        row_counts: the columns of coded persons that say how many rows each has in other tables, where an attacker is
            taken to know that.
    """

    placed: Placed
    parent: Member | None
    rows: Relation
    coded: Relation
    columns: Sequence[LabelledColumn]
    types: Mapping[str, Column]
    count: int
    sensitive: Sequence[str] = ()
    sampled_out: int = 0
    all_rows: Relation | None = None
    row_counts: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Its name in the spec."""
        return self.placed.name

    @property
    def path(self) -> list[LabelledColumn]:
        """The columns that say what a row is known by: those of the rows above it below the person, then its own."""
        above = [] if self.parent is None or self.parent.name == PERSON else self.parent.path
        return [*above, *self.columns]

    @property
    def inherited(self) -> int:
        """How many columns of :attr:`path` are those of other tables."""
        return len(self.path) - len(self.columns)

    @property
    def packs(self) -> list[Pack]:
        """The numbers that hold what a row is known by: as few as whole numbers of 64 bits allow."""
        above = [] if self.parent is None or self.parent.name == PERSON else self.parent.packs
        found = [Pack(1, (), pack.room) for pack in above]
        for column in self.columns:
            labels = 1 + sum(column.counts)
            last = found[-1] if found and found[-1].room * labels <= MOST_PACKED else None
            if last is None:
                found.append(Pack(0, ((column.number, 1),), labels))
                continue
            own = [(number, stride * labels) for number, stride in last.own]
            found[-1] = Pack(last.inherited * labels, (*own, (column.number, 1)), last.room * labels)
        return found

    def room_for_repeats(self, tables: int) -> int | None:
        """What the number of a row's labels is multiplied by, so that it can hold how often they occur, and the table.

        Args:
            tables: how many tables there are.

        Returns:
            None where no whole number of 64 bits would hold these.
        """
        room = self.count + 1
        return room if len(self.packs) == 1 and self.packs[0].room * room * tables <= MOST_PACKED else None

    def items(self) -> list[dict[str, object]]:
        """What statements need of its quasi-identifiers."""
        return [column.item() for column in self.columns]


def members(workspace: Workspace, spec: RelationalSpec) -> dict[str, Member]:
    """Read every table of a spec once, each after its parent.

    Args:
        workspace: where.
        spec: names them.

    Raises:
        SpecError: a column is missing, keys are NULL or not unique, rows have no parent, or a hierarchy does not fit.
        UnsupportedError: values of a column could not be compared exactly on this engine.
    """
    found: dict[str, Member] = {}
    for number, name in enumerate([PERSON, *spec.below]):
        placed, apart = Placed(spec, name), workspace.apart(f"{workspace.prefix}t{number}_")
        if isinstance(placed.table, ItemColumn):
            found[name] = _ItemReader(apart, placed, found[placed.table.above]).member()
        else:
            parent = None if isinstance(placed.table, PersonTable) else found[placed.table.above]
            found[name] = _Reader(apart, placed, parent).member()
    if spec.counted_tables:
        person, tables = found[PERSON], [found[name].rows for name in spec.counted_tables]
        coded = workspace.table("coded_with_counts")
        workspace.execute("relations/with_row_counts", target=coded, coded=person.coded, tables=tables)
        counts = [f"n{number}" for number, _ in enumerate(tables)]
        found[PERSON] = replace(person, coded=coded, row_counts=counts)
    return found


def unchanged_columns(placed: Placed) -> tuple[str, ...]:
    """The columns that are released without labels: those that are kept, the sensitive ones, and dates to be moved."""
    return (*placed.table.keep, *placed.table.sensitive, *placed.table.shift)


def _split_columns(placed: Placed) -> list[ItemColumn]:
    """The columns of a table that hold several items, in the order of the spec."""
    return [item for item in placed.spec.items.values() if item.table == placed.name]


@dataclass(frozen=True)
class _Reader:
    """Reads one table.

    Attributes:
        workspace: where, with names of its own.
        placed: the table.
        parent: the one above it, read.
    """

    workspace: Workspace
    placed: Placed
    parent: Member | None

    def member(self) -> Member:
        """The table, read once."""
        workspace, placed = self.workspace, self.placed
        form = plain_source_of(workspace.engine, placed)
        with explained_if_missing(workspace.engine, placed.source.table):
            types = workspace.described(form)
        self._refuse_unknown(types)
        reader = workspace.reading(form)
        workspace.report(f"reading {placed.shown}", None)
        self._refuse_inexact(reader, types)
        rows = workspace.table("rows")
        reader.execute(
            "relations/rows",
            target=rows,
            source=source_relation(),
            parent=None if self.parent is None else self.parent.all_rows or self.parent.rows,
            parent_is_person=self.parent is not None and self.parent.parent is None,
            order=self._order(types),
            refers=[exact_value(types[name], _SOURCE) for name in self._refers],
            keys=[exact_value(types[name], _SOURCE) for name in self._key],
            values=[exact_value(types[name], _SOURCE) for name in placed.quasi_identifiers],
            sensitive=[exact_value(types[name], _SOURCE) for name in placed.table.sensitive],
            replaced=[exact_value(types[name], _SOURCE) for name in placed.table.replace],
            kept=[Sql(f"{identifier(_SOURCE)}.{identifier(name)}") for name in unchanged_columns(placed)],
            split=[self._several(item) for item in _split_columns(placed)],
        )
        count = self._refuse_bad_keys(rows)
        kept = self._sampled(rows)
        found = _coded(workspace, placed, self.parent, kept, types, workspace.size([kept]) if kept != rows else count)
        return replace(found, sampled_out=count - found.count, all_rows=rows)

    def _sampled(self, rows: Relation) -> Relation:
        """The rows without those beyond the most that a person may have, drawn again in each run, and rows below such.

        No seed of a session decides who is drawn.
        """
        table = self.placed.table
        most = table.most_rows if isinstance(table, ChildTable) else None
        above = self.parent.rows if self.parent is not None and self.parent.sampled_out else None
        if most is None and above is None:
            return rows
        target = self.workspace.table("sampled")
        draw = drawn_number(Sql("CAST(own.id AS VARCHAR)"), derived_key(new_secret(), "rows of a person"))
        self.workspace.execute("relations/sampled", target=target, rows=rows, above=above, most=most, draw=draw)
        return target

    @property
    def _key(self) -> tuple[str, ...]:
        return self.placed.table.key or ()

    @staticmethod
    def _several(item: ItemColumn) -> Sql:
        """A column of lists as it is, or one of texts, compared exactly."""
        column = f"{identifier(_SOURCE)}.{identifier(item.column)}"
        return Sql(column) if item.is_list else exact_text(Sql(f"CAST({column} AS VARCHAR)"))

    @property
    def _refers(self) -> tuple[str, ...]:
        table = self.placed.table
        return table.refers_by if isinstance(table, ChildTable) else ()

    def _order(self, types: Mapping[str, Column]) -> list[Sql]:
        """What numbers the rows: the same on every engine, whatever order they are read in."""
        names = self._key or (*self._refers, *self.placed.quasi_identifiers)
        return [exact_value(types[name], _SOURCE) for name in names]

    def _refuse_unknown(self, types: Mapping[str, Column]) -> None:
        table = self.placed.table
        names = dict.fromkeys(
            (
                *table.own_keys,
                *table.quasi_identifiers,
                *unchanged_columns(self.placed),
                *table.replace,
                *(item.column for item in _split_columns(self.placed)),
            )
        )
        problems = unknown_columns(self.placed.shown, types, names, "which the spec names")
        if problems:
            raise SpecError(problems)
        refuse_several_texts(types, [*table.own_keys, *table.replace], "a key")
        refuse_several_texts(types, list(table.sensitive), "a requirement")
        refuse_no_dates(self.workspace.dialect, self.placed, types)
        for item in _split_columns(self.placed):
            found, shown = types[item.column], f"{self.placed.shown}: {item.column!r} is {types[item.column].type}"
            if item.is_list and self.workspace.dialect.item is None:
                raise UnsupportedError(
                    f"{shown}, and lists of {self.workspace.dialect.name} are not supported; join the items to a text "
                    "in a query, and name what stands between them: split: ';'"
                )
            if item.is_list and not is_list(found):
                raise SpecError(f"{shown}, which is no list; name what stands between two items of a text: split: ';'")
            if not item.is_list and found.kind != "text":
                raise SpecError(f"{shown}, and items are split from text; leave out split, if it is a list")
        if self.parent is None:
            return
        for own, other in zip(self._refers, self.parent.placed.table.key or (), strict=True):
            above = self.parent.types[other]
            if types[own].kind != above.kind:
                raise SpecError(
                    f"{self.placed.shown}: {own!r} is {types[own].type}, and {other!r} of "
                    f"{self.parent.placed.shown}, which it refers to, is {above.type}; cast one of them in a query"
                )

    def _refuse_inexact(self, reader: Workspace, types: Mapping[str, Column]) -> None:
        table = self.placed.table
        names = dict.fromkeys((*table.own_keys, *table.quasi_identifiers, *table.sensitive, *table.replace))
        used = {name: types[name] for name in names}
        if not used:
            return
        refuse_mixed_forms(reader, source_relation(), used, labelled=list(table.quasi_identifiers))
        refuse_blank_ends(reader, source_relation(), exact_texts(list(used.values()), "checked"), self.placed.shown)

    def _refuse_bad_keys(self, rows: Relation) -> int:
        """Refuse keys that do not identify rows, and rows without a parent; returns how many rows there are.

        Raises:
            SpecError: how many there are of these.
        """
        count, without, repeated, orphans = key_counts(
            self.workspace, rows, len(self._key), is_child=self.parent is not None
        )
        where, problems = self.placed.shown, []
        named = ", ".join(self._key)
        if without:
            problems.append(
                f"{where}.key: {have(without)} NULL in {named}, so that no row can refer to them; leave them out in a "
                "query"
            )
        if repeated:
            what = "a person has one row there" if self.parent is None else "a key identifies one row"
            problems.append(
                f"{where}.key: {counted(repeated, 'value')} of {named} {'stands' if repeated == 1 else 'stand'} in "
                f"several rows, and {what}; add a column to the key, or make the rows one in a query"
            )
        if orphans:
            assert self.parent is not None
            problems.append(
                f"{where}: {orphans:,} of {count:,} rows refer by {', '.join(self._refers)} to no row of "
                f"{self.parent.placed.shown}; leave them out in a query, or add the rows they refer to"
            )
        if problems:
            raise SpecError([Problem(problem) for problem in problems])
        return count


def key_counts(workspace: Workspace, rows: Relation, key_columns: int, *, is_child: bool) -> tuple[int, int, int, int]:
    """Rows, those without a whole key, keys that several rows have, and rows without a parent.

    Keys are counted, which is quicker than the rows of each; these are looked at only where there are fewer keys.

    Args:
        workspace: where.
        rows: with their keys ``key0``, ``key1``, ...
        key_columns: how many these are.
        is_child: whether each row is to have a parent.
    """
    counts = workspace.row("relations/key_counts", rows=rows, key_columns=key_columns, is_child=is_child)
    count, without, different, orphans = (int(value) for value in counts)
    if not key_columns or (different == count and not without):
        return count, without, 0, orphans
    (repeated,) = workspace.row("relations/repeated_keys", rows=rows, key_columns=key_columns)
    return count, without, int(repeated), orphans


MOST_ITEMS = 1_000
"""A text of more items is refused: each takes a statement."""


@dataclass(frozen=True)
class _ItemReader:
    """Splits a column that holds several items.

    Attributes:
        workspace: where, with names of its own.
        placed: the items.
        parent: the table that has the column, read.
    """

    workspace: Workspace
    placed: Placed
    parent: Member

    def member(self) -> Member:
        """The items, a row for each that a row of the parent has, however often."""
        workspace, item = self.workspace, self.placed.table
        assert isinstance(item, ItemColumn)
        workspace.report(f"splitting {self.placed.shown}", None)
        rows = workspace.table("rows")
        if item.is_list:
            unnested, value = self._unnested(item)
            workspace.execute("relations/items_of_lists", target=rows, items=unnested, value=value)
        else:
            workspace.execute("relations/items_of_rows", target=rows, tables=self._pieces(item))
        found = workspace.columns(rows)["q0"]
        (count,) = workspace.row("release/count", table=rows, mark=None, unit=None)
        types = {item.column: replace(found, name=item.column)}
        return _coded(workspace, self.placed, self.parent, rows, types, int(count))

    def _unnested(self, item: ItemColumn) -> tuple[Relation, Sql]:
        """A row for each item of the lists, and how items are compared.

        Raises:
            UnsupportedError: they could not be compared exactly.
        """
        workspace = self.workspace
        number = _split_columns(self.parent.placed).index(item)
        target = workspace.table("unnested")
        context = {"rows": self.parent.rows, "of_person": self.parent.parent is None}
        unnest(workspace, "relations/unnested", target, f"split{number}", context)
        element = workspace.columns(target)["item"]
        found = replace(element, name=item.column)
        refuse_several_texts({item.column: found}, [item.column], "an item of a list")
        refuse_mixed_forms(workspace, target, {"item": element}, labelled=["item"])
        return target, exact_value(element, "own")

    def _pieces(self, item: ItemColumn) -> list[Relation]:
        """The first items of all texts, the second ones, and so on."""
        workspace, tables = self.workspace, list[Relation]()
        number = _split_columns(self.parent.placed).index(item)
        rest = workspace.table("rest0")
        workspace.execute(
            "relations/texts_of_items",
            target=rest,
            rows=self.parent.rows,
            column=f"split{number}",
            of_person=self.parent.parent is None,
        )
        while workspace.size([rest]):
            if len(tables) == MOST_ITEMS:
                raise SpecError(
                    f"{self.placed.shown}: a text holds more than {MOST_ITEMS:,} items; give a table of items instead"
                )
            pieces, after = workspace.table(f"pieces{len(tables)}"), workspace.table(f"rest{len(tables) + 1}")
            workspace.execute("relations/first_items", target=pieces, rest=rest, split=item.split)
            workspace.execute("relations/after_first_items", target=after, rest=rest, split=item.split)
            workspace.drop(rest)
            tables.append(pieces)
            rest = after
        return tables or [rest]


def _coded(
    workspace: Workspace,
    placed: Placed,
    parent: Member | None,
    rows: Relation,
    types: Mapping[str, Column],
    count: int,
) -> Member:
    """A table whose rows were read, with lookup tables for its columns, and the numbers of its rows' labels."""
    columns: list[LabelledColumn] = []
    if placed.quasi_identifiers:
        raw = workspace.table("raw")
        workspace.execute("relations/raw", target=raw, rows=rows, width=len(placed.quasi_identifiers))
        lookups = build_lookups(workspace, placed, dict(types), raw)
        columns = [_column(workspace, lookup, number) for number, lookup in enumerate(lookups)]
    coded = workspace.table("coded")
    workspace.execute(
        "relations/coded",
        target=coded,
        rows=rows,
        is_child=parent is not None,
        items=[column.item() for column in columns],
    )
    return Member(placed, parent, rows, coded, columns, types, count, placed.table.sensitive)


def _column(workspace: Workspace, lookup: Lookup, number: int) -> LabelledColumn:
    """A quasi-identifier with the numbers of its labels."""
    height = lookup.height
    texts, labels = workspace.table(f"texts{number}"), workspace.table(f"labels{number}")
    others = max(1, lookup.domain_rows - 1)
    workspace.execute("relations/texts", target=texts, lookup=lookup.table, height=height)
    workspace.execute(
        "relations/labels",
        target=labels,
        lookup=lookup.table,
        texts=texts,
        height=height,
        others=others,
        top_loss=1 if lookup.domain_rows > 1 else 0,
    )
    facts = workspace.row("relations/level_facts", labels=labels, height=height)
    weight = lookup.quasi_identifier.weight
    return LabelledColumn(
        name=lookup.name,
        number=number,
        lookup=lookup,
        labels=labels,
        losses=[weight * float(value or 0) for value in facts[0::2]],
        counts=[max(1, int(value or 1)) for value in facts[1::2]],
    )


def path_of(
    columns: Sequence[LabelledColumn], weights: Sequence[float], start: Sequence[int] | None = None
) -> list[list[int]]:
    """The levels of some columns from the lowest to the highest, one step of one column at a time.

    Each step is the one that loses least for what it tells less: loss by the logarithm of the labels that become one.

    Args:
        columns: the columns.
        weights: what a loss of each counts.
        start: where to begin; by default at the lowest levels.
    """
    at = list(start) if start is not None else [column.lowest for column in columns]
    path = [list(at)]
    while True:
        steps = list(_steps(columns, weights, at))
        if not steps:
            return path
        _, index = min(steps)
        at[index] += 1
        path.append(list(at))


def _steps(
    columns: Sequence[LabelledColumn], weights: Sequence[float], at: Sequence[int]
) -> Iterator[tuple[float, int]]:
    for index, (column, weight, level) in enumerate(zip(columns, weights, at, strict=True)):
        if level < column.highest:
            merged = math.log(column.counts[level] / column.counts[level + 1])
            lost = weight * (column.losses[level + 1] - column.losses[level])
            yield (round(lost / merged, DIGITS) if merged > 0 else 0.0, index)
