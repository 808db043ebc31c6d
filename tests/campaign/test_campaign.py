"""Faults at every point: the short form of the campaign, and what its judge must not let pass."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

import kanon_sql
from tests.campaign import several
from tests.campaign.cases import CASES, RELEASE, SEVERAL, Case, people, prepare, spec_of
from tests.campaign.command import KINDS, Campaign, main
from tests.campaign.disk import Disk, Unmountable
from tests.campaign.faults import Failing, Kind, Struck, Target
from tests.campaign.judging import examine, recorded, recover, standing
from tests.campaign.kills import Killed
from tests.campaign.places import PLACES, DuckDBPlace, Place
from tests.campaign.schedules import TwoRuns
from tests.servers import REQUIRED
from tests.servers.base import Missing

LONG = {"duckdb": 2_000, "sqlite": 500, "postgres": 500, "mariadb": 500, "clickhouse": 500, "spark": 500}
SHORT = {"duckdb": 40, "sqlite": 20, "postgres": 16, "mariadb": 16, "clickhouse": 8}


def place_of(name: str) -> Place:
    try:
        return PLACES[name]()
    except Missing as missing:
        if name in REQUIRED:
            pytest.fail(f"KANON_REQUIRE_ENGINES names {name}: {missing}")
        pytest.skip(f"{name}: {missing}")


def assert_nothing_breaks(
    name: str, faults: int, seed: int, kinds: list[Kind] | None = None, cases: tuple[str, ...] = ()
) -> None:
    place = place_of(name)
    try:
        campaign = Campaign(place, seed, cases)
        campaign.run(faults, kinds or [kind() for kind, _ in KINDS])
    finally:
        place.close()
    assert campaign.broken == []
    assert sum(tally.injected for tally in campaign.tallies.values()) > faults / 2, "most strike"


# --- the campaign ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_a_few_faults(name: str) -> None:
    assert_nothing_breaks(name, 6, 7, [Failing(), Killed()], ("again",))


@pytest.mark.campaign_on("clickhouse", "mariadb", "duckdb", "sqlite")
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SHORT])
def test_faults_of_all_kinds(name: str) -> None:
    assert_nothing_breaks(name, SHORT[name], 11)


@pytest.mark.campaign
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in LONG])
def test_the_long_form(name: str) -> None:
    assert_nothing_breaks(name, LONG[name], 1)


def test_a_full_disk_can_be_had() -> None:
    """Without the right to mount, faults of a full disk are left out: that must be seen."""
    try:
        disk = Disk(1)
    except Unmountable as error:
        if os.environ.get("KANON_REQUIRE_DISK"):
            pytest.fail(f"KANON_REQUIRE_DISK is set: {error}")
        pytest.skip(str(error))
    try:
        disk.leave(4096)
        with pytest.raises(OSError, match="No space left"), (disk.path / "more").open("wb") as file:
            file.write(b"0" * 100_000)
        disk.empty()
        (disk.path / "more").write_bytes(b"0" * 100_000)
    finally:
        disk.close()
    assert not disk.path.exists()


@pytest.mark.slow
def test_the_same_seed_draws_the_same_faults(duck: Place) -> None:
    draws = []
    for _ in range(2):
        campaign = Campaign(duck, 5, ["first"])
        draws.append((campaign._targets(Failing(), CASES["first"], 30), campaign.random.random()))
    assert draws[0] == draws[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("faults", [1, 2, 5])
@pytest.mark.slow
def test_as_many_are_drawn_as_were_asked_for(duck: Place, faults: int) -> None:
    """Few faults too, although no kind's share of them is a whole one."""
    drawn = Campaign(duck, 3, ["again"]).draw(faults, [kind() for kind, _ in KINDS])
    assert len(drawn) == faults


@pytest.mark.slow
def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["duckdb", "--faults", "2", "--kind", "statement fails", "--case", "first"]) == 0
    assert "statement fails" in capsys.readouterr().out


# --- the judge -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Iterator[Place]:
    place = DuckDBPlace()
    prepare(place, CASES["again"])
    yield place
    place.close()


@pytest.fixture
def duck(made: Place) -> Place:
    """With an earlier release."""
    made.restore("again")
    return made


