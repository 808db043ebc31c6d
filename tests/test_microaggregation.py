"""Micro-aggregation against plain Python: classes satisfy, numbers are those of their class, squares are few."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from aggregates_oracle import aggregate, least_squares, mdav, share_lost, squares_lost
from conftest import Database
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import kanon_sql
from kanon_sql.engines.base import Meter
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError, VerificationError
from kanon_sql.recode.microaggregation import STATEMENTS_A_ROUND
from kanon_sql.release import write as write_module

TREE = {"south": ["a", "b"], "north": ["c", "d"]}
OTHERS = 140
"""Statements that a run takes besides its rounds."""

Line = tuple[int | None, int | None, str, str, int]


def spec(columns: dict[str, str] | None = None, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"age": None, "pay": None},
            "keep": ["serial"],
            "privacy": [{"k_anonymity": 3}],
            "recoding": {"method": "microaggregation", "columns": columns or {"age": "mean", "pay": "median"}},
            **changes,
        }
    )


def load(database: Database, rows: list[Line]) -> None:
    types = {"age": "INTEGER", "pay": "INTEGER", "city": "VARCHAR", "illness": "VARCHAR", "person": "INTEGER"}
    numbered = [(*row, serial) for serial, row in enumerate(rows)]
    database.table("people", {**types, "serial": "INTEGER"}, numbered)


def classes(database: Database, width: int) -> dict[tuple[Any, ...], list[int]]:
    """The serial numbers of every class, by what it is released as; the serial number is the last column."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row in database.rows("people_release"):
        found.setdefault(row[:width], []).append(row[-1])
    return found


def scattered(rows: int, seed: int = 1) -> list[Line]:
    draw = random.Random(seed)
    return [
        (draw.randint(18, 90), int(draw.lognormvariate(7, 0.8)), draw.choice("abcd"), draw.choice("xyz"), serial // 2)
        for serial in range(rows)
    ]


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Line], dict[str, str], int]:
    chance = draw(st.randoms(use_true_random=False))
    missing = draw(st.sampled_from([0.0, 0.0, 0.1]))

    def number(most: int) -> int | None:
        return None if chance.random() < missing else chance.randint(-most, most)

    rows = [
        (number(9), number(900), chance.choice("abcd"), chance.choice("xyz"), chance.randint(0, 9))
        for _ in range(draw(st.integers(0, 40)))
    ]
    functions = st.sampled_from(["mean", "median", "mode"])
    return rows, {"age": draw(functions), "pay": draw(functions)}, draw(st.integers(2, 5))


@given(problem=problems(), with_city=st.booleans(), diverse=st.booleans(), by_person=st.booleans())
@examples(25)
def test_classes_satisfy_and_numbers_are_those_of_their_class(
    shared_database: Database,
    problem: tuple[list[Line], dict[str, str], int],
    with_city: bool,
    diverse: bool,
    by_person: bool,
) -> None:
    rows, columns, k = problem
    load(shared_database, rows)
    names = ["age", "pay", *(["city"] if with_city else [])]
    asked: list[dict[str, Any]] = [{"k_anonymity": k}]
    asked += [{"l_diversity": {"attribute": "illness", "l": 2}}] if diverse else []
    changes: dict[str, Any] = {
        "quasi_identifiers": {name: {"tree": TREE} if name == "city" else None for name in names},
        "sensitive": ["illness"] if diverse else [],
        "privacy": asked,
        **({"unit": "person"} if by_person else {}),
    }
    result = kanon_sql.anonymize(shared_database.engine, spec(columns, **changes))
    whole = {row[4] for row in rows} if by_person else rows
    assert result.passed == (len(whole) >= k and (not diverse or len({row[3] for row in rows}) > 1))
    if not result.passed:
        return
    found = classes(shared_database, len(names))
    assert sorted(serial for members in found.values() for serial in members) == list(range(len(rows)))
    released: dict[int, tuple[Any, ...]] = {}
    for labels, members in found.items():
        assert len({rows[serial][4] for serial in members} if by_person else members) >= k
        assert not diverse or len({rows[serial][3] for serial in members}) > 1
        for index, name in enumerate(("age", "pay")):
            assert labels[index] == aggregate([rows[serial][index] for serial in members], columns[name])  # type: ignore[misc]
        released.update(dict.fromkeys(members, labels))
    assert result.recoding is not None
    for index, name in enumerate(("age", "pay")):
        lost = squares_lost(
            [row[index] for row in rows],  # type: ignore[misc]
            [released[serial][index] for serial in range(len(rows))],
        )
        assert result.recoding["columns"][name]["squares_lost"] == pytest.approx(float(lost), abs=1e-6)


@given(values=st.lists(st.integers(0, 40), min_size=2, max_size=40), k=st.integers(2, 5))
@examples(20)
def test_no_division_of_one_column_has_smaller_squares(shared_database: Database, values: list[int], k: int) -> None:
    """Hansen and Mukherjee's optimum. Values are far apart, so that no two classes have the same rounded mean."""
    values = [1000 * value for value in values]
    load(shared_database, [(value, 0, "a", "x", serial) for serial, value in enumerate(values)])
    result = kanon_sql.anonymize(
        shared_database.engine, spec({"age": "mean"}, quasi_identifiers={"age": None}, privacy=[{"k_anonymity": k}])
    )
    assert result.passed == (len(values) >= k)
    if not result.passed:
        return
    assert result.recoding is not None
    assert result.recoding["optimal"]
    lost = Fraction(0)
    for members in classes(shared_database, 1).values():
        own = [values[serial] for serial in members]
        lost += sum(value * value for value in own) - Fraction(sum(own) ** 2, len(own))
    assert lost == least_squares(values, k)


