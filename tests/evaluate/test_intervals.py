"""What the labels of chosen intervals say, and what they and everything else must not say of suppressed rows."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from rich.console import Console

import kanon_sql
from kanon_sql.errors import HierarchyError, VerificationError
from kanon_sql.evaluate import search as searching
from kanon_sql.evaluate.budget import Budget
from kanon_sql.evaluate.partitions.evaluator import Partitions
from kanon_sql.report.text import result_text
from kanon_sql.search import Batch, Verdict
from kanon_sql.sql.statement import Statement
from tests.conftest import Database
from tests.support.ordered import Case, assert_right, everything_said, planned, released
from tests.support.suppressions import suppressing

# --- The labels ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_labels_of_numbers_are_open_at_the_ends(database: Database) -> None:
    """The lowest and the highest value, 9 and 1,000, are in no label; 30, which more have than 40, is in one."""
    database.table("people", {"q": "INTEGER"}, [[v] for v in (9, 10, 20, 21, 30, 30, 40, 1000)])
    assert released(database, planned({"q": None})) == ["30", "< 20", "> 30", "[20, 30)"]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1, 2, 2, 2, 5, 6, 7, 8], ["<= 2", "> 2"]),  # 2 has more than 5
        ([1, 1, 1, 2, 5, 5, 7, 8], ["< 5", ">= 5"]),
        ([1, 1, 1, 2, 5, 6, 7, 8], ["< 5", ">= 5"]),  # neither
        ([1, 2, 3, 3, 4, 5, 5, 5, 6, 7, 8, 9], ["(3, 5]", "<= 3", "> 5"]),
    ],
)
def test_between_two_intervals_stands_the_value_that_more_rows_have(
    database: Database, values: list[int], labels: list[str]
) -> None:
    """Of the two values that a label could name, the one that says least about a single row. Four rows each."""
    database.table("people", {"q": "INTEGER"}, [[v] for v in values])
    assert released(database, planned({"q": None}, privacy=[{"k_anonymity": 4}])) == labels


@pytest.mark.slow
def test_ends_are_weighed_by_persons(database: Database) -> None:
    """Three rows of one person are one; two persons have the 5."""
    rows = [[1, 1], [1, 2], [2, 3], [2, 3], [2, 3], [5, 5], [5, 6], [7, 7]]
    database.table("people", {"q": "INTEGER", "p": "INTEGER"}, rows)
    spec = planned({"q": None}, unit="p", privacy=[{"k_anonymity": 3}])
    assert released(database, spec) == ["< 5", ">= 5"]


@pytest.mark.slow
def test_labels_of_a_file_are_its_first_and_last_value_in_its_order(database: Database, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("none\nschool\nmaster\ndoctor\nunused\n")
    database.table("people", ["q"], [["none"], ["school"], ["master"], ["doctor"]])
    assert released(database, planned({"q": {"file": str(tmp_path / "h.csv")}})) == ["master..doctor", "none..school"]


@pytest.mark.slow
def test_a_tree_and_a_table_have_orders_too(database: Database) -> None:
    database.table("people", {"q": "VARCHAR"}, [["b"], ["10"], ["9"], ["a"]])
    tree = {"tree": {"x": ["b", "9"], "y": ["10", "a"]}}
    assert released(database, planned({"q": tree})) == ["10..a", "b..9"]
    database.table("numbers", {"v": "INTEGER", "g": "VARCHAR"}, [[10, "x"], [9, "x"], [8, "x"], [7, "y"]])
    database.table("people", {"q": "VARCHAR"}, [["7"], ["8"], ["9"], ["10"]])
    assert released(database, planned({"q": {"table": "numbers"}})) == ["7..8", "9..10"]


def test_dates_and_times_are_ordered_by_value(database: Database) -> None:
    days = ["1999-12-31", "2000-01-01", "2010-05-05", "2010-06-06"]
    database.table("people", {"q": "DATE"}, [[day] for day in days])
    assert released(database, planned({"q": {"dates": ["year"]}})) == ["< 2010-05-05", ">= 2010-05-05"]


@pytest.mark.slow
def test_null_stands_behind_all_values(database: Database) -> None:
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 2, 3, 4, None, None)])
    assert released(database, planned({"q": None})) == ["< 3", ">= 3", None]
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 2, 3, None, None, None)])
    assert released(database, planned({"q": None}, privacy=[{"k_anonymity": 3}])) == [None, "not NULL"]
    # Two values in four cells and three in six, or three in nine and two NULL: 10 is less than 11.
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 2, 3, None, None)])
    assert released(database, planned({"q": None})) == ["3 or NULL", "< 3"]
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 1, 1, 2, 3, None)])
    assert released(database, planned({"q": None}, privacy=[{"k_anonymity": 3}])) == ["1", "> 1 or NULL"]


NULL_ALONE = [1, 1, 1, 2, 2, 2, None]


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("limit", [0, 1])
def test_a_null_that_is_alone_costs_no_more_than_it_must(database: Database, limit: int) -> None:
    """With 2 it makes (3 + 4 x 2 - 7) / (21 - 7); suppressed it counts all three, (6 + 3 - 7) / 14."""
    database.table("people", {"q": "INTEGER"}, [[value] for value in NULL_ALONE])
    spec = planned({"q": None}, suppression=suppressing(limit))
    assert released(database, spec) == (["1", "2"] if limit else ["1", "2 or NULL"])
    assert kanon_sql.plan(database.engine, spec).metrics["loss"] == pytest.approx((2 if limit else 4) / 14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_one_column_with_nulls_is_no_worse_than_mondrian(database: Database, seed: int) -> None:
    """Its ranges are intervals of the same order, NULL being behind all values."""
    rng = random.Random(seed)
    values = [rng.choice([1, 2, 3, 5, 8, 13, None]) for _ in range(rng.randint(4, 30))] + [1, None]
    database.table("people", {"q": "INTEGER"}, [[value] for value in values])
    privacy = [{"k_anonymity": rng.choice([2, 3])}]
    best = kanon_sql.plan(database.engine, planned({"q": None}, privacy=privacy)).metrics["loss"]
    other = planned({"q": None}, privacy=privacy, search={}, recoding="mondrian")
    assert best <= kanon_sql.anonymize(database.engine, other).metrics["loss"] + 1e-9


@pytest.mark.slow
def test_a_label_says_null_only_where_a_released_row_has_it(database: Database, tmp_path: Path) -> None:
    """The row with NULL is suppressed for its other column: nothing tells that it would have been with 2."""
    (tmp_path / "h.csv").write_text("1\n2\n")
    rows = [[1, "x"], [1, "x"], [2, "x"], [2, "x"], [None, "y"]]
    database.table("people", {"q": "INTEGER", "r": "VARCHAR"}, rows)
    spec = planned(
        {"q": None, "r": {"file": str(tmp_path / "r.csv")}}, privacy=[{"k_anonymity": 2}], suppression={"max_rows": 1}
    )
    (tmp_path / "r.csv").write_text("x\ny\n")
    kanon_sql.anonymize(database.engine, spec)
    assert sorted(set(database.rows("people_release"))) == [("1", "x"), ("2", "x")]


@pytest.mark.slow
def test_domains_of_one_shape_have_a_statement_each(database: Database) -> None:
    """No domain gets the labels of another, though the three differ in nothing but their values."""
    values = {"a": (1, 2, 3, 4), "b": (10, 20, 30, 40), "c": (100, 200, 300, 400)}
    database.table("people", dict.fromkeys(values, "INTEGER"), list(zip(*values.values(), strict=True)))
    kanon_sql.anonymize(database.engine, planned(dict.fromkeys(values)))
    assert sorted(set(database.rows("people_release"))) == [
        ("< 3", "< 30", "< 300"),
        (">= 3", ">= 30", ">= 300"),
    ]


def test_two_intervals_never_share_a_label(database: Database, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a\nb..c\na..b\nc\n")
    database.table("people", ["q"], [["a"], ["b..c"], ["a..b"], ["c"]])
    with pytest.raises(HierarchyError, match="1 of its 2 intervals would have the label of another") as refused:
        released(database, planned({"q": {"file": str(tmp_path / "h.csv")}}))
    assert ".." not in str(refused.value), "the labels themselves are values"


# --- Measured right, by hand and at random (tests/search/test_k_optimize.py) ----------------------------------

NULLS = [
    {"q0": a, "q1": b, "s": "x"}
    for a, b in [(1, "a"), (1, "b"), (2, "a"), (3, "c"), (3, "c"), (2, "a"), (3, None), (None, "b"), (9, "c"), (9, "b")]
]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("style", "metric", "k"), [("drop", "loss", 2), ("mask", "discernibility", 3)])
@pytest.mark.parametrize("nulls", ["value", "suppress"])
def test_metrics_with_nulls(database: Database, tmp_path: Path, nulls: str, style: str, metric: str, k: int) -> None:
    """Two rows with NULL, and an interval numbered where NULL's code must not be."""
    domains: dict[str, list[Any]] = {"q0": [1, 2, 3, 9], "q1": ["c", "a", "unused", "b"]}
    case = Case(NULLS, domains, k, 4, metric, nulls=nulls, style=style, forms={"q1": "file"})
    found = assert_right(database, tmp_path, case)
    assert found.passed
    assert metric != "loss" or 1 in (found.node or {}).values(), "something must be cut"


