"""``certify``: what is tampered with is caught, what a wrong build makes is caught, and nothing personal is written."""

from __future__ import annotations

import ast
import copy
import json
import random
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from operator import le
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import jsonschema
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import kanon_sql
from kanon_sql.engines import session_statements
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.models import Monotonicity, models_of
from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
from kanon_sql.models.privacy.t_closeness import TCloseness
from kanon_sql.models.quality.loss import Loss
from kanon_sql.report.json import certificate_schema
from kanon_sql.spec import Spec, requirements
from kanon_sql.sql import Sql
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.verbs.certify import open_database, verify_certificate
from kanon_sql.verbs.certify.definitions import definitions_of
from kanon_sql.verbs.certify.optimality import _lasts, boundary
from kanon_sql.verbs.certify.verify_certificate import check_lattice, verify
from tests.conftest import Database
from tests.support.command_line import refused, run

VERIFIER = Path(verify_certificate.__file__)

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"intervals": [5, 10, 20]},
        "zip": {"prefix": [4, 3]},
        "sex": {"tree": {"anybody": ["fem", "masc", "lonely"]}},
    },
    "sensitive": ["illness"],
    "keep": ["cost"],
    "privacy": [{"k_anonymity": 3}, {"t_closeness": {"attribute": "illness", "t": 0.6}}],
    "suppression": {"max_share": 0.1},
}

COLUMNS = {
    "name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "illness": "VARCHAR", "cost": "INTEGER",
}  # fmt: skip


def people(count: int = 60, seed: int = 7) -> list[tuple[Any, ...]]:
    """Neighbours, and one of whom everything is told apart."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = [
        (
            f"person {number}", draw.choice((20, 30, 40)) + draw.randrange(2),
            f"9411{draw.randrange(3)}" if draw.random() < 0.8 else "94205", draw.choice(("fem", "masc")),
            draw.choice(("flu", "cold", None)), draw.randrange(4),
        )
        for number in range(count)
    ]  # fmt: skip
    return [*rows, ("Ada Only", 97, "11111", "lonely", "unheard-of", 987654)]


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**SPEC, **changes})


def released(database: Database, spec: Spec) -> None:
    database.table("people", COLUMNS, people())
    assert kanon_sql.anonymize(database.engine, spec).passed


def says(directory: Path, database: Database, **options: Any) -> tuple[bool, list[str]]:
    """Whether the verifier is content, and the claims that it is not content with."""
    said: list[str] = []
    verified = verify(directory, database.connection, say=said.append, **options)
    return verified, [line for line in said if line.startswith("FAILED")]


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Path]]:
    """A release and its certificate; who changes something puts it back."""
    directory = tmp_path_factory.mktemp("certificate")
    with duckdb.connect(config={"threads": 1}) as connection:
        database = Database(connection)
        spec = spec_of()
        released(database, spec)
        found = kanon_sql.certify(database.engine, spec, directory, by="The data office")
        assert found.passed, found.problems
        assert found.content["optimality"] is not None
        assert not found.not_certified
        yield database, directory


# --- Tampering ------------------------------------------------------------------------------


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all that is no list and no mapping; of empty ones, too."""
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if not items:
        yield path
    for key, item in items:
        yield from leaves(item, (*path, key))


def tampered(content: Any, path: tuple[Any, ...]) -> Any:
    """The content with another value there."""
    changed = copy.deepcopy(content)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    value = inside[path[-1]]
    if isinstance(value, bool):
        inside[path[-1]] = not value
    elif isinstance(value, int | float):
        inside[path[-1]] = value + 1
    elif isinstance(value, str):
        inside[path[-1]] = value + "x"
    else:
        inside[path[-1]] = "x" if value is None else None
    return changed


@pytest.mark.slow
def test_every_field_that_is_tampered_with_is_caught(certified: tuple[Database, Path]) -> None:
    """By the digest, and so whatever the field says; the rest of the verifier need not run for that."""
    _, directory = certified
    file = directory / "certificate.json"
    kept = file.read_bytes()
    content = json.loads(kept)
    paths = list(leaves(content))
    assert len(paths) > 400
    try:
        for path in paths:
            changed = tampered(content, path)
            assert changed != content, path
            file.write_text(json.dumps(changed, indent=1, sort_keys=True) + "\n")
            assert list(verify_certificate.changed(directory, {"files": {}}, None, None)), path
    finally:
        file.write_bytes(kept)
    assert not list(verify_certificate.changed(directory, content, None, None))


