"""What released columns reveal besides the classes, against plain counting in Python, on every engine.

A kept column that determines a quasi-identifier, one that groups persons, values in several spellings, lists written as
text, names of identifiers, and columns of a checked table that the spec does not release.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.report.json import result_schema
from kanon_sql.spec import Spec
from kanon_sql.testing import Subject
from kanon_sql.verbs.warnings import revealing
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.strategies import TIMES, examples
from tests.support.warned import BANDS, QUIET, births, codes, k_of, people, spec, the

# --- What a column reveals: the share by its definition ------------------------------------------


def share_of(rows: Sequence[tuple[Any, Any, Any]]) -> float:
    """The share of rows for which a column reveals more than their label; rows are (label, column, finer value)."""
    return figures_of(rows)[0]


def figures_of(rows: Sequence[tuple[Any, Any, Any]]) -> tuple[float, float, float]:
    """The same; how far pairs agree beyond chance; and how far they may, four standard deviations above that."""
    of_label, of_group = defaultdict(list), defaultdict(list)
    for label, kept, value in rows:
        of_label[label].append(value)
        of_group[label, kept].append(value)

    def same(values: Sequence[Any]) -> float:
        pairs = sum(count * (count - 1) for count in Counter(values).values())
        return pairs / (len(values) * (len(values) - 1))

    chance = {label: same(own) if len(own) > 1 else 1.0 for label, own in of_label.items()}
    cubes = {label: sum((n / len(own)) ** 3 for n in Counter(own).values()) for label, own in of_label.items()}
    excess = room = variance = narrowed = 0.0
    for (label, _), own in of_group.items():
        size, alike = len(own), chance[label]
        if alike >= 1 or size < 2:
            continue
        of_chance = 2 * alike * (1 - alike) / (size * (size - 1)) + 4 * max(0.0, cubes[label] - alike**2) / size
        beyond = same(own) - alike
        excess += size * beyond
        room += size * (1 - alike)
        variance += size * size * of_chance
        if size >= 20 and same(own) >= min(4 * alike, (3 + alike) / 4) and beyond >= 4 * of_chance**0.5:
            narrowed += size
    open_rows = sum(len(own) for label, own in of_label.items() if chance[label] < 1)
    by_pairs = 0.0 if excess < 8 or excess < 4 * variance**0.5 else min(1.0, excess / room) * open_rows
    spread = 4 * variance**0.5
    return max(by_pairs, narrowed) / len(rows), excess / (room or 1), (excess + spread) / (room or 1)


TYPES = {"age": "integer", "zip": "text", "born": "integer", "town": "text", "note": "integer"}


@pytest.mark.campaign_on("spark")
@pytest.mark.sampled(5)
@pytest.mark.slow
@pytest.mark.parametrize("in_sets", [False, True])
def test_every_engine_finds_the_same_share(subject: Subject, engine: Engine, in_sets: bool) -> None:
    """In the rows of the source, or in the frequency sets of columns that a requirement looks at."""
    rows, columns = people(400, 30), ["born", "town", "note"]
    subject.table("people", TYPES, rows)
    try:
        result = kanon_sql.anonymize(
            engine,
            spec(
                quasi_identifiers={
                    "age": {"intervals": [10, 20], "minimum_level": 2, "maximum_level": 2},
                    "zip": {"prefix": [2, 1], "minimum_level": 1, "maximum_level": 1},
                },
                **({"sensitive": columns} if in_sets else {"keep": columns}),
                privacy=[
                    *k_of(3),
                    *({"l_diversity": {"attribute": name, "l": 1}} for name in columns if in_sets),
                ],
                warnings={**QUIET, "kept_reveals_quasi_identifier": "warn"},
            ),
        )
        assert result.passed, result.message
        assert result.cost.source_scans == (2 if in_sets else 3)
        found = {item.columns[0]: item for item in result.warnings if item.code == "kept_reveals_quasi_identifier"}
        assert set(found) == {"born", "town"}, "the note is by chance"
        shares = {}
        for place, kept in ((2, "born"), (3, "town")):
            by_age = [(row[0] // 20, row[place], row[0]) for row in rows]
            by_decade = [(row[0] // 20, row[place], row[0] // 10) for row in rows]
            by_zip = [(row[1][:2], row[place], row[1]) for row in rows]
            shares[kept] = [max(share_of(by_age), share_of(by_decade)), share_of(by_zip)]
            assert found[kept].figures["share"] == pytest.approx(max(shares[kept]))
            groups = Counter((row[0] // 20, row[1][:2], row[place]) for row in rows)
            assert found[kept].figures["smallest"] == min(groups.values())
        assert 0.4 < shares["born"][0] < 0.9
        assert shares["town"] == [0.0, 1.0]
        assert [list(found[name].columns) for name in ("born", "town")] == [["born", "age"], ["town", "zip"]]
    finally:
        subject.drop("people_release")
        subject.drop("people")


small = st.tuples(st.integers(0, 7), st.integers(0, 5))


@pytest.mark.slow
@examples(40)
@given(rows=st.lists(small, min_size=12, max_size=60), copies=st.sampled_from([1, 4]))
def test_the_share_follows_its_definition(
    shared_database: Database, rows: Sequence[tuple[int, int]], copies: int
) -> None:
    own = [row for row in rows for _ in range(copies)]
    shared_database.table("people", {"age": "INTEGER", "note": "INTEGER"}, own)
    result = kanon_sql.anonymize(
        shared_database.engine,
        spec(
            quasi_identifiers={"age": {"intervals": [4], "minimum_level": 1, "maximum_level": 1}},
            keep=["note"],
            privacy=k_of(2),
            suppression={"max_share": 0.0},
            warnings={**QUIET, "kept_reveals_quasi_identifier": "warn"},
        ),
    )
    if not result.passed:
        return
    expected = share_of([(age // 4, note, age) for age, note in own])
    found = [item.figures["share"] for item in result.warnings if item.code == "kept_reveals_quasi_identifier"]
    assert found == ([pytest.approx(expected)] if expected >= 0.05 else [])


@pytest.mark.parametrize("nulls", ["value", "suppress"])
def test_a_frequency_set_shows_what_the_source_does(
    database: Database, monkeypatch: pytest.MonkeyPatch, nulls: str
) -> None:
    """One column at a level between others, one withheld, one as it is; classes and rows with NULL are suppressed."""
    found = set()
    for seed in range(6):
        draw = random.Random(seed)
        rows = []
        for _ in range(300):
            age = draw.randrange(40) if draw.random() < 0.95 else None
            home = draw.choice([None, age, draw.randrange(9)]) if seed % 2 else draw.randrange(200)
            rows.append((age, str(10 + draw.randrange(20)), draw.choice("FM"), home))
        database.table("people", {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "household": "INTEGER"}, rows)
        made = spec(
            quasi_identifiers={
                "age": {"intervals": [5, 10], "minimum_level": 2, "maximum_level": 2},
                "zip": {"prefix": [1], "minimum_level": 2},
                "sex": {"maximum_level": 0},
            },
            sensitive=["household"],
            privacy=[*k_of(35), {"l_diversity": {"attribute": "household", "l": 2}}],
            suppression={"max_share": 0.9},
            nulls=nulls,
            warnings={**QUIET, "kept_reveals_quasi_identifier": "warn", "kept_links_rows": "warn"},
        )
        counted = kanon_sql.anonymize(database.engine, made)
        with monkeypatch.context() as patch:
            patch.setattr(revealing, "_is_counted", lambda *_: False)
            read = kanon_sql.anonymize(database.engine, made)
        assert counted.passed
        assert counted.rows["suppressed"] > 0
        assert read.cost.source_scans == counted.cost.source_scans + 1
        assert [item.message for item in counted.warnings] == [item.message for item in read.warnings]
        assert [item.figures for item in counted.warnings] == [
            pytest.approx(item.figures) for item in read.warnings
        ]  # fmt: skip
        found |= {item.code for item in counted.warnings}
    assert found >= {"kept_reveals_quasi_identifier", "kept_links_rows"}


@pytest.mark.parametrize("rows", [80, 4000])
def test_a_birth_year_beside_bands_of_age_is_an_error(database: Database, rows: int) -> None:
    """Each birth year gives one age; 80 rows are few, and in 4,000 a hundred share each value."""
    births(database, rows)
    made = {"quasi_identifiers": BANDS, "keep": ["born"], "privacy": k_of(5)}
    result = kanon_sql.anonymize(database.engine, spec(**made))
    assert not result.passed
    assert result.message.startswith("nothing was published: kept_reveals_quasi_identifier is an error")
    assert the(result, "kept_reveals_quasi_identifier").figures == {
        "share": 1.0, "smallest": rows // 40, "least": 5
    }  # fmt: skip
    assert database.engine.exists(("people_release",)) is None
    accepted = kanon_sql.anonymize(
        database.engine, spec(**made, warnings={**QUIET, "kept_reveals_quasi_identifier": "warn"})
    )
    assert accepted.passed
    assert "kept_reveals_quasi_identifier" in codes(accepted)
    jsonschema.validate(accepted.to_dict(), result_schema())
    assert accepted.manifest is not None
    assert accepted.manifest["warnings"] == accepted.to_dict()["warnings"]
    quiet = {**QUIET, "kept_reveals_quasi_identifier": "allow", "kept_links_rows": "allow"}
    silent = kanon_sql.anonymize(database.engine, spec(**made, warnings=quiet))
    assert silent.passed
    assert silent.warnings == []
    assert silent.cost.source_scans == accepted.cost.source_scans - 1


AGGREGATED = {"method": "microaggregation", "columns": {"age": "mean"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    "recoding",
    ["local", "mondrian", "cells", {"method": "mondrian", "variant": "relaxed"}, "kk", AGGREGATED],
)
@pytest.mark.sampled(3)
def test_other_recodings_are_looked_at_too(database: Database, recoding: Any) -> None:
    births(database, 400)
    result = kanon_sql.anonymize(
        database.engine,
        spec(
            quasi_identifiers={"age": {"intervals": [10, 20]} if recoding in ("local", "cells", "kk") else None},
            keep=["born"],
            privacy=[{"kk_anonymity": {"k": 20}}] if recoding == "kk" else k_of(20),
            recoding=recoding,
        ),
    )
    assert the(result, "kept_reveals_quasi_identifier").figures["share"] > 0.25, result.message
    assert not result.passed


def test_a_sensitive_attribute_is_looked_at_too(database: Database) -> None:
    """Each diagnosis is of one sex, which is withheld; the classes are diverse in it."""
    rows = [(i % 2, ["C61", "O80", "C62", "O81"][i % 4], 20 + i % 7) for i in range(400)]
    database.table("people", {"sex": "INTEGER", "icd": "VARCHAR", "age": "INTEGER"}, rows)
    result = kanon_sql.anonymize(
        database.engine,
        spec(
            quasi_identifiers={"sex": {"minimum_level": 1}, "age": None},
            sensitive=["icd"],
            privacy=[{"l_diversity": {"attribute": "icd", "l": 3}}],
        ),
    )
    assert list(the(result, "kept_reveals_quasi_identifier").columns) == ["icd", "sex"]


@pytest.mark.slow
def test_what_other_labels_reveal_is_no_columns_fault(database: Database) -> None:
    """Widowed people are old and have dementia: by their ages, which are released, one knows as much."""
    draw = random.Random(2)
    rows = []
    for _ in range(4000):
        age = draw.randint(20, 89)
        dementia = age >= 70 and draw.random() < 0.6
        status = "widowed" if age >= 70 and draw.random() < 0.95 else draw.choice(["single", "divorced"])
        rows.append((age // 10, status, "dementia" if dementia else draw.choice("abc")))
    found = {}
    for used in (["status"], ["age", "status"]):
        database.table("people", {"age": "INTEGER", "status": "VARCHAR", "icd": "VARCHAR"}, rows)
        made = {name: {"status": {"minimum_level": 1}}.get(name) for name in used}
        result = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=made, keep=["icd"], privacy=k_of(5)))
        found[len(used)] = "kept_reveals_quasi_identifier" in codes(result)
    assert found == {1: True, 2: False}
    alone = figures_of([(0, icd, status) for _, status, icd in rows])
    together = figures_of([(age, icd, status) for age, status, icd in rows])
    assert alone[0] >= 0.05
    assert together[2] < alone[1] / 2, "what the classes show is less than half of it"


@pytest.mark.slow
def test_a_few_values_that_reveal_it_are_a_warning(database: Database) -> None:
    """Of 2,000 rows, 240 have a diagnosis of one sex alone: 12 %."""
    draw = random.Random(1)
    rows = [(i % 2, f"C6{i % 2}" if i < 240 else draw.choice("abcdef"), 20) for i in range(2000)]
    database.table("people", {"sex": "INTEGER", "icd": "VARCHAR", "age": "INTEGER"}, rows)
    made = {"quasi_identifiers": {"sex": {"minimum_level": 1}, "age": None}, "keep": ["icd"], "privacy": k_of(5)}
    result = kanon_sql.anonymize(database.engine, spec(**made))
    assert result.passed
    assert the(result, "kept_reveals_quasi_identifier").figures["share"] == pytest.approx(0.12, abs=0.01)
    assert not kanon_sql.anonymize(database.engine, spec(**made), fail_on_warning=True).passed


@pytest.mark.slow
@pytest.mark.parametrize("values", [5, 40, 200, 399, 10**9])
@pytest.mark.sampled(3)
def test_chance_is_no_reason_to_warn(database: Database, values: int) -> None:
    """Tables of columns that have nothing to do with each other, with groups of all sizes."""
    for seed in range(20 * TIMES or 6):
        draw = random.Random(seed)
        rows = [(draw.randint(20, 59), draw.randint(0, 1), draw.randint(1, values)) for _ in range(400)]
        database.table("people", {"age": "INTEGER", "sex": "INTEGER", "note": "INTEGER"}, rows)
        made = {"age": {"intervals": [10, 20], "minimum_level": 2}, "sex": {"minimum_level": 1}}
        result = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=made, keep=["note"], privacy=k_of(5)))
        assert result.passed, result.message
        assert "kept_reveals_quasi_identifier" not in codes(result), seed
        assert "kept_links_rows" not in codes(result), seed


def test_visits_of_a_person_are_no_evidence(database: Database) -> None:
    """A fee of each person alone: their own eight visits agree in everything, and say nothing of others."""
    rows = [(i // 8, 20 + i // 8 % 40, i // 8 * 7) for i in range(800)]
    database.table("people", {"who": "INTEGER", "age": "INTEGER", "fee": "INTEGER"}, rows)
    result = kanon_sql.anonymize(
        database.engine, spec(unit="who", quasi_identifiers=BANDS, keep=["fee"], privacy=k_of(5))
    )
    assert result.passed
    assert "kept_reveals_quasi_identifier" not in codes(result)
    linked = the(result, "kept_links_rows")
    assert linked.figures["linked"] == 1.0
    assert "can be linked to one person" in linked.message


def test_init_takes_a_column_that_reveals_a_quasi_identifier_for_one(database: Database) -> None:
    """`x` is 200 less three times the age; the amount has nothing to do with anything, nor has a note of few values."""
    draw = random.Random(3)
    rows = [(age := draw.randint(20, 59), 200 - 3 * age, draw.randint(0, 60), i % 2) for i in range(400)]
    columns = {"age": "INTEGER", "x": "INTEGER", "amount": "INTEGER", "sex": "INTEGER"}
    database.table("people", {**columns, "region": "VARCHAR", "race": "VARCHAR"}, [(*row, "a", "b") for row in rows])
    text = kanon_sql.init(database.engine, "people")
    drafted = kanon_sql.Spec.parse(text)
    assert "x" in drafted.quasi_identifiers
    assert "amount" not in drafted.quasi_identifiers
    assert "rows with the same value also have the same value of age" in text


# --- Groups of persons -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["household", "x17"])
@pytest.mark.parametrize("unit", ["person", None])
def test_a_household_links_rows(database: Database, name: str, unit: str | None) -> None:
    """Households of two women and two men, two in each region; by its name, or since all of one live in one region."""
    columns = {"person": "INTEGER", name: "INTEGER", "region": "INTEGER", "sex": "INTEGER"}
    database.table("people", columns, [(i, i // 4, i // 4 % 50, i % 2) for i in range(400)])
    made = {"quasi_identifiers": {"region": None, "sex": None}, "keep": [name], "privacy": k_of(3), "unit": unit}
    result = kanon_sql.anonymize(database.engine, spec(**made))
    assert result.passed
    found = the(result, "kept_links_rows")
    assert found.columns == [name]
    assert found.figures == {"rows": 400, "linked": 1.0, "least": 3, "smallest": 2}
    fatal = {**QUIET, "kept_links_rows": "error"}
    assert not kanon_sql.anonymize(database.engine, spec(**made, warnings=fatal)).passed


def test_a_column_that_many_share_links_nothing(database: Database) -> None:
    columns = {"household_kind": "INTEGER", "region": "INTEGER", "sex": "INTEGER"}
    database.table("people", columns, [(i % 3, i // 4 % 5, i % 2) for i in range(600)])
    made = {"quasi_identifiers": {"region": None, "sex": None}, "keep": ["household_kind"], "privacy": k_of(3)}
    assert codes(kanon_sql.anonymize(database.engine, spec(**made))) == []


# --- Spellings, words for nothing, lists ------------------------------------------------------------

SPELLED: list[tuple[list[Any], str | None, dict[str, int] | None]] = [
    (["HIV", "hiv", "Hiv ", "\thiv"], "text", {"values": 4, "values_folded": 1, "missing": 0}),
    (["", "unknown", "N/A", "hiv"], "text", {"values": 4, "values_folded": 1, "missing": 3}),
    (["?", "-", "a", "b"], "text", {"values": 4, "values_folded": 2, "missing": 2}),
    (["flu", "hiv", "tb", "flu"], "text", None),
    ([1, 2, 3, 99], "integer", {"values": 4, "values_folded": 3, "missing": 1}),
    ([1, 2, 3, -9], "integer", {"values": 4, "values_folded": 3, "missing": 1}),
    ([1, 2, 3, 9], "integer", {"values": 4, "values_folded": 3, "missing": 1}),
    ([7, 8, 9, 10], "integer", None),
    ([60, 80, 99, 120], "integer", None),
    ([-9, -8, 3, 4], "integer", None),
]


@pytest.mark.campaign_on("spark")
@pytest.mark.sampled(5)
@pytest.mark.slow
def test_values_alike_are_counted_on_every_engine(subject: Subject, engine: Engine) -> None:
    for values, kind, figures in SPELLED:
        assert kind is not None
        subject.table("people", {"q": "integer", "s": kind}, [(1, value) for value in values * 2])
        try:
            made = spec(
                quasi_identifiers={"q": None},
                sensitive=["s"],
                privacy=[{"l_diversity": {"attribute": "s", "l": 2}}],
            )
            for result in (kanon_sql.anonymize(engine, made), kanon_sql.check(engine, made, "people")):
                assert result.passed, result.message
                found = [dict(item.figures) for item in result.warnings if item.code == "inconsistent_spelling"]
                assert found == ([] if figures is None else [figures]), (values, result.verb)
        finally:
            subject.drop("people_release")
            subject.drop("people")


def test_persons_with_two_spellings_are_counted_twice(database: Database) -> None:
    rows = [(f"{'p' if i % 2 else 'P'}{i // 2}", 1) for i in range(40)]
    database.table("people", {"pid": "VARCHAR", "q": "INTEGER"}, rows)
    made = spec(unit="pid", quasi_identifiers={"q": None}, privacy=k_of(3))
    for result in (kanon_sql.anonymize(database.engine, made), kanon_sql.check(database.engine, made, "people")):
        assert the(result, "inconsistent_spelling").figures == {"values": 40, "values_folded": 20, "missing": 0}
        assert the(result, "inconsistent_spelling").columns == ["pid"]
    allowed = spec(
        unit="pid", quasi_identifiers={"q": None}, privacy=k_of(3), warnings={"inconsistent_spelling": "allow"}
    )
    assert codes(kanon_sql.anonymize(database.engine, allowed)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "declared", "keys", "persons"),
    [
        ("mariadb", "VARCHAR(20) COLLATE utf8mb4_general_ci", ["é1", "e1", "b", "B"], 2),
        ("sqlite", "TEXT COLLATE NOCASE", ["a", "A", "b", "c"], 3),
    ],
)
@pytest.mark.sampled(2)
def test_keys_that_the_database_calls_equal(name: str, declared: str, keys: Sequence[str], persons: int) -> None:
    """By its type or its collation, which is more than case and blanks."""
    with subject_of(name) as own:
        own.drop("people")
        own.drop("people_release")
        own.execute(f"CREATE TABLE people (pid {declared}, q INTEGER)")
        for key in keys:
            own.execute(f"INSERT INTO people VALUES ('{key}', 1)")
        engine = own.connect()
        try:
            made = spec(unit="pid", quasi_identifiers={"q": None}, privacy=k_of(3))
            found = the(kanon_sql.check(engine, made, "people"), "inconsistent_spelling")
            assert found.figures == {"values": 4, "values_folded": persons, "missing": 0}
        finally:
            engine.close()
            own.drop("people")


@pytest.mark.parametrize(
    ("values", "share"),
    [
        (["hiv;flu", "flu;hiv", "hiv", "hiv;tb"], 0.75),
        (["hiv|flu", "hiv", "flu", "flu|tb"], 0.5),
        (["a,b", "c", "d", "e"], None),
        (["hiv", "flu", "tb", "none known"], None),
    ],
)
def test_lists_that_are_written_as_text(database: Database, values: Sequence[str], share: float | None) -> None:
    database.table("people", {"q": "INTEGER", "s": "VARCHAR"}, [(1, value) for value in values * 2])
    made = spec(quasi_identifiers={"q": None}, sensitive=["s"], privacy=[{"l_diversity": {"attribute": "s", "l": 3}}])
    for result in (kanon_sql.anonymize(database.engine, made), kanon_sql.check(database.engine, made, "people")):
        found = [item.figures["share"] for item in result.warnings if item.code == "values_are_lists"]
        assert found == ([] if share is None else [share])


# --- Tables as they stand ------------------------------------------------------------------------------


def test_a_table_that_holds_identifiers_or_more_than_the_spec_names(database: Database) -> None:
    rows = [(i, f"h{i}", 20 + i % 4, i % 7) for i in range(200)]
    columns = {"name": "INTEGER", "ssn_hash": "VARCHAR", "age": "INTEGER", "ward": "INTEGER"}
    database.table("people", columns, rows)
    made = {"quasi_identifiers": {"age": None}, "identifiers": ["name"], "privacy": k_of(3)}
    of_source = kanon_sql.check(database.engine, spec(**made), "people")
    assert of_source.passed
    assert codes(of_source) == ["identifiers_present", "unnamed_columns"]
    assert the(of_source, "identifiers_present").columns == ["name"]
    assert the(of_source, "unnamed_columns").columns == ["ssn_hash"], "a ward of the source is only not released"
    assert not kanon_sql.check(database.engine, spec(**made), "people", fail_on_warning=True).passed
    database.connection.execute("CREATE TABLE given AS SELECT age, ward FROM people")
    of_release = kanon_sql.check(database.engine, spec(**made), "given")
    assert codes(of_release) == ["unnamed_columns"]
    assert the(of_release, "unnamed_columns").columns == ["ward"]
    for code in ("identifiers_present", "unnamed_columns"):
        fatal = spec(**made, warnings={code: "error"})
        assert kanon_sql.check(database.engine, fatal, "people").message.endswith(
            f"{code} is an error because the spec says so"
        )
        allowed = spec(**made, warnings={code: "allow"})
        assert code not in codes(kanon_sql.check(database.engine, allowed, "people"))


@pytest.mark.slow
def test_what_anonymize_writes_has_no_column_that_the_spec_does_not_name(database: Database) -> None:
    rows = [(i, 20 + i % 40, i % 7) for i in range(200)]
    database.table("people", {"name": "INTEGER", "age": "INTEGER", "ward": "INTEGER"}, rows)
    made = {
        "quasi_identifiers": {"age": {"intervals": [10]}},
        "keep": ["ward"],
        "privacy": k_of(3),
        "identifiers": ["name"],
    }
    assert kanon_sql.anonymize(database.engine, spec(**made)).passed
    assert codes(kanon_sql.check(database.engine, spec(**made))) == []


# --- Numbers that are stored as text --------------------------------------------------------------

BY_CHARACTERS = [
    ("numbers of two lengths", [str(number) for number in range(1, 41)], (40, 40)),
    ("with signs and fractions", ["-5", "-12.5", ".5", *(f"{number}.5" for number in range(1, 21))], (23, 23)),
    ("nine of ten", ["n/a", "11", *(str(number) for number in range(2, 10))], (10, 9)),
    ("fewer", ["n/a", "none", *(str(number) for number in range(1, 12))], None),
    ("of one length", [f"{number:05}" for number in range(40)], None),
    ("bands", [f"{low}-{low + 4}" for low in range(0, 100, 5)], None),
    ("words", ["one", "two", "three", "four", "five"], None),
]


@pytest.mark.slow
@pytest.mark.campaign_on("spark")
def test_ranges_of_numbers_that_are_text_are_named(subject: Subject, engine: Engine) -> None:
    names = [f"q{place}" for place, _ in enumerate(BY_CHARACTERS)]
    columns = [[*values, None] for _, values, _ in BY_CHARACTERS]
    rows = [[values[number % len(values)] for values in columns] for number in range(60)]
    subject.table("people", dict.fromkeys(names, "text"), rows)
    warnings = {**QUIET, "column_fully_generalized": "allow", "fully_suppressed_columns": "allow"}
    asked = spec(quasi_identifiers=dict.fromkeys(names), privacy=k_of(4), recoding="mondrian", warnings=warnings)
    found = [item for item in kanon_sql.plan(engine, asked).warnings if item.code == "numbers_as_text"]
    shown = {item.columns[0]: (item.figures["values"], item.figures["numbers"]) for item in found}
    expected = {name: counts for name, (_, _, counts) in zip(names, BY_CHARACTERS, strict=True) if counts is not None}
    assert shown == expected
    subject.drop("people")


@pytest.mark.slow
def test_ranges_that_have_another_order_are_not(database: Database) -> None:
    values = [str(number) for number in range(8, 13)]
    database.table("people", ["q", "r"], [(value, value) for value in values for _ in range(2)])
    database.table("listed", ["value", "top"], [(value, "*") for value in values])
    by_prefix = {"q": {"prefix": [1]}, "r": {"prefix": [1]}}
    optimal = {"search": {"algorithm": "k_optimize", "cuts": 2}, "suppression": {"max_rows": 2, "style": "drop"}}
    for changes, expected in (
        ({"recoding": "mondrian"}, {"q", "r"}),
        ({"recoding": {"method": "local", "ranges": ["r"]}, "quasi_identifiers": by_prefix}, {"r"}),
        ({"recoding": "local", "quasi_identifiers": by_prefix}, set()),
        (optimal, {"q", "r"}),
        ({**optimal, "quasi_identifiers": by_prefix}, {"q", "r"}),
        ({"quasi_identifiers": by_prefix}, set()),
        ({"recoding": "mondrian", "quasi_identifiers": {"q": {"table": "listed"}, "r": {"table": "listed"}}}, set()),
        ({"recoding": "mondrian", "warnings": {**QUIET, "numbers_as_text": "allow"}}, set()),
    ):
        given = {"quasi_identifiers": {"q": None, "r": None}, "privacy": k_of(4), **changes}
        result = kanon_sql.plan(database.engine, spec(**given))
        assert {item.columns[0] for item in result.warnings if item.code == "numbers_as_text"} == expected, changes
    numbers = "SELECT CAST(q AS INTEGER) AS q, CAST(r AS INTEGER) AS r FROM people"
    cast = spec(
        source={"query": numbers}, quasi_identifiers={"q": None, "r": None}, privacy=k_of(4), recoding="mondrian"
    )
    assert "numbers_as_text" not in codes(kanon_sql.plan(database.engine, cast))
    failed = spec(
        quasi_identifiers={"q": None}, privacy=k_of(4), recoding="mondrian",
        warnings={**QUIET, "numbers_as_text": "error"},
    )  # fmt: skip
    assert "nothing was published: numbers_as_text is an error" in kanon_sql.anonymize(database.engine, failed).message


@pytest.mark.slow
def test_numbers_that_look_different_single_rows_out() -> None:
    """Each of 200 rows has 1.5 with digits of its own: one number, and a reader sees 200 values."""
    with subject_of("postgres") as postgres, postgres.connect() as engine:
        rows = [(20 + number % 4, f"1.5{'0' * number}") for number in range(200)]
        postgres.table("people", {"age": "integer", "note": "text"}, rows)
        postgres.execute("ALTER TABLE people ALTER note TYPE numeric USING note::numeric")
        made = {"quasi_identifiers": {"age": None}, "privacy": k_of(3), "warnings": {}}
        kept = kanon_sql.anonymize(engine, spec(**made, keep=["note"]))
        assert the(kept, "nearly_unique_kept").figures["alone"] == 1.0
        assert the(kanon_sql.check(engine, spec(**made), "people"), "unnamed_columns").columns == ["note"]


def test_births_in_the_future_are_those_of_a_file_with_years_of_two_digits(tmp_path: Path) -> None:
    this = date.today().year
    years = [this % 100 + 4, this % 100 + 4, 80, 99, this % 100 - 1]
    lines = [f"{place},{month}/13/{year:02}" for place, year in enumerate(years) for month in (1, 2)]
    (tmp_path / "people.csv").write_text("\n".join(["place,birth,admitted", *(f"{line},1/13/68" for line in lines)]))
    made = {"dates": ["month", "year"]}
    asked = {
        "version": 1,
        "source": {"file": str(tmp_path / "people.csv")},
        "quasi_identifiers": {"birth": made, "admitted": made},
        "privacy": [{"k_anonymity": {"k": 1}}],
    }
    with kanon_sql.connect() as engine:
        (warned,) = (
            item for item in kanon_sql.plan(engine, Spec.from_dict(asked)).warnings if item.columns == ["birth"]
        )
        assert warned.code == "births_in_future"
        assert warned.figures == {"rows": 10, "future": 4}
        allowed = {**asked, "warnings": {"births_in_future": "allow"}}
        assert "births_in_future" not in codes(kanon_sql.plan(engine, Spec.from_dict(allowed)))
        written = {**asked, "source": {**asked["source"], "csv": {"dates": "%m/%d/%y"}}}
        assert "births_in_future" in codes(kanon_sql.plan(engine, Spec.from_dict(written))), "the form tells no century"
