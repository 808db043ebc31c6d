"""The functions of Python take a spec of several tables, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import RelationalSpec, Spec
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.results import RelationalAudit, RelationalResult

SEVERAL = RelationalSpec.from_dict(
    {
        "version": 1,
        "person": {"table": "people", "name": "r_people", "key": "id", "quasi_identifiers": {"sex": {}}},
        "privacy": [{"km_anonymity": {"k": 2, "m": 0}}],
        "release": {"schema": "main"},
    }
)
ONE = Spec.from_dict(
    {"version": 1, "source": "people", "quasi_identifiers": {"sex": {}}, "privacy": [{"k_anonymity": 2}]}
)


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    made.execute("CREATE TABLE people AS SELECT i AS id, i % 2 AS sex FROM range(10) AS t(i)")
    return made


def test_each_function_gives_what_is_found_of_several_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Given an engine, or the connection of the program."""
    for given in (kanon_sql.connect(connection), connection):
        for verb in (kanon_sql.plan, kanon_sql.anonymize, kanon_sql.check):
            result = verb(given, SEVERAL, timeout=60)
            assert isinstance(result, RelationalResult)
            assert (result.verb, result.passed) == (verb.__name__, True)  # type: ignore[attr-defined]
        audited = kanon_sql.audit(given, spec=SEVERAL)
        assert isinstance(audited, RelationalAudit)
        compared = kanon_sql.compare(given, {"a": SEVERAL}, [2, 5, 11])
        assert [run.result.passed for run in compared.runs] == [True, True, False]
        with pytest.raises(SpecError, match="no manifest of a release"):
            kanon_sql.apply(given, SEVERAL, "people")


@pytest.mark.parametrize(
    ("call", "kind", "why"),
    [
        (lambda db: kanon_sql.plan(db, SEVERAL, explain=True), SpecError,
         "plan: got an unexpected keyword argument 'explain'; for a spec of several tables it takes timeout, report"),
        (lambda db: kanon_sql.check(db, SEVERAL, "people"), SpecError, "check: too many positional arguments"),
        (lambda db: kanon_sql.plan(db, SEVERAL, quasi_identifiers=["sex"]), SpecError, "expected the name of a table"),
        (lambda db: kanon_sql.plan(db.table("people"), SEVERAL), UnsupportedError, "plan: one table was given"),
        (lambda db: kanon_sql.compare(db, {"a": SEVERAL, "b": ONE}, [2]), SpecError, "give one kind"),
        (lambda _: kanon_sql.render(SEVERAL), SpecError, "render: expected a Spec of one table"),
        (lambda db: kanon_sql.estimate(kanon_sql.connect(db), SEVERAL), SpecError, "estimate: expected a Spec of one"),
        (lambda db: kanon_sql.evidence(kanon_sql.connect(db), SEVERAL), SpecError, "evidence: expected a Spec of one"),
        (lambda db: kanon_sql.refresh(db, SEVERAL), SpecError, "refresh: .* its keys would show which rows"),
        (lambda db: kanon_sql.risk(db, SEVERAL), SpecError, "risk: expected a Spec of one table, got a RelationalSpec"),
    ],
)  # fmt: skip
def test_what_is_for_one_table_is_refused(
    connection: duckdb.DuckDBPyConnection, call: Callable[[Any], Any], kind: type[Exception], why: str
) -> None:
    with pytest.raises(kind, match=why):
        call(connection)


def test_results_have_pages(connection: duckdb.DuckDBPyConnection) -> None:
    published = kanon_sql.anonymize(connection, SEVERAL)
    assert "1 table of 10 persons" in kanon_sql.html_report(published)
    assert kanon_sql.html_report(kanon_sql.audit(connection, SEVERAL)).startswith("<!DOCTYPE html>")
    with pytest.raises(UnsupportedError, match="without a script"):
        kanon_sql.html_report(published, interactive=True)
    with pytest.raises(UnsupportedError, match="use html_report"):
        kanon_sql.html_fragment(published)  # type: ignore[arg-type]


def test_names_that_there_were_say_what_to_use() -> None:
    with pytest.raises(AttributeError, match="anonymize, with a RelationalSpec"):
        kanon_sql.anonymize_tables  # noqa: B018
