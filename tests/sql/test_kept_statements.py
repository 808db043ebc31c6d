"""What is kept across the specs of a process, as it was rendered and parsed, never answers another spec."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.duckdb import _LONGEST_KEPT, _MOST_KEPT, DuckDBEngine
from kanon_sql.errors import TemplateError
from kanon_sql.sql import Sql, Statement, add_template_directory, remove_template_directory, render


@pytest.fixture
def templates(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        folder = tmp_path / "templates"
        (folder / "own").mkdir(parents=True, exist_ok=True)
        (folder / "own" / "kept.sql.j2").write_text(text)
        add_template_directory(folder)
        return folder

    yield write
    remove_template_directory(tmp_path / "templates")


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (0.0, -0.0), (Decimal("1.0"), Decimal("1.00")), ([1], [1.0]), ({"a": 1}, {"a": 1.0})],
)
def test_equal_values_that_print_differently_are_not_one(templates: Any, one: Any, other: Any) -> None:
    templates(
        "{% if value is mapping %}{{ value.a | literal }}{% elif value is sequence %}{{ value[0] | literal }}"
        "{% else %}{{ value | literal }}{% endif %}"
    )
    assert one == other
    assert render("own/kept", value=one) != render("own/kept", value=other)
    assert render("own/kept", value=one) == render("own/kept", value=one)


def test_a_text_is_not_taken_for_the_sql_that_it_equals(templates: Any) -> None:
    templates("{{ value }}")
    assert render("own/kept", value=Sql("DROP")) == "DROP"
    with pytest.raises(TemplateError, match="went through no filter"):
        render("own/kept", value="DROP")


def test_true_is_not_taken_for_the_number_that_it_equals(templates: Any) -> None:
    templates("{{ value | literal }}")
    assert render("own/kept", value=1) == "1"
    with pytest.raises(TemplateError, match="booleans"):
        render("own/kept", value=True)


def test_a_directory_that_is_removed_takes_what_it_rendered_along(templates: Any) -> None:
    folder = templates("SELECT 1")
    assert render("own/kept") == "SELECT 1"
    remove_template_directory(folder)
    templates("SELECT 2")
    assert render("own/kept") == "SELECT 2"


def test_parsed_statements_are_bounded_and_long_ones_are_not_kept() -> None:
    with kanon_sql.connect(":memory:bounded") as engine:
        assert isinstance(engine, DuckDBEngine)
        for number in range(_MOST_KEPT + 20):
            engine.execute(Statement("n", f"SELECT {number}"))
        engine.execute(Statement("long", f"SELECT '{'x' * _LONGEST_KEPT}'"))
        assert len(engine._statements) == _MOST_KEPT
        assert "SELECT 19" not in engine._statements
        assert f"SELECT {_MOST_KEPT + 19}" in engine._statements
        assert max(map(len, engine._statements)) <= _LONGEST_KEPT


@pytest.mark.slow
def test_specs_that_differ_in_a_threshold_alone_do_not_share_a_verdict() -> None:
    """Statements are kept as they were rendered and parsed; a threshold is part of both."""
    with kanon_sql.connect(":memory:thresholds") as engine:
        engine.execute(Statement("t", "CREATE TABLE t AS SELECT i // 3 AS q, i % 3 AS s FROM range(9) r(i)"))
        for k, t, verdict in ((3, 0, "pass"), (4, 0, "fail"), (3, 0, "pass"), (3, 1, "pass"), (4, 1, "fail")):
            spec = kanon_sql.Spec.from_dict(
                {
                    "version": 1,
                    "source": "t",
                    "quasi_identifiers": {"q": None},
                    "sensitive": ["s"],
                    "privacy": [{"k_anonymity": k}, {"t_closeness": {"attribute": "s", "t": t}}],
                }
            )
            assert kanon_sql.check(engine, spec, "t").verdict == verdict


def test_a_kept_statement_reads_the_table_that_is_there_now() -> None:
    with kanon_sql.connect(":memory:replaced") as engine:
        spec = kanon_sql.Spec.from_dict(
            {"version": 1, "source": "t", "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 2}]}
        )
        for values, verdict in (("1, 1", "pass"), ("1, 2", "fail"), ("'a', 'a'", "pass"), ("1.5, 1.5", "pass")):
            engine.execute(Statement("t", f"CREATE OR REPLACE TABLE t AS SELECT unnest([{values}]) AS q"))
            assert kanon_sql.check(engine, spec, "t").verdict == verdict
