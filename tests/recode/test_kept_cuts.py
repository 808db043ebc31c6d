"""Cuts that are kept, and new rows that are divided by them, against an oracle; what is refused; what a kill leaves."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.report.json import result_schema
from kanon_sql.report.recoding import recoding_in_words
from tests.conftest import Database
from tests.oracles.aggregates import aggregate, whole
from tests.oracles.kept import cuts_in, divided
from tests.oracles.mondrian import MondrianProblem, Ordered, set_of
from tests.recode import test_microaggregation as numbers
from tests.recode import test_mondrian as medians
from tests.recode.test_mondrian import STATEMENTS_A_ROUND, STEPS
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

STATEMENTS_A_STEP = 6
"""What a step of a kept recoding takes at most."""

KEEP = {"method": "mondrian", "save_as": "learned"}

MORE: dict[str, list[Any]] = {
    "age": [-99, -5, 8, 33, 34, 1000, None],
    "city": ["", "A", "b", "bb", "é", "z", None],
    "step": [*STEPS, None],
}
"""Values that a recoding was not learned with: below, between and above; and NULL where there was none."""


def renewed(draw: Any, problem: MondrianProblem, more: dict[str, list[Any]]) -> MondrianProblem:
    """Other rows of the columns of a problem: some of its own again, and some with other values."""
    chance = draw(st.randoms(use_true_random=False))
    rows: list[dict[str, Any]] = []
    few = chance.sample(list(problem.rows), min(3, len(problem.rows)))
    known = draw(st.sampled_from([problem.rows, few]))  # few are alike, so that many sides have hardly a row
    for _ in range(draw(st.integers(0, 50)) if problem.rows else 0):
        row = dict(chance.choice(known))
        for column in more:
            if column in row and chance.random() < 0.3:
                row[column] = chance.choice(more[column])
        rows.append(row)
    return replace(problem, rows=rows)


def listed(problem: MondrianProblem) -> dict[str, Ordered]:
    """The columns, of which the values are those of the problem's rows."""
    found = {}
    for name, ordered in problem.columns.items():
        held = {row[name] for row in problem.rows}
        values = sorted(held - {None}, key=lambda value: value if isinstance(value, int) else value.encode())
        found[name] = Ordered(STEPS if ordered.listed else values, None in held, ordered.listed, ordered.weight)
    return found


def comparable(name: str, value: Any) -> Any:
    """A value as bounds of its column are compared."""
    if value is None or name == "age":
        return value
    return STEPS.index(value) if name == "step" else value.encode()


def assert_same_classes(found: dict[Any, list[int]], wanted: list[list[int]]) -> None:
    """Every released class is made of whole classes of the oracle."""
    number = {row: place for place, members in enumerate(wanted) for row in members}
    for members in found.values():
        held = {number[row] for row in members}
        assert sorted(members) == sorted(row for place in held for row in wanted[place])


