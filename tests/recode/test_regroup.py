"""Each step of a search for new classes against plain Python, and that the rows lose less for it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import kanon_sql
from kanon_sql.recode import best as best_module
from kanon_sql.recode import regroup as regroup_module
from kanon_sql.sql import Relation
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.specs import QUIET

K = 6
ROWS = 600
TREES: Mapping[str, Any] = {
    "q": {"tree": {"ab": ["a", "b"], "cd": ["c", "d"], "ef": ["e", "f"]}},
    "r": {"tree": {"low": {"01": ["0", "1"], "23": ["2", "3"]}, "high": {"45": ["4", "5"]}}},
    "s": {"tree": {"xy": ["x", "y"], "z": ["z"]}},
    "t": {"tree": {"mn": ["m", "n"], "o": ["o"]}},
}
LETTERS = ("aaabbcdeef", "0012344445", "xxyzzz", "mmmnno")
ENGINES = ("sqlite", "postgres", "mariadb", "clickhouse")
Rows = list[dict[str, Any]]


@dataclass
class Settled:
    """Vectors in classes, before or after a step.

    Attributes:
        part: vector -> its class.
        price: vector -> what each of its rows loses there.
        rows: vector -> its rows.
    """

    part: dict[int, int]
    price: dict[int, int]
    rows: dict[int, int]

    @classmethod
    def of(cls, rows: Rows) -> Settled:
        return cls(*({one["vector"]: one[name] for one in rows} for name in ("part", "price", "row_count")))

    @property
    def sizes(self) -> Counter[int]:
        sizes: Counter[int] = Counter()
        for vector, part in self.part.items():
            sizes[part] += self.rows[vector]
        return sizes

    @property
    def classes(self) -> set[frozenset[int]]:
        together = defaultdict(set)
        for vector, part in self.part.items():
            together[part].add(vector)
        return {frozenset(vectors) for vectors in together.values()}

    @property
    def lost(self) -> int:
        return sum(self.rows[vector] * price for vector, price in self.price.items())


@dataclass
class Step:
    """A step.

    Attributes:
        before: the classes.
        proposals: proposal -> vector -> what it loses there.
        homes: vector -> another class that it could be in -> what it loses there.
        looked_at: the proposals that it looks at.
        joining: proposal and way -> the vectors that would join.
        after: the classes.
    """

    before: Settled
    proposals: dict[int, dict[int, int]]
    homes: dict[int, dict[int, int]]
    looked_at: set[int]
    joining: dict[tuple[int, int], set[int]]
    after: Settled


def steps_of(database: Database, patched: pytest.MonkeyPatch, seed: int) -> list[Step]:
    """The steps that the best recoding of a random table takes."""
    draw = random.Random(seed)
    database.table("people", ["q", "r", "s", "t"], [tuple(map(draw.choice, LETTERS)) for _ in range(ROWS)])
    found: list[Step] = []
    joining: dict[tuple[int, int], set[int]] = {}
    step_of, make_of = regroup_module._Search._step, regroup_module._Search._make

    def rows(own: Any, table: Relation) -> Rows:
        cursor = database.connection.execute(f"SELECT * FROM {own.state.workspace.quoted(table)}")
        names = [name for name, *_ in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def pairs(own: Any, name: str, first: str, second: str) -> dict[int, dict[int, int]]:
        made: dict[int, dict[int, int]] = defaultdict(dict)
        for one in rows(own, own.made[name]):
            made[one[first]][one[second]] = one["price"]
        return made

    def made(own: Any, name: str, *args: Any, **context: Any) -> None:
        make_of(own, name, *args, **context)
        if name == "joining":
            joining.clear()
            for one in rows(own, own.made["joining"]):
                joining.setdefault((one["proposal"], one["way"]), set()).add(one["vector"])

    def watched(own: Any, step: int) -> bool:
        before = Settled.of(rows(own, own.made["settled"]))
        proposals, homes = pairs(own, "proposals", "proposal", "vector"), pairs(own, "homes", "vector", "part")
        looked_at = {one["proposal"] for one in rows(own, own.made["looked_at"])}
        gained = step_of(own, step)
        after = Settled.of(rows(own, own.made["settled"]))
        assert gained == (after.part != before.part)
        found.append(Step(before, proposals, homes, looked_at, {**joining}, after))
        return bool(gained)

    patched.setattr(regroup_module._Search, "_step", watched)
    patched.setattr(regroup_module._Search, "_make", made)
    asked = {"version": 1, "source": "people", "quasi_identifiers": TREES, "privacy": [{"k_anonymity": K}],
             "warnings": QUIET}  # fmt: skip
    kanon_sql.plan(
        database.engine, kanon_sql.Spec.from_dict({**asked, "recoding": {"method": "local", "variant": "best"}})
    )
    return found


@dataclass
class Carried:
    """A proposal that gains: who joins, where others go (0: they join, too), and what all of them gain."""

    order: tuple[int, int, int]
    joining: set[int]
    homes: dict[int, int]
    changed: set[int]


def gaining(step: Step) -> Iterator[Carried]:
    """The proposals by which something is gained, in each of the three ways."""
    settled, sizes = step.before, step.before.sizes
    current = {part: settled.price[vector] for vector, part in settled.part.items()}
    for (proposal, way), vectors in step.joining.items():
        prices = step.proposals[proposal]
        gain = sum((settled.price[vector] - prices[vector]) * settled.rows[vector] for vector in vectors)
        leaving: Counter[int] = Counter()
        for vector in vectors:
            leaving[settled.part[vector]] += settled.rows[vector]
        homes: dict[int, int] = {}
        broken = {part for part, gone in leaving.items() if 0 < sizes[part] - gone < K}
        left = [vector for vector, part in settled.part.items() if part in broken and vector not in vectors]
        for vector in left:
            options = [(price, part) for part, price in step.homes[vector].items()
                       if part not in leaving and current.get(part) == price]  # fmt: skip
            if vector in prices:
                options.append((prices[vector], 0))
            if options:
                price, homes[vector] = min(options)
                gain += (settled.price[vector] - price) * settled.rows[vector]
        if gain > 0 and len(homes) == len(left):
            yield Carried((-gain, proposal, way), vectors, homes, {*leaving, *filter(None, homes.values())})


def joined(step: Step) -> dict[tuple[int, int], set[int]]:
    """Who joins each class that is proposed, where they are enough and gain together."""
    return {
        (proposal, way): vectors
        for proposal in step.looked_at
        for way in range(3)
        if (vectors := joined_in(step, step.proposals[proposal], way))
    }


def joined_in(step: Step, prices: Mapping[int, int], way: int) -> set[int]:
    """Who joins a class in one of the ways; none, where they are too few or would lose together."""
    settled, sizes = step.before, step.before.sizes
    leaving: Counter[int] = Counter()
    inside: Counter[int] = Counter()
    for vector in prices:
        inside[settled.part[vector]] += settled.rows[vector]
    joining, rows, total = set(), 0, 0
    for vector in sorted(prices, key=lambda vector: (prices[vector] - settled.price[vector], vector)):
        part, gain = settled.part[vector], settled.price[vector] - prices[vector]
        leaving[part] += settled.rows[vector]
        spared = leaving[part] <= sizes[part] - K
        if not (way == 0 or spared or (way == 1 and gain > 0) or (way == 2 and inside[part] == sizes[part])):
            continue
        if gain > 0 or rows < K:
            joining.add(vector)
            total += gain * settled.rows[vector]
        rows += settled.rows[vector]
    return joining if total > 0 and sum(settled.rows[vector] for vector in joining) >= K else set()


def expected(step: Step) -> tuple[set[frozenset[int]], int, list[Carried]]:
    """The classes after a step, what is lost at most, and what was carried out."""
    proposals = list(gaining(step))
    first: dict[int, tuple[int, int, int]] = {}
    for proposal in proposals:
        for part in proposal.changed:
            first[part] = min(first.get(part, proposal.order), proposal.order)
    part, lost, chosen = dict(step.before.part), step.before.lost, []
    for proposal in proposals:
        if all(first[changed] == proposal.order for changed in proposal.changed):
            chosen.append(proposal)
            new = -len(chosen)
            part.update(dict.fromkeys(proposal.joining, new))
            part.update({vector: home or new for vector, home in proposal.homes.items()})
            lost += proposal.order[0]
    return Settled(part, step.before.price, step.before.rows).classes, lost, chosen


@pytest.mark.slow
def test_every_step_does_what_gains_most(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """In all tables together there is every case: of these, one alone shows what a home is that vectors leave."""
    homes: list[int] = []
    ways: Counter[int] = Counter()
    for seed in (7, 10, 17, 22, 51):
        for step in steps_of(database, monkeypatch, seed):
            assert step.joining == joined(step)
            classes, most, chosen = expected(step)
            assert step.after.classes == classes
            assert step.after.lost <= most
            assert min(step.after.sizes.values()) >= K
            ways.update(way for _, way in step.joining)
            homes += [home for proposal in chosen for home in proposal.homes.values()]
        monkeypatch.undo()
    assert len(ways) == len(set(ways.values())) == 3, "the ways differ"
    assert min(homes) == 0 < max(homes), "who is left behind joins, too, or goes elsewhere"


@pytest.mark.slow
def test_less_is_lost_and_classes_are_no_smaller(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more, on some tables less; what a new class costs is what its labels do."""
    less = 0
    for seed in range(3):
        draw = random.Random(seed)
        rows = [tuple(map(draw.choice, ("aabbcdef", "0012345", "xyz", "mno"))) for _ in range(ROWS)]
        database.table("people", ["q", "r", "s", "t"], rows)
        asked = {"version": 1, "source": "people", "release": "people_release", "quasi_identifiers": TREES,
                 "privacy": [{"k_anonymity": K}], "recoding": {"method": "local", "variant": "best"},
                 "warnings": QUIET}  # fmt: skip
        spec = kanon_sql.Spec.from_dict(asked)
        searched = kanon_sql.anonymize(database.engine, spec).recoding
        classes = Counter(database.rows("people_release"))
        assert classes.total() == ROWS
        assert min(classes.values()) >= K
        monkeypatch.setattr(best_module, "worth_regrouping", lambda *_: False)
        swept = kanon_sql.plan(database.engine, spec).recoding
        monkeypatch.undo()
        assert searched is not None
        assert swept is not None
        assert searched["mean_loss"] <= swept["mean_loss"]
        less += searched["mean_loss"] < swept["mean_loss"]
    assert less


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name in ("sqlite", "postgres", "mariadb", "clickhouse")
    ],
)
def test_every_engine_makes_the_same_classes(database: Database, name: str) -> None:
    asked = {"version": 1, "source": "people", "release": "people_release", "quasi_identifiers": TREES,
             "privacy": [{"k_anonymity": K}], "recoding": {"method": "local", "variant": "best"},
             "warnings": QUIET}  # fmt: skip
    spec, draw = kanon_sql.Spec.from_dict(asked), random.Random(7)
    rows = [tuple(map(draw.choice, LETTERS)) for _ in range(ROWS)]
    database.table("people", ["q", "r", "s", "t"], rows)
    expected = kanon_sql.anonymize(database.engine, spec).recoding
    kind = "Nullable(String)" if name == "clickhouse" else "VARCHAR(9)"
    columns = ", ".join(f"{column} {kind}" for column in "qrst")
    with subject_of(name) as subject, subject.connect() as engine:
        subject.execute(f"CREATE TABLE people ({columns})" + " ORDER BY tuple()" * (name == "clickhouse"))
        subject.execute(f"INSERT INTO people VALUES {', '.join(map(str, rows))}")
        made = kanon_sql.anonymize(engine, spec).recoding
        released = subject.fetch("SELECT q, r, s, t FROM people_release")
    assert made is not None
    assert expected is not None
    assert made["mean_loss"] == pytest.approx(expected["mean_loss"])
    assert Counter(map(tuple, released)) == Counter(database.rows("people_release"))
