"""Untrue values: each method against plain Python, what they leave of statistics, who is found, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import product
from math import isclose, sqrt
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import RequirementNotMet, SpecError, UnsupportedError, VerificationError
from kanon_sql.perturbation import linkage as linking
from kanon_sql.perturbation import publish_perturbed
from kanon_sql.perturbation.masks import standard_normal
from kanon_sql.perturbation.matrix import by_bayes, thresholds
from kanon_sql.report.json import perturbation_schema
from kanon_sql.sql import Statement
from kanon_sql.testing import as_text
from tests.conftest import Database
from tests.oracles import masking as oracle
from tests.support.command_line import run
from tests.support.specs import refusals
from tests.support.strategies import examples

BASE: dict[str, Any] = {
    "version": 1,
    "kind": "perturbed",
    "source": "people",
    "release": "masked",
    "key": "id",
    "key_variable": "KANON_TESTED",
}
COLUMNS = {"id": "INTEGER", "town": "VARCHAR", "sick": "VARCHAR", "age": "INTEGER", "pay": "DOUBLE", "born": "DATE"}
MATRIX = {"flu": {"flu": 0.5, "cold": 0.25, "gout": 0.25}, "cold": {"cold": 1}, "gout": {"flu": 0.9, "gout": 0.1}}


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_TESTED", oracle.SECRET)


def spec_of(**changes: Any) -> kanon_sql.PerturbSpec:
    return kanon_sql.PerturbSpec.from_dict({**BASE, **changes})


def people(count: int, *, nulls: bool = True) -> list[dict[str, Any]]:
    rows = []
    for n in range(count):
        rows.append(
            {
                "id": n,
                "town": "abc"[n * n % 3],
                "sick": ("flu", "cold", "gout", "flu")[n * 7 // 3 % 4] if not nulls or n % 8 else None,
                "age": 20 + n * 13 % 50 if not nulls or n % 11 else None,
                "pay": 100 + n * n % 97 / 4,
                "born": date(1950 + n * 17 % 50, 1 + n % 12, 1 + n % 28),
            }
        )
    return rows


def filled(database: Database, rows: list[dict[str, Any]], columns: dict[str, str] = COLUMNS) -> None:
    database.table("people", columns, [[row[name] for name in columns] for row in rows])


METHODS: list[dict[str, Any]] = [
    {"age": {"noise": {"share": 0.3, "decimals": 0}}},
    {"pay": {"noise": {"share": 0.3, "decimals": 3}}},
    {"pay": {"noise": {"share": 0.3, "decimals": 0}}},
    {"age": {"noise": {"share": 0.3, "variant": "multiplicative", "decimals": 1}}},
    {"age": {"rank_swap": {"share": 0.1}}},
    {"pay": {"rank_swap": {"share": 1}}},
    {"born": {"rank_swap": {"share": 0.05}}},
    {"sick": {"swap": {"share": 0.6}}},
    {"sick": {"swap": {"share": 1, "within": ["town"]}}},
    {"age": {"swap": {"share": 0.8, "within": ["town", "sick"]}}},
    {"sick": {"pram": {"retain": 0.4}}},
    {"age": {"pram": {"retain": 0.1}}},
    {"sick": {"pram": {"retain": 0.3, "invariant": False}}},
    {"sick": {"pram": {"matrix": MATRIX}}},
    {"sick": {"pram": {"matrix": MATRIX, "invariant": False}}},
]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("count", [12, 60])
@pytest.mark.sampled(3)
def test_the_values_are_those_of_the_definition(database: Database, method: dict[str, Any], count: int) -> None:
    rows = people(count)
    filled(database, rows)
    asked = {"perturb": method, "keep": ["town"]}
    result = kanon_sql.perturb(database.engine, spec_of(**asked))
    ((name, how),) = method.items()
    untrue = oracle.masked(rows, "id", name, how)
    assert Counter(tuple(map(as_text, row)) for row in database.rows("masked")) == oracle.released(
        rows, {**BASE, **asked}, as_text
    )
    changed = sum(as_text(one) != as_text(row[name]) for one, row in zip(untrue, rows, strict=True))
    assert result.columns == {
        name: {"method": next(iter(how)), "changed": changed},
        "town": {"method": "kept", "changed": 0},
    }
    assert result.verdict == "perturbed"
    assert result.cost.source_scans == 1


small = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]), st.sampled_from(["flu", "cold", "gout", None]), st.none() | st.integers(0, 9),
        st.integers(0, 40).map(lambda number: number / 4),
    ),
    min_size=1, max_size=24,
)  # fmt: skip
methods = st.fixed_dictionaries(
    {},
    optional={
        "sick": st.sampled_from([m["sick"] for m in METHODS if "sick" in m]),
        "age": st.sampled_from([{"rank_swap": {"share": s}} for s in (0.01, 0.3, 1)] + [{"pram": {"retain": 0.5}}]),
        "pay": st.sampled_from([{"rank_swap": {"share": 0.2}}, {"swap": {"share": 0.5, "within": ["sick"]}}]),
    },
).filter(bool)


@pytest.mark.slow
@given(small, methods, st.sets(st.sampled_from(["town", "sick", "age", "pay"]), min_size=1), st.integers(1, 30))
@examples(20)
def test_random_tables(
    shared_database: Database, given_rows: list[Any], method: dict[str, Any], known: set[str], looked_at: int
) -> None:
    columns = {name: COLUMNS[name] for name in ("id", "town", "sick", "age", "pay")}
    rows = [dict(zip(columns, (n, *row), strict=True)) for n, row in enumerate(given_rows)]
    filled(shared_database, rows, columns)
    shared_database._connection.execute("DROP TABLE IF EXISTS masked")
    kept = [name for name in ("town", "sick", "age", "pay") if name not in method]
    categories = {row["sick"] for row in rows} - {None}
    asked = {"perturb": method, "keep": kept, "linkage": {"columns": sorted(known), "rows": looked_at}}
    if method.get("sick") == {"pram": {"retain": 0.3, "invariant": False}} and len(categories) < 2:
        with pytest.raises(SpecError, match="one category"):
            kanon_sql.perturb(shared_database.engine, spec_of(**asked))
        return
    result = kanon_sql.perturb(shared_database.engine, spec_of(**asked)).to_dict()
    jsonschema.validate(result, perturbation_schema())
    assert Counter(tuple(map(as_text, row)) for row in shared_database.rows("masked")) == oracle.released(
        rows, {**BASE, **asked}, as_text
    )
    values = {name: oracle.masked(rows, "id", name, how) for name, how in method.items()}
    listed = [name for name in (*method, *kept) if name in known]
    shown = sorted(range(len(rows)), key=lambda n: (oracle.draw("linkage", n), str(n)))[:looked_at]
    found, certain = oracle.linked(
        [[row[name] for name in listed] for row in rows],
        [[values[name][n] if name in values else row[name] for name in listed] for n, row in enumerate(rows)],
        [name in ("age", "pay") for name in listed],
        shown,
    )
    assert isclose(result["linkage"]["found"], found, abs_tol=1e-6)
    assert result["linkage"]["certain"] == certain
    assert result["linkage"]["looked_at"] == len(shown)
    for item in result["utility"]["frequencies"]:
        before = Counter(row[item["column"]] for row in rows)
        after = Counter(values[item["column"]])
        moved = sum(abs(before[value] - after[value]) for value in before | after)
        assert item["distance"] == moved / 2 / len(rows)


def test_statistics_are_compared(database: Database) -> None:
    rows = people(80)
    filled(database, rows)
    method = {"age": {"noise": {"share": 0.5, "decimals": 0}}}
    result = kanon_sql.perturb(database.engine, spec_of(perturb=method, keep=["pay"]))
    untrue = oracle.masked(rows, "id", "age", method["age"])
    pairs = [(row["age"], one, row["pay"]) for row, one in zip(rows, untrue, strict=True) if row["age"] is not None]

    def moments(values: list[float]) -> tuple[float, float]:
        mean = sum(values) / len(values)
        return mean, sum((value - mean) ** 2 for value in values) / len(values)

    def correlation(one: list[float], other: list[float]) -> float:
        (mean, variance), (other_mean, other_variance) = moments(one), moments(other)
        product_sum = sum((x - mean) * (y - other_mean) for x, y in zip(one, other, strict=True)) / len(one)
        return product_sum / sqrt(variance * other_variance)

    true_age, untrue_age, pay = (list(map(float, column)) for column in zip(*pairs, strict=True))
    (told,) = result.utility["moments"]
    assert told["column"] == "age"
    figures = [told[name] for name in ("mean", "variance", "released_mean", "released_variance")]
    assert figures == pytest.approx([*moments(true_age), *moments(untrue_age)])
    (both,) = result.utility["correlations"]
    assert both["columns"] == ["age", "pay"]
    assert both["source"] == pytest.approx(correlation(true_age, pay))
    assert both["released"] == pytest.approx(correlation(untrue_age, pay))


def test_swapping_keeps_every_value_and_ranks_stay_near(database: Database) -> None:
    rows = people(200, nulls=False)
    filled(database, rows)
    result = kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"rank_swap": 0.05}}))
    assert result.utility["frequencies"][0]["distance"] == 0
    ranks: dict[int, list[int]] = {}
    for rank, row in enumerate(sorted(rows, key=lambda row: (row["age"], oracle.draw("first age", row["id"])))):
        ranks.setdefault(row["age"], []).append(rank)
    for row, one in zip(rows, oracle.masked(rows, "id", "age", {"rank_swap": {"share": 0.05}}), strict=True):
        assert min(abs(a - b) for a, b in product(ranks[row["age"]], ranks[one])) <= 0.05 * 200


def test_noise_is_normal() -> None:
    """Quantiles with mean 0 and variance 1, and the normal distribution's fourth moment but for its tails."""
    values = standard_normal()
    assert abs(sum(values)) < 1e-9
    assert sum(value**2 for value in values) / len(values) == pytest.approx(1, abs=1e-12)
    assert sum(value**4 for value in values) / len(values) == pytest.approx(3, abs=0.02)
    assert list(values) == sorted(values)


