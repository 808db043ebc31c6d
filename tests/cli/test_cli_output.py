"""What the command line prints: progress, the log, help, numbers, and never a raw value."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from kanon_sql.report.words import metric, number, percent, shown
from tests.support.arx import project
from tests.support.command_line import GROUPS, SECRET, SPEC, VERBS, command_of, refused, run, spawn

# --- Progress and the log --------------------------------------------------------------------


@pytest.mark.slow
def test_verbose_logs_every_statement_with_its_values_redacted(published: Any) -> None:
    directory, _ = published
    base = ("check", directory / "spec.yml", "-d", directory / "clinic.duckdb", "--format", "json")
    result = run(*base, "--verbose")
    statements = [line for line in result.stderr.splitlines() if not line.startswith("-- ")]
    assert len(statements) == json.loads(result.stdout)["cost"]["statements"]
    assert all(line.endswith(";") for line in statements)
    assert ">= ?" in result.stderr


def test_verbose_logs_statements_of_a_run_that_fails(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("{prefix: [4, 3, 2]}", "{tree: {All: ['94100', '94101']}}"))
    assert "DESCRIBE" in refused(run("plan", "spec.yml", "-d", "clinic.duckdb", "-v"), 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_progress_is_shown_at_a_terminal_only(published: Any, options: tuple[str, ...]) -> None:
    directory, _ = published
    command = [sys.executable, "-m", "kanon_sql", "plan", "spec.yml", "-d", "clinic.duckdb", *options]
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, env=environment, cwd=directory, check=False)
    os.set_blocking(controller, False)
    try:
        seen = os.read(controller, 1_000_000).decode()
    except BlockingIOError:
        seen = ""
    os.close(controller), os.close(terminal)
    assert done.returncode == 0
    assert ("searching the lattice" in seen) == (not options)
    assert b"searching" not in done.stdout


@pytest.mark.slow
def test_colours_forced_on_a_pipe_bring_no_progress(published: Any) -> None:
    directory, _ = published
    done = spawn(
        "plan", "spec.yml", "-d", "clinic.duckdb", cwd=directory, env={**os.environ, "FORCE_COLOR": "1"}
    )  # fmt: skip
    assert done.stderr == ""


# --- Raw values ------------------------------------------------------------------------------


def test_no_raw_value_of_a_small_class_is_ever_printed(clinic: Path) -> None:
    database = ("-d", "clinic.duckdb", "-v")
    runs = [
        run("init", "visits", *database),
        run("plan", "spec.yml", *database, "--show", "minimal"),
        run("anonymize", "spec.yml", *database),
        run("check", "spec.yml", *database, "--table", "visits"),
        run("check", "spec.yml", *database, "--format", "json"),
    ]
    for result in runs:
        assert result.exit_code in (0, 1), result.output
        assert SECRET not in result.output
    assert SECRET not in (clinic / "visits_release.manifest.json").read_text()


@pytest.mark.parametrize(
    ("hierarchy", "code"),
    [
        ("{tree: {All: ['94100', '94101']}}", 2),
        ("{intervals: [10, 20]}", None),
        ("{sql: ['cast(x as integer)']}", None),
    ],
)
def test_no_raw_value_is_in_an_error_about_it(clinic: Path, hierarchy: str, code: int | None) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("{prefix: [4, 3, 2]}", hierarchy))
    result = run("plan", "spec.yml", "-d", "clinic.duckdb", "-v")
    assert result.exit_code in ((2, 3) if code is None else (code,)), result.output
    assert SECRET not in result.output
    assert "Traceback" not in result.output


# --- Help ------------------------------------------------------------------------------------


def test_these_are_the_verbs() -> None:
    listed = run("--help").stdout
    top = [verb for verb in VERBS if " " not in verb]
    in_the_help = re.findall(r"^  ([a-z]+) +\w", listed.partition("Start:")[2], re.MULTILINE)
    assert sorted(in_the_help) == sorted([*top, *GROUPS])
    for group in GROUPS:
        below = re.findall(r"^  ([a-z]+) +\w", run(group, "--help").stdout.partition("Commands:")[2], re.MULTILINE)
        assert below == [verb.split()[1] for verb in VERBS if verb.startswith(f"{group} ")]
    headings = re.findall(r"^([A-Z][a-z ]+):$", listed, re.MULTILINE)
    assert headings == [
        "Options",
        "Start",
        "Release",
        "Measure",
        "Report",
        "Other products",
        "Pipelines",
        "Housekeeping",
    ]
    assert "..." not in listed.partition("Start:")[2]


@pytest.mark.parametrize("verb", VERBS)
def test_help_describes_the_verb_lists_every_option_and_has_examples(verb: str) -> None:
    text = run(*verb.split(), "--help").stdout
    for parameter in command_of(verb).params:
        names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
        for name in names:
            assert name in text
        assert parameter.help
    assert "Examples:" in text
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"kanon-$", text, re.MULTILINE), "the program's name stays whole"
    assert text.isascii()


@pytest.mark.sampled(29)
@pytest.mark.parametrize("verb", [*VERBS[1:], VERBS[0]])  # the demo takes seconds, and has tests of its own
def test_examples_in_help_run(verb: str, published: Any, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, _ = published
    (clinic / "clinic.duckdb").write_bytes((directory / "clinic.duckdb").read_bytes())
    examples = re.findall(
        r"^ +kanon-sql (.*)$", run(*verb.split(), "--help").stdout.partition("Examples:")[2], re.MULTILINE
    )
    assert examples
    if verb == "init":
        project(clinic / "project.deid")
    if verb == "release ledger":
        for name in ("kanon_sql_ledger", "releases"):
            of_its_own = f"{SPEC.replace('visits_release', f'in_{name}')}ledger: {name}\n"
            (clinic / f"{name}.yml").write_text(of_its_own)
            assert run("anonymize", f"{name}.yml", "-d", "clinic.duckdb").exit_code == 0
    if verb in ("anonymize", "parties plan", "parties anonymize"):
        for name in ("north.duckdb", "south.duckdb"):
            (clinic / name).write_bytes((directory / "clinic.duckdb").read_bytes())
        (clinic / "files.yml").write_text(
            SPEC.replace("source: visits", "source: {file: visits.csv}").replace(
                "release: visits_release", "release: {file: visits_release.parquet}"
            )
        )
        with duckdb.connect("clinic.duckdb", read_only=True) as con:
            con.execute("COPY visits TO 'visits.csv'")
        (clinic / "parties.yml").write_text(SPEC.replace("algorithm: incognito", "metric: precision"))
    if verb == "init":
        with duckdb.connect("hospital.duckdb") as con:
            con.execute("CREATE TABLE patients AS SELECT range AS patient_id, range % 2 AS sex FROM range(40)")
            con.execute(
                "CREATE TABLE stays AS SELECT range AS stay_id, range AS patient_id, 'w' AS ward FROM range(40)"
            )
            con.execute("CREATE TABLE drugs AS SELECT range AS drug_id, range AS stay_id, 'd' AS drug FROM range(40)")
    if verb == "demo":  # it takes seconds, and its other form has a test of its own
        examples = examples[:1]
    if verb == "publish table":
        (clinic / "table.yml").write_text(
            "version: 1\nkind: table\nsource: visits\nrelease: ages\ndimensions: {diagnosis: }\nrules: {threshold: 5}\n"
        )
    if verb == "publish perturbed":
        (clinic / "masking.yml").write_text(
            "version: 1\nkind: perturbed\nsource: visits\nrelease: masked\nkey: name\n"
            "perturb: {age: {noise: 0.2}}\nkeep: [zip]\n"
        )
    if verb in ("publish positions", "publish check"):
        (clinic / "positions.yml").write_text(
            "version: 1\nkind: positions\n"
            'source: {query: "SELECT name, age AS x, age % 8 AS y FROM visits"}\nrelease: places\n'
            "unit: name\nposition: {columns: [x, y], bounds: [0, 0, 128, 8], depth: 3}\nk: 5\n"
            "suppression: {max_rows: 5}\n"
        )
    if verb == "release refresh":
        with duckdb.connect("clinic.duckdb") as con:
            con.execute("ALTER TABLE visits ADD COLUMN day INTEGER DEFAULT 1; DROP TABLE IF EXISTS visits_release")
            con.execute("CREATE TABLE new AS FROM visits LIMIT 3; CREATE TABLE gone AS FROM visits LIMIT 1")
        of_rows = SPEC.replace("  - l_diversity: {attribute: diagnosis, l: 2}\n", "")
        (clinic / "spec.yml").write_text(f"{of_rows}state: kanon_state\nincrements: {{watermark: day}}\n")
        assert run("anonymize", "spec.yml", "-d", "clinic.duckdb").exit_code == 0
    if verb in ("report", "release evidence"):
        assert run("anonymize", "spec.yml", "-d", "clinic.duckdb").exit_code == 0
    if verb == "publish check":
        assert run("publish", "positions", "positions.yml", "-d", "clinic.duckdb").exit_code == 0
    if verb == "release certify":
        assert run("anonymize", "spec.yml", "-d", "clinic.duckdb").exit_code == 0
        private = Ed25519PrivateKey.generate()
        (clinic / "key.pem").write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    if verb == "release apply":
        (clinic / "spec.yml").write_text(f"{SPEC}recoding: {{save_as: learned}}\n")
        assert run("anonymize", "spec.yml", "-d", "clinic.duckdb").exit_code == 0
        with duckdb.connect("clinic.duckdb") as con:
            con.execute("CREATE TABLE may AS FROM visits")
    if verb == "init":
        with duckdb.connect("clinic.duckdb", read_only=True) as con:
            con.execute("COPY visits TO 'visits.parquet'")
    if verb == "explore":  # ended as soon as it listens

        def ended(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("uvicorn.Server.run", ended)
        monkeypatch.setattr("webbrowser.open", lambda _: True)
    if verb == "report":
        (clinic / "run.json").write_text(plan_with_details())
    for name in ("strict.yml", "loose.yml"):
        (clinic / name).write_text(SPEC)
    for example in examples:
        result = run(*shlex.split(example.partition(" > ")[0]))
        assert result.exit_code in (0, 1), f"{example}: {result.output}"
        assert result.stdout or "-o" in example or "--pictures" in example


def plan_with_details() -> str:
    """The JSON of a run with all that a report shows."""
    return str(run("plan", "spec.yml", "-d", "clinic.duckdb", "-o", "any.html", "--format", "json", "-q").stdout)


@pytest.mark.slow
def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom kanon_sql.cli import app\n"
        "for arguments in (['--help'], ['--version']):\n"
        "    try:\n        app(arguments)\n    except SystemExit as stop:\n        assert stop.code in (0, None)\n"
        "heavy = {'duckdb', 'sqlglot', 'pydantic', 'jinja2', 'ruamel', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == "[]\n"


# --- Numbers and names -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1, "1"), (0.25, "0.25"), (0.123456, "0.1235"), (12.3456, "12.35"), (9.9996, "10"),
        (1234.5678, "1,235"), (86_690.0, "86,690"), (1_234_567.0, "1,235,000"), (1.5e13, "1.500e+13"),
        (0.00001234, "1.234e-05"), (-0.5, "-0.5"), (float("inf"), "inf"), (100, "100"),
    ],
)  # fmt: skip
def test_metrics_have_four_significant_digits(value: float, text: str) -> None:
    assert metric(value) == text


def test_counts_have_thousands_separators() -> None:
    assert number(1_234_567) == "1,234,567"


def test_a_share_is_never_rounded_to_nothing_or_everything() -> None:
    assert percent(0, 10) == "0 %"
    assert percent(1, 1_000_000) == "< 0.01 %"
    assert percent(999_999, 1_000_000) == "> 99.99 %"
    assert percent(1, 3) == "33.33 %"


def test_control_characters_in_names_do_not_reach_the_terminal(clinic: Path) -> None:
    assert shown("a\x1b[31mb\n") == "a\\x1b[31mb\\n"
    said = refused(run("check", "spec.yml", "-d", "clinic.duckdb", "--table", "a\x1b[31mb"), 3)
    assert "\x1b" not in said