SAYING_DUCKDB = SimpleNamespace(execute=lambda sql: None, fetchall=lambda: [("v1.5.0",)])
"""A cursor of no database, of which the verifier asks what it is."""


class Replayed:
    """A cursor that answers as a database did, for a verifier that is run often."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.answers, self.sql = connection, {}, ""

    def execute(self, sql: str) -> None:
        self.sql = sql
        if sql not in self.answers:
            cursor = self.connection.execute(sql)
            self.answers[sql] = (cursor.description, cursor.fetchall())

    @property
    def description(self) -> Any:
        return self.answers[self.sql][0]

    def fetchall(self) -> Any:
        return self.answers[self.sql][1]


def forged(directory: Path, content: Any) -> None:
    """A certificate whose digest was made anew."""
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    (directory / "certificate.json").write_text(text)
    (directory / "certificate.sha256").write_text(f"{verify_certificate.hashlib.sha256(text.encode()).hexdigest()}\n")


@pytest.mark.slow
def test_a_forged_figure_is_caught_by_running_the_statements_again(certified: tuple[Database, Path]) -> None:
    """Also by who makes the digest anew: each row of a claim, and each figure of the proof."""
    database, directory = certified
    kept = {name: (directory / name).read_bytes() for name in ("certificate.json", "certificate.sha256")}
    content = json.loads(kept["certificate.json"])
    rows_of = {claim["id"]: claim["rows"] for claim in content["claims"]}
    proof = content["optimality"]
    assert not list(check_lattice(proof, rows_of, content["spec"]))
    figures = list(leaves(proof))
    assert len(figures) > 30
    for path in figures:
        assert list(check_lattice(tampered(proof, path), rows_of, content["spec"])), path
    places = [
        ("claims", number, "rows", *path)
        for number, claim in enumerate(content["claims"])
        for path in list(leaves(claim["rows"]))[:40:3]
    ]
    try:
        for path in places[::25]:
            forged(directory, tampered(content, path))
            verified, failed = says(directory, database)
            assert not verified, path
            assert failed
    finally:
        for name, text in kept.items():
            (directory / name).write_bytes(text)
    assert says(directory, database) == (True, [])


@pytest.mark.slow
def test_claimed_rows_are_compared_cell_by_cell(certified: tuple[Database, Path]) -> None:
    """All of them, without the database: what was found is what was claimed, but for one cell."""
    _, directory = certified
    for claim in json.loads((directory / "certificate.json").read_bytes())["claims"]:
        assert not list(verify_certificate.wrong(claim, claim["columns"], claim["rows"]))
        renamed = verify_certificate.wrong(claim, [*claim["columns"][1:], "x"], claim["rows"])
        assert list(renamed), claim["id"]
        for path in filter(None, leaves(claim["rows"])):
            changed = tampered(claim["rows"], path)
            assert list(verify_certificate.wrong({**claim, "rows": changed}, claim["columns"], claim["rows"])), (
                claim["id"],
                path,
            )


def test_what_must_hold() -> None:
    """Of every row, and of one at least; of no value it does not."""
    claim = {"id": "x", "columns": ["x", "y"], "must": [["y", "<=", 3], ["x", "=", "a"], ["y", ">=", 1]]}

    def broken(said: dict[str, Any], rows: list[list[Any]]) -> bool:
        return bool(list(verify_certificate.wrong({**said, "rows": rows}, said["columns"], rows)))

    assert not broken(claim, [["a", 3], ["a", 1]])
    for rows in ([["a", 4]], [["a", 0]], [["b", 2]], [["a", None]], [[None, 2]], [["a", 2], ["a", 9]], []):
        assert broken(claim, rows), rows
    assert not broken({"id": "x", "columns": ["x"], "must": []}, [])


@pytest.mark.parametrize("fault", verify_certificate.FAULTS)
def test_what_counts_faults_must_be_zero_whatever_the_certificate_says(fault: str) -> None:
    """Who leaves out what must hold gains nothing; a column of the release may be called so."""
    for rows, held in (([[0]], True), ([[1]], False), ([[None]], False), ([[0], [1]], False)):
        claim = {"id": "cells", "columns": [fault], "must": [], "rows": rows}
        assert bool(list(verify_certificate.wrong(claim, [fault], rows))) != held
    claim = {"id": "columns", "columns": [fault], "must": [], "rows": []}
    assert not list(verify_certificate.wrong(claim, [fault], []))


def test_a_changed_statement_is_caught(certified: tuple[Database, Path]) -> None:
    database, directory = certified
    for file in [*(directory / "sql").iterdir(), directory / VERIFIER.name]:
        kept = file.read_bytes()
        file.write_bytes(kept + b"\n")
        assert list(
            verify_certificate.changed(directory, json.loads((directory / "certificate.json").read_bytes()), None, None)
        )
        file.unlink()
        assert list(
            verify_certificate.changed(directory, json.loads((directory / "certificate.json").read_bytes()), None, None)
        )
        file.write_bytes(kept)
    assert says(directory, database)[0]


def assert_changed_cells_are_caught(database: Database, directory: Path, recoding: str, cells: int | None) -> None:
    """To a value that the column has elsewhere, so that only what the rows are together tells."""
    spec = spec_of(recoding=recoding, privacy=[{"k_anonymity": 3}], keep=[])
    database.table("people", COLUMNS, people(14))
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert kanon_sql.certify(database.engine, spec, directory).passed
    connection = database.connection
    places = [(rowid, name) for (rowid,) in connection.execute("SELECT rowid FROM released").fetchall()
              for name in database.columns("released")]  # fmt: skip
    draw = random.Random(1)
    for rowid, name in places if cells is None else draw.sample(places, cells):
        ((before,),) = connection.execute(f"SELECT {name} FROM released WHERE rowid = {rowid}").fetchall()
        there = connection.execute(f"SELECT DISTINCT {name} FROM released").fetchall()
        after = draw.choice([value for (value,) in [*there, ("~",)] if value != before])
        connection.execute(f"UPDATE released SET {name} = ? WHERE rowid = {rowid}", [after])
        assert not says(directory, database)[0], (rowid, name)
        connection.execute(f"UPDATE released SET {name} = ? WHERE rowid = {rowid}", [before])
    assert says(directory, database)[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_a_changed_cell_of_the_release_is_caught(database: Database, tmp_path: Path, recoding: str) -> None:
    assert_changed_cells_are_caught(database, tmp_path / "certificate", recoding, 6)


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_every_changed_cell_of_the_release_is_caught(database: Database, tmp_path: Path, recoding: str) -> None:
    assert_changed_cells_are_caught(database, tmp_path / "certificate", recoding, None)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ("DELETE FROM released WHERE rowid = 3", "the rows of the source are those of the release"),
        ("INSERT INTO released SELECT * FROM released WHERE rowid = 3", "each class of the release has the very rows"),
        ("UPDATE released SET age = '[20, 25)'", "each class of the release has the very rows"),
        ("UPDATE released SET zip = '123**'", "every cell of a quasi-identifier is a label"),
        ("UPDATE released SET cost = cost + 1", "each class of the release has the very rows"),
        ("ALTER TABLE released ADD COLUMN name VARCHAR", "the release has these columns"),
        ("UPDATE people SET cost = 9 WHERE name = 'person 1'", "the source is the one that was certified"),
        ("DELETE FROM people WHERE name = 'person 1'", "the rows of the source are those of the release"),
        ("UPDATE kanon_sql_manifest SET manifest = replace(manifest, '0.1', '0.2')", "the database has this manifest"),
        ("DELETE FROM kanon_sql_manifest", "the database has this manifest"),
    ],
)
def test_what_changes_afterwards_is_caught(database: Database, tmp_path: Path, change: str, claim: str) -> None:
    spec = spec_of()
    released(database, spec)
    assert kanon_sql.certify(database.engine, spec, tmp_path / "certificate").passed
    database.connection.execute(change)
    verified, failed = says(tmp_path / "certificate", database)
    assert not verified
    assert any(claim in line for line in failed), failed


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE released SET age_from = age_from + 1 WHERE rowid = 3",
        "UPDATE released SET age_to = NULL WHERE rowid = 3",
        "ALTER TABLE released ALTER age_from TYPE VARCHAR; UPDATE released SET age_from = '020' WHERE rowid = 3",
        "ALTER TABLE released DROP COLUMN age_to",
    ],
)
def test_what_stands_beside_a_label_is_certified(database: Database, tmp_path: Path, change: str) -> None:
    """And a number, which has one way to be written."""
    quasi = {"age": {"intervals": [10, 50], "minimum_level": 1, "maximum_level": 1, "as": "bounds"},
             "share": {"as": "number", "maximum_level": 0}}  # fmt: skip
    rows = [(20 + n % 20, n % 2 - 1.0, n) for n in range(60)]
    database.table("people", {"age": "INTEGER", "share": "DOUBLE", "cost": "INTEGER"}, rows)
    spec = spec_of(
        quasi_identifiers=quasi,
        identifiers=[],
        sensitive=[],
        privacy=[{"k_anonymity": 3}],
        warnings={"nearly_unique_kept": "allow"},
    )
    assert kanon_sql.anonymize(database.engine, spec).passed
    found = kanon_sql.certify(database.engine, spec, tmp_path / "certificate")
    assert (found.problems, found.not_certified) == ([], [])
    assert says(tmp_path / "certificate", database) == (True, [])
    database.connection.execute(change)
    verified, failed = says(tmp_path / "certificate", database)
    assert not verified
    assert any("every column beside a label" in line for line in failed), failed


@pytest.mark.slow
def test_a_source_whose_rows_swap_values_is_another(database: Database, tmp_path: Path) -> None:
    """Those of two suppressed rows, so that no column and no released class tells it."""
    database.table("people", COLUMNS, [*people(), ("Bob Only", 3, "22222", "lonely", "another", 1)])
    spec = spec_of()
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert kanon_sql.certify(database.engine, spec, tmp_path / "certificate").passed
    swap = "UPDATE people SET cost = CASE WHEN cost = 1 THEN 987654 ELSE 1 END WHERE sex = 'lonely'"
    database.connection.execute(swap)
    verified, failed = says(tmp_path / "certificate", database)
    assert not verified
    assert ["the source is the one" in line for line in failed] == [True]


def test_texts_that_hold_the_signs_between_texts_are_told_apart(database: Database, tmp_path: Path) -> None:
    """Kept values of two rows of local recoding, swapped: joined by a sign that they hold, they would be one text."""
    kinds = {"age": "INTEGER", "one": "VARCHAR", "other": "VARCHAR"}
    rows = [(20 + n // 3 * 30, "a/vb" if n == 0 else "a", "c" if n == 0 else "b/vc") for n in range(6)]
    database.table("people", kinds, rows)
    spec = spec_of(
        quasi_identifiers={"age": {"intervals": [10]}}, identifiers=[], sensitive=[], keep=["one", "other"],
        privacy=[{"k_anonymity": 3}], recoding="local",
    )  # fmt: skip
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert kanon_sql.certify(database.engine, spec, tmp_path / "certificate").passed
    ((before, age),) = database.connection.execute("SELECT rowid, age FROM released WHERE one = 'a/vb'").fetchall()
    ((after,),) = database.connection.execute(f"SELECT MIN(rowid) FROM released WHERE age <> '{age}'").fetchall()
    database.connection.execute(f"UPDATE released SET one = 'a', other = 'b/vc' WHERE rowid = {before}")
    database.connection.execute(f"UPDATE released SET one = 'a/vb', other = 'c' WHERE rowid = {after}")
    assert not says(tmp_path / "certificate", database)[0]


def test_what_a_certificate_says_is_one_line(certified: tuple[Database, Path]) -> None:
    """A name or a word of it that goes on in a line of its own could say that all holds, or hide what does not."""
    database, directory = certified
    kept = {name: (directory / name).read_bytes() for name in ("certificate.json", "certificate.sha256")}
    content = json.loads(kept["certificate.json"])
    content["claims"][1]["says"] = "nothing\nOK      all \x1b[2K\u202e claims hold"
    said: list[str] = []
    try:
        forged(directory, content)
        verify(directory, database.connection, say=said.append)
    finally:
        for name, text in kept.items():
            (directory / name).write_bytes(text)
    assert "OK      nothing?OK      all ?[2K? claims hold" in said
    assert all(line.isprintable() for line in said)


@pytest.mark.slow
def test_the_spec_is_that_of_the_manifest_in_the_database(certified: tuple[Database, Path]) -> None:
    """Who writes another one into the JSON, with another digest, and nothing else."""
    database, directory = certified
    kept = {name: (directory / name).read_bytes() for name in ("certificate.json", "certificate.sha256")}
    content = json.loads(kept["certificate.json"])
    spec = {**content["spec"], "privacy": [{"k_anonymity": {"k": 50}}, content["spec"]["privacy"][1]]}
    try:
        forged(directory, {**content, "spec": spec})
        verified, failed = says(directory, database)
    finally:
        for name, text in kept.items():
            (directory / name).write_bytes(text)
    assert (verified, ["its spec and rows are those" in line for line in failed]) == (False, [True])


OPEN = re.compile(
    r"made/(at|by|kanon_sql|engine)|claims/\d+/(part|says)|claims/1/must/[23]/2|provenance/source_columns/\d"
)
"""What nobody but the certificate says: who, when, and words; and looser limits, which its statement knows, too."""


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_every_field_that_is_forged_with_new_digests_is_caught(certified: tuple[Database, Path], step: int) -> None:
    """By the statements, the spec in the database, and the lattice; but for what the database knows nothing of.

    What a requirement asks is no such word: its statement says it, too.
    """
    database, directory = certified
    kept = {name: (directory / name).read_bytes() for name in ("certificate.json", "certificate.sha256")}
    content = json.loads(kept["certificate.json"])
    cursor = Replayed(database.connection)
    assert verify(directory, cursor, say=lambda line: None)
    numbered = [claim["id"] for claim in content["claims"]]
    assert numbered[1] == "counts"
    words = {f"claims/{numbered.index(name)}/says" for name in numbered if name.startswith("requirement_")}
    assert len(words) == 2
    asked = Counter[bool]()
    try:
        for place, path in enumerate(leaves(content)):
            name = "/".join(map(str, path))
            if place % step and re.match(r"files|spec/|setup|claims/\d+/(rows|columns|part)|provenance", name):
                continue
            forged(directory, tampered(content, path))
            expected = bool(OPEN.fullmatch(name)) and name not in words
            assert verify(directory, cursor, say=lambda line: None) == expected, name
            asked[expected] += 1
    finally:
        for name, text in kept.items():
            (directory / name).write_bytes(text)
    assert asked[False] > 400 / (1 + step / 3)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("search", [{}, {"algorithm": "samarati"}, {"aggregate": "maximum"}, {"metric": "precision"}])
def test_a_proof_is_about_what_the_spec_asks(database: Database, tmp_path: Path, search: dict[str, Any]) -> None:
    """Weights, levels and the limit are those of the spec and of the tables, by arithmetic; and nothing else."""
    quasi_identifiers = {
        "age": {"intervals": [5, 10, 20], "weight": 2, "maximum_level": 3}, "sex": None,
        "zip": {"prefix": [4, 3], "minimum_level": 1, "weight": 0.5},
    }  # fmt: skip
    spec = spec_of(quasi_identifiers=quasi_identifiers, search=search, privacy=[{"k_anonymity": 3}])
    released(database, spec)
    found = kanon_sql.certify(database.engine, spec, tmp_path / "certificate")
    assert found.passed, found.problems
    proof = found.content["optimality"]
    lattice = {key: proof[key] for key in ("columns", "heights", "minimum", "maximum", "limit", "weights")}
    assert lattice == {
        "columns": ["age", "sex", "zip"], "heights": [4, 1, 3], "minimum": [0, 0, 1], "maximum": [3, 1, 3],
        "limit": 6, "weights": [1.0, 1.0, 1.0] if search.get("algorithm") else [1.0, 0.5, 0.25],
    }  # fmt: skip
    rows_of = {claim["id"]: claim["rows"] for claim in found.claims}
    for key, other in {
        "columns": ["zip", "sex", "age"], "heights": [4, 1, 2], "minimum": [0, 0, 0], "maximum": [4, 1, 3], "limit": 7,
        "weights": [1.0, 1.0, 0.25], "best": [3, 1, 3], "metric": "average_class_size", "aggregate": "arithmetic_mean",
        "null_is_value": False, "says": "no node is better", "boundary_is_complete": not proof["boundary_is_complete"],
    }.items():  # fmt: skip
        if other != proof[key] and (key, other) != ("boundary_is_complete", False):
            assert list(check_lattice({**proof, key: other}, rows_of, found.content["spec"])), key


@pytest.mark.slow
def test_more_suppressed_rows_than_the_spec_allows_are_told_by_the_statement(
    database: Database, tmp_path: Path
) -> None:
    """Whatever the certificate says that must hold, and of its verdict."""
    spec = spec_of()
    released(database, spec)
    database.connection.execute("DELETE FROM released WHERE rowid IN (SELECT MIN(rowid) FROM released)")
    content = kanon_sql.certify(database.engine, spec, tmp_path).content
    claims = [{**claim, "must": []} for claim in content["claims"]]
    forged(tmp_path, {**content, "claims": claims, "problems": [], "verdict": "pass"})
    said: list[str] = []
    assert not verify(tmp_path, database.connection, say=said.append)
    assert any("exceeding is 1" in line for line in said), said


@pytest.mark.slow
def test_a_risk_above_the_spec_s_is_told_by_the_statement(database: Database, tmp_path: Path) -> None:
    """Of rows that nobody has in common."""
    spec = spec_of(privacy=[{"k_anonymity": 2}, {"risk": {"average": 0.33, "highest": 0.4, "records_at_risk": 0.02}}])
    released(database, spec)
    database.connection.execute("UPDATE released SET age = '[' || rowid || ', x)'")
    ((rows,),) = database.connection.execute("SELECT COUNT(*) FROM released").fetchall()
    content = kanon_sql.certify(database.engine, spec, tmp_path).content
    (risk,) = (claim["rows"] for claim in content["claims"] if claim["id"] == "requirement_1")
    assert risk[0][1:] == [rows, 1, 1, 1]


@pytest.mark.parametrize("dialect", [*verify_certificate.ENGINES, "another"])
def test_a_certificate_of_another_engine_than_the_connection_s_is_not_run(
    certified: tuple[Database, Path], dialect: str
) -> None:
    """An engine that reads a backslash in a text otherwise would run other statements than those looked at."""
    database, directory = certified
    content = json.loads((directory / "certificate.json").read_bytes())
    session = session_statements(SimpleNamespace(dialect=dialect_named(dialect))) if dialect != "another" else []  # type: ignore[arg-type]
    claimed = {**content, "session": session, "made": {**content["made"], "dialect": dialect}}
    own = {path: (directory / path).read_text().strip() for path in content["files"]}
    if dialect == "sqlite":
        with pytest.raises(duckdb.Error):
            list(verify_certificate.not_to_run(claimed, own, database.connection))
        return
    problems = list(verify_certificate.not_to_run(claimed, own, database.connection))
    assert any(f"about a database of {dialect}" in problem for problem in problems) == (
        dialect not in ("duckdb", "another")
    )


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "DROP TABLE people"),
        ("duckdb", "ATTACH 'other.db'"),
        ("duckdb", "COPY people TO '/tmp/x'"),
        ("duckdb", "SELECT 1; DROP TABLE people"),
        ("duckdb", r"SELECT E'\\'; DROP TABLE people; --'"),
        ("postgres", r"SELECT E'\'' ; DROP TABLE people; SELECT E'\''"),
        ("postgres", "WITH gone AS (DELETE FROM people RETURNING 1) SELECT 1"),
        ("postgres", "SELECT * INTO other FROM people"),
        ("postgres", "SELECT * FROM people FOR UPDATE"),
        ("postgres", "SELECT $$'$$; DROP TABLE people; SELECT $$'$$"),
        ("postgres", "SELECT U&'x'"),
        ("mariadb", "SELECT '\\'' INTO OUTFILE '/tmp/x'"),
        ("mariadb", "SELECT 1 /*! INTO OUTFILE '/tmp/x' */"),
        ("mariadb", 'SELECT "\\" INTO OUTFILE \'/tmp/x\' -- "'),
        ("spark", "SELECT r'\\' , 1 AS `'`"),
        ("clickhouse", "SELECT \u2018'\u2019; DROP TABLE people; SELECT \u2018'\u2019"),
        ("clickhouse", "SELECT \u201c'\u201d INTO OUTFILE \u2018/tmp/x\u2019 SETTINGS a = \u2018'\u2019"),
        ("clickhouse", "(SELECT 1) PARALLEL WITH RENAME TABLE people TO others"),
        ("clickhouse", "SELECT 1 AS a Parallel\nWith CREATE TABLE others ENGINE = Memory AS SELECT 1"),
        ("spark", "SELECT TRANSFORM (a) USING 'touch /tmp/x' AS (b STRING) FROM people"),
        ("spark", 'SELECT TRANSFORM (a) ROW FORMAT DELIMITED USING\n"touch /tmp/x" AS (b STRING) FROM people'),
        ("bigquery", """SELECT '\\'', 1; DROP TABLE people; SELECT "'" -- " """),
        ("mysql", """SELECT '\\'' INTO OUTFILE "/tmp/'" -- " """),
        ("sqlite", "SELECT '\\'; DROP TABLE people; --'"),
        ("sqlite", "SELECT 'x\0'"),
        ("sqlite", ""),
    ],
)
def test_a_statement_that_may_do_more_than_read_is_not_run(dialect: str, sql: str) -> None:
    assert verify_certificate.doing_more(sql, dialect) is not None


def test_the_name_of_a_table_ends_in_the_quote_that_it_begins_with() -> None:
    """Else what follows would be read with the quotes the other way around."""
    hidden = """CREATE TEMPORARY TABLE "kanon_00000000_certified_a` AS SELECT " AS SELECT 1; DROP TABLE x; --' " '" '"""
    plain = "CREATE TEMPORARY TABLE `kanon_00000000_certified_a` AS SELECT 1"
    found = [re.fullmatch(verify_certificate.SETUP, text, re.DOTALL) for text in (hidden, plain)]
    assert [text is None for text in found] == [True, False]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE people AS SELECT 1",
        'CREATE TEMPORARY TABLE "people" AS SELECT 1',
        'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" AS DELETE FROM people RETURNING 1',
        'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" AS SELECT 1; DROP TABLE people',
        'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" ("a" INTEGER)',
        'DROP TABLE IF EXISTS "kanon_0f40c2d2_certified_x"',
        "SELECT 1",
    ],
)
def test_a_setup_that_makes_no_table_of_the_session_from_a_query_is_not_run(sql: str) -> None:
    made = {"dialect": "duckdb"}
    settings = ["SET TimeZone = 'UTC'"]
    content = {"format": verify_certificate.FORMAT, "session": settings, "made": made, "setup": ["x"], "claims": [],
               "files": {}, "spec": {"privacy": []}, "optimality": None, "not_certified": []}  # fmt: skip
    problems = list(verify_certificate.not_to_run(content, {"x": sql}, SAYING_DUCKDB))
    assert any("may do more than read" in problem for problem in problems)
    good = 'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" AS\nSELECT 1'
    problems = list(verify_certificate.not_to_run(content, {"x": good}, SAYING_DUCKDB))
    assert not any("may do more than read" in problem or "known here" in problem for problem in problems)


