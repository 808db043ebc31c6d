"""Cell suppression: how it reads, what it costs, what it refuses, and that what is published was verified."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.recode.cells import MOST_TRIED
from kanon_sql.recode.estimate import Estimates
from kanon_sql.recode.release import Suppressed
from kanon_sql.recode.specialize import STATEMENTS_A_ROUND, STATEMENTS_A_ROUND_OF_SIZES
from kanon_sql.recode.sweep import NODES, STATEMENTS_A_STEP
from kanon_sql.release import write as write_module
from kanon_sql.report.recoding import recoding_in_words
from tests.conftest import Database
from tests.recode.test_recode import OTHERS, fill
from tests.support.specs import QUIET


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": {"age": {"intervals": [5, 20]}, "zip": {"prefix": [2, 1]}},
            "privacy": [{"k_anonymity": 2}],
            "recoding": "cells",
            "warnings": QUIET,
            **changes,
        }
    )


@pytest.fixture
def visits(database: Database) -> Database:
    fill(database, 60)
    return database


def cells_of(result: kanon_sql.results.Release) -> dict[str, int]:
    """How many cells of each column are suppressed."""
    assert result.recoding is not None
    return {name: item["cells"] for name, item in result.recoding["suppressed_cells"].items()}


PAIRS = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "2"), ("b", "3"), ("b", "3")]


def pairs(**changes: Any) -> kanon_sql.Spec:
    columns = {"x": {"tree": {"a": None, "b": None}}, "y": {"tree": {"1": None, "2": None, "3": None}}}
    return spec(quasi_identifiers=columns, **changes)


@pytest.mark.slow
def test_a_table_worked_out_by_hand(database: Database) -> None:
    """The two rows in the middle have y in common: x is suppressed in both, and nothing else."""
    database.table("visits", ["x", "y"], PAIRS)
    result = kanon_sql.anonymize(database.engine, pairs())
    assert Counter(database.rows("visits_release")) == {("a", "1"): 2, ("b", "3"): 2, ("*", "2"): 2}
    assert cells_of(result) == {"x": 2, "y": 0}
    assert result.node is None
    assert result.recoding is not None
    assert result.recoding["node"] == {"x": 0, "y": 0}
    assert result.recoding["suppressed_cells"]["x"] == {"cells": 2, "share": 2 / 6, "cap": None}
    assert result.recoding["mean_loss"] == pytest.approx(2 / 12)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("cap", [0, 0.2, 0.25])
def test_a_cap_is_held(database: Database, cap: float) -> None:
    """Two of eight cells of x would be suppressed. Where fewer may be, y is, wherever a value of it is alone."""
    database.table("visits", ["x", "y"], [*PAIRS, ("c", "4"), ("c", "4")])
    columns = {"x": {"tree": dict.fromkeys("abc")}, "y": {"tree": dict.fromkeys("1234")}}
    capped = {"method": "cells", "caps": {"x": cap}}
    result = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=columns, recoding=capped))
    beside = {("a", "1"): 2, ("b", "3"): 2, ("*", "2"): 2} if cap == 0.25 else {("a", "*"): 3, ("b", "*"): 3}
    assert Counter(database.rows("visits_release")) == {("c", "4"): 2, **beside}
    assert cells_of(result) == ({"x": 2, "y": 0} if cap == 0.25 else {"x": 0, "y": 6})
    assert result.recoding is not None
    assert result.recoding["suppressed_cells"]["x"]["cap"] == cap


def test_where_nothing_may_be_suppressed_the_full_domain_optimum_is_released(database: Database) -> None:
    database.table("visits", ["x", "y"], PAIRS)
    caps = {"method": "cells", "caps": {"x": 0, "y": 0}}
    full = kanon_sql.plan(database.engine, pairs(recoding="full_domain"))
    result = kanon_sql.plan(database.engine, pairs(recoding=caps))
    levels = result.node if result.recoding is None else result.recoding["node"]
    assert levels == full.node
    assert result.recoding is None or set(cells_of(result).values()) == {0}


@pytest.mark.slow
def test_a_value_that_is_called_like_the_top_counts_as_suppressed(database: Database) -> None:
    """Whoever reads `any` must know what it stands for: all values, whichever row has it."""
    database.table("tree", ["l0", "l1"], [(value, "any") for value in ("any", "b", "c", "d")])
    database.table("visits", ["place"], [(value,) for value in ("any", "any", "any", "b", "b", "b", "c", "d")])
    result = kanon_sql.anonymize(database.engine, spec(quasi_identifiers={"place": {"table": "tree"}}))
    assert Counter(database.rows("visits_release")) == {("b",): 3, ("any",): 5}
    assert cells_of(result) == {"place": 5}


@pytest.mark.slow
@pytest.mark.parametrize("tree", [None, {"x": ["a", "b"], "y": ["c"]}, {"x": ["a"], "y": ["b"]}])
def test_one_value_and_null_are_two(database: Database, tree: Any) -> None:
    """The one NULL among values that are all the same is released with them, as the top; so it is at fixed levels."""
    database.table("visits", ["x", "y"], [("a", "1"), ("a", "1"), ("a", "2"), ("a", "2"), (None, "2")])
    columns = {"x": tree and {"tree": tree}, "y": None}
    asked = spec(quasi_identifiers=columns, recoding={"method": "cells", "variant": "minimum"})
    assert kanon_sql.anonymize(database.engine, asked).passed
    assert Counter(database.rows("visits_release")) == {("a", "1"): 2, ("*", "2"): 3}


@pytest.mark.slow
def test_a_level_of_one_label_that_is_called_like_the_top_suppresses_nothing(database: Database) -> None:
    """At level 1 every row has `*` already: that is its label, and no cell is suppressed."""
    database.table("tree", ["l0", "l1", "l2"], [(value, "*", "*") for value in "abcd"])
    database.table("visits", ["x", "y"], [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("a", "3")])
    columns = {"x": {"table": "tree", "minimum_level": 1}, "y": {"tree": dict.fromkeys("1234")}}
    result = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=columns))
    assert result.passed
    assert cells_of(result)["x"] == 0
    assert {x for x, _ in database.rows("visits_release")} == {"*"}


@pytest.mark.slow
def test_a_maximum_level_limits_the_node_and_not_what_is_suppressed(database: Database) -> None:
    database.table("visits", ["x", "y"], PAIRS)
    columns = {
        "x": {"tree": {"a": None, "b": None}, "maximum_level": 0},
        "y": {"tree": {"1": None, "2": None, "3": None}, "maximum_level": 0},
    }
    result = kanon_sql.plan(database.engine, spec(quasi_identifiers=columns), bound=True)
    assert cells_of(result) == {"x": 2, "y": 0}
    assert result.recoding is not None
    assert 0 < result.recoding["bound"]["mean_loss"] <= result.recoding["mean_loss"]


@pytest.mark.slow
def test_rows_that_full_domain_would_suppress_are_released(database: Database) -> None:
    database.table("visits", ["x", "y"], PAIRS)
    full = kanon_sql.plan(database.engine, pairs(recoding="full_domain", suppression={"max_rows": 2}))
    result = kanon_sql.plan(database.engine, pairs(suppression={"max_rows": 2}))
    assert (full.rows["suppressed"], result.rows["suppressed"]) == (2, 0)
    assert result.recoding is not None
    assert result.recoding["tried"]["full_domain"]["mean_loss"] == pytest.approx(4 / 12)


@pytest.mark.slow
def test_no_more_is_tried_than_is_said(database: Database) -> None:
    """Nodes take a statement for as many as differ in one column, and two divisions follow, whatever the table."""
    columns = 2
    for rows in (60, 600):
        fill(database, rows)
        search = kanon_sql.plan(database.engine, spec(recoding="full_domain")).cost.statements
        result = kanon_sql.anonymize(database.engine, spec())
        assert result.recoding is not None
        nodes, steps = result.recoding["nodes"], result.recoding["tried"].get("sweep", {"steps": 0})["steps"]
        assert 2 < nodes <= MOST_TRIED
        divided = 2 * (STATEMENTS_A_ROUND_OF_SIZES * (columns + 2) + 45)
        assert result.cost.statements <= search + 8 + nodes // 2 + divided + STATEMENTS_A_STEP * steps + OTHERS
        assert result.cost.rows_fetched <= nodes + 120 + 5 * steps + 300
        assert result.cost.source_scans == 1


@pytest.mark.slow
def test_more_models_take_no_more_statements_a_round(visits: Database) -> None:
    asked = [{"k_anonymity": 2}, {"t_closeness": {"attribute": "illness", "t": 0.5}}]
    search = kanon_sql.plan(visits.engine, spec(sensitive=["illness"], privacy=asked, recoding="full_domain"))
    result = kanon_sql.anonymize(visits.engine, spec(sensitive=["illness"], privacy=asked))
    assert result.recoding is not None
    a_node = STATEMENTS_A_ROUND * 4 + 60
    assert result.cost.statements <= search.cost.statements + (result.recoding["nodes"] + 2) * a_node + OTHERS


@pytest.mark.slow
def test_so_many_nodes_and_no_more(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.recode.cells.MOST_TRIED", 3)
    result = kanon_sql.plan(visits.engine, spec())
    assert result.recoding is not None
    assert result.recoding["nodes"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("expected", [0.0, 1.0])
def test_the_best_of_what_was_tried_is_released(
    visits: Database, monkeypatch: pytest.MonkeyPatch, expected: float
) -> None:
    """Where a sweep loses more than was expected of its node, that is divided from the top down as well."""
    monkeypatch.setattr(Estimates, "of", lambda self, nodes: dict.fromkeys(nodes, expected))
    result = kanon_sql.anonymize(visits.engine, spec())
    assert result.recoding is not None
    losses = {name: item["mean_loss"] for name, item in result.recoding["tried"].items()}
    assert list(losses) == (["full_domain", "sweep"] if expected else ["full_domain", "node", "sweep"])
    assert result.recoding["mean_loss"] == pytest.approx(min(losses.values()))
    assert losses[result.recoding["start"]] == min(losses.values())


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("statements", [4, 12])
def test_a_budget_ends_it_and_releases_what_there_is(visits: Database, statements: int) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(), budget=kanon_sql.Budget(statements=statements))
    assert result.passed
    if result.recoding is None:
        assert any("that is taken instead" in note for note in result.notes)
    else:
        assert result.recoding["stopped"] == f"the search reached its limit of {statements} statements"
        assert any("ended early" in note for note in result.notes)
    assert not [table for table in visits.tables() if "kanon_" in table and "kanon_sql" not in table]


@pytest.mark.slow
def test_check_report_and_manifest_say_what_was_suppressed(visits: Database) -> None:
    caps = {"method": "cells", "caps": {"age": 0.9}}
    result = kanon_sql.anonymize(visits.engine, spec(recoding=caps), details=True)
    assert kanon_sql.check(visits.engine, spec(recoding=caps)).passed
    assert result.recoding is not None
    assert result.manifest is not None
    assert result.manifest["recoding"] == result.recoding
    page = kanon_sql.html_report(result)
    assert "Cell suppression: all rows have one level per column, and single cells are suppressed" in page
    assert "at most 90 % of the source may be suppressed" in page
    words = recoding_in_words(result.recoding)
    assert f"{sum(cells_of(result).values())} cells suppressed at the levels age" in words
    assert "where full-domain recoding would lose" in words


@pytest.mark.sampled(2)
@pytest.mark.parametrize("change", [{"most": 0}, {"cells": 0}])
@pytest.mark.slow
def test_a_written_table_with_other_suppressed_cells_is_dropped(
    visits: Database, monkeypatch: pytest.MonkeyPatch, change: dict[str, int]
) -> None:
    """The table is counted, whatever the recoding says of itself."""
    verify = write_module.refuse_other_cells

    def changed(workspace: Any, sets: Any, mapped: Any, *given: Any) -> None:
        said: list[Suppressed] = [replace(item, **change) for item in mapped.suppressed]
        verify(workspace, sets, replace(mapped, suppressed=said), *given)

    monkeypatch.setattr(write_module, "refuse_other_cells", changed)
    with pytest.raises(VerificationError, match="cells of 'age' are suppressed where"):
        kanon_sql.anonymize(visits.engine, spec())
    assert "visits_release" not in visits.tables()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": {"method": "cells", "variant": "best"}}, "variant: cells has the variants searched and minimum"),
        ({"recoding": {"method": "local", "caps": {"age": 0.1}}}, "recoding.caps: only the method cells takes it"),
        ({"recoding": {"method": "cells", "caps": {"sex": 0.1}}}, "recoding.caps.sex: 'sex' is not a quasi-identifier"),
        ({"recoding": {"method": "cells", "caps": {"age": 2}}}, "recoding.caps.age: expected a share of the column's"),
        ({"recoding": {"method": "cells", "caps": 0.1}}, "recoding.caps: expected a mapping of columns to shares"),
        ({"recoding": {"method": "cells", "variant": "low"}}, "recoding.variant: unknown variant; expected one of"),
        (
            {
                "recoding": {"method": "cells", "variant": "minimum"},
                "quasi_identifiers": {"age": {"intervals": [5], "maximum_level": 1}},
            },
            "quasi_identifiers.age.maximum_level: with variant: minimum every column stays",
        ),
        ({"recoding": "cells", "ledger": "releases"}, "ledger: a ledger recomputes earlier releases"),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(**changes)
    assert said in str(refused.value)


def test_a_spec_says_what_it_said() -> None:
    written = {"method": "cells", "variant": "searched", "caps": {"age": 0.25}}
    assert spec(recoding={"method": "cells", "caps": {"age": 0.25}}).to_dict()["recoding"] == written
    assert spec().to_dict()["recoding"] == {"method": "cells", "variant": "searched"}
    assert kanon_sql.Spec.from_dict(spec().to_dict()) == spec()
    assert 2 ** len(spec().quasi_identifiers) <= NODES


def test_rows_that_their_nulls_suppress_count_where_nodes_are_estimated(database: Database) -> None:
    """Two of the four rows are suppressed for NULL, and two violate alone: no row could be released."""
    database.table("people", ["q0", "q1"], [("a", -5), (None, 9), ("a", 9), (None, 9)])
    spec = {
        "version": 1, "source": "people", "release": "released", "recoding": "cells", "nulls": "suppress",
        "quasi_identifiers": {"q0": {"prefix": [3, 2, 1]}, "q1": {"maximum_level": 0}},
        "privacy": [{"k_anonymity": {"k": 3}}], "suppression": {"max_share": 0.7}, "warnings": QUIET,
    }  # fmt: skip
    result = kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict(spec))
    assert result.verdict == "fail"
    assert "released" not in database.tables()