def test_two_stages_leave_expected_frequencies_alone() -> None:
    """t P Q = t, exactly; by hand for two categories: P = [[3/4, 1/4], [1/2, 1/2]] and t = (40, 20)."""
    matrix = {"a": {"a": Fraction(3, 4), "b": Fraction(1, 4)}, "b": {"a": Fraction(1, 2), "b": Fraction(1, 2)}}
    both = by_bayes(matrix, {"a": 40, "b": 20})
    # 40 arrive as a: 30 were a, 10 were b. 20 arrive as b: 10 were a, 10 were b.
    assert both["a"] == {"a": Fraction(3, 4) * Fraction(3, 4) + Fraction(1, 4) / 2, "b": Fraction(5, 16)}
    assert 40 * both["a"]["a"] + 20 * both["b"]["a"] == 40
    three = {label: {to: Fraction(str(p)) for to, p in row.items()} for label, row in MATRIX.items()}
    counts = {"flu": 7, "cold": 0, "gout": 3}
    made = by_bayes(three, counts)
    for to in counts:
        assert sum(counts[label] * made[label].get(to, 0) for label in counts) == counts[to]
    assert all(sum(row.values()) == 1 for row in made.values())


def test_thresholds_leave_no_number_out() -> None:
    rows = thresholds({"a": {"a": Fraction(1, 3), "b": Fraction(0), "c": Fraction(2, 3)}}, 2**48)
    assert [(low, high) for _, low, high, _ in rows] == [("0", str(2**48 // 3)), (str(2**48 // 3), str(2**48))]
    assert [to for *_, to in rows] == ["a", "c"]


@pytest.mark.slow
def test_invariant_pram_leaves_frequencies_alone_on_average(database: Database) -> None:
    """Over 20 secrets: the mean count of each category is the source's, within four standard errors."""
    rows = people(120, nulls=False)
    filled(database, rows)
    true = Counter(row["sick"] for row in rows)
    for how in ({"retain": 0.3}, {"matrix": MATRIX}):
        counts: Counter[str] = Counter()
        for _ in range(20):
            spec = kanon_sql.PerturbSpec.from_dict(
                {**BASE, "key_variable": None, "perturb": {"sick": {"pram": how}}, "linkage": {"rows": 1}}
            )
            kanon_sql.perturb(database.engine, spec)
            counts += Counter(value for (value,) in database.rows("masked"))
        for category, count in true.items():
            assert abs(counts[category] / 20 - count) < 4 * sqrt(120 * 0.25 / 20)


def test_untrue_everywhere_it_is_said(database: Database) -> None:
    filled(database, people(40))
    result = kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"noise": 0.5}}, keep=["town"]))
    assert result.verdict == "perturbed"
    assert result.to_dict()["truthful"] is False
    assert "values of age are untrue" in result.message
    assert any("this release is not" in note for note in result.notes)
    ((text,),) = database.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    manifest = json.loads(text)
    assert manifest["truthful"] is False
    assert manifest["perturbed"] == ["age"]
    assert manifest["perturbation"]["linkage"] == result.linkage
    assert "achieved" not in manifest
    assert oracle.SECRET not in text + json.dumps([list(result.sql), result.to_dict()])
    assert not any(oracle.key_for(purpose) in sql for sql in result.sql for purpose in ("first age", "linkage"))


