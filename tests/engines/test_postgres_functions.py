"""Functions and operators of somebody's in PostgreSQL: none counts in the server's place, writes, or tells a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import DatabaseError, KanonError, SpecError, UnsupportedError
from kanon_sql.testing import Subject
from tests.servers import subject_of

pytestmark = pytest.mark.xdist_group("postgres")

ROWS = [("a", "x"), ("a", "y"), ("a", "x"), ("b", "x")]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Subject]:
    with subject_of("postgres") as made:
        made.table("people", {"q": "text", "s": "text"}, ROWS)
        yield made


def spec(**changes: Any) -> kanon_sql.Spec:
    given = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": None}, "sensitive": ["s"],
        "privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 0.5},
    }  # fmt: skip
    return kanon_sql.Spec.from_dict({**given, **changes})


def released(given: kanon_sql.Spec) -> kanon_sql.Spec:
    return given.model_copy(update={"release": ("released",)})


@contextmanager
def made(postgres: Subject, *statements: str) -> Iterator[None]:
    """Statements that make something, each with how it is dropped after ``--``."""
    parts = [statement.split(" -- ") for statement in statements]
    drops: list[str] = []
    try:
        for create, drop in parts:
            postgres.execute(create)
            drops.append(drop)
        yield
    finally:
        for drop in reversed(drops):
            postgres.execute(f"DROP {drop}")


def compares(operator: str, left: str, right: str, answer: str = "true") -> list[str]:
    """An operator that always gives one answer."""
    lies = "lies_" + "_".join(str(ord(sign)) for sign in operator)
    return [
        f"CREATE FUNCTION public.{lies}({left}, {right}) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT {answer}'"
        f" -- FUNCTION public.{lies}({left}, {right})",
        f"CREATE OPERATOR public.{operator} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.{lies})"
        f" -- OPERATOR public.{operator} ({left}, {right})",
    ]


def returns(name: str, arguments: str, kind: str, answer: str) -> list[str]:
    return [
        f"CREATE FUNCTION public.{name}({arguments}) RETURNS {kind} IMMUTABLE LANGUAGE sql AS 'SELECT {answer}'"
        f" -- FUNCTION public.{name}({arguments})"
    ]


NEARER = [
    pytest.param(compares(">=", "double precision", "numeric"), id="entropy"),
    pytest.param(compares("<=", "double precision", "numeric"), id="t"),
    pytest.param(compares(">=", "numeric", "integer"), id="k"),
    pytest.param(returns("ln", "bigint", "double precision", "0.0::double precision"), id="ln"),
    pytest.param(compares("<", "bigint", "numeric", "false"), id="less"),
    pytest.param(compares("=", "bigint", "numeric"), id="equal"),
    pytest.param(returns("floor", "bigint", "bigint", "7::bigint"), id="floor"),
    pytest.param(
        [
            "CREATE DOMAIN public.whole AS numeric -- DOMAIN public.whole",
            *compares("=", "public.whole", "public.whole"),
        ],
        id="domain",
    ),
]  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("statements", NEARER)
def test_what_fits_better_than_postgresqls_own_is_refused(postgres: Subject, statements: list[str]) -> None:
    """With each the verdict would be another one, though pg_catalog is first in the path."""
    with made(postgres, *statements), closing(postgres.connect()) as engine:
        for verb in VERBS.values():
            with pytest.raises(UnsupportedError, match=r"public\..*\(.*search_path without the schema public"):
                verb(engine, spec())
    with closing(postgres.connect()) as engine:
        assert not kanon_sql.check(engine, spec(), "people").passed


@pytest.mark.parametrize("statements", NEARER)
def test_a_path_without_the_schema_is_accepted(postgres: Subject, statements: list[str]) -> None:
    """The message says what to do; done, the verdict is the true one: b stands alone."""
    options = "?options=-csearch_path%3Delsewhere"
    schema = "CREATE SCHEMA elsewhere -- SCHEMA elsewhere"
    with made(postgres, schema, *statements), kanon_sql.connect(f"{with_options(postgres, options)}") as engine:
        (found,) = kanon_sql.check(engine, spec(source="public.people"), "public.people").achieved.values()
        assert (found["k"], found["violating_rows"]) == (1, 1)


def with_options(postgres: Any, options: str) -> str:
    url = str(postgres.url)
    return f"{url}&{options[1:]}" if "?" in url else f"{url}{options}"


def test_what_stands_beside_postgresqls_own_is_refused(postgres: Subject) -> None:
    """A superuser can put a function into pg_catalog."""
    (statement,) = returns("ln", "bigint", "double precision", "0.0::double precision")
    with (
        made(postgres, statement.replace("public.", "pg_catalog.")),
        closing(postgres.connect()) as engine,
        pytest.raises(UnsupportedError, match=r"pg_catalog\.ln\(bigint\)"),
    ):
        kanon_sql.check(engine, spec(), "people")


OVER_OWN_TYPES = [
    "CREATE TYPE public.mood AS ENUM ('calm', 'wild') -- TYPE public.mood",
    *compares("=", "public.mood", "public.mood"),
    *compares("%", "text", "text"),
    *compares("&", "integer[]", "integer[]"),
    *compares("=", "text", "text"),
    *compares("&", "bigint", "bigint"),
    "CREATE AGGREGATE public.count(*) (sfunc = int8inc, stype = bigint, initcond = '1000')"
    " -- AGGREGATE public.count(*)",
    "CREATE AGGREGATE public.min(uuid) (sfunc = uuid_of, stype = uuid) -- AGGREGATE public.min(uuid)",
]
"""What extensions such as citext, pg_trgm and intarray bring, and what the same in pg_catalog hides."""


def test_what_cannot_be_called_in_their_place_is_no_hindrance(postgres: Subject) -> None:
    least = "CREATE FUNCTION public.uuid_of(uuid, uuid) RETURNS uuid IMMUTABLE LANGUAGE sql AS 'SELECT $1'"
    uuids = f"{least} -- FUNCTION public.uuid_of(uuid, uuid)"
    with made(postgres, uuids, *OVER_OWN_TYPES), closing(postgres.connect()) as engine:
        (found,) = kanon_sql.check(engine, spec(), "people").achieved.values()
        assert (found["k"], found["violating_rows"]) == (1, 1)
        assert kanon_sql.anonymize(engine, released(spec())).rows == {"source": 4, "released": 3, "suppressed": 1}
    postgres.drop("released")


def test_what_is_made_during_a_run_is_refused_before_it_publishes(postgres: Subject) -> None:
    statements = compares(">=", "numeric", "integer")
    left = [statement.split(" -- ")[0] for statement in statements]

    def report(stage: str, nodes: int | None = None) -> None:
        while left and "search" in stage:
            postgres.execute(left.pop(0))

    try:
        with closing(postgres.connect()) as engine, pytest.raises(UnsupportedError, match="the schema public"):
            kanon_sql.anonymize(engine, released(spec()), report=report)
        assert not left
        assert "released" not in postgres.tables()  # type: ignore[attr-defined]
    finally:
        for statement in reversed(statements):
            postgres.execute(f"DROP {statement.split(' -- ')[1]}")


@pytest.mark.parametrize("name", ["text", "date"])
def test_temporary_types_under_postgresqls_names_are_refused(postgres: Any, name: str) -> None:
    with postgres._engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE TEMPORARY TABLE {name} (a integer)")
        connection.commit()
        with closing(kanon_sql.connect(connection)) as engine, pytest.raises(UnsupportedError, match=rf"\({name}\)"):
            kanon_sql.check(engine, spec(), "people")


def test_casts_between_postgresqls_types_are_refused(postgres: Subject) -> None:
    with (
        made(
            postgres,
            "CREATE FUNCTION public.same(text) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1'"
            " -- FUNCTION same(text)",
            "CREATE CAST (text AS integer) WITH FUNCTION public.same(text) AS IMPLICIT -- CAST (text AS integer)",
        ),
        closing(postgres.connect()) as engine,
        pytest.raises(UnsupportedError, match="text to integer"),
    ):
        kanon_sql.check(engine, spec(), "people")


def test_a_type_whose_text_its_owner_makes_is_refused(postgres: Subject) -> None:
    """Both moods have one text, so that two classes of one would be one of two."""
    with (
        made(
            postgres,
            "CREATE TYPE mood AS ENUM ('calm', 'wild') -- TYPE mood",
            "CREATE FUNCTION hidden(mood) RETURNS varchar IMMUTABLE LANGUAGE sql AS $$SELECT 'mood'::varchar$$"
            " -- FUNCTION hidden(mood)",
            "CREATE CAST (mood AS varchar) WITH FUNCTION hidden(mood) -- CAST (mood AS varchar)",
            "CREATE TABLE felt AS SELECT 'calm'::mood AS q, 'x' AS s UNION ALL SELECT 'wild', 'y' -- TABLE felt",
        ),
        closing(postgres.connect()) as engine,
        pytest.raises(UnsupportedError, match="may have the same text"),
    ):
        kanon_sql.check(engine, spec(), "felt")


# --- Source queries that change something ---

WRITES = "BEGIN INSERT INTO public.noted VALUES (1); RETURN x; END"
EFFECTS = {
    "function": ("SELECT q, s FROM people WHERE noting(1) = 1", "noting"),
    "in a view": ("SELECT q, s FROM noting_view", "noting"),
    "nextval": ("SELECT q, s FROM people WHERE nextval('numbers') > 0", "nextval"),
    "setval": ("SELECT q, s FROM people WHERE setval('numbers', 7) > 0", "setval"),
    "large object": ("SELECT q, s FROM people WHERE lo_from_bytea(0, '\\x61') > 0", "lo_from_bytea"),
    "operator": ("SELECT q, s FROM people WHERE 1 && 2", "noting"),
    "aggregate": ("SELECT q, s FROM people WHERE 1 <> (SELECT noted_sum(1) FROM people)", "noting"),
    "in FROM": ("SELECT q, s FROM people CROSS JOIN noting(1)", "noting"),
    "read file": ("SELECT q, s FROM people WHERE pg_ls_dir('.') IS NULL", "pg_ls_dir"),
    "other rows each time": ("SELECT q, s FROM people WHERE random() < 0.5", "random"),
}


@pytest.fixture
def noting(postgres: Subject) -> Iterator[None]:
    both = "(x integer, y integer)"
    with made(
        postgres,
        "CREATE TABLE noted (a integer) -- TABLE noted",
        "CREATE SEQUENCE numbers -- SEQUENCE numbers",
        f"CREATE FUNCTION noting(x integer) RETURNS integer LANGUAGE plpgsql AS '{WRITES}' -- FUNCTION noting(integer)",
        f"CREATE FUNCTION noting2{both} RETURNS boolean LANGUAGE plpgsql AS"
        " 'BEGIN INSERT INTO public.noted VALUES (1); RETURN true; END' -- FUNCTION noting2(integer, integer)",
        f"CREATE FUNCTION noting3{both} RETURNS integer LANGUAGE plpgsql AS '{WRITES}'"
        " -- FUNCTION noting3(integer, integer)",
        "CREATE OPERATOR && (LEFTARG = integer, RIGHTARG = integer, FUNCTION = noting2)"
        " -- OPERATOR && (integer, integer)",
        "CREATE AGGREGATE noted_sum(integer) (sfunc = noting3, stype = integer) -- AGGREGATE noted_sum(integer)",
        "CREATE VIEW noting_deep AS SELECT noting(1) AS n -- VIEW noting_deep",
        "CREATE VIEW noting_view AS SELECT people.* FROM people CROSS JOIN noting_deep -- VIEW noting_view",
    ):
        yield


VERBS: dict[str, Callable[[Engine, kanon_sql.Spec], object]] = {
    "plan": kanon_sql.plan,
    "anonymize": lambda engine, given: kanon_sql.anonymize(engine, released(given)),
    "check": lambda engine, given: kanon_sql.check(engine, given, "people"),
    "compare": lambda engine, given: kanon_sql.compare(engine, {"a": given}, [2, 3]),
    "hierarchy": lambda engine, given: kanon_sql.hierarchy(engine, given, ["q"]),
    "risk": kanon_sql.risk,
}


@pytest.mark.parametrize("scratch", [None, "inline"])
@pytest.mark.parametrize("case", EFFECTS)
def test_a_query_that_changes_something_is_refused(
    postgres: Subject, noting: None, case: str, scratch: str | None
) -> None:
    query, name = EFFECTS[case]
    given = spec(source={"query": query})
    with closing(postgres.connect(scratch=scratch)) as engine:
        for verb in VERBS.values():
            with pytest.raises(SpecError, match=f"it calls .*{name}.* VOLATILE"):
                verb(engine, given)
    assert postgres.rows("noted") == []
    assert postgres.fetch("SELECT is_called FROM numbers") == [(False,)]


@pytest.mark.parametrize("scratch", ["temp", "inline"])
def test_a_function_that_lies_about_itself_writes_nothing(postgres: Subject, noting: None, scratch: str) -> None:
    """One that says that it is IMMUTABLE can call another one that writes; the transaction is read-only."""
    lie = "CREATE FUNCTION quiet(x text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS"
    body = "'BEGIN PERFORM noting(1); RETURN x; END' -- FUNCTION quiet(text)"
    with made(postgres, f"{lie} {body}"), closing(postgres.connect(scratch=scratch)) as engine:
        for name in ("plan", "compare", "hierarchy", "risk"):
            with pytest.raises(DatabaseError, match="ReadOnlySqlTransaction"):
                VERBS[name](engine, spec(source={"query": "SELECT quiet(q) AS q, s FROM people"}))
    assert postgres.rows("noted") == []


def test_a_session_may_write_again_after_a_run(postgres: Any) -> None:
    with postgres._engine.connect() as connection, closing(kanon_sql.connect(connection)) as engine:
        assert kanon_sql.plan(engine, spec(source={"query": "SELECT q, s FROM people"})).passed
        assert connection.exec_driver_sql("SHOW default_transaction_read_only").scalar() == "off"


# --- Errors of functions ---

STATES = ("42501", "42P01", "42703", "42883", "3F000", "25006", "2BP01", "3D000", "42804", "22023", "P0001", "57014")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("state", STATES)
def test_what_a_function_raises_is_not_passed_on(postgres: Subject, state: str) -> None:
    """Whatever SQLSTATE it says, with the value alone or in the server's own words."""
    for number, text in enumerate(("%", 'relation "%" does not exist', "permission denied for table %")):
        body = f"BEGIN RAISE EXCEPTION ''{text}'', x USING ERRCODE = ''{state}''; END"
        with made(
            postgres,
            f"CREATE FUNCTION tells(x text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS '{body}'"
            " -- FUNCTION tells(text)",
            f"CREATE TABLE named{number} AS SELECT 'Ada Planted'::text AS q, 'x'::text AS s -- TABLE named{number}",
        ):
            silent(postgres, f"SELECT tells(q) AS q, s FROM named{number}")


