"""The levels that events begin with, against plain Python that goes along the same paths row by row."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from kanon_sql import RelationalSpec
from kanon_sql.engines import Workspace, open_workspace
from kanon_sql.relations import first_levels
from kanon_sql.relations.first_levels import SAMPLE, FirstLevels, path_of_rows
from kanon_sql.relations.members import Member, members
from kanon_sql.sql import Relation, Statement
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.relations import ENGINES

K = 3
PERSONS, VISITS, DRUGS = 60, 150, 120

Visit = tuple[int, int, str, str]
Drug = tuple[int, int, str]


def spec() -> RelationalSpec:
    text = {"prefix": [1]}
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id", "quasi_identifiers": {"sex": {}}},
            "tables": {
                "visits": {"key": "id", "person": "who", "quasi_identifiers": {"day": text, "ward": text}},
                "drugs": {"key": "id", "parent": "visits", "by": "visit", "quasi_identifiers": {"atc": text}},
            },
            "privacy": [{"km_anonymity": {"k": K, "m": 1}}],
        }
    )


def tables(seed: int) -> tuple[list[Visit], list[Drug]]:
    draw = random.Random(seed)

    def code() -> str:
        return draw.choice("aaab") + draw.choice("1123")

    visits = [(n, draw.randint(1, PERSONS), code(), code()) for n in range(1, VISITS + 1)]
    drugs = [(n, draw.randint(1, VISITS), code()) for n in range(1, DRUGS + 1)]
    return visits, drugs


def label(value: str, level: int) -> str:
    return (value, value[:1], "*")[level]


def begins(
    values: Mapping[int, Sequence[str]],
    classes: Mapping[int, int],
    path: Sequence[Sequence[int]],
    lowest: Mapping[int, Sequence[int]],
) -> dict[int, list[int]]:
    """Row -> the levels of the step that it begins with.

    Args:
        values: row -> its values and those of the rows above it.
        classes: row -> the class of its person.
        path: the steps.
        lowest: row -> the levels that the row above it begins with, of as many values as are that row's.
    """
    found = {row: list(path[0]) for row in values}
    left = set(values)
    for place, step in enumerate(path[:-1]):
        known = {}
        for row in left:
            least = [*lowest.get(row, []), *[0] * len(step)]
            levels = map(max, step, least)
            known[row] = (classes[row], *map(label, values[row], levels))
        shared = Counter(known.values())
        left = {row for row in left if shared[known[row]] < K}
        for row in left:
            found[row] = list(path[place + 1])
    return found


def put(subject: Subject, people: int, visits: Sequence[Visit], drugs: Sequence[Drug]) -> None:
    for table in ("people", "visits", "drugs"):
        subject.drop(table)
    subject.table("people", {"id": "integer", "sex": "integer"}, [(n, n % 2) for n in range(1, people + 1)])
    subject.table("visits", {"id": "integer", "who": "integer", "day": "text", "ward": "text"}, visits)
    subject.table("drugs", {"id": "integer", "visit": "integer", "atc": "text"}, drugs)


def classes_of(workspace: Workspace, found: Mapping[str, Member], column: str) -> Relation:
    """Persons in classes by one column of the table of coded persons."""
    target = workspace.table("of_tests")
    workspace.execute("relations/classes", target=target, coded=found["person"].coded, names=[column], k=1)
    return target


def fetched(workspace: Workspace, table: Relation, width: int) -> dict[int, list[int]]:
    names = ", ".join(["id", *(f"to{number}" for number in range(width))])
    rows = workspace.engine.fetch(Statement("test", f"SELECT {names} FROM {workspace.quoted(table)}"), 1_000)
    return {int(row): [int(level) for level in levels] for row, *levels in rows}


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
@pytest.mark.parametrize("seed", [1, 2])
def test_rows_begin_where_enough_rows_of_their_class_share_their_labels(name: str, seed: int) -> None:
    visits, drugs = tables(seed)
    with subject_of(name) as subject, subject.connect() as engine:
        put(subject, PERSONS, visits, drugs)
        with open_workspace(engine, "") as workspace:
            found = members(workspace, spec())
            initial = FirstLevels(workspace, found, K).of(classes_of(workspace, found, "g0_0"))
            got = {table: fetched(workspace, initial[table], len(found[table].path)) for table in ("visits", "drugs")}
            paths = {table: path_of_rows(found[table]) for table in ("visits", "drugs")}
    sex = {number: who % 2 for number, who, _, _ in visits}
    above = {number: values for number, _, *values in visits}
    own = begins(above, sex, paths["visits"], {})
    below = begins(
        {number: (*above[visit], code) for number, visit, code in drugs},
        {number: sex[visit] for number, visit, _ in drugs},
        paths["drugs"],
        {number: own[visit] for number, visit, _ in drugs},
    )
    for table, expected in (("visits", own), ("drugs", below)):
        raised = {row: levels for row, levels in expected.items() if levels != paths[table][0]}
        assert got[table] == raised, table
        assert raised, "some row begins above its lowest levels"
        assert len(raised) < len(expected), "and some row at them"


@pytest.mark.parametrize(
    ("many_rows", "many_classes", "one_in"),
    [(1_000, 1, 1), (10, 17, 1), (1, 17, 7), (1, 50, 2), (10, 16, 8), (10, 1, 12), (1, 1, 16)],
)
def test_as_few_classes_are_asked_as_tell_enough(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, many_rows: int, many_classes: int, one_in: int
) -> None:
    """Of 128 rows in 16 classes: all, every eighth, fewer, or more where classes are few and large."""
    put(subject, 16, [(n, 1 + n % 16, "a1", "x") for n in range(128)], [])
    monkeypatch.setattr(first_levels, "MANY_ROWS", many_rows)
    monkeypatch.setattr(first_levels, "MANY_CLASSES", many_classes)
    with subject.connect() as engine, open_workspace(engine, "") as workspace:
        found = members(workspace, spec())
        assert FirstLevels(workspace, found, K)._one_in(classes_of(workspace, found, "id")) == one_in


def test_one_class_in_some_tells_what_is_lost(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    classes = 2 * SAMPLE
    alike = [(n, 1 + n % classes, f"{'ab'[n // classes % 2]}{n // classes % 3}", "x") for n in range(8 * classes)]
    others = [
        (number, who, "c9" if who * who % 65537 * 40503 % 65537 % SAMPLE else day, ward)
        for number, who, day, ward in alike
    ]
    for visits, same in ((alike, True), (others, False)):
        with monkeypatch.context() as patched, subject.connect() as engine:
            put(subject, classes, visits, [])
            with open_workspace(engine, "") as workspace:
                found = members(workspace, spec())
                alone = classes_of(workspace, found, "id")
                first = FirstLevels(workspace, found, K)
                of_all = first.loss(alone)
                patched.setattr(first_levels, "MANY_ROWS", 1)
                patched.setattr(first_levels, "MANY_CLASSES", classes)
                assert (first.loss(alone) == pytest.approx(of_all)) is same
                assert of_all > 0