@pytest.mark.slow
def test_an_untrue_release_is_judged_by_nobody(database: Database) -> None:
    """It would satisfy any k: values are wrong, and fit whom they like."""
    filled(database, people(60))
    kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"rank_swap": 0.5}}))
    asked = {"version": 1, "quasi_identifiers": {"age": {}}, "privacy": [{"k_anonymity": 1}], "release": "other"}
    own = kanon_sql.Spec.from_dict({**asked, "source": "people"})
    of_untrue = kanon_sql.Spec.from_dict({**asked, "source": "masked"})
    since_untrue = kanon_sql.Republication("masked", "pay", 2)
    released = {"version": 1, "source": "masked", "release": "other", "unit": "pay"}
    invariance = {"m_invariance": {"attribute": "age", "m": 2, "history": "history"}}
    columns = {"quasi_identifiers": {"sex": {}}, "sensitive": ["age"]}
    invariant = kanon_sql.Spec.from_dict({**released, **columns, "privacy": [invariance]})
    position = {"columns": ["age", "sex"], "bounds": [0, 0, 64, 64], "depth": 1}
    cloaked = kanon_sql.CloakSpec.from_dict({**released, "kind": "positions", "position": position, "k": 2})
    for judge in (
        lambda: kanon_sql.check(database.engine, own, "masked"),
        lambda: kanon_sql.check(database.engine, own, "people", republication=since_untrue),
        lambda: kanon_sql.plan(database.engine, of_untrue),
        lambda: kanon_sql.anonymize(database.engine, of_untrue),
        lambda: kanon_sql.compare(database.engine, {"a": of_untrue}, [1, 2]),
        lambda: kanon_sql.risk(database.engine, of_untrue),
        lambda: kanon_sql.risk(database.engine, own, "masked"),
        lambda: kanon_sql.audit(database.engine, own, "masked"),
        lambda: kanon_sql.anonymize(database.engine, invariant),
        lambda: kanon_sql.cloak(database.engine, cloaked),
    ):
        with pytest.raises(SpecError, match="its values are perturbed and its"):
            judge()
    kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict({**asked, "source": "people", "release": "masked"}))
    assert kanon_sql.check(database.engine, own, "masked").passed, "a true release has taken its place"


