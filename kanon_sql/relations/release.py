"""Write the released tables under new keys, and count in what was written, by its own keys, what was promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kanon_sql.engines import Column, Row, Workspace
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.evaluate import Subject, examine
from kanon_sql.frequency import drawn_number, value_facts_of
from kanon_sql.hierarchies import (
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
    shown_keys,
)
from kanon_sql.relations.dates import moved_in_table, offsets
from kanon_sql.relations.keys import DRAW_DIGITS, NewKeys
from kanon_sql.relations.lists import list_labels, unnest
from kanon_sql.relations.members import DIGITS, Member, States, key_counts, unchanged_columns
from kanon_sql.relations.sensitive import class_models
from kanon_sql.release import staged
from kanon_sql.spec import (
    PERSON,
    Coherence,
    ItemColumn,
    KmAnonymity,
    RelationalSpec,
    Requirement,
    derived_key,
    new_secret,
)
from kanon_sql.sql import Relation, Sql

__all__ = [
    "Examined",
    "ReadRelease",
    "ReleasedTable",
    "Shared",
    "examined",
    "identifying",
    "items_of",
    "read_release",
    "released_keys",
    "released_list",
    "shared_by",
    "together",
    "written_tables",
]

_OWN = "own"


@dataclass(frozen=True)
class ReleasedTable:
    """A table of the release, as it is released or was found.

    Attributes:
        name: its name in the spec.
        table: it.
        key: its column that identifies rows; None for none.
        refers: its column that refers to the parent's; None for persons.
        labels: its quasi-identifiers.
        sensitive: its sensitive columns.
        above: the name of its parent in the spec; None for persons.
        is_list: the label is a column of lists in the parent's table.
    """

    name: str
    table: Relation
    key: Sequence[str]
    refers: Sequence[str]
    labels: Sequence[str]
    sensitive: Sequence[str]
    above: str | None
    is_list: bool = False


@dataclass(frozen=True)
class Shared:
    """What was counted for one requirement.

    Attributes:
        requirement: it.
        fewest: the fewest persons who share what is known; None where nothing is known of anyone, or for others.
        rare: combinations that violate it, or classes.
        reached: the thresholds that are reached, by their names.
    """

    requirement: KmAnonymity | Coherence | Requirement
    fewest: int | None
    rare: int
    reached: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """Whether the requirement does."""
        return self.rare == 0


@dataclass(frozen=True)
class Examined:
    """What was counted in released tables.

    Attributes:
        persons: rows of the table of persons.
        classes: their classes.
        fewest: the fewest persons of a class; None without persons.
        rows: table -> rows.
        shared: for each requirement.
        beyond: table -> how many persons have more rows there than the spec allows, where it does not allow all.
    """

    persons: int
    classes: int
    fewest: int | None
    rows: Mapping[str, int]
    shared: Sequence[Shared]
    beyond: Mapping[str, int]


# --- Write ---------------------------------------------------------------------------------


def released_keys(spec: RelationalSpec, name: str) -> tuple[str | None, str | None]:
    """The columns of a released table that hold its new key, and that of its parent: None for none.

    A key of several columns becomes one, whose name joins theirs. Where the reference to the parent is the key, one
    column is both.
    """
    if name == PERSON:
        return "_".join(spec.person.key), None
    table = spec.below[name]
    if isinstance(table, ItemColumn):
        above = spec.parent_of(table)
        assert above is not None
        return None, "_".join(above.key or ())
    refers = "_".join(table.refers_by)
    return None if table.key is None or spec.is_key_of_parent(name) else "_".join(table.key), refers


def identifying(spec: RelationalSpec, name: str) -> tuple[str, ...]:
    """The columns that identify a released table's rows; none where nothing can refer to them."""
    key, refers = released_keys(spec, name)
    if key is None and refers is not None and spec.is_key_of_parent(name):
        return (refers,)
    return () if key is None else (key,)