@pytest.mark.parametrize(
    "expression",
    ["q::regclass::text", "q::regtype::text", "q::regrole::text", "has_table_privilege(q, 'select')::text",
     "q::xid::text", "q::date::text", "to_char(q::numeric, '9')", "convert_from(decode(q, 'hex'), 'UTF8')"],
)  # fmt: skip
def test_a_value_that_is_no_name_is_not_passed_on(postgres: Subject, expression: str) -> None:
    """The server composes these by itself, of the value."""
    with made(postgres, "CREATE TABLE named AS SELECT 'Planted'::text AS q, 'x'::text AS s -- TABLE named"):
        silent(postgres, f"SELECT {expression} AS q, s FROM named")


def silent(postgres: Subject, query: str) -> None:
    with closing(postgres.connect()) as engine:
        for verb in (kanon_sql.plan, kanon_sql.risk):
            with pytest.raises(KanonError) as caught:
                verb(engine, spec(source={"query": query}))  # type: ignore[operator]
            assert "Planted" not in str(caught.value)
            assert "Ada" not in str(caught.value)
            assert caught.value.__cause__ is None


def test_what_the_server_says_of_names_is_passed_on(postgres: Subject) -> None:
    with closing(postgres.connect()) as engine:
        for query, said in (
            ("SELECT nothing FROM people", 'column "nothing" does not exist'),
            ("SELECT q FROM nowhere", 'relation "nowhere" does not exist'),
            ("SELECT absent(q) AS q FROM people", "function absent(character varying) does not exist"),
        ):
            with pytest.raises(DatabaseError) as caught:
                kanon_sql.plan(engine, spec(source={"query": query}))
            assert said in str(caught.value)