@pytest.mark.parametrize("dialect", list(verify_certificate.ENGINES))
def test_the_settings_of_a_session_are_those_that_the_verifier_knows(dialect: str) -> None:
    """Its digest of them is of what a certificate holds; with one more, or one fewer, none is run."""
    settings = session_statements(SimpleNamespace(dialect=dialect_named(dialect)))  # type: ignore[arg-type]
    content = {"format": verify_certificate.FORMAT, "session": settings, "made": {"dialect": dialect}, "setup": [],
               "claims": [], "files": {}, "spec": {"privacy": []}, "optimality": None, "not_certified": []}  # fmt: skip
    for session in (settings, [*settings, "SET search_path = 'evil'"], [*settings[:-1], "SET schema = 'evil'"]):
        problems = list(verify_certificate.not_to_run({**content, "session": session}, {}, SAYING_DUCKDB))
        assert any("known here" in problem for problem in problems) == (session != settings)


def test_of_a_certificate_with_such_a_statement_nothing_is_run(certified: tuple[Database, Path]) -> None:
    """Nor of one that leaves something out, or that was changed."""
    database, directory = certified
    kept = {name: (directory / name).read_bytes() for name in ("certificate.json", "certificate.sha256")}
    content = json.loads(kept["certificate.json"])
    less = [claim for claim in content["claims"] if claim["id"] != "requirement_1"]
    changes: list[dict[str, Any]] = [
        {"session": ["DROP TABLE people"]}, {"claims": less}, {"optimality": None},
        {"claims": content["claims"][1:]}, {"claims": [*content["claims"], content["claims"][0]]},
        {"setup": ["sql/../certificate.json", *content["setup"]]}, {"format": "another"},
    ]  # fmt: skip
    try:
        for change in changes:
            forged(directory, {**content, **change})
            said: list[str] = []
            assert not verify(directory, database.connection, say=said.append), change
            assert said[-1] == "nothing of it was run, and no claim was looked at"
        (directory / "certificate.json").write_bytes(kept["certificate.json"] + b" ")
        assert not verify(directory, database.connection, say=said.append)
        assert said[-1] == "nothing of it was run, and no claim was looked at"
        forged(directory, {**content, "verdict": "fail"})
        assert not verify(directory, database.connection, say=said.append)
    finally:
        for name, text in kept.items():
            (directory / name).write_bytes(text)
    assert says(directory, database) == (True, [])


