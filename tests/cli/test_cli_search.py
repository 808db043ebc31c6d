"""What the command line does about a search that takes long: budgets, Ctrl-C, progress, and --show nodes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError
from kanon_sql.evaluate import search as search_pipeline
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.interrupts import interrupts
from kanon_sql.report.json import result_schema
from kanon_sql.search.lattice import Node
from kanon_sql.sql.statement import Statement
from tests import ROOT
from tests.servers import subject_of
from tests.support.command_line import make_clinic, refused, run, tables

SPEC = """\
version: 1
source: visits
release: visits_release
identifiers: [name]
quasi_identifiers:
  age: {intervals: [5, 10, 20], top: 90}
  zip: {prefix: [4, 3, 2]}
privacy:
  - k_anonymity: {k: 12}
suppression: {max_share: 0.05}
search: {algorithm: exhaustive}
"""
"""25 nodes; exhaustive search asks about them from the lowest to the highest."""

PLAN = ("plan", "spec.yml", "-d", "clinic.duckdb")
ANONYMIZE = ("anonymize", "spec.yml", "-d", "clinic.duckdb")

needs_main_thread = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)


@pytest.fixture(autouse=True)
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with clinic.duckdb and spec.yml, whose questions are about one node each."""
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    monkeypatch.setattr("kanon_sql.engines.duckdb.DuckDBEngine.capabilities", CAPABILITIES)
    return tmp_path


def one_by_one() -> Any:
    from dataclasses import replace

    from kanon_sql.engines.duckdb import DuckDBEngine

    return replace(DuckDBEngine.capabilities, nodes_per_statement=1)


CAPABILITIES = one_by_one()


@cache
def satisfying() -> dict[Node, float]:
    """The satisfying nodes and their loss, by the whole search of the spec as it is at first."""
    data = json.loads(run(*PLAN, "--show", "nodes", "--format", "json").stdout)
    return {tuple(item["node"]): item["metric"] for item in data["search"]["lattice"] if item["satisfied"]}


def validated(result: Any) -> dict[str, Any]:
    data = json.loads(result.stdout)
    jsonschema.Draft202012Validator(result_schema()).validate(data)
    return data  # type: ignore[no-any-return]


# --- Budgets ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("statements", [1, 12, 24, 25])
def test_a_budget_of_statements_is_kept_to_the_statement(statements: int) -> None:
    """One node a statement: so many nodes are asked about, the lowest first, and the best of them is chosen."""
    found = satisfying()
    nodes = [(age, zip_code) for age in range(5) for zip_code in range(5)][:statements]
    best = min((loss, node) for node, loss in found.items() if node in nodes) if found.keys() & nodes else None
    result = run(*PLAN, "--set", f"max_statements={statements}", "--format", "json", "--show", "nodes")
    data = validated(result)
    assert data["search"]["nodes_evaluated"] == min(statements, 25)
    if statements >= 25:
        assert (data["search"]["proven"], data["search"]["stopped"]) == (True, None)
        assert result.exit_code == 0
        return
    assert not data["search"]["proven"]
    word = "statement" if statements == 1 else "statements"
    assert data["search"]["stopped"] == f"the search reached its limit of {statements} {word}"
    assert result.exit_code == (1 if best is None else 0)
    if best is not None:
        assert tuple(data["node"].values()) == best[1]
    decided = [item for item in data["search"]["lattice"] if item["status"] == "evaluated"]
    assert len(decided) == statements


@pytest.mark.slow
def test_a_batch_that_takes_several_statements_is_not_begun_again() -> None:
    """What was answered before the budget ended counts; nothing more is asked."""
    data = validated(run(*PLAN, "--compare-recoding", "none", "--set", "max_statements=12", "--format", "json"))
    whole = validated(run(*PLAN, "--compare-recoding", "none", "--format", "json"))
    assert whole["cost"]["statements"] - data["cost"]["statements"] == 13


