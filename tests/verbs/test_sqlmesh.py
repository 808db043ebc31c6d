"""The audits for SQLMesh against ``check`` and against the oracle; and in SQLMesh itself.

SQLMesh has an environment of its own (it needs an older DuckDB): ``KANON_SQLMESH`` names its executable.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from hypothesis import example, given

import kanon_sql
from kanon_sql.engines import Row
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.sql import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.sqlmesh import DIALECTS, audits
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.oracle_answers import examined, key_of
from tests.support.oracle_cases import NOBODY_TELLS, SAME_PERSON, Case, cases, load
from tests.support.strategies import RandomProblem, examples, problems

Fetch = Callable[[str], list[tuple[Any, ...]]]


def queries(text: str, table: str) -> dict[str, str]:
    """Audit -> its query of a table, parsed and written again, as SQLMesh does with what it runs."""
    found = re.findall(r"AUDIT \(name (\w+), dialect (\w+)\);\n(.*?);\n", text, re.DOTALL)
    assert text.count("AUDIT (") == len(found)
    return {
        name: sqlglot.parse_one(query.replace("@this_model", table), read=dialect).sql(dialect)
        for name, dialect, query in found
    }


def violating(fetch: Fetch, text: str, table: str = "people") -> list[int]:
    """How many classes violate each requirement."""
    return [len(fetch(f"SELECT * FROM ({query}) AS audit")) for query in queries(text, table).values()]


# --- that they find what check finds --------------------------------------------------------------


def of_database(database: Database) -> Fetch:
    return lambda sql: database.connection.execute(sql).fetchall()


@given(case=cases(max_nodes=4))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@example(case=SAME_PERSON)
@examples(20)
def test_audits_find_what_the_oracle_finds(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem = case.problem
    _, truth = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, problem.unit)
    found = violating(of_database(shared_database), audits(shared_database.engine, spec, "people"))
    assert found == [truth[key_of(item)]["violating_classes"] for item in problem.requirements]


@pytest.fixture(scope="module")
def postgres() -> Any:
    with subject_of("postgres") as subject:
        yield subject


@pytest.mark.slow
@given(problem=problems(max_nodes=4))
@example(problem=NOBODY_TELLS)
@example(problem=SAME_PERSON.problem)
@examples(8)
def test_another_engine_finds_it_too(postgres: Subject, problem: RandomProblem) -> None:
    names = [*problem.hierarchies, *problem.sensitive, *([] if problem.unit is None else [problem.unit])]
    postgres.table("people", dict.fromkeys(names, "text"), [[row[name] for name in names] for row in problem.rows])
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "unit": problem.unit,
            "quasi_identifiers": {name: {} for name in problem.hierarchies},
            "sensitive": problem.sensitive,
            "privacy": problem.requirements,
        }
    )
    columns = list(problem.hierarchies)
    _, truth = examined(problem.rows, columns, problem.requirements, problem.rows, problem.unit)
    found = violating(postgres.fetch, audits(postgres.connect(), spec, "people"))
    assert found == [truth[key_of(item)]["violating_classes"] for item in problem.requirements]


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "original",
    "release": "people",
    "identifiers": ["name"],
    "quasi_identifiers": {"q": {"prefix": [1]}, "r": {}},
    "sensitive": ["s", "n"],
    "privacy": [{"k_anonymity": {"k": 2}}],
}

OTHERS = [
    {"t_closeness": {"attribute": "n", "t": 0.2, "distance": "ordered"}},
    {"t_closeness": {"attribute": "s", "t": 0.2, "reference": "release"}},
    {"beta_likeness": {"attribute": "s", "beta": 0.5}},
    {"delta_disclosure": {"attribute": "s", "delta": 0.5}},
    {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.5, "k": 3}},
    {"p_sensitive_k_anonymity": {"attribute": "s", "p": 2, "k": 3}},
    {"k_anonymity": {"k": 9, "quasi_identifiers": ["r"]}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "npd_recursive", "c": 2, "allow_positive": ["z"]}},
]


def clinic(database: Database) -> None:
    types = {"q": "VARCHAR COLLATE NOCASE", "s": "VARCHAR", "n": "INTEGER", "p": "INTEGER", "r": "DOUBLE"}
    rows = [("a", "x", 1, 1), ("A", "y", 2, 2), ("a", "y", 3, 3), ("a", "x", 4, 4), ("b", "z", 1, 5), ("b", "z", 1, 5)]
    rows += [(None, "x", 2, 6), (None, None, None, 7)]
    rows = [(*row, 0.0 if row[2] == 1 else -0.0) for row in rows]
    database.table("people", types, rows)
    database.table("original", types, [*rows, ("c", "w", 9, 8, 1.0), ("c", "z", 9, 9, 1.0)])


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("requirement", "unit"),
    [*((item, None) for item in OTHERS), *((item, "p") for item in OTHERS[:2])],
    ids=lambda item: "-".join(map(str, item or ["rows"])),
)
def test_every_requirement_that_one_query_can_check(database: Database, requirement: Any, unit: str | None) -> None:
    clinic(database)
    spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": [*SPEC["privacy"], requirement]})
    checked = kanon_sql.check(database.engine, spec).to_dict()["achieved"]
    text = audits(database.engine, spec)
    found = violating(of_database(database), text)
    assert found == [item["violating_classes"] for item in checked.values()]
    assert any(found)


@pytest.mark.slow
def test_requirements_of_one_attribute_do_not_meet(database: Database) -> None:
    """What one of them asks of the reference is no column of another one's query."""
    clinic(database)
    diverse = [
        {"l_diversity": {"attribute": name, "l": 2, "variant": kind}}
        for name in "ns"
        for kind in ("distinct", "entropy")
    ]
    spec = kanon_sql.Spec.from_dict(
        {**SPEC, "privacy": [*SPEC["privacy"], *diverse, *(OTHERS[place] for place in (0, 3))]}
    )
    checked = kanon_sql.check(database.engine, spec).to_dict()["achieved"]
    found = violating(of_database(database), audits(database.engine, spec))
    assert found == [item["violating_classes"] for item in checked.values()]
    assert len(found) == 7


