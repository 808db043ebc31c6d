"""k-map and delta-presence: requirements that compare a table with a population, against an oracle over rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.spec import Spec
from tests.conftest import Database
from tests.oracles.population import clinic, judged, move, released, several, stands_for, stored
from tests.support.strategies import examples


@examples(12)
@given(released(), st.integers(1, 4), st.sampled_from([0.25, 0.5, 0.75, 1.0]), st.sampled_from([0.0, 0.0, 0.2]))
def test_check_against_the_oracle(
    shared_database: Database, given: dict[str, Any], k: int, most: float, least: float
) -> None:
    tables, people, rows, unit = given["tables"], given["people"], given["rows"], given["unit"]
    shared_database.table("released", [*tables, "unit"], [[row[c] for c in (*tables, "unit")] for row in rows])
    shared_database.table("source", [*tables, "unit"], [])
    names = [*tables, *([] if given["who"] is None else [given["who"]])]
    shared_database.table("census", names, [[row[c] for c in names] for row in people])
    named = {} if given["who"] is None or unit is not None else {"person": given["who"]}  # else the unit tells
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "released", "unit": unit,
            "quasi_identifiers": stored(shared_database, tables),
            "privacy": [{"k_map": {"population": "census", "k": k, **named}}],
        }
    )  # fmt: skip
    classes = judged(rows, people, tables, unit, given["who"])
    (found,) = kanon_sql.check(shared_database.engine, spec).achieved.values()
    bad = [item for item in classes if item[2] < k]
    assert found["violating_classes"] == len(bad)
    assert found["violating_rows"] == sum(item[0] for item in bad)
    assert found["k"] == min((item[2] for item in classes), default=None)
    assert_presence(shared_database, spec, given, (min(least, most), most), named)


def assert_presence(
    database: Database, spec: Spec, given: dict[str, Any], delta: tuple[float, float], named: Mapping[str, str]
) -> None:
    """delta-presence of the same table, which asks for people where k-map asks for rows."""
    tables, people, rows, unit = given["tables"], given["people"], given["rows"], given["unit"]
    presence = {"delta_presence": {"population": "census", "delta_min": delta[0], "delta_max": delta[1], **named}}
    spec = Spec.from_dict({**spec.to_dict(), "privacy": [presence]})
    if unit is not None and any(row[unit] is None for row in rows):
        with pytest.raises(UnsupportedError, match=r"rows have no unit \(NULL\)"):
            kanon_sql.check(database.engine, spec)
        return
    if move(people, tables, given["who"]):
        with pytest.raises(UnsupportedError, match="have rows that differ in the quasi-identifiers"):
            kanon_sql.check(database.engine, spec)
        return
    if several(rows, people, tables):
        with pytest.raises(UnsupportedError, match="several classes stand for one person"):
            kanon_sql.check(database.engine, spec)
        return
    (found,) = kanon_sql.check(database.engine, spec).achieved.values()

    def holds(records: int, persons: int) -> bool:
        low, high = (Fraction(str(share)) for share in delta)
        return 0 < persons >= records and low <= Fraction(records, persons) <= high

    classes = judged(rows, people, tables, unit, given["who"])
    bad = [item for item in classes if not holds(item[1], item[2])]
    cells = {tuple(row[c] for c in tables) for row in rows}
    absent = {tuple(p[c] for c in tables) for p in people if not any(stands_for(one, p, tables) for one in cells)}
    assert found["violating_classes"] == len(bad) + (len(absent) if delta[0] > 0 else 0)
    assert found["violating_rows"] == sum(item[0] for item in bad)
    if classes and all(item[2] for item in classes):
        assert found["delta_max"] == pytest.approx(max(item[1] / item[2] for item in classes))
    else:
        assert found["delta_max"] is None


def test_labels_are_made_of_the_population_by_rules(database: Database) -> None:
    spec = clinic(database)
    asked = [
        {"k_map": {"population": "census", "k": 3}},
        {"delta_presence": {"population": "census", "delta_max": 0.6}},
    ]
    found = kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": asked}))
    k_map, presence = found.achieved.values()
    assert (k_map["k"], k_map["violating_classes"], k_map["violating_rows"]) == (2, 1, 1)
    assert presence["delta_max"] == pytest.approx(2 / 3)
    assert presence["violating_classes"] == 1
    assert database.tables() == ["census", "people", "released"], "check creates nothing"
    as_it_is = kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": asked}), "people")
    assert [item["violating_classes"] for item in as_it_is.achieved.values()] == [3, 3]


def test_one_who_is_surely_absent_violates_delta_min(database: Database) -> None:
    """c, 35 is in no class: whoever knows him knows that he is not in the table."""
    spec = {
        **clinic(database),
        "privacy": [{"delta_presence": {"population": "census", "delta_min": 0.1, "delta_max": 1}}],
    }
    found = kanon_sql.check(database.engine, Spec.from_dict(spec))
    assert not found.passed
    assert found.achieved['delta_presence("census")']["violating_classes"] == 1
    assert found.achieved['delta_presence("census")']["violating_rows"] == 0
    assert "0 of 2 classes (0 rows) and 1 class of the population without a row violate" in found.message


@pytest.mark.parametrize("check", [True, False])
def test_rows_of_nobody_may_be_further_persons_who_are_present(database: Database, check: bool) -> None:
    """Four rows, three without a person: all of the census may be in the table, not a quarter of it."""
    database.table("people", ["q", "unit"], [("a", None)] * 3 + [("a", "1")])
    database.table("census", ["q"], [("a",)] * 4)
    presence = {"delta_presence": {"population": "census", "delta_max": 0.5}}
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "r", "unit": "unit", "quasi_identifiers": {"q": None},
            "privacy": [presence],
        }
    )  # fmt: skip
    with pytest.raises(
        UnsupportedError,
        match=r"3 rows have no unit \(NULL\), so their persons cannot be matched "
        "with census",
    ):
        kanon_sql.check(database.engine, spec, "people") if check else kanon_sql.anonymize(database.engine, spec)
    by_rows = kanon_sql.check(database.engine, spec, "people", count_rows=True)
    assert by_rows.achieved['delta_presence("census")']["delta_max"] == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("unit", [None, "unit"])
def test_positions_of_two_users_are_no_five_persons(database: Database, unit: str | None) -> None:
    """Five rows stand for a class, and two persons: the unit says who, or the requirement does."""
    database.table("people", ["q", "unit"], [("a", "1")])
    database.table("census", ["q", "unit"], [("a", "1")] * 3 + [("a", "2"), ("a", "2"), ("a", None), ("b", "3")])
    named = {"person": "unit"} if unit is None else {}
    spec = {
        "version": 1, "source": "people", "release": "released", "unit": unit, "quasi_identifiers": {"q": None},
        "privacy": [{"k_map": {"population": "census", "k": 3, **named}}], "sensitive": [],
    }  # fmt: skip
    (found,) = kanon_sql.check(database.engine, Spec.from_dict(spec), "people").achieved.values()
    assert (found["k"], found["violating_classes"]) == (2, 1)
    released = kanon_sql.anonymize(database.engine, Spec.from_dict(spec))
    assert released.node == {"q": 1}, "all values together stand for three"
    (found,) = released.achieved.values()
    assert found["k"] == 3


@pytest.mark.slow
def test_a_masked_row_stands_for_every_person_once(database: Database) -> None:
    """Two persons with five rows are behind the class of the masked rows."""
    database.table("h", ["l0", "l1"], [("a", "any"), ("b", "any")])
    database.table("people", ["q"], [])
    database.table("released", ["q"], [("*",), ("*",)])
    database.table("census", ["q", "who"], [("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"), ("b", "2"), ("a", None)])
    spec = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}},
        "privacy": [{"k_map": {"population": "census", "person": "who", "k": 3}}],
    }  # fmt: skip
    (found,) = kanon_sql.check(database.engine, Spec.from_dict(spec), "released").achieved.values()
    assert (found["k"], found["violating_classes"]) == (2, 1)


def test_persons_by_two_columns_are_two_requirements(database: Database) -> None:
    database.table("people", ["q"], [("a",)])
    database.table("census", ["q", "person", "house"], [("a", "1", "h"), ("a", "2", "h"), ("a", "3", "h")])
    asked = [{"k_map": {"population": "census", "k": 2, "person": name}} for name in ("person", "house")]
    spec = Spec.from_dict({"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": asked})
    found = kanon_sql.check(database.engine, spec, "people").achieved
    assert [item["k"] for item in found.values()] == [3, 1]
    assert list(found) == ['k_map("census by person")', 'k_map("census by house")']


def test_rendered_sql_counts_persons_too() -> None:
    """Nobody asks the data there, whether a row is a person."""
    spec = {"version": 1, "source": "people", "release": "r", "quasi_identifiers": {"q": None}}
    for unit, named in (("unit", {}), (None, {"person": "unit"})):
        asked = {"unit": unit, "privacy": [{"k_map": {"population": "census", "k": 3, **named}}]}
        rendered = kanon_sql.render(Spec.from_dict({**spec, **asked}))
        assert "frequency/population/by_person" in [statement.name for statement in rendered.statements]


def test_a_label_with_two_meanings_is_refused(database: Database) -> None:
    database.table("h", ["l0", "l1", "l2"], [("a", "x", "y"), ("b", "y", "y"), ("c", "z", "z")])
    database.table("people", ["q"], [])
    database.table("released", ["q"], [("y",)])
    database.table("census", ["q"], [("a",), ("b",), ("c",)])
    spec = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}},
        "privacy": [{"k_map": {"population": "census", "k": 2}}],
    }  # fmt: skip
    with pytest.raises(UnsupportedError, match="1 labels of its hierarchy stand for different values"):
        kanon_sql.check(database.engine, Spec.from_dict(spec), "released")


def test_a_label_that_goes_up_through_levels_with_its_values_means_one_thing(database: Database) -> None:
    """x and z are labels of two levels, of the same values at both."""
    database.table("h", ["l0", "l1", "l2"], [("a", "x", "x"), ("b", "x", "x"), ("z", "z", "z")])
    database.table("people", ["q"], [])
    database.table("released", ["q"], [("x",), ("z",)])
    database.table("census", ["q"], [("a",), ("b",), ("z",)])
    spec = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}},
        "privacy": [{"k_map": {"population": "census", "k": 2}}],
    }  # fmt: skip
    found = kanon_sql.check(database.engine, Spec.from_dict(spec), "released")
    assert found.achieved['k_map("census")']["violating_classes"] == 1, "x stands for a and b, z for one"


@pytest.mark.parametrize("released", [[("*",), ("any",)], [("*",), ("a",)]])
def test_a_masked_row_beside_another_class_is_no_single_ratio(database: Database, released: list[tuple[str]]) -> None:
    """Both classes stand for a, also where both of them stand for everybody."""
    database.table("h", ["l0", "l1"], [("a", "any"), ("b", "any")])
    database.table("released", ["q"], released)
    database.table("people", ["q"], [])
    database.table("census", ["q"], [("a",), ("b",)])
    spec = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}},
        "privacy": [{"delta_presence": {"population": "census", "delta_max": 1}}],
    }  # fmt: skip
    with pytest.raises(UnsupportedError, match="several classes stand for one person"):
        kanon_sql.check(database.engine, Spec.from_dict(spec), "released")


def test_a_masked_row_beside_classes_that_nobody_is_in_is_the_ratio_of_its_own(database: Database) -> None:
    """One class stands for everybody, another for b, who is not in the population."""
    database.table("h", ["l0", "l1"], [("a", "*"), ("b", "*")])
    database.table("released", ["q"], [("*",), ("b",)])
    database.table("people", ["q"], [])
    database.table("census", ["q"], [("a",), ("a",)])
    spec = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}},
        "privacy": [{"delta_presence": {"population": "census", "delta_max": 0.5}}],
    }  # fmt: skip
    found = kanon_sql.check(database.engine, Spec.from_dict(spec), "released").achieved['delta_presence("census")']
    assert found["violating_classes"] == 1, "b is in the table and not in the population; * is one of two"


REQUIRED = [{"k_map": {"population": "census", "k": 2}}, {"delta_presence": {"population": "census", "delta_max": 0.5}}]


@pytest.mark.parametrize("model", REQUIRED)
def test_an_asterisk_that_is_a_value_stands_for_nobody_else(database: Database, model: dict[str, Any]) -> None:
    """One of the population has it, as one of the table; a masked row looks the same, and stands for no more then."""
    database.table("h", ["l0", "l1"], [("*", "any"), ("b", "any")])
    database.table("people", ["q"], [])
    database.table("census", ["q"], [("*",), *[("b",)] * 100])
    database.table("released", ["q"], [("*",)])
    spec = {"version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}}, "privacy": [model]}
    assert not kanon_sql.check(database.engine, Spec.from_dict(spec), "released").passed


@pytest.mark.sampled(6)
@pytest.mark.parametrize("value", ["*", "any", "group"])
@pytest.mark.parametrize("model", REQUIRED)
def test_a_value_of_the_source_stands_for_itself(database: Database, model: dict[str, Any], value: str) -> None:
    """A hundred would protect it, were it a label; in the source it is none, and nobody in the population has it."""
    database.table("h", ["l0", "l1", "l2"], [("b", "group", "any"), ("c", "group", "any")])
    database.table("people", ["q"], [(value,)])
    database.table("released", ["q"], [(value,)])
    database.table("census", ["q"], [("b",), ("c",)] * 50)
    spec = Spec.from_dict(
        {"version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}}, "privacy": [model]}
    )
    assert kanon_sql.check(database.engine, spec, "released").passed
    (found,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
    assert (found["violating_classes"], found.get("k", 0)) == (1, 0)


def test_numbers_that_fifteen_digits_do_not_tell_apart_are_two(tmp_path: Path) -> None:
    """SQLite's own texts of them are the same, and either would have had both persons of the census behind it."""
    file = tmp_path / "numbers.db"
    with closing(sqlite3.connect(file)) as connection:
        for name, values in (("people", [0.3, 0.1 + 0.2]), ("census", [0.3, 0.1 + 0.2, 0.1 + 0.2])):
            connection.execute(f"CREATE TABLE {name} (q REAL)")
            connection.executemany(f"INSERT INTO {name} VALUES (?)", [(value,) for value in values])
        connection.commit()
    asked = [
        {"delta_presence": {"population": "census", "delta_max": 0.5}},
        {"k_map": {"population": "census", "k": 2}},
    ]
    spec = {"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": asked}
    presence, mapped = kanon_sql.check(
        kanon_sql.connect(f"sqlite:///{file}"), Spec.from_dict(spec), "people"
    ).achieved.values()
    assert (presence["delta_max"], presence["violating_classes"]) == (1, 1)
    assert (mapped["k"], mapped["violating_classes"]) == (1, 1)