def test_a_limit_of_what_may_be_found(database: Database) -> None:
    filled(database, people(40))
    asked: dict[str, Any] = {"perturb": {"age": {"noise": 0.1}}, "keep": ["pay"], "linkage": {"most": 0.5}}
    result = kanon_sql.perturb(database.engine, spec_of(**asked))
    assert result.verdict == "fail"
    assert result.linkage["share"] > 0.5
    assert result.release is None
    assert "masked" not in database.tables()
    with pytest.raises(RequirementNotMet, match="nothing was published"):
        result.raise_for_failure()


def test_fewer_rows_are_linked_where_pairs_would_be_too_many(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(database, people(40))
    monkeypatch.setattr(linking, "MOST_PAIRS", 200)
    result = kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"noise": 0.5}}))
    assert result.linkage["looked_at"] == 5
    assert any("linkage examined a random sample of 5 of 40 rows" in note for note in result.notes)


def test_a_written_table_that_is_another_one_is_dropped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(database, people(40))

    def after_a_change(workspace: Any, spec: Any, table: Any, summary: Any) -> None:
        workspace.engine.execute(_change(workspace.quoted(table.table)))
        publish_perturbed(workspace, spec, table, summary)

    monkeypatch.setattr("kanon_sql.verbs.perturb.publish_perturbed", after_a_change)
    with pytest.raises(VerificationError, match="not those that were measured"):
        kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"rank_swap": 0.3}}))
    assert "masked" not in database.tables()


