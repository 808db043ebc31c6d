"""``certify`` for several tables: figures that brute force confirms, and whatever is tampered with is caught."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.cli import app
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.verbs.certify.verify_certificate import verify
from tests.conftest import Database
from tests.oracles.relations import fewest_sharing, fewest_values, largest_share
from tests.servers import subject_of
from tests.support.certificates import where

SPEC: dict[str, Any] = {
    "version": 1,
    "person": {
        "table": "people",
        "name": "r_people",
        "key": "id",
        "quasi_identifiers": {
            "age": {"intervals": [20], "maximum_level": 1},
            "sex": {"tree": {"any": ["f", "m"]}, "maximum_level": 0},
        },
        "sensitive": ["illness"],
    },
    "tables": {
        "r_stays": {
            "table": "stays",
            "key": ["hospital", "nr"],
            "person": "who",
            "quasi_identifiers": {"ward": {"prefix": [1]}},
            "sensitive": ["result"],
            "keep": ["cost"],
        },
        "r_drugs": {
            "table": "drugs",
            "parent": "r_stays",
            "by": ["hospital", "stay"],
            "quasi_identifiers": {"drug": {"prefix": [1], "maximum_level": 1}},
        },
    },
    "items": {"r_codes": {"table": "person", "column": "codes", "split": ";", "hierarchy": {"maximum_level": 0}}},
    "privacy": [
        {"km_anonymity": {"k": 3, "m": 1}},
        {"coherence": {"h": 0.9}},
        {"l_diversity": {"attribute": "illness", "l": 2}},
        {"t_closeness": {"attribute": "illness", "t": 0.6}},
    ],
    "recoding": "full_domain",
    "suppression": {"max_persons": 0.5},
    "warnings": {"kept_reveals_quasi_identifier": "warn"},
}
COLUMNS = {
    "people": {"id": "text", "age": "integer", "sex": "text", "illness": "text", "codes": "text"},
    "stays": {"hospital": "text", "nr": "integer", "who": "text", "ward": "text", "result": "text", "cost": "integer"},
    "drugs": {"hospital": "text", "stay": "integer", "drug": "text"},
}


def rows(persons: int = 24) -> dict[str, list[tuple[Any, ...]]]:
    """Persons with one or two stays each, some with a drug, and one of whom all is rare."""
    people = [
        (f"p{n}", 20 + 10 * (n % 3), "fm"[n % 2], ("flu", "cold", None)[n % 3], f"kk;b{n % 2}") for n in range(persons)
    ]
    stays = [
        (f"h{n % 2}", 100 + n, f"p{n % persons}", f"w{n // 2 % 2}", ("good", "bad", None)[n // 3 % 3], n % 4)
        for n in range(2 * persons - 3)
    ]
    drugs = [(f"h{n % 2}", 100 + n, f"d{n % 2}") for n in range(0, 2 * persons - 3, 2)]
    return {
        "people": [*people, ("rare", 99, "f", "unheard-of", "z9")],
        "stays": [*stays, ("h0", 999, "rare", "x7", "strange", 987654)],
        "drugs": drugs,
    }


def made(subject: Any, **changes: Any) -> RelationalSpec:
    """The source tables, and a spec of them."""
    for name, content in rows().items():
        subject.table(name, COLUMNS[name], content)
    return RelationalSpec.from_dict({**SPEC, "release": {"schema": "released"}, **changes})


def answers(directory: Path, cursor: Any) -> tuple[bool, list[str]]:
    """Whether the verifier is content, and the claims that it is not content with."""
    said: list[str] = []
    verified = verify(directory, cursor, say=said.append)
    return verified, [line.removeprefix("FAILED  ") for line in said if line.startswith("FAILED")]


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database, a release in it, and the release's certificate."""
    folder = tmp_path_factory.mktemp("tables")
    with duckdb.connect(str(folder / "c.duckdb")) as connection:
        connection.execute("CREATE SCHEMA released")
        database = Database(connection)
        spec = made(database)
        result = kanon_sql.anonymize(database.engine, spec)
        assert result.passed, result.message
        found = kanon_sql.certify(database.engine, spec, folder / "certificate")
        assert found.passed, found.problems
    return folder


