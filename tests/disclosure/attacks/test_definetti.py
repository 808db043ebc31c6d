"""The deFinetti attack: beliefs learned in SQL against the same learned person by person in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, isclose
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import ON_REQUEST, Attack
from kanon_sql.disclosure.attacks.definetti import ROUNDS
from kanon_sql.errors import UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles.audit import row_may_be
from tests.oracles.model import Hierarchy
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import CLINIC, clinic, engine_marks, hierarchy_table, make, recoded, small_spec
from tests.support.strategies import RandomProblem, examples, problems

Rows = Sequence[Mapping[str, Any]]


def learned(
    source: Rows, release: Rows, hierarchies: Mapping[str, Hierarchy], attribute: str, domains: Mapping[str, int]
) -> tuple[int, float, float, float]:
    """(people examined, right by learned beliefs, right by the most frequent value, beliefs in their own values)."""
    people = []
    for person in source:
        rows = [row for row in release if row_may_be(person, row, list(hierarchies), hierarchies)]
        held = Counter(row[attribute] for row in rows if row[attribute] is not None)
        if held:
            people.append((person, held, {value: count / held.total() for value, count in held.items()}))
    values = {value for _, held, _ in people for value in held}
    for _ in range(ROUNDS):
        of_value = {s: fsum(belief.get(s, 0) for _, _, belief in people) for s in values}
        renewed = []
        for person, held, _ in people:
            likelihood = {}
            for s, count in held.items():
                likelihood[s] = float(count)
                for name, size in domains.items():
                    like = fsum(belief.get(s, 0) for other, _, belief in people if other[name] == person[name])
                    likelihood[s] *= (1 + like) / (size + of_value[s])
            total = fsum(likelihood.values())
            renewed.append((person, held, {s: part / total for s, part in likelihood.items()}))
        people = renewed
    examined, right, usual, believed = 0, 0.0, 0.0, 0.0
    for person, held, belief in people:
        own = person[attribute]
        if own not in held:
            continue
        examined += 1
        best = [s for s, part in belief.items() if part >= max(belief.values()) - 1e-9]
        most = [s for s, count in held.items() if count == max(held.values())]
        right += (own in best) / len(best)
        usual += (own in most) / len(most)
        believed += belief[own]
    return examined, right, usual, believed


def same(attack: Attack, found: tuple[int, float, float, float]) -> None:
    examined, right, usual, believed = found
    told = [float(note.split()[6]) for note in attack.notes if "are believed with" in note]
    assert len(told) == (examined > 0)
    assert all(isclose(mean, believed / examined, abs_tol=1e-6) for mean in told)
    assert attack.examined == examined
    assert attack.exposed == int(right + 0.5 + 1e-9)
    assert attack.beyond == max(0, attack.exposed - int(usual + 0.5 + 1e-9))
    assert (attack.risk is None) == (examined == 0)
    if attack.risk is not None:
        assert isclose(attack.risk, right / examined, abs_tol=1e-9)


@pytest.mark.slow
@given(problem=problems(units=False, max_rows=14, max_columns=3), seed=st.integers(0, 10_000), by_cell=st.booleans())
@examples(5)
def test_beliefs_are_those_learned_person_by_person(
    shared_database: Database, problem: RandomProblem, seed: int, by_cell: bool
) -> None:
    assume(problem.sensitive)
    draw = random.Random(seed)
    columns = [*problem.hierarchies, *problem.sensitive]
    release = recoded(problem, draw, by_cell=by_cell, kept=0.9)
    make(shared_database, "source", problem.rows, columns)
    make(shared_database, "released", release, columns)
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "released", "sensitive": problem.sensitive,
            "quasi_identifiers": {
                name: hierarchy_table(shared_database, f"h_{name}", hierarchy)
                for name, hierarchy in problem.hierarchies.items()
            },
            "privacy": [{"k_anonymity": 2}],
        }
    )  # fmt: skip
    result = audit(shared_database.engine, spec, attacks=["definetti"])
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed, "an estimate decides no verdict"
    assert not any("CREATE" in sql.replace("CREATE TEMP", "") for sql in result.sql)
    domains = {
        name: len(hierarchy) + any(row[name] is None for row in problem.rows)
        for name, hierarchy in problem.hierarchies.items()
    }
    for name, attack in zip(problem.sensitive, result.attacks, strict=True):
        same(attack, learned(problem.rows, release, problem.hierarchies, name, domains))


SMOKERS = [
    *[("smoker", "cancer")] * 3, ("smoker", "flu"),
    *[("other", "flu")] * 3, ("other", "cancer"),
    ("smoker", "cancer"), ("other", "flu"), ("smoker", "cancer"), ("other", "flu"),
]  # fmt: skip


def smoking(database: Database) -> tuple[Spec, list[dict[str, str]], list[dict[str, str]]]:
    """Classes by ward: one of smokers alone, one of others alone, two of one smoker and one other each."""
    wards = ["1"] * 4 + ["2"] * 4 + ["3"] * 2 + ["4"] * 2
    source = [{"smokes": smokes, "ward": ward, "d": d} for (smokes, d), ward in zip(SMOKERS, wards, strict=True)]
    release = [{**row, "smokes": "*"} for row in source]
    for name, rows in (("s", source), ("r", release)):
        make(database, name, rows, ["smokes", "ward", "d"])
    tree = {"tree": {"*": ["smoker", "other"]}}
    return small_spec(quasi_identifiers={"smokes": tree, "ward": None}), source, release


def test_what_all_classes_tell_breaks_the_tie_within_each(database: Database) -> None:
    """In the spirit of Kifer 2009, section 1: a class of two values says no more than that each has one of them."""
    spec, source, release = smoking(database)
    (attack,) = audit(database.engine, spec, attacks=["definetti"]).attacks
    # Wards 1 and 2: the most frequent value is right for 3 of 4 each. Wards 3 and 4: for 2 of 4 by chance; learned: 4.
    assert (attack.examined, attack.exposed, attack.beyond) == (12, 3 + 3 + 4, 2)
    assert attack.risk is not None
    assert isclose(attack.risk, 10 / 12)
    assert any("is right for 8;" in note for note in attack.notes)
    hierarchies = {
        "smokes": {"smoker": ("smoker", "*"), "other": ("other", "*")},
        "ward": {w: (w, "*") for w in "1234"},
    }
    same(attack, learned(source, release, hierarchies, "d", {"smokes": 2, "ward": 4}))


@pytest.mark.slow
def test_one_class_teaches_nothing(database: Database) -> None:
    """Everybody alike: ties are split, so that nothing is gained over the most frequent value."""
    database.table("s", ["q", "d"], [("a", "x"), ("a", "y"), ("a", "z"), ("a", None)])
    database.table("r", ["q", "d"], database.rows("s"))
    (attack,) = audit(database.engine, small_spec(), attacks=["definetti"]).attacks
    assert (attack.examined, attack.exposed, attack.beyond) == (3, 1, 0)
    assert attack.risk is not None
    assert isclose(attack.risk, 1 / 3)
    database.table("s", ["q", "d"], [("a", None)] * 3)
    database.table("r", ["q", "d"], [("a", None)] * 3)
    (attack,) = audit(database.engine, small_spec(), attacks=["definetti"]).attacks
    assert (attack.examined, attack.exposed, attack.risk) == (0, 0, None)
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [])
    assert audit(database.engine, small_spec(), attacks=["definetti"]).attacks[0].examined == 0


@pytest.mark.slow
def test_it_runs_only_if_it_is_named_and_fetches_counts(database: Database) -> None:
    spec, _, _ = smoking(database)
    assert "definetti" in ON_REQUEST
    assert "name it with --attack" in audit(database.engine, spec).left_out["definetti"]
    result = audit(database.engine, spec, attacks=["definetti"])
    assert result.left_out == {}
    learning = [sql for sql in result.sql if "likelihood" in sql]
    assert len(learning) == 2 * ROUNDS, "a table of likelihoods and one of beliefs in each round"
    assert result.cost.rows_fetched < 30
    assert not any(secret in " ".join(result.sql) for secret in ("cancer", "smoker"))
    with pytest.raises(UnsupportedError, match="no sensitive attribute"):
        audit(database.engine, small_spec(sensitive=[], quasi_identifiers={"ward": None}), attacks=["definetti"])
    make(database, "nowhere", [{"smokes": "**", "ward": "9", "d": "flu"}], ["smokes", "ward", "d"])
    with pytest.raises(kanon_sql.SpecError, match="other hierarchies"):
        audit(database.engine, spec, "nowhere", attacks=["definetti"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_learns_the_same(name: str, database: Database) -> None:
    visits, _, second, _ = clinic()
    texts = dict.fromkeys(("age", "zip", "sex", "illness"), "text")
    tables = {
        "audited_visits": ({**texts, "age": "integer", "charge": "integer"}, visits),
        "audited": ({**texts, "charge": "integer"}, second),
    }
    kinds = {"text": "VARCHAR", "integer": "INTEGER"}
    for table, (columns, rows) in tables.items():
        database.table(table, {column: kinds[kind] for column, kind in columns.items()}, rows)
    spec = Spec.from_dict(CLINIC)
    (expected,) = audit(database.engine, spec, attacks=["definetti"]).attacks
    assert 0 < expected.exposed < expected.examined
    with subject_of(name) as subject:
        for table, (columns, rows) in tables.items():
            subject.table(table, columns, rows)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            (found,) = audit(engine, spec, attacks=["definetti"]).attacks
        finally:
            engine.close()
    assert (found.examined, found.exposed, found.beyond) == (expected.examined, expected.exposed, expected.beyond)
    assert found.risk is not None
    assert expected.risk is not None
    assert isclose(found.risk, expected.risk, abs_tol=1e-9)
