"""``certify`` against who changes more than one thing, so that each of the other claims still holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.verbs.certify import optimality
from tests.conftest import Database
from tests.support.certificates import COLUMNS, people, says, spec_of


def certified_anew(database: Database, directory: Path, **changes: Any) -> None:
    """Publish by another spec of the same columns, and certify that."""
    spec = spec_of(**changes)
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert kanon_sql.certify(database.engine, spec, directory).passed
    assert says(directory, database) == (True, [])


@pytest.mark.slow
def test_a_hierarchy_that_is_a_table_may_not_change_with_the_release(database: Database, tmp_path: Path) -> None:
    """Both say the new label, so that every cell is one and every class has its rows."""
    database.table("people", {"zip": "VARCHAR"}, [(zip_code,) for zip_code in "abcd" * 5])
    labels = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]
    database.table("labels", {"l0": "VARCHAR", "l1": "VARCHAR", "l2": "VARCHAR"}, labels)
    certified_anew(
        database, tmp_path, identifiers=[], sensitive=[], keep=[], privacy=[{"k_anonymity": 3}],
        quasi_identifiers={"zip": {"table": "labels", "minimum_level": 1, "maximum_level": 1}},
    )  # fmt: skip
    database.connection.execute("UPDATE labels SET l1 = 'CD' WHERE l1 = 'cd'")
    database.connection.execute("UPDATE released SET zip = 'CD' WHERE zip = 'cd'")
    verified, failed = says(tmp_path, database)
    assert not verified
    assert ["the hierarchies that are tables" in line for line in failed] == [True]


@pytest.mark.slow
def test_a_kept_number_that_is_written_otherwise_is_another(database: Database, tmp_path: Path) -> None:
    """-0 is grouped with 0, and a reader sees another text."""
    database.table("people", {"zip": "VARCHAR", "share": "DOUBLE"}, [("a", number % 3 / 2) for number in range(30)])
    certified_anew(
        database, tmp_path, identifiers=[], sensitive=[], keep=["share"], privacy=[{"k_anonymity": 3}],
        quasi_identifiers={"zip": None},
    )  # fmt: skip
    database.connection.execute("CREATE TABLE kept AS SELECT zip, share FROM released")
    database.connection.execute("DELETE FROM released WHERE share = 0")
    for zero, expected in (("'-0.0'", False), ("'0.0'", True)):
        database.connection.execute("DELETE FROM released WHERE share = 0")
        database.connection.execute(
            f"INSERT INTO released SELECT zip, CAST({zero} AS DOUBLE) FROM kept WHERE share = 0"
        )
        assert says(tmp_path, database)[0] == expected


@pytest.mark.slow
def test_masked_rows_leave_no_others_unwatched(database: Database, tmp_path: Path) -> None:
    """The classes of their release do not tell whose a row is: two values swapped are told by the rows as they are."""
    rows = [("abcd"[number % 4], number % 5) for number in range(40)]
    database.table("people", {"zip": "VARCHAR", "cost": "INTEGER"}, [*rows, ("x", 7), ("y", 8), ("z", 7)])
    certified_anew(
        database, tmp_path, identifiers=[], sensitive=[], keep=["cost"], privacy=[{"k_anonymity": 3}],
        quasi_identifiers={"zip": {"maximum_level": 0}}, suppression={"max_share": 0.2, "style": "mask"},
    )  # fmt: skip
    ((one, other),) = database.connection.execute(
        "SELECT MIN(CASE WHEN zip = 'a' AND cost = 0 THEN rowid END), MIN(CASE WHEN zip = 'b' AND cost = 1 THEN rowid "
        "END) FROM released"
    ).fetchall()
    database.connection.execute(f"UPDATE released SET cost = 1 - cost WHERE rowid IN ({one}, {other})")
    verified, failed = says(tmp_path, database)
    assert not verified
    assert ["the rows of the release are those" in line for line in failed] == [True]


@pytest.mark.slow
def test_names_that_a_certificate_uses_itself(database: Database, tmp_path: Path) -> None:
    """Of columns and tables, in any case, with quotes, long, and with a line's end; and of what counts faults."""
    long = "long" * 20
    kinds = {"value": "VARCHAR", "row_count": "INTEGER", "violating": "INTEGER", "Person": "VARCHAR", "q0": "VARCHAR",
             "l0_0": "INTEGER", "Value2": "VARCHAR", 'a";b': "INTEGER", long: "VARCHAR", "new\nOK line": "INTEGER",
             "dropped": "INTEGER"}  # fmt: skip
    rows = [
        ("ab"[n % 2], n % 2, n % 3, f"p{n}", "q", n % 2, "V", n % 2, "L", 1, n % 2) for n in range(60)
    ]  # fmt: skip
    database.table("labels0", kinds, rows)
    certified_anew(
        database, tmp_path, source="labels0", release="kanon_source", identifiers=["Person"], sensitive=["violating"],
        keep=["q0", 'a";b', "new\nOK line", "Value2", "dropped"],
        quasi_identifiers={"value": None, "row_count": {"intervals": [2]}, "l0_0": None, long: None},
        privacy=[{"k_anonymity": 2}, {"l_diversity": {"attribute": "violating", "l": 2}}],
    )  # fmt: skip
    for change in ('"violating" = "violating" + 1', '"new\nOK line" = 2', '"a"";b" = 1 - "a"";b"', f"{long} = 'l'"):
        database.connection.execute("BEGIN")
        database.connection.execute(f"UPDATE kanon_source SET {change} WHERE rowid = 1")
        assert not says(tmp_path, database)[0], change
        database.connection.execute("ROLLBACK")
    assert says(tmp_path, database) == (True, [])


