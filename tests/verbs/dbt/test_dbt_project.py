"""``kanon-sql pipeline dbt``: the files it writes, run as dbt would run them, make what ``anonymize`` makes."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from ruamel.yaml import YAML
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.verbs.dbt.project import DbtResult, dbt
from tests.conftest import Database, quoted
from tests.support.dbt_macros import CompilerError, Dbt, Relation
from tests.support.oracle_cases import Case, cases, load
from tests.support.strategies import VALUES, examples
from tests.verbs.dbt.test_dbt_macros import package

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "unit": "patient",
    "identifiers": ["ssn"],
    "quasi_identifiers": {"age": {"intervals": [10, 50]}, "sex": {"tree": {"any": ["f", "m"]}}},
    "sensitive": ["diagnosis"],
    "keep": ["charge"],
    "privacy": [
        {"k_anonymity": {"k": 2}},
        {"l_diversity": {"attribute": "diagnosis", "l": 2}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.7}},
    ],
    "suppression": {"max_share": 0.2},
}

ROWS = [
    (age, sex, diagnosis, charge, f"p{charge}", f"ssn {charge}")
    for charge, (age, sex, diagnosis) in enumerate(
        [
            (11, "f", "flu"), (12, "f", "cold"), (13, "f", "flu"), (14, "f", "ulcer"),
            (31, "m", "flu"), (32, "m", "cold"), (33, "m", "cold"), (34, "m", "flu"),
            (77, "m", "ulcer"), (12, "f", "cold"),
        ]
    )
]  # fmt: skip
"""One man is alone in his class, at every level below the top."""

TYPES = {
    "age": "INTEGER",
    "sex": "VARCHAR",
    "diagnosis": "VARCHAR",
    "charge": "INTEGER",
    "patient": "VARCHAR",
    "ssn": "VARCHAR",
}


def project_in(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dbt_project.yml").write_text("name: clinic\n")
    return folder


class Project:
    """A project's files, run over a DuckDB database as ``dbt build`` would."""

    def __init__(self, database: Database, result: DbtResult, which: str = "build") -> None:
        self.database = database
        self.dbt: Dbt = package(database, which=which)
        self.files = {path.stem: path for path in result.files if path.suffix == ".sql"}
        (properties,) = (path for path in result.files if path.suffix == ".yml")
        self.properties = YAML(typ="safe").load(properties.read_text())
        self.release = properties.stem
        for source in self.properties.get("sources", []):
            for table in source["tables"]:
                self.dbt.place(table["name"], quoted(table["name"]))
        for path in result.files:
            if path.suffix == ".csv":
                with path.open(encoding="utf-8", newline="") as file:
                    head, *rows = csv.reader(file)
                database.table(path.stem, head, rows)
            self.dbt.place(path.stem, quoted(path.stem))

    def build(self, name: str) -> None:
        sql = self.dbt.model(self.files[name].read_text())
        self.database.connection.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS {sql}")

    def build_all(self) -> None:
        for name in (f"{self.release}__labelled", f"{self.release}__candidate", self.release):
            self.build(name)

    def failures(self) -> dict[str, list[tuple[Any, ...]]]:
        """The failing tests with their rows, by model and test."""
        found = {}
        for kind in ("models", "seeds"):
            for node in self.properties.get(kind, []):
                for test in node.get("data_tests", []):
                    ((name, body),) = test.items() if isinstance(test, dict) else [(test, {"arguments": {}})]
                    arguments = {key: self._rendered(value) for key, value in body["arguments"].items()}
                    sql = self.dbt.test(name.removeprefix("kanon_sql."), Relation(quoted(node["name"])), **arguments)
                    rows = self.database.connection.execute(sql).fetchall()
                    if rows:
                        found[f"{node['name']}: {name}"] = rows
        return found

    def _rendered(self, value: Any) -> Any:
        reference = re.fullmatch(r"ref\('(.*)'\)", value) if isinstance(value, str) else None
        return Relation(quoted(reference.group(1))) if reference else value


