"""Fixtures shared by the tests: a DuckDB database in memory that tables are typed into, and a clinic's files."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb
import pytest
import typer.testing
from hypothesis import settings

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.engines.duckdb_macros import _OF_CONNECTIONS
from kanon_sql.registers import ATTACKS, PRIVACY_REQUIREMENTS, QUALITY_METRICS, RECODINGS, SEARCH_ALGORITHMS
from tests import ROOT
from tests.support.command_line import SPEC, make_clinic, run
from tests.support.strategies import TIMES

pytest.register_assert_rewrite(
    *(f"tests.support.{name}" for name in ("audits", "oracle_answers", "ordered", "search_problems", "specs"))
)

# A shared or slow machine must not fail a test: what is slow is measured in benchmarks/. A run tries the same random
# tables every time, so that a change is what fails; with KANON_EXAMPLES each run draws new ones.
settings.register_profile("steady", deadline=None, derandomize=TIMES == 0)
settings.load_profile("steady")

# The default, a pass for every 700 objects that are made, takes 7 % of a run.
gc.set_threshold(20_000, 20, 20)

# Processes that tests start, and the workers, compile what they import once, whatever an image asks for.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A process of the program builds its commands once; so does a process of tests.
typer.testing._get_command = cache(typer.testing._get_command)


KINDS = (ATTACKS, PRIVACY_REQUIREMENTS, QUALITY_METRICS, RECODINGS, SEARCH_ALGORITHMS)
"""What a test may have a case for each of: such a test has a slow case however few cases it has."""


ALL_CASES = ("tests/docs/", "tests/golden/", "tests/engines/test_planners.py")
"""Where no case stands for another: each is a page, a dialect, an engine's planner."""

OF_A_PROCESS = {"clickhouse", "spark"}
"""Engines that a process has once: their tests are for one worker, where each subject ends before the next begins."""


def parameters_of(item: pytest.Item) -> set[str]:
    """The parameters of a case that are texts."""
    case = getattr(item, "callspec", None)
    return set() if case is None else {value for value in case.params.values() if isinstance(value, str)}


def words_of(item: pytest.Item) -> set[str]:
    """The words of a case's parameters."""
    return set(re.findall(r"\w+", str([*item.callspec.params.values()])))  # type: ignore[attr-defined]


def leave_to_the_campaign(items: list[pytest.Item]) -> None:
    """Of a slow test with more than two cases, let a third run, and two at least: which ones, its name decides.

    So each engine has its turn in some of the tests that have a case for each of them; Spark, which takes half a
    minute for what others do in a second, in those of the engines.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("campaign"):
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    for test, those in cases.items():
        if test.startswith(ALL_CASES):
            continue
        if not test.startswith("tests/engines/"):
            for item in those:
                if "spark" in parameters_of(item):
                    item.add_marker(pytest.mark.campaign)
            those = [item for item in those if not item.get_closest_marker("campaign")]
        if len(those) <= 2:
            continue
        count, first = len(those), crc32(test.encode())
        turns = max(2, count // 3)
        run = {(first + turn * count // turns) % count for turn in range(turns)}
        for number, item in enumerate(those):
            if number not in run:
                item.add_marker(pytest.mark.campaign)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what of the engines' matrix, and of cases that are sampled, does not run every time.

    With ``-m slow``, cases of slow tests that are left to the campaign do not run.
    """
    from tests.servers import SUBJECTS

    cases: Counter[str] = Counter()
    kinds = {name for names in (*KINDS, SUBJECTS) for name in names}
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            test = item.nodeid.split("[")[0]
            if turn := cases[test] % sampled.args[0]:
                share = sampled.args[0] // 6
                others = max(share, 1) if share or kinds & words_of(item) else 0
                item.add_marker(pytest.mark.slow if turn <= others else pytest.mark.campaign)
            cases[test] += 1
        rarely = item.get_closest_marker("campaign_on")
        if rarely and set(rarely.args) & {item.callspec.id, *map(str, item.callspec.params.values())}:  # type: ignore[attr-defined]
            item.add_marker(pytest.mark.campaign)
        if item.get_closest_marker("xdist_group") is None and (named := OF_A_PROCESS & parameters_of(item)):
            item.add_marker(pytest.mark.xdist_group(min(named)))
        if item.nodeid.startswith("tests/engines/test_conformance.py::TestEngines"):
            from tests.engines.test_conformance import is_campaign, is_core, is_left_out

            if is_left_out(item):
                item.add_marker(pytest.mark.skip("other cases or engines show what it would show"))
            if not is_core(item):
                item.add_marker(pytest.mark.campaign if is_campaign(item) else pytest.mark.slow)
    leave_to_the_campaign(items)
    if config.option.markexpr == "slow":
        left = [item for item in items if item.get_closest_marker("campaign")]
        items[:] = [item for item in items if not item.get_closest_marker("campaign")]
        config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the modules and thousands of tests, which stay until the end."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a pytest whose workers would each start every server: pytest-xdist tells groups by ``_nodeid``."""
    reads = pytest.Item.nodeid.fget.__code__.co_names  # type: ignore[attr-defined]
    if getattr(config.option, "dist", "no") == "loadgroup" and "_nodeid" not in reads:
        raise pytest.UsageError("pytest-xdist cannot keep groups of tests together; install a pytest below 9.2")


