"""Every type of every engine: taken, with two values that show it, or refused.

Right is what the engine itself and a reader of a table say of two values. A class may hold both only if they are equal
to the engine; they may count as two sensitive values, or two persons, only if they are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.type_names import TypeName, parsed_type
from kanon_sql.errors import DatabaseError, KanonError, UnsupportedError
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.type_pairs import PAIRS, Pair, nested

QUICK = ("duckdb",)

ENGINES = [
    pytest.param(name, marks=[pytest.mark.xdist_group(name)] + ([] if name in QUICK else [pytest.mark.slow]))
    for name in PAIRS
]
ENGINES[-1] = pytest.param("spark", marks=[pytest.mark.xdist_group("spark"), pytest.mark.campaign])

NUMBERS = ("Float32", "Float64", "BFloat16")
"""Of ClickHouse, which groups by bits: 0 and -0 are one number here, as on every other engine, where they are counted.

A class is another thing: its reader sees which of the two a row has.
"""

CATALOGS = {
    "duckdb": "SELECT DISTINCT logical_type FROM duckdb_types() WHERE schema_name = 'main' OR internal",
    # Of the server's own tables and dictionaries of statistics, no column is anybody's; cstring is no type of a column.
    "postgres": (
        "SELECT typname::text FROM pg_catalog.pg_type WHERE oid < 16384 AND typtype IN ('b', 'r', 'm') "
        "AND typcategory NOT IN ('A', 'Z') AND typname <> 'gtsvector' "
        "UNION SELECT typname::text FROM pg_catalog.pg_type WHERE typname IN ('char', 'int2vector', 'oidvector')"
    ),
    "clickhouse": "SELECT name FROM system.data_type_families WHERE alias_to = ''",
}

SAME = {
    "duckdb": {"NULL": "\"NULL\"", "TYPE": ""},
    "postgres": {"char": '"char"'},
    "clickhouse": {
        **dict.fromkeys(("Decimal32", "Decimal64", "Decimal128", "Decimal256"), "Decimal"),
        "Enum": "Enum8", "DateTime32": "DateTime", "Nothing": "",
    },
}  # fmt: skip
"""Names of a catalog that are another's, or (empty) of which no column can be."""

NESTING = {
    "duckdb": {"LIST", "ARRAY", "STRUCT", "MAP", "TUPLE", "UNION", "VARIANT"},
    "postgres": set[str](),
    "clickhouse": set[str](),
}


PLAIN = {
    "duckdb": "INTEGER DECIMAL DOUBLE VARCHAR ENUM UUID BLOB BIT DATE TIME TIMESTAMP BOOLEAN BIGNUM",
    "postgres": (
        "int4 numeric float8 text varchar bpchar(3) uuid bytea date time timestamp timestamptz bool inet daterange"
    ),
    "clickhouse": "Int32 Decimal Float64 String FixedString Enum8 UUID IPv4 Date DateTime DateTime64 Bool Time",
    "mariadb": (
        "INT DECIMAL DOUBLE CHAR VARCHAR TEXT LONGTEXT BLOB LONGBLOB ENUM UUID INET6 DATE TIME DATETIME BIT YEAR"
    ),
    "sqlite": "INTEGER REAL TEXT BLOB NUMERIC DECIMAL DATE DATETIME BOOLEAN VARCHAR UUID",
    "spark": "INT DECIMAL DOUBLE STRING BINARY DATE TIMESTAMP TIMESTAMP_NTZ BOOLEAN CHAR VARCHAR",
}
"""Ordinary types, of which values are counted everywhere."""


