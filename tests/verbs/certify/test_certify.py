"""``certify``: what a wrong build makes is caught, what a proof must say, and nothing personal is written."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from operator import le
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.models import Monotonicity, models_of
from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
from kanon_sql.models.privacy.t_closeness import TCloseness
from kanon_sql.models.quality.loss import Loss
from kanon_sql.report.json import certificate_schema
from kanon_sql.spec import Spec, requirements
from kanon_sql.sql import Sql
from kanon_sql.verbs.certify import verify_certificate
from kanon_sql.verbs.certify.definitions import definitions_of
from kanon_sql.verbs.certify.optimality import _lasts, boundary
from kanon_sql.verbs.certify.verify_certificate import check_lattice, verify
from tests.conftest import Database
from tests.support.certificates import COLUMNS, SPEC, VERIFIER, forged, people, released, says, spec_of
from tests.support.command_line import refused, run


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ("DELETE FROM released WHERE rowid = 3", "released_rows is"),
        ("UPDATE released SET cost = cost + 1", "differing is"),
        ("UPDATE released SET age = 'young'", "foreign_cells is"),
        ("UPDATE released SET illness = 'cold'", "violating is"),
        ("INSERT INTO released SELECT 'young', zip, sex, illness, cost FROM released WHERE rowid = 3", "3-anonymity"),
        ("UPDATE people SET zip = NULL WHERE name = 'person 1'", "differing is"),
        ("ALTER TABLE released ADD COLUMN more VARCHAR", "the release has the columns"),
    ],
)
def test_what_does_not_hold_when_a_certificate_is_made_is_not_certified(
    database: Database, tmp_path: Path, change: str, claim: str
) -> None:
    """Nor by its verifier, for whom it is as it was when it was made."""
    spec = spec_of()
    released(database, spec)
    database.connection.execute(change)
    found = kanon_sql.certify(database.engine, spec, tmp_path / "certificate")
    assert not found.passed
    assert any(claim in problem for problem in found.problems), found.problems
    assert not says(tmp_path / "certificate", database)[0]


# --- Wrong builds ---------------------------------------------------------------------------


def k_off_by_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KAnonymityModel, "parameters", lambda self: {"k": self.k - 1})


def a_model_switched_off(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TCloseness, "condition", lambda self, name: Sql("1 = 1"))


def a_bound_too_high(patch: pytest.MonkeyPatch) -> None:
    """It excludes all that generalizes age by little, which is where the best node is."""
    real = Loss.unsuppressed

    def wrong(self: Loss, counts: Any) -> list[list[float]]:
        found = real(self, counts)
        return [[0.0, *[1.0] * (len(found[0]) - 1)], *found[1:]]

    patch.setattr(Loss, "unsuppressed", wrong)


def a_metric_upside_down(patch: pytest.MonkeyPatch) -> None:
    real = Loss.value
    patch.setattr(Loss, "value", lambda self, counts, measured: 1 - real(self, counts, measured))


WRONG: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], dict[str, Any], str]] = {
    "k off by one": (k_off_by_one, {"privacy": [{"k_anonymity": 3}]}, "3-anonymity"),
    "a model switched off": (
        a_model_switched_off,
        {"privacy": [{"k_anonymity": 3}, {"t_closeness": {"attribute": "illness", "t": 0.25}}]},
        "0.25-closeness",
    ),
    "a bound too high": (a_bound_too_high, {"privacy": [{"k_anonymity": 2}]}, "lower loss"),
    "a metric upside down": (a_metric_upside_down, {"search": {"algorithm": "exhaustive"}}, "lower loss"),
}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*list(WRONG)[:3], pytest.param(list(WRONG)[3], marks=pytest.mark.slow)])
def test_what_a_wrong_build_releases_is_not_certified(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Although the same wrong build makes the certificate; and the verifier, which is right, says so."""
    break_it, changes, expected = WRONG[name]
    spec = spec_of(**changes)
    with monkeypatch.context() as patch:
        break_it(patch)
        released(database, spec)
        found = kanon_sql.certify(database.engine, spec, tmp_path / "certificate")
    assert not found.passed
    assert any(expected in problem for problem in found.problems), found.problems
    verified, failed = says(tmp_path / "certificate", database)
    assert not verified
    assert any(expected in line for line in failed)


