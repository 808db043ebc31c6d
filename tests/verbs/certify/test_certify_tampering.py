"""``certify``: whatever is tampered with, in a certificate, a release or its source, is caught."""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.verbs.certify import verify_certificate
from kanon_sql.verbs.certify.verify_certificate import check_lattice, verify
from tests.conftest import Database
from tests.support.certificates import COLUMNS, VERIFIER, forged, people, released, says, spec_of


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_a_changed_cell_of_the_release_is_caught(database: Database, tmp_path: Path, recoding: str) -> None:
    assert_changed_cells_are_caught(database, tmp_path / "certificate", recoding, 6)


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["full_domain", "local"])
@pytest.mark.campaign_on("full_domain")
def test_every_changed_cell_of_the_release_is_caught(database: Database, tmp_path: Path, recoding: str) -> None:
    assert_changed_cells_are_caught(database, tmp_path / "certificate", recoding, None)


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ("DELETE FROM released WHERE rowid = 3", "the rows of the source are those of the release"),
        (
            "INSERT INTO released SELECT * FROM released WHERE rowid = 3",
            "each class of the release has exactly the rows",
        ),
        ("UPDATE released SET age = '[20, 25)'", "each class of the release has exactly the rows"),
        ("UPDATE released SET zip = '123**'", "every cell of a quasi-identifier is a label"),
        ("UPDATE released SET cost = cost + 1", "each class of the release has exactly the rows"),
        ("ALTER TABLE released ADD COLUMN name VARCHAR", "the release has exactly these columns"),
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


@pytest.mark.slow
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
    assert any("every computed column agrees with its label" in line for line in failed), failed


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


@pytest.mark.slow
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


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.campaign)])
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


@pytest.mark.slow
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