def learned_from(
    database: Database, asked: kanon_sql.Spec, types: dict[str, str], rows: list[list[Any]]
) -> tuple[kanon_sql.results.Release, kanon_sql.results.AppliedRelease | None]:
    """Learn from the table that is there, and apply what was learned to other rows."""
    for name in ("others", "others_release", "learned", "people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    learned = kanon_sql.anonymize(database.engine, asked)
    if not learned.passed:
        return learned, None
    again = kanon_sql.apply(database.engine, asked, "learned", source="people", release="others_release")
    assert again.passed, "to the rows that they were learned from"
    assert Counter(database.rows("others_release")) == Counter(database.rows("people_release"))
    database.connection.execute("DROP TABLE others_release")
    database.table("others", types, rows)
    result = kanon_sql.apply(database.engine, asked, "learned", source="others", release="others_release")
    jsonschema.validate(result.to_dict(), result_schema())
    return learned, result


@st.composite
def ranged(draw: st.DrawFn) -> tuple[MondrianProblem, MondrianProblem]:
    problem = draw(medians.problems())
    return problem, renewed(draw, problem, MORE)


@pytest.mark.slow
@given(drawn=ranged())
@examples(4)
def test_ranges_of_new_rows(shared_database: Database, drawn: tuple[MondrianProblem, MondrianProblem]) -> None:
    """Each class is divided as the oracle divides it, satisfies, and has labels of its own rows: the lowest ranges."""
    problem, new = drawn
    database = shared_database
    medians.published(database, problem)
    asked = kanon_sql.Spec.from_dict({**medians.asked(problem).to_dict(), "recoding": KEEP})
    types = medians.types_of(problem)
    rows = [[*(row[name] for name in types if name != "serial"), number] for number, row in enumerate(new.rows)]
    _, result = learned_from(database, asked, types, rows)
    if result is None:
        assert "learned" not in database.tables()
        return
    bounds = cuts_in(database.columns("learned"), database.rows("learned"))
    if any(name == "city" for name in problem.columns):
        place = list(problem.columns).index("city")
        bounds = {
            key: replace(cut, bound=comparable("city", cut.bound)) if cut.attribute == place else cut
            for key, cut in bounds.items()
        }
    everybody = list(range(len(new.rows)))
    event(f"{result.verdict}, {len(bounds) > 3}")
    assert result.passed == (bool(everybody) and new.satisfies(everybody))
    if not result.passed:
        assert "others_release" not in database.tables()
        return
    cells = [[comparable(name, row[name]) for name in problem.columns] for row in new.rows]
    wanted = divided(cells, bounds, new.satisfies)
    found: dict[Any, list[int]] = {}
    listed_names = ", ".join(problem.columns)
    for *labels, serial in database.connection.execute(f"SELECT {listed_names}, serial FROM others_release").fetchall():
        found.setdefault(tuple(labels), []).append(serial)
    assert sorted(row for members in found.values() for row in members) == everybody
    assert_same_classes(found, wanted)
    assert len(found) == len({boxes(new, members) for members in wanted}) or problem.unit is not None
    for labels, members in found.items():
        assert new.satisfies(members)
        for label, (name, ordered) in zip(labels, listed(new).items(), strict=True):
            held = {new.rows[row][name] for row in members}
            stands = set_of(label, ordered, [])
            assert held <= stands
            if len(held) == 1:
                assert stands == held or (ordered.size == 1 and label == "*")


def boxes(problem: MondrianProblem, members: list[int]) -> tuple[Any, ...]:
    """The first and the last value of some rows in each column, and whether there is NULL."""
    found: list[Any] = []
    for name in problem.columns:
        held = [comparable(name, problem.rows[row][name]) for row in members]
        known = [value for value in held if value is not None]
        found.append((min(known, default=None), max(known, default=None), None in held))
    return tuple(found)


@st.composite
def counted(draw: st.DrawFn) -> tuple[MondrianProblem, MondrianProblem, dict[str, str]]:
    problem, functions = draw(numbers.problems())
    rows = [{name: value for name, value in row.items() if name != "step"} for row in problem.rows]
    more: dict[str, list[Any]] = {
        "income": [Decimal(-999), Decimal(8), Decimal("0.95"), None], "age": [-77, 3, 200, None],
        "score": [-5.5, 0.004, 7e7, None],
        "born": [date(1500, 1, 1), date(1950, 5, 5), date(2090, 1, 1), None],
        "seen": [datetime(1900, 1, 1), datetime(1970, 1, 1, 0, 0, 1), None],
    }  # fmt: skip
    problem = replace(problem, rows=rows)
    return problem, renewed(draw, problem, more), functions


@pytest.mark.slow
@given(drawn=counted())
@examples(4)
def test_numbers_of_new_rows(
    shared_database: Database, drawn: tuple[MondrianProblem, MondrianProblem, dict[str, str]]
) -> None:
    """Each class is divided as the oracle divides it, and released with the means, medians or modes of its own rows."""
    problem, new, functions = drawn
    database = shared_database
    columns = {name: {"aggregate": own, "digits": 2} if name == "score" else own for name, own in functions.items()}
    asked = numbers.spec(
        columns, None, sensitive=["s0"], privacy=list(problem.requirements), unit=problem.unit,
        recoding={"method": "microaggregation", "columns": columns, "save_as": "learned"},
    )  # fmt: skip
    types = {name: kind for name, kind in numbers.TYPES.items() if name in functions or name in ("s0", "unit")}
    types["serial"] = "INTEGER"

    def lines(rows: Any) -> list[list[Any]]:
        return [[*(row[name] for name in types if name != "serial"), number] for number, row in enumerate(rows)]

    database.table("people", types, lines(problem.rows))
    learned, result = learned_from(database, asked, types, lines(new.rows))
    if result is None:
        return
    cuts = cuts_in(database.columns("learned"), database.rows("learned"))
    everybody = list(range(len(new.rows)))
    event(f"{result.verdict}, {len(cuts) > 3}")
    assert result.passed == (bool(everybody) and new.satisfies(everybody))
    assert learned.recoding is not None
    assert not learned.recoding["optimal"]
    if not result.passed:
        return
    cells = [[whole(row[name]) for name in functions] for row in new.rows]
    wanted = divided(cells, cuts, new.satisfies)
    found: dict[Any, list[int]] = {}
    names = ", ".join(functions)
    for *released, serial in database.connection.execute(f"SELECT {names}, serial FROM others_release").fetchall():
        found.setdefault(tuple(released), []).append(serial)
    assert sorted(row for members in found.values() for row in members) == everybody
    assert_same_classes(found, wanted)
    for members in found.values():
        assert new.satisfies(members)
    if problem.unit is None:
        for members in wanted:
            own = [aggregate([row[place] for row in (cells[n] for n in members)], functions[name])
                   for place, name in enumerate(functions)]  # fmt: skip
            assert own in [[whole(cell) for cell in released] for released, held in found.items() if members[0] in held]


# --- worked out by hand -----------------------------------------------------------------------


def simple(recoding: Any = KEEP, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "visits", "release": "visits_release", "quasi_identifiers": {"age": None},
            "privacy": [{"k_anonymity": 2}], "recoding": recoding, **changes,
        }
    )  # fmt: skip