# --- known answers and refusals -------------------------------------------------------------------


def test_the_file_is_the_same_every_time_and_holds_no_value(database: Database) -> None:
    clinic(database)
    spec = kanon_sql.Spec.from_dict(SPEC)
    text = audits(database.engine, spec)
    assert text == audits(database.engine, spec)
    assert list(queries(text, "people")) == ["people_k_anonymity"]
    # Two rows with NULL, two with b, and two of three with a, the third of which has 0 where they have -0; and A, which
    # a collation that ignores case would hide among them.
    assert violating(of_database(database), text) == [2]
    (query,) = queries(text, "people").values()
    assert database.connection.execute(query).fetchall() == [(1, 1), (1, 1)]


def test_no_row_is_read(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run's meter begins anew at its end: what is fetched is counted where it is."""
    clinic(database)
    of_engine, fetched = type(database.engine).fetch, Counter[str]()

    def counted(self: Any, statement: Statement, limit: int) -> list[Row]:
        rows = of_engine(self, statement, limit)
        fetched[statement.name] += len(rows)
        return rows

    monkeypatch.setattr(type(database.engine), "fetch", counted)
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [*SPEC["privacy"], *OTHERS[:2]]})
    audits(database.engine, spec)
    assert fetched == {}
    kanon_sql.check(database.engine, spec)
    assert fetched.total(), "a check fetches figures"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"release": None}, "name a table with the columns of the audited model with --table"),
        ({"unit": "person"}, "no column 'person', which the audits need"),
        ({"quasi_identifiers": {"qq": {}}}, "did you mean 'q'"),
        ({"source": {"query": "SELECT q, s, n, '@x' AS o FROM original"}}, "@, which SQLMesh would read as a macro"),
        (
            {"privacy": [{"alpha_k_anonymity": {"attribute": "s", "alpha": 0.5, "k": 2, "values": ["x"]}}]},
            "needs more than one query",
        ),
        (
            {"privacy": [{"k_map": {"population": "original", "k": 2}}]},
            "needs more than one query",
        ),
    ],
)
def test_refusals(database: Database, changes: dict[str, Any], message: str) -> None:
    clinic(database)
    closeness = [{"t_closeness": {"attribute": "s", "t": 0.2}}]
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": closeness, **changes})
    with pytest.raises(SpecError, match=re.escape(message)):
        audits(database.engine, spec)


def test_an_engine_that_compares_by_more_than_sql_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    engine = kanon_sql.connect(f"sqlite:///{tmp_path}/clinic.db")
    with pytest.raises(UnsupportedError, match=f"not support sqlite; expected one of {', '.join(DIALECTS)}"):
        audits(engine, kanon_sql.Spec.from_dict(SPEC))


