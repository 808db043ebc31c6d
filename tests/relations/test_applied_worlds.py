"""``apply`` in random worlds by brute force: the rows of a second world at the levels of a release of the first."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from tests.oracles.relations import Table, World, fewest_sharing, linked, linked_at, random_world, staying
from tests.servers import subject_of
from tests.support.relations import ENGINES, make, released, spec_of

VALUE = re.compile(r"(?<![\w.])[xyz][12](?![\w.])")
"""A code of a world, which no result shows."""

TREE = {"tree": {"*": {f"{letter}*": [f"{letter}1", f"{letter}2"] for letter in "xyz"}}}


def redrawn(world: World, draw: random.Random, first: int) -> World:
    """The tables of a world with other rows, and persons whose keys begin with a number."""
    letters, digits = draw.choice(["x", "xy", "xyz", "y"]), draw.choice(["1", "12", "2"])
    code = lambda: draw.choice(letters) + draw.choice(digits)  # noqa: E731
    each = draw.choice([[0], [0, 1, 1, 2], [0, 1, 1, 2], [1, 2]])
    tables: dict[str, Table] = {}
    for name, table in world.tables.items():
        if table.above is None:
            persons = draw.choice([0, 1, *range(4, 15)])
            rows: list[Any] = [(first + n, None, *(code() for _ in table.columns)) for n in range(persons)]
        else:
            parents = [parent[0] for parent in tables[table.above].rows for _ in range(draw.choice(each))]
            rows = [(n, parent, *(code() for _ in table.columns)) for n, parent in enumerate(parents)]
        tables[name] = Table(name, table.above, table.columns, rows)
    return World(tables)


def of_tree(spec: RelationalSpec, columns: Sequence[str], persons: int, most: int) -> RelationalSpec:
    """The spec with a tree for some columns, whose labels are those of the prefixes, and a limit of persons."""
    content = spec.to_dict()
    content["suppression"]["max_persons"] = min(1.0, (most + 0.5) / max(persons, 1))
    for table in (content["person"], *content["tables"].values()):
        table["quasi_identifiers"] |= {column: TREE for column in table["quasi_identifiers"] if column in columns}
    return RelationalSpec.from_dict(content)


def assert_applied(subject: Subject, engine: Engine, seed: int, schemas: Mapping[str, Sequence[str]]) -> str:
    """What is published are the rows of the persons who stay at the levels of the first release, or nothing is."""
    draw, world = random.Random(seed), random_world(seed)
    other = redrawn(world, draw, draw.choice([0, 100]))
    k, m = draw.choice([1, 2, 2, 3]), draw.choice([0, 1, 1, 2, "all"])
    later = (k, m) if draw.random() < 0.7 else (draw.choice([1, 2, 3]), draw.choice([0, 1, 2]))
    keys: Any = draw.choice(["random", {"secret": "env:KEY_OF_WORLDS"}])
    trees = [column for _, column in world.columns if draw.random() < 0.5]

    def spec(of: World, month: str, asked: tuple[int, int | str], most: int) -> RelationalSpec:
        place = {"schema": list(schemas[month]), "keys": keys, "publish": "in_steps"}
        found = spec_of(of, "full_domain", *asked, release=place)
        return of_tree(found, trees, len(of.tables["person"].rows), most)

    for month in schemas:
        for name in world.tables:
            subject.drop([*schemas[month], name])
    make(subject, world)
    april = kanon_sql.anonymize(engine, spec(world, "april", (k, m), len(world.tables["person"].rows) // 2))
    if not april.passed:
        return "no levels"
    assert april.node is not None
    node = [april.node[name][column] for name, column in world.columns]
    make(subject, other)
    persons, stay = len(other.tables["person"].rows), staying(other, node, *later)
    most = draw.randint(0, persons)
    both = set() if keys == "random" else stay & staying(world, node, k, m)
    result = kanon_sql.apply(engine, spec(other, "may", later, most), ".".join([*schemas["april"], "person"]))
    assert not VALUE.search(json.dumps(result.to_dict())), "a value"
    assert result.passed == (bool(stay) and persons - len(stay) <= most and not both), result.message
    if not result.passed:
        assert all(engine.exists((*schemas["may"], name)) is None for name in world.tables)
        return "persons of both" if both else "refused"
    rows, others = released(subject, other, f"{'.'.join(schemas['may'])}.")
    assert linked(rows, others) == linked_at(other, node, stay), "other rows than those of who stays"
    assert len({row[0] for row in rows}) == len(rows) == persons - result.left_out
    fewest = fewest_sharing(rows, others, later[1])
    assert fewest is not None
    assert fewest >= later[0]
    assert result.requirements[0]["fewest"] == fewest
    assert {name: len(found) for name, (_, found) in others.items()} == {
        name: item["released"] for name, item in result.tables.items() if name != "person"
    }
    return "released"


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("duckdb", range(3)),
        pytest.param("duckdb", range(3, 30), marks=pytest.mark.slow),
        *(pytest.param(name, range(4), marks=pytest.mark.slow) for name in ENGINES),
        *(pytest.param("duckdb", range(n, n + 50), marks=pytest.mark.campaign) for n in range(1000, 1500, 50)),
    ],
)
def test_the_levels_of_a_release_in_another_world(
    name: str, seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_OF_WORLDS", "a secret of this test, long enough")
    with subject_of(name) as subject:
        schemas = {month: subject.schema(month) for month in ("april", "may")}
        with subject.connect() as engine:
            found = {assert_applied(subject, engine, seed, schemas) for seed in seeds if random_world(seed).columns}
    assert len(seeds) < 10 or found == {"released", "refused", "persons of both", "no levels"}