def test_a_node_that_is_not_the_best_is_not_certified(certified: tuple[Database, Path]) -> None:
    """Every node that satisfies, claimed to be the best: its loss, in the answers of the same statements."""
    _, directory = certified
    content = json.loads((directory / "certificate.json").read_bytes())
    proof, rows_of = content["optimality"], {claim["id"]: claim["rows"] for claim in content["claims"]}
    answers = verify_certificate.Answers(proof, rows_of)
    others = [node for node in answers.nodes if node in answers.satisfied and list(node) != proof["best"]]
    for node in others:
        claimed = {**proof, "best": list(node), "value": answers.metric(node)}
        cells = [[row[0], level, *row[2:]] for row, level in zip(sorted(rows_of["cells"]), node, strict=True)]
        held = not list(check_lattice(claimed, {**rows_of, "cells": cells}, content["spec"]))
        assert not held or answers.metric(node) <= proof["value"] * (1 + 1e-9)


def test_a_proof_with_a_hole_does_not_hold(certified: tuple[Database, Path]) -> None:
    """Without the answer of a node that nothing else excludes."""
    _, directory = certified
    content = json.loads((directory / "certificate.json").read_bytes())
    proof, rows_of = content["optimality"], {claim["id"]: claim["rows"] for claim in content["claims"]}
    holes = 0
    for name in (name for name in rows_of if name.startswith("nodes_")):
        for place, row in enumerate(rows_of[name]):
            if row[0] != " ".join(map(str, proof["best"])):
                without = {**rows_of, name: [*rows_of[name][:place], *rows_of[name][place + 1 :]]}
                problems = list(check_lattice(proof, without, content["spec"]))
                holes += any("nothing excludes" in problem or "does not follow" in problem for problem in problems)
    assert holes


def test_what_nodes_above_have() -> None:
    """Against all pairs, with columns of one level, two, and four."""
    draw = random.Random(3)
    for sizes in ((4, 1, 2), (2, 3), (1,), (3, 2, 2, 2)):
        nodes = list(product(*map(range, sizes)))
        values = [draw.randrange(9) for _ in nodes]
        expected = [
            max(value for other, value in zip(nodes, values, strict=True) if all(map(le, node, other)))
            for node in nodes
        ]
        assert verify_certificate.above(list(values), sizes) == expected


LADDER: dict[str, Any] = {
    "says": "no node that satisfies the requirements has a lower height",
    "metric": "height", "aggregate": "sum", "weights": [1.0], "columns": ["a"], "heights": [2], "minimum": [0],
    "maximum": [2], "null_is_value": False, "limit": 1, "best": [2], "value": 2,
    "minimal": [[2]], "maximal": [], "boundary_is_complete": False,
}  # fmt: skip


LADDER_SPEC: dict[str, Any] = {
    "search": {"algorithm": "optimal", "metric": "height"}, "nulls": "suppress", "suppression": {"max_rows": 1},
    "quasi_identifiers": {"a": {"weight": 3.0, "minimum_level": 0, "maximum_level": None}},
}  # fmt: skip
"""A proof about one column of three levels, of which the highest is the best: ten rows, of which one may go."""


def ladder(suppressed: int, infeasible: int) -> dict[str, Any]:
    """What the statements say, if so many rows violate a requirement at level 1, and one that lasts."""
    return {
        "counts": [[10, 10, 0, 0, 0, 0]], "domains": [[0, "a", 0, 4, 0]], "covered": [[0, 0, 10, 1], [0, 1, 14, 3]],
        "nodes_0": [["2", 1, 1, 0, 0, 0, 0], ["1", 2, 0, suppressed, infeasible, 0, 0]], "cells": [[0, 2, 10, 0]],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("suppressed", "infeasible", "excluded"), [(2, 2, True), (10, 0, False), (2, 1, False), (10, 10, True)]
)
def test_only_too_many_rows_that_violate_what_lasts_exclude_what_is_below(
    suppressed: int, infeasible: int, excluded: bool
) -> None:
    proof = {**LADDER, "maximal": [[1]] if infeasible > 1 else []}
    problems = list(check_lattice(proof, ladder(suppressed, infeasible), LADDER_SPEC))
    assert problems == ([] if excluded else ["nothing excludes [0]"])


