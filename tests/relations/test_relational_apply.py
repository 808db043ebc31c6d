"""``apply`` for several tables: the levels of an earlier release, a release that satisfies by itself, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.cli import app
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.oracles.relations import fewest_sharing
from tests.servers import subject_of
from tests.support.relations import ENGINES

RELEASED_IN_MAY = "SELECT COUNT(*) FROM duckdb_tables() WHERE schema_name = 'may' AND table_name LIKE 'r_%'"


def spec_of(month: str, schema: str = "", **more: Any) -> RelationalSpec:
    """The tables of a month, released in a schema of its name."""
    content = {
        "version": 1,
        "person": {
            "table": f"people_{month}", "name": "r_people", "key": "id",
            "quasi_identifiers": {"age": {"intervals": [10, 20]}},
        },
        "tables": {
            "r_stays": {
                "table": f"stays_{month}", "key": "nr", "person": "who", "quasi_identifiers": {"ward": {"prefix": [1]}},
            },
            "r_drugs": {
                "table": f"drugs_{month}", "parent": "r_stays", "by": "stay", "quasi_identifiers": {"drug": {}},
            },
        },
        "privacy": [{"km_anonymity": {"k": 3, "m": 1}}],
        "recoding": "full_domain",
        "suppression": {"max_persons": 0.3},
        "release": {"schema": schema or month, "publish": "in_steps"},
        **more,
    }  # fmt: skip
    return RelationalSpec.from_dict(content)


def fill(subject: Any, month: str, persons: int, first: int = 0, wards: Mapping[int, str] | None = None) -> None:
    """Ages that differ by less than ten, and stays on two wards but for some."""
    numbers = range(first, first + persons)
    people = [(n, 20 + n % 3) for n in numbers]
    stays = [(n, n % persons + first, (wards or {}).get(n, f"w{n % 2}")) for n in range(2 * persons)]
    drugs = [(n, f"d{n % 2}") for n in range(0, 2 * persons, 3)]
    subject.table(f"people_{month}", {"id": "integer", "age": "integer"}, people)
    subject.table(f"stays_{month}", {"nr": "integer", "who": "integer", "ward": "text"}, stays)
    subject.table(f"drugs_{month}", {"stay": "integer", "drug": "text"}, drugs)


def april_and_may(subject: Any) -> None:
    """Two months; wards of April are rare, so that its release has them on the level above."""
    fill(subject, "april", 18, wards={5: "w7"})
    fill(subject, "may", 24, 100, wards={4: "x1", 28: "x1"})
    for month in ("april", "may"):
        subject.schema(month)


@pytest.fixture
def subject() -> Iterator[Subject]:
    with subject_of("duckdb") as made:
        april_and_may(made)
        with made.connect() as engine:
            assert kanon_sql.anonymize(engine, spec_of("april", suppression={"max_persons": 0})).passed
        yield made


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_new_rows_get_the_levels_of_the_earlier_release(name: str) -> None:
    with subject_of(name) as subject:
        april_and_may(subject)
        with subject.connect() as engine:
            april = kanon_sql.anonymize(engine, spec_of("april", suppression={"max_persons": 0}))
            assert april.passed, april.message
            assert april.node is not None
            assert april.node["r_stays"] == {"ward": 1}
            result = kanon_sql.apply(engine, spec_of("may"), "april.r_people")
        assert result.passed, result.message
        assert (result.verb, result.node) == ("apply", april.node)
        persons = subject.fetch("SELECT id, age FROM may.r_people")
        stays = subject.fetch("SELECT nr, who, ward FROM may.r_stays")
        drugs = subject.fetch("SELECT 0, stay, drug FROM may.r_drugs")
        assert len(persons) == 24 - result.left_out
        assert result.left_out >= 1  # x is the ward of one person
        assert {ward for _, _, ward in stays} == {"w*"}
        fewest = fewest_sharing(persons, {"stays": ("person", stays), "drugs": ("stays", drugs)}, 1)
        assert fewest is not None
        assert fewest >= 3
        assert {table: found["released"] for table, found in result.tables.items()} == {
            "person": 23, "r_stays": 46, "r_drugs": 16,
        }  # fmt: skip
        assert result.manifest is not None
        assert result.manifest["spec_hash"] == spec_of("may").hash
        assert any("whether a person is in both is not known" in note for note in result.notes)


def test_nothing_is_published_where_too_many_would_be_left_out(subject: Any) -> None:
    with subject.connect() as engine:
        result = kanon_sql.apply(engine, spec_of("may", suppression={"max_persons": 0}), "april.r_people")
    assert not result.passed
    assert "at the levels of april.r_people more than the limit of 0 persons" in result.message
    assert subject.fetch(
        "SELECT COUNT(*) FROM duckdb_tables() WHERE schema_name = 'may' AND table_name LIKE 'r_%'"
    ) == [(0,)]


def test_names_with_a_dot_are_those_of_the_earlier_release() -> None:
    with subject_of("duckdb") as subject:
        april_and_may(subject)

        def dotted(month: str, schema: str) -> RelationalSpec:
            content = spec_of(month, schema).to_dict()
            content["person"]["name"] = "r.people"
            content["tables"]["r.stays"] = content["tables"].pop("r_stays")
            content["tables"]["r_drugs"]["parent"] = "r.stays"
            return RelationalSpec.from_dict(content)

        with subject.connect() as engine:
            april = kanon_sql.anonymize(engine, dotted("april", "april"))
            assert april.passed
            assert april.manifest is not None
            assert april.manifest["tables"]["person"] == 'april."r.people"'
            with pytest.raises(SpecError, match="would be replaced"):
                kanon_sql.apply(engine, dotted("may", "april"), 'april."r.people"')
            content = dotted("may", "april").to_dict()
            content["person"]["name"] = "others"
            with pytest.raises(SpecError, match="would be replaced"):
                kanon_sql.apply(engine, RelationalSpec.from_dict(content), 'april."r.people"')
            result = kanon_sql.apply(engine, dotted("may", "may"), 'april."r.people"')
            assert result.passed, result.message


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
@pytest.mark.parametrize("replaced", [False, True])
def test_persons_of_both_releases_stop_it_where_keys_say_so(
    name: str, replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether their keys are those of rows, or of values that other tables have too."""
    monkeypatch.setenv("KEY_OF_RELEASES", "a secret of this test, long enough")
    keys = {"secret": "env:KEY_OF_RELEASES"}
    with subject_of(name) as subject:
        for month, first in (("april", 0), ("may", 8), ("june", 100)):
            fill(subject, month, 9, first)
            subject.schema(month)

        def secret(month: str) -> RelationalSpec:
            spec = spec_of(month, release={"schema": month, "keys": keys, "publish": "in_steps"}).to_dict()
            if replaced:
                first = {"april": 0, "may": 8, "june": 100}[month]
                mails = [(n, n) for n in range(first, first + 9)]
                subject.table(f"mails_{month}", {"who": "integer", "id": "integer"}, mails)
                spec["tables"]["r_mails"] = {"table": f"mails_{month}", "person": "who", "replace": ["id"]}
            return RelationalSpec.from_dict(spec)

        april, may, june = map(secret, ("april", "may", "june"))
        with subject.connect() as engine:
            assert kanon_sql.anonymize(engine, april).passed
            result = kanon_sql.apply(engine, may, "april.r_people")
            assert not result.passed
            assert "1 persons are in april.r_people too" in result.message
            assert engine.exists(("may", "r_people")) is None
            result = kanon_sql.apply(engine, june, "april.r_people")
            assert result.passed, result.message
            assert any("no key of a person is in both" in note for note in result.notes)
            random = RelationalSpec.from_dict({**may.to_dict(), "release": spec_of("may").to_dict()["release"]})
            result = kanon_sql.apply(engine, random, "april.r_people")
            assert any("is not known" in note for note in result.notes)


