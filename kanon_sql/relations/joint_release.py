"""Several releases of the same persons together: whether the source still gives each, and what they show as one.

Definition. Releases R1 ... Rn of several tables are made of the same source tables, each with one level for each of its
columns and with persons left out. The *joint release* J has each person that some release shows. Their class is which
of the releases they are in, and what every one of these shows of the person, side by side; where the number of their
rows in a table is known, that number too. Their rows are those that one of these releases shows, each with its labels
in every one of them, side by side, and so for the rows above it. What an attacker may know of a person is an *item* of
J, or of any one release that the person is in: labels of a row with those above it, and how often they have occurred.
The releases together satisfy ``km_anonymity`` when in each class of J every combination of at most m such items that
occurs is shared by k persons; for m: all, when k persons have the very same ones.

Why that is enough. Each release is a projection of J, its keys being drawn without regard to anything: whatever is
concluded from all of them can be concluded from J, in which neither persons nor their rows have to be linked any more.
So nothing is assumed about how well releases can be joined, by keys that a secret makes, by kept columns or otherwise.
Who knows a person's own values knows at most their class in J. Who knows some of their rows exactly knows as many items
of J: the labels of each, and that these occur as often as the known rows have them.

Items of the single releases are asked about as well, since J may have every one of its items shared, and a release lose
what it promised: of persons with visits on the 3rd and the 9th, on the 3rd, and on the 9th, two share each day, and one
has a second visit in that month. An item of a release at the lowest levels of all is one of J, since levels nest.

Persons that a release leaves out are a part of what it tells: they are classes of their own.

J is made of the source as it is now. It speaks of the releases only if the source gives each of them: as many persons
with the very same labels, kept columns and items. Who stays is looked for again; the largest set that satisfies is
unique. Kept columns are compared since they join releases: where two persons' visits were exchanged, as by a
correction, every label occurs as often as before, and J would be about other pairs of rows than these columns join.

The definition and the argument are ours. They are about what releases show, not about how they were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.hierarchies import exact_value
from kanon_sql.relations.full_domain import staying_at
from kanon_sql.relations.lists import is_list
from kanon_sql.relations.members import LabelledColumn, Member, members, unchanged_columns
from kanon_sql.relations.release import ReleasedTable, Shared, items_of, read_release, shared_by, together
from kanon_sql.spec import PERSON, KmAnonymity, RelationalSpec
from kanon_sql.sql import Relation, Sql, exact_text, identifier

__all__ = ["JointRelease", "View", "examine_jointly"]


@dataclass(frozen=True)
class View:
    """One release, and how to make it of the source.

    Attributes:
        name: for messages.
        tables: the released tables, by the names that the joint spec gives them; each after its parent.
        levels: table -> column -> level.
        kept: table -> the columns that are released as they are.
        columns: table -> all columns of the released table; of a column of lists, nothing.
        privacy: what was required of it.
        counted: the tables of which it is known how many rows a person has.
    """

    name: str
    tables: Mapping[str, ReleasedTable]
    levels: Mapping[str, Mapping[str, int]]
    kept: Mapping[str, Sequence[str]]
    columns: Mapping[str, Sequence[str]]
    privacy: Sequence[KmAnonymity]
    counted: Sequence[str]


@dataclass(frozen=True)
class JointRelease:
    """What releases show together.

    Attributes:
        changed: names of the releases that the source no longer gives; if there are any, nothing else is known.
        persons: those that some release shows.
        classes: of these.
        shared: what was counted for each requirement of any of them.
    """

    changed: Sequence[str]
    persons: int = 0
    classes: int = 0
    shared: Sequence[Shared] = ()

    @property
    def passed(self) -> bool:
        """Whether the releases together satisfy every requirement."""
        return not self.changed and all(item.holds for item in self.shared)


def examine_jointly(workspace: Workspace, spec: RelationalSpec, views: Sequence[View]) -> JointRelease:
    """Make releases again from the source, and count what they show together.

    Args:
        workspace: where; its names must be free.
        spec: all tables and columns that one of the releases has, with all levels.
        views: the releases.

    Raises:
        SpecError: the source lacks what one of them shows.
        UnsupportedError: this engine could not compare some values exactly.
    """
    workspace.report("comparing with earlier releases: reading the tables again", None)
    counted = [name for name in spec.ordered if any(name in view.counted for view in views)]
    found = members(workspace, _counting(spec, counted))
    staying, changed = list[Relation](), list[str]()
    for number, view in enumerate(views):
        workspace.report(f"comparing with earlier releases: making {view.name} again", None)
        own = _members_of(found, view, counted)
        apart = workspace.apart(f"{workspace.prefix}v{number}_")
        node = {name: [view.levels[name][column.name] for column in item.columns] for name, item in own.items()}
        asked = spec.model_copy(update={"privacy": tuple(view.privacy)})
        staying.append(staying_at(apart, asked, own, node))
        if _differs(apart, spec, view, own, node, staying[-1]):
            changed.append(view.name)
    if changed:
        return JointRelease(changed)
    workspace.report("comparing with earlier releases: counting what they show together", None)
    return _Joint(workspace, views, found, counted, staying).examined()


def _counting(spec: RelationalSpec, counted: Sequence[str]) -> RelationalSpec:
    """The spec with some tables of which it is known how many rows a person has."""
    tables = {
        name: table.model_copy(update={"row_count": "known" if name in counted else "unknown"})
        for name, table in spec.tables.items()
    }
    return spec.model_copy(update={"tables": tables})


def _members_of(found: Mapping[str, Member], view: View, counted: Sequence[str]) -> dict[str, Member]:
    """The tables and columns that a release has."""
    own = dict[str, Member]()
    for name in (name for name in found if name in view.levels):
        member = found[name]
        columns = [column for column in member.columns if column.name in view.levels[name]]
        parent = None if member.parent is None else own[member.parent.name]
        counts = [count for count, of in zip(member.row_counts, counted, strict=False) if of in view.counted]
        own[name] = replace(member, columns=columns, parent=parent, row_counts=counts)
    return own


# --- Whether the source still gives a release ------------------------------------------------


def _differs(
    workspace: Workspace,
    spec: RelationalSpec,
    view: View,
    own: Mapping[str, Member],
    node: Mapping[str, Sequence[int]],
    staying: Relation,
) -> bool:
    """Whether a release has persons with other labels, kept columns and items than the source gives."""
    for name, table in view.tables.items():
        columns = workspace.columns(table.table)
        if not table.is_list and set(columns) != set(view.columns[name]):
            return True
        fits = is_list if table.is_list else _is_text
        if not all(fits(columns[label]) for label in table.labels):
            return True
        if workspace.dialect.typed and any(
            columns[kept].kind != own[name].types[kept].kind for kept in view.kept[name]
        ):
            return True
    shown = {name: [*(column.name for column in item.columns), *view.kept[name]] for name, item in own.items()}
    tables = {name: replace(table, labels=shown[name]) for name, table in view.tables.items()}
    try:
        read = read_release(workspace.apart(f"{workspace.prefix}read_"), tables, _counting(spec, ()), with_labels=True)
    except (VerificationError, SpecError):  # keys that were altered
        return True
    persons, made = _made(workspace, own, node, view.kept, staying)
    both = workspace.table("both_persons")
    width = len(shown[PERSON])
    workspace.execute("relations/both_persons", target=both, made=persons, released=read.persons, width=width)
    items, places = [], dict[str, list[int]]()
    for number, (name, rows) in enumerate(made.items()):
        target, above = workspace.table(f"both_rows{number}"), str(tables[name].above)
        first = read.widths[above]  # beside the labels may stand how they are spelled, which are no labels
        places[name] = [*places.get(above, []), *range(first, first + len(shown[name]))]
        workspace.execute(
            "relations/both_rows", target=target, made=rows, released=read.joined[name], places=places[name]
        )
        items.append(items_of(workspace, target, len(places[name]), number, len(made)))
    sums, firsts, every = None, None, together(workspace, items)
    if every is not None:
        sums, firsts = workspace.table("both_sums"), workspace.table("both_firsts")
        workspace.execute("relations/set_sums", target=sums, persons=both, items=every)
        workspace.execute("relations/set_firsts", target=firsts, sums=sums)
    (different,) = workspace.row("relations/unequal_persons", persons=both, items=every, firsts=firsts)
    return bool(different)


def _is_text(column: Column) -> bool:
    """Whether a column is compared as text; those of SQLite may hold values of any type."""
    return column.kind in ("text", "other")


def _made(
    workspace: Workspace,
    own: Mapping[str, Member],
    node: Mapping[str, Sequence[int]],
    kept: Mapping[str, Sequence[str]],
    staying: Relation,
) -> tuple[Relation, dict[str, Relation]]:
    """The persons of a release with what it shows of them, and the rows of its other tables, made of the source."""
    person = own[PERSON]
    persons, rows, widths = workspace.table("made_persons"), dict[str, Relation](), {PERSON: 0}
    workspace.execute(
        "relations/made_persons",
        target=persons,
        rows=person.rows,
        staying=staying,
        items=_texts(person, node[PERSON]),
        kept=_kept(person, kept[PERSON]),
    )
    for number, (name, member) in enumerate(own.items()):
        if member.parent is None:
            continue
        above, unlabelled = member.parent.name, _kept(member, kept[name])
        rows[name] = workspace.table(f"made_rows{number}")
        workspace.execute(
            "relations/made_rows",
            target=rows[name],
            rows=member.rows,
            staying=staying,
            parent=rows.get(above),
            inherited=widths[above],
            items=_texts(member, node[name]),
            kept=unlabelled,
        )
        widths[name] = widths[above] + len(member.columns) + len(unlabelled)
    return persons, rows


def _texts(member: Member, levels: Sequence[int]) -> list[dict[str, object]]:
    """What a statement needs of a table's columns to say their labels."""
    return [
        {**column.item(), "text": exact_text(Sql(f"{identifier(f'labels{column.number}')}.{identifier(f'l{level}')}"))}
        for column, level in zip(member.columns, levels, strict=True)
    ]