def test_a_spec_that_says_its_limit_otherwise_is_no_spec_without_suppression() -> None:
    """Without a limit that it knows, the verifier does not take 0, by which a proof would hold that says 0 too."""
    proof = {**LADDER, "limit": 0, "maximal": [[1]]}
    assert not list(check_lattice(proof, ladder(2, 2), {**LADDER_SPEC, "suppression": {"max_share": 0.0}}))
    with pytest.raises(KeyError, match="max_share"):
        list(check_lattice(proof, ladder(2, 2), {**LADDER_SPEC, "suppression": {"limit": 0.9}}))


def test_a_bound_takes_the_rows_that_lose_most_for_the_suppressed_ones() -> None:
    """Two rows under a label of three of the four values, eight under one of one: without the two, (8/4 + 2 - 10/4)."""
    answers = verify_certificate.Answers({**LADDER, "metric": "loss"}, ladder(2, 2))
    assert answers.loss(0, 1, 2) == pytest.approx((8 / 4 + 2 - 10 / 4) / (10 - 10 / 4))
    assert answers.loss(0, 1, 0) == pytest.approx((14 / 4 - 10 / 4) / (10 - 10 / 4))


def test_the_boundary_of_a_known_lattice() -> None:
    """Two minimal nodes and three maximal ones, of a lattice of two columns with levels 0 to 3."""
    infeasible = [(0, 0), (0, 1), (1, 0), (0, 2), (2, 0), (1, 1)]
    satisfied = [(1, 2), (2, 1), (2, 2), (3, 3)]
    assert boundary(infeasible, satisfied) == ([[1, 2], [2, 1]], [[0, 2], [1, 1], [2, 0]])


# --- What is written ------------------------------------------------------------------------


def test_no_value_of_a_small_class_is_in_any_file(database: Database, tmp_path: Path) -> None:
    """Nor one of a tree, whoever has it: hierarchies given as rows are digests."""
    privacy = [
        *SPEC["privacy"],
        {"alpha_k_anonymity": {"attribute": "illness", "alpha": 0.99, "k": 2, "values": ["flu"]}},
    ]
    spec = spec_of(privacy=privacy)
    released(database, spec)
    assert kanon_sql.certify(database.engine, spec, tmp_path).passed
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 15
    for file in files:
        text = file.read_text()
        for value in ("Ada", "11111", "1111*", "lonely", "unheard-of", "987654", "fem", "flu", "[95, 100)"):
            assert value not in text, (file.name, value)
        assert not any(row[0] in text for row in people() if row[0] is not None)


@pytest.mark.slow
def test_only_aggregates_reach_the_program(database: Database, tmp_path: Path) -> None:
    """One read of the source, and far fewer rows than the release has."""
    spec = spec_of()
    database.table("people", COLUMNS, people(2_000))
    assert kanon_sql.anonymize(database.engine, spec).passed
    found = kanon_sql.certify(database.engine, spec, tmp_path / "certificate")
    assert found.passed
    assert found.cost.source_scans == 1
    assert found.cost.rows_fetched < 120
    before = {"kanon_sql_manifest", "kanon_sql_scratch", "people", "released"}
    assert set(database.tables()) == before


def test_the_json_keeps_to_its_schema(certified: tuple[Database, Path]) -> None:
    _, directory = certified
    validator = jsonschema.Draft202012Validator(certificate_schema())
    content = json.loads((directory / "certificate.json").read_bytes())
    validator.validate(content)
    assert json.loads(run("pipeline", "schema", "certificate").stdout) == certificate_schema()
    assert content["made"]["by"] == "The data office"
    assert {path.name for path in directory.iterdir()} == {
        "certificate.json", "certificate.sha256", "sql", "verify_certificate.py", "open_database.py",
    }  # fmt: skip


