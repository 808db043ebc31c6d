"""Who could be found in released tables by how many items, joined and in each alone: against brute force."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.report.json import relational_audit_schema
from kanon_sql.testing import Subject
from tests.oracles.relations import World, random_world
from tests.servers import subject_of
from tests.support.relations import spec_of

KNOWN = ("0", "1", "2", "3", "all")

Items = Mapping[Any, Sequence[Any]]


def found(classes: Mapping[Any, Any], items: Items, known: str, k: int) -> set[Any]:
    """The persons of whom something may be known that fewer than k of their class share."""
    most = 3 if known == "all" else int(known)
    sets = {
        person: {frozenset(chosen) for m in range(most + 1) for chosen in combinations(items.get(person, ()), m)}
        | ({frozenset(items.get(person, ()))} if known == "all" else set())
        for person in classes
    }
    shared: Counter[Any] = Counter()
    for person, own in sets.items():
        shared.update((classes[person], one) for one in own if known != "all" or len(one) <= 3)
    whole = Counter((classes[person], frozenset(items.get(person, ()))) for person in classes)
    return {
        person
        for person, own in sets.items()
        if any(shared[classes[person], one] < k for one in own if len(one) <= most)
        or (known == "all" and whole[classes[person], frozenset(items.get(person, ()))] < k)
    }


def known_of(world: World, name: str | None) -> tuple[dict[Any, Any], Items]:
    """The classes and the items of persons; in one table alone, where it is named."""
    owner: dict[str, dict[Any, Any]] = {"person": {row[0]: row[0] for row in world.tables["person"].rows}}
    said: dict[str, dict[Any, tuple[Any, ...]]] = {"person": {row[0]: () for row in world.tables["person"].rows}}
    items: dict[Any, list[Any]] = defaultdict(list)
    for table in list(world.tables.values())[1:]:
        seen: Counter[Any] = Counter()
        owner[table.name], said[table.name] = {}, {}
        for key, parent, *labels in table.rows:
            person = owner[str(table.above)][parent]
            above = said[str(table.above)][parent] if name is None else ()
            owner[table.name][key], said[table.name][key] = person, (*above, *labels)
            seen[person, said[table.name][key]] += 1
            if name in (None, table.name):
                items[person].append((table.name, said[table.name][key], seen[person, said[table.name][key]]))
    labels_of = {row[0]: tuple(row[2:]) for row in world.tables["person"].rows}
    if name is None or name == "person":
        return labels_of, items if name is None else {}
    return dict.fromkeys(items, ()), items


def as_released(subject: Subject, world: World) -> RelationalSpec:
    """The tables of a world under the names of a release, as any program may have made them."""
    for table in world.tables.values():
        keys = {"id": "integer"} if table.above is None else {"id": "integer", "above": "integer"}
        rows = [(row[0], *row[2:]) if table.above is None else row for row in table.rows]
        subject.table(("released", table.name), {**keys, **dict.fromkeys(table.columns, "text")}, rows)
    return spec_of(world, "full_domain", 3, 1, release={"schema": "released"})


@pytest.mark.parametrize(
    "start",
    [
        0,
        pytest.param(200, marks=pytest.mark.slow),
        *(pytest.param(start, marks=pytest.mark.campaign) for start in (210, 220)),
    ],
)
def test_who_could_be_found(start: int) -> None:
    with subject_of("duckdb") as subject:
        engine, joined = subject.connect(), 0
        subject.execute("CREATE SCHEMA released")
        for seed in range(start, start + (6 if start == 0 else 10)):
            world = random_world(seed)
            if not world.columns:
                continue
            result = kanon_sql.audit(engine, as_released(subject, world))
            for known in KNOWN:
                unique = found(*known_of(world, None), known, 2)
                few = found(*known_of(world, None), known, 3)
                assert result.together[known] == {"unique": len(unique), "few": len(few)}, (seed, known)
                alone = {name: found(*known_of(world, name), known, 2) for name in world.tables}
                told = {name: items[known]["unique"] for name, items in result.alone.items()}
                assert told == {name: len(own) for name, own in alone.items()}, (seed, known)
                assert result.only_joined[known] == len(unique - set().union(*alone.values())), (seed, known)
                joined += result.only_joined[known]
            assert result.passed == (not result.together["1"]["few"])
        assert joined
        engine.close()


def test_only_the_join_singles_two_persons_out() -> None:
    """F, F, M, M in wards x, y, x, y: each table alone has two of each, and the join one."""
    with subject_of("duckdb") as subject:
        subject.execute("CREATE SCHEMA released")
        subject.table(("released", "people"), {"id": "integer", "sex": "text"},
                      [(1, "F"), (2, "F"), (3, "M"), (4, "M")])  # fmt: skip
        subject.table(("released", "stays"), {"who": "integer", "ward": "text"},
                      [(1, "x"), (2, "y"), (3, "x"), (4, "y")])  # fmt: skip
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "p", "name": "people", "key": "id", "quasi_identifiers": {"sex": {}}},
                "tables": {"stays": {"person": "who", "quasi_identifiers": {"ward": {}}}},
                "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
                "release": {"schema": "released"},
            }
        )
        result = kanon_sql.audit(subject.connect(), spec)
        assert not result.passed
        assert result.message == (
            "who knows a person's own values and 1 item finds 4 of 4 persons alone, and 4 among fewer than 2"
        )
        assert result.only_joined == {"0": 0, "1": 4, "2": 4, "3": 4, "all": 4}
        assert "only joined" in str(result)


def test_a_label_below_several_rows_is_several_items_and_a_note_says_so() -> None:
    """Drug X on days a, b and c: each is shared with another person, but no other one has it three times."""
    with subject_of("duckdb") as subject:
        subject.execute("CREATE SCHEMA released")
        subject.table(("released", "people"), {"id": "integer"}, [(1,), (2,), (3,)])
        days = [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "b"), (3, "b"), (3, "c")]
        stays = [(number, *cells) for number, cells in enumerate(days)]
        subject.table(("released", "stays"), {"stay": "integer", "who": "integer", "day": "text"}, stays)
        subject.table(
            ("released", "drugs"), {"of": "integer", "drug": "text"}, [(number, "X") for number in range(len(days))]
        )
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "p", "name": "people", "key": "id"},
                "tables": {
                    "stays": {"key": "stay", "person": "who", "quasi_identifiers": {"day": {}}},
                    "drugs": {"parent": "stays", "by": "of", "quasi_identifiers": {"drug": {}}},
                },
                "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
                "release": {"schema": "released"},
            }
        )
        result = kanon_sql.audit(subject.connect(), spec)
        assert (result.passed, result.together["1"], result.alone["drugs"]["1"]["unique"]) == (
            True,
            {"unique": 0, "few": 0},
            1,
        )
        Draft202012Validator(relational_audit_schema()).validate(json.loads(json.dumps(result.to_dict())))
        (note,) = result.notes
        assert note.startswith("drugs: more persons are unique in this table alone")
