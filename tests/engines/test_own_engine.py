"""An engine of SQL alone, of one's own: a dialect and a backend, each declared once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

import pytest

import kanon_sql
from kanon_sql.engines.backends.base import backend
from kanon_sql.engines.backends.trino import TrinoBackend
from kanon_sql.registers import DATABASES, DIALECTS
from kanon_sql.sql.dialects.base import dialect
from kanon_sql.sql.dialects.trino import Trino

SPEC = kanon_sql.Spec.from_dict(
    {
        "version": 1,
        "source": "clinic.main.visits",
        "release": "clinic.main.visits_release",
        "quasi_identifiers": {"age": {"intervals": [5, 10]}, "zip": {"prefix": [3]}},
        "privacy": [{"k_anonymity": {"k": 5}}],
    }
)


@pytest.fixture
def own() -> Iterator[None]:
    @dialect
    class Presto(Trino):
        """Trino under its old name."""

        name = "presto"

    @backend
    class PrestoBackend(TrinoBackend):
        """Trino under its old name."""

        scheme: ClassVar[str] = "presto"
        dialect = DIALECTS["presto"]

    yield
    DIALECTS.forget("presto")
    DATABASES.forget("presto")


@pytest.mark.usefixtures("own")
def test_a_script_is_written_for_it() -> None:
    node = {"age": 1, "zip": 1}
    own, of_trino = (
        [re.sub(r"'20[0-9T:+-]+'", "NOW", sql) for sql in kanon_sql.render(SPEC, name, node=node).sql]
        for name in ("presto", "trino")
    )
    assert own == of_trino
    assert any("CREATE TABLE" in sql for sql in own)


@pytest.mark.usefixtures("own")
def test_messages_list_it() -> None:
    with pytest.raises(kanon_sql.errors.UnsupportedError, match="oracle, postgres, presto, redshift"):
        kanon_sql.render(SPEC, "access")
    with pytest.raises(kanon_sql.errors.UnsupportedError, match="postgresql, presto, redshift"):
        kanon_sql.connect("nothing://here")


def test_it_is_gone_afterwards() -> None:
    with pytest.raises(kanon_sql.errors.UnsupportedError, match="dialect 'presto' is not rendered"):
        kanon_sql.render(SPEC, "presto")
