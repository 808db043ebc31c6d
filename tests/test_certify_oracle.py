"""``certify`` on random problems: what was released rightly is certified, and its verifier agrees."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Database
from hypothesis import event, given
from hypothesis import strategies as st
from oracle_cases import Case, cases, load
from strategies import examples

import kanon_sql
from kanon_sql.verbs.certify.verify_certificate import verify


def certified(database: Database, folder: Path, spec: kanon_sql.Spec) -> kanon_sql.Certificate | None:
    """The certificate of what a run released, after its verifier has run; None where nothing was released."""
    if not kanon_sql.anonymize(database.engine, spec).passed:
        return None
    found = kanon_sql.certify(database.engine, spec, folder / "certificate")
    said: list[str] = []
    verified = verify(folder / "certificate", database.connection, say=said.append)
    assert found.passed and verified, "\n".join([*found.problems, *said])
    return found


@given(case=cases(max_nodes=64))
@examples(30)
def test_what_is_released_is_certified(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    found = certified(shared_database, folder, spec)
    if found is None:
        event("nothing released")
        return
    proof = found.content["optimality"]
    event("no proof" if proof is None else "proven")
    if proof is None:
        return
    oracle = case.problem.oracle()
    nodes = oracle.results
    limit_known = {tuple(node) for node in proof["nodes"]}
    assert {tuple(node) for node in proof["minimal"]} <= oracle.satisfying_nodes()
    assert all(not nodes[tuple(node)].satisfied for node in proof["maximal"])
    if proof["boundary_is_complete"]:
        assert {tuple(node) for node in proof["minimal"]} == oracle.minimal_nodes()
    assert tuple(proof["best"]) in limit_known