BEFORE_2 = int(duckdb.__version__.split(".")[0]) < 2
"""Whether DuckDB is of the versions before 2.0, of which some do a few things otherwise."""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Database:
    """A database, and the engine that kanon_sql uses it through.

    Attributes:
        touched: somebody had the connection itself, and may have left anything there.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.touched = False

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        self.touched = True
        return self._connection

    @cached_property
    def engine(self) -> Engine:
        """Connected when it is asked for, which is after the tables were made."""
        return kanon_sql.connect(self._connection)

    def _run(self, sql: str, cells: Sequence[Any] | None = None) -> duckdb.DuckDBPyConnection:
        """Run a statement that makes no macro, and say so: else an engine would list all functions, for 25 ms."""
        done = self._connection.execute(sql, cells)
        if (known := _OF_CONNECTIONS.get(self._connection)) is not None:
            known.transactions += 1
        return done

    def clear(self) -> bool:
        """Drop what is there. Returns whether another test may have the connection."""
        if self.touched:
            return False
        for query in (
            "SELECT view_name FROM duckdb_views() WHERE NOT internal",
            "SELECT table_name FROM duckdb_tables()",
        ):
            kind = "VIEW" if "views" in query else "TABLE"
            for (name,) in self._run(query).fetchall():
                self._run(f"DROP {kind} {quoted(name)}")
        return not self.tables()

    def table(self, name: str, columns: Mapping[str, str] | Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Create a table. Columns without a type are text."""
        types = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, "VARCHAR")
        listed = ", ".join(f"{quoted(column)} {kind}" for column, kind in types.items())
        self._run(f"CREATE OR REPLACE TABLE {quoted(name)} ({listed})")
        if rows:
            row = f"({', '.join('?' * len(types))})"
            cells = [cell for line in rows for cell in line]
            self._run(f"INSERT INTO {quoted(name)} VALUES {', '.join([row] * len(rows))}", cells)

    def columns(self, name: str) -> list[str]:
        return [line[0] for line in self._run(f"DESCRIBE {quoted(name)}").fetchall()]

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        return self._run(f"SELECT * FROM {quoted(name)}").fetchall()

    def tables(self) -> list[str]:
        """Everything that stands in the database, scratch included."""
        found = self._run("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
        return [line[0] for line in found]


SMALL: dict[str, Any] = {"threads": 1}
"""Tables of a few rows are never divided among threads, and the tests run side by side."""

_idle: list[duckdb.DuckDBPyConnection] = []
"""Empty databases: opening one takes longer than many a test."""


def opened() -> duckdb.DuckDBPyConnection:
    return _idle.pop() if _idle else duckdb.connect(config=SMALL)


@pytest.fixture
def database() -> Iterator[Database]:
    """An empty database of the test's own."""
    connection = opened()
    made = Database(connection)
    yield made
    if made.clear():
        _idle.append(connection)
    else:
        connection.close()


@pytest.fixture(scope="module")
def shared_database() -> Iterator[Database]:
    """One database for all examples of a module's properties; every example replaces the tables."""
    with duckdb.connect(config=SMALL) as connection:
        yield Database(connection)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a module's examples write their hierarchies."""
    return tmp_path_factory.mktemp("hierarchies")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A clinic that has been anonymized; tests only read it."""
    directory = tmp_path_factory.mktemp("published")
    make_clinic(directory / "clinic.duckdb")
    (directory / "spec.yml").write_text(SPEC)
    result = run("anonymize", directory / "spec.yml", "-d", directory / "clinic.duckdb")
    assert result.exit_code == 0, result.output
    return directory, result


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with clinic.duckdb and spec.yml."""
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(SPEC)
    (tmp_path / "dbt_project.yml").write_text("name: clinic\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is published, built once; CI's install of the checkout builds it in a clean environment."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, capture_output=True, check=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built documentation, on disk; tests that read it are in the group of its name, so that it is built once."""
    if find_spec("mkdocs") is None:
        if os.environ.get("KANON_REQUIRE_BROWSER"):
            pytest.fail("KANON_REQUIRE_BROWSER is set, and there is no mkdocs; pip install .[docs]")
        pytest.skip("there is no mkdocs; pip install .[docs]")
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(directory)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


@pytest.fixture(scope="session")
def browser() -> str:
    """Chromium, or what KANON_BROWSER names."""
    name = os.environ.get("KANON_BROWSER", "chromium")
    found = shutil.which(name)
    if found is None:
        if os.environ.get("KANON_REQUIRE_BROWSER"):
            pytest.fail(f"KANON_REQUIRE_BROWSER is set, and there is no {name}")
        pytest.skip(f"there is no {name}")
    return found
