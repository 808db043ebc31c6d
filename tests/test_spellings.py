"""A reader sees which rows have 1.0 and which 1.00, or 0 and -0: classes of a table as it stands are no larger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from servers import subject_of

import kanon_sql
from kanon_sql.testing import Subject

ENGINES = [
    pytest.param(name, marks=pytest.mark.xdist_group(name))
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


def filled(subject: Subject, kind: str, values: list[str], besides: str = "") -> None:
    """A table ``amounts`` with a row for each value, of which all have one sensitive value."""
    subject.drop("amounts")
    order = " ENGINE = MergeTree ORDER BY tuple()" if subject.name == "clickhouse" else ""
    number, text = ("Int32", "String") if subject.name == "clickhouse" else ("INT", "VARCHAR(9)")
    subject.execute(f"CREATE TABLE amounts (q {kind}, place {number}, v {text}){order}")
    for value in values:
        subject.execute(f"INSERT INTO amounts VALUES ({value}, 1, 'flu')")


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