@contextmanager
def written_tables(
    workspace: Workspace, spec: RelationalSpec, members: Mapping[str, Member], states: States
) -> Iterator[dict[str, ReleasedTable]]:
    """The released tables under scratch names; dropped at the end unless they were published.

    Args:
        workspace: where.
        spec: says what is released.
        members: the tables, each after its parent.
        states: the rows that stay, with their levels.
    """
    drawn = new_secret()
    keys = NewKeys(workspace, spec, members, states, drawn)
    keys.make()
    moved = _moved(workspace, spec, members, states, keys)
    with ExitStack() as until_published:
        found: dict[str, ReleasedTable] = {}
        for number, (name, member) in enumerate(members.items()):
            if spec.is_list(name):
                assert member.parent is not None
                found[name] = released_list(found[member.parent.name], member.columns[0].name, name)
                continue
            target = until_published.enter_context(staged(workspace, spec.released(name), f"release{number}"))
            workspace.report(f"writing {'.'.join(spec.released(name))}", None)
            above = None if member.parent is None else member.parent.name
            outputs = [*_outputs(spec, member, keys), *_lists(workspace, spec, members, states, name)]
            workspace.execute(
                "relations/release",
                target=target,
                rows=member.rows,
                new_keys=keys.of_rows[name],
                parent_keys=None if above is None else keys.of_rows[above],
                moved=moved.get(name),
                outputs=outputs,
                draw=None if spec.key_variable is None else _drawn_order(drawn, name),
            )
            _, refers = released_keys(spec, name)
            found[name] = ReleasedTable(
                name,
                target,
                identifying(spec, name),
                () if refers is None else (refers,),
                [column.name for column in member.columns],
                member.sensitive,
                above,
            )
        yield found


def released_list(table: ReleasedTable, column: str, name: str) -> ReleasedTable:
    """A column of lists in a released table, by its name in the spec."""
    return ReleasedTable(name, table.table, (), table.key, [column], (), table.name, is_list=True)


def _lists(
    workspace: Workspace, spec: RelationalSpec, members: Mapping[str, Member], states: States, above: str
) -> list[dict[str, object]]:
    """The columns of a released table in which lists are released."""
    outputs: list[dict[str, object]] = []
    for number, name in enumerate(spec.lists_of(above)):
        (column,) = members[name].columns
        target = workspace.table(f"lists{list(members).index(name)}")
        context = {
            "state": states[above],
            "item_rows": members[name].rows,
            "item_state": states[name],
            "item": column.item(),
        }
        list_labels(workspace, target, context)
        outputs.append({"kind": "list", "name": column.name, "number": number, "lists": target})
    return outputs


def _moved(
    workspace: Workspace, spec: RelationalSpec, members: Mapping[str, Member], states: States, keys: NewKeys
) -> dict[str, Relation]:
    """The moved dates of each table that has some."""
    if not spec.shifted:
        return {}
    assert spec.release is not None
    person = members[PERSON].rows
    moving = offsets(workspace, person, states[PERSON], keys.drawn_of_persons(), spec.release.shift_days)
    found = {}
    for number, (name, member) in enumerate(members.items()):
        if columns := spec.shifted.get(name):
            places = unchanged_columns(member.placed)
            found[name] = moved_in_table(
                workspace,
                member.placed.shown,
                member.rows,
                moving,
                [(places.index(column), member.types[column]) for column in columns],
                spec.release.shift_days,
                is_person=name == PERSON,
                number=number,
            )
    return found


def _drawn_order(drawn: str, name: str) -> Sql:
    """What puts rows in random order where their keys are no random numbers."""
    return drawn_number(Sql("CAST(own.id AS VARCHAR)"), derived_key(drawn, f"order of {name}")[:DRAW_DIGITS])