@pytest.fixture
def world(certified: Path, tmp_path: Path) -> Iterator[tuple[Any, Path]]:
    """A copy of it: a connection, and the certificate."""
    shutil.copytree(certified, tmp_path, dirs_exist_ok=True)
    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        yield connection, tmp_path / "certificate"


def released(subject: Any, schema: str, tables: list[tuple[str, str]]) -> list[Any]:
    prefix = "" if schema == "main" else f"{schema}."
    return [subject.fetch(f"SELECT {columns} FROM {prefix}{name}") for name, columns in tables]


@pytest.mark.parametrize(
    ("name", "recoding", "m"),
    [
        ("duckdb", "full_domain", 2),
        *(
            pytest.param(name, recoding, m, marks=pytest.mark.slow)
            for name, recoding, m in (
                ("postgres", "full_domain", 1),
                ("sqlite", "local", 1),
                ("postgres", "local", 1),
                ("mariadb", "full_domain", 1),
                ("mariadb", "local", 1),
                ("clickhouse", "full_domain", 1),
                ("clickhouse", "local", 1),
                ("spark", "full_domain", 1),
            )
        ),
    ],
)
def test_its_figures_are_those_of_brute_force(name: str, recoding: str, m: int, tmp_path: Path) -> None:
    with subject_of(name) as subject:
        schema = "main" if name == "sqlite" else "released"
        if name != "sqlite":
            subject.schema(schema)
        privacy = [{"km_anonymity": {"k": 3, "m": m}}, *SPEC["privacy"][1:]]
        limits = {"max_persons": 0.5, **({"max_rows": 0.2} if recoding == "local" else {})}
        place = {"schema": schema, "publish": "in_steps"}
        spec = made(subject, recoding=recoding, privacy=privacy, suppression=limits, release=place)
        with subject.connect() as engine:
            result = kanon_sql.anonymize(engine, spec)
            assert result.passed, result.message
            found = kanon_sql.certify(engine, spec, tmp_path)
        assert found.passed, found.problems
        persons, stays, drugs, codes = released(
            subject,
            schema,
            [
                ("r_people", "id, age, sex"),
                ("r_stays", "hospital_nr, who, ward"),
                ("r_drugs", "NULL, hospital_stay, drug"),
                ("r_codes", "NULL, id, codes"),
            ],
        )
        below = {"stays": ("person", stays), "drugs": ("stays", drugs), "codes": ("person", codes)}
        ill, results = released(
            subject, schema, [("r_people", "id, age, sex, illness"), ("r_stays", "hospital_nr, result")]
        )
        by_key = dict(results)
        held = {
            name: (above, [(*row, by_key[row[0]] if name == "stays" else None) for row in content])
            for name, (above, content) in below.items()
        }
        claims = {claim["id"]: claim["rows"] for claim in found.claims}
        assert claims["requirement_0"][0][3] == fewest_sharing(persons, below, m)
        assert claims["requirement_0"][0][2] == 0
        assert Fraction(claims["requirement_1"][0][3]).limit_denominator(10_000) == largest_share(ill, held, m)
        assert claims["requirement_2"][0][3] == fewest_values(ill)
        assert {row[0]: row[1:3] for row in claims["counts"]} == {
            "person": [25, len(persons)], "r_stays": [46, len(stays)], "r_drugs": [23, len(drugs)],
            "r_codes": [None, len(codes)],
        }  # fmt: skip
        assert sum(row[2] for row in claims["cells"]) == 2 * len(persons) + len(stays) + len(drugs)
        assert answers(tmp_path, where(name, subject)) == (True, [])
        drugs = f"{'' if schema == 'main' else 'released.'}r_drugs"
        subject.execute(f"INSERT INTO {drugs} SELECT * FROM {drugs}")
        verified, failed = answers(tmp_path, where(name, subject))
        assert not verified
        assert any(line.startswith("the rows of the released tables") for line in failed)


