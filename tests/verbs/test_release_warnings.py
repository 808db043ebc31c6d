"""``plan`` looks for what ``anonymize`` would warn of, in rows that it does not publish."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import UnsupportedError

ROLES = """\
version: 1
source: visits
release: visits_release
quasi_identifiers:
  age: {intervals: [5, 10, 20]}
keep: [town, receipt]
privacy: [{k_anonymity: {k: 30}}]
warnings: {kept_reveals_quasi_identifier: warn}
"""


def make_visits(path: Path) -> None:
    """Two towns have each age: a town reveals the age; a receipt is one row's; a customer has four rows."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT 20 + i // 4 * 37 % 40 AS age, 'town ' || (i // 4 * 37 % 40 * 2 + i % 2) "
            "AS town, i AS receipt, i // 4 AS customer_id FROM range(800) AS t(i)"
        )


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["full_domain", "local", "mondrian"])
def test_a_plan_warns_of_what_its_release_would_be_warned_of(recoding: str, tmp_path: Path) -> None:
    make_visits(tmp_path / "visits.duckdb")
    spec = kanon_sql.Spec.parse(ROLES + f"recoding: {recoding}\n")
    with kanon_sql.connect(tmp_path / "visits.duckdb", read_only=True) as engine:
        alone = kanon_sql.plan(engine, spec, compare_recoding=None)
        planned = kanon_sql.plan(engine, spec, compare_recoding=None, release_warnings=True)
        stops = ROLES.replace("warn}", "by_share}") + f"recoding: {recoding}\n"
        stopped = kanon_sql.plan(engine, kanon_sql.Spec.parse(stops), release_warnings=True)
    with kanon_sql.connect(tmp_path / "visits.duckdb") as engine:
        released = kanon_sql.anonymize(engine, spec)
    expected = {"nearly_unique_kept", "kept_reveals_quasi_identifier", "rows_not_persons"}
    assert not expected & {item.code for item in alone.warnings}
    assert expected <= {item.code for item in planned.warnings}
    assert [(item.code, item.columns, item.figures) for item in planned.warnings] == [
        (item.code, item.columns, item.figures) for item in released.warnings
    ]
    assert (planned.verdict, planned.rows, planned.metrics) == (alone.verdict, alone.rows, alone.metrics)
    assert stopped.verdict == "fail"
    assert "kept_reveals_quasi_identifier is an error" in stopped.message


def test_where_no_rows_can_be_kept_meanwhile_that_is_said(tmp_path: Path) -> None:
    make_visits(tmp_path / "visits.duckdb")
    with (
        kanon_sql.connect(tmp_path / "visits.duckdb", read_only=True, scratch="inline") as engine,
        pytest.raises(UnsupportedError, match="the warnings of a release need a scratch table"),
    ):
        kanon_sql.plan(engine, kanon_sql.Spec.parse(ROLES), release_warnings=True)
