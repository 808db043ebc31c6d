"""Correspondence attacks on versions of a growing release, against all possible worlds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import Spec
from kanon_sql.testing import Subject
from kanon_sql.verbs.audit import AuditResult, audit
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import by_name
from tests.support.strategies import examples

OF_BEFORE, OF_NEWCOMERS = "correspondence", "correspondence_backward"

COLUMNS = {"x": "integer", "y": "integer", "dx": "text"}
Record = tuple[int | None, int | None, str | None]
Levels = tuple[int, int]


def spec_of(k: int) -> Spec:
    return Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"x": {"intervals": [2, 4]}, "y": {"intervals": [2, 4]}},
            "sensitive": ["dx"],
            "privacy": [{"k_anonymity": k}],
        }
    )


# --- The oracle ---------------------------------------------------------------------------------


def label(value: int | None, level: int) -> str | None:
    if level == 3:
        return "*"
    if value is None or level == 0:
        return None if value is None else str(value)
    low = value // 2**level * 2**level
    return f"[{low}, {low + 2**level})"


def released(records: Sequence[Record], levels: Levels) -> list[tuple[str | None, str | None, str | None]]:
    return [(label(x, levels[0]), label(y, levels[1]), dx) for x, y, dx in records]


class World:
    """Everything that may lie behind two versions: each row of the former has a buddy of its own in the latter."""

    def __init__(self, before: Sequence[Record], after: Sequence[Record], one: Levels, other: Levels) -> None:
        self.rows = [released(before, one), released(after, other)]
        self.levels = [one, other]
        vectors = {record[:2] for record in after}
        # The labels that some record of the source may have in both versions: who attacks knows all quasi-identifiers.
        self.together = {
            (tuple(released([(*v, None)], one)[0][:2]), tuple(released([(*v, None)], other)[0][:2])) for v in vectors
        }
        first, second = self.rows
        self.worlds = [
            world
            for world in permutations(range(len(second)), len(first))
            if all(
                first[i][2] == second[j][2] and (first[i][:2], second[j][:2]) in self.together
                for i, j in enumerate(world)
            )
        ]

    def group(self, vector: tuple[Any, Any], version: int) -> set[int]:
        mine = tuple(released([(*vector, None)], self.levels[version])[0][:2])
        return {number for number, row in enumerate(self.rows[version]) if row[:2] == mine}

    def left_before(self, vector: tuple[Any, Any]) -> dict[str | None, int]:
        """Per value: in the best world, rows of the victim's group whose buddies are in the victim's group as well."""
        mine, later = self.group(vector, 0), self.group(vector, 1)
        return self._most(lambda world: Counter(self.rows[0][i][2] for i in mine if world[i] in later))

    def left_new(self, vector: tuple[Any, Any]) -> dict[str | None, int]:
        """Per value: in the best world, rows of the victim's group that are nobody's buddy."""
        later = self.group(vector, 1)
        return self._most(lambda world: Counter(self.rows[1][j][2] for j in later - set(world)))

    def _most(self, count: Any) -> dict[str | None, int]:
        counted = [count(world) for world in self.worlds]
        return {value: max(found[value] for found in counted) for value in {v for found in counted for v in found}}


def expected(records: Sequence[Record], left: Any, k: int) -> tuple[int, int, float | None]:
    """(people, exposed people, highest risk), of those whose own value is among the rows that are left."""
    sizes = [sum(found.values()) for *vector, dx in records if (found := left(tuple(vector))).get(dx, 0) > 0]
    return len(sizes), sum(size < k for size in sizes), max((1 / size for size in sizes), default=None)


def measured(result: AuditResult, name: str) -> tuple[int, int, float | None]:
    attack = by_name(result)[f"{name} of dx"]
    assert attack.beyond == attack.exposed
    return attack.examined, attack.exposed, attack.risk


# --- Random versions ----------------------------------------------------------------------------

LEVELS = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(seed=st.integers(0, 10_000), one=LEVELS, other=LEVELS, old=st.integers(1, 4), new=st.integers(0, 2))
@examples(6)
def test_it_leaves_what_possible_worlds_leave(
    shared_database: Database, seed: int, one: Levels, other: Levels, old: int, new: int
) -> None:
    """Exactly that where levels nest; elsewhere never less, since what is crossed out is certain."""
    draw = random.Random(seed)
    after: list[Record] = [
        (draw.choice([None, 0, 1, 2, 3, 4]), draw.choice([0, 1, 2, 3]), draw.choice(["a", "a", "b", None]))
        for _ in range(old + new)
    ]
    before, k = after[:old], draw.choice([2, 3])
    world = World(before, after, one, other)
    assert world.worlds, "the true one at least"
    result = run(shared_database, after, [released(before, one), released(after, other)], k)
    nested = all(a <= b for a, b in zip(one, other, strict=True)) or all(
        a >= b for a, b in zip(one, other, strict=True)
    )
    for name, left in ((OF_BEFORE, world.left_before), (OF_NEWCOMERS, world.left_new)):
        people, exposed, risk = expected(after, left, k)
        found = measured(result, name)
        if nested:
            assert found == (people, exposed, risk)
        else:
            assert found[0] >= people
            assert (found[2] or 0) <= (risk or 1)


def run(database: Database, source: Sequence[Record], versions: Sequence[Any], k: int, **options: Any) -> AuditResult:
    database.table("people", {"x": "INTEGER", "y": "INTEGER", "dx": "VARCHAR"}, source)
    names = [f"version{number}" for number in range(len(versions))]
    for name, rows in zip(names, versions, strict=True):
        database.table(name, ["x", "y", "dx"], rows)
    return audit(
        database.engine, spec_of(k), names[-1], earlier=names[:-1], attacks=[OF_BEFORE, OF_NEWCOMERS], **options
    )


# --- Worked by hand -----------------------------------------------------------------------------

BEFORE: list[Record] = [(0, 0, "flu"), (1, 1, "flu"), (2, 2, "flu"), (0, 3, "cold"), (3, 0, "cold")]
AFTER: list[Record] = [*BEFORE, (0, 0, "cold"), (0, 1, "cold"), (1, 0, "ulcer"), (2, 3, "flu"), (3, 3, "cold")]


@pytest.mark.slow
def test_forward_cross_and_backward_by_hand(database: Database) -> None:
    """The former version is coarse, the latter fine in x. Worked out by the definitions: x in [0, 2) or in [2, 4).

    Before: 3 flu, 2 cold, all alike. After, [0, 2): 2 flu, 3 cold, 1 ulcer; [2, 4): 2 flu, 2 cold.
    Forward and cross: in [0, 2) min(3, 2) + min(2, 3) = 4 are left of 5 and of 6; in [2, 4) 2 + 2 = 4 of 5 and of 4.
    Backward: of the flu in [0, 2), 3 - 2 = 1 must be of before, and likewise of that in [2, 4); of the cold in [0, 2),
    2 - 2 = 0, and in [2, 4), 2 - 3 < 0. So 1 + 3 + 1 = 5 are left in [0, 2), and 1 + 2 = 3 in [2, 4).
    """
    versions = [released(BEFORE, (2, 2)), released(AFTER, (1, 2))]
    result = run(database, AFTER, versions, 5)
    # Of ulcer nobody can be of before: 9 of the 10 have a value that both versions have.
    assert measured(result, OF_BEFORE) == (9, 9, 1 / 4)
    assert measured(result, OF_NEWCOMERS) == (10, 4, 1 / 3)
    assert not result.passed
    result = run(database, AFTER, versions, 3)
    assert [attack.exposed for attack in result.attacks] == [0, 0]
    assert result.passed


@pytest.mark.slow
def test_who_is_new_alone_is_found(database: Database) -> None:
    """Both versions are 4-anonymous, and the one row that is new is the newcomer's."""
    before: list[Record] = [(0, 0, value) for value in ("flu", "flu", "cold", "cold")]
    after: list[Record] = [*before, (0, 0, "ulcer")]
    result = run(database, after, [released(before, (0, 0)), released(after, (0, 0))], 4)
    assert measured(result, OF_BEFORE) == (4, 0, 1 / 4)
    assert measured(result, OF_NEWCOMERS) == (1, 1, 1.0)


