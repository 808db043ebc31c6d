"""Values that a hierarchy writes otherwise than the column: midnights, digits after the point, what nearly matches."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec
from kanon_sql.errors import HierarchyError
from kanon_sql.verbs.certify.verify_certificate import verify
from kanon_sql.verbs.dbt import dbt
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.specs import QUIET
from tests.support.strategies import examples

ENGINES = [name if name == "duckdb" else pytest.param(name, marks=pytest.mark.slow) for name in SUBJECTS]


def spec_of(hierarchies: dict[str, Any], level: int = 1, **more: Any) -> Spec:
    fixed = {"minimum_level": level, "maximum_level": level}
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "keep": ["id"],
            "quasi_identifiers": {name: {**item, **fixed} for name, item in hierarchies.items()},
            "privacy": [{"k_anonymity": 1}], "warnings": QUIET, **more,
        }
    )  # fmt: skip


MIDNIGHT, LATER = datetime(2020, 1, 31), datetime(2020, 2, 29, 8, 15)
COLUMNS: dict[str, tuple[str, list[Any], dict[str, list[str]]]] = {
    "seen": ("timestamp", [MIDNIGHT, LATER, None], {"x": ["2020-01-31"], "y": ["2020-02-29 08:15:00"]}),
    "born": ("date", [MIDNIGHT.date(), LATER.date(), None], {"x": ["2020-01-31 00:00:00"], "y": ["2020-02-29"]}),
    "dose": ("double", [1.5, -2.0, 0.25], {"x": ["1.50"], "y": ["-2.00", "0.250"]}),
    "price": ("decimal", [Decimal("1.50"), Decimal("-2.00"), None], {"x": ["1.5"], "y": ["-2"]}),
    "rooms": ("integer", [1, 20, 0], {"x": ["1.0"], "y": ["20.00", "-0"]}),
}
LABELS = {"seen": "xy", "born": "xy", "dose": "xyy", "price": "xy", "rooms": "xyy"}


@pytest.mark.parametrize("name", ENGINES)
def test_a_value_matches_however_a_file_writes_it(name: str, tmp_path: Path) -> None:
    with subject_of(name) as subject, subject.connect() as engine:
        rows = [(number, *(item[1][number] for item in COLUMNS.values())) for number in range(3)]
        subject.table("people", {"id": "integer", **{key: item[0] for key, item in COLUMNS.items()}}, rows)
        files = {}
        for key, (_, _, groups) in COLUMNS.items():
            lines = [f"{value};{label};*" for label, values in groups.items() for value in values]
            (tmp_path / f"{key}.csv").write_text("\n".join(lines))
            files[key] = {"file": str(tmp_path / f"{key}.csv")}
        trees = {key: {"tree": groups} for key, (_, _, groups) in COLUMNS.items()}
        assert kanon_sql.anonymize(engine, spec_of(files)).passed
        listed = ", ".join(COLUMNS)
        for number, *labels in subject.fetch(f"SELECT id, {listed} FROM people_release"):
            expected = [LABELS[key][int(number)] if int(number) < len(LABELS[key]) else None for key in COLUMNS]
            assert labels == expected
        # At level 0 a value is as in the source, whatever the file writes.
        assert kanon_sql.anonymize(engine, spec_of(trees, 0)).passed
        as_is = spec_of({key: {} for key in COLUMNS}, 0, release="as_it_is")
        assert kanon_sql.anonymize(engine, as_is).passed
        released = (
            sorted(map(str, subject.fetch(f"SELECT {listed} FROM {n}"))) for n in ("people_release", "as_it_is")
        )
        assert next(released) == next(released)


numbers = st.decimals(-20, 20, places=2, allow_nan=False)


@given(
    st.lists(numbers, min_size=1, max_size=20), st.data(), st.sampled_from(["DOUBLE", "DECIMAL(9,2)", "DECIMAL(12,4)"])
)
@examples(16)
def test_numbers_match_where_they_are_equal(
    shared_database: Database, values: list[Decimal], data: st.DataObject, kind: str
) -> None:
    shared_database.table("people", {"id": "INTEGER", "q": kind}, list(enumerate(values)))
    different = sorted(set(values))
    tree: dict[str, list[str]] = {"even": [], "odd": []}
    expected = {}
    for place, value in enumerate(different):
        label = ("even", "odd")[place % 2]
        expected[value] = label
        plain = f"{value.normalize():f}"
        digits = data.draw(st.integers(0, 3))
        zeros = ("" if "." in plain or not digits else ".") + "0" * digits
        tree[label].append(plain + zeros)
    tree = {label: listed for label, listed in tree.items() if listed}
    tree["other"] = ["77.7"]
    assert kanon_sql.anonymize(shared_database.engine, spec_of({"q": {"tree": tree}})).passed
    found = dict(shared_database._run("SELECT id, q FROM people_release").fetchall())
    assert found == {number: expected[value] for number, value in enumerate(values)}


def test_two_rows_of_one_value(database: Database) -> None:
    database.table("people", {"id": "INTEGER", "q": "DOUBLE"}, [(1, 1.5)])
    with pytest.raises(HierarchyError, match=r"quasi_identifiers\.q: 1 value has two rows with different general"):
        kanon_sql.plan(database.engine, spec_of({"q": {"tree": {"x": ["1.5"], "y": ["1.50"]}}}))
    plan = kanon_sql.plan(database.engine, spec_of({"q": {"tree": {"x": ["1.5", "1.50"], "y": ["2"]}}}))
    assert plan.passed


@pytest.mark.parametrize("name", ENGINES)
def test_what_nearly_matches_is_counted(name: str) -> None:
    values = ["ASTHMA", "flu ", " flu", "007", "07", "zzz", "flu", None]
    if name == "mariadb":
        values.remove("flu ")
    with subject_of(name) as subject, subject.connect() as engine:
        subject.table("people", {"id": "integer", "q": "text"}, list(enumerate(values)))
        with pytest.raises(HierarchyError) as refused:
            kanon_sql.plan(engine, spec_of({"q": {"tree": {"x": ["asthma", "flu"], "y": ["7"]}}}))
        blanks = sum(value is not None and value != value.strip() for value in values)
        assert (
            f"{4 + blanks} distinct values ({4 + blanks} rows) have no generalization in the hierarchy (of them differ "
            f"from a value of it 1 only in upper or lower case, {blanks} only in blanks at the ends, 2 only in leading "
            "zeros); add rows for them"
        ) in str(refused.value)
        assert not any(value in str(refused.value) for value in ("ASTHMA", "007", "zzz"))


def test_what_matches_nothing_has_no_hint(database: Database) -> None:
    database.table("people", {"id": "INTEGER", "q": "VARCHAR"}, [(1, "zzz"), (2, "flu")])
    with pytest.raises(HierarchyError, match=r"in the hierarchy; add rows for them \(kanon-sql hierarchy"):
        kanon_sql.plan(database.engine, spec_of({"q": {"tree": {"x": ["flu"]}}}))


TREE = {"tree": {"early": ["2020-01-31", "2020-02-01"], "late": ["2020-03-01"]}}
DAYS = [(0, date(2020, 1, 31)), (1, date(2020, 2, 1)), (2, date(2020, 3, 1)), (3, date(2020, 3, 1))]


@pytest.mark.slow
def test_whatever_reads_a_hierarchy_reads_it_so(database: Database, tmp_path: Path) -> None:
    """Ranges in its order, a view that holds it as an expression, a certificate, a seed of dbt."""
    database.table("people", {"id": "INTEGER", "q": "TIMESTAMP"}, DAYS)
    engine, by_order = database.engine, spec_of({"q": TREE}).to_dict()
    by_order |= {"quasi_identifiers": {"q": TREE}, "privacy": [{"k_anonymity": 2}], "recoding": "mondrian"}
    assert kanon_sql.anonymize(engine, Spec.from_dict(by_order)).passed
    classes = dict(database._run("SELECT id, q FROM people_release").fetchall())
    assert classes[0] == classes[1] != classes[2] == classes[3]
    expected = {0: "early", 1: "early", 2: "late", 3: "late"}
    view = spec_of({"q": TREE}, release={"view": "people_now", "accept_sequence_risk": True})
    assert kanon_sql.anonymize(engine, view).passed
    assert dict(database._run("SELECT id, q FROM people_now").fetchall()) == expected
    published = spec_of({"q": TREE}, release="certified")
    assert kanon_sql.anonymize(engine, published).passed
    assert dict(database._run("SELECT id, q FROM certified").fetchall()) == expected
    kanon_sql.certify(engine, published, tmp_path / "certificate")
    assert verify(tmp_path / "certificate", database.connection, say=lambda _: None)
    (tmp_path / "dbt_project.yml").write_text("name: clinic\n")
    dbt(engine, published, tmp_path)
    (seed,) = tmp_path.rglob("*__q.csv")
    assert '"2020-03-01 00:00:00","late"' in seed.read_text()