# --- Row-level security ---


@pytest.mark.parametrize(
    ("owner", "forced", "invoker", "accepted"),
    [
        ("kanon_owner", False, False, True),
        ("kanon_owner", True, False, False),
        ("kanon_owner", False, True, False),
        ("kanon_clerk", False, False, False),
        ("kanon_bypass", True, False, True),
    ],
)
def test_a_view_shows_every_row_or_is_refused(
    postgres: Any, owner: str, forced: bool, invoker: bool, accepted: bool
) -> None:
    """A view reads with its owner's rights: of the table of 4 rows, the policy shows three, which are 3-anonymous."""
    invoked = " WITH (security_invoker = true)" if invoker else ""
    roles = ("kanon_owner", "kanon_clerk", "kanon_bypass")
    statements = [
        *(f"CREATE ROLE {role}{' BYPASSRLS' if role == 'kanon_bypass' else ''} -- ROLE {role}" for role in roles),
        "CREATE TABLE guarded AS SELECT * FROM people -- TABLE guarded",
        f"CREATE VIEW seen{invoked} AS SELECT * FROM guarded -- VIEW seen",
    ]
    with made(postgres, *statements):
        for statement in (
            "ALTER TABLE guarded OWNER TO kanon_owner", f"ALTER VIEW seen OWNER TO {owner}",
            "GRANT SELECT ON guarded TO kanon_clerk, kanon_bypass", "GRANT SELECT ON seen TO kanon_clerk",
            "CREATE POLICY a_only ON guarded USING (q = 'a')", "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
            *(["ALTER TABLE guarded FORCE ROW LEVEL SECURITY"] if forced else []),
        ):  # fmt: skip
            postgres.execute(statement)
        with postgres._engine.connect() as connection:
            connection.exec_driver_sql("SET ROLE kanon_clerk")
            connection.commit()
            with closing(kanon_sql.connect(connection)) as engine:
                if accepted:
                    result = kanon_sql.check(engine, spec(), "seen")
                    assert not result.passed, "it sees the row that the policy hides"
                else:
                    with pytest.raises(DatabaseError, match=r"row-level security .* through a view that such a role"):
                        kanon_sql.check(engine, spec(), "seen")
