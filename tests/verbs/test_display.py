"""Results, specs and engines that are printed: the text of their command, YAML that reads back, a short form."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
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


def test_a_printed_spec_is_yaml_that_reads_back(clinic: Path) -> None:
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    assert kanon_sql.Spec.parse(str(spec), "printed") == spec


def test_a_short_form_has_the_verdict(clinic: Path) -> None:
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    with kanon_sql.connect(str(clinic / "clinic.duckdb")) as db:
        found = kanon_sql.plan(db, spec)
        assert repr(found) == f"<Result: plan: pass: {found.message}>"
        assert repr(db) == f"<DuckDBEngine: {clinic / 'clinic.duckdb'}>"


def test_a_certificate_is_printed_as_its_command_does(clinic: Path, tmp_path: Path) -> None:
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    database = clinic / "clinic.duckdb"
    with kanon_sql.connect(str(database)) as db:
        found = kanon_sql.certify(db, spec, tmp_path / "certificate")
    printed = run("release", "certify", clinic / "spec.yml", "-o", tmp_path / "again", "-d", database, "--quiet").stdout
    assert str(found).splitlines()[0] == printed.splitlines()[0]
    assert repr(found) == f"<Certificate: pass: {found.message}>"