# --- What must not be said ------------------------------------------------------------------------------

PLANTED: dict[str, Any] = {
    "INTEGER": (6, 7, 47114711),
    "DECIMAL(10, 1)": (Decimal("6.5"), Decimal("7.5"), Decimal("47114711.5")),
    "DATE": (date(2001, 1, 1), date(2001, 1, 2), date(1847, 11, 4)),
    "VARCHAR": ("f", "g", "n47114711"),
}
# So long that no hash and no time has one of them by chance.
WORDS = ("47114711", "1847-11")


def said_of_planted(database: Database, spec: kanon_sql.Spec) -> str:
    found = kanon_sql.anonymize(database.engine, spec)
    assert found.passed
    assert found.rows["suppressed"] > 0
    console = Console(width=200)
    with console.capture() as shown:
        console.print(result_text(found))
    return everything_said(database, found) + shown.get()


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize(("form", "how"), [("rule", "outlier"), ("file", "outlier"), ("rule", "null")])
@pytest.mark.sampled(12)
def test_nothing_says_what_only_a_suppressed_row_has(
    database: Database, tmp_path: Path, kind: str, form: str, how: str
) -> None:
    """A value that lies beyond all others, in a row that is too rare to release, or has a NULL beside it."""
    low, high, planted = PLANTED[kind]
    rows = [[low, "x"]] * 10 + [[high, "x"]] * 10 + [[planted, "x" if how == "outlier" else None]]
    database.table("people", {"q": kind, "r": "VARCHAR"}, rows)
    given: dict[str, Any] = {}
    if form == "file":
        values = sorted([low, high, planted])
        (tmp_path / "h.csv").write_text("".join(f"{value}\n" for value in values))
        given = {"file": str(tmp_path / "h.csv")}
    spec = planned(
        {"q": given, "r": None}, privacy=[{"k_anonymity": 12}], suppression={"max_rows": 1}, nulls="suppress"
    )
    said = said_of_planted(database, spec)
    assert not any(word in said for word in WORDS)
    (label,) = {row[0] for row in database.rows("people_release")}
    ends = {"rule": {"<= {high}", ">= {low}"}, "file": {"{low}..{high}"}}[form]
    assert label in {end.format(low=low, high=high) for end in ends}


