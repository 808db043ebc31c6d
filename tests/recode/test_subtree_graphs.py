"""Values with several parents, of which subtree recoding chooses one: against plain Python, and by hand."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.hierarchies import graph as graph_module
from kanon_sql.hierarchies.graph import STATEMENTS_A_CHOICE
from kanon_sql.recode.subtree import STATEMENTS_A_ROUND
from tests.conftest import Database
from tests.oracles.graph import tree_of_graph
from tests.oracles.recoding import assert_classes_satisfy, assert_rows_add_up, mean_losses
from tests.oracles.subtree import SubtreeProblem, Taken
from tests.recode.test_subtree import DIRECTIONS, NAMED, OTHERS, asked, watch
from tests.support.strategies import RandomProblem, examples
from tests.support.suppressions import suppressing

# --- against the oracle -----------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Values with one to three parents, whose labels have one or two; the top is theirs alone."""
    groups = {name: draw(st.lists(st.sampled_from("XYZ"), min_size=1, max_size=2, unique=True)) for name in "PQRST"}
    rows = []
    for value in "abcdefgh":
        for group in draw(st.lists(st.sampled_from(sorted(groups)), min_size=1, max_size=3, unique=True)):
            rows += [(value, group, above, "*") for above in groups[group]]
    return rows


@given(rows=graphs(), draw=st.randoms(use_true_random=False), data=st.data())
@examples(5)
def test_the_same_release_as_the_oracle(
    shared_database: Database, folder: Path, rows: list[tuple[str, ...]], draw: Any, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, 4))
    direction, form = data.draw(st.sampled_from(DIRECTIONS)), data.draw(st.sampled_from(["file", "table"]))
    cells = ["a", "a", "b", *"bcdefgh", *([None] if data.draw(st.booleans()) else [])]
    people = [
        {"q0": draw.choice(cells), "q1": draw.choice("pqrst"), "s0": draw.choice("xyz")}
        for _ in range(data.draw(st.integers(6, 30)))
    ]
    counts = Counter(row["q0"] for row in people)
    problem = RandomProblem(
        rows=people,
        hierarchies={"q0": tree_of_graph(rows, counts, k), "q1": NAMED["lopsided"]},
        sensitive=["s0"],
        requirements=[{"k_anonymity": {"k": k}}],
        limit=data.draw(st.sampled_from([0, 2, 0.2])),
        nulls="value",
    )
    spec = written(shared_database, folder, problem, rows, form, direction)
    taken: list[Taken] = []
    with pytest.MonkeyPatch.context() as patched:
        watch(patched, shared_database, taken)
        result = kanon_sql.anonymize(shared_database.engine, spec)
    oracle = SubtreeProblem(problem, direction)
    if result.recoding is None:
        assert not oracle.is_possible
        return
    release = [
        dict(zip(["q0", "q1", "s0", "serial"], line, strict=True)) for line in shared_database.rows("people_release")
    ]
    assert frozenset((row["serial"], (row["q0"], row["q1"])) for row in release) in oracle.answers(taken)
    assert_rows_add_up(problem, release, result.rows["suppressed"], 0)
    assert_classes_satisfy(problem, release)
    losses = mean_losses(problem, release)
    assert result.recoding["columns"]["q0"]["mean_loss"] == pytest.approx(losses["q0"])
    above = {value: {label for row in rows if row[0] == value for label in row} for value in "abcdefgh"}
    assert all(row["q0"] in above.get(people[row["serial"]]["q0"], {None, "*"}) for row in release)
    chosen = Counter(len({row[1] for row in rows if row[0] == value}) > 1 for value in counts if value)
    event(f"{chosen[True]} values could choose, {len(taken)} steps")


