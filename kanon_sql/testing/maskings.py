"""Samples, coding and rounding, untrue values, and columns that are told: the same as on DuckDB."""

from __future__ import annotations

from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing.clinic import FEW, SPEC, VISITS, visits
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, multiset
from kanon_sql.testing.subject import Subject

__all__ = ["MASKINGS", "PREDICTED", "STEPS", "Maskings"]

STEPS: dict[str, dict[str, Any]] = {
    "persons drawn, coded": {
        "sample": {"fraction": 0.6, "by": "person", "key_variable": "KANON_TESTED"},
        "columns": {"charge": {"bottom": 10, "top": 80}},
    },
    "rounded": {"columns": {"charge": {"round": 10}}},
    "rounded to fractions, coded": {"columns": {"charge": {"round": 2.5, "top": 70}}},
}
"""Release steps on the visits."""

_MATRIX = {
    "ulcer": {"ulcer": 0.5, "flu": 0.5},
    "flu": {"flu": 1},
    "asthma": {"asthma": 0.25, "Flu": 0.75},
    "Flu": {"ulcer": 1},
}

MASKINGS: dict[str, dict[str, Any]] = {
    "noise, ranks, categories": {
        "perturb": {"age": {"rank_swap": 0.2}, "charge": {"noise": 0.3}, "illness": {"pram": 0.6}},
        "keep": ["sex"],
    },
    "factors, exchanges, a matrix": {
        "perturb": {
            "charge": {"noise": {"share": 0.2, "variant": "multiplicative", "decimals": 2}},
            "zip": {"swap": {"share": 0.7, "within": ["sex"]}},
            "illness": {"pram": {"matrix": _MATRIX}},
        },
        "linkage": {"columns": ["charge", "illness"], "rows": 20},
    },
    "others, all alike": {
        "perturb": {"illness": {"pram": {"retain": 0.3, "invariant": False}}, "born": {"rank_swap": 1}}
    },
    "dates of a person, together": {"unit": "number", "perturb": {"born": {"shift": {"days": 30, "step": 7}}}},
}
"""Perturbation specs of the visits."""


PREDICTED: dict[str, dict[str, Any]] = {
    "levels": {},
    "persons with several vectors, rows suppressed": {"unit": "person", "privacy": [{"k_anonymity": 8}]},
    "labels by class": {"recoding": "mondrian", "quasi_identifiers": {"age": None, "zip": None}},
}
"""Releases of the visits that a column is told from."""


class Maskings(Fixtures):
    """Release steps and untrue values."""

    @pytest.mark.parametrize("case", STEPS)
    def test_the_same_steps_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, case: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Who is drawn, what becomes of numbers, and the release."""
        monkeypatch.setenv("KANON_TESTED", "a secret of the tests")
        asked = {**SPEC, "quasi_identifiers": FEW, "keep": ["charge"], "privacy": [{"k_anonymity": 2}], "sensitive": []}
        spec = kanon_sql.Spec.from_dict({**asked, "suppression": {"max_share": 0.5}, "steps": STEPS[case]})
        found = []
        for subject, own in ((with_visits, engine), (reference, reference.engine)):
            subject.drop("visits_release")
            result = kanon_sql.anonymize(own, spec)
            assert result.passed
            found.append((result.rows, result.steps, multiset(subject.rows("visits_release"))))
        assert found[0] == found[1]

    @pytest.mark.parametrize("case", MASKINGS)
    def test_the_same_perturbed_values_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, case: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Values, their utility and their risk."""
        monkeypatch.setenv("KANON_TESTED", "a secret of the tests")
        given = {
            "version": 1,
            "kind": "perturbed",
            "source": "numbered",
            "release": "visits_release",
            "key": "number",
            "key_variable": "KANON_TESTED",
        }
        spec = kanon_sql.PerturbSpec.from_dict({**given, **MASKINGS[case]})
        found = []
        for subject, own in ((with_visits, engine), (reference, reference.engine)):
            subject.table("numbered", {"number": "integer", **VISITS}, [(n, *row) for n, row in enumerate(visits())])
            subject.drop("visits_release")
            result = kanon_sql.perturb(own, spec).to_dict()
            found.append((result, multiset(subject.rows("visits_release"))))
            subject.drop("numbered")
        (ours, our_rows), (theirs, their_rows) = found
        assert our_rows == their_rows
        for name in ("verdict", "truthful", "message", "rows", "columns", "notes"):
            assert ours[name] == theirs[name]
        assert ours["utility"] == rounded_figures(theirs["utility"])
        assert ours["linkage"] == rounded_figures(theirs["linkage"])
        assert ours["cost"]["source_scans"] <= 3

    @pytest.mark.parametrize("case", PREDICTED)
    def test_a_column_is_predicted_as_by_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, case: str
    ) -> None:
        """By what the source teaches, by what the release does, and by the most frequent value."""
        asked = {**SPEC, "quasi_identifiers": FEW, "utility": {"classify": "illness", "folds": 4}, **PREDICTED[case]}
        spec = kanon_sql.Spec.from_dict(asked)
        theirs = kanon_sql.plan(reference.engine, spec)
        ours = kanon_sql.plan(engine, spec)
        assert ours.utility == theirs.utility is not None
        assert ours.node == theirs.node


def rounded_figures(found: Any) -> Any:
    """Figures that may differ in their last digits: sums of fractions are added up in any order."""
    if isinstance(found, float):
        return pytest.approx(found, rel=1e-9, abs=1e-9)
    if isinstance(found, dict):
        return {name: rounded_figures(item) for name, item in found.items()}
    return [rounded_figures(item) for item in found] if isinstance(found, list) else found
