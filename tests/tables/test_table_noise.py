"""Tables with noise: what a person can change, exactly, and what is published, spent and refused."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import exp
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Deadline, open_workspace
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.frequency import source_of
from kanon_sql.release import NoisePlan
from kanon_sql.release.differential.noise import Noise
from kanon_sql.report.json import tabulation_schema
from kanon_sql.tables import bounded_cells, noisy_cells, plan_of
from tests.conftest import Database
from tests.oracles.noise import exceeding, laplace

COLUMNS = {"region": "VARCHAR", "size": "INTEGER", "person": "INTEGER", "amount": "BIGINT"}
TREE: dict[str, Any] = {"tree": {"north": ["a", "b"], "south": ["c"]}}
DECLARED: dict[str, Any] = {"region": {"hierarchy": TREE, "levels": [0, 1]}, "size": {"values": [1, 2]}}
OPEN: dict[str, Any] = {"region": None, "size": None}

Row = tuple[str | None, int | None, int | None, int | None]
Vector = Mapping[Any, tuple[int, int]]


def asked(noise: dict[str, Any], **changes: Any) -> kanon_sql.TableSpec:
    return kanon_sql.TableSpec.from_dict(
        {
            "version": 1,
            "kind": "table",
            "source": "visits",
            "release": "visits_table",
            "unit": "person",
            "dimensions": DECLARED,
            "protection": {"noise": {"epsilon": 1, **noise}},
            "ledger": "kanon_ledger",
            **changes,
        }
    )


def random_rows(draw: random.Random, persons: int = 4) -> list[Row]:
    """Some persons with several rows in several cells, NULL everywhere, and values that are not declared."""
    return [
        (draw.choice(["a", "b", "c", "z", None]), draw.choice([1, 2, 3, None]), person,
         draw.choice([None, -50, 0, 3, 1000]))
        for person in [*range(persons), None]
        for _ in range(draw.randint(1, 4))
    ]  # fmt: skip


@pytest.fixture
def fixed_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same random order of each person's cells in every run."""
    monkeypatch.setattr(noisy_cells, "new_secret", lambda: "one order of each person's cells")


def vector(database: Database, spec: kanon_sql.TableSpec, rows: Sequence[Row]) -> Vector:
    """The finest cells as they leave the database: value and number of contributions of each."""
    database.table("visits", COLUMNS, rows)
    engine = database.engine
    with engine.run(Deadline(None)), open_workspace(engine, source_of(engine, spec)) as workspace:
        return bounded_cells(workspace, spec).cells


# --- What a person can change -----------------------------------------------------------------------------

CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "persons in one cell": ({}, {}),
    "persons in two cells": ({"contributions": 2}, {}),
    "rows": ({"contributions": 3}, {"count": "rows"}),
    "sums": ({"contributions": 2, "bounds": [-20, 5]}, {"measure": "amount"}),
    "gaussian": ({"contributions": 40, "delta": 1e-3}, {}),
    "cells that occur": ({"contributions": 2, "delta": 0.05}, {"dimensions": OPEN}),
    "rows of cells that occur": ({"contributions": 3, "delta": 0.05}, {"count": "rows", "dimensions": OPEN}),
    "sums of cells that occur": (
        {"contributions": 2, "delta": 0.05, "bounds": [0, 4]},
        {"measure": "amount", "dimensions": OPEN},
    ),
}


IN_EVERY_RUN = ("persons in two cells", "cells that occur")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case in IN_EVERY_RUN else pytest.mark.slow) for case in CASES]
)
@pytest.mark.usefixtures("fixed_choice")
def test_with_and_without_a_person_every_output_is_about_as_likely(shared_database: Database, case: str) -> None:
    """Every person of some tables is left out, and what is published is compared by the definition.

    The noise is independent in each cell, so that of pure differential privacy the largest ratio of probabilities is
    the product of those of the cells, which a Laplace distribution has at its ends: a sum of exponents, in fractions.
    Otherwise the outcomes of the cells that change are summed.
    """
    noise, changes = CASES[case]
    spec = asked(noise, **changes)
    plan, draw, changed = plan_of(spec), random.Random(case), 0
    for _ in range(1 if case in IN_EVERY_RUN else 2):
        rows = random_rows(draw)
        whole = vector(shared_database, spec, rows)
        for person in range(4):
            part = vector(shared_database, spec, [row for row in rows if row[2] != person])
            differing = [key for key in {*whole, *part} if whole.get(key) != part.get(key)]
            changed += bool(differing)
            for one, other in ((whole, part), (part, whole)):
                pairs = [(one.get(key), other.get(key)) for key in differing]
                assert_private(spec, plan, pairs)
    assert changed > 1, "the persons of the test are in the table"