@pytest.mark.slow
def test_the_ledger_s_entry_is_certified(database: Database, tmp_path: Path) -> None:
    database.table("people", COLUMNS, people())
    certified_anew(database, tmp_path, ledger="releases")
    database.connection.execute("UPDATE releases SET manifest = replace(manifest, 'zip', 'zap')")
    verified, failed = says(tmp_path, database)
    assert not verified
    assert "the ledger has this entry" in failed[0]
    assert ["spec and rows" in line for line in failed[1:]] == [True]


@pytest.mark.slow
def test_a_certificate_is_of_one_database_and_its_files_of_one_certificate(database: Database, tmp_path: Path) -> None:
    """Another release of the same names, with as many rows: neither its database nor a file of its certificate fits."""
    with duckdb.connect(config={"threads": 1}) as connection:
        other = Database(connection)
        for own, seed, name in ((database, 7, "own"), (other, 8, "other")):
            own.table("people", COLUMNS, people(seed=seed))
            certified_anew(own, tmp_path / name, privacy=[{"k_anonymity": 3}])
        assert not says(tmp_path / "own", other)[0]
        assert not says(tmp_path / "other", database)[0]
    for path in ("certificate.json", "certificate.sha256", "sql/000_setup_vectors.sql"):
        kept = (tmp_path / "own" / path).read_bytes()
        (tmp_path / "own" / path).write_bytes((tmp_path / "other" / path).read_bytes())
        assert not says(tmp_path / "own", database)[0], path
        (tmp_path / "own" / path).write_bytes(kept)
    assert says(tmp_path / "own", database)[0]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kept", [[], ["cost"]])
def test_tables_with_fewer_rows_answer_as_the_rows_do(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: list[str]
) -> None:
    """Of every node, the classes in plain Python; with tables of fewer rows for all levels of a column."""
    monkeypatch.setattr(optimality, "ENOUGH", 1)
    rows = people(80)
    database.table("people", COLUMNS, rows)
    spec = spec_of(privacy=[{"k_anonymity": 3}], sensitive=[], keep=kept)
    assert kanon_sql.anonymize(database.engine, spec).passed
    found = kanon_sql.certify(database.engine, spec, tmp_path, whole_boundary=True)
    assert says(tmp_path, database) == (True, [])
    assert sum("_setup_rows_" in path for path in found.content["setup"]) > 1
    for claim in (claim for claim in found.claims if claim["id"].startswith("nodes_")):
        for node, classes, _, suppressed, infeasible, *_ in claim["rows"]:
            age, zip_code, sex = map(int, node.split())
            sizes = Counter(
                (
                    (row[1], row[1] // 5, row[1] // 10, row[1] // 20, "*")[age],
                    (row[2], row[2][:4], row[2][:3], "*")[zip_code], (row[3], "*")[sex],
                )
                for row in rows
            )  # fmt: skip
            small = sum(size for size in sizes.values() if size < 3)
            assert (classes, suppressed, infeasible) == (len(sizes), small, small), node