MEANS = {"method": "microaggregation", "columns": {"age": "mean"}, "save_as": "learned"}


@pytest.fixture
def visits(database: Database) -> Database:
    """The cuts: before 30, before 20, before 40."""
    database.table("visits", {"age": "INTEGER"}, [(age,) for age in (10, 11, 20, 21, 30, 31, 40, 41)])
    return database


def applied(database: Database, ages: Any, asked: kanon_sql.Spec | None = None, **types: str) -> Any:
    database.table("new", types or {"age": "INTEGER"}, [(age,) for age in ages])
    result = kanon_sql.apply(database.engine, asked or simple(), "learned", source="new", release="new_release")
    return Counter(row[0] for row in database.rows("new_release")) if result.passed else result.message


@pytest.mark.slow
def test_what_is_kept_are_the_cuts(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, simple())
    assert "the recoding is kept in learned: 3 cuts, whose values are as sensitive as the source's" in result.notes
    assert visits.columns("learned") == ["step", "part", "attribute", "piece", "bound0"]
    assert sorted(visits.rows("learned")) == [(0, 1, 0, 2, 30), (1, 1, 0, 3, 20), (1, 2, 0, 4, 40)]
    assert visits.tables() == ["kanon_sql_manifest", "kanon_sql_scratch", "learned", "visits", "visits_release"]


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("ages", "released"),
    [
        # Between two old values: the lower side. Below and above all of them: the outermost class.
        ((5, 19, 29, 25, 35, 39, 99, 45), {"<= 19": 2, "[25, 29]": 2, "[35, 39]": 2, ">= 45": 2}),
        # One row alone on a side goes with the other side, and then follows its cuts.
        ((5, 31, 32, 40, 41), {"<= 32": 3, ">= 40": 2}),
        ((10, 11, 20, 21, 45), {"<= 11": 2, ">= 20": 3}),
        # Neither side of the first cut satisfies: all are one class.
        ((5, 40), {"*": 2}),
        # A side without a row is no side.
        ((41, 42, 43), {"*": 3}),
        # NULL is above all values, although none was there before.
        ((10, 11, None, None), {"not NULL": 2, None: 2}),
    ],
)
def test_new_rows_by_hand(visits: Database, ages: Any, released: dict[str | None, int]) -> None:
    kanon_sql.anonymize(visits.engine, simple())
    assert applied(visits, ages) == released