@pytest.fixture
def clinic(database: Database) -> Database:
    database.table("visits", TYPES, ROWS)
    return database


def written(database: Database, tmp_path: Path, **changes: Any) -> DbtResult:
    result = dbt(database.engine, kanon_sql.Spec.from_dict({**SPEC, **changes}), project_in(tmp_path / "project"))
    assert result.plan.passed
    return result


# --- The same release -----------------------------------------------------------------------------


@pytest.mark.slow
@given(case=cases(max_nodes=12))
@examples(12)
def test_the_models_make_the_release_that_anonymize_makes(shared_database: Database, folder: Path, case: Case) -> None:
    for view in ("__labelled", "__candidate", ""):
        shared_database.connection.execute(f"DROP TABLE IF EXISTS people_release{view}")
    # dbt reads an empty cell of a seed as NULL, so that hierarchies with one are tables.
    assert "" in VALUES
    forms = {
        name: "table" if "" in hierarchy else case.forms[name] for name, hierarchy in case.problem.hierarchies.items()
    }
    spec = load(shared_database, folder, replace(case, style="drop", forms=forms))
    project = project_in(folder / "project")
    result = dbt(shared_database.engine, spec, project)
    anonymized = kanon_sql.anonymize(shared_database.engine, spec)
    event(anonymized.verdict)
    assert result.plan.verdict == anonymized.verdict
    if not anonymized.passed:
        assert result.files == ()
        return
    assert result.plan.node == anonymized.node
    expected = Counter(shared_database.rows("people_release"))
    run = Project(shared_database, result)
    run.build_all()
    assert run.failures() == {}
    assert Counter(shared_database.rows("people_release")) == expected
    names = [*case.problem.hierarchies, *case.problem.sensitive, "serial"]
    assert sorted(shared_database.columns("people_release")) == sorted(names)


@pytest.mark.slow
def test_rules_are_sql_and_no_value_is_written_to_disk(database: Database, tmp_path: Path) -> None:
    rows = [(1000 + n % 4, f"Qwyjibo{n % 2}", f"19{70 + n % 3}-0{1 + n % 2}-11", 3.5) for n in range(24)]
    types = {"age": "INTEGER", "zip": "VARCHAR", "born": "DATE", "weight": "DOUBLE"}
    database.table("visits", types, rows)
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": {
                "age": {"intervals": [2, 4], "minimum_level": 1},
                "zip": {"prefix": [3], "minimum_level": 1},
                "born": {"dates": ["month", "year"], "minimum_level": 2},
                "weight": {"sql": ["floor(x)", "'{{ 1 }} {% or %} {# not #}'"], "minimum_level": 2, "maximum_level": 2},
            },
            "privacy": [{"k_anonymity": 2}],
        }
    )
    result = dbt(database.engine, spec, project_in(tmp_path))
    assert [path.suffix for path in result.files] == [".sql", ".sql", ".sql", ".yml"]
    everything = "".join(path.read_text() for path in result.files)
    for value in ("Qwyjibo", "1001", "1970", "3.5"):
        assert value not in everything
    run = Project(database, result)
    run.build_all()
    assert run.failures() == {}
    expected = kanon_sql.anonymize(database.engine, replace_release(spec, "other"))
    assert expected.node == result.plan.node
    assert Counter(database.rows("visits_release")) == Counter(database.rows("other"))
    assert {row[3] for row in database.rows("visits_release")} == {"{{ 1 }} {% or %} {# not #}"}


def replace_release(spec: kanon_sql.Spec, name: str) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**spec.to_dict(), "release": name})


@pytest.mark.slow
def test_persons_are_in_the_candidate_and_not_in_the_release(clinic: Database, tmp_path: Path) -> None:
    run = Project(clinic, written(clinic, tmp_path))
    run.build_all()
    assert clinic.columns("visits_release") == ["age", "sex", "diagnosis", "charge"]
    assert clinic.columns("visits_release__candidate")[-1] == "patient"
    assert run.failures() == {}
    assert len(clinic.rows("visits_release")) == 9  # the man of 77 is suppressed