def test_a_population_knows_numbers_and_not_how_they_are_written(database: Database) -> None:
    """A reader tells the two rows apart by the sign of 0; both persons of the census have that number."""
    database.table("people", {"q": "DOUBLE"}, [(0.0,), (-0.0,)])
    database.table("census", {"q": "DOUBLE"}, [(0.0,), (0.0,)])
    asked = [{"k_anonymity": 2}, {"k_map": {"population": "census", "k": 2}}]
    spec = Spec.from_dict({"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": asked})
    found = kanon_sql.check(database.engine, spec, "people")
    alone, mapped = found.achieved.values()
    assert (alone["k"], alone["violating_classes"]) == (1, 2)
    assert (mapped["k"], mapped["violating_classes"]) == (2, 0)
    assert found.class_sizes[0]["classes"] == 2


def test_checks_with_a_population_leave_nothing(database: Database) -> None:
    """Temporary tables alone; a person of the population for several classes is looked for only where it matters."""
    spec = clinic(database)
    for least in (0, 0.1):
        asked = [{"delta_presence": {"population": "census", "delta_min": least, "delta_max": 1}}]
        found = kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": asked}))
        written = {text.split(maxsplit=1)[0] for text in found.sql if not text.startswith("CREATE TEMPORARY TABLE")}
        assert written <= {"SELECT", "WITH", "DESCRIBE", "DROP"}
        assert all("kanon_" in text for text in found.sql if text.startswith(("CREATE", "DROP")))


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"k_map": {"population": "nowhere", "k": 2}}, "nowhere"),
        ({"k_map": {"population": "others", "k": 2}}, "no column 'age'"),
        ({"k_map": {"population": "texts", "k": 2}}, "nothing would match"),
        ({"k_map": {"population": "census", "k": 2, "person": "nobody"}}, "no column 'nobody', so its persons"),
        ({"k_map": {"k": 2}}, "population"),
        ({"k_map": {"population": "census"}}, "missing 'k'"),
        ({"delta_presence": {"population": "census", "delta_max": 1.5}}, "between 0 and 1"),
        ({"delta_presence": {"population": "census", "delta_max": 0.1, "delta_min": 0.2}}, "above delta_max"),
    ],
)
def test_what_does_not_fit_is_refused(database: Database, requirement: dict[str, Any], message: str) -> None:
    spec = clinic(database)
    database.table("others", ["q"], [("a",)])
    database.table("texts", ["q", "age"], [("a", "21")])
    with pytest.raises(KanonError, match=message):
        kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": [requirement]}))