@pytest.mark.slow
def test_a_suppressed_value_between_two_intervals_is_in_neither_label(database: Database) -> None:
    """47114711 lies between 7 and 90000000, which are released: the end is a released neighbour, whichever it is."""
    rows = [[6]] * 5 + [[7]] * 5 + [[47114711]] + [[90000000]] * 5 + [[90000001]] * 5
    database.table("people", {"q": "INTEGER"}, rows)
    spec = planned({"q": None}, privacy=[{"k_anonymity": 6}], suppression={"max_rows": 1})
    assert "47114711" not in said_of_planted(database, spec)
    assert {row[0] for row in database.rows("people_release")} == {"<= 7", ">= 90000000"}


@pytest.mark.slow
def test_suppressed_rows_do_not_outweigh_released_ones(database: Database) -> None:
    """More rows have 47114711 than any released value: not one of them counts."""
    rows = [[6, "x"]] * 3 + [[7, "x"]] * 3 + [[47114711, "y"]] * 5
    database.table("people", {"q": "INTEGER", "r": "VARCHAR"}, rows)
    spec = planned({"q": None, "r": None}, privacy=[{"k_anonymity": 6}], suppression={"max_rows": 5})
    assert "47114711" not in said_of_planted(database, spec)
    assert {row[0] for row in database.rows("people_release")} == {"<= 7"}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("form", "labels"), [("rule", {"< 8", "8"}), ("file", {"6..7", "8"})])
def test_a_suppressed_value_inside_a_released_interval_is_not_in_its_label(
    database: Database, tmp_path: Path, form: str, labels: set[str]
) -> None:
    """The candidate cuts leave 8 and 47114711 together; of these, only 8 is released."""
    rows = [[6, "x"]] * 10 + [[7, "x"]] * 5 + [[8, "x"]] * 5 + [[47114711, "y"]]
    database.table("people", {"q": "INTEGER", "r": "VARCHAR"}, rows)
    (tmp_path / "h.csv").write_text("6\n7\n8\n47114711\n")
    given = {"file": str(tmp_path / "h.csv")} if form == "file" else {}
    search = {"algorithm": "k_optimize", "cuts": 1}
    spec = planned({"q": given, "r": None}, privacy=[{"k_anonymity": 5}], suppression={"max_rows": 1}, search=search)
    assert "47114711" not in said_of_planted(database, spec)
    assert {row[0] for row in database.rows("people_release")} == labels


