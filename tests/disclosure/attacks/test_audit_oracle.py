"""``audit``: every attack against brute force, over random tables and releases."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import isclose
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks.unsorted import correlated
from kanon_sql.report.json import audit_schema
from kanon_sql.verbs.audit import AuditResult
from tests.conftest import Database
from tests.oracles import audit as audit_oracle
from tests.oracles.audit import Found
from tests.oracles.model import TOLERANCE, exact
from tests.support.audits import SENSITIVE_HIERARCHY, by_name, hierarchy_table, make, recoded, same
from tests.support.strategies import RandomProblem, examples, problems

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A source, three releases of some of its rows, and people to look for in them."""

    problem: RandomProblem
    release: Records
    earlier: Records
    other: Records
    """Lacks a quasi-identifier, where there are several."""
    columns: list[str]
    columns_of_other: list[str]
    external: Records
    """Some are in the source and some are not; some have values that no hierarchy knows."""
    on: list[str]
    """The columns that the people are looked for by."""
    negations: int

    @property
    def quasi_identifiers(self) -> list[str]:
        return list(self.problem.hierarchies)

    @property
    def plain(self) -> list[str]:
        """The columns that are released as they are."""
        return [*self.problem.sensitive, "kept"]

    @property
    def releases(self) -> list[Records]:
        return [self.release, self.earlier, self.other]

    def asked(self, model: str) -> list[dict[str, Any]]:
        """The parameters of each requirement of a model."""
        return [item[model] for item in self.problem.requirements if model in item]

    @property
    def k(self) -> int:
        return max((item["k"] for item in self.asked("k_anonymity")), default=2)

    def diversity(self, attribute: str) -> int:
        asked = [item["l"] for item in self.asked("l_diversity") if item["attribute"] == attribute]
        return max([2, *(-int(-number // 1) for number in asked)])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    problem = draw(problems(units=False, max_rows=16, max_columns=3))
    drawn, by_cell = random.Random(draw(st.integers(0, 10_000))), draw(st.booleans())
    source = [{**row, "kept": drawn.choice(["a", "A", None])} for row in problem.rows]
    problem = RandomProblem(source, problem.hierarchies, problem.sensitive, problem.requirements, problem.limit)
    release, earlier, other = (recoded(problem, drawn, by_cell=by_cell, kept=kept) for kept in (0.9, 0.9, 0.7))
    quasi = list(problem.hierarchies)
    columns = [*quasi, *problem.sensitive, "kept"]
    fewer = [name for name in columns if name != quasi[-1] or len(quasi) == 1]
    external = [
        {name: drawn.choice([row[name] for row in [*source, {name: "unheard of"}, {name: None}]]) for name in columns}
        for _ in range(12)
    ]
    external += [dict(row) for row in source[:6]]
    return Case(
        problem=problem,
        release=release,
        earlier=earlier,
        other=[{name: row[name] for name in fewer} for row in other],
        columns=columns,
        columns_of_other=fewer,
        external=external,
        on=drawn.sample(columns, drawn.randint(1, len(columns))),
        negations=drawn.randint(1, 3),
    )


def audited(database: Database, case: Case) -> AuditResult:
    """Every attack at once."""
    for name, rows in (
        ("source", case.problem.rows), ("released", case.release), ("earlier", case.earlier),
        ("external", case.external),
    ):  # fmt: skip
        make(database, name, rows, case.columns)
    make(database, "other", case.other, case.columns_of_other)
    tables = {
        name: hierarchy_table(database, f"h_{name}", hierarchy) for name, hierarchy in case.problem.hierarchies.items()
    }
    similar = {name: hierarchy_table(database, "h_sensitive", SENSITIVE_HIERARCHY) for name in case.problem.sensitive}
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "released", "quasi_identifiers": tables,
            "sensitive": case.problem.sensitive, "keep": ["kept"], "privacy": case.problem.requirements,
        }
    )  # fmt: skip
    return audit(
        database.engine, spec, external="external", on=case.on, earlier=["earlier", "other"],
        negations=case.negations, hierarchies=similar,
    )  # fmt: skip


@given(case=cases())
@examples(6)
def test_every_attack_finds_what_brute_force_finds(shared_database: Database, case: Case) -> None:
    result = audited(shared_database, case)
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert_linking(case, result)
    assert_complementary(case, result)
    for attribute in case.problem.sensitive:
        assert_homogeneity_and_background(case, result, attribute)
        assert_skewness(case, result, attribute)
        assert_similarity(case, result, attribute)
        assert_composition(case, result, attribute)
    assert_order(case, result)
    assert_positions(case, result)
    assert result.passed == (not any(item.beyond for item in result.attacks if not item.estimate))
    assert list(shared_database.engine.columns("released"))  # the scratch mode is back
    assert shared_database.engine.scratch.mode == "temp"


def assert_linking(case: Case, result: AuditResult) -> None:
    hierarchies = {name: case.problem.hierarchies[name] for name in case.on if name in case.quasi_identifiers}
    forward, backward = audit_oracle.linking(case.external, case.release, case.on, hierarchies, case.k)
    if case.external and case.release and forward.risk is None:
        assert {"linking", "linking, reversed"} <= set(result.left_out)
    else:
        same(by_name(result)["linking with external"], forward)
        same(by_name(result)["linking, reversed with external"], backward)


def same_of_several(case: Case, result: AuditResult, name: str, expected: Found) -> None:
    """An attack on several releases is left out where nobody is in several."""
    if case.release and (case.earlier or case.other) and expected.risk is None:
        assert name.split()[0] in result.left_out, "nobody is in several releases"
    else:
        same(by_name(result)[name], expected)


def assert_complementary(case: Case, result: AuditResult) -> None:
    problem = case.problem
    expected = audit_oracle.complementary(problem.rows, case.releases, problem.hierarchies, case.plain, case.k)
    same_of_several(case, result, "complementary with earlier, other", expected)


def assert_homogeneity_and_background(case: Case, result: AuditResult, attribute: str) -> None:
    found, quasi = by_name(result), case.quasi_identifiers
    same(found[f"homogeneity of {attribute}"], audit_oracle.homogeneity(case.release, quasi, attribute))
    ruled_out = audit_oracle.ruled_out(case.release, quasi, attribute, case.negations, case.diversity(attribute))
    same(found[f"background of {attribute}"], ruled_out)


def assert_skewness(case: Case, result: AuditResult, attribute: str) -> None:
    close = [item["t"] for item in case.asked("t_closeness") if item["attribute"] == attribute]
    most = min((exact(t) + exact(TOLERANCE) for t in close), default=None)
    expected = audit_oracle.skewness(case.release, case.quasi_identifiers, attribute, case.problem.rows, most)
    same(by_name(result)[f"skewness of {attribute}"], expected)


def assert_similarity(case: Case, result: AuditResult, attribute: str) -> None:
    expected = audit_oracle.similarity(case.release, case.quasi_identifiers, attribute, SENSITIVE_HIERARCHY)
    same(by_name(result)[f"similarity of {attribute}"], expected)


def assert_composition(case: Case, result: AuditResult, attribute: str) -> None:
    problem = case.problem
    expected = audit_oracle.composition(
        problem.rows, case.releases, problem.hierarchies, attribute, case.diversity(attribute)
    )
    same_of_several(case, result, f"composition of {attribute}", expected)


def assert_order(case: Case, result: AuditResult) -> None:
    """The correlation of a release's order with its source's, where the oracle has one."""
    problem, unsorted = case.problem, by_name(result)["unsorted"]
    examined, independent, correlation = audit_oracle.order(problem.rows, case.release, problem.hierarchies, case.plain)
    assert unsorted.examined == examined
    assert (unsorted.risk is None) == (correlation is None)
    if correlation is not None and unsorted.risk is not None:
        assert isclose(unsorted.risk, abs(correlation), abs_tol=1e-9)
        assert unsorted.exposed == (examined if correlated(correlation, independent) else 0)


def assert_positions(case: Case, result: AuditResult) -> None:
    """The release with each earlier one of as many rows; so few rows are in one order if nothing contradicts it."""
    problem = case.problem
    for name, rows in (("earlier", case.earlier), ("other", case.other)):
        if len(rows) != len(case.release):
            assert "shifts all that follow" in result.left_out[f"unsorted with {name}"]
            continue
        expected = audit_oracle.by_position(problem.rows, [case.release, rows], problem.hierarchies, case.plain, case.k)
        found = by_name(result)[f"unsorted with {name}"]
        common = expected.positions > 0 and expected.returned == expected.positions
        exposed, risk = (expected.exposed, expected.risk) if common else (0, None)
        same(found, Found(expected.positions, exposed, exposed, risk))
        if expected.positions:
            assert found.notes[-1].startswith(f"{expected.returned:,} of {expected.positions:,} positions")
