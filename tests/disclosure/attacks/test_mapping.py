"""Mapping: null-map, wrong-map and k-map of released rows, against brute force, and where it is left out."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from kanon_sql import Spec, audit
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.disclosure.attacks.test_audit_oracle import Case, cases, hierarchy_table
from tests.oracles.audit import Found, Hierarchies, highest, row_may_be
from tests.support.audits import Rows, make, same, small_spec
from tests.support.strategies import examples


def kinds_of(
    release: Rows, external: Rows, source: Rows, columns: list[str], hierarchies: Hierarchies, k: int
) -> tuple[Found, list[int]]:
    """Row by row: who fits; and of rows that look alike, no more are right than records of the source fit."""
    seen: Counter[tuple[Any, ...]] = Counter()
    null = wrong = many = exposed = 0
    risks = []
    for row in release:
        alike = tuple(row[name] for name in columns)
        seen[alike] += 1
        persons = sum(row_may_be(person, row, columns, hierarchies) for person in external)
        records = sum(row_may_be(record, row, columns, hierarchies) for record in source)
        if not persons:
            null += 1
        elif seen[alike] > records:
            wrong += 1
        else:
            risks.append(Fraction(1, persons))
            exposed += persons < k
            many += persons >= k
    return Found(len(release), exposed, exposed, highest(risks)), [null, wrong, many]


def distorted(case: Case, draw: random.Random) -> list[dict[str, Any]]:
    """Some labels of the release put into other rows, so that rows are about nobody, or about others."""
    rows = [dict(row) for row in case.release]
    for name in case.quasi_identifiers:
        for row in rows:
            if draw.random() < 0.3:
                row[name] = draw.choice(rows)[name]
    return rows


@given(cases())
@examples(25)
def test_against_brute_force(shared_database: Database, case: Case) -> None:
    draw = random.Random(len(case.release))
    for release in (case.release, distorted(case, draw)):
        for name, rows in (("source", case.problem.rows), ("released", release), ("external", case.external)):
            make(shared_database, name, rows, case.columns)
        tables = {
            name: hierarchy_table(shared_database, f"h_{name}", hierarchy)
            for name, hierarchy in case.problem.hierarchies.items()
        }
        spec = Spec.from_dict(
            {
                "version": 1, "source": "source", "release": "released", "quasi_identifiers": tables,
                "sensitive": case.problem.sensitive, "keep": ["kept"], "privacy": case.problem.requirements,
            }
        )  # fmt: skip
        asked = {"external": "external", "on": case.on, "attacks": ["mapping"]}
        hierarchies = {name: hierarchy for name, hierarchy in case.problem.hierarchies.items() if name in case.on}
        found, kinds = kinds_of(release, case.external, case.problem.rows, case.on, hierarchies, case.k)
        if kinds[0] == len(release):
            if release:
                with pytest.raises(UnsupportedError, match="nothing of external matches a row"):
                    audit(shared_database.engine, spec, **asked)
            continue
        result = audit(shared_database.engine, spec, **asked)
        jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
        (attack,) = result.attacks
        same(attack, found)
        assert attack.notes[0].endswith(
            f"{kinds[0]:,} match no person (null-map), at least {kinds[1]:,} match persons but are about none of them "
            f"(wrong-map), {kinds[2]:,} match {case.k} or more (k-map)"
        )
        assert result.passed, "an estimate decides nothing"


@pytest.mark.slow
def test_a_row_that_is_made_up_fits_nobody_and_a_swapped_one_somebody_else(database: Database) -> None:
    """Four voters; of the source, Ann and Ben are released, Ben in the town of another, and a row of nobody."""
    voters = [("1980", "01"), ("1980", "01"), ("1990", "02"), ("1970", "03")]
    database.table("voters", ["q", "town"], voters)
    database.table("s", ["q", "town", "d"], [("1980", "01", "flu"), ("1990", "01", "cold")])
    rows = [("1980", "01", "flu"), ("1990", "02", "cold"), ("1960", "09", "ulcer")]
    database.table("r", ["q", "town", "d"], rows)
    spec = small_spec(quasi_identifiers={"q": None, "town": None})
    result = audit(database.engine, spec, external="voters", attacks=["mapping"])
    (attack,) = result.attacks
    assert attack.notes[0] == (
        "rows matched with voters on q, town: 1 match no person (null-map), at least 1 match persons but are about "
        "none of them (wrong-map), 1 match 2 or more (k-map)"
    )
    assert (attack.examined, attack.exposed, attack.risk, attack.estimate) == (3, 0, 0.5, True)
    (attack,) = audit(database.engine, small_spec(
        quasi_identifiers={"q": None, "town": None}, privacy=[{"k_anonymity": 3}]
    ), external="voters", attacks=["mapping"]).attacks  # fmt: skip
    assert (attack.exposed, attack.beyond) == (1, 1)
    shown = audit(database.engine, spec, external="voters", attacks=["mapping"], reveal=9).attacks[0].revealed
    assert shown == [], "nobody is exposed"


def test_it_runs_where_it_is_named(database: Database) -> None:
    database.table("s", ["q", "d"], [("1", "flu"), ("2", "cold")])
    database.table("r", ["q", "d"], [("*", "flu"), ("*", "cold")])
    database.table("e", ["q"], [("1",), ("2",)])
    result = audit(database.engine, small_spec(), external="e")
    assert "mapping" not in {attack.name for attack in result.attacks}
    assert "name it with --attack" in result.left_out["mapping"]
    with pytest.raises(UnsupportedError, match="needs an external table"):
        audit(database.engine, small_spec(), attacks=["mapping"])
    (attack,) = audit(database.engine, small_spec(), external="e", attacks=["mapping"]).attacks
    assert attack.notes[0].endswith("0 match no person (null-map), at least 0 match persons but are about none of them "
                                    "(wrong-map), 2 match 2 or more (k-map)")  # fmt: skip
    database.table("e", ["q", "x"], [("1", "y")])
    database.table("r", ["q", "d", "x"], [("*", "flu", "y")])
    with pytest.raises(SpecError, match="there is no column 'x'"):
        audit(database.engine, small_spec(), external="e", attacks=["mapping"])
