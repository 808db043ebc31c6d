"""What an engine must do to be accepted; see :mod:`kanon_sql.testing`."""

from __future__ import annotations

from kanon_sql.testing.answers import Answers
from kanon_sql.testing.maskings import Maskings
from kanon_sql.testing.private_releases import PrivateReleases
from kanon_sql.testing.session import Session
from kanon_sql.testing.tables import Tables
from kanon_sql.testing.tabulations import Tabulations
from kanon_sql.testing.values import Values

__all__ = ["Conformance"]


class Conformance(Answers, Values, Tables, Tabulations, Maskings, PrivateReleases, Session):
    """Subclass it with a fixture ``subject``; pytest collects the tests."""
