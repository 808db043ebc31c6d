"""Each step of a sweep against plain Python, where a class that violates may satisfy once some of its rows are gone.

Under t-closeness every class of a batch stays in the race, whether it satisfies at first or not. Under k-anonymity one
that violates can only become worse.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import kanon_sql
from kanon_sql.recode import sweep
from kanon_sql.sql import Relation
from tests.conftest import Database

ROWS = 80
Rows = list[dict[str, Any]]
TREES: Mapping[str, Any] = {
    "q": {"tree": {"ab": ["a", "b"], "cd": ["c", "d"]}},
    "r": {"tree": {"low": {"01": ["0", "1"], "23": ["2", "3"]}, "high": {"45": ["4", "5"]}}},
    "s": {"tree": {"xy": ["x", "y"], "z": ["z"]}},
}
T = 0.35
CLOSE = [{"t_closeness": {"attribute": "illness", "t": T}}]
LARGE = [{"k_anonymity": 3}]


@dataclass
class Batch:
    """The tables of a sweep before and after a batch of nodes."""

    first: int
    end: int
    nodes: Rows
    prices: Rows
    held: Rows
    before: Rows
    after: Rows = field(default_factory=list)


def swept(database: Database, privacy: Sequence[Any], patched: pytest.MonkeyPatch, seed: int) -> list[Batch]:
    """The batches of a recoding of a random table."""
    draw = random.Random(seed)
    ill = ("flu", "flu", "cold", "ulcer")
    people = [tuple(map(draw.choice, ("abcd", "012345", "xyz", ill))) for _ in range(ROWS)]
    database.table("people", {"q": "VARCHAR", "r": "VARCHAR", "s": "VARCHAR", "illness": "VARCHAR"}, people)
    found: list[Batch] = []
    run = sweep._Sweep._swept

    def rows(own: sweep._Sweep, table: Relation) -> Rows:
        cursor = database.connection.execute(f"SELECT * FROM {own.state.workspace.quoted(table)}")
        names = [name for name, *_ in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def watched(own: sweep._Sweep, start: int, left: int) -> int:
        state = own.state
        held = [one for table in state.judge.members.values() for one in rows(own, table)]
        nodes, prices = rows(own, own.nodes), rows(own, own.prices.table)
        batch = Batch(start, start + own.batch, nodes, prices, held, rows(own, state.open))
        still = run(own, start, left)
        batch.after = rows(own, state.open)
        assert still == sum(one["live"] for one in batch.after)
        found.append(batch)
        return still

    patched.setattr(sweep._Sweep, "_swept", watched)
    asked = {"version": 1, "source": "people", "quasi_identifiers": TREES, "sensitive": ["illness"],
             "privacy": [*privacy], "suppression": {"max_share": 0.2}}  # fmt: skip
    kanon_sql.plan(
        database.engine, kanon_sql.Spec.from_dict({**asked, "recoding": {"method": "local", "variant": "best"}})
    )
    return found


def satisfies(batch: Batch, privacy: Sequence[Any], vectors: Sequence[int]) -> bool:
    """Whether the rows of some vectors are a class by the definition."""
    size = {one["vector"]: one["row_count"] for one in batch.before}
    if privacy is LARGE:
        return sum(size[vector] for vector in vectors) >= 3
    mine: Counter[Any] = Counter()
    whole: Counter[Any] = Counter()
    for one in batch.held:
        whole[one["value_code"]] += one["row_count"]
        if one["vector"] in vectors:
            mine[one["value_code"]] += one["row_count"]
    apart = [mine[value] / mine.total() - whole[value] / whole.total() for value in whole]
    return sum(map(abs, apart)) / 2 <= T + 1e-9


def classes_at(batch: Batch) -> Iterator[tuple[int, list[int], int]]:
    """Of each class of the batch's nodes: its node, its open vectors, and what each row loses there."""
    prices = {one["vector"]: one for one in batch.prices}
    for node in batch.nodes:
        if not batch.first <= node["number"] < batch.end:
            continue
        together: dict[tuple[int, ...], list[int]] = defaultdict(list)
        masks = sorted(name for name in node if name.startswith("mask"))
        codes = sorted(name for name in batch.before[0] if name.startswith("code"))
        for one in batch.before:
            if one["live"]:
                together[tuple(one[code] & node[mask] for code, mask in zip(codes, masks, strict=True))].append(
                    one["vector"]
                )
        for vectors in together.values():
            own = prices[vectors[0]]
            levels = {name[5:]: node[name] for name in node if name.startswith("level")}
            yield node["number"], vectors, sum(own[f"price{index}_{level}"] for index, level in levels.items())


def expected(batch: Batch, privacy: Sequence[Any]) -> tuple[set[tuple[frozenset[int], int]], int]:
    """The classes that are closed, with the price of each, and how many of them violated at first."""
    all_classes = list(classes_at(batch))
    remaining = {one["vector"] for one in batch.before if one["live"]}
    left, done, late = len(remaining), set(), 0
    for _ in range(16):
        standing = [(node, [v for v in vectors if v in remaining], price) for node, vectors, price in all_classes]
        standing = [one for one in standing if one[1] and satisfies(batch, privacy, one[1])]
        claims: dict[int, list[int]] = defaultdict(list)
        for vector in remaining:
            mine = [(price, node, number) for number, (node, own, price) in enumerate(standing) if vector in own]
            if mine:
                claims[min(mine)[2]].append(vector)
        closed = 0
        for number, vectors in claims.items():
            if satisfies(batch, privacy, vectors):
                node, _, price = standing[number]
                done.add((frozenset(vectors), price * sweep.NUMBERS + node))
                at_first = next(own for n, own, _ in all_classes if n == node and vectors[0] in own)
                late += not satisfies(batch, privacy, at_first)
                remaining -= {*vectors}
                closed += len(vectors)
        if not remaining or closed * 20 <= left:
            break
        left -= closed
    return done, late


@pytest.mark.parametrize("privacy", [CLOSE, LARGE], ids=["t-closeness", "k-anonymity"])
def test_what_a_step_closes_is_what_plain_python_closes(
    shared_database: Database, monkeypatch: pytest.MonkeyPatch, privacy: Sequence[Any]
) -> None:
    closed, closed_late = 0, 0
    for seed in range(2):
        with monkeypatch.context() as patched:
            batches = swept(shared_database, privacy, patched, seed)
        for batch in batches:
            done, late = expected(batch, privacy)
            live = {one["vector"] for one in batch.before if one["live"]}
            together: dict[int, set[int]] = defaultdict(set)
            for one in batch.after:
                if one["vector"] in live and not one["live"]:
                    together[one["part"]].add(one["vector"])
            prices = {one["vector"]: one["price"] for one in batch.after}
            assert {(frozenset(own), prices[min(own)]) for own in together.values()} == done
            closed, closed_late = closed + len(done), closed_late + late
    assert closed
    assert bool(closed_late) == (privacy is CLOSE), "classes that violated at first are closed under t-closeness alone"
