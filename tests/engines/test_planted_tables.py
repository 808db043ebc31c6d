"""Tables that a second role made under names of ours: refused, before anything is written to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

import kanon_sql
from kanon_sql.errors import KanonError, SpecError
from tests.servers import subject_of
from tests.support.other_roles import ROWS, SPEC, Server, server_of


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with server_of("postgres") as found:
        yield found


COLUMNS = "release_name text NOT NULL, run_id text NOT NULL, published_at text NOT NULL, spec_hash text NOT NULL"


PLAIN = f"CREATE TABLE open.{{table}} ({COLUMNS}, manifest text NOT NULL)"


OPEN = "GRANT ALL ON open.{table} TO PUBLIC"


TRIGGER = "CREATE TRIGGER steal BEFORE INSERT ON open.{table} FOR EACH ROW EXECUTE FUNCTION open.steal()"


TO_ANONYMIZER = "ALTER TABLE open.{table} OWNER TO anonymizer"


PLANTED: dict[str, tuple[list[str], str]] = {
    "a trigger": ([PLAIN, TRIGGER, TO_ANONYMIZER], "has triggers"),
    "a rule": (
        [PLAIN, "CREATE RULE gone AS ON INSERT TO open.{table} DO INSTEAD NOTHING", TO_ANONYMIZER], "has rules"
    ),
    "a policy": ([PLAIN, "ALTER TABLE open.{table} ENABLE ROW LEVEL SECURITY", TO_ANONYMIZER], "row-level security"),
    "a view": (
        [PLAIN.replace("{table}", "{table}_below"), "CREATE VIEW open.{table} AS SELECT * FROM open.{table}_below"],
        "is no plain table",
    ),
    "a partitioned table": ([PLAIN + " PARTITION BY LIST (run_id)", TO_ANONYMIZER], "is no plain table"),
    "an heir": ([PLAIN, "CREATE TABLE open.heir () INHERITS (open.{table})", TO_ANONYMIZER], "inherited from"),
    "a default": (
        [PLAIN, "ALTER TABLE open.{table} ADD COLUMN more text DEFAULT open.said()", TO_ANONYMIZER], "defaults"
    ),
    "a check": ([PLAIN, "ALTER TABLE open.{table} ADD CHECK (open.said() = 'x')", TO_ANONYMIZER], "has check"),
    "an index": ([PLAIN, "CREATE INDEX ON open.{table} ((open.said()))", TO_ANONYMIZER], "index on an expression"),
    "a domain": (
        [PLAIN, "ALTER TABLE open.{table} ALTER COLUMN manifest TYPE open.checked", TO_ANONYMIZER], "type that is not"
    ),
    "a right to triggers": ([PLAIN, "GRANT TRIGGER ON open.{table} TO spy", TO_ANONYMIZER], "add triggers"),
    "another role's": ([PLAIN, "ALTER TABLE open.{table} OWNER TO spy", OPEN, "REVOKE TRIGGER, REFERENCES ON "
                        "open.{table} FROM PUBLIC"], 'belongs to the role "spy"'),
}  # fmt: skip


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("table", ["kanon_sql_manifest", "kanon_sql_scratch", "book"])
@pytest.mark.xdist_group("postgres other roles")
@pytest.mark.sampled(12)
def test_a_table_that_is_found_by_its_name_is_refused(postgres: Server, what: str, table: str) -> None:
    """Made first by another role, with what would run with our rights, hide a row, or be that role's to change."""
    postgres.clear()
    postgres.subject.execute(
        "CREATE OR REPLACE FUNCTION open.noted() RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO open.loot VALUES ('called'); RETURN 'x'; END $$; "
        "CREATE OR REPLACE FUNCTION open.said() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN "
        "RETURN open.noted(); END $$"
    )
    if not postgres.subject.fetch("SELECT 1 FROM pg_type WHERE typname = 'checked'"):
        postgres.subject.execute("CREATE DOMAIN open.checked AS text CHECK (open.said() = value OR value <> '')")
    statements, words = PLANTED[what]
    try:
        for sql in statements:
            postgres.subject.execute(sql.format(table=table))
        postgres.subject.execute("DELETE FROM open.loot")
        ledger = {"ledger": {"table": f"open.{table}"}} if table == "book" else {}
        with pytest.raises(SpecError, match=rf"{table}' has the name of a table of kanon_sql.*{words}"):
            postgres.run({**SPEC, **ledger})
        assert not postgres.stolen
        assert "released" not in [name for (name,) in postgres.subject.fetch("SELECT relname FROM pg_class")]
    finally:
        postgres.clear()


@pytest.mark.slow
@pytest.mark.xdist_group("postgres other roles")
def test_tables_of_this_role_of_its_groups_and_of_superusers_are_used(postgres: Server) -> None:
    for owner in ("anonymizer", "team", "CURRENT_USER"):
        postgres.clear()
        with suppress(DBAPIError):
            postgres.subject.execute("CREATE ROLE team")
        postgres.subject.execute("GRANT team TO anonymizer")
        for table in ("kanon_sql_manifest",):
            postgres.subject.execute(PLAIN.format(table=table))
            postgres.subject.execute(f"ALTER TABLE open.{table} OWNER TO {owner}")
            postgres.subject.execute(f"GRANT SELECT, INSERT, DELETE ON open.{table} TO anonymizer")
        assert postgres.run().passed
        assert postgres.run().passed
    postgres.clear()


@pytest.mark.xdist_group("postgres other roles")
def test_a_temporary_schema_is_refused(postgres: Server) -> None:
    for schema in ("pg_temp", "PG_TEMP", "pg_temp_3"):
        with pytest.raises(SpecError, match="vanishes with the connection"):
            postgres.run({**SPEC, "release": f'"{schema}".released'})
    postgres.clear()
    url = sqlalchemy.make_url(postgres.url).update_query_dict({"options": "-csearch_path=pg_temp"})
    with kanon_sql.connect(url.render_as_string(hide_password=False)) as engine, pytest.raises(KanonError) as refused:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**SPEC, "release": "released"}))
    assert "temporary table" in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sqlite", "clickhouse"])
def test_tables_with_triggers_or_views_behind_them_are_refused(name: str) -> None:
    """SQLite's triggers, and ClickHouse's views that take what is written and engines that forget it."""
    asked = {**SPEC, "source": "people", "release": "released"}
    with subject_of(name) as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        planted = {
            "sqlite": [
                ["CREATE TRIGGER gone BEFORE INSERT ON kanon_sql_manifest BEGIN SELECT RAISE(IGNORE); END"],
                ["DROP TABLE kanon_sql_manifest", "CREATE TABLE kanon_sql_manifest (release_name, run_id, "
                 "published_at, spec_hash, manifest CHECK (1) UNIQUE ON CONFLICT IGNORE)"],
            ],
            "clickhouse": [
                ["CREATE TABLE taken (run_id String) ENGINE = MergeTree ORDER BY tuple()",
                 "CREATE MATERIALIZED VIEW takes TO taken AS SELECT run_id FROM kanon_sql_manifest"],
                ["DROP TABLE takes", "DROP TABLE kanon_sql_manifest",
                 "CREATE TABLE kanon_sql_manifest (release_name String, run_id String, "
                 " published_at String, spec_hash String, manifest String) ENGINE = Null"],
            ],
        }[name]  # fmt: skip
        with subject.connect() as engine:
            assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked)).passed
        for statements in planted:
            for sql in statements:
                subject.execute(sql)
            with subject.connect() as engine, pytest.raises(SpecError, match="has the name of a table of kanon_sql"):
                kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked))
