"""Columns whose names point at a person, in every kind of release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.report.json import perturbation_schema, tabulation_schema
from kanon_sql.spec import CloakSpec, PerturbSpec, TableSpec
from kanon_sql.verbs.init import seems_an_identifier
from tests.conftest import Database
from tests.support.warned import QUIET, codes, k_of, named, spec, the


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("name", True), ("nhs_number", True), ("PatientId", True), ("email", True), ("home_phone", True),
        ("lastname", True), ("street_address", True), ("drug_name", False), ("product_name", False),
        ("city_name", False), ("diagnosis", False), ("age", False), ("amount", False), ("zip", False),
    ],
)  # fmt: skip
def test_names_that_point_at_a_person(name: str, expected: bool) -> None:
    assert seems_an_identifier(name) == expected


@pytest.mark.slow
def test_kept_names_are_said_by_all_verbs(database: Database, tmp_path: Path) -> None:
    named(database)
    made = {"quasi_identifiers": {"age": None}, "keep": ["name", "nhs_number", "amount"], "privacy": k_of(3)}
    runs: list[Callable[[], Any]] = [
        lambda: kanon_sql.plan(database.engine, spec(**made)),
        lambda: kanon_sql.anonymize(database.engine, spec(**made)),
        lambda: kanon_sql.check(database.engine, spec(**made)),
        lambda: kanon_sql.apply(database.engine, spec(**made), "people_release"),
    ]
    for each in runs[:3]:
        assert the(each(), "named_like_identifier").columns == ["name", "nhs_number"]
    fatal = spec(**made, warnings={**QUIET, "named_like_identifier": "error"})
    assert not kanon_sql.anonymize(database.engine, fatal).passed
    allowed = spec(**made, warnings={**QUIET, "named_like_identifier": "allow"})
    assert "named_like_identifier" not in codes(kanon_sql.anonymize(database.engine, allowed))


@pytest.mark.slow
def test_names_in_a_perturbed_release(database: Database) -> None:
    named(database)
    given: dict[str, Any] = {
        "version": 1, "kind": "perturbed",
        "source": "people", "release": "masked", "key": "nhs_number", "perturb": {"age": {"noise": 0.9}},
        "keep": ["name", "amount"],
    }  # fmt: skip
    result = kanon_sql.perturb(database.engine, PerturbSpec.from_dict(given))
    assert result.passed
    assert the(result, "named_like_identifier").columns == ["name"]
    jsonschema.validate(result.to_dict(), perturbation_schema())
    for failed in (
        kanon_sql.perturb(database.engine, PerturbSpec.from_dict({**given, "release": "other"}), fail_on_warning=True),
        kanon_sql.perturb(
            database.engine,
            PerturbSpec.from_dict({**given, "release": "other", "warnings": {"named_like_identifier": "error"}}),
        ),
    ):
        assert (failed.passed, failed.release) == (False, None)
        assert failed.message.startswith("nothing was published: named_like_identifier is an error")
        assert "other" not in database.tables()
    allowed = PerturbSpec.from_dict({**given, "warnings": {"named_like_identifier": "allow"}})
    assert PerturbSpec.from_dict(allowed.to_dict()) == allowed
    assert kanon_sql.perturb(database.engine, allowed).warnings == []
    with pytest.raises(SpecError, match="unknown key"):
        PerturbSpec.from_dict({**given, "warnings": {"kept_links_rows": "warn"}})


@pytest.mark.slow
def test_names_among_the_labels_of_a_table(database: Database) -> None:
    named(database)
    given: dict[str, Any] = {
        "version": 1, "kind": "table",
        "source": "people", "release": "cells", "dimensions": {"name": None}, "rules": {"threshold": 2}
    }  # fmt: skip
    result = kanon_sql.tabulate(database.engine, TableSpec.from_dict(given))
    assert result.passed
    assert the(result, "named_like_identifier").columns == ["name"]
    jsonschema.validate(result.to_dict(), tabulation_schema())
    failed = kanon_sql.tabulate(
        database.engine, TableSpec.from_dict({**given, "release": "other"}), fail_on_warning=True
    )
    assert (failed.passed, failed.release, list(failed.table)) == (False, None, [])
    assert "other" not in database.tables()
    allowed = TableSpec.from_dict({**given, "warnings": {"named_like_identifier": "allow"}})
    assert TableSpec.from_dict(allowed.to_dict()) == allowed
    assert kanon_sql.tabulate(database.engine, allowed).warnings == []


def test_names_beside_cloaked_positions(database: Database) -> None:
    database.table("rows", {"who": "INTEGER", "x": "DOUBLE", "y": "DOUBLE", "name": "VARCHAR"},
                   [(i, 0.5, 0.5, f"n{i}") for i in range(20)])  # fmt: skip
    given = {
        "version": 1, "kind": "positions",
        "source": "rows", "release": "cloaked", "unit": "who", "keep": ["name"], "k": 3,
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 4, 4], "depth": 2},
    }  # fmt: skip
    result = kanon_sql.cloak(database.engine, CloakSpec.from_dict(given), preview=True)
    assert the(result, "named_like_identifier").columns == ["name"]
