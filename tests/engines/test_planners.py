"""No statement's work grows with the square of classes, values, persons or rows, whatever a planner believes.

The tables were never analyzed, as those that a model of dbt, or a load, has just made. A quick machine changes nothing:
what is asserted is what EXPLAIN ANALYZE counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import sqlglot

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.sql import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.certify.verify_certificate import verify
from tests.servers import subject_of
from tests.support.dbt_macros import Dbt, Relation
from tests.support.planners import MANY, Watch, grown, looked_at_in, session_of, sorted_in, squares_in, watched, work_in
from tests.support.workloads import (
    COARSE,
    COMBINATIONS,
    MODELS,
    RECODINGS,
    SEARCHES,
    VERBS,
    WIDE,
    K,
    L,
    Verb,
    clear,
    fill,
    load,
    rows_of,
    spec_dict,
)

ROWS = 4_000
LARGE = 20_000
FEW = 2_000
WATCHED = ("postgres", "mariadb")
"""Where a plan says how often each step ran; what SQLite does is compared at two sizes."""
SHORT = ("two", "wide persons", "t ordered")
DIVIDED = ("local best", "kk")
CASES: dict[str, dict[str, Any]] = {**MODELS, **RECODINGS, **SEARCHES}


@pytest.fixture(scope="module")
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as found:
        yield found


def watch_of(subject: Subject, verb: Verb) -> Watch:
    """What was seen of a verb; the tables that it needs are made before anything is watched."""
    clear(subject)
    with subject.connect() as engine:
        verb.prepare(engine)
    with subject.connect() as engine, watched(engine, subject.name) as watch:
        verb.run(engine)
    return watch


@pytest.fixture(scope="module")
def small_and_large() -> Iterator[tuple[Subject, Subject]]:
    """SQLite with tables of few rows, and with four times as many."""
    with subject_of("sqlite") as small, subject_of("sqlite") as large:
        for subject, rows in ((small, FEW), (large, FEW * 4)):
            load(subject, rows)
            subject.schema("kanon_state")  # a file of its own
        yield small, large


def work_of(subject: Subject, case: str) -> tuple[dict[str, str], int]:
    """What of a run grows with a square, and what it read in all."""
    subject.drop("visits_release")
    with subject.connect() as engine, watched(engine, subject.name) as watch:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec_dict(**CASES[case])))
    return watch.squares, sum(watch.work.values())


def grown_in(small: Subject, large: Subject, verb: Verb) -> dict[str, str]:
    """What of a verb does far more than four times as much in SQLite over the larger of two tables."""
    few, many = watch_of(small, verb), watch_of(large, verb)
    assert few.work, "nothing was watched"
    return grown(few, many)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "rows", "cases"),
    [
        pytest.param("postgres", ROWS, SHORT + DIVIDED, marks=pytest.mark.xdist_group("postgres")),
        pytest.param("mariadb", FEW, SHORT[:2], marks=pytest.mark.xdist_group("mariadb")),
    ],
    indirect=["subject"],
)
def test_no_statement_compares_each_with_each(subject: Subject, rows: int, cases: tuple[str, ...]) -> None:
    load(subject, rows)
    assert {case: squares for case in cases if (squares := work_of(subject, case)[0])} == {}


def square_of_verb(subject: Subject, verb: Verb) -> dict[str, str]:
    """What of a verb grows with a square."""
    watch = watch_of(subject, verb)
    assert watch.work, "nothing was explained"
    return watch.squares


@pytest.mark.slow
@pytest.mark.xdist_group("sqlite")
@pytest.mark.parametrize("case", ["model: risk", "model: wide"])
@pytest.mark.campaign_on("model: risk")
def test_sqlite_makes_an_index_of_what_it_joins(small_and_large: tuple[Subject, Subject], case: str) -> None:
    """It expects a row or two of what is grouped, and would read all of a table for each of thousands."""
    assert grown_in(*small_and_large, COMBINATIONS[case]) == {}


MORE_ROUNDS = ("recoding: subtree ranges",)
"""Runs of which each round does what it should, and that take many more rounds where a column has more values."""


@pytest.mark.campaign
@pytest.mark.xdist_group("sqlite")
@pytest.mark.parametrize("case", COMBINATIONS)
def test_nothing_in_sqlite_grows_with_a_square(small_and_large: tuple[Subject, Subject], case: str) -> None:
    found = grown_in(*small_and_large, COMBINATIONS[case])
    assert {name: what for name, what in found.items() if (name, case) not in product(["run"], MORE_ROUNDS)} == {}


EACH_WITH_EACH = "SELECT COUNT(*) FROM visits AS one JOIN visits AS other ON one.birth + other.birth = 3"


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("postgres", "mariadb")],
    indirect=True,
)
def test_what_compares_each_with_each_is_seen(subject: Subject) -> None:
    load(subject, FEW)
    with session_of(subject) as session:
        session.execute(EACH_WITH_EACH)
    assert list(session.watch.squares) == [EACH_WITH_EACH]
    assert sum(session.watch.work.values()) > FEW


@pytest.mark.slow
@pytest.mark.xdist_group("sqlite")
def test_what_compares_each_with_each_is_seen_in_sqlite(small_and_large: tuple[Subject, Subject]) -> None:
    seen = []
    for subject in small_and_large:
        with session_of(subject) as session:
            session.execute(EACH_WITH_EACH)
        seen.append(session.watch)
    assert list(grown(seen[0], seen[1])) == [EACH_WITH_EACH, "run"]


@pytest.mark.parametrize("subject", [pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb"))], indirect=True)
def test_mariadb_joins_by_a_key_of_all_columns(subject: Subject) -> None:
    """It makes a key for each set of tables whose columns another is joined by, and uses one of them."""
    subject.table("held", {"a": "integer", "b": "integer"}, [(n % 3, n) for n in range(300)])
    subject.table("other", {"b": "integer", "c": "integer"}, [(n, n % 5) for n in range(300)])
    subject.table("found", {"a": "integer", "c": "integer", "n": "integer"}, [(n % 3, n % 5, n) for n in range(300)])
    query = (
        "SELECT COUNT(*) FROM (SELECT held.a AS a, other.c AS c FROM held JOIN other ON held.b = other.b) AS paired "
        "JOIN found ON paired.a = found.a AND paired.c = found.c"
    )
    sent = subject.dialect.sql(sqlglot.parse_one(query, read="duckdb"))
    assert subject.fetch(sent) == [(300 * 20,)]
    ((plan,),) = subject.fetch(f"EXPLAIN FORMAT=JSON {sent}")
    assert '["a", "c"]' in re.sub(r"\s+", " ", plan), "both columns are in the key that is used"


@pytest.mark.parametrize("subject", [pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb"))], indirect=True)
def test_mariadb_joins_by_a_digest_of_each_text(subject: Subject) -> None:
    """Of one text alone, which may have two values, it would compare a quarter of all pairs."""
    rows = [(f"b{number}", "FM"[number % 2]) for number in range(300)]
    for name in ("held", "other"):
        subject.table(name, {"birth": "text", "sex": "text"}, rows)
    for names in (("birth", "sex"), ("sex", "birth")):
        same = " AND ".join(
            f'CAST(held.{name} AS VARCHAR) COLLATE "binary" = CAST(other.{name} AS VARCHAR) COLLATE "binary"'
            for name in names
        )
        query = f"SELECT COUNT(*) FROM held JOIN other ON {same}"
        sent = subject.dialect.sql(sqlglot.parse_one(query, read="duckdb"))
        assert subject.fetch(sent) == [(300,)]
        ((plan,),) = subject.fetch(f"ANALYZE FORMAT=JSON {sent}")
        assert max(looked_at_in(plan)) <= 2, "rows of a step for each row before it"


@pytest.mark.parametrize("subject", [pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb"))], indirect=True)
@pytest.mark.parametrize(
    "joined",
    [
        "other", "(SELECT b AS b, c AS c FROM other)", "(SELECT DISTINCT b, c FROM other)",
        "(SELECT one.b, two.c FROM other AS one JOIN (SELECT b, c, RANK() OVER (ORDER BY c) AS r FROM other) AS two "
        "ON one.b = two.b)",
    ],
)  # fmt: skip
def test_mariadb_joins_queries_by_a_key(subject: Subject, joined: str) -> None:
    """One that is merged into the query around it has none: each row would be looked at beside each row."""
    for name in ("held", "other"):
        subject.table(name, {"b": "integer", "c": "integer"}, [(n, n % 5) for n in range(300)])
    query = f"SELECT COUNT(*), SUM(found.c) FROM held LEFT JOIN {joined} AS found ON held.b + 1 = found.b"
    sent = subject.dialect.sql(sqlglot.parse_one(query, read="duckdb"))
    assert subject.fetch(sent) == [(300, sum(n % 5 for n in range(1, 300)))]
    ((plan,),) = subject.fetch(f"ANALYZE FORMAT=JSON {sent}")
    assert max(looked_at_in(plan)) <= 2, "rows of a step for each row before it"


@pytest.mark.parametrize("subject", [pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb"))], indirect=True)
def test_mariadb_finds_the_child_of_a_vector_by_a_key(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a class that is cut into thousands, each vector would be compared with all children."""
    load(subject, 300)
    plans: list[str] = []
    with subject.connect() as engine:
        execute = type(engine).execute

        def looked_at(self: Any, statement: Statement) -> None:
            if statement.name == "recode/moved":
                query = statement.sql.partition(" AS ")[2]
                plans.append(self._rows(f"EXPLAIN FORMAT=JSON {query}", 1)[0][0])
            execute(self, statement)

        monkeypatch.setattr(type(engine), "execute", looked_at)
        kanon_sql.plan(engine, kanon_sql.Spec.from_dict(spec_dict(recoding="local")))
    assert plans
    assert all('["part", "child"]' in re.sub(r"\s+", " ", plan) for plan in plans), "both columns are in the key"


