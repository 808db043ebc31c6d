"""A second role that plants what may be called or used in place of ours, at random moments of many runs.

Whatever it plants, before a run, right before any statement of it, or after: nothing of it runs with the anonymizing
role's rights, it reads nothing that is not published, and the release is what plain Python says, or there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
import sqlalchemy

import kanon_sql
from kanon_sql.engines.backends import postgres_catalog as catalog
from kanon_sql.errors import KanonError
from tests.engines.test_other_roles import before_each_statement
from tests.support.other_roles import MADE, READABLE, Server, server_of

_KINDS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
PEOPLE = [(q, 10 * n + i, f"{i}.5", s) for i in range(3) for n, (q, s) in enumerate(_KINDS)] + [("c", 77, "9.5", "z")]
"""A letter, an age, an amount, and what is sensitive; the last one is alone."""

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "secret.persons",
    "release": "open.released",
    "quasi_identifiers": {
        "q": None,
        "age": {"intervals": [20], "minimum_level": 1, "maximum_level": 1},
        "amount": {"intervals": [10], "minimum_level": 1, "maximum_level": 1},
    },
    "sensitive": ["s"],
    "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "s", "l": 2}}],
    "suppression": {"max_rows": 1},
}


def band(number: float, width: int) -> str:
    start = int(number // width * width)
    return f"[{start}, {start + width})"


PUBLISHED = Counter((q, band(age, 20), band(float(amount), 10), s) for q, age, amount, s in PEOPLE if q != "c")

LATER = 44
"""The statement, of those of the connection, before which operators are planted: the run has begun."""

LOCK = 7_707
"""An advisory lock that planted code takes: it stays with the session that ran it, also after a rollback."""

BODY = f"""
BEGIN
    PERFORM pg_catalog.pg_advisory_lock({LOCK});
    BEGIN INSERT INTO open.loot SELECT s FROM secret.persons; EXCEPTION WHEN OTHERS THEN NULL; END;
    RETURN {{answer}};
