"""Events generalized within each class of persons for two or three known items: one cut of the hierarchies per class.

Rows that climb one by one, as for a single known item, end at the top: each new label makes new pairs. So every class
has one level for each column, found from the top downwards: of the columns that may go down a level or two, the one
after which the class is estimated to lose least, while it loses less than before. A row is estimated to be lost by half
where it is in a combination that fewer than k persons of the class share.

Then rows climb until every combination is shared: of each person with a rare one, the row that is in most of them
climbs a level with its own columns, and if it is at the top, is left out with the rows below it. This ends, since
nothing is refined.
What is lost is a heuristic's choice; every round counts again who shares each combination, in the classes where a row
climbed in the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Workspace
from kanon_sql.relations.first_levels import FirstLevels
from kanon_sql.relations.local import Climb, CurrentRows
from kanon_sql.relations.members import LabelledColumn, Member, States
from kanon_sql.spec import PERSON
from kanon_sql.sql import Relation

__all__ = ["Cuts", "Thinning"]

UNITS = 10_000
"""Losses are added up in whole numbers of these parts, so that engines decide alike."""

MANY_ROWS = 30_000
"""Cuts are estimated by a sample of this many rows or more."""

VERY_MANY_ROWS = 500_000
"""With this many rows or more, a sample tells how classes of persons compare."""

MANY_CLASSES = 50
"""Of more classes than these, a sample of as many or more tells what is lost in all."""


@dataclass(frozen=True)
class _Sample:
    """A sample that cuts are estimated by.

    Attributes:
        classes: those of all classes of which some are looked at.
        persons: the ones who are looked at, with their classes.
        k: how many of them share a combination that k persons share.
        one_in: of how many persons one is looked at.
        released: whether it is large enough for cuts to be released at.
    """

    classes: Relation
    persons: Relation
    k: int
    one_in: float
    released: bool


@dataclass(frozen=True)
class _BestCuts:
    """The best cuts of some classes.

    Attributes:
        cuts: a scratch table.
        one_in: of how many persons one was looked at.
        of_all: whether every class has one.
        released: whether rows may be released at them.
    """

    cuts: Relation
    one_in: float
    of_all: bool
    released: bool


@dataclass
class Cuts:
    """Cuts of the hierarchies of other tables, one for each class of persons.

    Attributes:
        workspace: where.
        members: the tables, each after its parent.
        k: how many persons share a combination.
        m: of how many items at most.
    """

    workspace: Workspace
    members: Mapping[str, Member]
    k: int
    m: int
    _tables: int = 0
    _known: dict[Relation, _BestCuts] = field(default_factory=dict)

    @property
    def events(self) -> list[Member]:
        """The tables below that of persons, each after its parent."""
        return [member for name, member in self.members.items() if name != PERSON]

    @property
    def columns(self) -> list[LabelledColumn]:
        """Those of the other tables: the levels of a cut."""
        return [column for member in self.events for column in member.columns]

    def loss(self, classes: Relation) -> float:
        """What the best cuts that were found lose, as the sum over the tables of what a row loses on average."""
        found = self._best_cuts(classes, released=False)
        (units,) = self.workspace.row("relations/cut_loss", cuts=found.cuts)
        most = max(member.count for member in self.events)
        return found.one_in * float(units) / (2 * UNITS * 1000 * max(1, most))

    def states(self, classes: Relation) -> dict[str, Relation]:
        """All rows of the persons of some classes, at the levels of their cuts."""
        found, states = self._best_cuts(classes, released=True), {}
        for member in self.events:
            self._tables += 1
            states[member.name] = self.workspace.table(f"cut_state{self._tables}")
            self.workspace.execute(
                "relations/cut_state",
                target=states[member.name],
                coded=member.coded,
                classes=classes,
                cuts=found.cuts,
                levels=self._places(member),
            )
        return states

    def _best_cuts(self, classes: Relation, *, released: bool) -> _BestCuts:
        """The best cuts that are found, by a sample that is good enough for rows to be released at them, or smaller."""
        known = self._known.get(classes)
        if known is None or (released and not known.released):
            with self.workspace.passing():
                sample = self._sample(classes, released=released)
                best = self._best(sample, None if known is None or not known.of_all else known.cuts)
                self.workspace.keep(best)
            of_all = sample.classes == classes
            self._known[classes] = known = _BestCuts(best, sample.one_in, of_all, sample.released and of_all)
        return known

    def _sample(self, classes: Relation, *, released: bool) -> _Sample:
        """Some persons of each class, or of some classes, where there are many rows.

        Args:
            classes: the persons who stay.
            released: whether rows are to be released at the cuts.
        """
        rows = sum(member.count for member in self.events)
        spare = rows // MANY_ROWS
        _, count, _ = self.workspace.row("relations/fewest_in_class", persons=classes)
        of_classes = 1 if released else max(1, min(spare, int(count) // MANY_CLASSES))
        # Who shares with k - 1 others is as often alone in the sample as not. In a smaller one all loses too much.
        most = max(1, int(1.44 * (self.k - 1)))
        of_persons = max(1, min(spare // of_classes, most))
        if not released and most > 1:
            of_persons = max(of_persons, rows // of_classes // VERY_MANY_ROWS)
        whole = classes
        if of_classes > 1:
            whole = self._made("relations/every_nth", classes=classes, one_in=of_classes, what="class")
        looked_at = whole
        if of_persons > 1:
            looked_at = self._made("relations/every_nth", classes=whole, one_in=of_persons, what="person")
        one_in = self.workspace.size([classes]) / max(1, self.workspace.size([looked_at]))
        # Who shares with k - 1 others in a class shares with this many in the sample, on average.
        others = -(-(self.k - 1) // of_persons)
        return _Sample(whole, looked_at, 1 + others, one_in, of_persons <= most)

    def _best(self, sample: _Sample, start: Relation | None) -> Relation:
        """The best cut that is found of each class, from the top or from given cuts downwards."""
        levels = len(self.columns)
        if start is None:
            start = self._made(
                "relations/top_cuts", classes=sample.classes, levels=[column.highest for column in self.columns]
            )
        best = live = self._estimated(sample, start)
        while True:
            better = self._better(sample, best, live, 1) or self._better(sample, best, best, 2)
            if better is None:
                return best
            live = better
            best = self._made("relations/best_cuts", best=best, better=live, levels=levels)

    def _better(self, sample: _Sample, best: Relation, live: Relation, step: int) -> Relation | None:
        """Of each class that is tried, the best cut with one column lower, where it loses less than the best so far.

        Args:
            sample: who is looked at.
            best: the best cuts so far.
            live: those of the classes to try.
            step: how many levels a column goes down at once: one may not pay where two do.
        """
        trials, levels = [], len(self.columns)
        for place, column in enumerate(self.columns):
            trial = self._made(
                "relations/lower_cuts", cuts=live, place=place, step=step, lowest=column.lowest, levels=levels
            )
            if self.workspace.size([trial]):
                trials.append(self._estimated(sample, trial))
        if not trials:
            return None
        better = self._made("relations/better_cuts", best=best, trials=trials, levels=levels)
        return better if self.workspace.size([better]) else None

    def _estimated(self, sample: _Sample, cuts: Relation) -> Relation:
        """Cuts with what they are estimated to lose."""
        labelled: dict[str, Relation] = {}
        self._tables += 1
        target = self.workspace.table(f"estimated_{self._tables}")
        with self.workspace.passing():
            for member in self.events:
                assert member.parent is not None
                labelled[member.name] = self._made(
                    "relations/cut_rows",
                    coded=member.coded,
                    classes=sample.persons,
                    cuts=cuts,
                    parent=labelled[member.parent.name] if member.inherited else None,
                    inherited=member.inherited,
                    items=[
                        {**item, "place": place}
                        for item, place in zip(member.items(), self._places(member), strict=True)
                    ],
                    packs=member.packs,
                )
            items = row_items(self.workspace, self.events, {name: CurrentRows(rows) for name, rows in labelled.items()})
            rare = rare_rows(self.workspace, items, self.m, sample.k)
            most = max(member.count for member in self.events)
            self.workspace.execute(
                "relations/estimated_cuts",
                target=target,
                cuts=cuts,
                items=items,
                rare=rare,
                levels=len(self.columns),
                whole=UNITS,
                tables=[
                    {
                        "weight": round(1000 * most / max(1, member.count)),
                        "levels": [
                            (place, [(level, self._units(member, column, level)) for level in column.levels])
                            for place, column in zip(self._places(member), member.columns, strict=True)
                        ],
                    }
                    for member in self.events
                ],
            )
        return target

    def _units(self, member: Member, column: LabelledColumn, level: int) -> int:
        return round(UNITS * column.losses[level] / len(member.columns))

    def _places(self, member: Member) -> list[int]:
        """The places of a table's columns in a cut."""
        start = 0
        for other in self.events:
            if other.name == member.name:
                break
            start += len(other.columns)
        return list(range(start, start + len(member.columns)))

    def _made(self, template: str, **context: object) -> Relation:
        self._tables += 1
        target = self.workspace.table(f"cut_{self._tables}")
        self.workspace.execute(template, target=target, **context)
        return target


