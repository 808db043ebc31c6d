"""Releases of (k,k)-anonymous rows: by an oracle on random tables, and that they lose less than the classes before."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError, VerificationError
from kanon_sql.recode import bound, kk
from kanon_sql.recode.specialize import STATEMENTS_A_ROUND_OF_SIZES
from kanon_sql.recode.sweep import STATEMENTS_A_STEP
from kanon_sql.release import write as write_module
from kanon_sql.report.recoding import recoding_in_words
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.oracles.consistency import edges_of
from tests.oracles.model import Hierarchy, Row, height_of, with_null
from tests.oracles.recoding import assert_rows_add_up, mean_losses, weighted_mean
from tests.recode.test_recode import OTHERS, SWEPT
from tests.support.oracle_cases import Case, cases, load
from tests.support.specs import QUIET
from tests.support.strategies import RandomProblem, examples


def of_rows(case: Case, k: int, effort: str) -> tuple[Case, dict[str, Any], dict[str, Any]]:
    """The case with what rows can promise alone, and what a spec says of both recodings."""
    problem = replace(
        case.problem, unit=None, nulls="value", requirements=[{"k_anonymity": {"k": k}}],
        rows=[{name: value for name, value in row.items() if name != "unit"} for row in case.problem.rows],
    )  # fmt: skip
    local = {"recoding": {"method": "local", "variant": effort}}
    return (
        replace(case, problem=problem, style="drop", algorithm="optimal"),
        local,
        {"recoding": {"method": "kk", "variant": effort}, "privacy": [{"kk_anonymity": {"k": k}}]},
    )


def changed(spec: kanon_sql.Spec, **changes: Any) -> kanon_sql.Spec:
    made = kanon_sql.Spec.from_dict({**spec.to_dict(), **changes})
    made._base_dir = spec.base_dir
    return made


def assert_rows_and_records_see_k(problem: RandomProblem, release: Sequence[Row], k: int) -> None:
    """Every row covers k records, its own among them, and who is released, or covered at all, is covered by k rows."""
    columns = problem.hierarchies
    shown = [{name: row[name] for name in columns} for row in release]
    edges = edges_of(problem.rows, shown, columns)
    covering = Counter(record for edge in edges for record in edge)
    for row, edge in zip(release, edges, strict=True):
        assert row["serial"] in edge
        assert len(edge) >= k
        assert covering[row["serial"]] >= k
    assert all(count >= k for count in covering.values())


def assert_labels_are_allowed(problem: RandomProblem, release: Sequence[Row]) -> None:
    for column, plain in problem.hierarchies.items():
        low, high = problem.levels.get(column, (0, height_of(plain)))
        for row in release:
            assert row[column] in with_null(plain)[problem.rows[row["serial"]][column]][low : high + 1]


def is_clear(hierarchy: Hierarchy) -> bool:
    """Whether a label stands for the same values wherever it is found."""
    found: dict[str, set[frozenset[object]]] = {}
    for level in range(height_of(hierarchy) + 1):
        for label in {path[level] for path in hierarchy.values()}:
            found.setdefault(label, set()).add(frozenset(v for v, path in hierarchy.items() if path[level] == label))
    return all(len(meanings) == 1 for meanings in found.values())


def assert_kept(database: Database, folder: Path, case: Case, k: int, effort: str = "fast") -> None:
    case, local, lowered = of_rows(case, k, effort)
    problem, full = case.problem, load(database, folder, case)
    before = kanon_sql.anonymize(database.engine, changed(full, **local))
    database.connection.execute("DROP TABLE IF EXISTS people_release")
    asked = changed(full, **lowered)
    if not all(map(is_clear, problem.hierarchies.values())):
        with pytest.raises(UnsupportedError, match="stand for different values at different levels"):
            kanon_sql.anonymize(database.engine, asked)
        return
    planned = kanon_sql.plan(database.engine, asked)
    result = kanon_sql.anonymize(database.engine, asked)
    event(result.verdict)
    assert result.verdict == planned.verdict == before.verdict
    if result.verdict == "fail":
        assert "people_release" not in database.tables()
        return
    names = [*problem.hierarchies, *problem.sensitive, "serial"]
    release = [dict(zip(names, line, strict=True)) for line in database.rows("people_release")]
    assert_rows_add_up(problem, release, result.rows["suppressed"], 0)
    assert_rows_and_records_see_k(problem, release, k)
    assert_labels_are_allowed(problem, release)
    assert result.rows["suppressed"] == before.rows["suppressed"]
    assert before.mean_loss is not None
    assert result.mean_loss is not None
    assert result.mean_loss <= before.mean_loss + 1e-9
    event(f"loses less: {result.mean_loss < before.mean_loss - 1e-9}")
    losses = mean_losses(problem, release)
    assert result.mean_loss == pytest.approx(weighted_mean(problem, losses), abs=1e-9)
    assert result.mean_loss == planned.mean_loss
    told, least = result.achieved["kk_anonymity"]["k"], planned.achieved["kk_anonymity"]["k"]
    assert told is None or k <= least <= told
    assert kanon_sql.check(database.engine, asked).passed
    assert result.classes["count"] == len({tuple(row[name] for name in problem.hierarchies) for row in release})


@pytest.mark.slow
@given(case=cases(units=False))
@examples(12)
def test_what_a_release_promises(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, case, 2)


@pytest.mark.slow
@given(case=cases(units=False))
@examples(3)
def test_the_same_from_the_best_local_recoding(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, case, 3, "best")


AGES = {
    n: (str(n), f"[{n // 5 * 5}, {n // 5 * 5 + 5})", f"[{n // 20 * 20}, {n // 20 * 20 + 20})", "*")
    for n in range(20, 50)
}
ZIPS = {str(n): (str(n), f"{n // 10}*", f"{n // 100}**", "*") for n in range(100, 110)}
TABLES: dict[str, Any] = {"age": AGES, "zip": ZIPS, "sex": {"m": ("m", "*"), "f": ("f", "*")}}


@pytest.fixture
def visits(database: Database) -> Database:
    """Rows that lie close together, so that classes overlap."""
    return drawn_visits(database)


def drawn_visits(database: Database) -> Database:
    """140 of them, in a table of that name."""
    draw = random.Random(5)
    rows = [
        (20 + int(draw.random() ** 2 * 30), str(100 + int(draw.random() ** 2 * 10)), draw.choice("mf"), n)
        for n in range(140)
    ]
    database.table("visits", {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "serial": "INTEGER"}, rows)
    return database


def spec(**changes: Any) -> kanon_sql.Spec:
    columns = {"age": {"intervals": [5, 20]}, "zip": {"prefix": [2, 1]}, "sex": None}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": columns,
            "keep": ["serial"],
            "privacy": [{"kk_anonymity": 3}],
            "recoding": "kk",
            **changes,
        }
    )


def rows_of(database: Database, table: str) -> list[dict[str, Any]]:
    """Its rows, in the order of their serial numbers."""
    rows = [dict(zip((*TABLES, "serial"), line, strict=True)) for line in database.rows(table)]
    return sorted(rows, key=lambda row: row["serial"])


@pytest.mark.slow
def test_it_loses_less_and_says_that_it_is_no_k_anonymity(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec(), details=True)
    assert result.recoding is not None
    tried = result.recoding["tried"]
    words = recoding_in_words(result.recoding)
    assert f"{result.classes['count']} different rows, cells lowered in {result.recoding['rounds']} rounds" in words
    assert tried["lowered"]["mean_loss"] < 0.9 * tried["local"]["mean_loss"]
    assert result.message.startswith("published 140 of 140 rows, verified for (3,3)-anonymity")
    assert any("(3,3)-anonymity is weaker than 3-anonymity" in note for note in result.notes)
    assert result.classes["smallest"] < 3
    one_sided = [{"kk_anonymity": {"k": 3, "variant": "1k"}}]
    assert kanon_sql.check(visits.engine, spec(privacy=one_sided, recoding="local")).passed
    assert not kanon_sql.check(visits.engine, spec(privacy=[{"k_anonymity": 3}], recoding="local")).passed


@pytest.mark.slow
def test_no_cell_could_be_lowered_further(visits: Database) -> None:
    """The oracle tries the next level of every cell, in all rows alike: some row or record would see fewer than k."""
    kanon_sql.anonymize(visits.engine, spec())
    source, release = rows_of(visits, "visits"), rows_of(visits, "visits_release")
    shown = [{column: row[column] for column in TABLES} for row in release]
    alike: dict[tuple[Any, ...], list[int]] = {}
    for row in source:
        alike.setdefault(tuple(row[column] for column in TABLES), []).append(row["serial"])
    edges = edges_of(source, shown, TABLES)
    covering = Counter(record for edge in edges for record in edge)
    tried = 0
    for serials in alike.values():
        first = serials[0]
        for column, table in TABLES.items():
            path = table[source[first][column]]
            level = path.index(shown[first][column])
            if level == 0:
                continue
            (after,) = edges_of(source, [{**shown[first], column: path[level - 1]}], TABLES)
            lost = edges[first] - after
            tried += 1
            assert len(after) < 3 or any(covering[record] - len(serials) < 3 for record in lost), (first, column)
    assert tried > 100


@pytest.mark.slow
def test_rounds_take_few_statements(visits: Database) -> None:
    """Of more rows, the same number of statements a round, besides those that a run takes anyhow."""
    result = kanon_sql.anonymize(visits.engine, spec(warnings=QUIET))
    assert result.recoding is not None
    tried = result.recoding["tried"]["local"]
    local = (tried["rounds"] + 2) * STATEMENTS_A_ROUND_OF_SIZES + tried["steps"] * STATEMENTS_A_STEP + SWEPT
    lowering = (result.recoding["rounds"] + 1) * kk.STATEMENTS_A_ROUND
    of_killed_runs = 2  # what they left in tables is looked for, and before that whose the record of it is
    assert result.cost.statements <= 2 * OTHERS + 30 + of_killed_runs + local + lowering
    assert result.cost.source_scans <= 4  # the last two are those of the verification


@pytest.mark.slow
def test_what_is_left_whole_is_still_verified(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too many pairs would be compared, some classes keep their labels, and the others count their own rows."""
    everything = kanon_sql.anonymize(visits.engine, spec()).mean_loss
    monkeypatch.setattr(kk, "MOST_COVERED", 400)
    some = kanon_sql.anonymize(visits.engine, spec())
    assert any("keep the labels of the local recoding" in note for note in some.notes)
    monkeypatch.setattr(kk, "MOST_PLACED", 0)
    none = kanon_sql.anonymize(visits.engine, spec())
    assert none.recoding is not None
    assert none.mean_loss == pytest.approx(none.recoding["tried"]["local"]["mean_loss"])
    assert everything is not None
    assert some.mean_loss is not None
    assert none.mean_loss is not None
    assert everything <= some.mean_loss <= none.mean_loss