@pytest.mark.slow
def test_a_class_that_neither_side_of_a_cut_could_be_is_divided_no_more(database: Database) -> None:
    """By the second column both halves would have two illnesses; the first cut is by the other one."""
    types = {"x": "INTEGER", "y": "INTEGER", "s": "VARCHAR"}
    privacy = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "s", "l": 2}}]
    asked = simple(quasi_identifiers={"x": None, "y": None}, sensitive=["s"], privacy=privacy)
    database.table("visits", types, [(x, y, s) for x in (0, 1) for y in (0, 1) for s in "ab"])
    kanon_sql.anonymize(database.engine, asked)
    assert {row[2] for row in database.rows("learned") if row[0] == 0} == {0}
    database.table("new", types, [(x, y, "ab"[x]) for x in (0, 1) for y in (0, 1)])
    assert kanon_sql.apply(database.engine, asked, "learned", source="new", release="new_release").passed
    assert {row[:2] for row in database.rows("new_release")} == {("*", "*")}


@pytest.mark.slow
def test_reports_say_that_cuts_were_kept(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, simple())
    visits.table("new", {"age": "INTEGER"}, [(10,), (12,), (35,), (99,)])
    result = kanon_sql.apply(visits.engine, simple(), "learned", source="new", release="new_release")
    assert result.recoding is not None
    assert "2 classes by the cuts that were kept" in recoding_in_words(result.recoding)


@pytest.mark.slow
def test_new_numbers_by_hand(visits: Database) -> None:
    """The means are those of the new rows, whatever those of the old ones were."""
    kanon_sql.anonymize(visits.engine, simple(MEANS))
    assert applied(visits, (5, 19, 29, 25, 35, 39, 99, 45), simple(MEANS)) == {12: 2, 27: 2, 37: 2, 72: 2}


@pytest.mark.slow
def test_a_cut_before_null_leaves_all_values_below(database: Database) -> None:
    """The upper side had NULL alone: a value that is higher than all others is still none of them."""
    for recoding, released in ((KEEP, {"not NULL": 4, None: 2}), (MEANS, {26: 4, None: 2})):
        database.table("visits", {"age": "INTEGER"}, [(10,), (10,), (None,), (None,)])
        asked = simple(recoding)
        kanon_sql.anonymize(database.engine, asked)
        assert [row[-1] for row in database.rows("learned")] == [None]
        assert applied(database, (1, 2, 3, 99, None, None), asked) == released


@pytest.mark.slow
def test_rows_that_violate_together_are_not_released(visits: Database) -> None:
    for recoding in (KEEP, MEANS):
        kanon_sql.anonymize(visits.engine, simple(recoding))
        assert "all 1 row together violate the requirements" in applied(visits, [10], simple(recoding))
        assert "new_release" not in visits.tables()