# --- SQLMesh itself -------------------------------------------------------------------------------

SQLMESH = os.environ.get("KANON_SQLMESH")

CONFIG = """\
gateways: {local: {connection: {type: duckdb, database: warehouse.db}}}
model_defaults: {dialect: duckdb, start: 2024-01-01}
"""

CANDIDATE = """\
MODEL (name clinic.candidate, kind FULL, audits (AUDITS));
SELECT CASE WHEN age < 40 THEN '< 40' ELSE '>= 40' END AS age, sex, diagnosis, patient_id FROM raw.visits
"""

RELEASE = """\
MODEL (name clinic.visits_release, kind FULL);
SELECT age, sex, diagnosis FROM clinic.candidate ORDER BY random()
"""

REQUIRED = {
    "version": 1,
    "source": "raw.visits",
    "unit": "patient_id",
    "quasi_identifiers": {"age": {}, "sex": {}},
    "sensitive": ["diagnosis"],
    "privacy": [
        {"k_anonymity": {"k": 3}},
        {"l_diversity": {"attribute": "diagnosis", "l": 2}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.5}},
    ],
}


class Mesh:
    """A SQLMesh project."""

    def __init__(self, folder: Path, executable: str) -> None:
        self.folder, self.executable = folder, Path(executable)
        for name in ("models", "audits"):
            (folder / name).mkdir()
        (folder / "config.yaml").write_text(CONFIG)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._started([str(self.executable), *arguments])

    def sql(self, statement: str) -> list[Any]:
        """A statement on the project's database, by the DuckDB that made it."""
        script = "import duckdb, sys; print(duckdb.connect('warehouse.db').execute(sys.argv[1]).fetchall())"
        done = self._started([str(self.executable.with_name("python")), "-c", script, statement])
        assert done.returncode == 0, done.stderr
        return eval(done.stdout)  # numbers and texts of this test's own

    def _started(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        settings = {"SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true", "NO_COLOR": "1", "COLUMNS": "200"}
        environment = {**os.environ, **settings}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=300
        )


@pytest.mark.slow
def test_a_blocked_release_in_sqlmesh(tmp_path: Path) -> None:
    if SQLMESH is None:
        pytest.skip("KANON_SQLMESH does not name SQLMesh's executable")
    mesh = Mesh(tmp_path, SQLMESH)
    mesh.sql(
        "CREATE SCHEMA raw; CREATE TABLE raw.visits AS SELECT i AS patient_id, 20 + i % 60 AS age, "
        "CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, 'd' || (i // 2 % 3) AS diagnosis FROM range(120) AS t(i)"
    )
    (tmp_path / "models" / "release.sql").write_text(RELEASE)
    (tmp_path / "models" / "candidate.sql").write_text(CANDIDATE.replace(", audits (AUDITS)", ""))
    made = mesh.run("plan", "--auto-apply", "--no-prompts")
    assert made.returncode == 0, made.stdout + made.stderr
    spec = kanon_sql.Spec.from_dict(REQUIRED)
    engine = kanon_sql.connect(tmp_path / "warehouse.db", read_only=True)
    text = audits(engine, spec, "clinic.candidate")
    engine.close()
    (tmp_path / "audits" / "candidate.sql").write_text(text)
    names = ", ".join(queries(text, "people"))
    (tmp_path / "models" / "candidate.sql").write_text(CANDIDATE.replace("AUDITS", names))
    audited = mesh.run("plan", "--auto-apply", "--no-prompts")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    before = mesh.sql("SELECT count(*), count(DISTINCT diagnosis) FROM clinic.visits_release")
    assert before == [(120, 3)]

    # A class of one person, whose diagnosis nobody else has: every audit finds it, and the release stays as it was.
    mesh.sql("INSERT INTO raw.visits VALUES (999, 30, 'x', 'Qwyjibo')")
    failed = mesh.run("plan", "--restate-model", "clinic.candidate", "--auto-apply", "--no-prompts")
    output = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert "audit error: 1 row failed" in " ".join(output.split())
    assert "Qwyjibo" not in output
    assert mesh.sql("SELECT count(*), count(DISTINCT diagnosis) FROM clinic.visits_release") == before
    assert mesh.sql("SELECT count(*) FROM clinic.candidate") == [(121,)]
