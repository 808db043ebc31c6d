"""Release steps before a differentially private mechanism: maps of each row by itself, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.report.json import result_schema
from kanon_sql.testing import as_text
from kanon_sql.verbs import private
from tests.conftest import Database
from tests.oracles import masking as oracle
from tests.support.private_releases import ROOM, people, rows_of

K = 10
STEP = {"round": 5, "bottom": 18, "top": 38}


@pytest.fixture
def everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins that draw every row."""
    monkeypatch.setattr(private, "operating_system", lambda count: 0)


def spec_of(release: str = "r1", steps: Any = None, **change: Any) -> kanon_sql.Spec:
    requirement = {"epsilon": 1, "delta": 0.05, "generalization": {"age": 0, "sex": 0}, **ROOM, **change}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": release, "identifiers": ["name"],
            "quasi_identifiers": {"age": None, "sex": None}, "privacy": [{"differential_privacy": requirement}],
            "steps": {"columns": {"age": STEP}} if steps is None else steps, "ledger": "ledger",
        }
    )  # fmt: skip


def coded(rows: Sequence[tuple[int | None, str, str]], step: dict[str, Any]) -> Counter[tuple[str | None, str]]:
    return Counter((None if age is None else as_text(oracle.coded(age, step)), sex) for age, sex, _ in rows)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("step", [STEP, {"round": 5}, {"top": 30}, {"bottom": 30, "round": 2.5}], ids=str)
def test_classes_are_made_of_what_the_steps_make(database: Database, everybody: None, step: dict[str, Any]) -> None:
    rows = rows_of(3)
    people(database, rows)
    result = kanon_sql.anonymize(database.engine, spec_of(steps={"columns": {"age": step}}))
    expected = {labels: size for labels, size in coded(rows, step).items() if size >= K}
    assert len(expected) > 2
    assert Counter(tuple(row) for row in database.rows("r1")) == Counter(expected)
    assert result.steps == {"sample": None, "columns": {"age": step}}
    assert any("release steps: 'age' " in note for note in result.notes)
    jsonschema.validate(result.to_dict(), result_schema())
    assert result.manifest is not None
    assert result.manifest["steps"] == result.steps
    assert result.manifest["notes"] == [result.notes[-1]], "none that is about the rows"


@pytest.mark.slow
@pytest.mark.sampled(7)
@pytest.mark.parametrize("extra", [33, 0, 17, 18, 38, 99, None])
def test_one_row_more_is_one_row_more_after_the_steps(database: Database, everybody: None, extra: int | None) -> None:
    """So tables that differ by a row still do, and what is proven of the mapped rows holds for the rows."""
    rows, found = rows_of(7), []
    for name, table in (("r1", rows), ("r2", [*rows, (extra, "M", "new")])):
        people(database, table)
        result = kanon_sql.anonymize(database.engine, spec_of(name))
        found.append(Counter(tuple(row) for row in database.rows(name)))
    changed = (found[0] - found[1]) + (found[1] - found[0])
    assert set(changed) <= set(coded([(extra, "M", "new")], STEP))
    assert sum(changed.values()) in (0, 1, K), "added to a class, or completing one"
    assert result.manifest is not None
    assert result.manifest["steps"] == {"sample": None, "columns": {"age": STEP}}


def test_levels_are_searched_over_the_rows_after_the_steps(database: Database) -> None:
    people(database, rows_of(5, 900))
    change = {"generalization": None, "search": {"epsilon": 0.5, "score": "average_class_size"}}
    result = kanon_sql.anonymize(database.engine, spec_of(**change))
    assert result.search is not None
    assert result.search.nodes_total == 4


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ({"sample": {"fraction": 0.5, "by": "name"}}, "steps.sample: differential_privacy draws each row by coins"),
        ({"sample": {"fraction": 0.5, "by": "name"}, "columns": {"age": STEP}}, "its proof does not cover"),
        ({"columns": {"name": STEP}}, "steps.columns.name: this is no quasi-identifier"),
        ({"columns": {"aged": STEP}}, "did you mean 'age'"),
    ],
)
def test_what_is_no_map_of_rows_is_refused(steps: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError) as raised:
        spec_of(steps=steps)
    assert why in str(raised.value)


def test_a_quasi_identifier_of_other_releases_has_levels_instead() -> None:
    spec = spec_of().to_dict() | {"privacy": [{"k_anonymity": 2}], "ledger": None}
    with pytest.raises(SpecError, match="coded and rounded by the levels of its hierarchy"):
        kanon_sql.Spec.from_dict(spec)


def test_a_column_of_texts_is_refused_before_anything_is_spent(database: Database) -> None:
    people(database, rows_of(3))
    with pytest.raises(SpecError, match="only numbers are rounded or coded"):
        kanon_sql.anonymize(database.engine, spec_of(steps={"columns": {"sex": {"top": 3}}}))
    assert "ledger" not in database.tables()


def test_intervals_of_labels_are_refused(database: Database) -> None:
    """A coded column is text, and has no intervals."""
    people(database, rows_of(3))
    spec = spec_of().to_dict() | {"quasi_identifiers": {"age": {"intervals": [10]}, "sex": None}}
    with pytest.raises((SpecError, UnsupportedError), match="age"):
        kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict(spec))
    assert "ledger" not in database.tables()