def assert_private(
    spec: kanon_sql.TableSpec, plan: NoisePlan, pairs: Sequence[tuple[tuple[int, int] | None, tuple[int, int] | None]]
) -> None:
    epsilon, delta = plan.epsilon, plan.delta
    if plan.values.gaussian:
        assert delta > 0
        squares = sum((one[0] - other[0]) ** 2 for one, other in pairs if one and other)
        noise = spec.protection.noise
        assert noise is not None
        assert squares <= noise.contributions, "which the variance is for"
        return
    if plan.threshold is None:
        assert delta == 0
        assert all(one and other for one, other in pairs), "empty cells have noise too"
        assert sum(abs(one[0] - other[0]) for one, other in pairs if one and other) / plan.values.parameter <= epsilon
        return
    if not pairs:
        return
    assert exceeding(joint(plan, [one for one, _ in pairs]), joint(plan, [other for _, other in pairs]),
                     exp(float(epsilon))) <= float(delta)  # fmt: skip


def joint(plan: NoisePlan, cells: Sequence[tuple[int, int] | None]) -> dict[Any, float]:
    """The probability of every output of some cells; None is a cell that is not published."""
    found: dict[Any, float] = {}
    for outcome in product(*(published(plan, cell).items() for cell in cells)):
        chance = 1.0
        for _, own in outcome:
            chance *= own
        found[tuple(value for value, _ in outcome)] = chance
    return found


def published(plan: NoisePlan, cell: tuple[int, int] | None) -> dict[int | None, float]:
    """The probability of every output of one cell."""
    if cell is None or cell[1] == 0:
        return {None: 1.0}
    assert plan.threshold is not None
    counts = plan.values if plan.keys is None else plan.keys
    reach = range(-40, 41)
    of_count = {cell[1] + number: float(laplace(counts.parameter, number)) for number in reach}
    shown = {number: chance for number, chance in of_count.items() if number >= plan.threshold}
    if plan.keys is not None:
        # Values near 0 suffice: their noise has half of epsilon, and the same ratios everywhere.
        values = {cell[0] + number: float(laplace(plan.values.parameter, number)) for number in range(-14, 15)}
        whole = sum(shown.values())
        return {None: 1 - whole, **{value: whole * chance for value, chance in values.items()}}
    return {None: 1 - sum(shown.values()), **shown}


def ways(cells: Mapping[Any, int], most: int) -> Iterator[dict[Any, int]]:
    """What a person may contribute: this many of their cells, all of them if they have no more."""
    for kept in combinations(sorted(cells), min(most, len(cells))):
        yield {key: cells[key] for key in kept}


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("sums", [False, True])
def test_contributions_are_those_of_some_cells_of_each_person(
    shared_database: Database, most: int, *, sums: bool
) -> None:
    """By all ways to choose these cells: nothing of a person is lost, and nothing added; amounts are clamped once."""
    draw, seen = random.Random(most), set()
    noise: dict[str, Any] = {"contributions": most, **({"bounds": [-20, 5]} if sums else {})}
    spec = asked(noise, **({"measure": "amount"} if sums else {}))
    rows = random_rows(draw, persons=3)
    rows += [(region, size, person, 9) for person in range(2) for region, size in (("a", 1), ("b", 2), ("c", 1))]
    expected = set()
    persons: list[dict[Any, int]] = []
    for person in range(3):
        cells: dict[Any, list[int]] = {}
        for region, size, whose, amount in rows:
            known = whose == person and region in ("a", "b", "c") and size in (1, 2)
            if known and (amount is not None or not sums):
                place = ("south" if region == "c" else "north", region), (str(size),)
                cells.setdefault(place, []).append(amount or 0)
        persons.append({key: max(-20, min(5, sum(own))) if sums else 1 for key, own in cells.items()})
    for chosen in product(*(list(ways(cells, most)) for cells in persons)):
        values: dict[Any, int] = {}
        for cells in chosen:
            for key, value in cells.items():
                values[key] = values.get(key, 0) + value
        expected.add(tuple(sorted((key, value) for key, value in values.items() if value)))
    for _ in range(8):
        found = vector(shared_database, spec, rows)
        assert len(found) == 6, "all declared cells"
        seen.add(tuple(sorted((key, value) for key, (value, _) in found.items() if value)))
    assert seen <= expected
    assert len(expected) > 5
    assert len(seen) > 1, "another order in each run; the same by chance less than once in a million"


