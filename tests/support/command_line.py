"""The command line as the tests run it, and a clinic for it to work on."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import typer
from typer.testing import CliRunner

from kanon_sql.cli import app

SPEC = """\
version: 1
source: visits
release: visits_release
identifiers: [name]
quasi_identifiers:
  age: {intervals: [5, 10, 20], top: 90}
  zip: {prefix: [4, 3, 2]}
sensitive: [diagnosis]
privacy:
  - k_anonymity: {k: 5}
  - l_diversity: {attribute: diagnosis, l: 2}
suppression: {max_share: 0.05}
search: {algorithm: incognito}
"""

SECRET = "Qwyjibo"
"""Only one person has it. Nothing that is printed or written beside the data may hold it."""

GROUPS = ("release", "publish", "parties", "pipeline")
VERBS = ("demo", "init", "hierarchy", "explore", "plan", "anonymize", "release refresh", "release apply",
         "release dictionary", "release evidence", "release certify", "release ledger", "check", "audit", "risk",
         "report", "compare",
         "publish table", "publish positions", "publish perturbed", "publish check", "parties plan",
         "parties anonymize", "pipeline render", "pipeline estimate", "pipeline dbt", "pipeline sqlmesh",
         "pipeline functions", "pipeline policies", "pipeline schema", "doctor", "clean")  # fmt: skip
COMMAND: Any = typer.main.get_command(app)


def command_of(verb: str) -> Any:
    """A verb's command; the group stands before its name."""
    found = COMMAND
    for word in verb.split():
        found = found.commands[word]
    return found


def run(*arguments: str | Path, **options: Any) -> Any:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def spawn(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    command = [sys.executable, "-m", "kanon_sql", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@cache
def clinic_file() -> bytes:
    """A DuckDB file, which takes longer to make than to copy."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "clinic.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE TABLE visits AS SELECT 'n' || i AS name, CAST(20 + (i * 37) % 60 AS INTEGER) AS age, "
                "CAST(94100 + (i * 13) % 40 AS VARCHAR) AS zip, "
                "['flu', 'cold', 'cancer'][(i // 7) % 3 + 1] AS diagnosis FROM range(600) AS t(i)"
            )
            connection.execute(f"INSERT INTO visits VALUES ('{SECRET}', 99, '{SECRET}', '{SECRET}')")
        return path.read_bytes()


def make_clinic(path: Path) -> None:
    path.write_bytes(clinic_file())


def tables(path: Path) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]


def refused(result: Any, code: int) -> str:
    """A run that failed in an orderly way; returns what it said."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return str(result.stderr)