# --- What changes afterwards ----------------------------------------------------------------------


def refused(run: Project) -> str:
    """The message that stops the release; what stood under its name still stands."""
    before = Counter(run.database.rows("visits_release"))
    with pytest.raises(CompilerError) as error:
        run.build_all()
    assert Counter(run.database.rows("visits_release")) == before
    return str(error.value)


@pytest.mark.slow
def test_a_value_without_a_generalization_stops_the_release_and_is_not_named(clinic: Database, tmp_path: Path) -> None:
    run = Project(clinic, written(clinic, tmp_path))
    run.build_all()
    clinic.connection.execute("INSERT INTO visits VALUES (12, 'Qwyjibo', 'flu', 1, 'p', 's')")
    message = refused(run)
    assert "sex: no generalization in the hierarchy (1 rows)" in message
    assert "Qwyjibo" not in message
    assert run.failures() == {
        "visits_release__labelled: kanon_sql.all_covered": [("sex: no generalization in the hierarchy", 1)]
    }
    assert "Qwyjibo" not in str(clinic.rows("visits_release__candidate"))


@pytest.mark.slow
def test_a_hierarchy_with_a_value_twice_copies_no_row(clinic: Database, tmp_path: Path) -> None:
    run = Project(clinic, written(clinic, tmp_path))
    run.build_all()
    clinic.connection.execute("INSERT INTO visits_release__sex VALUES ('f', 'any')")
    assert "sex: no generalization" in refused(run)
    assert len(clinic.rows("visits_release__labelled")) == len(ROWS)
    assert "visits_release__sex: kanon_sql.hierarchy_is_valid" in run.failures()


@pytest.mark.slow
def test_an_interval_where_arithmetic_is_not_exact_is_no_generalization(clinic: Database, tmp_path: Path) -> None:
    clinic.connection.execute("ALTER TABLE visits ALTER age TYPE DOUBLE")
    run = Project(clinic, written(clinic, tmp_path))
    run.build_all()
    for value in ("1e15", "-1e300", "'nan'", "'infinity'"):
        clinic.connection.execute(f"INSERT INTO visits VALUES ({value}, 'f', 'flu', 1, 'p', 's')")
    assert "age: no generalization in the hierarchy (4 rows)" in refused(run)


@pytest.mark.slow
def test_too_many_small_classes_stop_the_release(clinic: Database, tmp_path: Path) -> None:
    run = Project(clinic, written(clinic, tmp_path))
    run.build_all()
    clinic.connection.execute("INSERT INTO visits VALUES (91, 'f', 'flu', 1, 'a', 's'), (151, 'm', 'flu', 1, 'b', 's')")
    assert "9 of 12 rows are left, beyond the suppression limit 0.2" in refused(run)
    assert "visits_release__candidate: kanon_sql.suppression_limit" in run.failures()