def _change(table: str) -> Statement:
    """One exchanged value becomes another one."""
    largest = f"s0 = (SELECT MAX(s0) FROM {table})"
    return Statement("tampered", f"UPDATE {table} SET m0 = 1000 WHERE {largest}")


def test_no_figures_of_few_values(database: Database) -> None:
    """Nine values have no mean: of one, it would be the value."""
    rows = [{**row, "age": 777 if n == 3 else None, "sick": "flu"} for n, row in enumerate(people(9))]
    filled(database, rows)
    result = kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"rank_swap": 0.5}}, keep=["sick"]))
    assert result.utility == {"moments": [], "correlations": [], "frequencies": []}
    assert "777" not in json.dumps([result.to_dict(), list(result.sql)])
    with pytest.raises(SpecError, match="noise needs a column with 10 values"):
        kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"noise": 0.5}}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"privacy": [{"k_anonymity": 5}]}, "perturbed values are not true, so their release is"),
        ({"quasi_identifiers": {"age": {}}}, "perturbed values are not true, so their release is"),
        ({"perturb": {}}, "expected at least one column"),
        ({"perturb": {"age": {}}}, "expected one of {noise: 0.1}"),
        ({"perturb": {"age": {"noise": 0.1, "swap": 0.1}}}, "one method per column"),
        ({"perturb": {"age": {"noise": 0}}}, "a share above 0 and up to 1"),
        ({"perturb": {"age": {"noise": {"share": 0.1, "decimals": 10}}}}, "from 0 to 9"),
        ({"perturb": {"age": {"pram": {}}}}, "expected one of retain and matrix"),
        ({"perturb": {"age": {"pram": 1}}}, "a probability above 0 and below 1"),
        ({"perturb": {"age": {"pram": {"matrix": {"a": {"a": 1}}}}}}, "2 to 200 categories"),
        ({"perturb": {"age": {"pram": {"matrix": {"a": {"a": 0.5}, "b": {"b": 1}}}}}}, "category 1 do not add up to 1"),
        ({"perturb": {"age": {"pram": {"matrix": {"a": {"c": 1}, "b": {"b": 1}}}}}}, "a category that has no row"),
        ({"keep": ["age"]}, "the column is already under perturb"),
        ({"keep": ["id"]}, "never released"),
        ({"linkage": {"columns": ["pay"]}}, "is not released"),
        ({"release": "people"}, "would replace it"),
    ],
)
def test_refused_when_read(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(**{"perturb": {"age": {"noise": 0.1}}, **changes})
    assert any(words in str(problem) for problem in caught.value.problems)


def test_a_spec_of_anonymization_refuses_untrue_values() -> None:
    """Also where the quasi-identifiers themselves would be untrue."""
    (said,) = refusals(perturb={"age": {"noise": 0.1}})
    assert said.startswith("perturb: perturbed values are not true")
    assert "perturbed values are not true, so their release is" in said


def test_categories_are_in_no_message_and_no_manifest(database: Database) -> None:
    text = json.dumps({**BASE, "perturb": {"sick": {"pram": {"matrix": {"Qwyjibo": {"Qwyjibo": 0.5}, "b": {"b": 1}}}}}})
    with pytest.raises(SpecError) as caught:
        kanon_sql.PerturbSpec.parse(text)
    assert "Qwyjibo" not in str(caught.value)
    matrix = {"Qwyjibo": {"Qwyjibo": 1}, **MATRIX}
    filled(database, people(30))
    result = kanon_sql.perturb(database.engine, spec_of(perturb={"sick": {"pram": {"matrix": matrix}}}))
    ((manifest,),) = database.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    assert "Qwyjibo" not in manifest + json.dumps([result.to_dict(), list(result.sql)])
    assert "flu" not in manifest


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"perturb": {"town": {"noise": 0.1}}}, "noise is for numbers"),
        ({"perturb": {"town": {"rank_swap": 0.1}}}, "ranks need an order"),
        ({"perturb": {"age": {"pram": {"matrix": MATRIX}}}}, "a matrix names categories by their text"),
        ({"perturb": {"sick": {"pram": {"matrix": {"flu": {"flu": 1}, "x": {"x": 1}}}}}}, "16 rows hold a category"),
        ({"perturb": {"nobody": {"swap": 0.1}}}, "there is no column 'nobody'"),
        ({"perturb": {"sick": {"swap": {"share": 0.1, "within": ["nobody"]}}}}, "there is no column 'nobody'"),
        ({"perturb": {"pay": {"noise": {"share": 0.001}}}}, "smaller than the last digit"),
        (
            {"key": "town", "perturb": {"age": {"noise": 0.1}}},
            "3 different values in 40 rows|2 different values in 40 rows",
        ),
        ({"key": "pay", "perturb": {"age": {"noise": 0.1}}}, "whose text depends on the database"),
        ({"key_variable": "KANON_UNSET", "perturb": {"age": {"noise": 0.1}}}, "does not hold a key"),
    ],
)
def test_refused_when_the_table_is_looked_at(database: Database, changes: dict[str, Any], words: str) -> None:
    filled(database, people(40))
    with pytest.raises((SpecError, UnsupportedError), match=words):
        kanon_sql.perturb(database.engine, spec_of(**changes))
    assert "masked" not in database.tables()


