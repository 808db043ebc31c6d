"""A script makes the release that ``anonymize`` makes, whatever the type of the column that requirements are about."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import sqlglot

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from tests.servers import subject_of

TYPES = {
    "postgres": ["integer", "bigint", "numeric", "numeric(8, 2)", "double precision", "date", "text"],
    "mariadb": ["BIGINT", "DECIMAL(8, 2)", "DOUBLE", "DATE", "VARCHAR(20)"],
    "sqlite": ["INTEGER", "REAL", "TEXT"],
    "duckdb": ["INTEGER", "DECIMAL(8, 2)", "DOUBLE", "DATE", "VARCHAR"],
}
CASES = [
    pytest.param(name, kind, id=f"{name}-{kind}", marks=[] if (name, kind) in QUICK else pytest.mark.slow)
    for QUICK in [{("sqlite", "INTEGER")}]
    for name, kinds in TYPES.items()
    for kind in kinds
]

ABOUT = {"attribute": "v"}
ORDERED = {"t_closeness": {**ABOUT, "t": 0.45, "distance": "ordered"}}
MODELS: list[dict[str, Any]] = [
    {"t_closeness": {**ABOUT, "t": 0.45}},
    {"l_diversity": {**ABOUT, "l": 2}},
    {"l_diversity": {**ABOUT, "l": 2, "variant": "entropy"}},
    {"l_diversity": {**ABOUT, "l": 2, "variant": "recursive", "c": 3}},
    {"alpha_k_anonymity": {**ABOUT, "alpha": 0.6, "k": 2}},
    {"p_sensitive_k_anonymity": {**ABOUT, "p": 2, "k": 2}},
    {"beta_likeness": {**ABOUT, "beta": 2}},
    {"beta_likeness": {**ABOUT, "beta": 2, "variant": "basic"}},
    {"delta_disclosure": {**ABOUT, "delta": 2}},
    {"ck_safety": {**ABOUT, "c": 0.9, "k": 1}},
    {"privacy_skyline": {**ABOUT, "l": 1, "k": 1, "m": 0, "c": 0.9}},
    {"epsilon_privacy": {**ABOUT, "epsilon": 4, "stubbornness": 10}},
]
SEVERAL = "verbs/render/several_texts"
LEVEL = {"prefix": [1], "minimum_level": 1, "maximum_level": 1}
OF_PERSONS = ("t_closeness", "l_diversity")


def written(kind: str, value: int) -> str:
    if kind.lower() == "date":
        return f"'2020-01-0{value}'"
    if "char" in kind.lower() or kind.lower() == "text":
        return f"'v{value}'"
    return str(value) if kind.lower() in ("integer", "bigint") else f"{value}.5"


def specs(place: int, kind: str) -> Iterator[dict[str, Any]]:
    """Ordered distances in one way to publish, and a sixth of the other models, another sixth for each type."""
    base: dict[str, Any] = {
        "version": 1, "source": "visits", "release": "visits_release", "quasi_identifiers": {"q": LEVEL},
        "sensitive": ["v"], "suppression": {"max_share": 0.9}, "warnings": {"nearly_unique_kept": "allow"},
    }  # fmt: skip
    ways: list[dict[str, Any]] = [{}, {"unit": "p"}, {"suppression": {"max_share": 0.9, "style": "mask"}}]
    if kind.lower() not in ("text", "varchar", "varchar(20)"):  # whose order means nothing
        yield from (
            {**base, "privacy": [{"k_anonymity": 2}, ORDERED], **way}
            for way in (ways[0], *ways[place % 3 : place % 3 + place % 2])
        )
    for number, model in enumerate(MODELS):
        way = ways[(number + place) % 3]
        if (number + place) % 6 == 0 and ("unit" not in way or next(iter(model)) in OF_PERSONS):
            yield {**base, "privacy": [{"k_anonymity": 2}, model], **way}


def released(subject: Subject) -> Counter[tuple[str, ...]]:
    rows = subject.fetch("SELECT * FROM visits_release")
    subject.execute("DROP TABLE visits_release")
    return Counter(tuple(map(str, row)) for row in rows)


def run(subject: Subject, rendered: kanon_sql.Rendered) -> int:
    """Run a script as a client would. Returns how many classes its verification finds to violate."""
    violating = 0
    for statement in rendered.statements:
        if statement.name != "evaluate/achieved":
            reads = statement.sql.lstrip().startswith(("SELECT", "WITH"))
            rows = subject.fetch(statement.sql) if reads else subject.execute(statement.sql)
            assert statement.name != SEVERAL or rows == [(0,)], "each value is written in one way"
            continue
        tree = sqlglot.parse_one(statement.sql, read=subject.dialect.sqlglot)
        names = [item.alias_or_name for item in tree.selects]  # type: ignore[attr-defined]
        assert any(name.startswith("violating_classes") for name in names)
        for row in subject.fetch(statement.sql):
            cells = zip(names, row, strict=True)
            violating += sum(int(cell or 0) for name, cell in cells if name.startswith("violating_classes"))
    return violating


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), CASES)
@pytest.mark.campaign_on(
    "postgres-bigint",
    "postgres-numeric",
    "postgres-double precision",
    "mariadb-BIGINT",
    "mariadb-DOUBLE",
    "duckdb-INTEGER",
    "duckdb-DOUBLE",
)
def test_a_script_makes_the_release(name: str, kind: str) -> None:
    draw = random.Random(3)
    with subject_of(name) as subject, subject.connect() as engine:
        subject.execute(f"CREATE TABLE visits (p INTEGER, q VARCHAR(5), v {kind})")
        values = [(draw.randrange(30), draw.choice("abcd") + draw.choice("12"), draw.randint(1, 5)) for _ in range(60)]
        values += [(30, "e1", 1), (31, "f1", 3), (31, "f1", 3)]
        rows = ", ".join(f"({p}, '{q}', {written(kind, v)})" for p, q, v in values)
        subject.execute(f"INSERT INTO visits VALUES {rows}")
        compared = [compare(subject, engine, given) for given in specs(TYPES[name].index(kind), kind)]
        assert any(compared), "a release of some rows, of which some were suppressed"


@cache
def script(dialect: str, spec: str) -> kanon_sql.Rendered:
    """The same for every type."""
    return kanon_sql.render(kanon_sql.Spec.from_dict(json.loads(spec)), dialect, {"q": 1})


def compare(subject: Subject, engine: Engine, given: dict[str, Any]) -> bool:
    """Returns whether the script had something to suppress."""
    spec = kanon_sql.Spec.from_dict(given)
    result = kanon_sql.anonymize(engine, spec).raise_for_failure()
    assert result.node == {"q": 1}
    expected = released(subject)
    violating = run(subject, script(subject.dialect.name, json.dumps(given)))
    made = released(subject)
    if any("dropped, not masked" in note for note in result.notes):
        assert violating, "a script masks all the same, and says that it must not be published"
    else:
        assert not violating
        assert made == expected, given["privacy"]
    return result.rows["suppressed"] > 0


@pytest.mark.parametrize(
    ("name", "kind", "one", "other"),
    [
        ("postgres", "numeric", "1.0", "1.00"),
        ("postgres", "double precision", "0", "'-0'"),
        ("postgres", "interval", "'1 day'", "'24:00:00'"),
        ("postgres", "numeric[]", "'{1.0}'", "'{1.00}'"),
        ("mariadb", "VARCHAR(9)", "'HIV'", "'hiv'"),
        ("duckdb", "DOUBLE", "0", "'-0'"),
    ],
)
def test_a_script_tells_of_equal_values_that_are_written_in_several_ways(
    name: str, kind: str, one: str, other: str
) -> None:
    """They pass as two values: a script knows no types and collations, so that it says how many there are."""
    given = next(specs(0, "text")) | {"privacy": [{"l_diversity": {**ABOUT, "l": 2}}], "unit": "p"}
    counts = [item.sql for item in script(name, json.dumps(given)).statements if item.name == SEVERAL]
    with subject_of(name) as subject:
        subject.execute(f"CREATE TABLE visits (p {kind}, q VARCHAR(5), v {kind})")
        subject.execute(f"INSERT INTO visits VALUES ({one}, 'a1', {one}), ({one}, 'a1', {one})")
        assert [subject.fetch(sql) for sql in counts] == [[(0,)], [(0,)]]
        subject.execute(f"INSERT INTO visits VALUES ({other}, 'a1', {other})")
        assert [subject.fetch(sql) for sql in counts] == [[(1,)], [(1,)]], "of v, and of the persons"
