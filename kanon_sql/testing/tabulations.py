"""Tables of counts and sums: the same cells, the same suppression, the same table as on DuckDB."""

from __future__ import annotations

import random
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, multiset
from kanon_sql.testing.subject import Subject

__all__ = ["NOISY", "TABULATIONS", "Tabulations"]

SEX: dict[str, Any] = {"hierarchy": {"tree": {"x": ["M", "m"], "y": ["F"]}}, "levels": [0, 1]}
BANDS: dict[str, Any] = {"hierarchy": {"intervals": [20], "bottom": 0, "top": 60}, "levels": [1]}

TABULATIONS: dict[str, dict[str, Any]] = {
    "persons, several levels": {
        "unit": "person",
        "dimensions": {"sex": SEX, "zip": None},
        "rules": {"threshold": 4},
    },
    "rows, NULL, no total": {
        "unit": "person",
        "count": "rows",
        "dimensions": {"illness": {"total": False}, "sex": None},
        "rules": {"threshold": 6},
    },
    "sums of persons, every rule": {
        "unit": "person",
        "measure": "charge",
        "dimensions": {"age": BANDS, "sex": None},
        "rules": {"threshold": 3, "dominance": {"n": 2, "k": 62.5}, "p_percent": 15, "pq": {"p": 10, "q": 45}},
    },
    "sums by holding": {
        "unit": "person",
        "measure": "charge",
        "dimensions": {"illness": None, "sex": None},
        "rules": {"threshold": 3, "dominance": {"n": 1, "k": 40, "by": "zip"}, "p_percent": {"p": 20, "by": "zip"}},
        "total_label": "All",
    },
    "means and percentages of decimals": {
        "unit": "person",
        "measure": "weight",
        "decimals": 1,
        "mean": True,
        "count": "rows",
        "percent_of": ["sex"],
        "dimensions": {"illness": None, "sex": None},
        "rules": {"threshold": 6},
    },
    "several hierarchies": {
        "dimensions": {
            "sex": {
                "hierarchies": {
                    "case": {"hierarchy": {"tree": {"upper": ["M", "F"], "lower": ["m"]}}},
                    "word": {"hierarchy": {"tree": {"x": ["M", "m"], "y": ["F"]}}},
                }
            },
            "illness": None,
        },
        "rules": {"threshold": 7},
    },
    "merged neighbours": {
        "unit": "person",
        "measure": "charge",
        "dimensions": {"illness": {"merge": ["flu", "Flu", "asthma", "ulcer"]}, "sex": {"merge": "by_value"}},
        "rules": {"threshold": 9, "p_percent": 15},
        "protection": "collapsing",
    },
    "sums of rows": {
        "measure": "charge",
        "dimensions": {"illness": None, "zip": {"hierarchy": {"prefix": [2]}, "levels": 1}},
        "rules": {"dominance": {"n": 3, "k": 50}},
    },
    "estimates": {
        "unit": "person",
        "weight": "charge",
        "dimensions": {"age": {**BANDS, "levels": [0]}, "sex": None},
        "rules": {"threshold": 4, "estimate": 200},
        "protection": "collapsing",
    },
    "a sample of persons": {
        "unit": "person",
        "count": "rows",
        "dimensions": {"illness": None, "sex": None},
        "rules": {"threshold": 4},
        "steps": {"sample": {"fraction": 0.5, "key_variable": "KANON_TABULATED"}},
    },
    "sums of a sample of rows": {
        "measure": "charge",
        "dimensions": {"illness": None, "sex": None},
        "rules": {"threshold": 4},
        "protection": {"method": "controlled_rounding", "base": 200},
        "steps": {"sample": {"fraction": 0.5, "by": "charge", "key_variable": "KANON_TABULATED"}},
    },
    "linked tables": {
        "dimensions": {"age": BANDS, "sex": None, "illness": None},
        "tables": [["sex", "age"], ["illness"]],
        "rules": {"threshold": 8},
    },
    "random rounding": {
        "dimensions": {"illness": None, "sex": None},
        "rules": {"threshold": 12},
        "protection": {"method": "random_rounding", "base": 7, "seed": 3},
    },
    "collapsing, cells and margins": {
        "unit": "person",
        "count": "rows",
        "dimensions": {"illness": {"total": False}, "zip": {"hierarchy": {"prefix": [4, 2]}, "levels": [0, 1]}},
        "rules": {"threshold": 3, "margin_difference": 2},
        "protection": "collapsing",
    },
}
"""Tables of the visits."""


