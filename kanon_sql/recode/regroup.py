"""New classes: rows leave theirs for a class in which all of them together lose less.

A sweep closes a class as soon as enough vectors claim it, and later ones take what is left. So classes remain that were
never made because too few vectors lost less in them, although others could have joined at little cost. Each step looks
at every class of some nodes that has k rows:

- who joins: the vectors that lose less there, and of the others as few as make k rows;
- what becomes of a class that would be too small without them: its vectors join, too, or go to other classes that hold
  them;
- what all of these gain together.

Of the proposals that gain, those are carried out that gain most in every class that they change, so that none changes
what another one counted on. Rows are counted and nothing else, so this is for k-anonymity of rows alone.

It is a local search in the neighborhood of one new class, from a greedy solution of the same covering problem whose
dual is the lower bound (:mod:`kanon_sql.recode.bound`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.paths import PRICE
from kanon_sql.recode.release import Mapped
from kanon_sql.recode.sweep import NUMBERS, Prices, learned, nodes_table
from kanon_sql.sql import Relation, Sql, render

__all__ = ["STATEMENTS_A_STEP", "STATEMENTS_FOR_STEPS", "STEPS", "regroup", "worth_regrouping"]

PAIRS = 5_000_000
"""A vector is compared with as many nodes as make this many pairs of both."""

MOST_LOST = PRICE // 8
"""What a row loses at most that joins a new class for the sake of others."""

LITTLE = 3 * PRICE
"""Proposals that lose more than this at first are not looked at again: nearly none of them gains later."""

HOMES = 8
"""How many other classes of a vector are looked at, those first in which it loses least."""

STEPS = 6
"""No search takes more: each gains half of what the one before did."""

ONCE_MORE = 3
"""Before this step homes are found again, among them the classes that are new, and all proposals are looked at."""

STATEMENTS_FOR_STEPS, STATEMENTS_A_STEP = 12, 9
"""No search takes more statements, besides those of its steps, nor a step."""


def worth_regrouping(state: Partitions) -> bool:
    """Whether new classes are looked for: rows alone decide, and every label is of a hierarchy."""
    return state.judge.by_rows_alone and not state.ranged


def regroup(state: Partitions, mapped: Mapped, prices: Prices) -> int:
    """Make new classes of the rows of a recoding, wherever all of them together lose less.

    Args:
        state: the partitions of the recoding, in a room of their own; it ends with all partitions open.
        mapped: the classes.
        prices: what levels cost.

    Returns:
        How many steps it took; 0 where nothing was gained.
    """
    if not mapped.lost:
        return 0
    search = _Search(state, prices)
    steps = search.run(mapped)
    if steps:
        state.open = state.make("regrouped", "regrouped", search.made, words=state.names)
    for table in dict.fromkeys(search.made.values()):
        state.workspace.drop(table)
    return steps


@dataclass
class _Search:
    """The steps of one search.

    Attributes:
        state: the partitions.
        prices: what levels cost.
        made: its tables, by the slots of the templates.
    """

    state: Partitions
    prices: Prices
    made: dict[str, Relation] = field(default_factory=dict)

    def run(self, mapped: Mapped) -> int:
        """Take steps until none gains; returns how many did."""
        classes = {"classed": mapped.classed, "classes": mapped.classes}
        self._make("settled", classes, words=self.state.names, attributes=tuple(mapped.paths))
        self._propose(mapped)
        for step in range(STEPS):
            if not self._step(step):
                return step
            self.state.workspace.report(f"recoding locally: {step + 1} steps of new classes", None)
        return STEPS

    def drop(self, *names: str) -> None:
        """Drop some of the tables."""
        for name in names:
            self.state.workspace.drop(self.made.pop(name))

    def _propose(self, mapped: Mapped) -> None:
        """The classes of some nodes that may be made, with their vectors."""
        state, judge = self.state, self.state.judge
        learnt = learned(state, [mapped], self.prices, max(1, PAIRS // state.count))
        self.made["nodes"] = nodes_table(state, [(node, node) for node in learnt])
        keys, cells = self._keys, self._cells
        priced = render(
            "recode/priced", keys=keys, attributes=state.cuttable, numbers=NUMBERS, most=False, every=False,
            flagged=judge.flagged(cells, keys, "vector"),
        )  # fmt: skip
        tables = {**self._tables, **judge.tables}
        self._make("proposed", tables, cells=cells, priced=priced, keys=keys, numbers=NUMBERS, most=MOST_LOST)
        self._make("proposals", self.made, size=judge.least_size)
        self._make("every_proposal", self.made, called="looked_at")
        self.drop("proposed")
        self._house()

    def _house(self) -> None:
        """The classes that each vector could be in besides its own."""
        self._make(
            "homes", self._tables,
            cells=self._cells, keys=self._keys, words=self.state.codes, attributes=self.state.cuttable, most=HOMES,
        )  # fmt: skip

    @property
    def _tables(self) -> dict[str, Relation]:
        """The tables, as templates of sweeps know them, too."""
        return {**self.made, "open": self.made["settled"], "prices": self.prices.table}

    @property
    def _keys(self) -> tuple[str, ...]:
        return ("node", *(f"key{word}" for word in range(len(self.state.words))))

    @property
    def _cells(self) -> Sql:
        return render("recode/at_nodes", words=self.state.codes, by_person=False, batch=False, shared=False)

    def _step(self, step: int) -> bool:
        """Carry out what gains most; False where nothing gains."""
        state, size = self.state, self.state.judge.least_size
        self._make("joining", self.made, size=size)
        self._make("left_behind", self.made, size=size, all_lost=PRICE)
        self._make("hopeful", self.made, little=LITTLE)
        if step == 0:
            self._make("promising", self.made)
        self._make("leftovers", self.made)
        self._make("ranked_proposals", self.made)
        self._make("chosen", self.made)
        (count,) = state.row("count", {"table": self.made["chosen"]})
        if count:
            state.last += state.count
            self._make("remaining", self.made, turn=step % 2, called="looked_at")
            self._make(
                "resettled", self._tables, {"first": str(state.last)},
                turn=step % 2, called="settled", words=state.names, attributes=state.cuttable,
            )  # fmt: skip
        if count and step + 1 == ONCE_MORE:
            self.drop("homes", "looked_at")
            self._house()
            self.made["looked_at"] = self.made["promising"]
        self.drop("joining", "left_behind", "hopeful", "leftovers", "ranked_proposals", "chosen")
        return count > 0

    def _make(
        self, name: str, tables: Mapping[str, Relation], fills: Mapping[str, str] | None = None, /, *,
        turn: int | None = None, called: str | None = None, **context: Hashable,
    ) -> None:  # fmt: skip
        """Make a table by a template, in place of one that had its slot; two names take turns, so that texts recur."""
        before, slot = self.made.get(called or name), called or name
        self.made[slot] = self.state.make(name, f"{name}{'' if turn is None else turn}", tables, fills, **context)
        if before is not None and before is not self.made.get("promising"):
            self.state.workspace.drop(before)