END"""

TYPES = ("bigint", "integer", "smallint", "numeric", "text", "varchar", "float8", "anyelement", "bpchar", "name")
ANSWERS = {"boolean": "true", "bigint": "99", "text": "'x'", "numeric": "99", "float8": "99"}


def _function(random: Random, schema: str, name: str, arguments: list[str], returned: str | None = None) -> str:
    kind = returned or random.choice(sorted(ANSWERS))
    volatile = random.choice(("IMMUTABLE", "STABLE", "VOLATILE"))
    return (
        f'CREATE FUNCTION {schema}."{name}"({", ".join(arguments)}) RETURNS {kind} LANGUAGE plpgsql {volatile} '
        f"AS $$ {BODY.format(answer=ANSWERS[kind])} $$"
    )


def functions(random: Random, schema: str) -> list[str]:
    arguments = [random.choice(TYPES) for _ in range(random.randint(1, 3))]
    return [_function(random, schema, random.choice(catalog._FUNCTIONS), arguments)]


def operators(random: Random, schema: str) -> list[str]:
    left, right = random.choice(TYPES), random.choice(TYPES)
    sign, name = random.choice(catalog._OPERATORS), f"lies_{random.randint(0, 10**6)}"
    return [
        _function(random, schema, name, [left, right], "boolean"),
        f"CREATE OPERATOR {schema}.{sign} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {schema}.{name})",
    ]


def aggregates(random: Random, schema: str) -> list[str]:
    given, step = random.choice(TYPES[:-3]), f"step_{random.randint(0, 10**6)}"
    return [
        _function(random, schema, step, ["bigint", given], "bigint"),
        f"CREATE AGGREGATE {schema}.{random.choice(('count', 'sum', 'max', 'min'))} ({given}) "
        f"(SFUNC = {schema}.{step}, STYPE = bigint, INITCOND = '0')",
    ]


def types(random: Random, schema: str) -> list[str]:
    name = random.choice(("text", "int8", "numeric", "varchar", "float8", "date", "bpchar", "bool"))
    said = _function(random, schema, f"checks_{name}", ["text"], "boolean")
    return [
        said,
        f'CREATE DOMAIN {schema}."{name}" AS pg_catalog.text CHECK ({schema}.checks_{name}(value))',
        _function(random, schema, f"to_{name}", [f'{schema}."{name}"'], "text"),
        f'CREATE CAST ({schema}."{name}" AS pg_catalog.text) WITH FUNCTION {schema}.to_{name}({schema}."{name}") '
        "AS IMPLICIT",
        f"CREATE TYPE {schema}.{random.choice(('text', 'int4', 'record', 'unknown'))} AS ENUM ('a', 'b')",
    ]


def collations(random: Random, schema: str) -> list[str]:
    return [f"CREATE COLLATION {schema}.\"{name}\" (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
            for name in ("C", "POSIX", "default")]  # fmt: skip


def tables(random: Random, schema: str) -> list[str]:
    """Under the names of ours, and of the source, as tables, views, or with rules and policies."""
    name = random.choice(("kanon_sql_manifest", "kanon_sql_scratch", "released", "persons", "pg_class", "kanon_x"))
    made = random.choice((
        f"CREATE TABLE {schema}.{name} (release_name text, run_id text, published_at text, spec_hash text, "
        "manifest text)",
        f"CREATE VIEW {schema}.{name} AS SELECT 'a'::text AS run_id, 'b'::text AS manifest",
        f"CREATE TABLE {schema}.{name} (run_id text, object_name text, created_at text) PARTITION BY LIST (run_id)",
    ))  # fmt: skip
    return [
        made, f"GRANT ALL ON {schema}.{name} TO PUBLIC",
        f"CREATE RULE gone AS ON INSERT TO {schema}.{name} DO INSTEAD NOTHING",
        f"ALTER TABLE {schema}.{name} ENABLE ROW LEVEL SECURITY",
        f"CREATE TRIGGER steal BEFORE INSERT ON {schema}.{name} FOR EACH ROW EXECUTE FUNCTION open.steal()",
    ]  # fmt: skip


def settings(random: Random, schema: str) -> list[str]:
    """What it may not do; a server that lets it would be another one."""
    return [
        f"ALTER ROLE anonymizer SET search_path = {schema}, pg_catalog",
        f"ALTER DATABASE postgres SET search_path = {schema}, pg_catalog",
        "CREATE EVENT TRIGGER watches ON ddl_command_end EXECUTE FUNCTION open.steal()",
        "CREATE CAST (integer AS text) WITH INOUT AS IMPLICIT",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT ALL ON TABLES TO PUBLIC",
        "CREATE FOREIGN DATA WRAPPER none",
    ]


PLANTS: tuple[Callable[[Random, str], list[str]], ...] = (
    functions, functions, operators, operators, operators, aggregates, types, collations, tables, settings,
)  # fmt: skip
MARIADB_NAMES = ("count", "sum", "lower", "concat", "length", "cast", "coalesce", "sha2", "floor", "kanon_released")


def mariadb_plant(random: Random) -> list[str]:
    """Functions named like built-in ones, views and tables under our names, triggers and events."""
    name = random.choice(MARIADB_NAMES)
    ours = random.choice(("kanon_sql_manifest", "kanon_sql_scratch", "released", "persons"))
    security = random.choice(("DEFINER", "INVOKER"))
    return random.choice((
        [f"CREATE FUNCTION open.`{name}` (a TEXT) RETURNS TEXT SQL SECURITY {security} "
         f"BEGIN DO GET_LOCK('l{LOCK}', 0); "
         "INSERT INTO open.loot SELECT s FROM secret.persons; RETURN 'x'; END"],
        [f"CREATE SQL SECURITY {security} VIEW open.{ours} AS SELECT 'a' AS run_id, 'b' AS manifest"],
        [f"CREATE TABLE open.{ours} (run_id TEXT, object_name TEXT, created_at TEXT) ENGINE = BLACKHOLE",
         f"CREATE TABLE open.{ours} (run_id TEXT, object_name TEXT, created_at TEXT)",
         f"CREATE TRIGGER open.t_{ours} BEFORE INSERT ON open.{ours} FOR EACH ROW "
         "INSERT INTO open.loot SELECT s FROM secret.persons"],
        ["CREATE EVENT open.reads ON SCHEDULE EVERY 1 SECOND DO INSERT INTO open.loot SELECT s FROM secret.persons"],
        ["SET GLOBAL sql_mode = 'IGNORE_SPACE'", "SET GLOBAL init_connect = 'SET sql_mode = ANSI'"],
    ))  # fmt: skip


class Hostile:
    """A server, and a second role with a schema ahead in the path of the anonymizing role, or with none of it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        columns = "q {0}, age integer, amount numeric(6, 1), s {0}"
        text = "text" if self.is_postgres else "VARCHAR(9)"
        for sql in (
            f"CREATE TABLE secret.persons ({columns.format(text)})",
            f"INSERT INTO secret.persons VALUES {', '.join(map(str, PEOPLE))}",
            f"GRANT SELECT ON secret.persons TO anonymizer{'' if self.is_postgres else '@localhost'}",
        ):
            server.subject.execute(sql)

    @property
    def is_postgres(self) -> bool:
        return self.server.name == "postgres"

    def plant(self, random: Random, schema: str) -> None:
        statements = random.choice(PLANTS)(random, schema) if self.is_postgres else mariadb_plant(random)
        self.server.spy.tries(*statements)

    def clear(self) -> None:
        """As it was before any run."""
        self.server.clear()
        if self.is_postgres:
            self.server.subject.execute("DROP OWNED BY spy CASCADE")
            self._grant()
            return
        for kind in ("routine", "event"):
            what = "event" if kind == "event" else "function"
            for (name,) in self.server.subject.fetch(
                f"SELECT {kind}_name FROM information_schema.{kind}s WHERE {kind}_schema = 'open'"
            ):
                self.server.subject.execute(f"DROP {what} open.`{name}`")

    def _grant(self) -> None:
        for sql in (
            "CREATE SCHEMA IF NOT EXISTS ahead", "GRANT ALL ON SCHEMA ahead, open TO anonymizer, spy",
            "GRANT INSERT ON open.loot TO PUBLIC", "GRANT SELECT ON secret.persons TO anonymizer",
        ):  # fmt: skip
            self.server.subject.execute(sql)
        self.server.spy.tries(
            "CREATE FUNCTION open.steal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"PERFORM pg_catalog.pg_advisory_lock({LOCK}); "
            "BEGIN INSERT INTO open.loot SELECT s FROM secret.persons; EXCEPTION WHEN OTHERS THEN NULL; END; "
            "RETURN new; END $$"
        )
        self.server.spy.execute(READABLE)

    def url(self, path: str | None) -> str:
        if path is None:
            return self.server.url
        url = sqlalchemy.make_url(self.server.url).update_query_dict({"options": f"-csearch_path={path}"})
        return url.render_as_string(hide_password=False)

    def ran(self) -> bool:
        """Whether planted code ran in the anonymizing role's session, which is still open."""
        if self.is_postgres:
            found = self.server.subject.fetch(
                f"SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' "
                f"AND objid = {LOCK} AND usename = 'anonymizer'"
            )
            return bool(found)
        ((holder,),) = self.server.subject.fetch(f"SELECT IS_USED_LOCK('l{LOCK}')")
        return holder is not None

    def trial(self, seed: int, path: str | None, monkeypatch: pytest.MonkeyPatch) -> str:
        """One run. Returns whether it published or refused."""
        random = Random(seed)
        often = random.choice((0.01, 0.03, 0.3))  # few runs are left to publish where much is planted
        self.clear()
        for _ in range(random.randint(0, 1)):
            self.plant(random, random.choice(("ahead", "open")))
        ran: list[str] = []

        def acts() -> None:
            if random.random() < often:
                self.plant(random, random.choice(("ahead", "open")))
            self.server.look()
            if self.ran():
                ran.append("planted code ran in the session")

        with monkeypatch.context() as patched:
            before_each_statement(patched, acts)
            with kanon_sql.connect(self.url(path)) as engine:
                try:
                    result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))
                    outcome = "published" if result.passed else "failed"
                except KanonError as error:
                    outcome = f"refused: {error}"
                ran += ["planted code ran in the session"] if self.ran() else []
        assert not ran
        assert not self.server.stolen
        if outcome == "published":
            assert Counter(self.server.subject.fetch("SELECT q, age, amount, s FROM open.released")) == PUBLISHED
        planted = {"kanon_sql_manifest", "kanon_sql_scratch", "kanon_x", "persons", "pg_class"}
        for (_, table), rows in self.server.seen.items():
            assert table in planted or rows - Counter({("a", "b"): 1}) <= PUBLISHED, f"{table} was read"
        assert not [where for where in self.server.seen if where == ("secret", "persons")]
        return outcome


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(f"{name} other roles")) for name in MADE],
)
def hostile(request: pytest.FixtureRequest) -> Iterator[Hostile]:
    with server_of(request.param) as server:
        made = Hostile(server)
        made.clear()
        yield made


