"""Random sequences of days against a release that grows in plain Python, and a full rebuild of the same rows."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine, open_workspace
from kanon_sql.release import states_in
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.oracles.increments import HEIGHTS, Growing, Labels, Promise, Row, labels
from tests.servers import subject_of
from tests.support.strategies import TIMES
from tests.support.suppressions import suppressing

COLUMNS = {"rid": "integer", "day": "integer", "person": "text", "zip": "text", "sex": "text", "disease": "text"}
ZIPS = ("111", "112", "121", "122", "211", "212")
DISEASES = ("flu", "cold", "ulcer", None)

SEQUENCES = 200
"""Of each promise under each policy."""

PROMISES = {
    "rows": Promise(k=2),
    "more rows": Promise(k=3),
    "values": Promise(k=2, l=2),
    "persons": Promise(k=2, unit=True),
    "persons' values": Promise(k=2, l=2, unit=True),
}


def spec_of(promise: Promise, policy: str, limit: float, nulls: str, release: str, schema: str) -> kanon_sql.Spec:
    privacy: list[dict[str, Any]] = [{"k_anonymity": {"k": promise.k}}]
    if promise.l > 1:
        privacy.append({"l_diversity": {"attribute": "disease", "l": promise.l}})
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": release,
            "unit": "person" if promise.unit else None,
            "quasi_identifiers": {"zip": {"prefix": [2, 1]}, "sex": {}},
            "sensitive": ["disease"],
            "keep": ["rid"],
            "privacy": privacy,
            "suppression": suppressing(limit),
            "nulls": nulls,
            "state": {"schema": schema},
            "increments": {"watermark": "day", "on_drift": policy},
            "warnings": {"rows_not_persons": "allow", "nearly_unique_kept": "allow"},
        }
    )


class Clinic:
    """A table that grows and shrinks, its release, and what must become of it."""

    def __init__(self, subject: Subject, seed: int, promise: Promise, policy: str) -> None:
        self.random = random.Random(seed)
        self.subject, self.promise, self.policy = subject, promise, policy
        self.limit = self.random.choice([0.0, 0.1, 0.3, 0.6])
        self.release = "visits_release"
        self.schema = "main" if subject.name == "sqlite" else "kanon_state"
        self.nulls = self.random.choice(["value", "value", "suppress"])
        self.spec = spec_of(promise, policy, self.limit, self.nulls, self.release, self.schema)
        self.engine: Engine = subject.connect()
        self.number = self.day = self.names = 0
        self.source: list[Row] = []
        self.growing: Growing | None = None

    def close(self) -> None:
        """Leave nothing of the release for the next one."""
        clean(self.engine, self.schema, states=True, drop=True)
        self.engine.close()
        for name in (self.release, "rebuilt"):
            self.subject.drop(name)

    def rows(self, count: int) -> list[Row]:
        draw = self.random
        found = []
        for _ in range(count):
            self.number += 1
            nobody = None if self.promise.unit and not self.promise.protects_values else f"q{self.number}"
            person = draw.choice([f"p{draw.randrange(12)}"] * 3 + [f"q{self.number}"] * 6 + [nobody])
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
        self.subject.table(table, COLUMNS, [tuple(row[name] for name in COLUMNS) for row in rows])

    def changed(self, new: list[Row], leaving: list[int]) -> None:
        """Write the source anew."""
        gone = set(leaving)
        self.source = [row for row in self.source if row["rid"] not in gone] + new
        self.fill("visits", self.source)

    def read(self, columns: str, table: str) -> list[tuple[Any, ...]]:
        return self.subject.fetch(f"SELECT {columns} FROM {table}")

    def seen(self) -> dict[int, Labels]:
        found = self.read("rid, zip, sex", self.release)
        assert len({rid for rid, *_ in found}) == len(found)
        return {int(rid): tuple(cells) for rid, *cells in found}

    def begin(self) -> bool:
        """Publish the first release; whether there is one."""
        rows = self.rows(self.random.randrange(6, 28))
        self.changed(rows, [])
        result = kanon_sql.anonymize(self.engine, self.spec)
        if not result.passed:
            return False
        assert result.node is not None
        growing = Growing(self.promise, self.limit, tuple(result.node.values()), self.nulls == "suppress")
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
            count = draw.randrange(0, 9)
            self.day += count > 0  # late rows are of days that were taken
            new = self.rows(count)
        elif what == "late":
            new = self.rows(draw.randrange(0, 5))
            self.fill("late", new)
        if what in ("leave", "change"):
            there = [number for number in growing.rows if number not in growing.left]
            leaving = draw.sample(there, min(len(there), draw.randrange(1, 4)))
            self.fill("gone", [growing.rows[number] for number in leaving])
            if what == "change":
                people = [growing.rows[number]["person"] for number in leaving]
                drawn = self.rows(len(leaving))
                new = [{**row, "person": person} for row, person in zip(drawn, people, strict=True)]
            self.fill("late", new)
        self.changed(new, leaving)
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

    def hold(
        self, result: kanon_sql.results.RefreshedRelease, new: list[Row], leaving: list[int], before: tuple[int, ...]
    ) -> None:
        growing, facts, seen = self.growing, result.refresh, self.seen()
        assert growing is not None
        assert facts is not None
        assert result.node is not None
        node = tuple(result.node.values())
        removed = growing.leave(leaving, seen)
        growing.take(new)
        if not new and not leaving:
            assert result.message.startswith("nothing was changed: there are no new rows")
            assert facts["drift"] == (len(growing.waiting) > growing.most_waiting)
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
        assert facts["added_classes"] == pytest.approx(growing.classes(added))
        whole = facts["verified"] == "the whole release"
        assert result.classes == (pytest.approx(growing.classes(growing.standing())) if whole else {})
        assert ("suppression allows" in result.message) == (len(growing.waiting) > growing.most_waiting)
        beyond = growing.in_source - len(seen) > growing.most_waiting
        assert [item.code for item in result.warnings if item.code == "limit_exceeded"] == ["limit_exceeded"] * beyond
        assert facts["waiting"] == len(growing.waiting)
        assert (result.rows["source"], result.rows["released"]) == (growing.in_source, len(seen))
        assert facts["retired"] == len(growing.gone - growing.left)
        self.remembers()

    def remembers(self) -> None:
        """The state holds what it must: who was released, in which batch, and what waits."""
        growing = self.growing
        assert growing is not None
        with open_workspace(self.engine, "") as workspace:
            assert self.spec.state is not None
            (state,) = states_in(workspace, self.spec.state)  # and no other is left
        published, waiting = (self.subject.dialect.relation(item.parts) for item in (state.published, state.waiting))
        assert {int(rid) for (rid,) in self.read("c0", waiting)} == set(growing.waiting)
        released = self.read("c0, SUM(row_count)", f"{published} WHERE batch > 0 GROUP BY c0")
        assert {int(rid) for rid, count in released if count} == set(growing.standing())

    def rebuilt(self) -> None:
        """A release of the same rows at the same levels, made anew, has the same rows and those that wait besides."""
        growing = self.growing
        assert growing is not None
        fixed = {
            name: {**({"prefix": [2, 1]} if name == "zip" else {}), "minimum_level": level, "maximum_level": level}
            for name, level in zip(HEIGHTS, growing.node, strict=True)
        }
        fresh = {**self.spec.to_dict(), "quasi_identifiers": fixed, "state": None, "increments": None}
        fresh |= {"release": "rebuilt", "suppression": {"max_share": 1.0}}
        if not kanon_sql.anonymize(self.engine, kanon_sql.Spec.from_dict(fresh)).passed:
            assert not growing.standing()
            return
        ours, theirs = (Counter(self.read("rid, zip, sex, disease", name)) for name in (self.release, "rebuilt"))
        assert not ours - theirs, "a row of the release is not one of the rebuilt release"
        missing = {int(rid) for rid, *_ in theirs - ours}
        assert missing <= set(growing.waiting) | growing.gone


def campaign(subject: Subject, name: str, policy: str, seeds: range, days: int = 5) -> Iterator[int]:
    """Run sequences, and yield after each how many refreshes it had.

    Runs are numbered anew in each, so that tables have the names of the sequence before, and their statements are
    compiled already: that was a third of the processor's time. Not on Spark, which remembers the files of a dropped
    table by its name.
    """
    for seed in seeds:
        clinic, begins = Clinic(subject, seed, PROMISES[name], policy), False
        numbers = map("{:08x}".format, itertools.count())
        try:
            with pytest.MonkeyPatch.context() as patch:
                if subject.name != "spark":
                    patch.setattr("kanon_sql.engines.session.secrets.token_hex", lambda _, drawn=numbers: next(drawn))
                begins = clinic.begin()
                if begins:
                    for _ in range(days):
                        clinic.step()
                    clinic.rebuilt()
        except BaseException:
            print(f"promise {name!r}, policy {policy!r}, seed {seed}")
            raise
        finally:
            clinic.close()
        yield days if begins else 0


@pytest.fixture(scope="module")
def duckdb() -> Iterator[Subject]:
    with subject_of("duckdb") as made:
        yield made


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "policy"), [("rows", "hold"), ("persons' values", "coarsen")])
@pytest.mark.slow
def test_some_sequences(duckdb: Subject, name: str, policy: str) -> None:
    assert sum(campaign(duckdb, name, policy, range(2)))


POLICIES = ["hold", "coarsen", "research"]


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", list(PROMISES))
@pytest.mark.sampled(6)
@pytest.mark.campaign_on("rows-hold", "values-coarsen", "persons' values-hold")
def test_random_sequences(duckdb: Subject, name: str, policy: str) -> None:
    """With KANON_EXAMPLES, so many times 3 sequences each."""
    assert sum(campaign(duckdb, name, policy, range(100, 100 + 3 * max(1, TIMES))))


@pytest.mark.campaign
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", list(PROMISES))
def test_a_thousand_sequences_per_policy(name: str, policy: str) -> None:
    """On SQLite, whose small statements take a fifth of DuckDB's time; TMPDIR in memory spares the disk."""
    with subject_of("sqlite") as subject:
        began = 0
        for steps in campaign(subject, name, policy, range(10_000, 11_000)):
            began += steps > 0
            if began == SEQUENCES:
                return
    raise AssertionError(f"only {began} of {SEQUENCES} sequences had a first release")


