"""Cost before spending: what the engine expects, and the limit on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

import kanon_sql
from kanon_sql.cli.options import size_in_bytes
from kanon_sql.errors import SpecError, TooExpensive, UnsupportedError
from kanon_sql.testing import Subject
from kanon_sql.verbs.estimate import estimate, refuse_beyond
from tests.conftest import Database
from tests.servers import subject_of
from tests.servers.postgres import PostgresSubject
from tests.support.workloads import fill, rows_of

SPEC = kanon_sql.Spec.from_dict(
    {
        "version": 1,
        "source": "people",
        "quasi_identifiers": {"age": {"intervals": [10]}},
        "privacy": [{"k_anonymity": 2}],
    }
)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("12", 12), ("1kB", 1000), ("2.5MB", 2_500_000), ("1GiB", 1024**3), ("3T", 3 * 10**12)]
)
def test_sizes(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "1 2", "1PB", "many"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="number of bytes"):
        size_in_bytes(text)


def test_duckdb_knows_rows_and_no_bytes(database: Database) -> None:
    database.table("people", {"age": "INTEGER", "note": "VARCHAR"}, [(number, "x") for number in range(500)])
    found = estimate(database.engine, SPEC)
    assert (found.rows, found.bytes, found.origin) == (500, None, "EXPLAIN")
    with pytest.raises(UnsupportedError, match="duckdb does not estimate bytes"):
        refuse_beyond(database.engine, SPEC, "plan", 10**9)
    with pytest.raises(SpecError, match="no such column"):
        estimate(database.engine, kanon_sql.Spec.from_dict({**SPEC.to_dict(), "quasi_identifiers": {"x": None}}))


@pytest.fixture(scope="module")
def postgres() -> Iterator[Subject]:
    with subject_of("postgres") as made:
        made.table("people", {"age": "integer", "note": "text"}, [(number, "x" * 50) for number in range(500)])
        made.execute("ANALYZE people")
        yield made


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_postgres_knows_both_and_counts_only_the_columns_that_are_needed(postgres: Subject) -> None:
    engine = postgres.connect(read_only=True)
    found = estimate(engine, SPEC)
    assert (found.rows, found.bytes, found.origin) == (500, 500 * 4, "EXPLAIN"), "an integer has four bytes"
    with pytest.raises(TooExpensive, match=r"about 4,000 bytes .*2 x 2,000.* nothing was read"):
        refuse_beyond(engine, SPEC, "anonymize", 3_999)
    # Beside the 4 bytes of an integer a row takes 40, a count 8 and a label up to 16 more.
    assert found.temporary_bytes == 10 * 500 * (4 + 40 + 8 + 16)
    assert found.to_dict()["temporary_bytes"] == found.temporary_bytes
    by_person = {**SPEC.to_dict(), "unit": "age", "quasi_identifiers": {"note": None}}
    persons = estimate(engine, kanon_sql.Spec.from_dict(by_person))
    assert persons.bytes is not None
    assert persons.temporary_bytes == (10 + 8) * (persons.bytes + 500 * (40 + 8 + 16))
    for changes in ({"recoding": "local"}, {"privacy": [{"k_map": {"population": "people", "k": 2}}]}):
        assert estimate(engine, kanon_sql.Spec.from_dict({**SPEC.to_dict(), **changes})).temporary_bytes is None
    refuse_beyond(engine, SPEC, "anonymize", 4_000)
    refuse_beyond(engine, SPEC, "plan", 2_000)
    earlier = kanon_sql.Spec.from_dict({**SPEC.to_dict(), "release": "released", "ledger": "ledger"})
    with pytest.raises(TooExpensive, match=r"about 6,000 bytes .*3 x 2,000"):  # releases of before are made again
        refuse_beyond(engine, earlier, "anonymize", 5_999)
    refuse_beyond(engine, earlier, "plan", 2_000)
    engine.close()
    postgres.table("newcomers", {"age": "integer"}, [(number,) for number in range(500)])
    engine = postgres.connect(read_only=True)
    newcomers = kanon_sql.Spec.from_dict({**SPEC.to_dict(), "source": "newcomers"})
    assert "newcomers was never analyzed; run ANALYZE" in estimate(engine, newcomers).origin
    postgres.execute("ANALYZE newcomers")
    assert estimate(engine, newcomers).origin == "EXPLAIN"
    engine.close()
    inline = postgres.connect(read_only=True, scratch="inline")
    assert estimate(inline, SPEC).temporary_bytes is None
    with pytest.raises(UnsupportedError, match="reads the source again"):
        refuse_beyond(inline, SPEC, "plan", 10**9)
    inline.close()


DISK = (
    "SELECT (SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relpersistence = 't' AND "
    "relkind = 'r') + (SELECT COALESCE(SUM(size), 0) FROM pg_ls_tmpdir())"
)
"""What all sessions' temporary tables, sorts and hashes take at this moment."""


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(
    ("rows", "unit"),
    [(40_000, "person")] + [pytest.param(200_000, unit, marks=pytest.mark.campaign) for unit in (None, "person")],
)
def test_the_disk_that_a_run_takes_is_what_was_said(postgres: Subject, rows: int, unit: str | None) -> None:
    """Nearly all rows differ, and the server has so little memory that what it sorts or hashes goes to disk."""
    assert isinstance(postgres, PostgresSubject)
    postgres.drop("visits")
    fill(postgres, "visits", rows_of(rows))
    postgres.execute("ANALYZE visits")
    postgres.execute("ALTER ROLE CURRENT_USER SET work_mem = '512kB'")
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "visits", "release": "visits_release",
            "quasi_identifiers": {"birth": {"intervals": [1000], "minimum_level": 1}, "zip": {"prefix": [1]}},
            "sensitive": ["diagnosis"], "keep": ["amount"], "suppression": {"max_share": 0.5},
            "privacy": [{"k_anonymity": 5}, {"l_diversity": {"attribute": "diagnosis", "l": 2}}],
            **({"warnings": {"rows_not_persons": "allow"}} if unit is None else {"unit": unit}),
        }
    )  # fmt: skip
    seen, done = [0], threading.Event()

    def look() -> None:
        with psycopg.connect(host=postgres.folder, user="postgres", autocommit=True) as other:
            while not done.wait(0.01):
                ((size,),) = other.execute(DISK).fetchall()
                seen.append(int(size))

    looking = threading.Thread(target=look)
    try:
        with postgres.connect() as engine:
            said = estimate(engine, spec).temporary_bytes
            looking.start()
            assert kanon_sql.anonymize(engine, spec).passed
    finally:
        done.set()
        looking.join()
        postgres.execute("ALTER ROLE CURRENT_USER RESET work_mem")
        postgres.drop("visits_release")
    assert said is not None
    assert said / 3 < max(seen) < said
