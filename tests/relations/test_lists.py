"""Columns of lists: each item counts as a row of a table would, and lists of labels are released again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine
from kanon_sql.errors import KanonError, SpecError, UnsupportedError, VerificationError
from kanon_sql.testing import Subject
from tests.oracles.relations import Table, World, fewest_sharing, least_loss, loss, staying
from tests.servers import subject_of
from tests.support.relations import place

ENGINES = [
    "duckdb",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgres", "clickhouse", "spark")),
]
LISTS = {
    "duckdb": ("VARCHAR[]", "[{}]::VARCHAR[]"),
    "postgres": ("text[]", "ARRAY[{}]::text[]"),
    "clickhouse": ("Array(Nullable(String))", "[{}]"),
    "spark": ("array<string>", "CAST(array({}) AS array<string>)"),
}

Items = Sequence[str | None] | None


def table(subject: Subject, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
    """A table whose last column holds lists."""
    kind, written = LISTS[subject.name]

    def literal(value: Any) -> str:
        if isinstance(value, int):
            return str(value)
        if isinstance(value, str):
            return f"'{value}'"
        if value is None:
            return "[]" if subject.name == "clickhouse" else "NULL"  # no array is NULL there
        return written.format(", ".join("NULL" if item is None else f"'{item}'" for item in value))

    subject.drop(name)
    declared = ", ".join([*(f"{column} {subject.types[of]}" for column, of in columns.items()), f"codes {kind}"])
    subject.execute(subject.create(name, declared))
    for start in range(0, len(rows), 100):
        listed = ", ".join(f"({', '.join(map(literal, row))})" for row in rows[start : start + 100])
        subject.execute(f"INSERT INTO {name} VALUES {listed}")


def spec_of(subject: Subject, recoding: str, k: int, m: int | str, **more: Any) -> RelationalSpec:
    """Persons with a code, and with a list of codes."""
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "t_person", "name": "people", "key": "id", "quasi_identifiers": {"p": {"prefix": [1]}}},
            "items": {"codes": {"column": "codes", "hierarchy": {"prefix": [1]}}},
            "privacy": [{"km_anonymity": {"k": k, "m": m}}],
            "recoding": recoding,
            "release": {"schema": list(subject.schema("released")), "publish": "in_steps"},
            **more,
        }
    )


def baskets(seed: int) -> list[tuple[int, str, Items]]:
    """Persons with a code of two letters, and lists with NULL, repeated items, and nothing."""
    draw = random.Random(seed)
    code = lambda: draw.choice("xy") + draw.choice("12")  # noqa: E731
    found: list[tuple[int, str, Items]] = []
    for number in range(draw.randint(4, 12)):
        items: list[str | None] = [code() for _ in range(draw.choice([0, 1, 2, 2, 3]))]
        if draw.random() < 0.2:
            items.insert(0, None)
        found.append((number, draw.choice(["u1", "u2", "v1"]), items if draw.random() < 0.9 else None))
    return found


def rows_of(lists: Sequence[tuple[int, Items]]) -> list[tuple[int, int, str]]:
    """A row for each different item of a row."""
    pairs = [(key, item) for key, items in lists for item in sorted({item for item in items or () if item is not None})]
    return [(number, key, item) for number, (key, item) in enumerate(pairs)]


def released(subject: Subject, columns: str, name: str) -> list[tuple[Any, ...]]:
    """Rows of a released table, the last column a list."""
    found = [tuple(row) for row in subject.fetch(f"SELECT {columns} FROM released.{name}")]
    for row in found:
        assert list(row[-1]) == sorted(row[-1]), "the order of a list says nothing"
        assert None not in row[-1]
    return found


def assert_like_the_oracle(
    subject: Subject, engine: Engine, seed: int, recodings: Sequence[str] = ("full_domain", "local")
) -> bool:
    """What is released satisfies, and the node is the best; whether anything is. Where there are no lists: texts."""
    rows, k, m = baskets(seed), 2 + seed % 2, (1, 2, 1, 0)[seed // 4 % 4]
    more: dict[str, Any] = {}
    if subject.name in LISTS:
        table(subject, "t_person", {"id": "integer", "p": "text"}, rows)
    else:
        texts = [(*row[:2], None if row[2] is None else "; ".join(item or "" for item in row[2])) for row in rows]
        subject.drop("t_person")
        subject.table("t_person", {"id": "integer", "p": "text", "codes": "text"}, texts)
        more = {"items": {"codes": {"column": "codes", "split": ";", "hierarchy": {"prefix": [1]}}},
                "release": place(subject)}  # fmt: skip
    world = World(
        {
            "person": Table("person", None, ["p"], [(key, None, p) for key, p, _ in rows]),
            "codes": Table("codes", "person", ["codes"], rows_of([(key, items) for key, _, items in rows])),
        }
    )
    most = len(rows) // 3
    share = {"max_persons": (most + 0.5) / len(rows)}
    if "full_domain" in recodings:
        full = kanon_sql.plan(engine, spec_of(subject, "full_domain", k, m, suppression=share, **more))
        best = least_loss(world, k, m, most)
        assert full.passed == (best is not None), seed
        if best is not None:
            assert full.node is not None
            node = [full.node[name][column] for name, column in world.columns]
            assert loss(world, node) == pytest.approx(best), seed
            assert full.left_out == len(rows) - len(staying(world, node, k, m)), seed
        if "local" not in recodings:
            return full.passed
    local = spec_of(subject, "local", k, m, suppression={**share, "max_rows": 1.0}, **more)
    result = kanon_sql.anonymize(engine, local)
    if not result.passed:
        return False
    if more:
        schema = f"{more['release']['schema'][0]}."
        found = [(*row, []) for row in subject.fetch(f"SELECT id, p FROM {schema}people")]
        items = subject.fetch(f"SELECT id, codes FROM {schema}codes")
    else:
        found = released(subject, "id, p, codes", "people")
        items = [(key, label) for key, _, labels in found for label in labels]
    assert len(found) == result.persons - result.left_out
    assert len(items) == result.tables["codes"]["released"]
    others = {"codes": ("person", [(number, *item) for number, item in enumerate(items)])}
    fewest = fewest_sharing([row[:2] for row in found], others, m)
    assert fewest == result.requirements[0]["fewest"], seed
    assert fewest is not None
    assert fewest >= k, seed
    assert kanon_sql.check(engine, local).passed, seed
    assert result.cost.source_scans == (2 if subject.name == "sqlite" else 1)
    return True


@pytest.mark.parametrize("name", ENGINES)
def test_lists_count_as_the_rows_of_a_table(name: str) -> None:
    with subject_of(name) as subject:
        engine = subject.connect()
        seeds = (1, 5) if name == "duckdb" else (1,)
        assert sum(assert_like_the_oracle(subject, engine, seed) for seed in seeds)
        engine.close()


@pytest.mark.campaign
@pytest.mark.parametrize("start", range(100, 400, 30))
@pytest.mark.parametrize("name", list(LISTS))
def test_many_worlds_of_lists(name: str, start: int) -> None:
    with subject_of(name) as subject:
        engine = subject.connect()
        passed = sum(assert_like_the_oracle(subject, engine, seed) for seed in range(start, start + 30))
        assert passed > 5
        engine.close()


@pytest.mark.parametrize("name", ENGINES)
def test_what_becomes_of_a_list(name: str) -> None:
    """NULL and a second of an item are left out; a2 and a3 climb; without items, a list is empty, and so is NULL."""
    given: list[tuple[int, str, Items]] = [
        (1, "u", ["b1", "a1"]),
        (2, "u", ["a1", "b1", None]),
        (3, "u", ["a2", "b1", "b1"]),
        (4, "u", ["a3", "b1"]),
        (5, "u", []),
        (6, "u", None),
        (7, "u", [None, "a1"]),
    ]
    with subject_of(name) as subject:
        table(subject, "t_person", {"id": "integer", "p": "text"}, given)
        engine = subject.connect()
        result = kanon_sql.anonymize(engine, spec_of(subject, "local", 2, 1))
        assert result.message.startswith("published 1 table of 7 persons out of 7")
        assert result.tables["codes"]["rows"] == 9
        found = sorted(list(row[0]) for row in released(subject, "codes", "people"))
        assert found == [[], [], ["a*", "b1"], ["a*", "b1"], ["a1"], ["a1", "b1"], ["a1", "b1"]]
        assert sorted(row[0] for row in subject.fetch("SELECT id FROM released.people")) == list(range(1, 8))
        (kind,) = (column.type for column in engine.columns(subject.dialect.relation(("released", "people")))
                   if column.name == "codes")  # fmt: skip
        assert kind.lower() in ("varchar[]", "text[]", "array(string)", "array(nullable(string))", "array<string>")
        engine.close()


def test_lists_of_a_table_below_persons(subject: Subject) -> None:
    """A code is known with the ward of its visit; each visit has its list."""
    subject.table("people", {"id": "integer"}, [(number,) for number in range(1, 5)])
    visits = [
        (10, 1, "w1", ["c1", "c2"]),
        (11, 2, "w1", ["c1", "c2"]),
        (12, 3, "w2", ["c1"]),
        (13, 4, "w2", ["c3"]),
        (14, 4, "w1", None),
        (15, 3, "w1", []),
    ]
    table(subject, "t_visits", {"vid": "integer", "who": "integer", "ward": "text"}, visits)
    subject.schema("released")
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id"},
            "tables": {
                "visits": {
                    "table": "t_visits",
                    "key": "vid",
                    "person": "who",
                    "quasi_identifiers": {"ward": {"maximum_level": 0}},
                }
            },
            "items": {"diagnoses": {"table": "visits", "column": "codes", "hierarchy": {"prefix": [1]}}},
            "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
            "release": {"schema": "released"},
        }
    )
    engine = subject.connect()
    result = kanon_sql.anonymize(engine, spec)
    assert result.passed, result.message
    found = released(subject, "vid, who, ward, codes", "visits")
    assert sorted((ward, labels) for _, _, ward, labels in found) == [
        ("w1", []), ("w1", []), ("w1", ["c1", "c2"]), ("w1", ["c1", "c2"]), ("w2", ["c*"]), ("w2", ["c*"]),
    ]  # fmt: skip
    others = {
        "visits": ("person", [row[:3] for row in found]),
        "diagnoses": ("visits", [(0, row[0], label) for row in found for label in row[3]]),
    }
    persons = [row[:1] for row in subject.fetch("SELECT id FROM released.people")]
    assert fewest_sharing(persons, others, 1) == result.requirements[0]["fewest"] == 2
    assert kanon_sql.check(engine, spec).passed
    audited = kanon_sql.audit(engine, spec)
    assert audited.persons == 4


def test_labels_are_sorted_not_the_values_before(subject: Subject) -> None:
    table(subject, "t_person", {"id": "integer", "p": "text"}, [(n, "u", ["a", "b", "c"]) for n in range(200)])
    items = {"column": "codes", "hierarchy": {"tree": {"z": ["a"], "y": ["b"], "x": ["c"]}, "minimum_level": 1}}
    spec = spec_of(subject, "local", 2, 1, items={"codes": items})
    assert kanon_sql.anonymize(subject.connect(), spec).passed
    assert {tuple(row[0]) for row in released(subject, "codes", "people")} == {("x", "y", "z")}


@pytest.mark.parametrize(
    ("lists", "fewest"),
    [
        ("['a', 'b'], ['a', 'b']", 2),
        ("['a', 'a'], ['a']", 1),  # the second a is one person's
        ("['a', NULL], ['a']", 1),  # and so is a NULL of a list that somebody else released
        ("[]::VARCHAR[], []", 2),
    ],
)
def test_check_of_lists_that_others_released(subject: Subject, lists: str, fewest: int) -> None:
    subject.schema("released")
    subject.execute(
        f"CREATE TABLE released.people AS SELECT UNNEST([1, 2]) AS id, 'u' AS p, UNNEST([{lists}]) AS codes"
    )
    subject.execute("CREATE TABLE t_person AS FROM released.people")
    found = kanon_sql.check(subject.connect(), spec_of(subject, "local", 2, 1))
    assert found.requirements[0]["fewest"] == fewest
    assert found.passed == (fewest == 2)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("lists", [[["a", "b"], ["b", "a"]], [[], None]])
def test_lists_that_differ_in_more_than_their_items_are_refused(name: str, lists: list[Any]) -> None:
    """A reader tells the two persons apart by the order, or by which list is missing."""
    if name == "clickhouse" and None in lists:
        pytest.skip("an Array is never NULL there")
    with subject_of(name) as subject:
        table(subject, "t_person", {"id": "integer", "p": "text"}, [(n, "u", ["a", "b"]) for n in (1, 2)])
        spec = spec_of(subject, "local", 2, 1)
        engine = subject.connect()
        assert kanon_sql.anonymize(engine, spec).passed
        assert kanon_sql.check(engine, spec).passed
        people = [(number, "u", codes) for number, codes in enumerate(lists, 1)]
        subject.execute("DROP TABLE released.people")
        table(subject, "released.people", {"id": "integer", "p": "text"}, people)
        for verb in (kanon_sql.check, kanon_sql.audit):
            with pytest.raises(VerificationError, match="1 of 2 lists of 'codes' are NULL or not sorted"):
                verb(engine, spec)
        engine.close()


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ("'a,b'", "which is no list; name what stands between two items of a text"),
        ("MAP {'a': 'b'}", "which is no list"),
        ("[['a'], ['b']]", "a value of type"),
        ("[{'x': 1}]", "a value of type"),
    ],
)
def test_what_is_no_list_of_values_is_refused(subject: Subject, codes: str, message: str) -> None:
    subject.execute(f"CREATE TABLE t_person AS SELECT 1 AS id, 'u' AS p, {codes} AS codes")
    with pytest.raises(KanonError, match=message):
        kanon_sql.plan(subject.connect(), spec_of(subject, "local", 1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sqlite", "mariadb"])
def test_engines_without_lists_say_what_to_do(name: str) -> None:
    with subject_of(name) as subject:
        subject.table("t_person", {"id": "integer", "p": "text", "codes": "text"}, [(1, "u", '["a"]')])
        with pytest.raises(UnsupportedError, match=f"lists of {name} are not supported; join the items to a text"):
            kanon_sql.plan(subject.connect(), spec_of(subject, "local", 1, 1))


def test_a_list_has_one_role_and_reads_back(subject: Subject) -> None:
    spec = spec_of(subject, "local", 2, 1)
    assert RelationalSpec.from_dict(spec.to_dict()) == spec
    assert spec.released("codes") == spec.released("person")
    written = spec.to_dict()
    written["person"]["keep"] = ["codes"]
    with pytest.raises(SpecError, match="the column has another role"):
        RelationalSpec.from_dict(written)