@pytest.mark.slow
def test_nothing_found_within_the_budget_is_not_called_impossible(clinic: Path) -> None:
    for verb in (PLAN, ANONYMIZE):
        result = run(*verb, "--set", "max_statements=1")
        assert result.exit_code == 1
        said = " ".join(result.stdout.split())
        assert said.startswith("FAIL")
        assert "the search reached its limit of 1 statement before it found a generalization" in said
        assert "whether there is one is not known" in said
        assert "not proven that there is nothing" in said
        assert "no generalization satisfies" not in said
        assert "proven:" not in said
    assert tables(clinic / "clinic.duckdb") == ["visits"]


def test_a_requirement_that_cannot_be_met_is_still_proven() -> None:
    Path("spec.yml").write_text(SPEC.replace("k: 12", "k: 700"))
    said = " ".join(run(*PLAN, "--set", "max_statements=1").stdout.split())
    assert "fewer than k = 700: nothing can be released" in said


def test_a_budget_of_seconds_may_be_used_up_at_once() -> None:
    result = run(*PLAN, "--set", "max_seconds=0")
    assert result.exit_code == 1
    assert "the search reached its limit of 0 s before" in " ".join(result.stdout.split())


@pytest.mark.slow
def test_a_budget_of_seconds_cancels_the_statement_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_after(monkeypatch, 18)
    started = time.monotonic()
    result = run(*PLAN, "--set", "max_seconds=4")
    assert time.monotonic() - started < 30, "the statement would take minutes"
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("PASS")
    assert "the search reached its limit of 4 s" in result.stdout
    assert "not proven optimal" in result.stdout


@pytest.mark.slow
def test_the_time_limit_of_the_run_is_not_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_after(monkeypatch, 18)
    assert "time limit of 4 s was reached" in refused(run(*PLAN, "--set", "timeout=4,max_seconds=60"), 3)


@pytest.mark.slow
def test_anonymize_releases_the_best_of_its_budget_and_the_manifest_says_so(clinic: Path) -> None:
    result = run(*ANONYMIZE, "--set", "max_statements=18")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("PASS  published")
    assert "not proven optimal: the best that was found" in result.stdout
    manifest = json.loads((clinic / "visits_release.manifest.json").read_text())
    assert manifest["search"]["stopped"] == "the search reached its limit of 18 statements"
    assert manifest["search"]["proven"] is False
    assert tuple(manifest["node"].values()) in satisfying()
    assert run("check", "spec.yml", "-d", "clinic.duckdb").exit_code == 0


@pytest.mark.slow
def test_a_search_within_its_budget_is_as_without() -> None:
    options = ("--format", "json", "--set", "max_seconds=600,max_statements=1000")
    within, without = validated(run(*PLAN, *options)), validated(run(*PLAN, "--format", "json"))
    assert within["search"] == without["search"]
    assert within["cost"]["statements"] == without["cost"]["statements"]


@pytest.mark.parametrize("option", ["max_seconds=-1", "max_statements=0", "max_statements=many"])
def test_a_budget_that_is_none_is_wrong_usage(option: str) -> None:
    for verb in (PLAN, ANONYMIZE):
        assert "--set max_s" in refused(run(*verb, "--set", option), 2)


@pytest.mark.slow
def test_a_budget_does_not_outlive_its_search(clinic: Path) -> None:
    """The figures of the chosen node, and later runs, are not its business."""
    engine = kanon_sql.connect(clinic / "clinic.duckdb")
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    budget = kanon_sql.Budget(statements=18)
    for _ in range(2):
        stopped = kanon_sql.plan(engine, spec, budget=budget)
        assert stopped.search is not None
        assert stopped.search.nodes_evaluated == 18
        assert len(stopped.metrics) == 7
    complete = kanon_sql.plan(engine, spec)
    assert complete.search is not None
    assert complete.search.proven
    engine.close()


