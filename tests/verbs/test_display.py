"""Results, specs and engines that are printed: the text of their command, YAML that reads back, a short form."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
import sqlalchemy

import kanon_sql
from kanon_sql.engines.relational import RelationalEngine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.risk import risk
from tests.support.command_line import SPEC, make_clinic, run

COST = re.compile(r"\d+ statements?, .*\n")
"""What it cost: more where a release stands already, and never the same time."""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("display")
    make_clinic(directory / "clinic.duckdb")
    (directory / "spec.yml").write_text(SPEC)
    with kanon_sql.connect(str(directory / "clinic.duckdb")) as db:
        assert kanon_sql.anonymize(db, kanon_sql.Spec.load(directory / "spec.yml")).passed
    return directory


VERBS: dict[str, Callable[[Any, kanon_sql.Spec], Any]] = {
    "plan": kanon_sql.plan,
    "anonymize": kanon_sql.anonymize,
    "check": kanon_sql.check,
    "audit": kanon_sql.audit,
    "risk": risk,
    "compare --k 2,5": lambda db, spec: kanon_sql.compare(db, {"spec.yml": spec}, [2, 5]),
    "hierarchy": kanon_sql.hierarchy,
    "pipeline estimate": kanon_sql.estimate,
    "clean": lambda db, _: clean(db, drop=False),
}


@pytest.mark.parametrize("verb", VERBS)
def test_printed_is_what_the_command_prints(clinic: Path, verb: str) -> None:
    name, *options = verb.split(" --")
    given = [] if name == "clean" else [clinic / "spec.yml"]
    more = [word for option in options for word in f"--{option}".split()]
    printed = run(*name.split(), *given, *more, "-d", clinic / "clinic.duckdb", "--quiet").stdout
    with kanon_sql.connect(str(clinic / "clinic.duckdb")) as db:
        found = VERBS[verb](db, kanon_sql.Spec.load(clinic / "spec.yml"))
    assert printed
    assert COST.sub("", f"{found}\n") == COST.sub("", printed)
    assert repr(found).startswith(f"<{type(found).__name__}")
    assert "\n" not in repr(found)
    assert "<article" in found._repr_html_()


def test_the_yaml_of_a_spec_reads_back(clinic: Path) -> None:
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    assert kanon_sql.Spec.parse(spec.to_yaml(), "printed") == spec


def test_a_printed_spec_says_what_it_asks_for() -> None:
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": {"query": "SELECT *\n  FROM visits WHERE name = 'Smith'"},
            "release": "safe.visits",
            "unit": "person",
            "quasi_identifiers": {
                "age": {"intervals": [5, 10], "top": 90},
                "zip": {"prefix": [3], "maximum_level": 1},
                "town": {"tree": {"north": ["Kiel"], "south": ["Ulm"]}},
                "sex": {},
            },
            "sensitive": ["diagnosis"],
            "keep": ["day"],
            "privacy": [
                {"k_anonymity": {"k": 5}},
                {"l_diversity": {"attribute": "diagnosis", "l": 2, "variant": "distinct"}},
            ],
            "suppression": {"max_share": 0.05, "style": "mask"},
        }
    )
    lines = [line.split(None, 1) for line in str(spec).splitlines()]
    told = dict(lines)
    assert told == {
        "source": "query: SELECT * FROM visits WHERE name = ?",
        "persons": "person",
        "quasi-identifiers": "age: intervals: 5, 10; top: 90",
        "zip:": "prefix: 3; maximum level: 1",
        "town:": "tree: 2 levels, 2 values",
        "sex:": "the value, or nothing",
        "sensitive": "diagnosis",
        "kept": "day",
        "requirements": "5-anonymity, distinct 2-diversity of diagnosis",
        "suppression": "at most 5 % of the rows, masked",
        "recoding": "full_domain, optimal search for the lowest loss",
        "release": "safe.visits",
    }
    assert not {"Smith", "Kiel", "Ulm"} & set(re.findall(r"\w+", str(spec)))
    local = {**spec.to_dict(), "unit": None, "recoding": "local", "search": {}, "suppression": {"max_rows": 1}}
    changed = str(kanon_sql.Spec.from_dict(local))
    assert "at most 1 row, left out" in changed
    assert "search for" not in changed


OTHERS: dict[str, tuple[Any, dict[str, str]]] = {
    "table": (
        kanon_sql.TableSpec.from_dict(
            {
                "version": 1, "kind": "table", "source": "visits", "unit": "person", "measure": "cost",
                "release": "cells",
                "dimensions": {"town": {"hierarchy": {"tree": {"north": ["Kiel"], "south": ["Ulm"]}}}, "sex": None},
                "rules": {"threshold": 5, "dominance": {"n": 2, "k": 80}},
            }
        ),
        {
            "source": "visits", "persons": "person", "cells": "sums of cost",
            "dimensions": "town: hierarchy tree levels 2, values 2, levels 0, total", "sex:": "levels 0, total",
            "sensitive": "cells  threshold 5, dominance n 2, k 80", "protection": "method suppression, percent 20",
            "release": "cells",
        },
    ),
    "perturbed": (
        kanon_sql.PerturbSpec.from_dict(
            {
                "version": 1, "kind": "perturbed", "source": {"query": "SELECT * FROM visits WHERE name = 'Smith'"},
                "key": "id", "perturb": {"age": {"rank_swap": 0.1}, "diagnosis": {"pram": 0.8}}, "keep": ["zip"],
            }
        ),
        {
            "source": "query: SELECT * FROM visits WHERE name = ?", "key": "id",
            "perturbed": "age: rank swap share 0.1",
            "diagnosis:": "pram retain 0.8, invariant", "kept": "zip", "release": "none is named",
        },
    ),
    "positions": (
        kanon_sql.CloakSpec.from_dict(
            {
                "version": 1, "kind": "positions", "source": "visits", "unit": "id",
                "k": {"column": "wanted", "default": 5},
                "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
                "time": {"column": "at", "widths": [60, 1440]}, "suppression": {"max_share": 0.1},
            }
        ),
        {
            "source": "visits", "persons": "id",
            "position": "columns x y, bounds 0 0 8 8, depth 3, coarsest 0, outside refuse",
            "time": "column at, widths 60 1440, origin 0",
            "requirements": "k: column wanted, default 5, among the persons released",
            "suppression": "at most 10 % of the rows, left out", "release": "none is named",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_a_printed_spec_of_another_kind_says_what_it_asks_for(kind: str) -> None:
    spec, expected = OTHERS[kind]
    assert dict(line.split(None, 1) for line in str(spec).splitlines()) == expected
    assert not {"Smith", "Kiel", "Ulm"} & set(re.findall(r"\w+", str(spec)))
    assert len(spec.to_yaml().splitlines()) > len(str(spec).splitlines())


@pytest.mark.slow
def test_a_short_form_has_the_verdict(clinic: Path) -> None:
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    with kanon_sql.connect(str(clinic / "clinic.duckdb")) as db:
        found = kanon_sql.plan(db, spec)
        assert repr(found) == f"<Plan: pass: {found.message}>"


def test_an_engine_says_what_it_is_connected_to_and_asks_nothing(clinic: Path) -> None:
    shown = f"duckdb {duckdb.__version__}: {clinic / 'clinic.duckdb'}"
    with kanon_sql.connect(str(clinic / "clinic.duckdb")) as db:
        assert (str(db), repr(db)) == (shown, f"<DuckDBEngine: {shown}>")
        assert not db.meter.statements
    with kanon_sql.connect(str(clinic / "clinic.duckdb"), read_only=True) as db:
        assert str(db) == f"{shown}, read-only"


def test_an_engine_behind_sqlalchemy_tells_the_account_and_no_password() -> None:
    """What the driver has noted; a warehouse may have a token for an account, so it tells none."""
    url = sqlalchemy.make_url("postgresql://clerk:hush@db.example/clinic")
    connection = SimpleNamespace(dialect=SimpleNamespace(server_version_info=(16, 4)), engine=SimpleNamespace(url=url))
    db = RelationalEngine.__new__(RelationalEngine)
    db._connection, db.label, db.read_only = connection, "postgresql://db.example/clinic", False  # type: ignore[assignment]
    db.dialect = dialect_named("postgres")
    assert str(db) == "postgres 16.4: postgresql://db.example/clinic as clerk"
    db.dialect, connection.dialect.server_version_info = dialect_named("snowflake"), None
    assert str(db) == "snowflake: postgresql://db.example/clinic"


@pytest.mark.slow
def test_printed_evidence_is_what_the_command_prints(clinic: Path) -> None:
    printed = run(
        "release", "evidence", clinic / "spec.yml", "-d", clinic / "clinic.duckdb", "--format", "markdown", "--quiet"
    ).stdout
    with kanon_sql.connect(str(clinic / "clinic.duckdb")) as db:
        found = kanon_sql.evidence(db, kanon_sql.Spec.load(clinic / "spec.yml"))
    assert [line for line in str(found).splitlines() if line.startswith("#")] == [
        line for line in printed.splitlines() if line.startswith("#")
    ]
    assert str(found).startswith("# ")
    assert repr(found) == f"<Evidence: pass: {found.message}>"


@pytest.mark.slow
def test_a_certificate_is_printed_as_its_command_does(clinic: Path, tmp_path: Path) -> None:
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    database = clinic / "clinic.duckdb"
    with kanon_sql.connect(str(database)) as db:
        found = kanon_sql.certify(db, spec, tmp_path / "certificate")
    printed = run("release", "certify", clinic / "spec.yml", "-o", tmp_path / "again", "-d", database, "--quiet").stdout
    assert str(found).splitlines()[0] == printed.splitlines()[0]
    assert repr(found) == f"<Certificate: pass: {found.message}>"