@pytest.mark.slow
def test_one_secret_one_release_and_no_secret_another_each_time(database: Database) -> None:
    filled(database, people(60))
    asked = {"perturb": {"age": {"noise": 0.5}}, "keep": ["pay"]}
    found = []
    for variable in ("KANON_TESTED", "KANON_TESTED", None, None):
        kanon_sql.perturb(database.engine, spec_of(**asked, **{"key_variable": variable}))
        found.append(sorted(database.rows("masked"), key=str))
    assert found[0] == found[1]
    assert found[1] != found[2] != found[3]


def test_a_foreign_table_is_not_replaced_and_inline_is_refused(database: Database) -> None:
    filled(database, people(20))
    database.table("masked", {"x": "INTEGER"}, [])
    with pytest.raises(SpecError, match="release"):
        kanon_sql.perturb(database.engine, spec_of(perturb={"age": {"noise": 0.5}}))
    inline = kanon_sql.connect(database.connection, scratch="inline")
    with pytest.raises(UnsupportedError, match="scratch"):
        kanon_sql.perturb(inline, spec_of(perturb={"age": {"noise": 0.5}}, release=None))


@pytest.mark.slow
def test_on_the_command_line(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT row_number() OVER () AS id, * FROM visits")
    (clinic / "masking.yml").write_text(
        "version: 1\nkind: perturbed\nsource: people\nrelease: masked\nkey: id\nperturb:\n  age: {noise: 0.3}\n"
        "  diagnosis: {pram: {retain: 0.7}}\nkeep: [zip]\nlinkage: {columns: [age, zip], most: 0.9}\n"
    )
    result = run("publish", "perturbed", "masking.yml", "-d", "clinic.duckdb")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("PERTURBED  published")
    for words in ("untrue on purpose; not k-anonymous", "rows changed", "Record linkage by distance", "PASS"):
        assert (words in result.output) is (words != "PASS")
    told = json.loads(
        run("publish", "perturbed", "masking.yml", "-d", "clinic.duckdb", "--preview", "--format", "json", "-q").stdout
    )
    jsonschema.validate(told, perturbation_schema())
    assert told["release"] is None
    (clinic / "masking.yml").write_text((clinic / "masking.yml").read_text().replace("0.9", "0.0"))
    failed = run("publish", "perturbed", "masking.yml", "-d", "clinic.duckdb")
    assert failed.exit_code == 1
    assert failed.output.startswith("FAIL  nothing was published")


def test_a_preview_writes_nothing_but_temporary_tables(clinic: Path) -> None:
    spec = kanon_sql.PerturbSpec.from_dict(
        {
            "version": 1, "kind": "perturbed", "release": "masked", "key": "id", "perturb": {"age": {"noise": 0.3}},
            "source": {"query": "SELECT ROW_NUMBER() OVER (ORDER BY name) AS id, age, zip FROM visits"},
            "keep": ["zip"],
        }
    )  # fmt: skip
    with kanon_sql.connect("clinic.duckdb", read_only=True) as engine:
        assert kanon_sql.perturb(engine, spec, preview=True).verdict == "perturbed"
        with pytest.raises(kanon_sql.SpecError, match="read-only, but publishing rows needs to write"):
            kanon_sql.perturb(engine, spec)
    with (
        kanon_sql.connect("clinic.duckdb", read_only=True, scratch="inline") as engine,
        pytest.raises(kanon_sql.SpecError, match="cannot create temporary tables"),
    ):
        kanon_sql.perturb(engine, spec, preview=True)


@pytest.mark.slow
def test_a_report_says_that_values_are_untrue(clinic: Path) -> None:
    """Also one that is made of the manifest, which is otherwise that of a release that meets its requirements."""
    (clinic / "masking.yml").write_text(
        "version: 1\nkind: perturbed\nsource: visits\nrelease: masked\nkey: name\n"
        "perturb: {age: {noise: 0.3}}\nkeep: [zip]\n"
    )
    (clinic / "run.json").write_text(
        run("publish", "perturbed", "masking.yml", "-d", "clinic.duckdb", "--format", "json", "-q").stdout
    )
    with duckdb.connect("clinic.duckdb") as connection:
        ((run_id,),) = connection.execute("SELECT run_id FROM kanon_sql_manifest").fetchall()
    for what in (["run.json"], [run_id, "-d", "clinic.duckdb"]):
        assert run("report", *what, "-o", "page.html").exit_code == 0
        page = (clinic / "page.html").read_text()
        assert "<h1>Masked: values were perturbed, and k-anonymity does not apply</h1>" in page
        assert "linkage finds" in page
        assert ">PASS<" not in page
        assert "meets every requirement" not in page


@pytest.mark.slow
def test_the_schema_takes_what_the_spec_takes() -> None:
    schema = json.loads(run("pipeline", "schema", "perturbed-spec").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    for method in METHODS:
        written = {**BASE, "perturb": method, "linkage": {"rows": 5, "most": 0.1}}
        jsonschema.validate(written, schema)
        jsonschema.validate(spec_of(**written).to_dict(), schema)
        assert spec_of(**written) == kanon_sql.PerturbSpec.from_dict(spec_of(**written).to_dict())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**BASE, "perturb": {"age": {"noise": 2}}}, schema)