def written(
    database: Database, folder: Path, problem: RandomProblem, rows: list[tuple[str, ...]], form: str, direction: str
) -> kanon_sql.Spec:
    for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    types = {"q0": "VARCHAR", "q1": "VARCHAR", "s0": "VARCHAR", "serial": "INTEGER"}
    database.table("people", types, [[*row.values(), number] for number, row in enumerate(problem.rows)])
    database.table("tree", [f"l{level}" for level in range(4)], list(NAMED["lopsided"].values()))
    if form == "table":
        database.table("graph", [f"l{level}" for level in range(4)], rows)
        given: dict[str, Any] = {"table": "graph"}
    else:
        given = {"file": str(folder / "graph.csv")}
        with open(given["file"], "w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows(rows)
    return asked(
        {"q0": {**given, "parents": "several"}, "q1": {"table": "tree"}},
        sensitive=["s0"],
        keep=["serial"],
        privacy=problem.requirements,
        suppression=suppressing(problem.limit),
        recoding={"method": "subtree", "variant": direction},
    )


# --- worked out by hand ---------------------------------------------------------------------------

ZIPS = [
    ("94142", "9414*", "941**"), ("94142", "941*2", "941**"), ("94141", "9414*", "941**"),
    ("94132", "9413*", "941**"), ("94132", "941*2", "941**"), ("94139", "9413*", "941**"),
]  # fmt: skip


def released(database: Database, held: dict[str, int], **changes: Any) -> Counter[Any]:
    """What ZIP codes are released as, so many of each."""
    database.table("people", ["zip"], [(value,) for value, count in held.items() for _ in range(count)])
    database.table("zips", ["l0", "l1", "l2"], ZIPS)
    columns = {"zip": {"table": "zips", "parents": "several"}}
    kanon_sql.anonymize(database.engine, asked(columns, **{"privacy": [{"k_anonymity": 2}], **changes}))
    return Counter(label for (label,) in database.rows("people_release"))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_value_goes_to_the_parent_that_needs_it(database: Database, direction: str) -> None:
    """The survey's 94142: to 941*2 where 94132 is alone as well, and to 9414* where 94141 is alone instead."""
    recoding = {"recoding": {"method": "subtree", "variant": direction}}
    alone = {"94142": 1, "94132": 1, "94141": 2, "94139": 3}
    assert released(database, alone, **recoding) == {"94139": 3, "94141": 2, "941*2": 2}
    other = {"94142": 1, "94132": 2, "94141": 1, "94139": 3}
    assert released(database, other, **recoding) == {"94139": 3, "94132": 2, "9414*": 2}


def test_where_no_row_needs_it_the_smaller_loss_is_taken(database: Database) -> None:
    """Every value has enough rows: a goes to N, where it is one of two, and not to M, which has three."""
    rows = [("a", "M"), ("a", "N"), ("b", "M"), ("c", "M"), ("d", "N")]
    assert of_graph(database, rows, "aaabbbcccddd", minimum_level=1) == {"M": 6, "N": 6}


def of_graph(database: Database, rows: list[tuple[str, str]], held: str, **limits: int) -> Counter[Any]:
    """What the letters of a text are released as."""
    database.table("people", ["q"], [(value,) for value in held])
    database.table("graph", ["l0", "l1"], rows)
    columns = {"q": {"table": "graph", "parents": "several", **limits}}
    kanon_sql.anonymize(database.engine, asked(columns, privacy=[{"k_anonymity": 2}], suppression={"max_rows": 2}))
    return Counter(label for (label,) in database.rows("people_release"))


@pytest.mark.slow
def test_a_tree_would_have_lost_everything(database: Database) -> None:
    """With the first parent of each, 94132 alone is under 9413*, and no label but the top has two rows."""
    held = {"94142": 1, "94132": 1, "94141": 2}
    assert released(database, held) == {"94141": 2, "941*2": 2}
    database.table("zips", ["l0", "l1", "l2"], [row for row in ZIPS if row[1] != "941*2"])
    kanon_sql.anonymize(database.engine, asked({"zip": {"table": "zips"}}, privacy=[{"k_anonymity": 2}]))
    assert Counter(database.rows("people_release")) == {("941**",): 4}


def test_a_step_that_heals_more_for_less_goes_first(database: Database) -> None:
    """c joins e in O: 2 rows healed, 1 value lost. (In N, 2 for 2.) Then b joins M, which heals it; N would not."""
    rows = [("a", "M"), ("b", "M"), ("b", "N"), ("c", "N"), ("c", "O"), ("d", "M"), ("e", "O")]
    assert of_graph(database, rows, "abcdde") == {"M": 4, "O": 2}


# --- what it costs, and what is refused ------------------------------------------------------------


@pytest.mark.slow
def test_statements_do_not_depend_on_the_table(database: Database) -> None:
    found = set()
    for times in (1, 50):
        database.table("people", ["zip"], [(row[0],) for row in ZIPS for _ in range(times)])
        database.table("zips", ["l0", "l1", "l2"], ZIPS)
        spec = asked({"zip": {"table": "zips", "parents": "several"}}, privacy=[{"k_anonymity": 2}])
        result = kanon_sql.anonymize(database.engine, spec)
        assert result.recoding is not None
        rounds = result.recoding["rounds"] + 1
        assert result.cost.statements <= STATEMENTS_A_ROUND * rounds + 3 * STATEMENTS_A_CHOICE + 20 + OTHERS
        assert result.cost.source_scans == 1
        found.add(result.cost.rows_fetched - 2 * rounds)
    assert max(found) <= 80


def test_too_many_parents_are_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MOST_PARENTS", 2)
    with pytest.raises(HierarchyError, match="labels of level 0 have 3 parents to choose from"):
        released(database, {"94142": 4})


def test_a_row_that_stands_twice_is_refused(database: Database, folder: Path) -> None:
    path = folder / "twice.csv"
    path.write_text("a;P\na;Q\na;P\n")
    database.table("people", ["q"], [("a",)] * 4)
    with pytest.raises(HierarchyError, match="the same row again as in line 1; leave one of them out"):
        kanon_sql.plan(database.engine, asked({"q": {"file": str(path), "parents": "several"}}))
    with pytest.raises(HierarchyError, match="a value has one row"):
        kanon_sql.plan(database.engine, asked({"q": {"file": str(path)}}))


@pytest.mark.parametrize(
    ("column", "changes", "said"),
    [
        (
            {"file": "x.csv"},
            {"recoding": "mondrian"},
            "mondrian needs one parent for each value; use recoding: full_domain, local, cells or subtree",
        ),
        (
            {"file": "x.csv"},
            {"recoding": {"method": "subtree", "save_as": "kept"}},
            "so the choice may not fit new rows",
        ),
        ({"file": "x.csv"}, {"recoding": {"method": "subtree", "ranges": ["q"]}}, "which have no parents; leave"),
        ({"prefix": [1]}, {}, "several parents are possible only in a 'file' or a 'table', with one row per parent;"),
        ({}, {}, "several parents are possible only in a 'file' or a 'table', with one row per parent;"),
    ],
)
def test_what_a_spec_cannot_ask_for(column: dict[str, Any], changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked({"q": {**column, "parents": "several"}}, **changes)
    assert said in str(refused.value)


@pytest.mark.slow
def test_other_verbs(database: Database) -> None:
    assert released(database, {"94142": 1, "94132": 1, "94141": 2}) == {"94141": 2, "941*2": 2}
    spec = asked({"zip": {"table": "zips", "parents": "several"}}, privacy=[{"k_anonymity": 2}])
    assert spec.to_dict()["quasi_identifiers"]["zip"]["parents"] == "several"
    assert kanon_sql.check(database.engine, spec).passed
    with pytest.raises(UnsupportedError, match="the parents of zip were chosen by the released rows"):
        kanon_sql.audit(database.engine, spec, "people_release", attacks=["consistency"])
    with pytest.raises(
        UnsupportedError, match="the parent of a value with several parents is not known before the run"
    ):
        kanon_sql.plan(database.engine, spec, bound=True)
    runs = kanon_sql.compare(database.engine, {"zips": spec}, recodings=["subtree", "local", "mondrian"]).runs
    assert [run.passed for run in runs] == [True, True, False]
    assert "needs one parent for each value" in str(runs[2].reason)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("ks", [(2, 6), (6, 2)])
def test_each_k_chooses_parents_of_its_own(database: Database, ks: tuple[int, int]) -> None:
    """For k = 2 no row needs a parent, and a goes to N, which is smaller; 6 rows there are in M alone."""
    database.table("people", ["q"], [(value,) for value in "aabbbcccdd"])
    database.table("graph", ["l0", "l1"], [("a", "M"), ("a", "N"), ("b", "M"), ("c", "M"), ("d", "N")])
    columns = {"q": {"table": "graph", "parents": "several", "minimum_level": 1}}
    spec = asked(columns, privacy=[{"k_anonymity": 2}], suppression={"max_rows": 2})
    found = {run.k: run.result for run in kanon_sql.compare(database.engine, {"graph": spec}, ks).runs}
    assert [(found[k].rows["suppressed"], found[k].classes["largest"]) for k in (2, 6)] == [(0, 6), (2, 8)]
