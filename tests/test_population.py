"""k-map and delta-presence: requirements that compare a table with a population, against an oracle over rows."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Database
from hypothesis import given
from hypothesis import strategies as st
from model_oracle import Hierarchy, generalize, height_of, with_null
from strategies import UNITS, examples, hierarchies

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.spec import Spec

Row = Mapping[str, Any]

# --- the oracle -------------------------------------------------------------------------------


def stands_for(cells: Sequence[Any], person: Row, tables: Mapping[str, Hierarchy]) -> bool:
    """Whether every cell is one of the labels of the person's value, or all of them are masked."""
    if all(cell in ("*", next(iter(table.values()))[-1]) for cell, table in zip(cells, tables.values(), strict=True)):
        return True
    return all(
        cell in with_null(table)[person[column]] for cell, (column, table) in zip(cells, tables.items(), strict=True)
    )


def judged(
    rows: Sequence[Row], people: Sequence[Row], tables: Mapping[str, Hierarchy], unit: str | None
) -> list[tuple[int, int, int]]:
    """Per class: rows, records (rows or persons), persons of the population that it stands for."""
    members: dict[tuple[Any, ...], list[Any]] = {}
    for number, row in enumerate(rows):
        members.setdefault(tuple(row[c] for c in tables), []).append(number if unit is None else row[unit])
    return [
        (len(found), len(set(found) - {None}), sum(stands_for(cells, person, tables) for person in people))
        for cells, found in members.items()
    ]


def several(rows: Sequence[Row], people: Sequence[Row], tables: Mapping[str, Hierarchy]) -> bool:
    classes = {tuple(row[c] for c in tables) for row in rows}
    return any(sum(stands_for(cells, person, tables) for cells in classes) > 1 for person in people)


# --- check ------------------------------------------------------------------------------------


def stored(database: Database, tables: Mapping[str, Hierarchy]) -> dict[str, Any]:
    """Write hierarchies as tables; returns the quasi-identifiers of a spec."""
    given = {}
    for column, table in tables.items():
        lines = list(table.values())
        database.table(f"h_{column}", [f"level {n}" for n in range(len(lines[0]))], lines)
        given[column] = {"table": f"h_{column}"}
    return given


@st.composite
def released(draw: st.DrawFn) -> dict[str, Any]:
    rng = random.Random(draw(st.integers(0, 10_000)))
    tables = {f"q{i}": draw(hierarchies()) for i in range(draw(st.integers(1, 3)))}
    nulls = draw(st.booleans())
    cells = {c: [*table, *([None] if nulls else [])] for c, table in tables.items()}
    unit = draw(st.sampled_from([None, "unit"]))

    units = draw(st.sampled_from([UNITS, [*UNITS, None]]))

    def person() -> dict[str, Any]:
        return {**{c: rng.choice(values) for c, values in cells.items()}, "unit": rng.choice(units)}

    people = [person() for _ in range(draw(st.integers(0, 25)))]
    inside = rng.sample(people, rng.randint(0, len(people)))
    strangers = [person() for _ in range(draw(st.sampled_from([0, 0, 2])))]
    nodes = [
        tuple(rng.randint(0, height_of(table)) for table in tables.values()) for _ in range(draw(st.integers(1, 3)))
    ]
    rows = []
    for row in [*inside, *strangers]:
        (vector,) = generalize([row], tables, rng.choice(nodes))
        rows.append({**dict(zip(tables, vector or (), strict=True)), "unit": row["unit"]})
    if draw(st.sampled_from([False, False, True])):
        rows += [{**dict.fromkeys(tables, "*"), "unit": "u1"}] * 2
    return {"tables": tables, "people": people, "rows": rows, "unit": unit}