def publish(place: Place, case: Case, **changes: Any) -> None:
    with place.connect() as engine:
        kanon_sql.anonymize(engine, spec_of(**{**case.asks, **changes})).raise_for_failure()


BREAKS: dict[str, tuple[Callable[[Place], None], str]] = {
    "the earlier release is gone": (lambda place: place.drop(RELEASE), "the earlier release is gone"),
    "a row of it is gone": (lambda place: place.execute(f"DELETE FROM {RELEASE} WHERE dx = 'd1'"), "does not give"),
    "a manifest without its release": (
        lambda place: place.execute(
            f"INSERT INTO kanon_sql_manifest SELECT '{RELEASE}', 'abc', published_at, spec_hash, manifest "
            "FROM kanon_sql_manifest"
        ),
        "the manifest speaks of a release that is not there",
    ),
    "a release without its manifest": (
        lambda place: (
            publish(place, CASES["again"]),
            place.execute("DELETE FROM kanon_sql_manifest WHERE published_at = (SELECT MAX(published_at) "
                          "FROM kanon_sql_manifest)"),
        )[0],
        "0 manifests speak of the release",
    ),
    "scratch that nothing records": (
        lambda place: place.execute("CREATE TABLE kanon_0123abcd_release (a INTEGER)"),
        "nothing records kanon_0123abcd_release",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BREAKS)
def test_the_judge_sees(duck: Place, what: str) -> None:
    broken, why = BREAKS[what]
    before = standing(duck, CASES["again"])
    broken(duck)
    assert any(why in problem for problem in examine(duck, CASES["again"], before).problems)


def test_the_judge_sees_that_the_source_was_written_to(duck: Place) -> None:
    before = standing(duck, CASES["again"])
    duck.execute("UPDATE people SET age = 21 WHERE age = 20")
    assert examine(duck, CASES["again"], before).problems == ["the source was written to"]


@pytest.mark.slow
def test_the_judge_sees_what_clean_leaves(duck: Place) -> None:
    before = standing(duck, CASES["again"])
    duck.execute("CREATE TABLE kanon_0123abcd_release (a INTEGER)")
    verdict = examine(duck, CASES["again"], before)
    recover(duck, CASES["again"], verdict, clean_first=False)
    assert "clean left kanon_0123abcd_release" in verdict.problems
    assert not verdict.recovered


def test_the_judge_knows_what_is_forgotten_where_no_row_is_deleted(duck: Place) -> None:
    """Spark: a second row takes the first one back."""
    duck.execute(
        """INSERT INTO kanon_sql_scratch VALUES ('0123abcd', '["kanon_0123abcd_raw"]', '2026-01-01'),
        ('0123abcd', '["kanon_0123abcd_release"]', '2026-01-01'), ('', '["kanon_0123abcd_raw"]', 'forgotten')"""
    )
    assert recorded(duck) == ["kanon_0123abcd_release"]


@pytest.mark.slow
def test_the_judge_knows_a_whole_release(duck: Place) -> None:
    before = standing(duck, CASES["again"])
    assert examine(duck, CASES["again"], before).state == "intact"
    publish(duck, CASES["again"])
    verdict = examine(duck, CASES["again"], before)
    assert (verdict.state, verdict.problems) == ("new", [])


@pytest.mark.parametrize("name", [name for name in CASES if name not in SEVERAL])
def test_what_a_case_may_publish(name: str) -> None:
    """By hand: classes of 8, 8, 6 and 2 by sex and decade; one row is 35 years old."""
    case = CASES[name]
    sizes = {"suppressed": 22, "masked": 24, "query": 23, "large": 24 * 500}
    nodes = {"suppressed": (0, 1), "masked": (0, 1)}
    release = case.at(nodes.get(case.name, (1, 1)))
    assert release is not None
    assert release.total() == sizes.get(case.name, 24)
    assert (case.at((0, 0)) is None) is (case.name != "large"), "every row is alone there"


def test_what_the_source_gives_by_local_recoding() -> None:
    """By hand: the two men of the thirties are too few; a man of the twenties may join them, and no true label lies."""
    case = CASES["local"]
    rows = [(sex, "[20, 30)" if age < 30 else "[30, 40)" if sex == "F" else "*", dx) for _, sex, age, dx in people()]
    released = Counter[tuple[str, ...]](("*", *row[1:]) if row[:2] == ("M", "*") else row for row in rows)
    assert not case.gives(released), "two men of the thirties are a class of two"
    young = next(row for row in released if row[:2] == ("M", "[20, 30)"))
    released[young] -= 1
    released["*", "*", young[2]] += 1
    assert case.gives(released), "with a third man who could be of any age"
    released[young] -= 1
    released["M", "[30, 40)", young[2]] += 1
    assert not case.gives(released), "and a fourth who is not in his thirties"


# --- several tables ---------------------------------------------------------------------------------

ALL_OLD_OR_NEW = {"duckdb": 6, "sqlite": 4, "postgres": 4, "mariadb": 4, "clickhouse": 2}


@pytest.mark.campaign_on("clickhouse", "mariadb", "sqlite")
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ALL_OLD_OR_NEW])
def test_several_tables_are_all_old_or_all_new(name: str) -> None:
    """Faults at the statements that publish them."""
    assert_nothing_breaks(name, ALL_OLD_OR_NEW[name], 3, [Failing(), Killed(), TwoRuns()], ("ready", "ready more"))