TAMPERED = {
    "a label that is another one of its hierarchy": (
        "UPDATE released.r_stays SET ward = CASE ward WHEN 'w' THEN '*' ELSE 'w' END "
        "WHERE hospital_nr = (SELECT MIN(hospital_nr) FROM released.r_stays)",
        {"the rows of the released tables"},
    ),
    "a label of nothing": ("UPDATE released.r_people SET age = 'old' WHERE id = 1", {"every cell", "the rows of"}),
    "a kept value": ("UPDATE released.r_stays SET cost = 987654", {"each combination of the values", "the rows of"}),
    "a row that is added": (
        "INSERT INTO released.r_stays SELECT 1000, 1, ward, result, cost FROM released.r_stays LIMIT 1",
        {"the rows of the released tables", "its spec and rows are those"},
    ),
    "a row that is taken out": (
        "DELETE FROM released.r_codes WHERE id = 1", {"the rows of the released tables", "its spec and rows are those"},
    ),
    "a row below no other": ("UPDATE released.r_drugs SET hospital_stay = -1 "
        "WHERE hospital_stay = (SELECT MIN(hospital_stay) FROM released.r_drugs)", {"each released row"}),
    "a key of two rows": ("UPDATE released.r_people SET id = 1 WHERE id = 2", {"each released row"}),
    "rows of one person that are another's": (
        "UPDATE released.r_stays SET who = 3 WHERE who = 2", {"km_anonymity", "the rows of the released tables"},
    ),
    "a table in the place of another": (
        "ALTER TABLE released.r_stays RENAME TO old; CREATE TABLE released.r_stays AS SELECT hospital_nr, "
        "(who + 5) % 20 + 1 AS who, ward, result, cost FROM released.old",
        {"km_anonymity", "the rows of the released tables"},
    ),
    "tables that change their names": (
        "ALTER TABLE released.r_stays RENAME TO tmp; ALTER TABLE released.r_drugs RENAME TO r_stays; "
        "ALTER TABLE released.tmp RENAME TO r_drugs",
        {"its tables are made"},
    ),
    "a column more": ("ALTER TABLE released.r_drugs ADD COLUMN patient INTEGER", {"released.r_drugs has exactly"}),
    "a source that is another": ("UPDATE drugs SET drug = 'd1' WHERE stay = 100", {"the source tables"}),
    "a list in the source": ("UPDATE people SET codes = 'kk;b7' WHERE id = 'p3'", {"the source tables"}),
    "the manifest": (
        "UPDATE released.kanon_sql_manifest SET manifest = replace(manifest, 'true', 'false')",
        {"the database has this manifest"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERED)
def test_what_is_tampered_with_is_caught(what: str, world: tuple[Any, Path]) -> None:
    connection, directory = world
    sql, expected = TAMPERED[what]
    for statement in sql.split("; "):
        connection.execute(statement)
    verified, failed = answers(directory, connection)
    assert not verified
    for start in expected:
        assert any(line.startswith(start) for line in failed), (start, failed)


def test_it_holds_no_value(world: tuple[Any, Path]) -> None:
    """Neither of the source nor of the release, in whatever file; and the verifier is content."""
    connection, directory = world
    assert answers(directory, connection) == (True, [])
    text = "".join(path.read_text("utf-8") for path in directory.rglob("*") if path.suffix in (".json", ".sql"))
    assert not re.search(r"unheard-of|strange|987654|\bflu\b|'h0'|\bp3\b|\bkk\b|\bw0\b", text)


def test_a_certificate_of_a_weaker_promise_is_not_believed(world: tuple[Any, Path]) -> None:
    """Who changes figures and the digest is found out by the statements, and by the manifest."""
    import hashlib

    connection, directory = world
    content = json.loads((directory / "certificate.json").read_text("utf-8"))
    shared = next(claim for claim in content["claims"] if claim["id"] == "requirement_0")
    counts = next(claim for claim in content["claims"] if claim["id"] == "counts")
    for change in ("fewest", "spec", "rows"):
        forged = json.loads(json.dumps(content))
        if change == "fewest":
            place = content["claims"].index(shared)
            forged["claims"][place]["rows"][0][3] += 1
        elif change == "spec":
            forged["spec"]["privacy"][0]["km_anonymity"]["k"] = 9
        else:
            forged["claims"][content["claims"].index(counts)]["rows"][1][2] += 1
        text = json.dumps(forged, indent=1, sort_keys=True) + "\n"
        (directory / "certificate.json").write_text(text)
        (directory / "certificate.sha256").write_text(hashlib.sha256(text.encode()).hexdigest() + "\n")
        assert not answers(directory, connection)[0], change


@pytest.mark.slow
def test_whole_sets_are_named_as_not_certified(tmp_path: Path) -> None:
    with subject_of("duckdb") as subject:
        subject.execute("CREATE SCHEMA released")
        privacy = [{"km_anonymity": {"k": 2, "m": "all"}}, {"coherence": {"h": 1, "m": 1}}]
        person = {**SPEC["person"], "sensitive": [], "keep": ["illness"]}
        spec = made(subject, privacy=privacy, person=person)
        with subject.connect() as engine:
            assert kanon_sql.anonymize(engine, spec).passed
            found = kanon_sql.certify(engine, spec, tmp_path)
        assert found.passed, found.problems
        assert "km_anonymity (k = 2, m = all)" in [item["what"] for item in found.not_certified]
        assert answers(tmp_path, subject.connection) == (True, [])


def test_what_is_refused(world: tuple[Any, Path], tmp_path: Path) -> None:
    connection, _ = world
    engine, folder = Database(connection).engine, tmp_path / "refused"
    spec = RelationalSpec.from_dict({**SPEC, "release": {"schema": "released"}})
    other = RelationalSpec.from_dict({**spec.to_dict(), "suppression": {"max_persons": 0.4}})
    with pytest.raises(SpecError, match="published by another spec"):
        kanon_sql.certify(engine, other, folder)
    with pytest.raises(SpecError, match="whole-boundary"):
        kanon_sql.certify(engine, spec, folder, whole_boundary=True)
    with pytest.raises(SpecError, match="release: missing"):
        kanon_sql.certify(engine, RelationalSpec.from_dict(SPEC), folder)
    untrue = {**SPEC["person"], "keep": [], "shift": ["birth"]}
    lists = {"r_codes": {"table": "person", "column": "codes"}}
    for changes, why in (({"person": untrue}, "untrue on purpose"), ({"items": lists}, "a column of lists")):
        with pytest.raises(KanonError, match=why):
            kanon_sql.certify(engine, RelationalSpec.from_dict({**spec.to_dict(), **changes}), folder)
    connection.execute("CREATE TABLE released.copy AS FROM released.r_drugs")
    connection.execute("DROP TABLE released.r_drugs")
    with pytest.raises(KanonError, match="r_drugs"):
        kanon_sql.certify(engine, spec, folder)
    connection.execute("ALTER TABLE released.copy RENAME TO r_drugs")
    with pytest.raises(SpecError, match="r_drugs has no run mark"):
        kanon_sql.certify(engine, spec, folder)
    assert not folder.exists()


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    path = str(tmp_path / "c.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA released")
        made(Database(connection))
    spec_file = tmp_path / "t.yml"
    spec_file.write_text(json.dumps({**SPEC, "release": {"schema": "released"}}))
    for words in (
        ["anonymize", str(spec_file), "-d", path],
        ["release", "certify", str(spec_file), "-d", path, "-o", str(tmp_path / "cert"), "--by", "the data office"],
    ):
        run = CliRunner().invoke(app, words)
        assert run.exit_code == 0, run.output
    assert "certified released.r_people and 3 tables below it by" in " ".join(run.output.split())