@examples(12)
@given(released(), st.integers(1, 4), st.sampled_from([0.25, 0.5, 0.75, 1.0]), st.sampled_from([0.0, 0.0, 0.2]))
def test_check_against_the_oracle(
    shared_database: Database, given: dict[str, Any], k: int, most: float, least: float
) -> None:
    tables, people, rows, unit = given["tables"], given["people"], given["rows"], given["unit"]
    shared_database.table("released", [*tables, "unit"], [[row[c] for c in (*tables, "unit")] for row in rows])
    shared_database.table("source", [*tables, "unit"], [])
    shared_database.table("census", list(tables), [[row[c] for c in tables] for row in people])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "released", "unit": unit,
            "quasi_identifiers": stored(shared_database, tables),
            "privacy": [{"k_map": {"population": "census", "k": k}}],
        }
    )  # fmt: skip
    classes = judged(rows, people, tables, unit)
    found = kanon_sql.check(shared_database.engine, spec).achieved['k_map("census")']
    bad = [item for item in classes if item[2] < k]
    assert found["violating_classes"] == len(bad)
    assert found["violating_rows"] == sum(item[0] for item in bad)
    assert found["k"] == min((item[2] for item in classes), default=None)
    assert_presence(shared_database, spec, given, (min(least, most), most))


def assert_presence(database: Database, spec: Spec, given: dict[str, Any], delta: tuple[float, float]) -> None:
    """delta-presence of the same table, which asks for people where k-map asks for rows."""
    tables, people, rows, unit = given["tables"], given["people"], given["rows"], given["unit"]
    presence = {"delta_presence": {"population": "census", "delta_min": delta[0], "delta_max": delta[1]}}
    spec = Spec.from_dict({**spec.to_dict(), "privacy": [presence]})
    if unit is not None and any(row[unit] is None for row in rows):
        with pytest.raises(UnsupportedError, match=r"rows have no unit \(NULL\)"):
            kanon_sql.check(database.engine, spec)
        return
    if several(rows, people, tables):
        with pytest.raises(UnsupportedError, match="several classes stand for one person"):
            kanon_sql.check(database.engine, spec)
        return
    found = kanon_sql.check(database.engine, spec).achieved['delta_presence("census")']

    def holds(records: int, persons: int) -> bool:
        low, high = (Fraction(str(share)) for share in delta)
        return 0 < persons >= records and low <= Fraction(records, persons) <= high

    classes = judged(rows, people, tables, unit)
    bad = [item for item in classes if not holds(item[1], item[2])]
    cells = {tuple(row[c] for c in tables) for row in rows}
    absent = {tuple(p[c] for c in tables) for p in people if not any(stands_for(one, p, tables) for one in cells)}
    assert found["violating_classes"] == len(bad) + (len(absent) if delta[0] > 0 else 0)
    assert found["violating_rows"] == sum(item[0] for item in bad)
    if classes and all(item[2] for item in classes):
        assert found["delta_max"] == pytest.approx(max(item[1] / item[2] for item in classes))
    else:
        assert found["delta_max"] is None


def clinic(database: Database) -> dict[str, Any]:
    """Two classes of a release, of 2 and 1 rows, that stand for 3 and 2 persons of six."""
    people = [("a", 21), ("a", 22), ("a", 25), ("b", 35), ("b", 36), ("c", 35)]
    database.table("census", {"q": "VARCHAR", "age": "INTEGER"}, people)
    database.table("people", {"q": "VARCHAR", "age": "INTEGER"}, [people[0], people[1], people[3]])
    database.table("released", ["q", "age"], [("a", "[20, 30)"), ("a", "[20, 30)"), ("b", "[30, 40)")])
    return {
        "version": 1, "source": "people", "release": "released",
        "quasi_identifiers": {"q": None, "age": {"intervals": [10]}},
    }  # fmt: skip


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
    assert "0 of 2 classes (0 rows) and 1 kinds of persons whom no row stands for violate" in found.message


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
    with pytest.raises(UnsupportedError, match=r"3 rows have no unit \(NULL\), so how many persons of census"):
        kanon_sql.check(database.engine, spec, "people") if check else kanon_sql.anonymize(database.engine, spec)
    by_rows = kanon_sql.check(database.engine, spec, "people", count_rows=True)
    assert by_rows.achieved['delta_presence("census")']["delta_max"] == 1


def test_a_person_who_counts_twice_is_refused(database: Database) -> None:
    database.table("people", ["q", "unit"], [("a", "1")])
    database.table("census", ["q", "unit"], [("a", "1"), ("a", "1"), ("a", "2")])
    spec = {
        "version": 1, "source": "people", "unit": "unit", "quasi_identifiers": {"q": None},
        "privacy": [{"k_map": {"population": "census", "k": 3}}],
    }  # fmt: skip
    with pytest.raises(SpecError, match="3 rows of 2 persons"):
        kanon_sql.check(database.engine, Spec.from_dict(spec), "people")