NOISY: dict[str, dict[str, Any]] = {
    "persons in declared cells": {
        "dimensions": {"sex": SEX, "age": {**BANDS, "values": ["[0, 20)", "[20, 40)", "[40, 60)", ">= 60"]}},
        "protection": {"noise": {"epsilon": 1, "contributions": 2}},
    },
    "rows in cells that occur": {
        "count": "rows",
        "dimensions": {"illness": {"total": False}, "sex": None},
        "protection": {"noise": {"epsilon": 8, "delta": 0.01, "contributions": 3}},
    },
    "sums": {
        "measure": "charge",
        "dimensions": {"illness": None, "zip": {"hierarchy": {"prefix": [2]}, "levels": 1}},
        "protection": {"noise": {"epsilon": 8, "delta": 0.01, "bounds": [10, 40]}},
    },
}
"""Tables of the visits with noise."""

_LEDGER = "kanon_noise_ledger"


class Tabulations(Fixtures):
    """Tables of counts and sums."""

    @pytest.mark.parametrize("case", TABULATIONS)
    def test_the_same_table_as_duckdb(
        self,
        with_visits: Subject,
        reference: Reference,
        engine: Engine,
        case: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Who is drawn, cells, what is sensitive, suppressed, or how it is rounded, and what is published."""
        monkeypatch.setenv("KANON_TABULATED", "a secret of the suite's own")
        given = {"version": 1, "kind": "table", "source": "visits", "release": "visits_release", **TABULATIONS[case]}
        spec = kanon_sql.TableSpec.from_dict(given)

        def answer() -> tuple[dict[str, Any], Any]:
            reference.drop("visits_release")
            found = kanon_sql.tabulate(reference.engine, spec).to_dict()
            return found, multiset(reference.rows("visits_release"))

        theirs, their_rows = reference.once(("tabulate", case), answer)
        ours = kanon_sql.tabulate(engine, spec).to_dict()
        assert {**ours, "cost": None} == {**theirs, "cost": None}
        most = 2 + 3 * (spec.steps is not None)  # SQLite looks at the forms of values first, through the sample too
        assert ours["cost"]["source_scans"] <= most or engine.scratch.mode == "inline"
        if spec.merges:
            assert any("merged with their neighbours" in note for note in ours["notes"])
        elif spec.protection.collapses:
            assert ours["levels"] != [list(item.levels) for item in spec.dimensions.values()]
        else:
            assert ours["cells"]["sensitive"] > 0
        assert multiset(with_visits.rows("visits_release")) == their_rows

    def test_tables_of_a_ledger_as_by_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """The second table of a ledger has the same cells suppressed because of the first one."""
        ledger = "visits_table_ledger"
        given = {"version": 1, "kind": "table", "source": "visits", "rules": {"threshold": 5}, "ledger": ledger}
        first = {**given, "release": "visits_release", "dimensions": {"age": {**BANDS, "total": True}}}
        bands = {"hierarchy": {"intervals": [15], "bottom": 0, "top": 60}, "levels": [1]}
        second = {**given, "release": "visits_second", "dimensions": {"age": bands, "sex": None}}
        found = []
        for opened, subject in ((reference.engine, reference), (engine, with_visits)):
            for name in ("visits_release", ledger):
                subject.drop(name)
            assert kanon_sql.tabulate(opened, kanon_sql.TableSpec.from_dict(first)).passed
            answer = kanon_sql.tabulate(opened, kanon_sql.TableSpec.from_dict(second), preview=True).to_dict()
            entries = kanon_sql.ledger(opened, ledger).entries
            assert [entry.release for entry in entries] == [("visits_release",)]
            for name in ("visits_release", ledger):
                subject.drop(name)
            found.append({**answer, "cost": None})
        assert found[0] == found[1]
        assert any("compared with visits_release" in note for note in found[0]["notes"])

    @pytest.mark.parametrize("case", NOISY)
    def test_the_same_noise_as_duckdb(
        self,
        with_visits: Subject,
        reference: Reference,
        engine: Engine,
        case: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """With coins that fall alike: which cells of a person count, and every value."""
        monkeypatch.setattr("kanon_sql.tables.noisy_cells.new_secret", lambda: "a secret of the suite's own")
        given = {
            "version": 1, "kind": "table", "source": "visits", "release": "visits_release", "unit": "person",
            "ledger": _LEDGER, **NOISY[case],
        }  # fmt: skip
        spec = kanon_sql.TableSpec.from_dict(given)
        found = []
        for subject, opened in ((with_visits, engine), (reference, reference.engine)):
            subject.drop(_LEDGER)
            subject.drop("visits_release")
            monkeypatch.setattr("kanon_sql.tables.noisy_cells.operating_system", random.Random(4).getrandbits)
            found.append(kanon_sql.tabulate(opened, spec).to_dict())
        ours, theirs = found
        assert {**ours, "cost": None} == {**theirs, "cost": None}
        assert ours["verdict"] == "pass"
        assert multiset(with_visits.rows("visits_release")) == multiset(reference.rows("visits_release"))
        with pytest.raises(kanon_sql.errors.SpecError, match="ledger"):
            kanon_sql.tabulate(engine, spec)
        with_visits.drop(_LEDGER)
        reference.drop(_LEDGER)
