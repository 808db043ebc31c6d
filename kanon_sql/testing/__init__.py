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

from kanon_sql.testing.conformance import Conformance
from kanon_sql.testing.subject import TYPES, Subject, as_text

__all__ = ["TYPES", "Conformance", "Subject", "as_text"]