@pytest.mark.campaign
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ALL_OLD_OR_NEW])
def test_the_long_form_for_several_tables(name: str) -> None:
    assert_nothing_breaks(name, 300, 2, cases=SEVERAL)


@pytest.fixture(scope="module")
def ready() -> Iterator[Place]:
    place = DuckDBPlace()
    prepare(place, CASES["ready"])
    yield place
    place.close()


def test_what_three_tables_hold_at_a_node() -> None:
    """By hand: person 0 is a woman with stays in wards y1 and x1, where she got B1 and A1."""
    rows = several.expected((0, 1, 2))
    assert rows.total() == 12 + 24 + 24
    assert {row: count for row, count in rows.items() if row[-1] == "p0"} == {
        ("persons", "F", "p0"): 1,
        ("stays", "y*", "s0", "p0"): 1,
        ("stays", "x*", "s1", "p0"): 1,
        ("drugs", "*", "d0", "s0", "p0"): 1,
        ("drugs", "*", "d1", "s1", "p0"): 1,
    }


MIXED: dict[str, tuple[str, str]] = {
    "stays of another release": (
        "CREATE OR REPLACE TABLE stays AS SELECT sid, id, ward, sno FROM ready_stays WHERE node = '010'",
        "the source does not give",
    ),
    "a table is missing": ("DROP TABLE drugs", "drugs of the earlier release is gone; some tables are missing"),
    "nothing stands": ("DROP TABLE drugs; DROP TABLE stays; DROP TABLE persons", "persons of the earlier release"),
    "a row refers to nobody": ("UPDATE stays SET id = 99 WHERE sid = 1", "some tables are missing"),
}


@pytest.mark.parametrize("what", MIXED)
def test_the_judge_sees_tables_that_do_not_belong_together(ready: Place, what: str) -> None:
    ready.restore("ready")
    before = standing(ready, CASES["ready"])
    assert examine(ready, CASES["ready"], before).problems == []
    sql, why = MIXED[what]
    for statement in sql.split("; "):
        ready.execute(statement)
    problems = "; ".join(sorted(examine(ready, CASES["ready"], before).problems))
    assert why in problems


def test_the_judge_sees_tables_of_two_releases_where_one_may_be_missing(ready: Place) -> None:
    """As on ClickHouse, between two renames: of the old tables two stand, and a new one."""
    ready.restore("ready")
    before = standing(ready, CASES["ready"])
    ready.execute("CREATE OR REPLACE TABLE stays AS SELECT sid, id, ward, sno FROM ready_stays WHERE node = '010'")
    ready.execute("DROP TABLE drugs")
    assert "tables of two releases stand together" in examine(ready, CASES["ready"], before).problems


class Lying(Kind):
    """A run that drops the release that it was to replace."""

    name = "statement fails"

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        place.drop(RELEASE)
        return Struck("at once", True)


@pytest.mark.slow
def test_a_broken_promise_is_told(duck: Place) -> None:
    campaign = Campaign(duck, 1, ["again"])
    campaign.run(1, [Lying()])
    (told,) = campaign.broken
    assert told.startswith("statement fails: again, at once: the earlier release is gone")
    assert json.dumps(people()[0][0])[1:-1] not in told