def test_a_label_with_two_meanings_is_refused(database: Database) -> None:
    database.table("h", ["l0", "l1", "l2"], [("a", "x", "y"), ("b", "y", "y"), ("c", "z", "z")])
    database.table("people", ["q"], [])
    database.table("released", ["q"], [("y",)])
    database.table("census", ["q"], [("a",), ("b",), ("c",)])
    spec = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": {"table": "h"}},
        "privacy": [{"k_map": {"population": "census", "k": 2}}],
    }  # fmt: skip
    with pytest.raises(UnsupportedError, match="1 labels of its hierarchy mean other values"):
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


def test_checks_with_a_population_create_and_drop_nothing(database: Database) -> None:
    """A person of the population whom several classes could have stood for is looked for only where it matters."""
    spec = clinic(database)
    for least in (0, 0.1):
        asked = [{"delta_presence": {"population": "census", "delta_min": least, "delta_max": 1}}]
        found = kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": asked}))
        assert {text.split(maxsplit=1)[0] for text in found.sql} <= {"SELECT", "WITH", "DESCRIBE"}


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"k_map": {"population": "nowhere", "k": 2}}, "nowhere"),
        ({"k_map": {"population": "others", "k": 2}}, "no column 'age'"),
        ({"k_map": {"population": "texts", "k": 2}}, "nothing would match"),
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


# --- plan and anonymize -----------------------------------------------------------------------


@st.composite
def to_release(draw: st.DrawFn) -> dict[str, Any]:
    rng = random.Random(draw(st.integers(0, 10_000)))
    tables = {f"q{i}": draw(hierarchies(max_height=2)) for i in range(draw(st.integers(1, 2)))}
    nulls = draw(st.booleans())
    cells = {c: [*table, *([None] if nulls else [])] for c, table in tables.items()}
    unit = draw(st.sampled_from([None, None, "unit"]))
    people = [{c: rng.choice(values) for c, values in cells.items()} for _ in range(draw(st.integers(4, 25)))]
    strangers = [
        {c: rng.choice(values) for c, values in cells.items()} for _ in range(draw(st.sampled_from([0, 0, 1])))
    ]
    rows = [*rng.sample(people, rng.randint(2, min(12, len(people)))), *strangers]
    few = draw(st.booleans())
    rows = [{**row, "unit": rng.choice(UNITS) if few else f"p{number}"} for number, row in enumerate(rows)]
    requirement = draw(
        st.one_of(
            st.builds(lambda k: {"k_map": {"population": "census", "k": k}}, st.integers(1, 6)),
            st.builds(
                lambda most: {"delta_presence": {"population": "census", "delta_max": most}},
                st.sampled_from([0.3, 0.5, 0.7, 1.0]),
            ),
        )
    )
    limit = draw(st.sampled_from([0, 0, 2, 4]))
    return {
        "tables": tables, "people": people, "rows": rows, "unit": unit, "requirement": requirement, "limit": limit,
        "algorithm": draw(st.sampled_from(["optimal", "incognito", "samarati", "exhaustive"])),
    }  # fmt: skip


def suppressed_at(given: dict[str, Any], node: tuple[int, ...]) -> int:
    """Rows of classes that violate the requirement, at a node."""
    tables, unit = given["tables"], given["unit"]
    ours = generalize(given["rows"], tables, node)
    theirs = generalize(given["people"], tables, node)
    (name,) = given["requirement"]
    asked = given["requirement"][name]
    count = 0
    for vector in set(ours):
        members = [row for row, own in zip(given["rows"], ours, strict=True) if own == vector]
        records = len(members) if unit is None else len({row[unit] for row in members})
        persons = theirs.count(vector)
        if name == "k_map":
            holds = persons >= asked["k"]
        else:
            holds = 0 < persons >= records and Fraction(records, persons) <= Fraction(str(asked["delta_max"]))
        count += 0 if holds else len(members)
    return count


