"""What may not grow unseen: the modules that a start imports, and the wheel. Seconds are in benchmarks/startup.py."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

MAIN = "from kanon_sql.cli import main; main()"
LISTED = "import atexit, sys; atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr)); "

HEAVY = {
    "duckdb", "sqlglot", "jinja2", "ruamel", "rich", "sqlalchemy", "pandas", "numpy", "pyarrow", "pyspark",
    "clickhouse_connect", "chdb", "vl_convert", "matplotlib", "altair",
}  # fmt: skip
"""What a verb imports when it needs it, and nothing before."""


def imported(program: str, *arguments: str, **variables: str) -> set[str]:
    """The modules that a program has imported at its end, without those of Python's own start."""
    done = subprocess.run(
        [sys.executable, "-c", LISTED + program, *arguments], env={**os.environ, **variables}, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    bare = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stderr.split()) - set(bare.stderr.split())


def roots(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_importing_the_package_imports_next_to_nothing() -> None:
    modules = imported("import kanon_sql")
    assert not roots(modules) & HEAVY
    assert {name for name in modules if name.startswith("kanon_sql")} == {
        "kanon_sql",
        "kanon_sql.lazy",
        "kanon_sql.version",
    }
    assert len(modules) <= 40, sorted(modules)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("anonymize", "--help"), ("hierarchy", "--help")])
def test_help_imports_the_verbs_and_nothing_that_they_use(arguments: tuple[str, ...]) -> None:
    modules = imported(MAIN, *arguments)
    assert not roots(modules) & HEAVY
    own = {name for name in modules if name.startswith("kanon_sql.")}
    assert {name.split(".")[1] for name in own} <= {"cli", "registers", "errors", "interrupts", "lazy", "version"}
    assert len(own) <= 36, sorted(own)


def test_completing_imports_no_more_than_help(tmp_path: Path) -> None:
    modules = imported(
        MAIN, _KANON_SQL_COMPLETE="complete_bash", COMP_WORDS=f"kanon-sql plan {tmp_path}/", COMP_CWORD="2"
    )  # fmt: skip
    # Typer cleans help texts with rich where that is installed.
    assert not roots(modules) & (HEAVY - {"rich"})
    assert {name.split(".")[1] for name in modules if name.startswith("kanon_sql.")} == {
        "cli",
        "registers",
        "errors",
        "interrupts",
        "lazy",
        "version",
    }


def test_a_plan_imports_no_other_engine_and_nothing_that_writes(tmp_path: Path) -> None:
    """Nor other recodings than the one that is tried beside it."""
    import duckdb

    with duckdb.connect(str(tmp_path / "small.duckdb")) as con:
        con.execute("CREATE TABLE visits AS SELECT i % 5 AS age, i % 3 AS zip FROM range(60) AS t(i)")
    spec = tmp_path / "spec.yml"
    spec.write_text(
        "{version: 1, source: visits, quasi_identifiers: {age: {intervals: [2]}, zip: {intervals: [2]}}, "
        "privacy: [{k_anonymity: {k: 5}}]}"
    )
    modules = imported(MAIN, "plan", str(spec), "-d", str(tmp_path / "small.duckdb"), "--format", "json")
    assert "kanon_sql.recode.local" in modules, "local recoding is tried beside it"
    own = {name.removeprefix("kanon_sql.") for name in modules if name.startswith("kanon_sql.")}
    assert not {name for name in own if name.split(".")[0] in {"release", "disclosure", "parties", "explore"}}
    assert not own & {"engines.backends", "engines.spark", "engines.clickhouse", "engines.dry", "verbs.init"}
    assert not own & {"recode.kk", "recode.cells", "recode.mondrian", "recode.invariant", "recode.kept_recoding"}
    assert {name for name in own if name.startswith("models.privacy.")} == {
        f"models.privacy.{name}" for name in ("base", "k_anonymity", "registry", "t_closeness", "terms", "whole")
    }
    assert "rich" not in modules
    counted = {name for name in own if not name.startswith(("models.quality.", "hierarchies.kinds."))}
    assert len(counted) <= 232, sorted(counted)  # and a file for each metric and each kind of hierarchy


def test_a_verb_does_not_look_for_plugins_in_all_that_is_installed() -> None:
    told = "import atexit, sys; atexit.register(lambda: print(sys.modules['pydantic.plugin._loader']._plugins)); "
    done = subprocess.run(
        [sys.executable, "-c", told + MAIN, "pipeline", "schema"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "None"


def test_what_a_process_leaves_is_not_looked_through_for_cycles_when_it_ends() -> None:
    """That takes a plan 20 milliseconds. What was registered first is called last."""
    told = "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count(), len(gc.get_objects()))); "
    done = subprocess.run(
        [sys.executable, "-c", told + MAIN, "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    frozen, others = map(int, done.stdout.splitlines()[-1].split())
    assert frozen > 10_000
    assert others < 1_000


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_is_small(wheel: Path) -> None:
    """Code, templates and schemas, 950 files: 2.2 MB at the end of 2026, a fifth of it what files take as such."""
    assert wheel.stat().st_size < 2_400_000
    with zipfile.ZipFile(wheel) as files:
        assert sum(item.file_size for item in files.infolist()) < 7_000_000
        suffixes = {Path(item.filename).suffix for item in files.infolist() if ".dist-info/" not in item.filename}
    assert suffixes <= {".py", ".j2", ".json", ".typed", ".css", ".js", ".html", ".md"}
