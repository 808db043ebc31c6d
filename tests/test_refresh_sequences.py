"""Random sequences of days against a release that grows in plain Python, and a full rebuild of the same rows."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest
from increments_oracle import HEIGHTS, Growing, Labels, Promise, Row, labels
from strategies import TIMES

import kanon_sql
from kanon_sql.engines.base import Engine

COLUMNS = ("rid", "day", "person", "zip", "sex", "disease")
ZIPS = ("111", "112", "121", "122", "211", "212")
DISEASES = ("flu", "cold", "ulcer", None)

PROMISES = {
    "rows": Promise(k=2),
    "more rows": Promise(k=3),
    "values": Promise(k=2, l=2),
    "persons": Promise(k=2, unit=True),
    "persons' values": Promise(k=2, l=2, unit=True),
}


def spec_of(promise: Promise, policy: str, limit: float) -> kanon_sql.Spec:
    privacy: list[dict[str, Any]] = [{"k_anonymity": {"k": promise.k}}]
    if promise.l > 1:
        privacy.append({"l_diversity": {"attribute": "disease", "l": promise.l}})
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "unit": "person" if promise.unit else None,
            "quasi_identifiers": {"zip": {"prefix": [2, 1]}, "sex": {}},
            "sensitive": ["disease"],
            "keep": ["rid"],
            "privacy": privacy,
            "suppression": {"limit": limit},
            "state": {"schema": "kanon_state"},
            "increments": {"watermark": "day", "on_drift": policy},
            "warnings": {"rows_not_persons": "allow", "nearly_unique_kept": "allow"},
        }
    )


class Clinic:
    """A table that grows and shrinks, its release, and what must become of it."""

    def __init__(self, seed: int, promise: Promise, policy: str) -> None:
        self.random = random.Random(seed)
        self.promise, self.policy = promise, policy
        self.limit = self.random.choice([0.0, 0.1, 0.3, 0.6])
        self.spec = spec_of(promise, policy, self.limit)
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute(
            "CREATE TABLE visits (rid INTEGER, day INTEGER, person VARCHAR, zip VARCHAR, sex VARCHAR, disease VARCHAR)"
        )
        for name in ("late", "gone"):
            self.connection.execute(f"CREATE TABLE {name} AS FROM visits")
        self.engine: Engine = kanon_sql.connect(self.connection)
        self.number = self.day = self.names = 0
        self.growing: Growing | None = None

    def rows(self, count: int) -> list[Row]:
        draw = self.random
        found = []
        for _ in range(count):
            self.number += 1
            person = draw.choice([f"p{draw.randrange(12)}", f"q{self.number}", f"q{self.number}"])
            found.append(
                {
                    "rid": self.number,
                    "day": self.day,
                    "person": person,
                    "zip": draw.choice([*ZIPS, *ZIPS, None]),
                    "sex": draw.choice(["F", "M", "F", "M", None]),
                    "disease": draw.choice(DISEASES),
                }
            )
        return found

    def fill(self, table: str, rows: list[Row]) -> None:
        if table != "visits":
            self.connection.execute(f"DELETE FROM {table}")
        if rows:
            values = [tuple(row[name] for name in COLUMNS) for row in rows]
            self.connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", values)

    def seen(self) -> dict[int, Labels]:
        found = self.connection.execute("SELECT rid, zip, sex FROM visits_release").fetchall()
        assert len({rid for rid, *_ in found}) == len(found)
        return {rid: tuple(cells) for rid, *cells in found}

    def begin(self) -> bool:
        """Publish the first release; whether there is one."""
        rows = self.rows(self.random.randrange(6, 28))
        self.fill("visits", rows)
        result = kanon_sql.anonymize(self.engine, self.spec)
        if not result.passed:
            return False
        assert result.node is not None
        growing = Growing(self.promise, self.limit, tuple(result.node.values()))
        growing.take(rows)
        growing.add(growing.node)
        growing.see(self.seen())
        self.growing = growing
        return True

    def step(self) -> None:
        growing = self.growing
        assert growing is not None
        draw = self.random
        what = draw.choice(["day", "day", "day", "late", "leave", "change"])
        if self.promise.protects_values and not self.promise.unit and what in ("leave", "change"):
            what = "day"
        new: list[Row] = []
        leaving: list[int] = []
        if what == "day":
            self.day += 1
            new = self.rows(draw.randrange(0, 9))
            self.fill("visits", new)
        elif what == "late":
            new = self.rows(draw.randrange(0, 5))
            self.fill("late", new)
            self.fill("visits", new)
        if what in ("leave", "change"):
            there = [number for number in growing.rows if number not in growing.left]
            leaving = draw.sample(there, min(len(there), draw.randrange(1, 4)))
            self.fill("gone", [growing.rows[number] for number in leaving])
            if what == "change":
                new = [{**row, "person": growing.rows[old]["person"]} for row, old in zip(self.rows(9), leaving)]
            self.fill("late", new)
            self.fill("visits", new)
            for number in leaving:
                self.connection.execute("DELETE FROM visits WHERE rid = ?", [number])
        options: dict[str, Any] = {}
        if what != "day":
            self.names += 1
            options["batch"] = f"b{self.names}"
            if what != "leave":
                options["inserted"] = "late"
            if leaving:
                options["deleted"] = "gone"
        if draw.random() < 0.3 and not self.promise.unit:
            options["verify_all"] = True
        before = growing.node
        result = kanon_sql.refresh(self.engine, self.spec, **options)
        self.hold(result, new, leaving, before)
        again = kanon_sql.refresh(self.engine, self.spec, **options)  # a day that is replayed
        assert again.message.startswith("nothing was changed"), again.message
        assert self.seen() == growing.versions[-1]

    def hold(self, result: kanon_sql.Result, new: list[Row], leaving: list[int], before: tuple[int, ...]) -> None:
        growing, facts, seen = self.growing, result.refresh, self.seen()
        assert growing is not None
        assert facts is not None
        assert result.node is not None
        node = tuple(result.node.values())
        removed = growing.leave(leaving, seen)
        growing.take(new)
        if not new and not leaving:
            assert result.message == "nothing was changed: there are no new rows"
            assert seen == growing.versions[-1]
            return
        held, drifts = len(growing.held()), growing.waits_at(before) > growing.most_waiting
        fitting = growing.fitting()
        if drifts and self.policy != "hold" and fitting:
            assert facts["levels"] == "coarser"
            assert node in fitting
        else:
            assert (facts["levels"], node) == ("kept", before)
        added = growing.add(node)
        growing.see(seen)
        assert (facts["added"], facts["removed"], facts["held"]) == (len(added), removed, held)
        assert facts["drift"] == drifts
        assert facts["waiting"] == len(growing.waiting)
        assert (result.rows["source"], result.rows["released"]) == (growing.in_source, len(seen))
        assert facts["retired"] == len(growing.gone - growing.left)
        self.remembers()

    def remembers(self) -> None:
        """The state holds what it must: who was released, in which batch, and what waits."""
        growing = self.growing
        assert growing is not None
        tables = self.connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'kanon_state'")
        names = sorted(name for (name,) in tables.fetchall() if name != "kanon_sql_state")
        assert [name.rsplit("_", 1)[1] for name in names] == ["published", "waiting"]
        waiting = {rid for (rid,) in self.connection.execute(f"SELECT c0 FROM kanon_state.{names[1]}").fetchall()}
        assert waiting == set(growing.waiting)
        query = f"SELECT c0, SUM(row_count) FROM kanon_state.{names[0]} WHERE batch > 0 GROUP BY c0"
        released = {rid for rid, count in self.connection.execute(query).fetchall() if count}
        assert released == set(growing.standing())

    def rebuilt(self) -> None:
        """A release of the same rows at the same levels, made anew, has the same rows and those that wait besides."""
        growing = self.growing
        assert growing is not None
        fixed = {
            name: {**({"prefix": [2, 1]} if name == "zip" else {}), "minimum_level": level, "maximum_level": level}
            for name, level in zip(HEIGHTS, growing.node, strict=True)
        }
        anew = {**self.spec.to_dict(), "quasi_identifiers": fixed, "state": None, "increments": None}
        anew |= {"release": "rebuilt", "suppression": {"limit": 1.0}}
        if not kanon_sql.anonymize(self.engine, kanon_sql.Spec.from_dict(anew)).passed:
            assert not growing.standing()
            return
        query = "SELECT rid, zip, sex, disease FROM {}"
        ours, theirs = (
            Counter(self.connection.execute(query.format(name)).fetchall()) for name in ("visits_release", "rebuilt")
        )
        assert not ours - theirs, "a row of the release is not one of the rebuilt release"
        missing = {rid for rid, *_ in theirs - ours}
        assert missing <= set(growing.waiting) | growing.gone


def campaign(name: str, policy: str, seeds: range) -> None:
    for seed in seeds:
        clinic = Clinic(seed, PROMISES[name], policy)
        try:
            if clinic.begin():
                for _ in range(5):
                    clinic.step()
                clinic.rebuilt()
        except BaseException:
            print(f"promise {name!r}, policy {policy!r}, seed {seed}")
            raise
        finally:
            clinic.engine.close()
            clinic.connection.close()


@pytest.mark.parametrize("policy", ["hold", "coarsen"])
@pytest.mark.parametrize("name", ["rows", "persons' values"])
def test_some_sequences(name: str, policy: str) -> None:
    campaign(name, policy, range(2))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["hold", "coarsen", "research"])
@pytest.mark.parametrize("name", list(PROMISES))
def test_random_sequences(name: str, policy: str) -> None:
    """With KANON_EXAMPLES, so many times 5 sequences each."""
    campaign(name, policy, range(100, 100 + 5 * max(1, TIMES)))


def test_the_oracle_sees_what_is_unsafe() -> None:
    rows = [dict(zip(COLUMNS, (i, 0, f"p{i}", "111", "F", "flu"), strict=True)) for i in range(4)]
    growing = Growing(Promise(k=2), 0.0, (0, 0))
    growing.take(rows[:2])
    growing.add((0, 0))
    growing.see({row["rid"]: labels(row, (0, 0)) for row in rows[:2]})
    growing.take(rows[2:3])
    growing.batches[2] = 2, labels(rows[2], (0, 0))
    with pytest.raises(AssertionError, match="a joint class is too small"):
        growing.see({row["rid"]: labels(row, (0, 0)) for row in rows[:3]})