@examples(6)
@given(to_release())
def test_every_search_finds_what_the_oracle_allows(shared_database: Database, given: dict[str, Any]) -> None:
    tables, rows = given["tables"], given["rows"]
    for name in ("released", "kanon_sql_manifest", "kanon_sql_scratch"):
        shared_database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    shared_database.table("people", [*tables, "unit"], [[row[c] for c in (*tables, "unit")] for row in rows])
    shared_database.table("census", list(tables), [[row[c] for c in tables] for row in given["people"]])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "unit": given["unit"],
            "quasi_identifiers": stored(shared_database, tables), "privacy": [given["requirement"]],
            "suppression": {"limit": given["limit"]}, "search": {"algorithm": given["algorithm"], "metric": "height"},
        }
    )  # fmt: skip
    nodes = list(product(*(range(height_of(table) + 1) for table in tables.values())))
    lost = {node: suppressed_at(given, node) for node in nodes}
    fine = [node for node, count in lost.items() if count <= given["limit"] and count < len(rows)]
    found = kanon_sql.anonymize(shared_database.engine, spec)
    assert found.passed == bool(fine)
    if not fine or found.node is None:
        return
    node = tuple(found.node.values())
    assert node in fine
    assert found.rows["suppressed"] == lost[node]
    assert sum(node) == min(map(sum, fine))
    checked = kanon_sql.check(shared_database.engine, spec, count_rows=given["unit"] is not None)
    (ours,), (theirs,) = found.achieved.values(), checked.achieved.values()
    if given["unit"] is None:
        assert checked.passed
        assert {**ours} == pytest.approx({**theirs}) if "delta_max" in ours else ours == theirs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suppression": {"limit": 1, "style": "mask"}}, "stands for everybody"),
        ({"privacy": [{"delta_presence": {"population": "census", "delta_min": 0.1, "delta_max": 0.5}}]}, "delta_min"),
    ],
)
def test_what_no_search_can_keep_is_refused(database: Database, change: dict[str, Any], message: str) -> None:
    spec = {**clinic(database), "privacy": [{"k_map": {"population": "census", "k": 2}}], **change}
    database.connection.execute("DROP TABLE released")
    with pytest.raises(UnsupportedError, match=message):
        kanon_sql.anonymize(database.engine, Spec.from_dict(spec))


@pytest.mark.parametrize("scratch", ["temp", "inline"])
def test_a_release_that_a_population_protects(database: Database, scratch: str) -> None:
    """Alone in the table, but one of three in the population: k-map releases what k-anonymity would not."""
    people = [("a", 21), ("a", 22), ("a", 23), ("b", 35), ("b", 36), ("b", 37), ("c", 50)]
    database.table("census", {"q": "VARCHAR", "age": "INTEGER"}, people)
    database.table("people", {"q": "VARCHAR", "age": "INTEGER"}, [people[0], people[3], people[6]])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "suppression": {"limit": 1},
            "quasi_identifiers": {"q": {"maximum_level": 0}, "age": {"intervals": [10]}},
            "privacy": [{"k_map": {"population": "census", "k": 3}}],
        }
    )  # fmt: skip
    engine = kanon_sql.connect(database.connection, scratch=scratch)
    found = kanon_sql.anonymize(engine, spec)
    assert sorted(database.rows("released")) == [("a", "[20, 30)"), ("b", "[30, 40)")]
    assert found.achieved['k_map("census")']["k"] == 3
    assert found.cost.source_scans == 1 or scratch == "inline"


def test_persons_without_a_value_are_behind_the_top_where_null_suppresses(database: Database) -> None:
    """``nulls: suppress`` leaves out rows of the source, and nobody of the population: search and check agree."""
    database.table("census", {"q": "VARCHAR"}, [("a",), ("b",), (None,)])
    database.table("people", {"q": "VARCHAR"}, [("a",), ("b",), (None,)])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "suppression": {"limit": 1}, "nulls": "suppress",
            "quasi_identifiers": {"q": {}}, "privacy": [{"k_map": {"population": "census", "k": 3}}],
        }
    )  # fmt: skip
    found = kanon_sql.anonymize(database.engine, spec)
    assert found.passed
    assert database.rows("released") == [("*",), ("*",)]
    assert found.achieved == kanon_sql.check(database.engine, spec).achieved
    assert found.achieved['k_map("census")']["k"] == 3


