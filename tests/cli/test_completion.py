"""Shell completion: what bash, zsh and fish are told at the press of a key, by the protocol they use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kanon_sql.cli import app
from kanon_sql.registers import ATTACKS, declared_names
from kanon_sql.sql.dialects import DIALECTS

SPEC = """\
version: 1
source: visits
quasi_identifiers: {age: , "postal code": , sex: }
sensitive: [diagnosis]
privacy: [k_anonymity: {k: 5}]
"""

PROGRAM = "from kanon_sql.cli import main; main()"
VERBS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def completed(shell: str, line: str, cwd: Path) -> str:
    """What a shell is told about a line that ends at the cursor."""
    words = line.split(" ")
    variables = {
        "_KANON_SQL_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "visits.yml").write_text(SPEC)
    (tmp_path / "broken.yaml").write_text("source: [")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "clinic.duckdb").write_text("")
    (tmp_path / ".hidden.yml").write_text("")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "other.yml").write_text(SPEC)
    return tmp_path


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_verbs_options_and_values(shell: str, directory: Path) -> None:
    verbs = completed(shell, "kanon-sql ", directory)
    assert all(verb in verbs for verb in VERBS)
    options = completed(shell, "kanon-sql plan --f", directory)
    assert "--fail-on-warning" in options
    assert "--format" in options
    assert "--show" not in options
    values = completed(shell, "kanon-sql pipeline render visits.yml --dialect s", directory)
    assert all(name in values for name in ("snowflake", "spark", "sqlite"))
    assert "postgres" not in values


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_to_install_names_the_program(shell: str, tmp_path: Path) -> None:
    environment = {**os.environ, "_KANON_SQL_COMPLETE": f"source_{shell}"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0
    assert "_KANON_SQL_COMPLETE" in done.stdout
    assert f"complete_{shell}" in done.stdout


@pytest.mark.parametrize(
    ("line", "proposed"),
    [
        ("kanon-sql plan ", ["broken.yaml", "specs/", "visits.yml"]),
        ("kanon-sql plan v", ["visits.yml"]),
        ("kanon-sql plan .h", [".hidden.yml"]),
        ("kanon-sql plan specs/", ["specs/other.yml"]),
        ("kanon-sql plan nowhere/", []),
        ("kanon-sql compare visits.yml v", ["visits.yml"]),
        ("kanon-sql check visits.yml -d ", ["clinic.duckdb", "specs/"]),
        ("kanon-sql check visits.yml --format ", ["text", "json", "junit", "github", "markdown"]),
        ("kanon-sql plan visits.yml --set t", ["threads=", "timeout="]),
        ("kanon-sql audit visits.yml --attack s", ["similarity", "skewness"]),
        ("kanon-sql report run.json --picture-format ", ["svg", "png"]),
        ("kanon-sql pipeline dbt visits.yml -o ", ["specs/"]),
        ("kanon-sql demo -o ", ["specs/"]),
        ("kanon-sql pipeline render visits.yml --node ", ["age=", "postal code=", "sex="]),
        ("kanon-sql pipeline render visits.yml --node a", ["age="]),
        ("kanon-sql pipeline render broken.yaml --node ", []),
    ],
)
def test_what_is_proposed(line: str, proposed: list[str], directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory)
    given = {
        "_KANON_SQL_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1),
    }  # fmt: skip
    result = CliRunner().invoke(app, [], env=given, prog_name="kanon-sql")
    assert result.stdout.splitlines() == (proposed or [""])


def test_names_that_are_written_out_are_those_that_there_are() -> None:
    assert declared_names("kanon_sql.sql.dialects") == sorted(DIALECTS)
    assert declared_names("kanon_sql.disclosure.attacks") == sorted(ATTACKS)


@pytest.mark.slow
def test_completing_verbs_and_options_imports_nothing_heavy(directory: Path) -> None:
    script = (
        "import atexit, sys\n"
        "heavy = {'duckdb', 'sqlglot', 'jinja2', 'ruamel'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n" + PROGRAM
    )
    environment = {"_KANON_SQL_COMPLETE": "complete_bash", "COMP_WORDS": "kanon-sql plan --f", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, cwd=directory, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert "--fail-on-warning" in done.stdout
    assert done.stderr == "[]\n"
