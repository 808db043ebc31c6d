"""What an audit takes from the requirements, what it says where they promise nothing, and its report."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import audit, check
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.disclosure.attacks.promises import promised_k, promised_population_k, promised_values
from kanon_sql.models import models_of
from kanon_sql.models.privacy.alpha_k_anonymity import AlphaKAnonymityModel
from kanon_sql.report.html import run_report
from kanon_sql.report.run import read_run
from kanon_sql.spec import Spec
from tests.conftest import Database
from tests.support.audits import small_spec
from tests.support.command_line import run


def asked_k(spec: Spec, known: list[str] | None = None) -> int | None:
    return promised_k(spec, models_of(spec), known)


def asked_population_k(spec: Spec, known: list[str] | None = None) -> int | None:
    return promised_population_k(spec, models_of(spec), known)


def asked_l(spec: Spec, attribute: str) -> int | None:
    return promised_values(spec, models_of(spec), attribute)


K = {"k_anonymity": 3}
L = {"l_diversity": {"attribute": "d", "l": 3}}
ENTROPY = {"l_diversity": {"attribute": "d", "l": 2.5, "variant": "entropy"}}
ALPHA = {"alpha_k_anonymity": {"attribute": "d", "alpha": 0.3, "k": 4}}
ALPHA_OF_SOME = {"alpha_k_anonymity": {"attribute": "d", "alpha": 0.3, "k": 4, "values": ["flu"]}}
P = {"p_sensitive_k_anonymity": {"attribute": "d", "p": 5, "k": 6}}
MAP = {"k_map": {"population": "census", "k": 7}}
NPD = {"l_diversity": {"attribute": "d", "l": 3, "variant": "npd_recursive", "c": 2, "allow_positive": ["flu"]}}
NPD_OF_ALL = {
    "l_diversity": {"attribute": "d", "l": 3, "variant": "npd_recursive", "c": 2, "forbid_negative": ["flu"], "c2": 0.1}
}
CLOSE = {"t_closeness": {"attribute": "d", "t": 0.5}}


@pytest.mark.parametrize(
    ("privacy", "k", "population_k", "values"),
    [
        ([K], 3, 3, None),
        ([L], None, None, 3),
        ([ENTROPY], None, None, 3),
        ([ALPHA], 4, 4, 4),
        ([ALPHA_OF_SOME], 4, 4, None),
        ([P], 6, 6, 5),
        ([MAP], None, 7, None),
        ([K, MAP], 3, 7, None),
        ([NPD], None, None, None),
        ([NPD_OF_ALL], None, None, 3),  # of two values, nothing is left to compare the most frequent one with
        ([CLOSE], None, None, None),
        ([K, L, ALPHA, P], 6, 6, 5),
    ],
)
def test_every_requirement_says_what_it_promises(
    privacy: list[dict[str, Any]], k: int | None, population_k: int | None, values: int | None
) -> None:
    spec = small_spec(privacy=privacy)
    assert (asked_k(spec), asked_population_k(spec), asked_l(spec, "d")) == (k, population_k, values)
    assert asked_l(spec, "another") is None


@pytest.mark.slow
def test_a_promise_about_some_columns_is_none_about_all(database: Database) -> None:
    """A release that satisfies its requirements is not said to expose whom these do not protect."""
    quasi = {"q": None, "w": None}
    few: list[dict[str, Any]] = [
        {"k_anonymity": {"k": 4, "quasi_identifiers": ["q"]}},
        {"l_diversity": {"attribute": "d", "l": 3, "quasi_identifiers": ["q"]}},
    ]
    spec = small_spec(privacy=[K, *few], quasi_identifiers=quasi)
    assert (asked_k(spec), asked_k(spec, ["q"]), asked_k(spec, ["w"])) == (3, 4, 3)
    assert (asked_population_k(spec), asked_population_k(spec, ["q"]), asked_l(spec, "d")) == (3, 4, None)
    whole = small_spec(privacy=[{"k_anonymity": {"k": 4, "quasi_identifiers": ["w", "q"]}}], quasi_identifiers=quasi)
    assert asked_k(whole) == 4
    rows = [("a", "1", "x"), ("a", "1", "y"), ("a", "2", "x"), ("a", "2", "z")]
    for table in ("s", "r"):
        database.table(table, ["q", "w", "d"], rows)
    spec = small_spec(privacy=[{"k_anonymity": 2}, *few], quasi_identifiers=quasi)
    assert check(database.engine, spec).passed
    result = audit(database.engine, spec, external="s", on=["q", "w"])
    assert {attack.label for attack in result.attacks if attack.beyond} == set()
    database.table("r", ["q", "w", "d"], rows[:3])
    (attack, _) = audit(database.engine, spec, external="s", on=["q"], attacks=["linking"]).attacks
    assert attack.exposed == 4, "of q alone, four were promised"


@given(st.floats(0.01, 0.99))
def test_alpha_needs_as_many_values_as_it_takes(alpha: float) -> None:
    """Of fewer values one has a larger share, however they are spread."""
    values = asked_l(small_spec(privacy=[{"alpha_k_anonymity": {"attribute": "d", "alpha": alpha, "k": 2}}]), "d")
    assert values is not None
    assert 1 / values <= alpha
    assert values == 1 or Fraction(1, values - 1) > Fraction(alpha)


def test_alpha_bounds_the_size_of_a_class_unless_values_are_listed() -> None:
    """Of three rows some value has a third, more than 0.3; one row of a value that is not listed is no harm."""
    for listed, least in ((None, 4), (("flu",), 1)):
        bound = AlphaKAnonymityModel("d", 0.3, 2, listed).share_bound
        assert (bound.share, bound.least_size, bound.values) == (0.3, least, listed)
        assert [bound.most(size) for size in (3, 4, 6, 7, 9, 10)] == [0, 1, 1, 2, 2, 3]


def audited(database: Database, privacy: list[dict[str, Any]], **options: Any) -> tuple[dict[str, Attack], list[str]]:
    result = audit(database.engine, small_spec(privacy=privacy), **options)
    return {attack.name: attack for attack in result.attacks}, list(result.notes)


@pytest.mark.slow
def test_each_promise_decides_who_is_exposed(database: Database) -> None:
    """Three rows with two values: enough for k = 3, too few for k = 4 and for three values."""
    database.table("s", ["q", "d"], [("a", "x"), ("a", "x"), ("a", "y")])
    database.table("r", ["q", "d"], database.rows("s"))
    database.table("e", ["q"], [("a",)])
    database.table("census", ["q"], [("a",)] * 6)
    for privacy, linked, reversed_, told in (
        ([K], 0, 3, 0), ([ALPHA], 1, 3, 3), ([P], 1, 3, 3), ([MAP], 0, 3, 0), ([CLOSE], 0, 3, 0), ([K, L], 0, 3, 3),
    ):  # fmt: skip
        found, _ = audited(database, privacy, external="e", attacks=["linking", "background"])
        assert (found["linking"].beyond, found["linking, reversed"].beyond) == (linked, reversed_), privacy
        assert found["background"].beyond == told, privacy
    whole, _ = audited(database, [MAP], external="census", attacks=["linking"])
    assert whole["linking, reversed"].exposed == 3, "six persons are fewer than the seven that the k-map promises"
    assert audited(database, [K], external="census", attacks=["linking"])[0]["linking, reversed"].exposed == 0


@pytest.mark.slow
def test_what_is_taken_without_a_promise_is_said(database: Database) -> None:
    for name in ("s", "r", "e"):
        database.table(name, ["q", "d"], [("a", "x"), ("a", "y")])
    _, notes = audited(database, [CLOSE], external="e")
    assert sum("fewer than 2 rows" in note for note in notes) == 1
    assert sum("how many values of d a class has: 2 is taken" in note for note in notes) == 1
    _, notes = audited(database, [K, L], external="e")
    assert not any("no requirement" in note for note in notes)
    _, notes = audited(database, [CLOSE], attacks=["skewness"])
    assert not any("no requirement" in note for note in notes)


@pytest.mark.slow
def test_an_audit_writes_its_report_and_refuses_a_path_first(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE s AS SELECT 'a' AS q, 'flu' AS d FROM range(4)")
        connection.execute("CREATE TABLE r AS FROM s")
    spec = tmp_path / "spec.yml"
    spec.write_text(json.dumps(small_spec().to_dict()))
    refused = run("audit", spec, "-d", path, "-o", tmp_path / "no" / "x.html")
    assert refused.exit_code == 2
    assert "existing directory" in refused.output.replace("\n", " ")
    command = ["audit", spec, "-d", path, "-q"]
    assert run(*command, "-o", tmp_path / "audit.html").exit_code == 1
    page = (tmp_path / "audit.html").read_text("utf-8")
    for words in ("Attacks expose people", "homogeneity", "largest share of one value in a class", "Not run"):
        assert words in page
    printed = tmp_path / "audit.json"
    printed.write_text(run(*command, "--format", "json").stdout)
    again = run("report", printed, "-q").stdout
    assert "Attacks expose people" in again


def test_the_report_shows_the_journalist_where_a_population_was_counted() -> None:
    risk = {
        "verb": "risk", "message": "t", "rows": 9, "records": 9, "population": "census", "threshold": 0.2,
        "prosecutor": {"highest": 1.0, "average": 0.5, "at_risk": 9}, "marketer": {"average": 0.25},
        "journalist": {"highest": 0.5, "average": 0.125, "at_risk": 3},
    }  # fmt: skip
    page = run_report(read_run(risk, "here"))
    for words in ("the person is in census", "0.125", "3 (33", "many right matches", "above 0.2"):
        assert words in page, words
    assert ">Prosecutor</h2>" not in page
    alone = run_report(read_run({**risk, "journalist": None, "population": None}, "here"))
    assert "the person is in the table" in alone
    assert '<th scope="row">journalist' not in alone
    checked = {
        "verb": "check", "verdict": "pass", "message": "t", "achieved": {
            'k_map("census")': {"requirement": "5-map to census", "k": 8, "violating_classes": 0, "violating_rows": 0}
        },
    }  # fmt: skip
    assert "at least 8 persons there, so the risk of a row is at most 12.5 %" in run_report(read_run(checked, "here"))
    none = {**checked, "achieved": {"k_anonymity": {"requirement": "5-anonymity", "k": 8}}}
    assert "The journalist" not in run_report(read_run(none, "here"))