@pytest.mark.parametrize(
    "subject",
    [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("mariadb", "sqlite")],
    indirect=True,
)
def test_what_rows_are_looked_up_by_is_only_what_all_of_them_must_have(subject: Subject) -> None:
    """Where one of two equalities is enough, neither is a key."""
    rows = {
        "held": [("a", "F", 1), ("b", "M", 2), (None, "F", 3)],
        "other": [("a", "M", 4), ("b", "F", 1), ("c", "M", 2), (None, None, 3)],
    }
    for name, kept in rows.items():
        subject.table(name, {"birth": "text", "sex": "text", "place": "integer"}, kept)
    conditions: list[tuple[str, Callable[[Any, Any], bool]]] = [
        ("{birth} OR held.place + 0 = other.place", lambda one, two: alike(one[0], two[0]) or one[2] == two[2]),
        ("({birth} OR {sex}) AND held.place < other.place",
         lambda one, two: (alike(one[0], two[0]) or alike(one[1], two[1])) and one[2] < two[2]),
        ("{sex} AND held.place + 0 = other.place", lambda one, two: alike(one[1], two[1]) and one[2] == two[2]),
        ("{sex} AND {birth}", lambda one, two: alike(one[1], two[1]) and alike(one[0], two[0])),
    ]  # fmt: skip
    same = {
        name: f'CAST(held.{name} AS VARCHAR) COLLATE "binary" = CAST(other.{name} AS VARCHAR) COLLATE "binary"'
        for name in ("birth", "sex")
    }
    for condition, holds in conditions:
        query = f"SELECT COUNT(*) FROM held JOIN other ON {condition.format(**same)}"
        sent = subject.dialect.sql(sqlglot.parse_one(query, read="duckdb"))
        expected = sum(holds(one, two) for one, two in product(rows["held"], rows["other"]))
        assert subject.fetch(sent) == [(expected,)], condition