def _kept(member: Member, names: Sequence[str]) -> list[Sql]:
    """Columns that are released as they are, compared exactly."""
    places = unchanged_columns(member.placed)
    return [exact_value(replace(member.types[name], name=f"kept{places.index(name)}"), "own") for name in names]


# --- What releases show together -------------------------------------------------------------


@dataclass(frozen=True)
class _Label:
    """A column of a table at one level, and the releases that show it there.

    Attributes:
        table: its name in the joint spec.
        column: it.
        level: it.
        shown_by: the places of the releases.
    """

    table: str
    column: LabelledColumn
    level: int
    shown_by: Sequence[int]

    def item(self) -> dict[str, object]:
        """What a statement needs of it."""
        return {"code": f"g{self.column.number}_{self.level}", "shown_by": _flags(self.shown_by)}


def _flags(places: Sequence[int]) -> list[str]:
    """The columns that say of joint persons whether they are in some releases."""
    return [f"in{place}" for place in places]


@dataclass(frozen=True)
class _Joint:
    """The joint release in the database.

    Attributes:
        workspace: where.
        views: the releases.
        found: all tables.
        counted: the tables of which some release takes the number of a person's rows for known.
        staying: who is in each release; scratch tables.
    """

    workspace: Workspace
    views: Sequence[View]
    found: Mapping[str, Member]
    counted: Sequence[str]
    staying: Sequence[Relation]

    def examined(self) -> JointRelease:
        """What every requirement of every release finds in it."""
        persons = self._persons()
        items = self._items(persons)
        count, classes, _ = self.workspace.row("relations/fewest_in_class", persons=persons)
        asked = dict.fromkeys(item for view in self.views for item in view.privacy)
        shared = [
            shared_by(self.workspace.apart(f"{self.workspace.prefix}asked{number}_"), item, persons, items)
            for number, item in enumerate(asked)
        ]
        return JointRelease((), int(count), int(classes), shared)

    def _persons(self) -> Relation:
        target, person = self.workspace.table("joint_persons"), self.found[PERSON]
        self.workspace.execute(
            "relations/joint_persons",
            target=target,
            coded=person.coded,
            staying=list(self.staying),
            labels=[label.item() for label in self._labels(PERSON)],
            counts=[
                {"code": code, "shown_by": _flags(self._showing(name))}
                for code, name in zip(person.row_counts, self.counted, strict=True)
            ],
        )
        return target

    def _showing(self, name: str) -> list[int]:
        """The places of the releases that have a table."""
        return [place for place, view in enumerate(self.views) if name in view.levels]

    def _labels(self, name: str) -> list[_Label]:
        """The columns of a table at every level that some release shows them on, lowest levels first."""
        found = []
        for column in self.found[name].columns:
            levels = {place: view.levels.get(name, {}).get(column.name) for place, view in enumerate(self.views)}
            found += [
                _Label(name, column, level, [place for place, own in levels.items() if own == level])
                for level in sorted({level for level in levels.values() if level is not None})
            ]
        return found

    def _items(self, persons: Relation) -> Relation | None:
        """The items of all persons: of the joint release, and of each release that has coarser ones."""
        kinds = list[tuple[Relation, int]]()  # rows, and how many labels say what each is
        rows, paths = dict[str, Relation](), dict[str, list[_Label]]()
        for number, (name, member) in enumerate(self.found.items()):
            if member.parent is None:
                continue
            above, labels = member.parent.name, self._labels(name)
            rows[name], paths[name] = self.workspace.table(f"joint_rows{number}"), [*paths.get(above, []), *labels]
            shown_by = self._showing(name)
            self.workspace.execute(
                "relations/joint_rows",
                target=rows[name],
                coded=member.coded,
                persons=persons,
                parent=rows.get(above),
                inherited=len(paths.get(above, [])),
                labels=[label.item() for label in labels],
                shown_by=_flags(shown_by),
            )
            kinds.append((rows[name], len(paths[name])))
            for place, (seen, by) in enumerate(self._coarser(paths[name], shown_by).items()):
                target = self.workspace.table(f"shown_rows{number}_{place}")
                self.workspace.execute(
                    "relations/rows_as_shown",
                    target=target,
                    rows=rows[name],
                    persons=persons,
                    places=list(seen),
                    shown_by=_flags(by),
                )
                kinds.append((target, len(seen)))
        return together(
            self.workspace,
            [items_of(self.workspace, table, width, number, len(kinds)) for number, (table, width) in enumerate(kinds)],
        )

    @staticmethod
    def _coarser(path: Sequence[_Label], shown_by: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
        """What some releases show of a row, as places in the path of the joint release, where that is less than all."""
        lowest = dict[tuple[str, str], int]()
        for place, label in enumerate(path):  # which has the lowest level of each column first
            lowest.setdefault((label.table, label.column.name), place)
        found = dict[tuple[int, ...], list[int]]()
        for release in shown_by:
            seen = tuple(place for place, label in enumerate(path) if release in label.shown_by)
            if set(seen) != set(lowest.values()):
                found.setdefault(seen, []).append(release)
        return found