def test_rows_of_a_person_are_cut_and_those_without_a_person_left_out(shared_database: Database) -> None:
    rows: list[Row] = [("a", 1, 7, 1)] * 9 + [("b", 2, 7, 1)] * 2 + [("a", 1, None, 1)] * 50 + [("c", 1, 8, 1)]
    found = vector(shared_database, asked({"contributions": 5}, count="rows"), rows)
    values = {key[0][-1]: value for key, (value, _) in found.items() if value}
    assert values in ({"a": 5, "c": 1}, {"a": 3, "b": 2, "c": 1})


def test_without_a_unit_a_row_is_a_person(shared_database: Database) -> None:
    rows: list[Row] = [("a", 1, 7, 1000), ("a", 1, 7, 3), ("a", 1, None, None), ("b", 2, 7, -9)]
    for noise, changes, expected in (
        ({}, {}, {"a": 3, "b": 1}),
        ({"bounds": [0, 10]}, {"measure": "amount"}, {"a": 13}),
    ):
        found = vector(shared_database, asked(noise, unit=None, **changes), rows)
        assert {key[0][-1]: value for key, (value, _) in found.items() if value} == expected


# --- What is published --------------------------------------------------------------------------------------


@pytest.fixture
def visits(database: Database) -> Database:
    draw = random.Random(1)
    rows = [(draw.choice("abc"), draw.choice([1, 2]), person, draw.randint(0, 9)) for person in range(400)]
    database.table("visits", COLUMNS, rows)
    return database


def test_margins_add_up_and_every_declared_cell_has_its_own_noise(visits: Database) -> None:
    result = kanon_sql.tabulate(visits.engine, asked({"total": {"epsilon": 2, "delta": 0}}))
    assert result.passed
    cells = {(cell.levels, cell.labels): cell for cell in result.table}
    assert len(cells) == (3 + 2 + 1) * (2 + 1)
    values = {place: cell.value for place, cell in cells.items()}
    for size in ("1", "2", "*"):
        level = None if size == "*" else 0

        def value(region: str, depth: int | None, size: str = size, level: int | None = level) -> Any:
            return values[(depth, level), (region, size)]

        assert value("north", 1) == value("a", 0) + value("b", 0)
        assert value("*", None) == value("north", 1) + value("south", 1) == sum(value(name, 0) for name in "abc")
    own = {label: cell.error for (_, label), cell in cells.items()}
    assert own["a", "1"] == Noise(gaussian=False, parameter=Fraction(1)).within(1) == 3
    assert own["*", "*"] == Noise(gaussian=False, parameter=Fraction(1)).within(6)
    again = kanon_sql.tabulate(visits.engine, asked({"total": {"epsilon": 2, "delta": 0}}, release="again"))
    assert {(cell.levels, cell.labels): cell.value for cell in again.table} != values, "no run draws the same"
    jsonschema.validate(json.loads(json.dumps(result.to_dict())), tabulation_schema())
    written = visits.rows("visits_table")
    assert len(written) == 18
    assert {row[-1] for row in written} == {cell.error for cell in result.table}


def test_a_table_without_rows_is_noise_like_any_other(database: Database) -> None:
    """That there are no rows is not to be seen."""
    database.table("visits", COLUMNS, [])
    result = kanon_sql.tabulate(database.engine, asked({"delta": 1e-6}))
    assert result.passed
    assert len(result.table) == 18
    found = kanon_sql.tabulate(database.engine, asked({"delta": 1e-6}, ledger="other", release="of_rows", unit=None))
    assert found.passed