@pytest.mark.slow
def test_no_cut_is_kept_where_none_is_made(database: Database) -> None:
    database.table("visits", {"age": "INTEGER"}, [(10,), (11,)])
    for recoding in (KEEP, MEANS):
        kanon_sql.anonymize(database.engine, simple(recoding))
        assert database.rows("learned") == []
        assert sum(applied(database, (1, 2, 90), simple(recoding)).values()) == 3


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("kind", "learned", "new", "released"),
    [
        ("DATE", ["1969-01-01", "1969-01-02", "1971-01-01", "1971-01-02"], ["1960-01-01", "1970-06-01", "1999-01-01",
         "1971-01-01"], {"<= 1970-06-01": 2, ">= 1971-01-01": 2}),
        ("VARCHAR", ["B", "a", "b", "c"], ["A", "aa", "b", "é"], {"<= aa": 2, ">= b": 2}),
        ("DOUBLE", [-0.5, 0.25, 1.5, 2.5], [-9.0, 1.25, 1.5, 99.0], {"<= 1.25": 2, ">= 1.5": 2}),
        ("TIMESTAMPTZ", ["1969-01-01", "1969-01-02", "1971-01-01", "1971-01-02"], ["1960-01-01", "1970-06-01",
         "1999-01-01", "1971-01-01"], {"<= 1970-06-01 00:00:00+00": 2, ">= 1971-01-01 00:00:00+00": 2}),
        ("BOOLEAN", [False, False, True, True], [True, True, False, False], {"true": 2, "false": 2}),
    ],
)  # fmt: skip
def test_cuts_of_every_kind_of_value(
    database: Database, kind: str, learned: Any, new: Any, released: dict[str, int]
) -> None:
    database.connection.execute("SET TimeZone = 'UTC'")
    database.table("visits", {"age": kind}, [(value,) for value in learned])
    kanon_sql.anonymize(database.engine, simple())
    assert database.connection.execute("SELECT COUNT(*) FROM learned").fetchall() == [(1,)]
    assert applied(database, new, age=kind) == released


@pytest.mark.slow
def test_cuts_in_the_order_of_a_hierarchy(database: Database) -> None:
    """Which is no order of their characters; some of its values occur in the new rows alone."""
    asked = simple(quasi_identifiers={"age": {"tree": {"young": ["new", "minor"], "old": ["adult", "aged"]}}})
    database.table("visits", {"age": "VARCHAR"}, [("new",), ("new",), ("aged",), ("aged",)])
    kanon_sql.anonymize(database.engine, asked)
    assert [row[-1] for row in database.rows("learned")] == [3]
    assert applied(database, ["minor", "adult", "aged", "aged"], asked, age="VARCHAR") == {"minor..adult": 2, "aged": 2}


@pytest.mark.slow
def test_quasi_identifiers_may_stand_in_another_order(database: Database) -> None:
    both = {"x": None, "y": None}
    rows = [(n % 2, n * 7 % 32) for n in range(32)]
    found = []
    for columns in (both, dict(reversed(both.items()))):
        database.table("visits", {"x": "INTEGER", "y": "INTEGER"}, rows)
        if columns is both:
            kanon_sql.anonymize(database.engine, simple(quasi_identifiers=both))
        database.table("new", {"x": "INTEGER", "y": "INTEGER"}, [(n % 3, n * 5 % 41) for n in range(41)])
        asked = simple(quasi_identifiers=columns)
        assert kanon_sql.apply(database.engine, asked, "learned", source="new", release="new_release").passed
        found.append(Counter(database.rows("new_release")))
    assert found[0] == found[1]
    assert len(found[0]) > 4


# --- what it costs, and what is refused -------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("recoding", [KEEP, MEANS])
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database, recoding: Any) -> None:
    for rows in (60, 3_000):
        draw = random.Random(rows)
        database.table("visits", {"age": "INTEGER"}, [(draw.randint(0, 9_999),) for _ in range(rows)])
        learned = kanon_sql.anonymize(database.engine, simple(recoding))
        assert learned.recoding is not None
        most = STATEMENTS_A_ROUND if recoding is KEEP else numbers.STATEMENTS_A_ROUND
        assert learned.cost.statements <= (most + 2) * (learned.recoding["rounds"] + 1) + 150
        database.table("new", {"age": "INTEGER"}, [(draw.randint(-99, 19_999),) for _ in range(rows)])
        result = kanon_sql.apply(database.engine, simple(recoding), "learned", source="new", release="new_release")
        assert result.passed
        assert result.recoding is not None
        assert result.recoding["start"] == "kept"
        assert result.cost.statements <= STATEMENTS_A_STEP * result.recoding["rounds"] + 150
        assert learned.cost.rows_fetched <= 80
        assert result.cost.rows_fetched <= 80