@pytest.mark.slow
def test_versions_that_cross_by_hand(database: Database) -> None:
    """One version by x, the other by y: each row of before may be in both groups of the latter, which is counted once.

    Of before are 2 and 1 rows, all of them flu; later there are 2 and 2. Of the 3 at most 2 are in the other group: 1
    of the 2 in each group is of before, and 1 may be new.
    """
    before: list[Record] = [(0, 0, "flu"), (0, 1, "flu"), (1, 1, "flu")]
    after: list[Record] = [*before, (1, 0, "flu")]
    result = run(database, after, [released(before, (0, 3)), released(after, (3, 0))], 2)
    assert measured(result, OF_NEWCOMERS) == (4, 4, 1.0)
    world = World(before, after, (0, 3), (3, 0))
    assert expected(after, world.left_new, 2) == (4, 4, 1.0)


@pytest.mark.slow
def test_of_several_versions_the_worst_pair_counts(database: Database) -> None:
    """The oldest is given first; what the last two tell is told although the first two tell nothing."""
    first: list[Record] = [(0, 0, value) for value in ("flu", "flu", "cold", "cold")]
    second: list[Record] = [*first, *[(0, 0, value) for value in ("flu", "cold", "ulcer", "gout")]]
    third: list[Record] = [*second, (0, 0, "flu")]
    versions = [released(rows, (0, 0)) for rows in (first, second, third)]
    result = run(database, third, versions, 4)
    # One row is new in the last pair, a flu: the flus of the source may all be its owner's.
    assert measured(result, OF_NEWCOMERS) == (9, 4, 1.0)
    assert measured(run(database, second, versions[:2], 4), OF_NEWCOMERS) == (8, 0, 1 / 4)