@pytest.mark.campaign_on("spark", "clickhouse", "mariadb")
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["postgres", "sqlite", "mariadb", "clickhouse", "spark"])
def test_sequences_on_other_engines(engine: str) -> None:
    """Changed in their place, or written anew; with KANON_EXAMPLES more of them."""
    with subject_of(engine) as subject:
        seeds, days = (range(3), 2) if engine == "spark" else (range(2 + 2 * TIMES), 4)
        for number, name in enumerate(["persons", "rows", "values"]):
            list(campaign(subject, name, POLICIES[number], seeds if TIMES else seeds[:1], days))


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


def test_the_oracle_sees_a_union_that_is_unsafe() -> None:
    rows, promise = rows_of(TWO_IN_TWO_CLASSES), PROMISES["persons' values"]
    growing = Growing(promise, 0.0, (0, 0))
    growing.take(rows)
    growing.add((0, 0))
    growing.see({row["rid"]: labels(row, (0, 0)) for row in rows})
    growing.add((2, 0))
    with pytest.raises(AssertionError, match="a class of the release is unsafe at its levels"):
        growing.see({row["rid"]: labels(row, (2, 0)) for row in rows})


def rows_of(cells: str) -> list[Row]:
    """Rows as they are typed: number, day, person, postal code, sex and disease; ``-`` for NULL."""
    listed = [[None if cell == "-" else cell for cell in line.split()] for line in cells.strip().splitlines()]
    return [
        {**dict(zip(COLUMNS, line, strict=True)), "rid": int(line[0] or 0), "day": int(line[1] or 0)} for line in listed
    ]