@pytest.mark.slow
def test_a_flag_ends_a_search_before_its_next_statement(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For programs: a server that shuts down, a user who closes the window."""
    flag = threading.Event()
    act_after(monkeypatch, 18, lambda _: flag.set())
    result = kanon_sql.plan(
        kanon_sql.connect(clinic / "clinic.duckdb"),
        kanon_sql.Spec.load(clinic / "spec.yml"),
        budget=kanon_sql.Budget(interrupted=flag.is_set),
    )
    assert result.search is not None
    assert result.search.stopped == "the search was interrupted"
    assert result.search.nodes_evaluated == 18


@pytest.mark.slow
def test_an_interrupt_that_nobody_waits_for_passes_through(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Evaluator) -> None:
        raise KeyboardInterrupt

    act_after(monkeypatch, 18, interrupt)
    engine = kanon_sql.connect(clinic / "clinic.duckdb")
    for budget in (None, kanon_sql.Budget(seconds=60), kanon_sql.Budget(interrupted=lambda: False)):
        with pytest.raises(KeyboardInterrupt):
            kanon_sql.plan(engine, kanon_sql.Spec.load(clinic / "spec.yml"), budget=budget)
    engine.close()


@pytest.mark.slow
def test_only_what_the_cancel_caused_ends_the_search(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost connection, or a defect, while somebody wishes to stop is not "interrupted": it is what it is."""
    engine, spec = kanon_sql.connect(clinic / "clinic.duckdb"), kanon_sql.Spec.load(clinic / "spec.yml")
    for error in (DatabaseError("the connection was lost"), ZeroDivisionError("a defect"), KeyboardInterrupt()):
        flag = threading.Event()

        def press_and_fail(_: Evaluator, flag: threading.Event = flag, error: BaseException = error) -> None:
            flag.set()
            raise error

        with monkeypatch.context() as patch:
            act_after(patch, 18, press_and_fail)
            budget = kanon_sql.Budget(interrupted=flag.is_set)
            if isinstance(error, KeyboardInterrupt):  # what engines make of a cancelled statement
                result = kanon_sql.plan(engine, spec, budget=budget)
                assert result.search is not None
                assert result.search.stopped == "the search was interrupted"
            else:
                with pytest.raises(type(error)):
                    kanon_sql.plan(engine, spec, budget=budget)
    engine.close()


# --- Ctrl-C -------------------------------------------------------------------------------------


def act_after(monkeypatch: pytest.MonkeyPatch, questions: int, action: Callable[[Evaluator], object]) -> None:
    """Do something at the question after so many of every search."""
    rows = Evaluator._rows
    asked: WeakKeyDictionary[Evaluator, int] = WeakKeyDictionary()

    def watched(self: Evaluator, nodes: Sequence[Node], metric: Any) -> Any:
        number = asked[self] = asked.get(self, -1) + 1
        if number == questions:
            action(self)
        return rows(self, nodes, metric)

    monkeypatch.setattr(Evaluator, "_rows", watched)


SLOW = "SELECT COUNT(*) AS n FROM range(100000000) AS a(x), range(100000000) AS b(y) WHERE hash(x, y) = 7"


def slow_after(monkeypatch: pytest.MonkeyPatch, questions: int) -> None:
    act_after(monkeypatch, questions, lambda evaluator: evaluator.workspace.query(Statement("slow", SLOW), 1))


def press(_: object) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.sampled(2)
@needs_main_thread
@pytest.mark.parametrize("options", [(), ("--format", "json")])
def test_ctrl_c_during_the_search_shows_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    found = satisfying()
    act_after(monkeypatch, 18, press)
    result = run(*PLAN, *options)
    assert result.exit_code == 130, result.output
    assert result.stderr == ""
    if not options:
        assert result.stdout.startswith("PASS  a release of")
        assert re.search(r"optimality +not proven optimal: the best that was found\n", result.stdout)
        assert re.search(r"stopped +the search was interrupted\n", result.stdout)
        return
    data = validated(result)
    assert (data["search"]["proven"], data["search"]["stopped"]) == (False, "the search was interrupted")
    before = {node: loss for node, loss in found.items() if node < (3, 3)}
    assert tuple(data["node"].values()) == min(before, key=lambda node: (before[node], node))
    assert len(data["metrics"]) == 7


@needs_main_thread
def test_ctrl_c_before_anything_was_found_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    act_after(monkeypatch, 1, press)
    result = run(*PLAN)
    assert result.exit_code == 130
    assert "the search was interrupted before it found a generalization" in " ".join(result.stdout.split())


@pytest.mark.slow
@needs_main_thread
def test_ctrl_c_in_the_last_question_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search was over before it was stopped: it is complete, and says so."""
    act_after(monkeypatch, 25, press)  # the first question about the chosen node's figures
    assert "interrupted" in refused(run(*PLAN), 130), "the figures are no search: nobody is patient there"


@pytest.mark.slow
@pytest.mark.sampled(2)
@needs_main_thread
@pytest.mark.parametrize("questions", [18, 28])
def test_ctrl_c_in_anonymize_publishes_nothing(clinic: Path, monkeypatch: pytest.MonkeyPatch, questions: int) -> None:
    act_after(monkeypatch, questions, press)
    said = refused(run(*ANONYMIZE, "--set", "max_seconds=60"), 130)
    assert said == "error: interrupted; nothing was published\n"
    assert "visits_release" not in tables(clinic / "clinic.duckdb")
    assert not list(clinic.glob("*.json"))


SCRIPT = """
import sys, time
from tests.cli.test_cli_search import SLOW, CAPABILITIES
from kanon_sql.engines.duckdb import DuckDBEngine
from kanon_sql.errors import DatabaseError
from kanon_sql.evaluate import Evaluator
from kanon_sql.sql.statement import Statement

DuckDBEngine.capabilities = CAPABILITIES
rows, asked = Evaluator._rows, 0


def slow(self):
    print("slow", file=sys.stderr, flush=True)
    {action}


def watched(self, nodes, metric):
    global asked
    asked += 1
    if asked in {moments}:
        slow(self)
    return rows(self, nodes, metric)


Evaluator._rows = watched
from kanon_sql.cli import app
app(["plan", "spec.yml", "-d", "clinic.duckdb", "-q"])
"""

QUERY = 'self.workspace.query(Statement("slow", SLOW), 1)'
PYTHON = "for _ in range(6000): time.sleep(0.01)"


def pressed(
    action: str, moments: set[int], presses: int, number: signal.Signals = signal.SIGINT
) -> tuple[int, str, str]:
    """Run plan as a process, press Ctrl-C whenever it says that it is slow, and once more for the rest."""
    script = SCRIPT.format(action=action, moments=moments)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", script]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            for press in range(presses):
                if press < len(moments):
                    line = process.stderr.readline()
                    assert line == "slow\n", line + process.stderr.read()
                time.sleep(0.8)
                process.send_signal(number)
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, stdout, stderr


@pytest.mark.slow
def test_ctrl_c_in_a_long_statement_of_the_search_shows_the_best_so_far() -> None:
    code, said, errors = pressed(QUERY, {19}, 1)
    assert (code, errors) == (130, "")
    assert said.startswith("PASS")
    assert "the search was interrupted" in said
    assert "18 evaluated of 25" in said


@pytest.mark.slow
def test_a_second_ctrl_c_ends_the_figures_at_once() -> None:
    """The 19th question is interrupted; the next ones are the seven metrics of the chosen node."""
    assert pressed(QUERY, {19, 20}, 2) == (130, "", "error: interrupted; nothing was published\n")


@pytest.mark.slow
def test_a_second_ctrl_c_ends_what_the_first_could_not() -> None:
    assert pressed(PYTHON, {19}, 2) == (130, "", "error: interrupted; nothing was published\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks no handler")
@pytest.mark.parametrize("action", [QUERY, PYTHON])
def test_sigterm_ends_a_search_without_a_result(action: str) -> None:
    """Whoever sends it waits for no result, and sends SIGKILL next."""
    assert pressed(action, {19}, 1, signal.SIGTERM) == (143, "", "error: terminated; nothing was published\n")


@pytest.mark.slow
@needs_main_thread
@pytest.mark.parametrize("name", ["sqlite", "postgres", "mariadb"])
def test_a_real_ctrl_c_costs_no_connection(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """These drivers lose the connection, and the temporary tables, to an exception in the middle of an answer."""
    with subject_of(name) as subject:
        subject.table("people", {"q": "text", "r": "text"}, [(f"{n % 7}", f"{n % 13:02}") for n in range(100)])
        engine = subject.connect()
        timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))

        def slow(evaluator: Evaluator) -> None:
            timer.start()
            evaluator.workspace.query(Statement("slow", subject.slow), 1)

        engine.capabilities = CAPABILITIES
        act_after(monkeypatch, 5, slow)
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "people", "quasi_identifiers": {"q": None, "r": {"prefix": [1]}},
                "privacy": [{"k_anonymity": 2}], "search": {"algorithm": "exhaustive"},
            }
        )  # fmt: skip
        with interrupts(engine.cancel) as ctrl_c:
            budget = kanon_sql.Budget(interrupted=lambda: ctrl_c.stop_requested, handling=ctrl_c.deferred)
            result = kanon_sql.plan(engine, spec, budget=budget)
        timer.join()
        engine.close()
    assert ctrl_c.pressed
    assert result.search is not None
    assert result.search.stopped == "the search was interrupted"
    assert result.search.nodes_evaluated == 5
    assert len(result.metrics) == 7


# --- Progress -----------------------------------------------------------------------------------


def at_a_terminal(*arguments: str) -> str:
    """What a run shows on a terminal of 80 columns."""
    command = [sys.executable, "-m", "kanon_sql", *arguments]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    controller, terminal = pty.openpty()
    seen = b""

    def read() -> None:
        nonlocal seen
        try:
            while some := os.read(controller, 10_000):
                seen += some
        except OSError:  # the terminal was closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, env=environment, check=False)
    os.close(terminal)
    reader.join()
    os.close(controller)
    return seen.decode()


@pytest.mark.slow
def test_progress_says_how_far_the_search_is() -> None:
    """The line is drawn a few times a second: this search has more nodes than the others here, and lasts for some."""
    wide = "{intervals: [1, 2, 4, 8, 16, 32], top: 90}\n  diagnosis: {}\n  name: {prefix: [3, 2, 1]}"
    Path("spec.yml").write_text(
        SPEC.replace("{intervals: [5, 10, 20], top: 90}", wide)
        .replace("identifiers: [name]\n", "")
        .replace("k: 12", "k: 2")
    )
    said = re.compile(r"searching the lattice \(exhaustive\): best loss 0\.\d+, at most \d+ left")
    assert said.search(at_a_terminal(*PLAN))
    assert "searching the lattice" not in at_a_terminal(*PLAN, "--quiet")


@pytest.mark.parametrize(
    ("found", "seconds", "words"),
    [
        ((0, None, None), 0.0, ""),
        ((10, None, 0.29312), 3.0, ": best loss 0.2931"),
        ((100, 50, 0.5), 8.0, ": best loss 0.5, at most 50 left (4 s)"),
        ((100, 1_500, None), 8.0, ": at most 1,500 left (120 s)"),
        ((0, 7, None), 0.0, ": at most 7 left (0 s)"),
    ],
)
def test_progress_in_words(found: tuple[int, int | None, float | None], seconds: float, words: str) -> None:
    from kanon_sql.search import Progress

    assert search_pipeline._in_words(Progress(*found), "loss", seconds) == words


# --- --show nodes ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_small_lattice_is_explained_node_by_node() -> None:
    result = run(*PLAN, "--show", "nodes", env={"COLUMNS": "80"})
    assert result.exit_code == 0
    lattice = result.stdout.partition("\nLattice\n")[2].partition("\nRunners-up\n")[0]
    assert "levels in the order of age, zip" in lattice
    listed = re.findall(r"^  \[(\d), (\d)\] +(\w.*?)  ", lattice, re.MULTILINE)
    assert sorted((int(age), int(code)) for age, code, _ in listed) == [(a, z) for a in range(5) for z in range(5)]
    assert sum(what == "chosen" for _, _, what in listed) == 1
    assert max(map(len, lattice.splitlines())) <= 80


@pytest.mark.sampled(6)
@pytest.mark.parametrize("algorithm", ["incognito", "optimal", "samarati"])
@pytest.mark.parametrize("options", [(), ("--set", "max_statements=3")])
def test_what_is_explained_is_true(algorithm: str, options: tuple[str, ...]) -> None:
    """Against the exhaustive search, whose every answer comes from the database."""
    truth = satisfying()
    Path("spec.yml").write_text(SPEC.replace("exhaustive", algorithm))
    data = validated(run(*PLAN, "--show", "nodes", "--format", "json", *options))
    items = data["search"]["lattice"]
    assert len(items) == data["search"]["nodes_total"] == 25
    for item in items:
        assert item["satisfied"] in (None, tuple(item["node"]) in truth)
        if item["status"] == "pruned" and tuple(item["node"]) in truth:
            assert truth[tuple(item["node"])] > data["metrics"]["loss"]
    if not options and algorithm != "samarati":
        assert "open" not in {item["status"] for item in items}


@pytest.mark.slow
def test_a_large_lattice_is_explained_height_by_height(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN sex VARCHAR")
        connection.execute("UPDATE visits SET sex = CASE WHEN age % 2 = 0 THEN 'M' ELSE 'F' END")
    more = SPEC.replace("privacy:", "  sex: {}\n  diagnosis: {}\nprivacy:").replace("exhaustive", "optimal")
    (clinic / "spec.yml").write_text(more)
    result = run(*PLAN, "--show", "nodes", env={"COLUMNS": "80"})
    lattice = result.stdout.partition("\nLattice\n")[2].partition("\nRunners-up\n")[0]
    assert "--format json lists all 100 nodes" in lattice
    rows = [line.split() for line in lattice.splitlines() if re.match(r" +\d+ +\d+ ", line)]
    assert [int(row[0]) for row in rows] == list(range(10, -1, -1))
    assert sum(int(row[1]) for row in rows) == 100
    for row in rows:
        assert sum(int(cell) for cell in row[2:] if cell != ".") == int(row[1])
    assert "not\n" not in lattice, "a column of nothing is left out"
    assert max(map(len, lattice.splitlines())) <= 80


@pytest.mark.slow
def test_without_explain_there_is_no_lattice() -> None:
    assert "Lattice" not in run(*PLAN).stdout
    assert "lattice" not in validated(run(*PLAN, "--format", "json"))["search"]


@pytest.mark.slow
def test_a_source_without_rows_has_nothing_to_explain() -> None:
    Path("spec.yml").write_text(SPEC.replace("source: visits", "source: {query: SELECT * FROM visits WHERE age < 0}"))
    result = run(*PLAN, "--show", "nodes")
    assert result.exit_code == 1
    assert "Lattice" not in result.stdout
    assert validated(run(*PLAN, "--show", "nodes", "--format", "json"))["search"]["lattice"] == []


def test_nothing_found_is_explained_too() -> None:
    result = run(*PLAN, "--show", "nodes", "--set", "max_statements=1")
    assert result.exit_code == 1
    assert "levels in the order of the spec" in result.stdout
    assert re.search(r"\[0, 1\] +not evaluated", result.stdout)


@pytest.mark.slow
def test_a_lattice_too_large_to_explain_is_refused_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_pipeline, "MAX_NODES", 24)
    asked: list[Evaluator] = []
    act_after(monkeypatch, 0, asked.append)
    said = refused(run(*PLAN, "--show", "nodes"), 2)
    assert "this lattice has 25 nodes; at most 24 can be explained" in said
    assert asked == []
    assert run(*PLAN).exit_code == 0
