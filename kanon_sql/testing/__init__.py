"""The conformance suite: what an engine must do to be accepted, for pytest.

    class TestMyEngine(kanon_sql.testing.Conformance):
        @pytest.fixture(scope="class")
        @classmethod
        def subject(cls):
            yield MySubject(...)          # a kanon_sql.testing.Subject

Every test makes its tables through the subject, runs the verbs, and compares with DuckDB or
with plain Python. It needs pytest; nothing else of kanon_sql does.
"""

from __future__ import annotations

from kanon_sql.testing.answers import Answers
from kanon_sql.testing.cloakings import Cloakings
from kanon_sql.testing.evidences import Evidences
from kanon_sql.testing.invariant_releases import InvariantReleases
from kanon_sql.testing.maskings import Maskings
from kanon_sql.testing.private_releases import PrivateReleases
from kanon_sql.testing.session import Session
from kanon_sql.testing.subject import TYPES, Subject, as_text
from kanon_sql.testing.tables import Tables
from kanon_sql.testing.tabulations import Tabulations
from kanon_sql.testing.values import Values

__all__ = ["TYPES", "Conformance", "Subject", "as_text"]


class Conformance(
    Answers, Values, Tables, Tabulations, Evidences, Cloakings, Maskings, PrivateReleases, InvariantReleases, Session
):
    """Subclass it with a fixture ``subject``; pytest collects the tests."""