def _outputs(spec: RelationalSpec, member: Member, keys: NewKeys) -> list[dict[str, object]]:
    """The released columns: keys first, then the others in the source's order."""
    key, refers = released_keys(spec, member.name)
    outputs: list[dict[str, object]] = []
    outputs += [] if key is None else [{"kind": "key", "name": key}]
    outputs += [] if refers is None else [{"kind": "above", "name": refers}]
    columns = {column.name: column for column in member.columns}
    kept, replaced = list(unchanged_columns(member.placed)), list(member.placed.table.replace)
    moved = member.placed.table.shift
    for name in member.types:
        if name in moved:
            outputs.append({"kind": "moved", "name": name, "number": moved.index(name)})
        elif name in columns:
            outputs.append({"kind": "label", "name": name, **columns[name].item()})
        elif name in kept:
            outputs.append({"kind": "kept", "name": name, "number": kept.index(name)})
        elif name in replaced:
            shared = keys.of_values[name.casefold()]
            outputs.append({"kind": "replaced", "name": name, "number": replaced.index(name), "shared": shared})
    return outputs


# --- Examine -------------------------------------------------------------------------------


def examined(
    workspace: Workspace, tables: Mapping[str, ReleasedTable], spec: RelationalSpec, references: Mapping[str, Sql]
) -> Examined:
    """Count in released tables, joined by their own keys, how many persons share what may be known of one.

    Nothing of the search is used: labels are compared as they stand there.

    Args:
        workspace: where; its names must be free.
        tables: the released tables, each after its parent.
        spec: what is asked for.
        references: column of persons -> the distribution that classes are compared with, where a requirement has one.

    Raises:
        SpecError: references are of another kind than the keys.
        VerificationError: keys are not unique, or rows refer to no row.
        UnsupportedError: this engine could not compare some values exactly.
    """
    read = read_release(workspace, tables, spec)
    counts = workspace.row("relations/fewest_in_class", persons=read.persons)
    counted = _Counted(workspace, spec, read, _holders(workspace, tables, read.joined))
    root = tables[PERSON]
    return Examined(
        persons=int(counts[0]),
        classes=int(counts[1]),
        fewest=None if counts[2] is None else int(counts[2]),
        rows=read.rows,
        shared=[
            *(counted.of(item) for item in spec.requirements if isinstance(item, KmAnonymity | Coherence)),
            *_classes(workspace, root, read.types[PERSON], spec, references),
        ],
        beyond=dict(_beyond(workspace, spec, read.joined)),
    )


def _beyond(workspace: Workspace, spec: RelationalSpec, joined: Mapping[str, Relation]) -> Iterator[tuple[str, int]]:
    """How many persons have more rows in each table than the spec allows."""
    for name, table in spec.tables.items():
        if table.most_rows is not None:
            (persons,) = workspace.row("relations/persons_beyond", rows=joined[name], most=table.most_rows)
            yield name, int(persons)


@dataclass(frozen=True)
class ReadRelease:
    """Released tables, read by their own keys and labels.

    Attributes:
        workspace: where they were.
        persons: numbered, with their classes.
        joined: table -> its rows, with whose they are, and with the labels of the rows above them.
        widths: table -> how many labels say what a row is.
        rows: table -> its rows.
        types: table -> its columns.
    """

    workspace: Workspace
    persons: Relation
    joined: Mapping[str, Relation]
    widths: Mapping[str, int]
    rows: Mapping[str, int]
    types: Mapping[str, Mapping[str, Column]]

    @cached_property
    def items(self) -> Relation | None:
        """Those of all persons, numbered; None without other tables."""
        numbered = [
            items_of(self.workspace, self.joined[name], self.widths[name], number, len(self.joined))
            for number, name in enumerate(self.joined)
            if name != PERSON
        ]
        return together(self.workspace, numbered)


