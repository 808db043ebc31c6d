"""What an engine must do to be accepted; see :mod:`kanon_sql.testing`."""

from __future__ import annotations

from kanon_sql.testing.answers import Answers
from kanon_sql.testing.cloakings import Cloakings
from kanon_sql.testing.evidences import Evidences
from kanon_sql.testing.invariant_releases import InvariantReleases
from kanon_sql.testing.maskings import Maskings
from kanon_sql.testing.private_releases import PrivateReleases
from kanon_sql.testing.session import Session
from kanon_sql.testing.tables import Tables
from kanon_sql.testing.tabulations import Tabulations
from kanon_sql.testing.values import Values

__all__ = ["Conformance"]


class Conformance(
    Answers, Values, Tables, Tabulations, Evidences, Cloakings, Maskings, PrivateReleases, InvariantReleases, Session
):
    """Subclass it with a fixture ``subject``; pytest collects the tests."""