def row_items(
    workspace: Workspace,
    events: Sequence[Member],
    labelled: Mapping[str, CurrentRows],
    within: tuple[str, Relation] | None = None,
    what: str = "row_items",
) -> Relation:
    """The items of all persons, with the rows that they are of.

    Args:
        workspace: where.
        events: the tables, each after its parent.
        labelled: their rows.
        within: ``class`` or ``person``, and a table of those that are looked at; None for all.
        what: to call the table.
    """
    target = workspace.table(what)
    workspace.execute(
        "relations/row_items",
        target=target,
        within=within,
        tables=[
            {
                "labelled": labelled[member.name],
                "packs": len(member.packs),
                "times": member.room_for_repeats(len(events)),
            }
            for member in events
        ],
    )
    return target


def rare_rows(workspace: Workspace, items: Relation, m: int, k: int, known: Sequence[Relation] = ()) -> Relation:
    """The rows in combinations of at most m items that fewer than k persons of a class share, and in how many.

    Args:
        workspace: where.
        items: of the persons who are looked at.
        m: how many items are known.
        k: how many persons share them.
        known: the rare combinations of each size, where they are known.
    """
    sets = []
    for size in range(1, m + 1):
        sets.append(workspace.table(f"rare_sets{size}"))
        workspace.execute(
            "relations/rare_combinations",
            target=sets[-1],
            items=items,
            m=size,
            k=k,
            rare=known[size - 1] if known else None,
        )
    target = workspace.table("rare_rows")
    workspace.execute("relations/rare_rows", target=target, sets=list(enumerate(sets, 1)))
    return target