def read_release(
    workspace: Workspace, tables: Mapping[str, ReleasedTable], spec: RelationalSpec, *, with_labels: bool = False
) -> ReadRelease:
    """Read released tables by nothing but their keys and labels.

    Args:
        workspace: where; its names must be free.
        tables: the released tables, each after its parent.
        spec: says which numbers of rows are known.
        with_labels: persons have their labels as ``s0``, ``s1``, ... instead of their sensitive values.

    Raises:
        SpecError: references are of another kind than the keys.
        VerificationError: keys are not unique, or rows refer to no row.
        UnsupportedError: this engine could not compare some values exactly.
    """
    tables = {name: _unnested(workspace, number, tables, name) for number, name in enumerate(tables)}
    types = {name: workspace.columns(item.table) for name, item in tables.items()}
    for name, item in tables.items():
        _refuse_inexact(workspace, item, types[name])
        if item.above is not None:
            _refuse_other_kinds(item, types[name], tables[item.above], types[item.above])
    persons = workspace.table("examined_persons")
    root = tables[PERSON]
    carried = root.labels if with_labels else root.sensitive
    keys = [exact_value(types[PERSON][name], _OWN) for name in root.key]
    workspace.execute(
        "relations/examined_persons",
        target=persons,
        table=root.table,
        keys=keys,
        labels=_labels(root, types[PERSON]),
        sensitive=[exact_value(types[PERSON][name], _OWN) for name in carried],
    )
    numbered = workspace.table("examined_root")
    workspace.execute(
        "relations/examined_root",
        target=numbered,
        persons=persons,
        key_columns=len(keys),
        sensitive=len(carried),
    )
    _refuse_repeated(workspace, numbered, PERSON, len(keys))
    parents, widths = _joined(workspace, tables, types, numbered)
    if spec.counted_tables:
        counted_root = workspace.table("examined_counts")
        workspace.execute(
            "relations/examined_counts",
            target=counted_root,
            persons=numbered,
            key_columns=len(keys),
            sensitive=len(carried),
            tables=[parents[name] for name in spec.counted_tables],
        )
        numbered = counted_root
        parents, widths = _joined(workspace.apart(f"{workspace.prefix}counted_"), tables, types, numbered)
    (there,) = workspace.row("release/count", table=numbered, mark=None, unit=None)
    rows = {PERSON: int(there)}
    for name, item in tables.items():
        if item.above is not None:
            rows[name] = _refuse_lost(workspace, item, parents[name])
    return ReadRelease(workspace, numbered, parents, widths, rows, types)


def _unnested(workspace: Workspace, number: int, tables: Mapping[str, ReleasedTable], name: str) -> ReleasedTable:
    """A released table; instead of a column of lists, their items, with the keys of the rows that have them."""
    found = tables[name]
    if not found.is_list:
        return found
    target, (label,) = workspace.table(f"examined_lists{number}"), found.labels
    context = {"table": found.table, "keys": list(found.refers), "item": label}
    unnest(workspace, "relations/unnested_labels", target, label, context)
    return replace(found, table=target)


def _joined(
    workspace: Workspace,
    tables: Mapping[str, ReleasedTable],
    types: Mapping[str, Mapping[str, Column]],
    persons: Relation,
) -> tuple[dict[str, Relation], dict[str, int]]:
    """The rows of each table with whose they are, by the released keys; and how many labels say what each is.

    Raises:
        VerificationError: keys that rows refer to are not unique.
    """
    joined, widths = {PERSON: persons}, {PERSON: 0}
    for number, (name, item) in enumerate(tables.items()):
        if item.above is None:
            continue
        labels = _labels(item, types[name])
        joined[name] = workspace.table(f"examined_rows{number}")
        workspace.execute(
            "relations/examined_rows",
            target=joined[name],
            table=item.table,
            parent=joined[item.above],
            keys=[exact_value(types[name][column], _OWN) for column in item.key],
            refers=[exact_value(types[name][column], _OWN) for column in item.refers],
            inherited=widths[item.above],
            labels=labels,
            sensitive=_values(item, types[name]),
        )
        widths[name] = widths[item.above] + len(labels)
        if item.key:
            _refuse_repeated(workspace, joined[name], name, len(item.key))
    return joined, widths