REFUSED: list[tuple[Any, str]] = [
    ({"method": "mondrian", "variant": "relaxed", "save_as": "x"}, "relaxed splits equal rows"),
    ({"method": "local", "ranges": ["age"], "save_as": "x"}, "use mondrian, whose cuts divide all values"),
    ({"method": "forest", "save_as": "x"}, "forest divides equal rows among classes as this source needs"),
    ({"method": "cover", "save_as": "x"}, "cover divides equal rows among classes"),
    ({"method": "matching", "save_as": "x"}, "matching divides equal rows among classes"),
]


@pytest.mark.slow
@pytest.mark.parametrize("recoding", [KEEP, MEANS])
def test_no_more_rows_with_null_are_suppressed_than_the_spec_allows(visits: Database, recoding: Any) -> None:
    """Three rows of seven have a NULL; that the other rows satisfy does not make three few."""
    ages = (10, 11, 30, 31, None, None, None)
    for limit, published in ((0, False), (2, False), (0.4, False), (3, True), (0.43, True)):
        asked = simple(recoding, nulls="suppress", suppression=suppressing(limit))
        assert kanon_sql.anonymize(visits.engine, asked).passed
        found = applied(visits, ages, asked)
        if published:
            assert sum(found.values()) == 4
        else:
            assert "3 rows with a NULL quasi-identifier would go (nulls: suppress), but the suppression limit" in found
            assert "new_release" not in visits.tables()


@pytest.mark.slow
def test_a_recoding_that_counts_wrong_writes_nothing(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is held once more where every release is written."""
    monkeypatch.setattr("kanon_sql.recode.kept_cuts.too_many_nulls", lambda given: None)
    asked = simple(KEEP, nulls="suppress", suppression={"max_rows": 2})
    assert kanon_sql.anonymize(visits.engine, asked).passed
    with pytest.raises(VerificationError, match="3 of 7 rows would be suppressed, where at most 2 may be"):
        applied(visits, (10, 11, 30, 31, None, None, None), asked)
    assert "new_release" not in visits.tables()


@pytest.mark.parametrize(("recoding", "said"), REFUSED)
def test_what_cannot_be_kept(recoding: Any, said: str) -> None:
    with pytest.raises(SpecError, match=r"recoding\.save_as") as refused:
        simple(recoding)
    assert said in str(refused.value)


def test_labels_beside_numbers_cannot_be_kept() -> None:
    with pytest.raises(SpecError, match=r"'zip' is released as a label; add it to recoding\.columns, or"):
        simple(MEANS, quasi_identifiers={"age": None, "zip": {"prefix": [1]}})


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("learned", "used", "kind", "said"),
    [
        (
            KEEP,
            KEEP,
            "VARCHAR",
            "learned was learned with values of the kind number, and the new ones are of the kind text",
        ),
        (MEANS, MEANS, "DECIMAL(9,2)", "of the kind integer, and the new ones are of the kind decimal with 2 digits"),
        (KEEP, MEANS, "INTEGER", "recoding: learned was learned by the method mondrian, and the spec says microaggre"),
        (KEEP, {"method": "mondrian", "variant": "relaxed"}, "INTEGER", "recoding.variant: learned has cuts"),
        ({"method": "local", "save_as": "learned"}, KEEP, "INTEGER", "learned was learned by the method local"),
    ],
)
def test_what_cannot_be_applied(visits: Database, learned: Any, used: Any, kind: str, said: str) -> None:
    columns = {"age": {"intervals": [10]}} if learned["method"] == "local" else {"age": None}
    kanon_sql.anonymize(visits.engine, simple(learned, quasi_identifiers=columns))
    with pytest.raises(SpecError) as refused:
        applied(visits, ["1", "2", "3"], simple(used, quasi_identifiers=columns), age=kind)
    assert said in str(refused.value)
    assert "new_release" not in visits.tables()


@pytest.mark.slow
def test_functions_and_thresholds_may_differ(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, simple(MEANS))
    modes = {**MEANS, "columns": {"age": "mode"}}
    asked = simple(modes, privacy=[{"k_anonymity": 3}])
    assert applied(visits, (5, 5, 19, 40, 40, 41), asked) == {5: 3, 40: 3}
