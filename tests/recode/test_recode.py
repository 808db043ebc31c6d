"""Local recoding: how it reads, what it costs, what it refuses, and that a failure publishes nothing."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError, VerificationError
from kanon_sql.recode import best as best_module
from kanon_sql.recode import regroup as regroup_module
from kanon_sql.recode import sweep as sweep_module
from kanon_sql.recode.specialize import STATEMENTS_A_ROUND, STATEMENTS_A_ROUND_OF_SIZES
from kanon_sql.recode.sweep import AFTER_A_SWEEP, AFTER_CUTS, STATEMENTS_A_BATCH, STATEMENTS_A_STEP, Again
from kanon_sql.release import write as write_module
from kanon_sql.report.recoding import recoding_in_words
from kanon_sql.verbs.dbt.project import dbt
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.support.specs import QUIET

OTHERS = 70
"""Statements that a run takes besides its rounds and its columns: sets, verification, publishing."""

SWEPT, SWEPT_AGAIN = (30 + STATEMENTS_A_BATCH * how.nodes // how.batch for how in (AFTER_CUTS, AFTER_A_SWEEP))
"""Statements that a sweep of dear classes takes besides its steps and the rounds after it."""

REGROUPED = regroup_module.STATEMENTS_FOR_STEPS + regroup_module.STEPS * regroup_module.STATEMENTS_A_STEP
"""Statements that the search for new classes takes."""

BEST = {"method": "local", "variant": "best"}

TREE = {"south": {"s1": ["a", "b"], "s2": ["c", "d"]}, "north": {"n1": ["e"], "n2": ["f"]}}


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": {"age": {"intervals": [5, 20]}, "zip": {"prefix": [2, 1]}},
            "privacy": [{"k_anonymity": 2}],
            "recoding": "local",
            "warnings": QUIET,
            **changes,
        }
    )


def fill(database: Database, rows: int, seed: int = 3) -> None:
    draw = random.Random(seed)
    database.table(
        "visits",
        {"age": "INTEGER", "zip": "VARCHAR", "illness": "VARCHAR"},
        [(draw.randint(20, 79), f"{draw.randint(100, 399)}", draw.choice("xyz")) for _ in range(rows)],
    )


@pytest.fixture
def visits(database: Database) -> Database:
    fill(database, 60)
    return database


def test_a_table_worked_out_by_hand(database: Database) -> None:
    """Two pairs of neighbours, a value twice, and a rest that only the top has in common."""
    rows = [(value,) for value in "aabbbccddef"]
    database.table("visits", ["place"], rows)
    tree = {"place": {"tree": TREE}}
    result = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=tree))
    assert Counter(database.rows("visits_release")) == {
        ("a",): 2, ("b",): 3, ("c",): 2, ("d",): 2, ("north",): 2,
    }  # fmt: skip
    assert result.node is None
    assert result.search is None
    assert result.recoding is not None
    levels = result.recoding["columns"]["place"]["levels"]
    assert levels == {"0": {"labels": 4, "rows": 9}, "2": {"labels": 1, "rows": 2}}
    assert result.recoding["mean_loss"] == pytest.approx(2 * (1 / 5) / 11)  # 2 of 11 cells, (2 - 1) / (6 - 1) each


@pytest.mark.slow
def test_a_text_with_two_meanings_is_released_with_one(database: Database) -> None:
    """'x' is a value, and the label of two others: the value goes up to a label that says what it stands for."""
    database.table("tree", ["l0", "l1", "l2"], [("x", "y", "*"), ("z", "y", "*"), ("u", "x", "*"), ("v", "x", "*")])
    database.table("visits", ["place"], [(value,) for value in "xxxzzzuuvv"])
    quasi_identifiers = {"place": {"table": "tree"}}
    kanon_sql.anonymize(database.engine, spec(quasi_identifiers=quasi_identifiers))
    assert Counter(database.rows("visits_release")) == {("y",): 3, ("z",): 3, ("u",): 2, ("v",): 2}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["full_domain", "local", "cells"])
def test_a_table_that_would_be_suppressed_as_a_whole_is_no_release(database: Database, method: str) -> None:
    """However many rows may be suppressed: at the highest levels allowed, both values violate by themselves."""
    database.table("visits", ["x"], [("a",), ("a",), ("b",), ("b",)])
    columns = {"x": {"tree": {"g": ["a"], "h": ["b"]}, "maximum_level": 1}}
    asked = {"quasi_identifiers": columns, "privacy": [{"k_anonymity": 3}], "suppression": {"max_share": 1.0}}
    result = kanon_sql.anonymize(database.engine, spec(recoding=method, **asked))
    if method == "cells":  # may suppress every cell
        assert set(database.rows("visits_release")) == {("*",)}
        return
    assert not result.passed
    assert "visits_release" not in database.tables()


@pytest.mark.slow
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database) -> None:
    for rows in (60, 2_000):
        fill(database, rows)
        result = kanon_sql.anonymize(database.engine, spec())
        assert result.recoding is not None
        rounds, steps, columns = result.recoding["rounds"] + 2, result.recoding["tried"]["top"]["steps"], 2
        most = STATEMENTS_A_ROUND_OF_SIZES * rounds + STATEMENTS_A_STEP * steps
        assert result.cost.statements <= most + 10 * columns + OTHERS + SWEPT
        assert result.cost.rows_fetched <= 2 * rounds + steps + 30 * columns + 40
        assert result.cost.source_scans == 1


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("recoding", "sensitive"),
    [
        *((recoding, ["illness"]) for recoding in ("local", BEST, "mondrian", "cells")),
        ("local", []),
        *(pytest.param(recoding, [], marks=pytest.mark.slow) for recoding in (BEST, "mondrian", "cells")),
    ],
)
@pytest.mark.slow
def test_a_release_that_is_written_from_counts_is_that_of_the_source(
    visits: Database, recoding: Any, sensitive: list[str]
) -> None:
    """Where something else is kept, the source is read again: the same rows, without it."""
    visits.connection.execute("UPDATE visits SET illness = NULL WHERE age % 5 = 0")
    visits.connection.execute("ALTER TABLE visits ADD COLUMN serial INTEGER")
    diverse = [{"l_diversity": {"attribute": name, "l": 2}} for name in sensitive]
    asked = {"sensitive": sensitive, "privacy": [{"k_anonymity": 3}, *diverse], "recoding": recoding}
    scans, releases = [], []
    for keep in ([], ["serial"]):
        result = kanon_sql.anonymize(visits.engine, spec(**asked, keep=keep))
        scans.append(result.cost.source_scans)
        releases.append(Counter(row[: 2 + len(sensitive)] for row in visits.rows("visits_release")))
    assert scans[1] == scans[0] + 1
    assert releases[0] == releases[1]
    assert releases[0].total() > 40


@pytest.mark.slow
def test_more_models_take_no_more_statements_a_round(visits: Database) -> None:
    asked = [{"k_anonymity": 2}, {"t_closeness": {"attribute": "illness", "t": 0.5}}]
    result = kanon_sql.anonymize(visits.engine, spec(sensitive=["illness"], privacy=asked))
    assert result.recoding is not None
    rounds, steps = result.recoding["rounds"] + 2, result.recoding["tried"]["top"]["steps"]
    assert result.cost.statements <= STATEMENTS_A_ROUND * rounds + STATEMENTS_A_STEP * steps + OTHERS + SWEPT + 60


@pytest.mark.slow
def test_the_best_takes_as_many_statements_as_its_rounds_and_steps(database: Database) -> None:
    """Whatever the table: per round and step as many as are said here, and a few for each of the three ways."""
    for rows in (60, 2_000):
        fill(database, rows)
        search = kanon_sql.plan(database.engine, spec(recoding="full_domain")).cost.statements
        result = kanon_sql.anonymize(database.engine, spec(recoding=BEST))
        assert result.recoding is not None
        tried = result.recoding["tried"]
        assert list(tried) == ["optimum", "top", "sweep"]
        rounds = sum(item["rounds"] + 1 for item in tried.values())
        steps = sum(item["steps"] for item in tried.values())
        most = STATEMENTS_A_ROUND_OF_SIZES * rounds + STATEMENTS_A_STEP * steps + REGROUPED
        assert result.cost.statements <= most + search + len(tried) * OTHERS + SWEPT + SWEPT_AGAIN
        assert result.cost.rows_fetched <= 3 * (rounds + steps) + 300
        assert result.cost.source_scans == 1


@pytest.mark.slow
def test_the_best_is_the_best_of_what_was_tried(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(recoding=BEST))
    assert result.recoding is not None
    losses = {name: item["mean_loss"] for name, item in result.recoding["tried"].items()}
    assert result.recoding["mean_loss"] == pytest.approx(min(losses.values()))
    assert losses[result.recoding["start"]] == min(losses.values())
    assert "the best of 3 ways" in recoding_in_words(result.recoding)
    fast = kanon_sql.plan(visits.engine, spec())
    assert fast.recoding is not None
    assert losses["top"] <= fast.recoding["mean_loss"] + 1e-9


def columns_filled(database: Database, *further: dict[str, Any]) -> dict[str, Any]:
    """Rows that are alike in other columns, so that many nodes have classes for some of them."""
    draw = random.Random(5)
    places = ["south1a", "south1b", "south2a", "north1a", "north1b", "north2a"]
    names = ["first", "second", "third", "fourth"]
    rows = [[places[min(draw.randrange(6), draw.randrange(6))] for _ in names] for _ in range(500)]
    database.table("visits", [*names, "illness"], [(*row, draw.choice("xyz")) for row in rows])
    prefixes = {name: {"prefix": [6, 5]} for name in names}
    privacy = [{"k_anonymity": 4}, *further]
    return {"quasi_identifiers": prefixes, "recoding": BEST, "privacy": privacy, "sensitive": ["illness"]}


@pytest.mark.slow
@pytest.mark.parametrize("further", [[], [{"l_diversity": {"attribute": "illness", "l": 2}}]], ids=["k", "k_and_l"])
def test_dear_classes_are_swept_again(
    database: Database, monkeypatch: pytest.MonkeyPatch, further: list[dict[str, Any]]
) -> None:
    """Less is lost for it, every row is released, and every class still satisfies."""
    asked = spec(**columns_filled(database, *further))
    again = kanon_sql.anonymize(database.engine, asked)
    classes: dict[tuple[Any, ...], list[Any]] = {}
    for *labels, illness in database.rows("visits_release"):
        classes.setdefault(tuple(labels), []).append(illness)
    assert sum(map(len, classes.values())) == 500
    assert min(map(len, classes.values())) >= 4
    assert not further or all(len(set(found)) >= 2 for found in classes.values())
    monkeypatch.setattr(best_module, "worth_a_second", lambda *_: False)
    once = kanon_sql.plan(database.engine, asked)
    assert again.recoding is not None
    assert once.recoding is not None
    assert again.recoding["tried"]["top"]["mean_loss"] <= once.recoding["tried"]["top"]["mean_loss"]
    assert again.recoding["mean_loss"] <= once.recoding["mean_loss"]
    assert further or again.recoding["mean_loss"] < once.recoding["mean_loss"]


@pytest.mark.slow
def test_the_best_goes_the_way_of_the_fast_one(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so never loses more; here dear classes of the fast one are swept, and lose less by it."""
    monkeypatch.setattr(best_module, "worth_regrouping", lambda *_: False)
    asked = columns_filled(database)
    fast = kanon_sql.plan(database.engine, spec(**{**asked, "recoding": "local"})).recoding
    best = kanon_sql.plan(database.engine, spec(**asked)).recoding
    assert best is not None
    assert fast is not None
    assert fast["tried"]["top"]["steps"] > 0
    assert best["tried"]["top"]["mean_loss"] == pytest.approx(fast["mean_loss"])