@pytest.mark.slow
def test_a_statement_that_the_database_refuses_is_no_claim_that_holds(database: Database, tmp_path: Path) -> None:
    spec = spec_of()
    released(database, spec)
    assert kanon_sql.certify(database.engine, spec, tmp_path / "certificate").passed
    database.connection.execute("DROP TABLE kanon_sql_manifest")
    verified, failed = says(tmp_path / "certificate", database)
    assert not verified
    assert any("this manifest" in line for line in failed)
    database.connection.execute("DROP TABLE released")
    assert not says(tmp_path / "certificate", database)[0]


def test_the_verifier_opens_files_to_read_them(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "clinic.duckdb") as made:
        made.execute("CREATE TABLE people (age INTEGER)")
    with sqlite3.connect(tmp_path / "clinic.db") as lite:
        lite.execute("CREATE TABLE people (age INTEGER)")
    lite.close()
    for dialect, name in (("duckdb", "clinic.duckdb"), ("sqlite", "clinic.db")):
        cursor = open_database.cursor_of(dialect, str(tmp_path / name))
        cursor.execute("CREATE TEMPORARY TABLE own AS SELECT * FROM people")
        with pytest.raises((duckdb.Error, sqlite3.Error)):
            cursor.execute("DROP TABLE main.people")
    with pytest.raises(duckdb.Error):
        open_database.cursor_of("duckdb", str(tmp_path / "clinic.duckdb")).execute("SELECT * FROM read_text('key.pem')")


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
    assert "an estimate" in model["why"]
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