def test_no_true_number_of_rows_is_in_a_result_or_a_manifest(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """With noise that is known, every number but those of the cells stays as it is when the rows are others."""
    monkeypatch.setattr(Noise, "draw", lambda noise, coins: 1000)
    facts = []
    for rows in (visits.rows("visits"), visits.rows("visits")[:100]):
        visits.table("visits", COLUMNS, rows)
        visits.connection.execute("DROP TABLE IF EXISTS kanon_ledger; DROP TABLE IF EXISTS visits_table")
        result = kanon_sql.tabulate(visits.engine, asked({})).to_dict()
        (text,) = visits.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()[0]
        manifest = json.loads(text)
        entries = [entry.to_dict() for entry in kanon_sql.ledger(visits.engine, "kanon_ledger").entries]
        for timed in (manifest, *entries):
            for key in ("run_id", "published_at"):
                timed.pop(key)
        facts.append({**result, "table": None, "cost": None, "manifest": manifest, "ledger": entries})
        assert result["rows"] is None
        assert result["table"][0]["value"] == 6000 + len(rows)
    assert facts[0] == facts[1]


def test_cells_that_occur_are_published_from_the_threshold_on(
    visits: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits.table("visits", COLUMNS, [("a", 1, n, 5) for n in range(40)] + [("rare", 2, 99, 5), (None, 1, 98, 5)] * 9)
    monkeypatch.setattr(Noise, "draw", lambda noise, coins: 0)
    spec = asked({"delta": 1e-6, "total": {"epsilon": 9, "delta": 1e-5}}, dimensions=OPEN)
    result = kanon_sql.tabulate(visits.engine, spec)
    assert result.noise is not None
    assert result.noise["threshold"] == 15
    assert {cell.labels: cell.value for cell in result.table} == {
        (region, size): 40 for region in ("a", "*") for size in ("1", "*")
    }
    errors = {cell.labels: cell.error for cell in result.table}
    assert errors["a", "1"] == 3
    assert errors["*", "*"] is None, "what is missing there is not known"
    sums = asked({"delta": 1e-6, "bounds": [0, 3]}, dimensions=OPEN, measure="amount", release="s", ledger="other")
    summed = kanon_sql.tabulate(visits.engine, sums)
    assert {cell.value for cell in summed.table} == {120}
    monkeypatch.setattr(Noise, "draw", lambda noise, coins: -100)
    nothing = kanon_sql.tabulate(visits.engine, asked({"delta": 1e-6, "total": {"epsilon": 9, "delta": 1e-5}},
                                                      dimensions=OPEN, release="none"))  # fmt: skip
    assert not nothing.passed
    assert "no cell reached the threshold" in nothing.message
    assert "stays spent" in nothing.message
    assert len(kanon_sql.ledger(visits.engine, "kanon_ledger").entries) == 2


def test_negative_values_become_0_where_that_is_asked_for(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    visits.table("visits", COLUMNS, [("a", 1, n, 5) for n in range(40)])
    monkeypatch.setattr(Noise, "draw", lambda noise, coins: -3)
    total = {"epsilon": 2, "delta": 0}
    result = kanon_sql.tabulate(visits.engine, asked({"total": total}))
    assert min(cell.value for cell in result.table) == -9, "three regions, of the size that does not occur"
    result = kanon_sql.tabulate(visits.engine, asked({"nonnegative": True, "total": total}, release="second"))
    assert sorted({cell.value for cell in result.table}) == [0, 37]
    assert {cell.error is None for cell in result.table if cell.labels == ("*", "*")} == {True}


# --- What is spent ------------------------------------------------------------------------------------------


def test_the_ledger_adds_up_tables_and_refuses_what_exceeds_it(visits: Database) -> None:
    total = {"epsilon": 2.2, "delta": 1e-6}
    engine = visits.engine
    first = kanon_sql.tabulate(engine, asked({"total": total}))
    assert first.noise is not None
    assert first.noise["spent"] == {"epsilon": 1.0, "delta": 0.0}
    with pytest.raises(SpecError, match="publish under another name"):
        kanon_sql.tabulate(engine, asked({"total": total}))
    second = kanon_sql.tabulate(engine, asked({"total": {"epsilon": 9, "delta": 0.1}}, release="second"))
    assert second.noise is not None
    assert (second.noise["spent"]["epsilon"], second.noise["total"]["epsilon"]) == (2.0, 2.2)
    for noise in ({"epsilon": 0.5}, {"epsilon": 0.1, "contributions": 90, "delta": 1e-3}):
        with pytest.raises(SpecError, match="may be spent together"):
            kanon_sql.tabulate(engine, asked({**noise, "total": {"epsilon": 9, "delta": 0.1}}, release="third"))
    with pytest.raises(SpecError, match="budgets of different units do not add up"):
        kanon_sql.tabulate(engine, asked({"epsilon": 0.1, "total": total}, release="third", unit=None))
    listed = kanon_sql.ledger(engine, "kanon_ledger")
    assert [entry.name for entry in listed.entries] == ["visits_table", "second"]
    assert "levels are called" not in str(listed), "tables of counts have none"
    plain = {
        "version": 1, "source": "visits", "release": "plain", "quasi_identifiers": {"region": None},
        "privacy": [{"k_anonymity": 2}], "ledger": "kanon_ledger",
    }  # fmt: skip
    with pytest.raises(SpecError, match="keep one kind of release in a ledger"):
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(plain))


@pytest.mark.slow
def test_rows_and_tables_share_a_budget(visits: Database) -> None:
    engine, total = visits.engine, {"epsilon": 2, "delta": 1e-2}
    rows = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "visits", "release": "of_rows", "quasi_identifiers": {"region": None},
            "privacy": [{"differential_privacy": {"epsilon": 1, "delta": 1e-2, "generalization": {"region": 0},
                                                  "total": total}}],
            "ledger": "kanon_ledger",
        }
    )  # fmt: skip
    assert kanon_sql.anonymize(engine, rows).passed
    result = kanon_sql.tabulate(engine, asked({"total": total}, unit=None))
    assert result.noise is not None
    assert result.noise["spent"] == {"epsilon": 2.0, "delta": 0.01}
    with pytest.raises(SpecError, match="may be spent together"):
        kanon_sql.tabulate(engine, asked({"epsilon": 0.1, "total": total}, unit=None, release="more"))