@pytest.mark.slow
def test_a_value_that_everybody_of_a_class_has_is_known(duckdb: Subject) -> None:
    """Both men of the second day have flu, and one has an ulcer too: two values are there, and flu is known of both."""
    promise = PROMISES["persons' values"]
    men = rows_of("5 2 eve 111 M flu \n 6 2 fay 111 M flu \n 7 2 fay 111 M ulcer")
    another = rows_of("8 3 gus 111 M cold")
    # That both have no value known beside another tells nothing of either.
    unknown = rows_of("9 4 hue 222 M - \n 10 4 hue 222 M flu \n 11 4 kay 222 M - \n 12 4 kay 222 M ulcer")
    assert promise.holds(unknown)
    assert not promise.holds(men)
    assert promise.holds([*men, *another])
    assert promise.holds([*men[:1], *men[2:]])
    clinic = Clinic(duckdb, 0, promise, "hold")
    clinic.spec = spec_of(promise, "hold", 1.0, "value", clinic.release, clinic.schema)
    first = rows_of("1 1 ann 111 F flu \n 2 1 bob 111 F cold")
    try:
        clinic.changed(first, [])
        assert kanon_sql.anonymize(clinic.engine, clinic.spec).node == {"zip": 0, "sex": 0}
        for rows, added in ((men, 0), (another, 4), (unknown, 4)):
            clinic.changed(rows, [])
            result = kanon_sql.refresh(clinic.engine, clinic.spec)
            assert result.refresh is not None
            assert result.refresh["added"] == added
    finally:
        clinic.close()


TWO_IN_TWO_CLASSES = """
1 1 ann 111 F flu
2 1 bob 111 F cold
3 1 ann 121 F cold
4 1 bob 121 F flu
"""
"""In either class one has flu and one a cold. At `1**` both have both."""

