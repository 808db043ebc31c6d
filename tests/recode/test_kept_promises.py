"""A kept recoding, applied to other rows, against an oracle: random tables with NULLs, persons, levels, all models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from tests.conftest import Database
from tests.oracles.kept import by_classes, by_levels, classes_in, levels_of, loss_of
from tests.oracles.model import height_of
from tests.recode.test_cells_promises import with_recoding
from tests.recode.test_local_recoding import scattered, with_other_models
from tests.support.oracle_cases import Case, cases, load
from tests.support.strategies import RandomProblem, examples

METHODS = st.sampled_from(
    [
        "full_domain",
        "local",
        {"method": "local", "variant": "best"},
        "cells",
        "subtree",
        {"method": "cells", "variant": "minimum"},
    ]
)


@st.composite
def with_new_rows(draw: st.DrawFn, drawn: st.SearchStrategy[Case]) -> tuple[Case, RandomProblem]:
    """A problem, and other rows of its columns: some of its own again, and some with values of others."""
    case = draw(drawn)
    problem, chance = case.problem, draw(st.randoms(use_true_random=False))
    rows: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 2 * len(problem.rows))) if problem.rows else 0):
        row = dict(chance.choice(problem.rows))
        if chance.random() < 0.3:
            column = chance.choice(list(problem.hierarchies))
            row[column] = chance.choice([*problem.hierarchies[column], *([None] if problem.nulls != "error" else [])])
        rows.append(row)
    return case, replace(problem, rows=rows)


def loaded(database: Database, folder: Path, case: Case, new: RandomProblem) -> kanon_sql.Spec:
    """Both tables, the new rows as ``others``."""
    for name in ("others", "others_release", "learned"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    load(database, folder, replace(case, problem=new))
    database.connection.execute("ALTER TABLE people RENAME TO others")
    return load(database, folder, replace(case, algorithm="optimal"))


def released(database: Database, problem: RandomProblem) -> dict[int, list[str | None]]:
    """The labels of every released row by its serial number."""
    listed = ", ".join(f'"{column}"' for column in problem.hierarchies)
    found = database.connection.execute(f"SELECT serial, {listed} FROM others_release").fetchall()
    assert len(found) == len({row[0] for row in found})
    return {serial: labels for serial, *labels in found}


def expected(database: Database, spec: kanon_sql.Spec, case: Case, new: RandomProblem, node: Any) -> dict[int, Any]:
    """What the oracle makes of the kept table and the new rows."""
    names, rows = database.columns("learned"), database.rows("learned")
    if "class_number" not in names:
        return dict(by_levels(new, rows[0]))
    classes = classes_in(names, rows)
    losses = [loss_of(case.problem, item) for item in classes]
    assert losses == pytest.approx(sorted(losses), abs=1e-6), "the class that loses least has the lowest number"
    levels = levels_of(new)
    if node is not None:
        levels = {column: sorted({node[column], height_of(own)}) for column, own in new.hierarchies.items()}
    return dict(by_classes(new, classes, levels))


def assert_applied(database: Database, folder: Path, case: Case, new: RandomProblem, recoding: Any) -> None:
    """Learn from the rows of a problem, and hold what becomes of the new ones to the oracle."""
    options = {"method": recoding} if isinstance(recoding, str) else recoding
    if options.get("variant") == "minimum":
        case = replace(case, problem=replace(case.problem, levels={}))
        new = replace(new, levels={})
    spec = with_recoding(loaded(database, folder, case, new), {**options, "save_as": "learned"})
    learned = kanon_sql.anonymize(database.engine, spec)
    assert ("learned" in database.tables()) == learned.passed
    if not learned.passed:
        return
    result = kanon_sql.apply(database.engine, spec, "learned", source="others", release="others_release")
    wanted = expected(database, spec, case, new, (learned.recoding or {}).get("node"))
    suppressed = len(new.rows) - len(wanted)
    fits = suppressed <= spec.suppression.most(len(new.rows))
    event(f"{result.verdict}, {'levels' if learned.recoding is None else learned.recoding['method']}")
    if not result.passed:
        assert not fits or not wanted
        assert "others_release" not in database.tables()
        return
    assert fits
    assert result.rows["suppressed"] == suppressed
    found = released(database, new)
    masked = result.rows.get("masked", 0)
    assert masked in (0, suppressed)
    left_out = found.keys() - wanted.keys()
    assert len(left_out) == masked
    assert {tuple(found[number]) for number in left_out} <= {("*",) * len(new.hierarchies)}
    assert {number: found[number] for number in wanted} == {number: list(own) for number, own in wanted.items()}


@pytest.mark.slow
@given(drawn=with_new_rows(cases()), recoding=METHODS)
@examples(4)
def test_new_rows(shared_database: Database, folder: Path, drawn: tuple[Case, RandomProblem], recoding: Any) -> None:
    assert_applied(shared_database, folder, *drawn, recoding)


@given(drawn=with_new_rows(scattered()), recoding=METHODS)
@examples(3)
def test_classes_of_many_levels(
    shared_database: Database, folder: Path, drawn: tuple[Case, RandomProblem], recoding: Any
) -> None:
    case, new = drawn
    more = replace(case.problem, limit=0.6)
    assert_applied(shared_database, folder, replace(case, problem=more), replace(new, limit=0.6), recoding)


@given(drawn=with_new_rows(with_other_models()), recoding=METHODS)
@examples(3)
def test_other_models(
    shared_database: Database, folder: Path, drawn: tuple[Case, RandomProblem], recoding: Any
) -> None:
    assert_applied(shared_database, folder, *drawn, recoding)