def _refuse_inexact(workspace: Workspace, item: ReleasedTable, types: Mapping[str, Column]) -> None:
    """Refuse values that this engine could not compare exactly: different ones would be counted as one."""
    refuse_several_texts(types, (*item.key, *item.refers), "a key")
    refuse_several_texts(types, item.sensitive, "a requirement")
    names = dict.fromkeys((*item.key, *item.refers, *item.labels, *item.sensitive))
    used = {name: types[name] for name in names}
    refuse_mixed_forms(workspace, item.table, used)
    refuse_blank_ends(workspace, item.table, exact_texts(list(used.values()), "checked"), item.name)


def _refuse_other_kinds(
    item: ReleasedTable, types: Mapping[str, Column], above: ReleasedTable, types_above: Mapping[str, Column]
) -> None:
    """Refuse references of another kind than the keys: a number would be equal to several texts, '1' and '01'."""
    for own, other in zip(item.refers, above.key, strict=True):
        if types[own].kind != types_above[other].kind:
            raise SpecError(
                f"{item.name}: {own!r} is {types[own].type}, and {other!r} of {above.name}, which it refers to, is "
                f"{types_above[other].type}; cast one of them"
            )


def _labels(item: ReleasedTable, types: Mapping[str, Column]) -> list[Sql]:
    return shown_keys([types[name] for name in item.labels], _OWN)


def _values(item: ReleasedTable, types: Mapping[str, Column]) -> list[Sql]:
    return [exact_value(types[name], _OWN) for name in item.sensitive]


def _refuse_repeated(workspace: Workspace, table: Relation, name: str, key_columns: int) -> None:
    _, without, repeated, _ = key_counts(workspace, table, key_columns, is_child=False)
    if without or repeated:
        raise VerificationError(
            f"verification: {repeated:,} keys of {name!r} stand in several rows, and {without:,} rows have none"
        )


def _refuse_lost(workspace: Workspace, item: ReleasedTable, joined: Relation) -> int:
    """The rows of a table, each of which has to find one row above it."""
    (there,) = workspace.row("release/count", table=item.table, mark=None, unit=None)
    (found,) = workspace.row("release/count", table=joined, mark=None, unit=None)
    if int(there) != int(found):
        raise VerificationError(
            f"verification: of {int(there):,} rows of {item.name!r}, {int(found):,} were found below a row of "
            f"{item.above!r}"
        )
    return int(there)


def items_of(workspace: Workspace, rows: Relation, width: int, number: int, tables: int) -> Relation:
    """The items that rows are, numbered; those of other tables have other numbers.

    Args:
        workspace: where.
        rows: with their person and class, and labels ``e0``, ``e1``, ...
        width: how many labels say what a row is.
        number: the place of the table among those that items are numbered of.
        tables: how many there are.
    """
    target = workspace.table(f"items{number}")
    workspace.execute(
        "relations/items", target=target, rows=rows, width=width, number=number, tables=tables, once=False
    )
    return target


def together(workspace: Workspace, items: Sequence[Relation]) -> Relation | None:
    """The items of several tables in one; None without tables."""
    if len(items) < 2:
        return items[0] if items else None
    target = workspace.table("all_items")
    workspace.execute("relations/all_items", target=target, tables=list(items))
    return target


def _holders(
    workspace: Workspace, tables: Mapping[str, ReleasedTable], rows: Mapping[str, Relation]
) -> Relation | None:
    """Which persons have which sensitive values; None where no column is sensitive."""
    columns = [(rows[name], number) for name, item in tables.items() for number in range(len(item.sensitive))]
    if not columns:
        return None
    target = workspace.table("examined_values")
    workspace.execute("relations/examined_values", target=target, columns=columns)
    return target