def test_the_verifier_is_short_and_imports_nothing_of_ours() -> None:
    assert len(VERIFIER.read_text().splitlines()) <= 300
    imported = {
        name.split(".")[0]
        for path in (VERIFIER, Path(open_database.__file__))
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert imported <= set(sys.stdlib_module_names)


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


def test_refusals(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of()
    released(database, spec)
    engine = database.engine

    def refusal(changed: Spec = spec, out: Path = tmp_path / "certificate", **options: Any) -> str:
        with pytest.raises((SpecError, UnsupportedError)) as caught:
            kanon_sql.certify(engine, changed, out, **options)
        return str(caught.value)

    assert "certify is about a release" in refusal(spec_of(release=None))
    assert "published by another spec" in refusal(spec_of(keep=[]))
    assert "needs the name of a table" in refusal(spec_of(release={"file": "x.csv"}))
    sample = {"sample": {"fraction": 0.5, "by": "name"}}
    assert "who was drawn is decided by a secret" in refusal(spec_of(steps=sample))
    full = tmp_path / "full"
    full.mkdir()
    (full / "letter.txt").write_text("mine")
    assert "it holds other things" in refusal(out=full)
    assert "it is a file" in refusal(out=full / "letter.txt")
    (tmp_path / "bad.pem").write_text("no key")
    assert "it holds no such key" in refusal(sign=tmp_path / "bad.pem")
    assert "expected an Ed25519 private key" in refusal(sign=tmp_path / "none.pem")
    other = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "other.pem").write_bytes(other)
    assert "a key of another kind" in refusal(sign=tmp_path / "other.pem")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    assert 'pip install ".[certify]"' in refusal(sign=tmp_path / "other.pem")
    database.connection.execute("CREATE OR REPLACE TABLE released AS SELECT * FROM people")
    assert "bears the mark of no run" in refusal()
    dp = {"epsilon": 1, "delta": 0.01, "generalization": {"age": 1, "zip": 1, "sex": 0}}
    private = Spec.from_dict(
        {
            **{key: SPEC[key] for key in ("version", "source", "release")}, "ledger": "spent",
            "quasi_identifiers": {"age": {"intervals": [5]}, "zip": {"prefix": [4]}, "sex": None},
            "privacy": [{"differential_privacy": dp}],
        }
    )  # fmt: skip
    assert "a property of how releases are made" in refusal(private)
    assert not (tmp_path / "certificate").exists()
    with kanon_sql.connect(database.connection, scratch="inline") as inline, pytest.raises(UnsupportedError) as caught:
        kanon_sql.certify(inline, spec, tmp_path / "certificate")
    assert "tables of the session" in str(caught.value)


def test_a_missing_key_is_told_before_anything_is_read(clinic: Path) -> None:
    message = refused(
        run("release", "certify", "spec.yml", "-d", "clinic.duckdb", "-o", "proof", "--sign", "none.pem"), 2
    )
    assert "--sign none.pem" in message