@pytest.mark.slow
def test_a_candidate_that_somebody_changed_is_not_published(clinic: Database, tmp_path: Path) -> None:
    run = Project(clinic, written(clinic, tmp_path))
    run.build_all()
    before = Counter(clinic.rows("visits_release"))
    clinic.connection.execute("UPDATE visits_release__candidate SET age = '[0, 1)' WHERE charge = 0")
    with pytest.raises(CompilerError, match=r"1 classes violate 2-anonymity; 1 classes violate distinct 2-diversity"):
        run.build("visits_release")
    assert Counter(clinic.rows("visits_release")) == before
    assert len(run.failures()) == 2
    # Looking at the SQL publishes nothing, so that it needs no audit.
    assert "kanon_private" not in Project(clinic, written(clinic, tmp_path), "compile").dbt.model(
        run.files["visits_release"].read_text()
    )


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("nulls", "reason"), [("error", "age: NULL, and the spec says nulls: error"), ("suppress", "")]
)
def test_null(clinic: Database, tmp_path: Path, nulls: str, reason: str) -> None:
    run = Project(clinic, written(clinic, tmp_path, nulls=nulls, suppression={"max_share": 0.3}))
    run.build_all()
    clinic.connection.execute(
        "INSERT INTO visits VALUES (NULL, 'f', 'flu', 1, 'a', 's'), (NULL, 'f', 'cold', 1, 'b', 's')"
    )
    if reason:
        assert reason in refused(run)
    else:
        run.build_all()
        assert run.failures() == {}
        assert len(clinic.rows("visits_release")) == 9


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"k_map": {"population": "visits", "k": 2}}, "cannot test k_map"),
        ({"beta_likeness": {"attribute": "diagnosis", "beta": 4}}, "cannot test beta_likeness"),
        (
            {"t_closeness": {"attribute": "charge", "t": 0.9, "distance": "ordered"}},
            "t_closeness of the ordered distance",
        ),
        (
            {"l_diversity": {"attribute": "diagnosis", "l": 2, "variant": "entropy", "estimator": "grassberger"}},
            "l_diversity by an estimate",
        ),
        (
            {"l_diversity": {"attribute": "diagnosis", "l": 2, "others_as_quasi_identifiers": True}},
            "l_diversity with others_as_quasi_identifiers",
        ),
        ({"k_anonymity": {"k": 2, "quasi_identifiers": ["age"]}}, "k_anonymity with quasi_identifiers"),
        ({"k_anonymity": {"k": 2, "combinations": 1}}, "k_anonymity with combinations"),
    ],
)
def test_requirements_that_no_build_would_test_are_refused(
    clinic: Database, tmp_path: Path, asked: dict[str, Any], reason: str
) -> None:
    given = {"unit": None, "sensitive": ["diagnosis", "charge"], "keep": [], "privacy": [asked]}
    with pytest.raises(SpecError, match=reason):
        written(clinic, tmp_path, **given)


@pytest.mark.slow
def test_another_engine_is_refused(clinic: Database, tmp_path: Path) -> None:
    run = Project(clinic, written(clinic, tmp_path))
    elsewhere = Dbt("postgres", lambda _: [("q", "text")])
    for name in run.files:
        elsewhere.place(name, name)
    with pytest.raises(CompilerError, match="was written for duckdb, and this target is postgres"):
        elsewhere.model(run.files["visits_release"].read_text())


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_run_writes_over_its_own_files_alone(clinic: Database, tmp_path: Path) -> None:
    first = written(clinic, tmp_path)
    assert written(clinic, tmp_path).files == first.files
    (properties,) = (path for path in first.files if path.suffix == ".yml")
    for path in (first.files[0], properties):  # the last one is where it says that the seed is ours, too
        path.write_text("select 1\n")
        before = {other: other.read_text() for other in first.files}
        with pytest.raises(SpecError, match="was not written by kanon-sql pipeline dbt"):
            written(clinic, tmp_path)
        assert {other: other.read_text() for other in first.files} == before


@pytest.mark.slow
def test_the_projects_own_directories(clinic: Database, tmp_path: Path) -> None:
    project = project_in(tmp_path / "project")
    (project / "dbt_project.yml").write_text("name: clinic\nmodel-paths: [transform]\nseed-paths: [data, more]\n")
    result = dbt(clinic.engine, kanon_sql.Spec.from_dict(SPEC), project)
    parents = {path.relative_to(project).parts[0] for path in result.files}
    assert parents == {"transform", "data"}


@pytest.mark.slow
def test_the_source_may_be_a_model(clinic: Database, tmp_path: Path) -> None:
    result = dbt(clinic.engine, kanon_sql.Spec.from_dict(SPEC), project_in(tmp_path), source="ref('visits')")
    assert "{{ ref('visits') }}" in result.files[0].read_text()
    assert "sources" not in Project(clinic, result).properties


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"release": "analytics.visits"}, "release: expected a model name"),
        ({"release": None}, "release: expected a model name"),
        ({"source": {"query": "SELECT * FROM visits"}}, "source: dbt reads tables"),
        ({"suppression": {"max_share": 0.2, "style": "mask"}}, "a dbt release drops suppressed rows"),
        ({"keep": ["{{ charge }}"]}, "a name holds a brace"),
        ({"keep": ["Kanon_left_out"]}, "is reserved for the labelled model"),
        ({"ledger": "releases"}, "ledger: dbt builds the release without a ledger; leave it out, or"),
    ],
)
def test_what_a_dbt_release_cannot_be(clinic: Database, tmp_path: Path, changes: Any, message: str) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        dbt(clinic.engine, kanon_sql.Spec.from_dict({**SPEC, **changes}), project_in(tmp_path))