@pytest.mark.slow
def test_a_budget_that_ends_early_leaves_what_was_made(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kk, "MOST_ROUNDS", 1)
    one = kanon_sql.anonymize(visits.engine, spec())
    assert one.passed
    assert one.recoding is not None
    assert one.recoding["rounds"] == 1


@pytest.mark.slow
def test_the_bound_is_that_of_rows_that_cover_k_records(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself: these k records need not have its labels, and lose what they lose."""
    lowered = kanon_sql.plan(visits.engine, spec(), bound=True)
    monkeypatch.setattr(bound, "RAISES", 0)
    local = kanon_sql.plan(visits.engine, spec(privacy=[{"k_anonymity": 3}], recoding="local"), bound=True)
    assert lowered.recoding is not None
    assert local.recoding is not None
    assert lowered.recoding["bound"] == local.recoding["bound"]
    assert 0 < lowered.recoding["bound"]["mean_loss"] <= lowered.recoding["mean_loss"]


# --- A release that is not what was promised is never published ----------------------------------------------


@pytest.mark.slow
def test_a_row_that_covers_too_few_is_not_published(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounds are made to forget what others need: verification reads the written table and the source anew."""
    original = kk._Lowering._make

    def careless(self: Any, name: str, tables: Any, what: str | None = None, **context: Any) -> Any:
        if name in ("slacks", "moves"):
            context["k"] = 1
        return original(self, name, tables, what, **context)

    monkeypatch.setattr(kk._Lowering, "_make", careless)
    with pytest.raises(VerificationError, match=r"does not satisfy \(3,3\)-anonymity"):
        kanon_sql.anonymize(visits.engine, spec())
    assert "visits_release" not in visits.tables()


@pytest.mark.slow
def test_a_changed_cell_is_not_published(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    verified = write_module._verify

    def changed_before(workspace: Any, choice: Any, target: Any, *args: Any, **options: Any) -> Any:
        name = ".".join(f'"{part}"' for part in target.parts)
        visits.connection.execute(f"UPDATE {name} SET age = '20' WHERE age = (SELECT MAX(age) FROM {name})")
        return verified(workspace, choice, target, *args, **options)

    monkeypatch.setattr(write_module, "_verify", changed_before)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(visits.engine, spec())
    assert "visits_release" not in visits.tables()


# --- What is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"privacy": [{"k_anonymity": 3}]}, "k_anonymity is about classes of equal rows"),
        (
            {"privacy": [{"kk_anonymity": 3}, {"l_diversity": {"attribute": "s", "l": 2}}], "sensitive": ["s"]},
            "l_diversity is about classes of equal rows, which",
        ),
        ({"privacy": [{"kk_anonymity": {"k": 3, "variant": "1k"}}]}, "1k is weaker; ask for variant: kk"),
        ({"privacy": [{"kk_anonymity": {"k": 3, "variant": "k1"}}]}, "k1 is weaker; ask for variant: kk"),
        ({"privacy": [{"kk_anonymity": 3}, {"kk_anonymity": {"k": 2, "variant": "k1"}}]}, "asks for several variants"),
        ({"nulls": "suppress"}, "too few to hide it; use nulls: value"),
        ({"suppression": {"max_share": 0.1, "style": "mask"}}, "a masked row covers all; use style: drop"),
        ({"recoding": {"method": "kk", "save_as": "learned"}}, "new rows have no defined labels"),
        ({"recoding": {"method": "kk", "ranges": ["age"]}}, "only the methods local and subtree take it"),
        ({"unit": "serial"}, "a person with several rows has several records"),
        ({"ledger": {"table": "kanon_ledger"}}, "with a ledger, use recoding: full_domain"),
    ],
)  # fmt: skip
def test_what_rows_cannot_promise(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec(**changes)


def test_a_label_of_two_meanings_is_refused(database: Database) -> None:
    database.table("visits", {"town": "VARCHAR"}, [("York",), ("Selby",), ("York",), ("Hull",), ("Hull",)])
    database.table("towns", ["a", "b", "c"], [("York", "York", "*"), ("Selby", "York", "*"), ("Hull", "Hull", "*")])
    with pytest.raises(UnsupportedError, match="recoding: kk: labels of town stand for different values"):
        kanon_sql.plan(
            database.engine,
            spec(quasi_identifiers={"town": {"table": "towns"}}, privacy=[{"kk_anonymity": 2}], keep=[]),
        )


def test_audits_for_sqlmesh_refuse_it(visits: Database) -> None:
    with pytest.raises(SpecError, match=r"\(3,3\)-anonymity needs more than one query"):
        audits(visits.engine, spec(), "visits")


@pytest.mark.slow
def test_too_much_to_verify_publishes_nothing(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["kanon_sql.evaluate.consistency"], "MOST_PAIRS", 100)
    with pytest.raises(UnsupportedError, match="more than 100 pairs"):
        kanon_sql.anonymize(visits.engine, spec())
    assert "visits_release" not in visits.tables()