DIVIDED = """
1 1 ann 111 F flu
2 1 bob 111 F flu
3 1 cat 111 F cold
4 1 don 111 F cold
5 1 eli 121 F flu
6 1 fox 121 F flu
7 1 cat 121 F cold
8 1 don 121 F cold
"""
"""In either class as many have flu as a cold. At `1**` four have flu and two a cold."""

TWO_MORE = "21 {day} gus 311 F flu \n 22 {day} hal 311 F cold"
"""With them, nobody's value would be everybody's at `*`."""

TWO_WAIT = "31 1 ida 211 F flu \n 32 1 jon 221 F cold"
"""Who could be released at `2**`, or at `*`."""

FIVE_WAIT = (
    TWO_WAIT
    + """
33 1 kit 231 F flu
34 1 lea 241 F cold
35 1 max 251 F cold
"""
)


def levels_of_persons(
    subject: Subject, policy: str, kind: str, days: list[str], leaving: tuple[int, ...] = (), limit: float = 0.0
) -> tuple[dict[str, int], int]:
    """The levels after some days, the last of which comes as a table, and how many rows it added."""
    promise = PROMISES["persons' values" if kind != "rows" else "values"]
    clinic = Clinic(subject, 0, promise, policy)
    given = spec_of(promise, policy, limit, "value", clinic.release, clinic.schema).to_dict()
    given["privacy"][1]["l_diversity"]["variant"] = "entropy" if kind == "entropy" else "distinct"
    clinic.spec = kanon_sql.Spec.from_dict(given)
    first, *between, last = map(rows_of, days)
    try:
        clinic.changed(first, [])
        assert kanon_sql.anonymize(clinic.engine, clinic.spec).node == {"zip": 0, "sex": 0}
        for rows in between:
            clinic.changed(rows, [])
            assert (found := kanon_sql.refresh(clinic.engine, clinic.spec).refresh) is not None
            assert found["added"] == len(rows)
        clinic.fill("late", last)
        if leaving:
            clinic.fill("gone", [row for row in clinic.source if row["rid"] in leaving])
        clinic.changed(last, list(leaving))
        options = {"inserted": "late", "batch": "x", **({"deleted": "gone"} if leaving else {})}
        result = kanon_sql.refresh(clinic.engine, clinic.spec, **options)  # type: ignore[arg-type]
        assert result.node is not None
        assert result.refresh is not None
        satisfying = "few enough rows wait and the release satisfy the requirements, and the levels are kept"
        assert any(satisfying in note for note in result.notes) == (result.refresh["levels"] == "kept")
        return dict(result.node), result.refresh["added"]
    finally:
        clinic.close()


KEPT, AT_2, AT_3 = ({"zip": level, "sex": 0} for level in (0, 2, 3))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["coarsen", pytest.param("research", marks=pytest.mark.campaign)])
def test_a_union_of_persons_may_not_be_what_its_classes_are(policy: str) -> None:
    """On SQLite, whose small statements are the quickest."""
    first, more, later, wait = TWO_IN_TWO_CLASSES, TWO_MORE.format(day=1), TWO_MORE.format(day=2), TWO_WAIT
    with subject_of("sqlite") as subject:
        # Rows are as many in a union as in its parts.
        assert levels_of_persons(subject, policy, "rows", [first, wait]) == (AT_2, 2)
        assert levels_of_persons(subject, policy, "distinct", [first, wait]) == (KEPT, 0)
        assert levels_of_persons(subject, policy, "entropy", [DIVIDED, wait]) == (KEPT, 0)
        assert levels_of_persons(subject, policy, "distinct", [first + more, wait]) == (AT_3, 2)
        # Four of nine rows may wait. Those four that are released may not be unsafe instead.
        assert levels_of_persons(subject, policy, "distinct", [first, FIVE_WAIT], limit=0.5) == (KEPT, 0)
        # Of another batch, they may leave by themselves; and here they do.
        assert levels_of_persons(subject, policy, "distinct", [first, later, wait]) == (KEPT, 0)
        assert levels_of_persons(subject, policy, "distinct", [first + more, wait], (21,)) == (KEPT, 0)


@pytest.mark.parametrize(
    "engine",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("duckdb", "postgres", "mariadb")),
        *(pytest.param(name, marks=pytest.mark.campaign) for name in ("clickhouse", "spark")),
    ],
)
def test_unions_of_persons_on_other_engines(engine: str) -> None:
    days = [TWO_IN_TWO_CLASSES + TWO_MORE.format(day=1), TWO_WAIT]
    with subject_of(engine) as subject:
        assert levels_of_persons(subject, "coarsen", "distinct", days) == (AT_3, 2)
        if engine != "spark":  # where the first says as much, and every statement takes long
            assert levels_of_persons(subject, "coarsen", "distinct", days, (21,)) == (KEPT, 0)