def test_another_table_of_the_release_does_not_stand_for_its_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own keys nobody would be found to be in both; nor would they by a name in other letters."""
    monkeypatch.setenv("KEY_OF_RELEASES", "a secret of this test, long enough")
    keys = {"secret": "env:KEY_OF_RELEASES"}
    with subject_of("duckdb") as subject:
        for month, first in (("april", 0), ("may", 8)):
            fill(subject, month, 9, first)
            subject.schema(month)
        april, may = (spec_of(month, release={"schema": month, "keys": keys}) for month in ("april", "may"))
        with subject.connect() as engine:
            assert kanon_sql.anonymize(engine, april).passed
            for table in ("april.r_stays", "april.r_drugs"):
                with pytest.raises(SpecError, match=r"not the released table of persons .*; give april.r_people"):
                    kanon_sql.apply(engine, may, table)
            result = kanon_sql.apply(engine, may, "APRIL.R_People")
            assert not result.passed
            assert "1 persons are in" in result.message


def test_what_is_refused(subject: Any) -> None:
    may = spec_of("may")
    with subject.connect() as engine:
        for name, spec, why in (
            ("april.people", may, "no manifest of a release"),
            ("people_april", may, "no manifest of a release"),
            ("april.r_people", spec_of("may", recoding="local"), "write full_domain"),
            ("april.r_people", spec_of("may", schema="april"), "would be replaced"),
            ("april.r_people", spec_of("may", release=None), "release: missing"),
            ("april.r_people", spec_of("may", tables={"r_stays": may.to_dict()["tables"]["r_stays"]}), "r_drugs"),
            (
                "april.r_people",
                spec_of("may", person={**may.to_dict()["person"], "quasi_identifiers": {"age": {"intervals": [10]}}}),
                "person.quasi_identifiers",
            ),
        ):
            with pytest.raises(SpecError, match=why):
                kanon_sql.apply(engine, spec, name)
        assert kanon_sql.anonymize(engine, spec_of("april", recoding="local", suppression={"max_rows": 1.0})).passed
        with pytest.raises(SpecError, match="classes are not kept"):
            kanon_sql.apply(engine, may, "april.r_people")
    assert subject.fetch(
        "SELECT COUNT(*) FROM duckdb_tables() WHERE schema_name = 'may' AND table_name LIKE 'r_%'"
    ) == [(0,)]


def test_the_command(tmp_path: Path) -> None:
    path = str(tmp_path / "c.duckdb")
    with duckdb.connect(path) as connection:
        database = Database(connection)
        database.schema = lambda name: connection.execute(f"CREATE SCHEMA {name}")  # type: ignore[attr-defined]
        april_and_may(database)
    for month in ("april", "may"):
        (tmp_path / f"{month}.yml").write_text(json.dumps(spec_of(month).to_dict()))
    for words, code, text in (
        (["anonymize", f"{tmp_path}/april.yml"], 0, "PASS"),
        (["release", "apply", f"{tmp_path}/may.yml", "april.r_people", "--source", "x"], 2, "--source"),
        (["release", "apply", f"{tmp_path}/may.yml", "april.r_people"], 0, "at the levels of"),
        (
            ["release", "refresh", f"{tmp_path}/may.yml"],
            2,
            "release refresh: a release of several tables does not grow",
        ),
    ):
        run = CliRunner().invoke(app, [*words, "-d", path])
        assert run.exit_code == code, run.output
        assert text in run.output
    assert (tmp_path / "may.r_people.manifest.json").is_file()
