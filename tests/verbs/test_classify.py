"""A classifier that is trained on a release and tested on the source: against naive Bayes in plain Python."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import floor, log
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.evaluate import searched
from kanon_sql.recode import recoded
from kanon_sql.report.json import comparison_schema, result_schema
from kanon_sql.verbs import classify as classifying
from tests.conftest import Database
from tests.support.command_line import run
from tests.support.literature import adult_dir, read_csv
from tests.support.specs import QUIET, refusals
from tests.support.strategies import examples

COLUMNS = {"age": "INTEGER", "town": "VARCHAR", "sick": "VARCHAR", "person": "INTEGER"}
TREE = {"tree": {"n": ["a", "b"], "s": ["c", "d"]}}
PARENT = {"a": "n", "b": "n", "c": "s", "d": "s", None: None}
BASE: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "people_release",
    "quasi_identifiers": {"age": {"intervals": [2]}, "town": TREE},
    "sensitive": ["sick"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_share": 0.4},
    "utility": {"classify": "sick", "folds": 3},
}


def spec_of(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**BASE, **changes})


Example = tuple[int, int, tuple[Any, ...], int, int, int]
"""Class, fold, what the classifier sees, weight in training, rows, and the number of the vector."""


def accuracy(rows: Sequence[Example], folds: int) -> float:
    """Naive Bayes with one more of everything; ties go to the first class value."""
    classes = sorted({row[0] for row in rows})
    width = len(rows[0][2])
    labels = [len({row[2][j] for row in rows} - {None}) for j in range(width)]
    right = 0
    for held in range(folds):
        taught: Counter[Any] = Counter()
        for value, fold, seen, weight, count, _ in rows:
            if fold != held:
                taught[value] += weight * count
                for j, label in enumerate(seen):
                    taught[value, j, label] += weight * count
        for value, fold, seen, _, count, _ in rows:
            if fold == held:
                right += count * (told(seen, taught, classes, labels) == value)
    return right / sum(row[4] for row in rows)


def told(seen: Sequence[Any], taught: Mapping[Any, int], classes: Sequence[int], labels: Sequence[int]) -> int:
    scores = {}
    for value in classes:
        score = log(taught[value] + 1)
        for j, label in enumerate(seen):
            if label is not None:
                score += log((taught[value, j, label] + 1) / (taught[value] + labels[j]))
        scores[value] = floor(score * 10**9 + 0.5)
    return max(classes, key=lambda value: (taught[value] > 0, scores[value], -value))


def by_majority(rows: Sequence[Example], folds: int) -> float:
    right = 0
    for held in range(folds):
        taught: Counter[int] = Counter({row[0]: 0 for row in rows})
        for value, fold, _, _, count, _ in rows:
            taught[value] += count * (fold != held)
        chosen = max(sorted(taught), key=lambda value: taught[value])
        right += sum(count for value, fold, _, _, count, _ in rows if fold == held and value == chosen)
    return right / sum(row[4] for row in rows)


def dealt(grouped: Sequence[Sequence[Any]], folds: int, columns: int, *, released: bool) -> list[Example]:
    """Alike rows in turn to the folds, from a drawn one on."""
    found: list[Example] = []
    for number, (value, kept, *rest) in enumerate(grouped):
        own, labels, (draw, count) = rest[:columns], rest[columns : 2 * columns], rest[2 * columns :]
        in_fold = Counter((draw + row) % folds for row in range(count))
        seen = tuple(labels if released else own)
        found += [(value, fold, seen, kept if released else 1, rows, number) for fold, rows in in_fold.items()]
    return found


def looked_at(database: Database, spec: kanon_sql.Spec) -> tuple[list[tuple[Any, ...]], dict[str, Any] | None, Any]:
    """What the classifier starts from, its accuracies, and the node or the recoding."""
    engine = database.engine
    with engine.run(Deadline(None)):
        opened = searched(engine, spec) if spec.recoding.is_full_domain else recoded(engine, spec)
        with opened as found:
            if not hasattr(found, "best") and not hasattr(found, "mapped"):
                return [], None, None
            table = classifying._grouped(found.workspace.apart("seen_"), spec, found)  # type: ignore[arg-type]
            rows = database._connection.execute(f"SELECT * FROM {found.workspace.quoted(table)}").fetchall()
            node = getattr(found, "best", None)
            return rows, classifying.classified(found), None if node is None else node.node  # type: ignore[arg-type]


towns = st.sampled_from(["a", "b", "c", "d", None])
sicknesses = st.sampled_from(["x", "y", "z", None])
people = st.lists(
    st.tuples(st.none() | st.integers(0, 5), towns, sicknesses, st.integers(0, 30)), min_size=20, max_size=60
)


@pytest.mark.slow
@given(
    people, st.sampled_from(["full_domain", "local", "mondrian", "subtree", "cells"]), st.integers(2, 5), st.booleans()
)
@examples(12)
def test_against_naive_bayes_in_python(
    shared_database: Database, rows: list[Any], recoding: str, folds: int, by_person: bool
) -> None:
    shared_database.table("people", COLUMNS, rows)
    asked: dict[str, Any] = {"recoding": recoding, "utility": {"classify": "sick", "folds": folds}}
    if by_person:
        asked["unit"] = "person"
    grouped, ours, node = looked_at(shared_database, spec_of(**asked))
    if ours is None:
        return
    known = [row for row in rows if row[2] is not None]
    assert ours["tested"] == len(known) == sum(line[-1] for line in grouped)
    assert ours["classes"] == len({row[2] for row in known})
    # One code for each value: as many rows in each vector and class value, and in each of labels.
    assert sorted(line[-1] for line in grouped) == sorted(Counter(row[:3] for row in known).values())
    if node is not None:
        labels: Counter[Any] = Counter()
        for line in grouped:
            labels[line[0], line[4:6]] += line[-1]
        assert sorted(labels.values()) == sorted(Counter((row[2], *generalized(row, node)) for row in known).values())
        sizes = Counter(generalized(row, node) for row in rows)
        persons = defaultdict(set)
        for row in rows:
            persons[generalized(row, node)].add(row[3])
        size_of = {labels: len(persons[labels]) if by_person else sizes[labels] for labels in sizes}
        kept = sum(line[-1] for line in grouped if line[1])
        assert kept == sum(size_of[generalized(row, node)] >= 3 for row in known)
    if len(known) < 20:
        assert set(ours["accuracy"].values()) == {None}
        return
    source, released = (dealt(grouped, folds, 2, released=flag) for flag in (False, True))
    assert ours["accuracy"]["source"] == accuracy(source, folds)
    assert ours["accuracy"]["release"] == accuracy(released, folds)
    assert ours["accuracy"]["majority"] == by_majority(source, folds)


def generalized(row: Sequence[Any], node: Sequence[int]) -> tuple[Any, ...]:
    age, town = row[0], row[1]
    ages = (age, None if age is None else age // 2, "*")
    return ages[node[0]], (town, PARENT[town], "*")[node[1]]


@pytest.mark.slow
def test_known_answers(database: Database) -> None:
    """A column that follows from one of two columns: wholly told by the source, and by a release that has it."""
    rows = [(n % 6, "ac"[n % 2], "xy"[n % 2], n) for n in range(120)]
    database.table("people", COLUMNS, rows)
    told_by: dict[str, Any] = {}
    for keeps in ("town", "age", "none"):
        limits = {"town": (2, 1), "age": (0, 2), "none": (2, 2)}[keeps]
        columns = {
            "age": {"intervals": [2], "minimum_level": limits[0], "maximum_level": limits[0]},
            "town": {**TREE, "minimum_level": limits[1], "maximum_level": limits[1]},
        }
        result = kanon_sql.plan(database.engine, spec_of(quasi_identifiers=columns))
        assert result.utility is not None
        told_by[keeps] = result.utility["accuracy"]
    # a is of n and c of s; an age is even or odd as its row is.
    assert told_by["town"] == {"source": 1.0, "release": 1.0, "majority": told_by["none"]["release"]}
    assert told_by["age"]["release"] == 1.0
    assert 0.3 < told_by["none"]["release"] <= 0.5, "both values are as frequent, so that what is held out is rarer"
    assert told_by["none"]["majority"] == told_by["none"]["release"]


@pytest.mark.slow
def test_suppressed_rows_teach_nothing_and_are_tested(database: Database) -> None:
    """Rare rows alone have the value z: without them nobody learns of it, and they are all told wrongly."""
    rows = [(1, "a", "x", n) for n in range(40)] + [(5, "d", "z", 100 + n) for n in range(4)]
    database.table("people", COLUMNS, rows)
    columns = {"age": {"maximum_level": 0}, "town": {**TREE, "maximum_level": 0}}
    asked = {"quasi_identifiers": columns, "suppression": {"max_rows": 4}, "utility": {"classify": "sick", "folds": 2}}
    known, hidden = (
        kanon_sql.plan(database.engine, spec_of(**asked, privacy=[{"k_anonymity": k}])).utility for k in (4, 5)
    )
    assert known is not None
    assert hidden is not None
    assert known["accuracy"] == {"source": 1.0, "release": 1.0, "majority": 40 / 44}
    assert hidden["accuracy"] == {"source": 1.0, "release": 40 / 44, "majority": 40 / 44}


@pytest.mark.slow
def test_more_privacy_tells_less_here(database: Database) -> None:
    rows = [(n * 7 % 60, "abcd"[n * 11 // 3 % 4], "x" if n * 7 % 60 > 33 else "yz"[n % 2], n) for n in range(600)]
    database.table("people", COLUMNS, rows)
    spec = spec_of(quasi_identifiers={"age": {"intervals": [5, 10, 20, 40]}, "town": TREE}, utility=None)
    found = kanon_sql.compare(database.engine, {"people": spec}, [2, 20, 100], classify="sick")
    jsonschema.validate(json.loads(json.dumps(found.to_dict())), comparison_schema())
    shares = [item.result.utility["accuracy"] for item in found.runs if item.result and item.result.utility]
    assert len(shares) == 3
    assert shares[0]["release"] >= shares[1]["release"] >= shares[2]["release"] >= shares[0]["majority"] - 0.05
    assert len({item["source"] for item in shares}) == 1
    assert all(item.result.cost.source_scans <= 1 for item in found.runs if item.result)


@pytest.mark.slow
def test_published_with_the_release(database: Database) -> None:
    database.table("people", COLUMNS, [(n % 4, "ab"[n % 2], "xy"[n // 2 % 2], n) for n in range(80)])
    result = kanon_sql.anonymize(database.engine, spec_of(warnings=QUIET))
    jsonschema.validate(result.to_dict(), result_schema())
    assert result.utility is not None
    assert result.manifest is not None
    assert result.manifest["utility"] == result.utility
    assert kanon_sql.anonymize(database.engine, spec_of(utility=None)).utility is None
    assert result.cost.source_scans <= 3


def test_few_rows_have_no_accuracy(database: Database) -> None:
    database.table("people", COLUMNS, [(1, "a", "xy"[n % 2], n) for n in range(19)])
    result = kanon_sql.plan(database.engine, spec_of())
    assert result.utility is not None
    assert result.utility["accuracy"] == {"source": None, "release": None, "majority": None}


def test_refused(database: Database) -> None:
    assert any("is a quasi-identifier" in said for said in refusals(**{**BASE, "utility": {"classify": "age"}}))
    assert any("is not released" in said for said in refusals(**{**BASE, "utility": {"classify": "nobody"}}))
    assert any("2 to 10, got 11" in text for text in refusals(**{**BASE, "utility": {"classify": "sick", "folds": 11}}))
    database.table("people", COLUMNS, [(n % 4, "ab"[n % 2], "xy"[n // 2 % 2], n) for n in range(80)])
    for changes, words in (
        ({"recoding": "forest"}, "gives equal rows different labels"),
        ({"search": {"algorithm": "k_optimize"}, "quasi_identifiers": {"age": {}}}, "chooses its own intervals"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            kanon_sql.plan(database.engine, spec_of(**changes))
    with pytest.raises(SpecError, match="people: 'age' is a quasi-identifier"):
        kanon_sql.compare(database.engine, {"people": spec_of()}, [2, 3], classify="age")


@pytest.mark.slow
def test_on_the_command_line(clinic: Path) -> None:
    result = run("compare", "spec.yml", "-d", "clinic.duckdb", "--k", "2,10", "--classify", "diagnosis")
    assert result.exit_code == 0, result.output
    assert "Predicting a column (accuracy on held-out rows of the source)" in result.output
    (clinic / "spec.yml").write_text((clinic / "spec.yml").read_text() + "utility: {classify: diagnosis}\n")
    planned = run("plan", "spec.yml", "-d", "clinic.duckdb")
    assert "Predicting diagnosis (accuracy)" in planned.output
    assert "trained on the release" in planned.output


@pytest.mark.slow
def test_adult(database: Database) -> None:
    """The census extract: 22,654 of 30,162 earn 50,000 or less; and rows dealt at random give the same accuracy."""
    folder = adult_dir()
    if folder is None:
        pytest.skip("the Adult extract is not here")
    header, *lines = read_csv(folder / "adult.csv")
    database.table("adult", header, lines)
    names = [name for name in header if name != "salary-class"]
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "adult",
            "quasi_identifiers": {name: {"file": str(folder / f"hierarchy_{name}.csv")} for name in names},
            "keep": ["salary-class"],
            "privacy": [{"k_anonymity": 10}],
            "suppression": {"max_share": 0.05},
            "utility": {"classify": "salary-class"},
        }
    )
    found = kanon_sql.plan(database.engine, spec).utility
    assert found is not None
    assert found["tested"] == 30162
    assert found["accuracy"]["majority"] == 22654 / 30162
    shuffled = list(lines)
    random.Random(3).shuffle(shuffled)
    place = header.index("salary-class")
    rows = [
        (int(line[place] == ">50K"), n % 5, tuple(line[:place] + line[place + 1 :]), 1, 1, n)
        for n, line in enumerate(map(list, shuffled))
    ]
    theirs = accuracy(rows, 5)
    assert abs(found["accuracy"]["source"] - theirs) < 0.003
    assert found["accuracy"]["majority"] < found["accuracy"]["release"] < found["accuracy"]["source"]