def trials(hostile: Hostile, seeds: range, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    paths = (None, None, "ahead,open,public", "open,public") if hostile.is_postgres else (None,)
    return Counter(
        hostile.trial(seed, paths[seed % len(paths)], monkeypatch).split(":")[0] for seed in seeds
    )  # fmt: skip


@pytest.mark.slow
def test_a_few_plantings(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    done = trials(hostile, range(8), monkeypatch)
    assert done["refused"] + done["published"] == 8
    assert done["published"], "not all of them are refused, so that what is published is looked at"


@pytest.mark.campaign
def test_many_plantings(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    done = trials(hostile, range(100, 2_100), monkeypatch)
    assert done["refused"] + done["published"] == 2_000
    assert done["published"] > 200


@pytest.mark.xdist_group("postgres other roles")
def test_a_path_in_which_another_role_may_create_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it could make an operator that fits better during the run, and drop it before anyone looks."""
    nearer = [
        "CREATE FUNCTION ahead.rests(bigint, integer) RETURNS bigint LANGUAGE plpgsql AS $$ "
        f"{BODY.format(answer='0')} $$",
        "CREATE OPERATOR ahead.% (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = ahead.rests)",
    ]
    with server_of("postgres") as server:
        hostile = Hostile(server)
        hostile.clear()
        began = iter(range(1_000))

        def acts() -> None:
            if next(began) == LATER:
                server.spy.tries(*nearer)

        before_each_statement(monkeypatch, acts)
        with kanon_sql.connect(hostile.url("ahead,public")) as engine:
            try:
                kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))
            except KanonError as error:
                refused = str(error)
            assert not hostile.ran()
        assert 'search path has "ahead", where another role may create' in refused
        with kanon_sql.connect(hostile.url("public")) as engine:
            assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC)).passed
            assert not hostile.ran()