def test_what_cannot_be_checked_is_said() -> None:
    """A population that repeats people, or lacks some, would protect where nobody does."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i // 5 AS age FROM range(20) AS t(i)")
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "release": "people_release",
                "quasi_identifiers": {"age": None},
                "privacy": [{"k_map": {"population": "people", "k": 3}}],
            }
        )
        engine = kanon_sql.connect(connection)
        for result in (kanon_sql.check(engine, spec, "people"), kanon_sql.anonymize(engine, spec)):
            assert result.passed
            assert any("people is believed" in note for note in result.notes)


# --- beside other requirements ------------------------------------------------------------------

MIXED = [
    {"k_anonymity": {"k": 2}},
    {"k_map": {"population": "census", "k": 4}},
    {"delta_presence": {"population": "census", "delta_max": 0.6}},
    {"t_closeness": {"attribute": "charge", "t": 0.6, "distance": "ordered"}},
    {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.9, "k": 2, "values": ["x"]}},
]
APART = [
    {"k_anonymity": {"k": 3, "quasi_identifiers": ["q"]}},
    {"l_diversity": {"attribute": "s", "l": 2, "others_as_quasi_identifiers": True}},
]
"""Requirements whose classes are made by other columns: of them a population holds nobody."""


def surveyed(database: Database, seed: int, **changes: Any) -> dict[str, Any]:
    rng = random.Random(seed)
    census = [(rng.choice("abc"), rng.randrange(20, 60)) for _ in range(120)]
    people = [(*person, rng.choice("xxyz"), rng.randrange(9)) for person in rng.sample(census, 40)]
    database.table("census", {"q": "VARCHAR", "age": "INTEGER"}, census)
    database.table("people", {"q": "VARCHAR", "age": "INTEGER", "s": "VARCHAR", "charge": "INTEGER"}, people)
    return {
        "version": 1, "source": "people", "release": "released", "sensitive": ["s", "charge"],
        "quasi_identifiers": {"q": None, "age": {"intervals": [5, 10, 20]}}, "privacy": MIXED,
        "suppression": {"limit": 0.3},
        **changes,
    }  # fmt: skip


@pytest.mark.parametrize("table", ["people", "released"])
def test_each_requirement_is_judged_as_if_it_were_alone(database: Database, table: str) -> None:
    given = surveyed(database, 1)
    assert kanon_sql.anonymize(database.engine, Spec.from_dict(given)).passed
    asked = [*MIXED, *APART]
    together = kanon_sql.check(database.engine, Spec.from_dict({**given, "privacy": asked}), table, reveal=5)
    alone = {}
    for requirement in asked:
        alone |= kanon_sql.check(database.engine, Spec.from_dict({**given, "privacy": [requirement]}), table).achieved
    assert together.achieved.keys() == alone.keys()
    for key, found in together.achieved.items():
        assert found == pytest.approx(alone[key]), key
    shown = {label for item in together.revealed or () for label in item["violates"]}
    assert shown <= {item["requirement"] for item in alone.values() if item["violating_classes"]}
    assert ("4-map to census" in shown) is (table == "people")


@pytest.mark.parametrize(
    "search",
    [
        {"algorithm": "incognito", "variant": "super_roots"},
        {"algorithm": "incognito", "variant": "cube"},
        {"algorithm": "optimal"},
    ],
)
def test_every_search_finds_the_same_release(database: Database, search: dict[str, Any]) -> None:
    """Also from rolled-up frequency sets, a population's among them."""
    plain = kanon_sql.plan(database.engine, Spec.from_dict(surveyed(database, 2, search={"algorithm": "incognito"})))
    found = kanon_sql.plan(database.engine, Spec.from_dict(surveyed(database, 2, search=search)))
    assert plain.passed
    assert found.node == plain.node
    assert found.rows == plain.rows
    for key, item in found.achieved.items():
        assert item == pytest.approx(plain.achieved[key]), key


@pytest.mark.parametrize("requirement", MIXED[1:3], ids=["k_map", "delta_presence"])
def test_intervals_that_a_search_makes_are_refused(database: Database, requirement: dict[str, Any]) -> None:
    """They end at values that released rows hold: who lies between two of them is in none."""
    given = surveyed(database, 3, privacy=[requirement], search={"algorithm": "k_optimize"}, suppression={"limit": 0})
    spec = Spec.from_dict({**given, "quasi_identifiers": {"age": None}})
    with pytest.raises(UnsupportedError, match=r"k_optimize cannot search for .* census"):
        kanon_sql.plan(database.engine, spec)