@dataclass(frozen=True)
class _Counted:
    """What is counted of released tables.

    Attributes:
        workspace: where.
        spec: what is asked for.
        read: the tables.
        holders: which persons have which sensitive values; None without any.
    """

    workspace: Workspace
    spec: RelationalSpec
    read: ReadRelease
    holders: Relation | None

    def of(self, asked: KmAnonymity | Coherence) -> Shared:
        """What was counted for a requirement."""
        if isinstance(asked, Coherence):
            return self._coherent(asked)
        if asked.m in (0, 1):
            return self._one_row(asked)
        return shared_by(self.workspace, asked, self.read.persons, self.read.items)

    def _one_row(self, asked: KmAnonymity) -> Shared:
        """How many persons share what an attacker knows of one row at most: items need no numbers to be counted."""
        found = [self.workspace.row("relations/small_sets", persons=self.read.persons, k=asked.k)]
        if asked.m:
            found += [
                self.workspace.row("relations/fewest_sharing_rows", rows=rows, width=self.read.widths[name], k=asked.k)
                for name, rows in self.read.joined.items()
                if name != PERSON
            ]
        return _shared(asked, found)

    def _coherent(self, asked: Coherence) -> Shared:
        """The largest share of a sensitive value among persons who share what is known."""
        assert asked.m is not None
        assert self.holders is not None, "the spec refuses coherence without sensitive columns"
        most, of = asked.bound
        found = [
            self.workspace.row(
                "relations/largest_share",
                persons=self.read.persons,
                items=self.read.items if m else None,
                holders=self.holders,
                m=m,
                most=most,
                of=of,
            )
            for m in range(asked.m + 1)
            if not m or self.read.items is not None
        ]
        largest = max((float(row[0]) for row in found if row[0] is not None), default=0.0)
        return Shared(asked, None, sum(int(row[1]) for row in found), {"h": round(largest, DIGITS)})


def shared_by(workspace: Workspace, asked: KmAnonymity, persons: Relation, items: Relation | None) -> Shared:
    """How many persons share what an attacker knows who knows at most m items.

    Args:
        workspace: where.
        asked: k and m.
        persons: with their classes.
        items: of all persons; None without other tables.
    """
    found = [workspace.row("relations/small_sets", persons=persons, k=asked.k)]
    if items is not None and asked.m == "all":
        found.append(_whole_sets(workspace, asked.k, persons, items))
    elif items is not None:
        found += [
            workspace.row("relations/fewest_sharing", items=items, m=m, k=asked.k) for m in range(1, int(asked.m) + 1)
        ]
    return _shared(asked, found)


def _shared(asked: KmAnonymity, found: Sequence[Row]) -> Shared:
    """Of the fewest persons who share something, and how much is rare, all together."""
    fewest = min((int(row[0]) for row in found if row[0] is not None), default=None)
    return Shared(asked, fewest, sum(int(row[1]) for row in found), {"k": fewest})


def _classes(
    workspace: Workspace,
    root: ReleasedTable,
    types: Mapping[str, Column],
    spec: RelationalSpec,
    references: Mapping[str, Sql],
) -> list[Shared]:
    """What the classes of persons reach of the requirements on them."""
    models = class_models(spec)
    if not models:
        return []
    names = dict.fromkeys(model.attribute for model in models if model.attribute is not None)
    subject = Subject(
        table=root.table,
        columns=types,
        quasi_identifiers=root.labels,
        references=references,
        facts={name: value_facts_of(models, types[name]) for name in names},
    )
    found = examine(workspace, subject, models)
    return [
        Shared(asked, None, item.violating_classes, dict(item.values))
        for asked, item in zip(spec.of_classes, found.achieved, strict=True)
    ]


def _whole_sets(workspace: Workspace, k: int, persons: Relation, items: Relation) -> Row:
    """The fewest persons who have all their items in common; who has none has that in common with others.

    Persons with equal sums of their items' digests are compared item by item with the first of them; who differs from
    that one counts as alone, so that two sets with equal sums are never taken for one.
    """
    sums, firsts = workspace.table("set_sums"), workspace.table("set_firsts")
    workspace.execute("relations/set_sums", target=sums, persons=persons, items=items)
    workspace.execute("relations/set_firsts", target=firsts, sums=sums)
    return workspace.row("relations/equal_sets", items=items, sums=sums, firsts=firsts, k=k)
