"""What a user writes is read by parsers that call themselves: too deep, too long or too many is said, and soon."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

import pytest

from kanon_sql.errors import HierarchyError, KanonError, SpecError
from kanon_sql.hierarchies.files import MAX_LABEL, read_hierarchy
from kanon_sql.spec import Spec
from kanon_sql.spec.redact import redact_sql
from kanon_sql.sql.expression import level_expression
from kanon_sql.sql.parse import MAX_LEVELS, MAX_LINKS
from kanon_sql.sql.query import single_query
from tests.support.specs import HEAD, TAIL, problems

# --- SQL -----------------------------------------------------------------------------------

DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n + "x" + ")" * n,
    "NOT": lambda n: "CASE WHEN " + "NOT " * n + "x = 1 THEN 1 END",
    "NOT behind operators": lambda n: "CASE WHEN x" + " = NOT x" * n + " THEN 1 END",
    "CASE": lambda n: "CASE WHEN x = 1 THEN 1 ELSE " * n + "x" + " END" * n,
    "calls": lambda n: "lower(" * n + "x" + ")" * n,
    "lists": lambda n: "[" * n + "x" + "]" * n,
    "structs": lambda n: "{'a': " * n + "x" + "}" * n,
    "types": lambda n: "CAST(x AS " + "STRUCT(a " * n + "INT" + ")" * n + ")",
    "types in angles": lambda n: "CAST(x AS " + "MAP<INT, " * n + "INT" + ">" * n + ")",
    "IS NOT": lambda n: "CASE WHEN x" + " IS NOT NULL" * n + " THEN 1 END",
    "signs": lambda n: "- " * n + "x",
    "casts": lambda n: "x" + "::INT" * n,
    "subscripts": lambda n: "x" + "[1]" * n,
    "intervals": lambda n: "INTERVAL " * n + "1",
    "mixed operators": lambda n: "x" + " + x - x" * n,
    "names of columns called case": lambda n: "x.case(end, " * n + "x" + ")" * n,
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("levels", [300, 3_000])
def test_a_level_expression_too_deep_is_refused(name: str, levels: int) -> None:
    with pytest.raises(SpecError, match=r"levels deep|in a row|longer than|stack") as refused:
        level_expression(DEEP[name](levels), "quasi_identifiers.x.sql[0]")
    assert str(refused.value).startswith("quasi_identifiers.x.sql[0]: ")


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("levels", [500, 20_000])
@pytest.mark.sampled(3)
def test_a_source_query_too_deep_is_refused(name: str, levels: int) -> None:
    with pytest.raises(SpecError, match=r"levels deep|in a row|longer than|stack|does not parse"):
        single_query(f"SELECT {DEEP[name](levels)} AS a FROM t", "duckdb")


def test_where_it_is_too_deep_is_said() -> None:
    text = "SELECT a\nFROM t\nWHERE " + "(" * 40 + "a" + ")" * 40
    with pytest.raises(SpecError, match=rf"more than {MAX_LEVELS} levels deep at line 3, column {6 + MAX_LEVELS + 1} "):
        single_query(text, "postgres")
    row = ["x"] * (MAX_LINKS // 2 + 2)
    with pytest.raises(SpecError, match=rf"more than {MAX_LINKS} words and signs .* at line 1, column \d+ "):
        level_expression("+ ".join(row), "here")


@pytest.mark.slow
def test_what_people_write_is_not_too_deep() -> None:
    values = ", ".join(f"'value {number}'" for number in range(500))
    whens = " ".join(f"WHEN x = 'v{number}' OR NOT x <> 'w{number}' THEN 'label'" for number in range(200))
    for text in (
        f"CASE WHEN x IN ({values}) THEN 'known' ELSE 'other' END",
        f"CASE {whens} ELSE '?' END",
        DEEP["parentheses"](MAX_LEVELS - 10),
        DEEP["CASE"](MAX_LEVELS - 10),
        " || ".join(["x"] * 150),
    ):
        assert level_expression(text, "here")
    columns = ", ".join(f"a{number} < b AND NOT c AS d{number}" for number in range(2_000))
    joins = " ".join(f"JOIN t{number} ON a.x = t{number}.x AND t{number}.y IS NOT NULL" for number in range(200))
    assert single_query(f"SELECT {columns} FROM a {joins}", "postgres")


SEGFAULT = """
import threading
from kanon_sql.errors import SpecError
from kanon_sql.sql.query import single_query
def refused():
    for levels in (400, 10_000, 60_000):
        try:
            single_query("SELECT * FROM (" * levels + "SELECT 1" + ")" * levels, "duckdb")
        except SpecError as error:
            print("refused")
