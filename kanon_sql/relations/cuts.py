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
from kanon_sql.relations.classes import PersonClasses
from kanon_sql.relations.local import Climb, CurrentRows
from kanon_sql.relations.members import LabelledColumn, Member, States
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON
from kanon_sql.sql import Relation

__all__ = ["Cuts", "thinned"]

UNITS = 10_000
"""Losses are added up in whole numbers of these parts, so that engines decide alike."""


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
    _known: dict[Relation, Relation] = field(default_factory=dict)

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
        found = self._found(classes)
        (units,) = self.workspace.row("relations/cut_loss", cuts=found)
        most = max(member.count for member in self.events)
        return float(units) / (2 * UNITS * 1000 * max(1, most))

    def states(self, classes: Relation) -> dict[str, Relation]:
        """All rows of the persons of some classes, at the levels of their cuts."""
        found, states = self._found(classes), {}
        for member in self.events:
            self._tables += 1
            states[member.name] = self.workspace.table(f"cut_state{self._tables}")
            self.workspace.execute(
                "relations/cut_state",
                target=states[member.name],
                coded=member.coded,
                classes=classes,
                cuts=found,
                levels=self._places(member),
            )
        return states

    def _found(self, classes: Relation) -> Relation:
        if classes not in self._known:
            with self.workspace.passing():
                best = self._best(classes)
                self.workspace.keep(best)
            self._known[classes] = best
        return self._known[classes]

    def _best(self, classes: Relation) -> Relation:
        """The best cut that is found of each class."""
        levels = len(self.columns)
        top = self._made("relations/top_cuts", classes=classes, levels=[column.highest for column in self.columns])
        best = live = self._estimated(classes, top)
        while True:
            better = self._better(classes, best, live, 1) or self._better(classes, best, best, 2)
            if better is None:
                return best
            live = better
            best = self._made("relations/best_cuts", best=best, better=live, levels=levels)

    def _better(self, classes: Relation, best: Relation, live: Relation, step: int) -> Relation | None:
        """Of each class that is tried, the best cut with one column lower, where it loses less than the best so far.

        Args:
            classes: the persons who stay.
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
                trials.append(self._estimated(classes, trial))
        if not trials:
            return None
        better = self._made("relations/better_cuts", best=best, trials=trials, levels=levels)
        return better if self.workspace.size([better]) else None

    def _estimated(self, classes: Relation, cuts: Relation) -> Relation:
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
                    classes=classes,
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
            rare = rare_rows(self.workspace, items, self.m, self.k)
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
    workspace: Workspace, events: Sequence[Member], labelled: Mapping[str, CurrentRows], live: Relation | None = None
) -> Relation:
    """The items of all persons, or of those of some classes, with the rows that they are of."""
    target = workspace.table("row_items")
    workspace.execute(
        "relations/row_items",
        target=target,
        live=live,
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


def rare_rows(workspace: Workspace, items: Relation, m: int, k: int) -> Relation:
    """The rows in combinations of at most m items that fewer than k persons of a class share, and in how many."""
    sets = []
    for size in range(1, m + 1):
        sets.append(workspace.table(f"rare_sets{size}"))
        workspace.execute("relations/rare_combinations", target=sets[-1], items=items, m=size, k=k)
    target = workspace.table("rare_rows")
    workspace.execute("relations/rare_rows", target=target, sets=list(enumerate(sets, 1)))
    return target


@dataclass
class _Thinning(Climb):
    """Rows climb, or go, until every combination of at most m items is shared.

    Attributes:
        m: how many items are known.
    """

    m: int = 2
    _live: Relation | None = None
    """The classes of the rows that climbed in the last round: no other class can have got a rare combination."""

    @property
    def _sets_apart(self) -> bool:
        return True

    @property
    def _looks_at_touched(self) -> bool:
        return False

    def rare(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Relation]:
        """Of each person with a rare combination the row that is in most of them."""
        items = row_items(self.workspace, self.events, self.rows, self._live)
        rows = rare_rows(self.workspace, items, self.m, self.k)
        if self._live is not None:
            self.workspace.drop(self._live)
        self._live = self._lasting("relations/classes_of_rows", "live", items=items, rows=rows)
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
                highest=[column.highest for column in member.columns],
            )
            for number, member in enumerate(self.events)
        }


def thinned(
    workspace: Workspace, members: Mapping[str, Member], classes: PersonClasses, cuts: Cuts, sensitive: Sensitive
) -> tuple[States, int]:
    """Generalize the rows of all tables below that of persons until combinations of items are shared by k persons.

    Args:
        workspace: where.
        members: the tables, each after its parent.
        classes: the persons who stay.
        cuts: the levels to begin at, and what is asked for.
        sensitive: the sensitive values of persons.

    Returns:
        The rows that stay, and how many rows of the persons who stay were left out.
    """
    thinning = _Thinning(workspace, members, classes, cuts.k, sensitive, m=cuts.m)
    return thinning.finished(cuts.states(classes.table))
