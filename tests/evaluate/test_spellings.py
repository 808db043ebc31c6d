"""A reader sees which rows have 1.0 and which 1.00, or 0 and -0: classes of a table as it is are no larger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest

import kanon_sql
from kanon_sql.disclosure.risk import Pair, Records, agreement_of
from kanon_sql.engines import open_workspace
from kanon_sql.sql import Relation as Place
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.dbt_macros import Dbt, Relation

ENGINES = [
    pytest.param(name, marks=[pytest.mark.xdist_group(name), *([pytest.mark.slow] if name == "spark" else [])])
    for name in ("duckdb", "postgres", "sqlite", "clickhouse", "spark")  # MariaDB stores -0 as 0
]

PAIRS = {
    "duckdb": [("DOUBLE", "0", "'-0'"), ("FLOAT", "0", "'-0'")],
    "postgres": [
        ("numeric", "1.5", "1.50"),
        ("numeric", "0", "0.00"),
        ("float8", "0", "'-0'"),
        ("float4", "0", "'-0'"),
    ],
    "sqlite": [("", "0.0", "-0.0")],  # a column of binary fractions stores 0, whichever it is given
    "clickhouse": [("Float64", "0.", "-0."), ("Float32", "0.", "-0.")],
    "spark": [("DOUBLE", "0D", "-0D"), ("FLOAT", "0D", "-0D")],
}
"""Engine -> a type, and two texts of one number in it."""


@pytest.fixture(scope="module", params=ENGINES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


def filled(subject: Subject, kind: str, values: list[str], held: str = "") -> None:
    """A table ``amounts`` with a row for each value: all have one sensitive value, or each a letter of a text."""
    subject.drop("amounts")
    order = " ENGINE = MergeTree ORDER BY tuple()" if subject.name == "clickhouse" else ""
    number, text = ("Int32", "String") if subject.name == "clickhouse" else ("INT", "VARCHAR(9)")
    subject.execute(f"CREATE TABLE amounts (q {kind}, place {number}, v {text}){order}")
    for place, value in enumerate(values):
        subject.execute(f"INSERT INTO amounts VALUES ({value}, 1, '{held[place] if held else 'flu'}')")


SPEC = {
    "version": 1,
    "source": "amounts",
    "quasi_identifiers": {"q": {}, "place": {}},
    "sensitive": ["v"],
    "privacy": [{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "v", "l": 2}}],
    "warnings": {"rows_not_persons": "allow"},
}


@pytest.mark.slow
def test_rows_that_look_different_are_in_different_classes(subject: Subject) -> None:
    """Three rows of one text and two of another: no class of five, though all five numbers are equal."""
    for kind, one, other in PAIRS[subject.name]:
        values = [one, one, one, other, other]
        filled(subject, kind, values)
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "amounts",
                "quasi_identifiers": {"q": {}, "place": {}},
                "privacy": [{"k_anonymity": {"k": 3}}],
                "warnings": {"rows_not_persons": "allow"},
            }
        )
        with subject.connect() as engine:
            checked = kanon_sql.check(engine, spec, "amounts", reveal=9)
            risk = kanon_sql.risk(engine, spec, "amounts")
        sizes = sorted(Counter(values).values())
        assert not checked.passed, (kind, one, other)
        assert checked.classes == {"count": 2, "smallest": sizes[0], "average": 2.5, "largest": sizes[1]}
        assert checked.revealed is not None
        assert [item["rows"] for item in checked.revealed] == [2]
        assert risk.to_dict()["classes"]["smallest"] == 2
    subject.drop("amounts")


@pytest.mark.slow
@pytest.mark.campaign_on("spark")
def test_an_attacker_sees_them_too(subject: Subject) -> None:
    """All rows of one text have one value, and those of the other another: together they would be diverse."""
    for kind, one, other in PAIRS[subject.name]:
        filled(subject, kind, [one, one, other, other, other], "aabbb")
        with subject.connect() as engine:
            checked = kanon_sql.check(engine, kanon_sql.Spec.from_dict(SPEC), "amounts")
            audit = kanon_sql.audit(engine, kanon_sql.Spec.from_dict(SPEC), "amounts", reveal=9)
        assert [item["violating_rows"] for item in checked.achieved.values()] == [0, 5]
        found = {attack.name: attack for attack in audit.attacks}
        assert (found["homogeneity"].exposed, found["homogeneity"].beyond) == (5, 5), (kind, one, other)
        revealed = found["homogeneity"].revealed
        assert revealed is not None
        assert sorted(item["people"] for item in revealed) == [2, 3]
        assert {item["values"]["place"] for item in revealed} == {"1"}
        assert {float(item["values"]["q"] or "nan") for item in revealed} == {float(one.strip("'D"))}
        assert found["skewness"].risk == pytest.approx(0.6)  # of class 2 that all have a, which 2 of 5 have
    subject.drop("amounts")


ADAPTERS = ("duckdb", "postgres", "spark")

NAMES = {"float8": "double precision", "float4": "real"}
"""What dbt calls a type."""


def test_tests_of_dbt_see_them_too(subject: Subject) -> None:
    if subject.name not in ADAPTERS:
        pytest.skip("no adapter of the dbt package")
    for kind, one, other in PAIRS[subject.name]:
        filled(subject, kind, [one, one, one, other, other], "abcde")
        types = {"q": NAMES.get(kind, kind), "place": "int", "v": subject.types["text"]}
        dbt = Dbt(subject.name, lambda _, types=types: list(types.items()))
        amounts = Relation(dbt.quote("amounts"))
        small = dbt.test("k_anonymity", amounts, quasi_identifiers=["place", "q"], k=3)
        assert subject.fetch(small) == [(2, 2)], (kind, one, other)
        diverse = dbt.test("l_diversity", amounts, quasi_identifiers=["q"], attribute="v", l=3)
        assert subject.fetch(diverse) == [(2, 2, 2)]
        # Where values and persons are counted, they are one number.
        alike = dbt.test("l_diversity", amounts, quasi_identifiers=["place"], attribute="q", l=2)
        assert subject.fetch(alike) == [(5, 5, 1)]
        persons = dbt.test("k_anonymity", amounts, quasi_identifiers=["place"], k=2, unit="q")
        assert subject.fetch(persons) == [(5, 1)]
    subject.drop("amounts")


@pytest.mark.campaign_on("spark")
def test_a_kept_column_links_by_what_its_reader_sees(subject: Subject) -> None:
    """Of five rows that share a number, three and two share how it is written: groups of two, and two values."""
    for kind, one, other in PAIRS[subject.name]:
        filled(subject, kind, [one, one, one, other, other], "aaabb")
        with subject.connect() as engine, open_workspace(engine, "amounts") as workspace:
            table = Place(("amounts",))
            records = Records.of_table(table, workspace.columns(table))
            pair = Pair("q", "v")
            found, alone = agreement_of(workspace, records, [pair], alone=["q"], labels=["place"], least=3)
            _, by_label = agreement_of(workspace, records, [], alone=["place"], labels=["q"], least=3)
        assert (alone["q"].values, alone["q"].smallest, alone["q"].few_rows) == (2, 2, 2), (kind, one, other)
        assert (by_label["place"].smallest, by_label["place"].few_rows) == (2, 2)
        # Rows with one text always agree in v: 5 of 5 instead of the 3 * 2/4 + 2 * 1/4 = 2 that chance gives.
        assert found[pair].excess == pytest.approx(3.0)
    subject.drop("amounts")


@pytest.mark.campaign_on("spark")
def test_rows_without_a_label_are_compared_among_themselves(subject: Subject) -> None:
    """As rows with any other label: q then tells v apart in pairs, 5 of 5 instead of 3 * 2/4 + 2 * 1/4 by chance."""
    subject.drop("amounts")
    columns = ", ".join(f"{subject.dialect.quote(name)} {subject.types['text']}" for name in ("place", "q", "v"))
    subject.execute(subject.create(subject.dialect.quote("amounts"), columns))
    rows = [(place, q, q) for place in ("NULL", "'x'") for q in ("'a'", "'a'", "'a'", "'b'", "'b'")]
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    subject.execute(f"INSERT INTO {subject.dialect.quote('amounts')} VALUES {values}")
    with subject.connect() as engine, open_workspace(engine, "amounts") as workspace:
        table = Place(("amounts",))
        pair = Pair("q", "v", ("place",))
        found, _ = agreement_of(workspace, Records.of_table(table, workspace.columns(table)), [pair])
    assert found[pair].records == found[pair].open == 10
    assert found[pair].excess == pytest.approx(6.0)
    subject.drop("amounts")


def test_equal_numbers_have_one_label_and_are_one_value_between_parties(subject: Subject) -> None:
    if subject.name != "postgres":
        pytest.skip("numbers keep their digits in PostgreSQL alone")
    filled(subject, "numeric", ["1.5", "1.50", "100", "100.00", "0.000"], "aabbb")
    subject.drop("labelled")
    released = {
        **SPEC,
        "release": "labelled",
        "quasi_identifiers": {"q": {"maximum_level": 0}},
        "privacy": [{"k_anonymity": {"k": 1}}],
    }
    with subject.connect() as engine:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(released))
    shown = Counter(value for (value,) in subject.fetch("SELECT q FROM labelled"))
    assert shown == {"1.5": 2, "100": 2, "0": 1}
    subject.drop("labelled")
    subject.drop("amounts")

    # One party has ages, the other amounts: a class whose amounts are all 1.5 has no second value.
    subject.execute("CREATE TABLE people (id INT, town text, amount numeric)")
    subject.execute("INSERT INTO people VALUES (1, 'x', 1.5), (2, 'x', 1.50), (3, 'x', 1.5), (4, 'x', 1.50)")
    ages = duckdb.connect()
    ages.execute("CREATE TABLE people AS SELECT unnest([1, 2, 3, 4]) AS id, 30 AS age")
    asked = {
        **SPEC,
        "source": "people",
        "release": "labelled",
        "identifiers": ["id"],
        "quasi_identifiers": {"age": {}, "town": {}},
        "sensitive": ["amount"],
        "search": {"metric": "precision"},
        "privacy": [{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "amount", "l": 2}}],
    }
    with subject.connect() as engine:
        parties = [kanon_sql.connect(ages), engine]
        found = kanon_sql.anonymize_parties(parties, kanon_sql.Spec.from_dict(asked), split="vertical", key="id", at=1)
    assert not found.passed
    subject.drop("people")