threading.stack_size({stack})
thread = threading.Thread(target=refused)
thread.start()
thread.join()
"""


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("stack", [0, 256 * 1024])
def test_no_depth_ends_the_process(stack: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEGFAULT.format(stack=stack)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["refused"] * 3)


def test_a_caller_deep_in_the_stack_gets_a_message() -> None:
    text = DEEP["CASE"](MAX_LEVELS - 2)

    def down(levels: int) -> None:
        if levels:
            down(levels - 1)
        else:
            level_expression(text, "here")

    answers = set()
    for left in (*range(10, 100, 5), 600, 800):
        try:
            down(sys.getrecursionlimit() - len(_frames()) - left)
            answers.add("read")
        except KanonError as error:
            answers.add(str(error)[:30])
        except RecursionError:
            answers.add("ours")  # the caller's own stack was full, before or in the message
    assert answers >= {"read", "here: it is nested too deeply "}


def _frames() -> list[object]:
    found: list[object] = []
    frame = sys._getframe()
    while frame is not None:
        found.append(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return found


@pytest.mark.parametrize("text", ["->", "CAST(x AS vae)", "x::STRUCT(a INT)", "CAST(x AS INT[])"])
def test_expressions_that_the_parser_or_an_engine_stumbles_over(text: str) -> None:
    with pytest.raises(SpecError, match=r"does not parse|not every engine has|subset"):
        level_expression(text, "here")


@pytest.mark.parametrize(
    "text", ["CAST('today' AS DATE)", "date ' Now '", "CAST(x AS DATE) - CAST('yesterday' AS DATE)"]
)
def test_a_time_by_the_clock_is_refused(text: str) -> None:
    """Databases read these words as times, so every run would make other labels of the same values."""
    with pytest.raises(SpecError, match="a time by the clock is not allowed"):
        level_expression(text, "sql")
    assert level_expression("CASE WHEN x = 'now' THEN 'today' END", "sql")


def test_a_comment_beside_an_unknown_name_is_not_said() -> None:
    with pytest.raises(SpecError, match="unknown name 'y'") as refused:
        level_expression("y /* Qwyjibo */ + 1", "here")
    assert "Qwyjibo" not in str(refused.value)


def test_what_is_parsed_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(SpecError):
        single_query("EXPLAIN SELECT * FROM t WHERE a = 'Qwyjibo'", "duckdb")
    assert "Qwyjibo" not in caplog.text
    logging.getLogger("sqlglot").warning("somebody else's")
    assert "somebody else's" in caplog.text


def calls_of(run: Callable[[], list[str]]) -> tuple[int, list[str]]:
    """How many functions written in Python a run calls, which a slow machine does not change, and what it returns."""
    calls = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(seen)
    try:
        answer = run()
    finally:
        sys.setprofile(None)
    return calls, answer


# --- YAML ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["[" * 10_000, "{a: " * 10_000, "- " * 10_000, "? " * 10_000, "[" * 900_000, "a: " + "[" * 61 + "]" * 61]
)
def test_yaml_nested_too_deeply(text: str) -> None:
    calls, (said,) = calls_of(lambda: problems(text))
    assert said.startswith("1:")
    assert "nested more than 60 levels deep" in said
    assert calls < 100_000, "the rest of the text was read too"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + TAIL + "".join(f"key{number}: 1\n" for number in range(200_000)),
        "{" + ", ".join(f"{number:x}" for number in range(200_000)) + "}",
        "- a\n" * 240_000,
    ],
)
def test_a_spec_of_too_many_keys_is_refused_unread(text: str) -> None:
    calls, (said,) = calls_of(lambda: problems(text))
    assert "put a long hierarchy into a file" in said
    assert calls < 1_000


@pytest.mark.campaign
def test_nodes_are_counted_where_signs_are_few() -> None:
    assert "more than 50,000 keys and values" in problems("[" + "a," * 50_001 + "]")[0]


@pytest.mark.slow
def test_billions_of_values_in_a_few_bytes() -> None:
    letters = "abcdefghijkl"
    text = "a: &a [1]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise(letters)
    )
    assert "more than 200,000 values" in problems(text)[0]


def test_a_small_stack_reads_a_spec() -> None:
    answers: list[str] = []

    def read() -> None:
        try:
            Spec.parse("[" * 5_000)
        except SpecError as error:
            answers.append(str(error))

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert "levels deep" in answers[0]


# --- Hierarchy files -----------------------------------------------------------------------

LONG = "Qwyjibo" * 20_000
"""More than the 131,072 characters that Python's reader of CSV takes."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{LONG};*\n", "h.csv:1: a cell of the row has more than 10,000 characters"),
        (f"a;*\n{LONG};*\n", "h.csv:2: a cell of the row has more than 10,000 characters"),
        (f"a;A;*\nb;{'x' * (MAX_LABEL + 1)};*\n", "h.csv:2: cell 2 of the row has more than 10,000 characters"),
        (f'a;*\nb;"B;*\n{LONG};*\n', "h.csv:2: a cell of the row has more than 10,000 characters; close its quotes"),
        ('a;*\nb;"B;*\nc;C\n', "h.csv:2: not a valid CSV row: a quoted cell does not end"),
        ('a;*\nb;"B"B;*\n', "h.csv:2: not a valid CSV row"),
        ("a;A;*\nb,B,*\n", "h.csv:2: 1 cells, but line 1 has 3"),
        ("a;A;*\rb;B\r", "h.csv:2: 2 cells, but line 1 has 3"),
        ("\ufeff", "h.csv: the hierarchy file has no rows"),
    ],
)
def test_hierarchy_files_that_break_their_reader(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(text, encoding="utf-8", newline="")
    with pytest.raises(HierarchyError) as refused:
        read_hierarchy(tmp_path / "h.csv")
    assert said in str(refused.value)
    assert "Qwyjibo" not in str(refused.value)


@pytest.mark.parametrize("content", [b"\xff\xfea", b"\xff\xfe\x00\xd8;\x00", b"a;\xed\xa0\x80\n"], ids=str)
def test_hierarchy_files_of_broken_characters(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(HierarchyError, match="not UTF-8; save it as UTF-8"):
        read_hierarchy(tmp_path / "h.csv")


def test_a_label_of_the_most_characters_is_read(tmp_path: Path) -> None:
    label = "x" * MAX_LABEL
    (tmp_path / "h.csv").write_text(f"{label};*\n", encoding="utf-8")
    assert read_hierarchy(tmp_path / "h.csv") == [(label, "*")]


# --- What is shown of them -----------------------------------------------------------------


@pytest.mark.campaign
def test_hiding_literals_reads_a_text_once() -> None:
    """Reading on from every character to the end would take these texts hours, and this process is given a minute."""
    redact = "from kanon_sql.spec.redact import redact_sql; print(*map(redact_sql, [%s]))"
    texts = "'[' * 900_000, '// ' * 300_000 + chr(39), '/*' * 450_000, '[' * 450_000 + chr(39)"
    command = [sys.executable, "-c", redact % texts]
    assert (
        subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()[1:] == ["?"] * 3
    )


@pytest.mark.parametrize("text", ["a // it's 'Qwyjibo'", "[it's, Qwyjibo", 'a // "Qwyjibo', "x // 'Qwyjibo'\n"])
def test_what_hides_in_comments_and_brackets_stays_hidden(text: str) -> None:
    assert "Qwyjibo" not in redact_sql(text)


@pytest.mark.slow
def test_of_many_problems_a_hundred_are_listed() -> None:
    found = problems(HEAD + TAIL + "".join(f"key{number}: 1\n" for number in range(3_000)))
    assert len(found) == 101
    assert found[-1].endswith("and 2,900 more problems")