def test_a_run_that_fails_after_the_draw_has_spent(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KanonError("while drawing")

    monkeypatch.setattr(Noise, "draw", broken)
    with pytest.raises(KanonError, match="while drawing"):
        kanon_sql.tabulate(visits.engine, asked({}))
    assert len(kanon_sql.ledger(visits.engine, "kanon_ledger").entries) == 1
    monkeypatch.undo()
    with pytest.raises(SpecError, match="may be spent together"):
        kanon_sql.tabulate(visits.engine, asked({}, release="second"))


# --- What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "changes", "message"),
    [
        ({"seed": 1}, {}, "can be drawn again can be subtracted"),
        ({}, {"rules": {"threshold": 3}}, "rules look at the rows without a budget"),
        ({}, {"release": None}, "noise needs a 'release'"),
        ({}, {"ledger": None}, "noise needs a 'ledger'"),
        ({}, {"dimensions": OPEN}, "delta 0 needs the values of every dimension"),
        ({}, {"measure": "amount"}, "sums need 'bounds'"),
        ({"bounds": [0, 5]}, {}, "no amounts to bound"),
        ({"bounds": [5, 5]}, {"measure": "amount"}, "the least and the greatest"),
        ({"contributions": 2}, {"unit": None}, "without a unit every row is a person"),
        ({"nonnegative": True, "bounds": [-1, 5]}, {"measure": "amount"}, "allow sums below 0"),
        ({"total": {"epsilon": 0.5, "delta": 0}}, {}, "below that of this table alone"),
        ({}, {"weight": "amount"}, "weights are not bounded"),
        ({}, {"steps": {"sample": {"fraction": 0.5}}}, "a sample is not counted"),
        ({}, {"tables": [["region"], ["size"]]}, "each table spends budget of its own"),
        ({}, {"percent_of": []}, "percentages are left"),
        ({}, {"ledger": {"table": "l", "on_conflict": "coarsen"}}, "on_conflict has no effect"),
        ({}, {"ledger": "visits"}, "the ledger has the source's name"),
        ({}, {"dimensions": {"region": {"values": ["a", "A", "a"]}}}, "each label once"),
        ({}, {"dimensions": {"region": {"values": ["*"]}}}, "the name of totals"),
        ({}, {"dimensions": {"region": {"values": ["a"], "hierarchy": TREE}}}, "lists its values already"),
        ({}, {"protection": {"method": "noise", "seed": 3}}, "can be drawn again can be subtracted"),
        ({}, {"protection": "noise"}, "noise needs a privacy budget"),
        ({}, {"protection": "suppression", "rules": {"threshold": 3}, "ledger": None}, "declared values are for"),
        ({}, {"protection": "suppression", "ledger": None}, "missing 'rules'"),
    ],
)
def test_what_would_reveal_more_than_the_budget_is_refused(
    noise: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        asked(noise, **changes)


def test_a_preview_is_refused(visits: Database) -> None:
    with pytest.raises(SpecError, match="spends privacy budget"):
        kanon_sql.tabulate(visits.engine, asked({}), preview=True)
    assert "kanon_ledger" not in visits.tables()


def test_a_spec_with_noise_reads_back_and_shows_no_label_in_a_manifest() -> None:
    spec = asked({"delta": 1e-6, "contributions": 3, "total": {"epsilon": 3, "delta": 1e-5}})
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
    assert "north" not in json.dumps(spec.redacted())
    assert spec.redacted()["dimensions"]["size"]["values"]["values"] == 2