@pytest.fixture(scope="module", params=ENGINES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


def spec(**changed: Any) -> kanon_sql.Spec:
    asked: dict[str, Any] = {"version": 1, "source": "pair", "release": "released", "keep": ["n"]}
    asked |= {"quasi_identifiers": {"q": {"maximum_level": 0}}, "sensitive": [], "privacy": [{"k_anonymity": 2}]}
    return kanon_sql.Spec.from_dict({**asked, **changed})


ROLES = {
    "quasi-identifier": spec(quasi_identifiers={"v": {"maximum_level": 0}}),
    "sensitive": spec(sensitive=["v"], privacy=[{"l_diversity": {"attribute": "v", "l": 2}}]),
    "person": spec(unit="v"),
}


def made(subject: Subject, pair: Pair) -> None:
    """Make a table of the two values."""
    quoted = subject.dialect.quote
    subject.drop("pair")
    columns = (
        f"{quoted('q')} {subject.types['text']}, {quoted('n')} {subject.types['integer']}, {quoted('v')} {pair.type}"
    )
    subject.execute(subject.create("pair", columns))
    for number, value in enumerate((pair.first, pair.second)):
        subject.execute(f"INSERT INTO pair SELECT 'a', {number}, {value}")


def counted(subject: Subject, pair: Pair) -> int:
    """How many different values the engine counts; by their texts, where values of the type are never equal."""
    value = "v + 0" if subject.name == "clickhouse" and pair.family in NUMBERS else "v"
    try:
        ((different,),) = subject.fetch(f"SELECT COUNT(*) FROM (SELECT {value} AS g FROM pair GROUP BY 1) AS counted")
    except Exception:
        query = f"SELECT CAST(v AS {'CHAR' if subject.name == 'mariadb' else 'VARCHAR(99)'}) AS t FROM pair"
        ((different,),) = subject.fetch(f"SELECT COUNT(DISTINCT t) FROM ({query}) AS counted")
    return int(different)


def shown(subject: Subject) -> int:
    """How many different values a reader of the table sees, who gets 0 and -0, or 1.0 and 1.00, as they are written."""
    return len({repr(value) for (value,) in subject.fetch("SELECT v FROM pair")})


def wrong(subject: Subject, engine: kanon_sql.Engine, pair: Pair, roles: Sequence[str] = tuple(ROLES)) -> Iterator[str]:
    """What a check passes that it must not."""
    try:
        made(subject, pair)
    except Exception:  # this build of the engine makes no such values
        (column,) = (column for column in engine.columns("pair") if column.name == "v")
        if column.written == "one":
            yield f"{pair.type}: {pair.first} or {pair.second} cannot be stored, and the type is taken"
        return
    for role in roles:
        try:
            passed = kanon_sql.check(engine, ROLES[role], "pair").passed
        except DatabaseError as error:
            yield f"{pair.type}: {pair.first} and {pair.second} as {role}: not refused, and fails: {error}"
            continue
        except KanonError:
            continue
        alone = counted(subject, pair) == 2
        if passed and (alone or shown(subject) == 2 if role == "quasi-identifier" else not alone):
            yield f"{pair.type}: {pair.first} and {pair.second} as {role}"


@pytest.mark.campaign_on("clickhouse")
def test_no_check_passes_what_the_engine_counts_otherwise(subject: Subject) -> None:
    engine = subject.connect()
    found = [fault for pair in PAIRS[subject.name] for fault in wrong(subject, engine, pair)]
    engine.close()
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [pytest.param("clickhouse", marks=pytest.mark.xdist_group("clickhouse"))], indirect=True
)
def test_nor_in_one_role_of_each_type(subject: Subject) -> None:
    """On the engine with the most types, of which each statement takes long: the roles take turns."""
    engine, turns = subject.connect(), cycle(ROLES)
    pairs = PAIRS[subject.name]
    found = [fault for pair, role in zip(pairs, turns, strict=False) for fault in wrong(subject, engine, pair, [role])]
    # Numbers that are equal and look different, in the role in which their reader could see it.
    zeros = [pair for pair in pairs if pair.family in NUMBERS and pair.first == "0"]
    found += [fault for pair in zeros for fault in wrong(subject, engine, pair, ["quasi-identifier"])]
    engine.close()
    assert len(zeros) == 2
    assert not found


@pytest.mark.campaign
def test_nor_where_types_are_nested(subject: Subject) -> None:
    engine, found, tried = subject.connect(), [], 0
    for pair in PAIRS[subject.name]:
        for outer in nested(subject.name, pair):
            if subject.name == "postgres":
                with suppress(Exception):
                    subject.execute(f"CREATE DOMAIN {outer.type.strip('[]')} AS {pair.type}")
                with suppress(Exception):
                    subject.execute(f"CREATE TYPE {outer.type} AS (part {outer.type.removeprefix('c_')})")
            try:
                made(subject, outer)
            except Exception:  # not every type may be in every other
                continue
            tried += 1
            found += wrong(subject, engine, outer)
    engine.close()
    assert not found
    assert tried >= (100 if subject.name in CATALOGS else 0)


def test_every_type_of_the_catalog_is_shown_or_refused(subject: Subject) -> None:
    if subject.name not in CATALOGS:
        pytest.skip("its catalog does not list its types")
    same = SAME[subject.name]
    shown = {pair.family for pair in PAIRS[subject.name]}
    names = {same.get(str(name), str(name)) for (name,) in subject.fetch(CATALOGS[subject.name])}
    left = names - shown - NESTING[subject.name] - {"", '"NULL"'}
    assert len(names) > 30
    assert not left, "list two values of each in type_pairs.py, and see what is counted"


@pytest.mark.slow
def test_types_that_are_taken_pass_with_two_values(subject: Subject) -> None:
    """Values of ordinary types are counted: two sensitive values are two."""
    engine, refused, turns = subject.connect(), [], cycle(("sensitive", "person"))
    plain = PLAIN[subject.name].split()
    for pair in PAIRS[subject.name]:
        if pair.family in plain or pair.type in plain:
            made(subject, pair)
            if counted(subject, pair) == 1:
                continue
            for role in (next(turns),) if subject.name == "clickhouse" else ("sensitive", "person"):
                try:
                    assert kanon_sql.check(engine, ROLES[role], "pair").passed
                except UnsupportedError as error:
                    refused.append(f"{pair.type} as {role}: {error}")
    engine.close()
    assert not refused


@pytest.mark.parametrize(
    ("text", "backslash", "inner"),
    [
        ("STRUCT(\"x INTERVAL\" BIT, y ENUM('a\\', 'b'))[]", False, ("STRUCT", "BIT")),
        ("Tuple(`x\\` JSON` UInt8, Enum8('\\'' = 1))", True, ("Tuple", "UInt8")),
    ],
)
def test_a_name_in_a_type_is_no_type(text: str, backslash: bool, inner: tuple[str, str]) -> None:
    parsed = parsed_type(text, backslash=backslash)
    assert parsed is not None
    while parsed.is_array:
        (parsed,) = parsed.arguments
    assert (parsed.name, parsed.arguments[0].of_field().name) == inner
    assert len(parsed.arguments) == 2


@pytest.mark.parametrize("text", ["X(", "X)", "X]", "X[1, 2]", "X[] Y", "X(Y"])
def test_what_is_no_type(text: str) -> None:
    assert parsed_type(text, backslash=False) is None
    assert parsed_type("A", backslash=False) == TypeName(("A",))