@pytest.mark.parametrize("source", ["visits", "ref(visits)", "ref('a') }} {{ ref('b')", "source('a')b"])
def test_a_source_that_is_no_reference(clinic: Database, tmp_path: Path, source: str) -> None:
    with pytest.raises(SpecError, match="--source: expected"):
        dbt(clinic.engine, kanon_sql.Spec.from_dict(SPEC), project_in(tmp_path), source=source)


def test_no_project_and_no_adapter(clinic: Database, tmp_path: Path) -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    with pytest.raises(SpecError, match=r"expected the directory of a dbt_project\.yml"):
        dbt(clinic.engine, spec, tmp_path)
    with pytest.raises(UnsupportedError, match="the dbt package does not support"):
        dbt(kanon_sql.connect("sqlite://"), spec, project_in(tmp_path))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("value", ["", " ", "null", "NULL "])
def test_values_that_dbt_would_read_as_null(clinic: Database, tmp_path: Path, value: str) -> None:
    (tmp_path / "sex.csv").write_text(f'f;any\nm;any\n"{value}";other\n')
    quasi = {"age": {"intervals": [10, 50]}, "sex": {"file": str(tmp_path / "sex.csv")}}
    with pytest.raises(SpecError, match="row 3 of its hierarchy is empty or 'null'"):
        written(clinic, tmp_path, quasi_identifiers=quasi)


def test_a_wrong_hierarchy_file_writes_nothing(clinic: Database, tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("f;any\nf;other\n")
    quasi = {"age": {"intervals": [10, 50]}, "sex": {"file": str(tmp_path / "sex.csv")}}
    with pytest.raises(HierarchyError):
        written(clinic, tmp_path, quasi_identifiers=quasi)
    assert [path.name for path in (tmp_path / "project").rglob("*")] == ["dbt_project.yml"]


# --- The command line -----------------------------------------------------------------------------


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def on_disk(clinic: Database, tmp_path: Path) -> Sequence[str | Path]:
    clinic.connection.execute(f"ATTACH '{tmp_path / 'clinic.duckdb'}' AS disk")
    clinic.connection.execute("CREATE TABLE disk.visits AS FROM visits")
    clinic.connection.execute("DETACH disk")
    (tmp_path / "spec.yml").write_text(json.dumps(SPEC))
    project = project_in(tmp_path / "project")
    return ["pipeline", "dbt", tmp_path / "spec.yml", "-d", tmp_path / "clinic.duckdb", "-o", project]


@pytest.mark.slow
def test_the_verb(on_disk: Sequence[str | Path]) -> None:
    result = run(*on_disk)
    assert result.exit_code == 0, result.output
    assert "PASS" in result.stdout
    assert result.stdout.count("\nwrote ") == 5
    assert "dbt build --select +visits_release" in result.stderr
    found = json.loads(run(*on_disk, "--format", "json").stdout)
    assert found["verb"] == "dbt"
    assert found["plan"]["verdict"] == "pass"
    assert len(found["files"]) == 5


def test_nothing_satisfies(on_disk: Sequence[str | Path], tmp_path: Path) -> None:
    (tmp_path / "spec.yml").write_text(json.dumps({**SPEC, "privacy": [{"k_anonymity": 50}]}))
    result = run(*on_disk)
    assert result.exit_code == 1
    assert "FAIL" in result.stdout
    assert [path.name for path in (tmp_path / "project").rglob("*")] == ["dbt_project.yml"]
