"""What dbt sends to PostgreSQL: each statement of a build looks at as many rows as the table has, some times over.

The server writes the plan of every statement into its log with the rows that each step met (``auto_explain``), so that
nothing depends on how quick a machine is. Tables are those that models have just made, without statistics.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.verbs.dbt import dbt
from tests.servers import subject_of
from tests.servers.postgres import PostgresSubject
from tests.support.planners import reading
from tests.support.workloads import fill, rows_of
from tests.verbs.dbt.test_dbt import DBT, Project

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dbt")]

ROWS = 20_000
TIMES = 60
"""A row may be looked at so often by all steps of a statement together."""

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "unit": "person",
    "quasi_identifiers": {
        "birth": {"intervals": [1000], "minimum_level": 1, "maximum_level": 1},
        "zip": {"prefix": [2], "minimum_level": 1, "maximum_level": 1},
        "sex": {"sql": ["'sex in ' || release_year"], "minimum_level": 1, "maximum_level": 1},
    },
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": 5}, {"l_diversity": {"attribute": "diagnosis", "l": 3}}],
    "suppression": {"max_share": 1.0},
}
GROWS: dict[str, Any] = {
    "release": "growing",
    "release_year": 2026,
    "state": {"schema": "kanon_state"},
    "increments": {"watermark": "day", "on_drift": "hold"},
}

COMMANDS = """
import json, sys
from dbt.cli.main import dbtRunner
for words in json.loads(sys.argv[1]):
    if not dbtRunner().invoke(words).success:
        sys.exit(1)
"""
"""dbt starts once: that takes longer than what it does."""

_PLAN = re.compile(r"plan:\n((?:\t.*\n)+)")


@pytest.fixture
def subject() -> Iterator[PostgresSubject]:
    if DBT is None:
        pytest.skip("KANON_DBT does not name dbt's executable")
    with subject_of("postgres18") as found:
        assert isinstance(found, PostgresSubject)
        yield found


def run(project: Project, *commands: list[str]) -> None:
    assert DBT is not None
    words = [["--no-use-colors", *command, "--target", "postgres"] for command in commands]
    done = subprocess.run(
        [Path(DBT).with_name("python"), "-c", COMMANDS, json.dumps(words)],
        cwd=project.folder, env=project.environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def beyond(log: Path, start: int, rows: int) -> tuple[int, dict[str, str]]:
    """How many plans the log has from somewhere on, and those that compare each with each, or look too often."""
    plans = [json.loads(text) for text in _PLAN.findall(log.read_bytes()[start:].decode())]
    found = {}
    for plan in plans:
        work, square = reading(plan["Plan"])
        if square is not None or work > TIMES * rows:
            found[plan["Query Text"][:400]] = square or f"{work:,} rows looked at"
    return len(plans), found


Visit = tuple[Any, ...]


def released(rows: list[Visit]) -> list[Visit]:
    """Rows of classes of 5 persons and 3 diagnoses, of which none is that of all persons."""
    classes: dict[tuple[int, str], list[Visit]] = defaultdict(list)
    for row in rows:
        classes[row[1] // 1000, row[2][:2]].append(row)
    return [row for members in classes.values() if satisfies(members) for row in members]


def satisfies(members: list[Visit]) -> bool:
    persons: dict[int, set[str]] = defaultdict(set)
    for person, _, _, _, diagnosis, *_ in members:
        persons[person].add(diagnosis)
    held = list(persons.values())
    return len(held) >= 5 and len(set.union(*held)) >= 3 and not set.intersection(*held)


def test_a_build_looks_at_each_row_a_few_times(subject: PostgresSubject, tmp_path: Path) -> None:
    drawn = rows_of(ROWS)
    fill(subject, "visits", drawn)
    subject.execute("ALTER TABLE visits ADD day INTEGER DEFAULT 1")
    for name, value in {
        "session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "statement_timeout": "'30s'",
        "auto_explain.log_analyze": "on", "auto_explain.log_timing": "off", "auto_explain.log_format": "json",
        "log_min_messages": "log",
    }.items():  # fmt: skip
        subject.execute(f"ALTER ROLE CURRENT_USER SET {name} = {value}")
    project = Project("postgres", tmp_path, {"PGHOST": subject.folder})
    (project.folder / "seeds" / "visits.yml").unlink()
    (project.folder / "seeds" / "visits.csv").unlink()
    with subject.connect() as engine:
        for changes in ({"release": "visits_release"}, GROWS):
            dbt(engine, kanon_sql.Spec.from_dict({**SPEC, **changes}), project.folder).plan.raise_for_failure()
    log = Path(subject.folder) / "log"
    start = log.stat().st_size
    year = datetime.datetime.now(datetime.UTC).year
    run(project, ["deps"], ["build"])
    count, found = beyond(log, start, ROWS)
    assert found == {}
    assert count > 40, "the server logs no plans"
    out = released(drawn)
    there = len(out)
    assert ROWS * 3 / 4 < there < ROWS, "some classes are small"
    years = subject.fetch("SELECT sex, COUNT(*) FROM visits_release GROUP BY sex")
    assert years in ([(f"sex in {year}", there)], [(f"sex in {year + 1}", there)])
    assert subject.fetch("SELECT COUNT(*), MIN(sex) FROM growing") == [(there, "sex in 2026")]

    subject.execute(
        "INSERT INTO visits SELECT person + 1000000, birth, zip, sex, diagnosis, detail, amount, wish, 2 FROM visits"
    )
    start = log.stat().st_size
    run(project, ["build"])
    count, found = beyond(log, start, 2 * ROWS)
    assert found == {}
    assert count > 40
    again = [(person + 1_000_000, *others) for person, *others in drawn]
    assert subject.fetch("SELECT COUNT(*) FROM visits_release") == [(len(released([*drawn, *again])),)]
    known, gone = {person for person, *_ in out}, set(out)
    waiting = [row for row in drawn if row not in gone and row[0] not in known]
    assert subject.fetch("SELECT COUNT(*) FROM growing") == [(there + len(released([*waiting, *again])),)]