@pytest.mark.slow
def test_what_is_not_certified_is_named(database: Database, tmp_path: Path) -> None:
    """In the JSON, in the text and by the verifier; and then nothing is said of what is best."""
    privacy = [
        {"k_anonymity": 3},
        {"l_diversity": {"attribute": "illness", "l": 1.1, "variant": "entropy", "estimator": "grassberger"}},
    ]
    spec = spec_of(privacy=privacy, suppression={"max_share": 0.5})
    released(database, spec)
    found = kanon_sql.certify(database.engine, spec, tmp_path / "certificate")
    assert found.passed
    (model, proof) = found.not_certified
    assert "entropy 1.1-diversity" in model["what"]
    assert "it estimates the population" in model["why"]
    assert proof["what"] == "that no other release is better"
    said: list[str] = []
    assert verify(tmp_path / "certificate", database.connection, say=said.append)
    assert sum(line.startswith("--") and "not certified" in line for line in said) == 2


def test_every_requirement_is_certified_or_named() -> None:
    """Each of those that the package has: a definition, or a reason."""
    written = {
        "k_anonymity", "l_diversity", "t_closeness", "alpha_k_anonymity", "p_sensitive_k_anonymity", "beta_likeness",
        "delta_disclosure", "risk",
    }  # fmt: skip
    assert {item.name for item in requirements() if item.not_certified is None} == written
    spec = spec_of(privacy=[{"k_anonymity": 3}, {"risk": {"highest": 0.2}}, {"risk": {"average": 0.2}}][:2])
    definitions, left = definitions_of(spec)
    assert [(item.kind, item.threshold) for item in definitions] == [("size", 3), ("size", 5)]
    assert not left


@pytest.mark.parametrize("by_person", [False, True])
def test_what_rules_out_nodes_below_is_what_the_models_call_monotone(by_person: bool) -> None:
    """A requirement that a merged class may lose must rule out nothing; the models were proven by an oracle."""
    attribute = {"attribute": "illness"}
    privacy = [
        {"k_anonymity": 3},
        {"l_diversity": {**attribute, "l": 2}},
        {"l_diversity": {**attribute, "l": 2, "variant": "entropy"}},
        {"l_diversity": {**attribute, "l": 2, "variant": "recursive", "c": 2}},
        {"t_closeness": {**attribute, "t": 0.5}},
        {"t_closeness": {"attribute": "cost", "t": 0.5, "distance": "ordered"}},
    ]
    if not by_person:
        privacy += [
            {"alpha_k_anonymity": {**attribute, "alpha": 0.5, "k": 2}},
            {"p_sensitive_k_anonymity": {**attribute, "p": 2, "k": 2}},
            {"beta_likeness": {**attribute, "beta": 1}},
            {"beta_likeness": {**attribute, "beta": 1, "variant": "basic"}},
            {"delta_disclosure": {**attribute, "delta": 1}},
        ]
    spec = spec_of(privacy=privacy, sensitive=["illness", "cost"], keep=[], unit="name" if by_person else None,
                   identifiers=[])  # fmt: skip
    definitions, left = definitions_of(spec)
    assert not left
    for item, model in zip(definitions, models_of(spec), strict=True):
        for limit in (0, 3):
            lasting = model.monotonicity(by_person) is Monotonicity.ALWAYS
            lasting |= limit == 0 and model.monotonicity(by_person) is Monotonicity.WITHOUT_SUPPRESSION
            assert _lasts(item, limit, by_person=by_person) == lasting, (item.label, limit)


# --- The command line -----------------------------------------------------------------------


