"""m-invariant sequences of releases: the same classes, counterfeits and history as on DuckDB."""

from __future__ import annotations

from typing import Any

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing.clinic import SPEC, VISITS, visits
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, multiset, same
from kanon_sql.testing.subject import Subject

__all__ = ["InvariantReleases"]

_HISTORY, _VERSION, _RELEASE = "kanon_visits_history", "visits_version", "visits_release"
_ASKED = {"attribute": "illness", "m": 2, "history": _HISTORY, "ranges": ["born", "age"]}
_ILLNESSES = ["flu", "Flu", "ulcer", "asthma"]


def _versions() -> list[list[tuple[Any, ...]]]:
    """One row per person of the visits, and an illness for every person; some are missing in each version."""
    of_person = {row[0]: row for row in visits()}
    rows = [(*row[:7], _ILLNESSES[row[0] * 7 // 3 % 4], row[8]) for row in of_person.values()]
    return [[row for row in rows if (row[0] + number) % 4] for number in range(2)]


class InvariantReleases(Fixtures):
    """m-invariant sequences of releases."""

    def test_the_same_sequence_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """Two releases: who is in one class, labels, counterfeits, and what the history holds."""
        spec = kanon_sql.Spec.from_dict(
            {
                **{key: SPEC[key] for key in ("version", "release", "identifiers", "sensitive")},
                "quasi_identifiers": SPEC["quasi_identifiers"],
                "source": _VERSION,
                "unit": "person",
                "privacy": [{"m_invariance": _ASKED}],
            }
        )
        where: list[tuple[Any, Engine]] = [(with_visits, engine), (reference, reference.engine)]
        for subject, _ in where:
            for name in (_HISTORY, _RELEASE):
                subject.drop(name)
        for rows in _versions():
            found = []
            for subject, opened in where:
                subject.table(_VERSION, VISITS, rows)
                found.append(kanon_sql.anonymize(opened, spec))
            ours, theirs = found
            assert ours.passed
            same(ours, theirs)
            assert ours.m_invariance == theirs.m_invariance
            for name in (_RELEASE, _HISTORY):
                assert multiset(with_visits.rows(name)) == multiset(reference.rows(name)), name
        assert ours.m_invariance is not None
        assert ours.m_invariance["counterfeits"] > 0
        assert ours.m_invariance["persons"]["released_before"] > 0
        for subject, _ in where:
            for name in (_HISTORY, _VERSION):
                subject.drop(name)
