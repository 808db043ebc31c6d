"""Differentially private releases: the same coins give the same sample, and the same levels, as on DuckDB."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.release import Entry, chosen_by_score
from kanon_sql.testing.clinic import FEW, SPEC
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, multiset, same
from kanon_sql.testing.subject import Subject

__all__ = ["PRIVATE_RELEASES", "PrivateReleases"]

PRIVATE_RELEASES: dict[str, dict[str, Any]] = {
    "fixed levels": {"generalization": {"age": 1, "sex": 1}},
    "a top and a value": {"generalization": {"age": 2, "sex": 0}},
    "levels by the exponential mechanism": {"search": {"epsilon": 0.9}},
    "values that are coded and rounded first": {"generalization": {"age": 0, "sex": 1}},
    **{
        f"levels by a score, {score}": {"search": {"epsilon": 0.9, "score": score}}
        for score in ("loss", "discernibility", "average_class_size", "entropy")
    },
    "levels by a score, classification": {"search": {"epsilon": 0.9, "score": "classification", "classify": "sex"}},
}
"""Requirements on the visits, with classes on both sides of k."""

_STEPPED = "values that are coded and rounded first"

_LISTED = {
    "illness": {"tree": {"mild": ["flu", "Flu"], "grave": ["ulcer", "asthma", "gout"]}},
    "sex": FEW["sex"],
}
"""Quasi-identifiers whose values are all listed, which the score ``loss`` takes."""

_LEDGER = "kanon_private_ledger"


class PrivateReleases(Fixtures):
    """Differentially private releases."""

    @pytest.mark.parametrize("case", PRIVATE_RELEASES)
    def test_the_same_sample_as_duckdb(
        self,
        with_visits: Subject,
        reference: Reference,
        engine: Engine,
        case: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """With coins that fall alike: the scores of all levels, exactly, levels, rows, and what the ledger holds."""
        scores: list[Sequence[Fraction]] = []

        def chosen(given: Sequence[Fraction], *others: Any) -> int:
            scores.append(given)
            return chosen_by_score(given, *others)

        monkeypatch.setattr("kanon_sql.release.differential.mechanism.chosen_by_score", chosen)
        requirement = {"epsilon": 1.2, "delta": 0.2, **PRIVATE_RELEASES[case]}
        listed = requirement.get("search", {}).get("score") == "loss"
        spec = kanon_sql.Spec.from_dict(
            {
                **{key: SPEC[key] for key in ("version", "source", "release", "identifiers")},
                "quasi_identifiers": _LISTED if listed else {**FEW, "age": None} if case == _STEPPED else FEW,
                "steps": {"columns": {"age": {"round": 20, "top": 75}}} if case == _STEPPED else None,
                "privacy": [{"differential_privacy": requirement}],
                "nulls": "suppress",
                "ledger": _LEDGER,
            }
        )
        found = []
        for subject, opened in ((with_visits, engine), (reference, reference.engine)):
            subject.drop(_LEDGER)
            subject.drop("visits_release")
            monkeypatch.setattr("kanon_sql.verbs.private.operating_system", random.Random(4).getrandbits)
            found.append(kanon_sql.anonymize(opened, spec))
        ours, theirs = found
        assert scores[: len(scores) // 2] == scores[len(scores) // 2 :]
        assert len(scores) == (2 if "search" in requirement else 0)
        same(ours, theirs)
        assert ours.passed
        assert ours.differential_privacy == theirs.differential_privacy is not None
        assert 0 < ours.rows["released"] < ours.rows["source"]
        assert multiset(with_visits.rows("visits_release")) == multiset(reference.rows("visits_release"))
        ledgers = [kanon_sql.ledger(opened, _LEDGER).entries for opened in (engine, reference.engine)]
        for entries in ledgers:
            (entry,) = entries
            assert isinstance(entry, Entry)
            assert (entry.differential_privacy, entry.rows) == (spec.differential_privacy, {})
        with pytest.raises(kanon_sql.errors.SpecError, match="ledger"):
            kanon_sql.anonymize(engine, spec)
        with_visits.drop(_LEDGER)