def alike(one: str | None, two: str | None) -> bool:
    return one is not None and one == two


@pytest.mark.parametrize(
    "subject",
    [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("mariadb", "sqlite")],
    indirect=True,
)
def test_codes_of_62_bits_are_joined_exactly(subject: Subject) -> None:
    """As floating-point numbers, hundreds of them would be one."""
    codes = [2**61 + number for number in range(40)]
    for name in ("held", "other"):
        subject.drop(name)
        subject.execute(f"CREATE TABLE {name} (code BIGINT)")
        subject.execute(f"INSERT INTO {name} VALUES " + ", ".join(f"({code})" for code in codes))
    for joined in ("other", "(SELECT DISTINCT code + 0 AS code FROM other)", "(SELECT code + 0 AS code FROM other)"):
        query = f"SELECT COUNT(*) FROM held JOIN {joined} AS other ON CAST(held.code + 0 AS BIGINT) = other.code"
        sent = subject.dialect.sql(sqlglot.parse_one(query, read="duckdb"))
        assert subject.fetch(sent) == [(40,)], joined


QUICK = ("check ck", "check k map", "certify l", "refresh of persons", "view")
"""Verbs of which each takes a second or a few."""
QUICK_THERE = ("check presence", "check risk", "risk in a population", "tabulate sums")
"""On PostgreSQL alone."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "cases"),
    [
        pytest.param("postgres", QUICK + QUICK_THERE, marks=pytest.mark.xdist_group("postgres")),
        pytest.param("mariadb", QUICK[3:], marks=pytest.mark.xdist_group("mariadb")),
    ],
    indirect=["subject"],
)
def test_no_statement_of_a_verb_compares_each_with_each(subject: Subject, cases: tuple[str, ...]) -> None:
    load(subject, FEW)
    assert {case: squares for case in cases if (squares := square_of_verb(subject, VERBS[case]))} == {}


@pytest.mark.campaign
@pytest.mark.parametrize("case", VERBS)
@pytest.mark.parametrize(
    "subject", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in WATCHED], indirect=True
)
def test_no_verb_compares_each_with_each(subject: Subject, case: str) -> None:
    clear(subject)
    load(subject, ROWS)
    assert square_of_verb(subject, VERBS[case]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("case", ["wide persons", "t ordered"])
@pytest.mark.parametrize("subject", [pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb"))], indirect=True)
@pytest.mark.campaign_on("t ordered")
def test_mariadb_reads_four_times_as_much_of_four_times_the_rows(subject: Subject, case: str) -> None:
    found = []
    for rows in (500, 2_000):
        load(subject, rows)
        found.append(work_of(subject, case)[1])
    assert found[1] <= 6 * found[0]


@pytest.mark.parametrize("subject", [pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb"))], indirect=True)
def test_mariadb_takes_the_least_and_the_largest_of_a_window_by_sorting(subject: Subject) -> None:
    """MIN and MAX over a window read all of it for each of its rows: a million rows of a thousand."""
    values = {"a": [None, 3, 1, 3], "b": [None, None], "c": [-2], None: [0, 5]}
    rows = [(key, value) for key, held in values.items() for value in held]
    subject.drop("held")
    subject.table("held", {"key_text": "text", "amount": "integer"}, rows)
    query = (
        "SELECT key_text, amount, MIN(amount) OVER (PARTITION BY key_text) AS least, "
        "MAX(amount) OVER (PARTITION BY key_text) AS most, MAX(amount) OVER () AS largest FROM held"
    )
    sent = subject.dialect.sql(sqlglot.parse_one(query, read="duckdb"))
    assert "FIRST_VALUE" in sent
    assert "MIN(" not in sent
    assert "MAX(" not in sent
    expected = []
    for key, amount in rows:
        there = [value for value in values[key] if value is not None]
        expected.append((key, amount, min(there, default=None), max(there, default=None), 5))
    assert sorted(subject.fetch(sent), key=str) == sorted(expected, key=str)


SCRIPTS = ("l persons", "wide persons", "two")
WRITTEN = [*SCRIPTS, *(pytest.param(case, marks=pytest.mark.campaign) for case in MODELS if case not in SCRIPTS)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    [
        pytest.param("postgres", marks=pytest.mark.xdist_group("postgres")),
        pytest.param("mariadb", marks=[pytest.mark.xdist_group("mariadb"), pytest.mark.campaign]),
    ],
    indirect=True,
)
@pytest.mark.parametrize("case", WRITTEN)
def test_a_script_ends_in_a_session_that_was_told_nothing(subject: Subject, case: str) -> None:
    """What ``render`` prints is run by others, whose planner joins as it likes."""
    load(subject, ROWS if subject.name == "postgres" else FEW)
    spec = kanon_sql.Spec.from_dict(spec_dict(**CASES[case]))
    try:
        kanon_sql.render(spec, subject.dialect.name)
    except (SpecError, UnsupportedError) as error:  # without a database no column is known to be of whole numbers
        pytest.skip(str(error))
    for name in ("visits_release", "kanon_run_release"):  # of the case before, where a script has no transaction
        subject.drop(name)
    done = []
    with session_of(subject) as session:
        for statement in kanon_sql.render(spec, subject.dialect.name, {"birth": 2, "zip": 3, "sex": 0}).statements:
            session.execute(statement.sql, statement.name)
            done.append(statement.name)
    assert session.watch.squares == {}
    assert "evaluate/achieved" in done


CERTIFIED: dict[str, dict[str, Any]] = {
    "l": {"privacy": [K, L], "quasi_identifiers": COARSE},
    "t persons": {**MODELS["t persons"], "quasi_identifiers": COARSE},
    "local": {"recoding": "local"},
}
READ: dict[str, dict[str, Any]] = {
    "l": {"privacy": [K, L]},
    "persons": {"privacy": [K], "unit": "person"},
    "wide": {"sensitive": ["detail"], "privacy": [K, WIDE]},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    [
        pytest.param("postgres", marks=pytest.mark.xdist_group("postgres")),
        pytest.param("mariadb", marks=[pytest.mark.xdist_group("mariadb"), pytest.mark.campaign]),
    ],
    indirect=True,
)
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case == "local" else pytest.mark.campaign) for case in CERTIFIED]
)
def test_an_auditor_runs_a_certificate_in_a_session_of_their_own(subject: Subject, case: str, tmp_path: Path) -> None:
    clear(subject)
    load(subject, FEW)
    spec = kanon_sql.Spec.from_dict(spec_dict(**CERTIFIED[case]))
    with subject.connect() as engine:
        kanon_sql.anonymize(engine, spec)
        found = kanon_sql.certify(engine, spec, tmp_path)
    assert found.passed, found.problems
    said: list[str] = []
    with session_of(subject) as session:
        assert verify(tmp_path, session, say=said.append), said
    assert session.watch.squares == {}
    assert len(session.watch.work) > len(found.content["claims"]) / 2, "its statements are looked at"


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    [
        pytest.param("postgres", marks=pytest.mark.xdist_group("postgres")),
        pytest.param("mariadb", marks=[pytest.mark.xdist_group("mariadb"), pytest.mark.campaign]),
    ],
    indirect=True,
)
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case == "persons" else pytest.mark.campaign) for case in READ]
)
def test_a_guarded_view_is_read_without_comparing_each_with_each(subject: Subject, case: str) -> None:
    clear(subject)
    load(subject, ROWS if subject.name == "postgres" else FEW)
    view = {"view": "visits_view", "accept_sequence_risk": True}
    spec = kanon_sql.Spec.from_dict(spec_dict(release=view, quasi_identifiers=COARSE, **READ[case]))
    with subject.connect() as engine:
        assert kanon_sql.anonymize(engine, spec).passed
    with session_of(subject) as session:
        session.execute("SELECT * FROM visits_view")
        assert len(session.fetchall()) > MANY
        session.execute("SELECT sex, COUNT(*) FROM visits_view GROUP BY sex")
    assert session.watch.squares == {}
    (rows, grouped) = session.watch.work.values()
    assert rows > MANY
    assert grouped > MANY


@pytest.mark.campaign
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "subject", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in WATCHED], indirect=True
)
def test_four_times_the_rows_are_about_four_times_the_work(subject: Subject, case: str) -> None:
    found = []
    for rows in (LARGE, 4 * LARGE):
        load(subject, rows)
        squares, work = work_of(subject, case)
        assert squares == {}
        found.append(work)
    assert found[1] <= 6 * found[0]


LABELLED = (
    "CREATE TABLE labelled AS SELECT CAST(birth / 100 AS TEXT) AS birth, LEFT(zip, 2) AS zip, sex, person, diagnosis, "
    "CASE WHEN amount < 0 THEN 'nulls: suppress' END AS kanon_left_out FROM visits"
)
CANDIDATES: list[tuple[list[dict[str, Any]], str | None]] = [
    ([{"k_anonymity": {"k": 5}}, {"l_diversity": {"attribute": "diagnosis", "l": 3}}], "person"),
    ([{"k_anonymity": {"k": 5}}, {"l_diversity": {"attribute": "diagnosis", "l": 3}}], None),
    ([{"k_anonymity": {"k": 5}}, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}], "person"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_a_candidate_of_dbt_looks_through_the_classes_once(subject: Subject) -> None:
    """The table of its labels is new: nothing is known of its NULLs, nor how many classes satisfy."""
    clear(subject)
    subject.drop("visits")
    fill(subject, "visits", rows_of(LARGE))
    subject.drop("labelled")
    subject.execute(LABELLED)
    columns = [
        *((name, "text") for name in ("birth", "zip", "sex", "diagnosis", "kanon_left_out")),
        ("person", "integer"),
    ]
    dbt = Dbt("postgres", lambda _: columns)
    known = ["birth", "zip", "sex"]
    for analyzed in (False, True):
        if analyzed:
            subject.execute("ANALYZE labelled")
        for requirements, unit in CANDIDATES:
            sql = dbt.candidate(Relation("labelled"), [*known, "diagnosis"], known, requirements, unit)
            assert work_in(subject.fetch, sql) < 60 * LARGE
        judged = dbt.classes(Relation("labelled"), known, {"k_anonymity": {"k": 5}}, "person")
        assert sorted_in(subject.fetch, judged) < MANY, "persons are counted without a sort of all rows"


WATCHING = """
CREATE FUNCTION planned_as_the_server_does() RETURNS BOOLEAN LANGUAGE plpgsql STABLE AS $$ BEGIN
    IF current_setting('enable_nestloop') <> 'on' OR current_setting('enable_mergejoin') <> 'on'
        OR current_setting('join_collapse_limit') = '1' THEN
        RAISE EXCEPTION 'read under the settings of a run';
    END IF;
    RETURN TRUE;