@pytest.mark.slow
def test_a_second_sweep_that_loses_more_is_not_released(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """All classes that lose anything are dear here, and there is one node for them; its steps are counted."""
    asked = spec(**columns_filled(database))
    monkeypatch.setattr(best_module, "worth_a_second", lambda *_: False)
    once = kanon_sql.plan(database.engine, asked)
    monkeypatch.undo()
    monkeypatch.setattr(best_module, "worth_regrouping", lambda *_: False)
    for sweep in ("AFTER_A_SWEEP", "AFTER_CUTS"):
        monkeypatch.setattr(best_module, sweep, Again(halves=0, nodes=1, batch=1))
    again = kanon_sql.plan(database.engine, asked)
    assert again.recoding is not None
    assert once.recoding is not None
    assert again.recoding["mean_loss"] == once.recoding["mean_loss"]
    assert again.recoding["tried"]["sweep"]["steps"] > once.recoding["tried"]["sweep"]["steps"]


@pytest.mark.slow
def test_a_sweep_of_many_vectors_looks_at_fewer_nodes(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors times nodes are bounded, but for the fewest nodes that are worth it."""
    swept = []
    table = sweep_module.nodes_table
    monkeypatch.setattr(
        sweep_module,
        "nodes_table",
        lambda state, nodes: (swept.append((state.count, len(nodes))), table(state, nodes))[1],
    )
    monkeypatch.setattr(best_module, "worth_a_second", lambda *_: False)
    for pairs, fewest in ((sweep_module.PAIRS, 0), (300, 0), (0, 2)):
        monkeypatch.setattr(sweep_module, "PAIRS", pairs)
        monkeypatch.setattr(sweep_module, "FEWEST_NODES", fewest)
        result = kanon_sql.anonymize(visits.engine, spec(recoding=BEST)).raise_for_failure()
        assert result.recoding is not None
        least = min(tried["mean_loss"] for tried in result.recoding["tried"].values())
        assert result.recoding["mean_loss"] == pytest.approx(least)
    ((vectors, all_nodes), (_, some), (_, two)) = swept
    assert (some, two) == (300 // vectors, 2)
    assert two < some < all_nodes


@pytest.mark.slow
def test_a_sweep_worked_out_by_hand(database: Database) -> None:
    """From the top down, `e` keeps all but the two `d` together; in a sweep `a` and `b` find each other before that."""
    database.table("visits", ["place"], [(value,) for value in "abcdde"])
    tree = {"place": {"tree": TREE}}
    fast = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=tree))
    assert Counter(database.rows("visits_release")) == {("d",): 2, ("*",): 4}
    best = kanon_sql.anonymize(database.engine, spec(quasi_identifiers=tree, recoding=BEST))
    assert Counter(database.rows("visits_release")) == {("d",): 2, ("s1",): 2, ("*",): 2}
    assert fast.recoding is not None
    assert best.recoding is not None
    assert (fast.recoding["mean_loss"], best.recoding["mean_loss"]) == pytest.approx((4 / 6, (2 * (1 / 5) + 2) / 6))
    assert best.recoding["start"] == "sweep"


@pytest.mark.slow
def test_what_no_class_took_is_joined_by_the_class_that_loses_least(database: Database) -> None:
    """Of the classes `s1`, `s2` and `n1`, the first two have as much to lose; `f` is left alone."""
    database.table("visits", ["place"], [(value,) for value in "abcdeeef"])
    asked = spec(quasi_identifiers={"place": {"tree": TREE}}, recoding=BEST)
    result = kanon_sql.anonymize(database.engine, asked)
    assert result.rows["released"] == 8
    assert Counter(database.rows("visits_release")) == {("s1",): 2, ("s2",): 2, ("north",): 4}


@pytest.mark.slow
def test_it_loses_less_than_the_optimum_of_full_domain(visits: Database) -> None:
    full = kanon_sql.plan(visits.engine, spec(recoding="full_domain"))
    local = kanon_sql.plan(visits.engine, spec())
    assert local.metrics["loss"] < full.metrics["loss"]
    assert local.rows["released"] == full.rows["released"]
    assert visits.tables() == ["visits"]


def test_a_budget_ends_the_rounds_and_releases_what_there_is(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(), budget=kanon_sql.Budget(statements=7))
    assert result.passed
    assert result.recoding is not None
    assert result.recoding["stopped"] == "the search reached its limit of 7 statements"
    assert result.stopped == result.recoding["stopped"]
    assert any("ended early" in note for note in result.notes)


@pytest.mark.slow
def test_check_risk_and_report_read_the_labels(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(), details=True)
    assert kanon_sql.check(visits.engine, spec()).passed
    assert result.details is not None
    assert [table.name for table in result.details.tables] == ["source", "release"]
    assert result.details.tables[1].classes == result.classes["count"]
    page = kanon_sql.html_report(result)
    assert "Local recoding: the level of a value differs by class" in page
    manifest = result.manifest
    assert manifest is not None
    assert manifest["node"] is None
    assert manifest["recoding"] == result.recoding


def test_full_domain_is_taken_where_it_suppresses_less(database: Database) -> None:
    """At the highest level allowed two rows violate, whatever is done with them, and the optimum suppresses as many."""
    database.table("visits", ["place"], [(value,) for value in "aaabbbe"])
    tree = {"place": {"tree": TREE, "maximum_level": 2}}
    asked = spec(quasi_identifiers=tree, suppression={"max_rows": 1})
    result = kanon_sql.anonymize(database.engine, asked)
    assert result.rows == {"source": 7, "released": 6, "suppressed": 1}
    assert Counter(database.rows("visits_release")) == {("a",): 3, ("b",): 3}


def test_what_no_class_can_satisfy_fails_with_the_reason(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(privacy=[{"k_anonymity": 61}]))
    assert not result.passed
    assert "fewer than k = 61" in result.message
    assert visits.tables() == ["visits"]


# --- refusals --------------------------------------------------------------------------------


def test_what_needs_a_level_for_all_rows_is_refused_with_the_reason(visits: Database, tmp_path: Any) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: clinic\n")
    for run, reason in [
        (
            lambda: kanon_sql.plan(visits.engine, spec(), explain=True),
            "labels differ by class or value",
        ),
        (lambda: kanon_sql.plan(visits.engine, spec(), all_minimal=True), "no chosen lattice node"),
        (
            lambda: kanon_sql.render(spec(), "duckdb"),
            "each round of such a recoding depends on the results of the round",
        ),
        (lambda: dbt(visits.engine, spec(), tmp_path), "one level per column"),
    ]:
        with pytest.raises(UnsupportedError, match=reason):
            run()


@pytest.mark.parametrize("recoding", ["local", "mondrian", "cells"])
def test_dbt_writes_levels_alone_and_says_what_to_do(visits: Database, tmp_path: Any, recoding: str) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: clinic\n")
    with pytest.raises(UnsupportedError) as error:
        dbt(visits.engine, spec(recoding=recoding), tmp_path)
    assert str(error.value) == (
        f"dbt: its models apply one level per column, but with recoding: {recoding} labels depend on the class "
        "(publish such a release with kanon-sql anonymize, and declare it as a dbt source); use recoding: full_domain"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["dbt_project.yml"]
    with pytest.raises(SpecError, match=r"recoding\.save_as: the dbt model itself is the recoding"):
        dbt(visits.engine, spec(recoding={"save_as": "learned"}), tmp_path)


@pytest.mark.parametrize("recoding", ["local", "mondrian", "cells"])
def test_sqlmesh_audits_the_labels_that_are_there(visits: Database, recoding: str) -> None:
    """An audit groups by labels, whatever made them: no level is written, so there is nothing to refuse."""
    assert audits(visits.engine, spec(recoding=recoding), "visits") == audits(
        visits.engine, spec(recoding="full_domain"), "visits"
    )


def test_a_population_is_refused(visits: Database) -> None:
    asked = [{"k_map": {"population": "visits", "k": 2}}]
    with pytest.raises(UnsupportedError, match="counts the classes of the source alone"):
        kanon_sql.plan(visits.engine, spec(privacy=asked))


def test_scratch_tables_are_needed(visits: Database) -> None:
    engine = kanon_sql.connect(visits.connection, scratch="inline")
    with pytest.raises(UnsupportedError, match="scratch tables"):
        kanon_sql.plan(engine, spec())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": "xyz"}, "recoding.method: unknown recoding; expected one of full_domain, local, cells, cover"),
        (
            {"recoding": {"method": "local", "variant": "slow"}},
            "recoding.variant: unknown variant; expected one of fast, best, searched, minimum, trees, reduce",
        ),
        ({"recoding": {"method": "local", "begin": "both"}}, "recoding.begin: unknown key"),
        ({"recoding": {"variant": "fast"}}, "recoding.variant: full_domain is configured under 'search'"),
        ({"ledger": "releases"}, "ledger: a ledger recomputes earlier releases from one level per column"),
        ({"search": {"algorithm": "k_optimize"}}, "search.algorithm: k_optimize cuts the domains"),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(**changes)
    assert said in str(refused.value)


# --- failures --------------------------------------------------------------------------------


@pytest.fixture
def tampered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A release that somebody changes between its writing and its verification."""
    verify = write_module._verify

    def tamper_with(connection: Any, statement: str) -> None:
        def verified(workspace: Any, choice: Any, target: Any, *given: Any, **named: Any) -> Any:
            connection.execute(statement.format(table=target.parts[-1]))
            return verify(workspace, choice, target, *given, **named)

        monkeypatch.setattr(write_module, "_verify", verified)

    return tamper_with


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET zip = '*'",
        "UPDATE {table} SET age = (SELECT MIN(age) FROM {table})",
        "DELETE FROM {table} WHERE zip = (SELECT MIN(zip) FROM {table})",
    ],
)
def test_a_written_table_that_is_not_the_recoding_is_dropped(visits: Database, tampered: Any, statement: str) -> None:
    tampered(visits.connection, statement)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(visits.engine, spec())
    assert "visits_release" not in visits.tables()