@dataclass
class Thinning(Climb):
    """Rows climb, or go, until every combination of at most m items is shared.

    Attributes:
        m: how many items are known.
        most_rows: how many rows may be left out: where it would be more, it begins again, lifting.
        lifting: a row at the top of its own columns has the rows above it climb, until these are at the top, too, and
            only then is left out. That loses more of the others.
    """

    m: int = 2
    most_rows: int = 0
    lifting: bool = False
    _begin: States | None = None
    _first: int = 0
    """How many rows there were at first."""
    _live: Relation | None = None
    """The classes of the rows that climbed in the last round, where items have other numbers in each round."""
    _items: Relation | None = None
    """The items of all persons as they were last counted, where they have the same numbers in each round."""
    _counts: list[Relation] = field(default_factory=list)
    """How many persons share each combination of one of these items, of two, ..."""
    _changed: Relation | None = None
    """The persons of whom a row changed since."""

    @property
    def _sets_apart(self) -> bool:
        return True

    @property
    def _looks_at_touched(self) -> bool:
        return False

    def start(self, begin: States | FirstLevels) -> None:
        """Label the rows of the persons who stay."""
        assert not isinstance(begin, FirstLevels)
        super().start(begin)
        self._begin, self._first = begin, self._row_count()

    def round(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> int:
        """One step of a row of each person with a rare combination; returns how many these were."""
        if not self.lifting and self._first - self._row_count() > self.most_rows:
            self.lifting = True
            self._drop_counts()
            self._live = None
            for rows in self.rows.values():
                for table in (rows.written, rows.moved, rows.later):
                    if table is not None:
                        self.workspace.drop(table)
            assert self._begin is not None
            self.start(self._begin)
        return super().round(paths)

    @property
    def _numbers_last(self) -> bool:
        """Whether an item has the same number in each round."""
        return all(member.room_for_repeats(len(self.events)) is not None for member in self.events)

    def rare(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Relation]:
        """Of each person with a rare combination the row that is in most of them."""
        rows = self._rare_rows()
        above = {member.parent.name for member in self.events if member.parent is not None}
        # A row takes those below it along.
        weights = [2 if member.name in above else 3 for member in self.events]
        picked = self.made("relations/picked", "picked", rare=rows, weights=weights)
        return {
            member.name: self.made(
                "relations/picked_rows",
                "rare",
                labelled=self.rows[member.name],
                picked=picked,
                number=number,
                tables=len(self.events),
                inherited=member.inherited,
                highest=[column.highest for column in member.path],
                lifting=self.lifting,
            )
            for number, member in enumerate(self.events)
        }

    def _rare_rows(self) -> Relation:
        """The rows in rare combinations: each round counts again what the persons share whose rows changed."""
        if not self._numbers_last:
            within = None if self._live is None else ("class", self._live)
            items = row_items(self.workspace, self.events, self.rows, within)
            rows = rare_rows(self.workspace, items, self.m, self.k)
            if self._live is not None:
                self.workspace.drop(self._live)
            self._live = self._lasting("relations/classes_of_rows", "live", items=items, rows=rows)
            return rows
        sizes = range(1, self.m + 1)
        if self._items is None or self._changed is None:
            near = items = row_items(self.workspace, self.events, self.rows, what="first_items")
            counts = [self.made("relations/combinations", "counts", items=items, m=size) for size in sizes]
            known = [
                self.made("relations/rare_of", "rare_sets", counts=counts[size - 1], touched=None, m=size, k=self.k)
                for size in sizes
            ]
        else:
            changed = self._changed
            own = row_items(self.workspace, self.events, self.rows, ("person", changed))
            before = self.made("relations/items_of_persons", "before", items=self._items, persons=changed)
            counts, known = [], []
            for size, old in zip(sizes, self._counts, strict=True):
                touched = self.made("relations/touched_combinations", "touched_sets", before=before, after=own, m=size)
                counts.append(self.made("relations/counts_after", "counts", counts=old, touched=touched, m=size))
                known.append(
                    self.made("relations/rare_of", "rare_sets", counts=counts[-1], touched=touched, m=size, k=self.k)
                )
            near = self.made(
                "relations/items_near",
                "near",
                own=own,
                items=self._items,
                persons=changed,
                rare=list(enumerate(known, 1)),
            )
            items = self.made("relations/items_after", "items", items=self._items, own=own, persons=changed)
        rows = rare_rows(self.workspace, near, self.m, self.k, known)
        changed = self.made("relations/persons_of_rows", "changed_persons", rows=rows)
        self._drop_counts()
        self._items, self._counts, self._changed = items, counts, changed
        for table in (items, changed, *counts):
            self.workspace.keep(table)
        return rows

    def _drop_counts(self) -> None:
        for table in [self._items, self._changed, *self._counts]:
            if table is not None:
                self.workspace.drop(table)
        self._items, self._counts, self._changed = None, [], None

    def _row_count(self) -> int:
        """How many rows of all tables stay."""
        size, rows = self.workspace.size, self.rows.values()
        later = [table for item in rows for table in (item.written, item.later) if table is not None]
        return size(later) - size([item.moved for item in rows if item.moved is not None])
