"""What a spec for differentially private releases must not say, and who must not speak of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from tests.conftest import Database
from tests.support.private_releases import PRIVATE, asked, people, rows_of


@pytest.mark.parametrize(
    ("change", "more", "why"),
    [
        ({}, {"unit": "name", "identifiers": []}, "protects rows"),
        ({}, {"sensitive": ["name"], "identifiers": []}, "sensitive: with differential_privacy every released column"),
        ({}, {"keep": ["name"], "identifiers": []}, "keep: with differential_privacy every released column"),
        ({}, {"recoding": "local"}, "recoding: differential_privacy needs levels that do not depend on the data"),
        ({}, {"recoding": "mondrian"}, "recoding: differential_privacy needs levels"),
        ({}, {"recoding": "cells"}, "recoding: differential_privacy needs levels"),
        ({}, {"recoding": {"method": "full_domain", "save_as": "kept"}}, "recoding: differential_privacy needs levels"),
        ({}, {"search": {"algorithm": "datafly"}}, "this search reads the data without a privacy budget"),
        ({}, {"search": {"metric": "entropy"}}, "this search reads the data without a privacy budget"),
        ({}, {"suppression": {"max_share": 0.1}}, "every class below k is dropped"),
        ({}, {"suppression": {"style": "mask"}}, "every class below k is dropped"),
        ({}, {"nulls": "error"}, "a run that stops at a NULL reveals that there is one"),
        ({}, {"ledger": None}, "needs a 'ledger'"),
        (
            {},
            {"ledger": {"table": "ledger", "on_conflict": "coarsen"}},
            "releases are not compared, so on_conflict has no effect",
        ),
        ({"generalization": {"age": 1}}, {}, "missing the level of 'sex'"),
        ({"generalization": {"age": 9, "sex": 0}}, {}, "level 9 is not allowed for this column; expected 0 to 2"),
        ({"generalization": {"age": 1, "sex": 0, "zip": 1}}, {}, "this is no quasi-identifier"),
        ({"generalization": None}, {}, "missing 'generalization'"),
        ({"search": {"epsilon": 0.1}}, {}, "'generalization' already fixes the levels"),
        ({"generalization": None, "search": {"epsilon": 1}}, {}, "leave some for the sample"),
        ({"total": {"epsilon": 0.5, "delta": 0.1}}, {}, "the total epsilon is below that of this release"),
        ({"total": {"epsilon": 1, "delta": 0.01}}, {}, "the total delta is below that of this release"),
        ({"epsilon": 0}, {}, "expected epsilon from 0.001 to 20"),
        ({"delta": 0}, {}, "expected delta of at least 1e-30"),
        ({"delta": 1}, {}, "expected delta of at least 1e-30 and below 1"),
        ({"sampling": 1}, {}, "a probability above 0 and below 1"),
    ],
)
def test_what_breaks_the_proof_is_refused(change: dict[str, Any], more: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError) as raised:
        asked("r1", change, **more)
    assert why in str(raised.value)


def test_another_requirement_beside_it_is_refused() -> None:
    privacy = [{"differential_privacy": PRIVATE}, {"k_anonymity": 5}]
    with pytest.raises(SpecError, match="it cannot be combined with other requirements"):
        asked("r1", privacy=privacy)


@pytest.mark.parametrize("hierarchy", [{"table": "levels"}, {"file": "x.csv", "parents": "several"}])
def test_hierarchies_that_rows_may_decide_are_refused(hierarchy: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=r"hierarchy table may change|the choice among several parents"):
        asked("r1", quasi_identifiers={"age": hierarchy, "sex": None})


@pytest.mark.parametrize("verb", [kanon_sql.plan, kanon_sql.check, kanon_sql.audit])
def test_no_other_verb_says_that_a_table_is_private(database: Database, verb: Callable[..., Any]) -> None:
    people(database, rows_of(8))
    database.table("r1", ["age", "sex"], [("[30, 40)", "M")] * 20)
    with pytest.raises(KanonError, match="which a table does"):
        verb(database.engine, asked())


def test_its_hierarchies_can_be_looked_at(database: Database) -> None:
    people(database, rows_of(8))
    assert [item.name for item in kanon_sql.hierarchy(database.engine, asked()).hierarchies] == ["age", "sex"]


@pytest.mark.parametrize("options", [{"all_minimal": True}, {"details": True}, {"budget": kanon_sql.Budget(seconds=5)}])
def test_options_that_tell_of_the_rows_are_refused(database: Database, options: dict[str, Any]) -> None:
    people(database, rows_of(8))
    with pytest.raises(UnsupportedError, match=r"--show minimal|--output|max_seconds"):
        kanon_sql.anonymize(database.engine, asked(), **options)
    assert "ledger" not in database.tables(), "nothing was spent"


def test_an_error_before_the_draw_spends_nothing(database: Database) -> None:
    people(database, [(30, "X", "x")] * 50)
    with pytest.raises(KanonError, match="sex"):
        kanon_sql.anonymize(database.engine, asked())
    assert "ledger" not in database.tables()