@pytest.mark.parametrize("seed", range(4))
def test_squares_are_within_1_4_of_mdav(database: Database, seed: int) -> None:
    """On two columns, one of them heavy-tailed."""
    rows = scattered(150, seed)
    load(database, rows)
    kanon_sql.anonymize(database.engine, spec({"age": "mean", "pay": "mean"}, privacy=[{"k_anonymity": 5}]))
    numbers = [(float(row[0] or 0), float(row[1] or 0)) for row in rows]
    ours = share_lost(numbers, classes(database, 2).values())
    assert ours <= 1.4 * share_lost(numbers, mdav(numbers, 5))


@pytest.fixture
def people(database: Database) -> Database:
    load(database, scattered(60))
    return database


def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database) -> None:
    for rows in (60, 1_500):
        load(database, scattered(rows))
        result = kanon_sql.anonymize(database.engine, spec())
        assert result.recoding is not None
        assert result.cost.statements <= STATEMENTS_A_ROUND * (result.recoding["rounds"] + 1) + OTHERS
        assert result.cost.rows_fetched <= 3 * result.recoding["rounds"] + 90


def test_kinds_of_numbers_and_their_digits_are_kept(database: Database) -> None:
    types = {"age": "INTEGER", "pay": "DECIMAL(9, 2)"}
    database.table("people", types, [(age, f"{age}.{age}5") for age in range(10, 40)])
    kanon_sql.anonymize(database.engine, spec({"age": "median", "pay": "mean"}, keep=[]))
    described = {line[0]: line[1] for line in database.connection.execute("DESCRIBE people_release").fetchall()}
    assert described["age"] == "BIGINT"
    assert described["pay"].startswith("DECIMAL(")
    assert described["pay"].endswith(",2)")


def test_other_verbs_and_the_report_know_it(people: Database) -> None:
    asked = spec()
    plan = kanon_sql.plan(people.engine, asked)
    result = kanon_sql.anonymize(people.engine, asked)
    assert plan.recoding == result.recoding
    assert result.recoding is not None
    assert result.mean_loss is None, "squares are told apart from the detail of labels"
    assert kanon_sql.check(people.engine, asked).passed
    assert kanon_sql.risk(people.engine, asked).histogram.records == 60
    page = kanon_sql.html_report(result)
    assert "Micro-aggregation: numbers are replaced by the mean, the median or the mode of their class" in page
    assert "of their squares" in page
    with pytest.raises(UnsupportedError, match="the numbers of microaggregation are no labels"):
        kanon_sql.plan(people.engine, asked, bound=True)


def test_a_failure_of_any_statement_leaves_the_earlier_release(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Meter.count
    names: list[str] = []
    failing: list[str] = []

    def count(self: Meter, statement: Any, *given: Any) -> Any:
        names.append(statement.name)
        if statement.name in failing:
            raise DatabaseError(f"{statement.name} fails")
        return counted(self, statement, *given)

    monkeypatch.setattr(Meter, "count", count)
    kanon_sql.anonymize(people.engine, spec())
    before = Counter(people.rows("people_release"))
    own = [name for name in dict.fromkeys(names) if name.startswith(("recode/", "release/recoded", "release/write"))]
    assert {"recode/microaggregation/splits", "release/recoded_aggregates", "release/write"} <= set(own)
    for name in own:
        failing[:] = [name]
        with pytest.raises(DatabaseError):
            kanon_sql.anonymize(people.engine, spec())
        assert Counter(people.rows("people_release")) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET age = age + 1",
        "UPDATE {table} SET pay = (SELECT MIN(pay) FROM {table}) WHERE age = (SELECT MAX(age) FROM {table})",
        "DELETE FROM {table} WHERE age = (SELECT MIN(age) FROM {table})",
    ],
)
def test_a_written_table_that_is_not_the_recoding_is_dropped(
    people: Database, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    verify = write_module._verify

    def tampered(workspace: Any, choice: Any, target: Any, *given: Any, **named: Any) -> Any:
        people.connection.execute(statement.format(table=target.parts[-1]))
        return verify(workspace, choice, target, *given, **named)

    monkeypatch.setattr(write_module, "_verify", tampered)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(people.engine, spec())
    assert "people_release" not in people.tables()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": "microaggregation"}, "microaggregation needs columns, such as {income: mean, age: median}"),
        ({"recoding": {"method": "microaggregation", "columns": {}}}, "expected at least one column"),
        ({"recoding": {"method": "microaggregation", "columns": {"age": "sum"}}}, "recoding.columns.age: unknown"),
        ({"recoding": {"method": "microaggregation", "columns": {"sex": "mean"}}}, "'sex' is no quasi-identifier"),
        ({"recoding": {"method": "local", "columns": {"age": "mean"}}}, "only the method microaggregation takes it"),
        ({"quasi_identifiers": {"age": {"minimum_level": 1}, "pay": None}}, "releases a number, not a level"),
        ({"suppression": {"limit": 0.1, "style": "mask"}}, "suppression.style: a masked row has the text *"),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(**changes)
    assert said in str(refused.value)


def test_a_column_of_texts_is_refused(people: Database) -> None:
    asked = spec({"city": "mean"}, quasi_identifiers={"city": None})
    with pytest.raises((SpecError, UnsupportedError), match="city"):
        kanon_sql.plan(people.engine, asked)