END $$
"""
VIEWS: dict[str, dict[str, Any]] = {
    "plain": {"privacy": [K, L]},
    "persons": {"unit": "person", "privacy": [K, L]},
    "local": {"recoding": "local"},
    "population": {"privacy": [K, {"delta_presence": {"population": "seen_census", "delta_max": 0.9}}]},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
@pytest.mark.parametrize("case", VIEWS)
def test_a_view_of_a_user_is_read_as_the_server_plans_it(subject: Subject, case: str) -> None:
    """It may join by keys, and in another order than it is written."""
    subject.execute("DROP TABLE IF EXISTS visits_release")
    subject.execute("DROP FUNCTION IF EXISTS planned_as_the_server_does CASCADE")
    load(subject, 400)
    subject.execute(WATCHING)
    for name in ("visits", "census"):
        subject.execute(f"CREATE VIEW seen_{name} AS SELECT * FROM {name} WHERE planned_as_the_server_does()")
    spec = kanon_sql.Spec.from_dict(spec_dict(source="seen_visits", **VIEWS[case]))
    settings = "SELECT current_setting('enable_nestloop'), current_setting('join_collapse_limit')"
    read = Statement("read", 'SELECT COUNT(*) FROM "seen_visits" AS kanon_source', 1)
    ours = Statement("ours", settings)
    with subject.connect() as engine:
        assert kanon_sql.anonymize(engine, spec).passed
        kanon_sql.check(engine, spec, "seen_visits")
        with engine.transaction():
            for _ in range(2):
                assert engine.fetch(read, 1) == [(400,)]
                assert engine.fetch(ours, 1) == [("off", "1")]
            engine.fetch(read, 1)
        assert engine.fetch(ours, 1) == [("off", "1")]
    subject.execute("DROP FUNCTION planned_as_the_server_does CASCADE")


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_no_generic_test_of_dbt_compares_each_with_each(subject: Subject) -> None:
    """Over a table without statistics: nearly each row is a class, and has a sensitive value of its own."""
    clear(subject)
    load(subject, ROWS)
    known = ["birth", "zip", "sex"]
    columns = [("birth", "integer"), ("zip", "text"), ("sex", "text"), ("detail", "text"), ("person", "integer")]
    dbt, visits = Dbt("postgres", lambda _: columns), Relation("visits")
    squares = {}
    for unit in (None, "person"):
        held: dict[str, Any] = {"quasi_identifiers": known, "unit": unit}
        for name, asked in {
            "k_anonymity": {"k": 5},
            "l_diversity": {"l": 3, "attribute": "detail"},
            "t_closeness": {"t": 0.5, "attribute": "detail", "reference": visits},
        }.items():
            sql = dbt.test(name, visits, **held, **asked)
            assert len(subject.fetch(sql)) > MANY, "nearly all classes violate it"
            if found := squares_in(subject.fetch, sql):
                squares[name, unit] = found
    assert squares == {}