@pytest.mark.slow
def test_nothing_is_said_of_newcomers_where_rows_have_gone(database: Database) -> None:
    before: list[Record] = [(0, 0, value) for value in ("flu", "flu", "cold")]
    versions = [released(before, (0, 0)), released(before[1:], (0, 0))]
    with pytest.raises(UnsupportedError, match="rows were deleted or suppressed"):
        run(database, before[1:], versions, 2)
    result = audit(database.engine, spec_of(2), "version1", earlier=["version0"], attacks=[OF_BEFORE])
    assert measured(result, OF_BEFORE) == (2, 0, 1 / 2)


@pytest.mark.slow
def test_it_runs_only_if_it_is_named(database: Database) -> None:
    run(database, BEFORE, [released(BEFORE, (1, 1))] * 2, 2)
    result = audit(database.engine, spec_of(2), "version1", earlier=["version0"])
    assert not any(attack.name.startswith("correspondence") for attack in result.attacks)
    assert "only grows, the oldest first" in str(result.to_dict())


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            name,
            marks=[
                pytest.mark.xdist_group(f"{name} versions"),
                *([pytest.mark.slow] if name in ("spark", "clickhouse") else []),
            ],
        )
        for name in SUBJECTS
    ],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.mark.sampled(4)
@pytest.mark.campaign_on("spark", "clickhouse")
def test_every_engine_says_the_same(subject: Subject) -> None:
    """With NULL among the values, and nothing created."""
    after: list[Record] = [*AFTER, (None, 0, "flu"), (None, 0, None)]
    subject.table("people", COLUMNS, after)
    texts = {"x": "text", "y": "text", "dx": "text"}
    subject.table("version0", texts, released(BEFORE, (2, 2)))
    subject.table("version1", texts, released(after, (1, 2)))
    before = set(subject.tables())
    with subject.connect() as engine:
        result = audit(engine, spec_of(5), "version1", earlier=["version0"], attacks=[OF_BEFORE, OF_NEWCOMERS])
    assert set(subject.tables()) == before
    assert measured(result, OF_BEFORE) == (9, 9, 1 / 4)
    assert measured(result, OF_NEWCOMERS) == (12, 6, 1 / 2)