def test_a_spec_reads_back() -> None:
    written = {
        "version": 1, "source": "s", "quasi_identifiers": {"q": None},
        "privacy": [
            {"k_map": {"population": 'a."b.c"', "k": 2}},
            {"k_map": {"population": "d", "k": 2}},
            {"delta_presence": {"population": "d", "delta_min": 0.1, "delta_max": 0.2}},
        ],
    }  # fmt: skip
    spec = Spec.from_dict(written)
    assert spec.to_dict()["privacy"] == written["privacy"]
    assert Spec.from_dict(spec.to_dict()) == spec
    with pytest.raises(SpecError, match="the same requirement as item 2"):
        Spec.from_dict({**written, "privacy": [*written["privacy"], {"k_map": {"population": "d", "k": 3}}]})


def test_two_populations_do_not_mix(database: Database) -> None:
    """Each has its own people; labels of one are no evidence of the other."""
    spec = clinic(database)
    database.table("others", {"q": "VARCHAR", "age": "INTEGER"}, [("a", 21), ("z", 99)])
    asked = [{"k_map": {"population": name, "k": 1}} for name in ("census", "others")]
    found = kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": asked}))
    assert [item["k"] for item in found.achieved.values()] == [2, 0]
    assert [item["violating_classes"] for item in found.achieved.values()] == [0, 1]