def verified_by_itself(directory: Path, database: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The verifier in a process of its own, which does not know where this package is."""
    command = [sys.executable, "-I", str(directory / VERIFIER.name), str(directory), "-d", str(database), *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)


def test_a_certificate_from_the_command_line(clinic: Path) -> None:
    assert run("anonymize", "spec.yml", "-d", "clinic.duckdb").exit_code == 0
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (clinic / "key.pem").write_bytes(pem)
    (clinic / "public.pem").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    other = Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (clinic / "other.pem").write_bytes(other)
    made = run("release", "certify", "spec.yml", "-d", "clinic.duckdb", "-o", "proof", "--sign", "key.pem")
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith("PASS  certified ")
    directory, database = clinic / "proof", clinic / "clinic.duckdb"
    digest = (directory / "certificate.sha256").read_text().split()[0]
    found = verified_by_itself(directory, database, "--key", str(clinic / "public.pem"), "--sha256", digest)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.endswith("all claims hold\n")
    for options in (["--key", str(clinic / "other.pem")], ["--sha256", "0" * 64]):
        found = verified_by_itself(directory, database, *options)
        assert found.returncode == 1
        assert found.stdout.startswith("FAILED  the files are those of the certificate")
    content = json.loads((directory / "certificate.json").read_bytes())
    forged(directory, {**content, "made": {**content["made"], "by": "somebody else"}})
    assert verified_by_itself(directory, database).returncode == 0  # of who it was, the database knows nothing
    assert verified_by_itself(directory, database, "--key", str(clinic / "public.pem")).returncode == 1
    again = run("release", "certify", "spec.yml", "-d", "clinic.duckdb", "-o", "proof", "--format", "json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["verdict"] == "pass"
    assert not (directory / "certificate.sig").exists()  # it was that of the certificate before
    assert verified_by_itself(directory, database).returncode == 0
    with duckdb.connect(str(database)) as connection:
        name = content["release"]
        connection.execute(f"DELETE FROM {name} WHERE rowid = 1")
    found = verified_by_itself(directory, database)
    assert found.returncode == 1
    assert "FAILED" in found.stdout


@pytest.mark.slow
def test_refusals(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of()
    released(database, spec)
    engine = database.engine

    def refusal(changed: Spec = spec, out: Path = tmp_path / "certificate", **options: Any) -> str:
        with pytest.raises((SpecError, UnsupportedError)) as caught:
            kanon_sql.certify(engine, changed, out, **options)
        return str(caught.value)

    assert "certify needs a release" in refusal(spec_of(release=None))
    assert "published by another spec" in refusal(spec_of(keep=[]))
    assert "needs the name of a table" in refusal(spec_of(release={"file": "x.csv"}))
    sample = {"sample": {"fraction": 0.5, "by": "name"}}
    assert "steps.sample: a secret decides the sample, and a certificate" in refusal(spec_of(steps=sample))
    full = tmp_path / "full"
    full.mkdir()
    (full / "letter.txt").write_text("mine")
    assert "it holds other files" in refusal(out=full)
    assert "it is a file" in refusal(out=full / "letter.txt")
    (tmp_path / "bad.pem").write_text("no key")
    assert "the file holds no such key" in refusal(sign=tmp_path / "bad.pem")
    assert "expected an Ed25519 private key" in refusal(sign=tmp_path / "none.pem")
    other = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "other.pem").write_bytes(other)
    assert "the file holds another kind of key" in refusal(sign=tmp_path / "other.pem")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    assert 'pip install ".[certify]"' in refusal(sign=tmp_path / "other.pem")
    database.connection.execute("CREATE OR REPLACE TABLE released AS SELECT * FROM people")
    assert "has no run mark" in refusal()
    dp = {"epsilon": 1, "delta": 0.01, "generalization": {"age": 1, "zip": 1, "sex": 0}}
    private = Spec.from_dict(
        {
            **{key: SPEC[key] for key in ("version", "source", "release")}, "ledger": "spent",
            "quasi_identifiers": {"age": {"intervals": [5]}, "zip": {"prefix": [4]}, "sex": None},
            "privacy": [{"differential_privacy": dp}],
        }
    )  # fmt: skip
    assert "a property of the mechanism" in refusal(private)
    assert not (tmp_path / "certificate").exists()
    with kanon_sql.connect(database.connection, scratch="inline") as inline, pytest.raises(UnsupportedError) as caught:
        kanon_sql.certify(inline, spec, tmp_path / "certificate")
    assert "certify needs temporary tables" in str(caught.value)


def test_a_missing_key_is_told_before_anything_is_read(clinic: Path) -> None:
    message = refused(
        run("release", "certify", "spec.yml", "-d", "clinic.duckdb", "-o", "proof", "--sign", "none.pem"), 2
    )
    assert "--sign none.pem" in message