@pytest.mark.sampled(3)
@pytest.mark.parametrize("other", [1_000, 4_711, 2_000_000])
def test_the_release_does_not_depend_on_which_value_is_suppressed(database: Database, other: int) -> None:
    """Nothing can be learned of it but that it fits in no class: the same labels, whatever it is."""
    database.table("people", {"q": "INTEGER"}, [[6]] * 10 + [[7]] * 10 + [[other]])
    spec = planned({"q": None}, privacy=[{"k_anonymity": 12}], suppression={"max_rows": 1})
    found = kanon_sql.anonymize(database.engine, spec)
    assert Counter(database.rows("people_release")) == {("<= 7",): 20}
    assert found.intervals == {"q": 1}
    assert found.notes == [
        "q: 1 of 1 interval labels end at a value that fewer than 12 released rows have; round the values in a "
        "source query if no label may show such a one"
    ]


@pytest.mark.slow
def test_the_written_table_is_verified_not_the_search(database: Database) -> None:
    """Labels that merge nothing the search told apart, but tell apart what it merged, fail and are dropped."""
    database.table("people", {"q": "INTEGER", "kept": "INTEGER"}, [[1, 1], [2, 1], [3, 1], [4, 1]])
    original: Callable[..., Any] = searching.with_labels

    def raw(workspace: Any, coded: Any, *given: Any) -> Any:
        labelled = original(workspace, coded, *given)
        table = workspace.quoted(labelled.sets.lookups[0].table)
        workspace.engine.execute(Statement("test", f"UPDATE {table} SET l1 = l0"))
        return labelled

    # From the source such labels make small classes; from the frequency set, a row for every label of a code.
    for keep, reason in ((["kept"], "does not satisfy"), ([], "rows were written")):
        with patch.object(searching, "with_labels", raw), pytest.raises(VerificationError, match=reason):
            kanon_sql.anonymize(database.engine, planned({"q": None}, keep=keep))
        assert "people_release" not in database.tables()


@pytest.mark.parametrize("algorithm", ["optimal", "k_optimize"])
def test_a_table_whose_rows_all_have_a_null_has_an_answer(database: Database, algorithm: str) -> None:
    """Also where the limit would let all of them go."""
    database.table("people", {"q": "INTEGER", "r": "INTEGER"}, [[1, None], [None, 2]])
    search = {"algorithm": algorithm}
    spec = planned({"q": None, "r": None}, nulls="suppress", suppression={"max_rows": 5}, search=search)
    found = kanon_sql.anonymize(database.engine, spec)
    assert not found.passed
    assert "every row has a NULL quasi-identifier" in found.message
    assert "people_release" not in database.tables()


# --- Stopped ------------------------------------------------------------------------------------------


def crowd(database: Database) -> kanon_sql.Spec:
    rng = random.Random(5)
    rows = [[rng.randint(0, 30), date(2000, 1, 1) + timedelta(days=rng.randint(0, 20))] for _ in range(300)]
    database.table("people", {"a": "INTEGER", "b": "DATE"}, rows)
    return planned({"a": None, "b": None}, privacy=[{"k_anonymity": 3}])


SLOW = "SELECT COUNT(*) AS n FROM range(100000000) AS a(x), range(100000000) AS b(y) WHERE hash(x, y) = 7"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["limit", "interrupt"])
def test_a_cancelled_statement_ends_the_search_at_the_best_so_far(database: Database, how: str) -> None:
    """As --set max_seconds and Ctrl-C do it: the statement that runs is cancelled, and the best so far released."""
    spec = crowd(database)
    wished = threading.Event()
    metrics: list[float] = []
    ask = Partitions.ask

    def cancel() -> None:
        wished.set()
        database.engine.cancel()

    def slow_in_the_end(self: Partitions, batch: Batch) -> Sequence[Verdict]:
        if len(metrics) > 30:
            timer = threading.Timer(0.3, cancel if how == "interrupt" else int)
            timer.start()
            try:
                self._workspace.query(Statement("slow", SLOW), 1)
            finally:
                timer.join()
        answer = ask(self, batch)
        metrics.extend(verdict.metric for verdict in answer if verdict.satisfied and verdict.metric is not None)
        return answer

    budget = Budget(seconds=3) if how == "limit" else Budget(interrupted=wished.is_set)
    with patch.object(Partitions, "ask", slow_in_the_end):
        found = kanon_sql.anonymize(database.engine, spec, budget=budget)
    assert found.passed
    assert found.search is not None
    assert not found.search.proven
    assert found.search.stopped in ("the search was interrupted", "the search reached its limit of 3 s")
    assert found.metrics["loss"] == pytest.approx(min(metrics), rel=1e-9), "the best of those that were answered"
    assert min(Counter(database.rows("people_release")).values()) >= 3
