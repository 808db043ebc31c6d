"""A release that grows under dbt itself, on DuckDB and PostgreSQL, day by day."""

from __future__ import annotations

import csv
import json
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from ruamel.yaml import YAML

from tests.oracles.increments import Growing, Promise, Row
from tests.release.test_refresh_sequences import COLUMNS, PROMISES
from tests.servers import subject_of
from tests.servers.postgres import PostgresSubject
from tests.verbs.dbt.test_dbt import DBT, Project, succeeded
from tests.verbs.dbt.test_dbt_increments import rows_of, specified

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dbt")]

SEED = """\
version: 2
seeds:
  - name: visits
    config:
      column_types: {rid: integer, day: integer, person: text, zip: text, sex: text, disease: text}
"""

RELEASE = "path:models/release/release.sql"
"""One model: the release's private models lie in the directory of its name."""

STATE = {"duckdb": "main_kanon_state", "postgres": "public_kanon_state"}


@pytest.fixture(params=["duckdb", "postgres"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    if DBT is None:
        pytest.skip("KANON_DBT does not name dbt's executable")
    if request.param == "postgres":
        with subject_of("postgres") as subject:
            assert isinstance(subject, PostgresSubject)
            yield Project("postgres", tmp_path / "project", {"PGHOST": subject.folder})
    else:
        yield Project(request.param, tmp_path / "project", {})


def put(project: Project, rows: list[Row]) -> None:
    with (project.folder / "seeds" / "visits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([["" if row[name] is None else row[name] for name in COLUMNS] for row in rows])


def kept(project: Project) -> list[Counter[tuple[Any, ...]]]:
    """The release and what is kept of it."""
    state = STATE[project.target]
    tables = ["release", *(f"{state}.release__{name}" for name in ("waiting", "state", "persons"))]
    return project.fetch(*(f"SELECT * FROM {name}" for name in tables))


def prepared(project: Project, promise: Promise, rows: list[Row]) -> Growing:
    """A project with a growing release that was not built yet, and what must become of it."""
    shutil.rmtree(project.folder / "seeds")
    (project.folder / "seeds").mkdir()
    (project.folder / "seeds" / "visits.yml").write_text(SEED)
    settings = project.folder / "dbt_project.yml"
    hook = "{{ \"select cast('x' as integer)\" if var('fails', false) else var('last', '') }}"
    models = f"models:\n  clinic:\n    release:\n      release:\n        +post-hook: >-\n          {hook}\n"
    settings.write_text(f"{settings.read_text()}\n{models}")
    put(project, rows)
    (project.folder / "spec.yml").write_text(json.dumps(specified(promise, limit=0.6).to_dict()))
    succeeded(project.dbt("deps"))
    succeeded(project.dbt("seed"))
    project.python("dbt")
    written = YAML(typ="safe").load((project.folder / "models" / "release" / "release.yml").read_text())
    levels = written["models"][0]["config"]["meta"]["kanon_sql"]["levels"]
    return Growing(promise, 1.0, tuple(levels.values()))


@pytest.mark.campaign
@pytest.mark.campaign_on("duckdb")
def test_days_under_dbt(project: Project) -> None:
    promise, draw = PROMISES["persons' values"], random.Random(5)
    rows = source = rows_of(draw, promise, 1, 1, 30)
    growing = prepared(project, promise, rows)
    for day in range(2, 5):
        growing.take(rows)
        growing.add(growing.node)
        built = project.dbt("build", "--show-all-deprecations")
        succeeded(built)
        assert "deprecat" not in built.stdout.lower()
        release, waiting, _, persons = now = kept(project)
        growing.see({rid: (zipped, sex) for rid, zipped, sex, _ in release})
        assert waiting.total() == len(growing.waiting)
        assert {name for (name,) in persons} == growing.known
        if day == 2:
            full = project.dbt("build", "--full-refresh", "--exclude", "visits")
            assert full.returncode == 1
            assert "--full-refresh is refused" in full.stdout
            again = project.dbt("build")
            succeeded(again)
            assert "nothing was changed" in again.stdout
            assert kept(project) == now
        rows = rows_of(draw, promise, 100 * day, day, 12)
        source = source + rows
        put(project, source)
        if day == 3:  # an error after all is written, before the end of the transaction
            assert project.dbt("build", "--vars", "{fails: true}").returncode == 1
            assert project.results()["release"] == "error"
            assert kept(project) == now
    assert len(growing.versions) == 3


@pytest.mark.parametrize("project", ["postgres"], indirect=True)
def test_a_number_is_one_person_however_it_is_written(project: Project) -> None:
    """Who has 1.0 on the first day and 1.00 on the second was released: with one more they are no class of two."""
    promise = PROMISES["persons"]
    rows: list[Row] = [
        {"rid": rid, "day": 1, "person": person, "zip": "111", "sex": "F", "disease": "flu"}
        for rid, person in enumerate(["1.0", "2", "3", "4"])
    ]
    prepared(project, promise, rows)

    def built(kind: str) -> subprocess.CompletedProcess[str]:
        put(project, rows)
        succeeded(project.dbt("seed", "--full-refresh"))  # else the column keeps its type
        with psycopg.connect(f"host={project.environment['PGHOST']} user=postgres dbname=postgres") as connection:
            connection.execute("DROP VIEW IF EXISTS release__candidate CASCADE")
            connection.execute(f"ALTER TABLE visits ALTER person TYPE {kind} USING person::{kind}".encode())
        return project.dbt("build", "--exclude", "visits")

    refused = built("interval")
    assert refused.returncode == 1
    assert "may be written in several ways" in refused.stdout
    succeeded(built("numeric"))
    rows += [{**rows[0], "rid": 10 + n, "day": 2, "person": person} for n, person in enumerate(["1.00", "5"])]
    succeeded(built("numeric"))
    tables = ("release", *(f"{STATE['postgres']}.release__{name}" for name in ("waiting", "persons")))
    counts = project.fetch(*(f"SELECT COUNT(*) FROM {table}" for table in tables))
    assert counts == [Counter({(4,): 1}), Counter({(2,): 1}), Counter({(4,): 1})]


def begun(project: Project, name: str, last: str, *command: str) -> subprocess.Popen[str]:
    """A build with a statement of its own before its transaction ends."""
    assert DBT is not None
    told = ["--vars", json.dumps({"last": last}), "--target", project.target]
    return subprocess.Popen(
        [DBT, *command, *told, "--target-path", name, "--log-path", name],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def waited_for(gate: psycopg.Connection[Any], count: int, builds: list[subprocess.Popen[str]]) -> None:
    """Return once so many sessions wait for a lock."""
    for _ in range(1200):
        ((waiting,),) = gate.execute("SELECT COUNT(DISTINCT pid) FROM pg_locks WHERE NOT granted").fetchall()
        if waiting == count:
            return
        assert all(build.poll() is None for build in builds), [build.communicate()[0] for build in builds]
        time.sleep(0.1)
    raise AssertionError(f"{waiting} of {count} builds wait")


@pytest.mark.parametrize("project", ["postgres"], indirect=True)
def test_of_two_builds_at_once_no_row_comes_twice(project: Project) -> None:
    """Both succeed in turn, or one is refused; the first two find no release, and later ones the same new rows.

    Each waits before its transaction ends, so that the other comes in between. The first two wait for a time. Of later
    ones the first waits until the second waits as well, so that it has read all that it reads before the first is done,
    unless it waits for the first before it reads.
    """
    promise, draw = PROMISES["persons"], random.Random(7)
    rows = source = rows_of(draw, promise, 1, 1, 30)
    growing = prepared(project, promise, rows)
    for day in (2, 3):
        growing.take(rows)
        growing.add(growing.node)
        if day == 2:
            builds = [begun(project, name, "select pg_sleep(6)", "build") for name in ("one", "two")]
        else:  # both have the same private models, and come to the release with them
            succeeded(project.dbt("build", "--exclude", RELEASE))
            with psycopg.connect(host=project.environment["PGHOST"], user="postgres", autocommit=True) as gate:
                gate.execute("SELECT pg_advisory_lock(7)")
                builds = []
                for waiting_builds, name in enumerate(("one", "two"), start=1):
                    last = "select pg_advisory_xact_lock_shared(7)"
                    builds.append(begun(project, name, last, "run", "--select", RELEASE))
                    waited_for(gate, waiting_builds, builds)
                ((blocked,),) = gate.execute(
                    "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = "
                    f"'{STATE['postgres']}.release__state'::regclass AND mode = 'ExclusiveLock'"
                ).fetchall()
            assert blocked == 1
        said = [build.communicate(timeout=600)[0] for build in builds]
        if all(build.returncode for build in builds):  # each may have taken a table from under the other
            succeeded(project.dbt("build"))
        assert all("Traceback" not in text for text in said)
        release, waiting, _, persons = kept(project)
        growing.see({rid: (zipped, sex) for rid, zipped, sex, _ in release})
        assert max(release.values()) == 1
        assert waiting.total() == len(growing.waiting)
        assert {name for (name,) in persons} == growing.known
        rows = rows_of(draw, promise, 100 * day, day, 12)
        source = source + rows
        put(project, source)
