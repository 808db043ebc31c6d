"""Sweeney's remedies for complementary releases (2002, section 4.2), on her tables and beside a ledger."""

from __future__ import annotations

import pytest

import kanon_sql
from kanon_sql import Spec, audit
from tests.conftest import Database
from tests.disclosure.attacks.test_audit_papers import SWEENEY_COLUMNS, SWEENEY_SPEC
from tests.support import literature
from tests.support.audits import make
from tests.support.ledgers import SQUARE, asked, people

HELD = literature.SWEENEY_QUASI_IDENTIFIERS


def tables(database: Database) -> None:
    """The private table, and the release that is out."""
    for name, rows in (("pt", literature.SWEENEY_PT), ("gt1", literature.SWEENEY_GT1), ("gt3", literature.SWEENEY_GT3)):
        make(database, name, rows, SWEENEY_COLUMNS)


def exposed(database: Database, release: str) -> int:
    result = audit(database.engine, Spec.from_dict(SWEENEY_SPEC), release, earlier=["gt1"], attacks=["complementary"])
    return result.attacks[0].exposed


@pytest.mark.slow
def test_a_release_that_is_made_of_the_first_adds_nothing_to_it(database: Database) -> None:
    tables(database)
    assert exposed(database, "gt3") == 2, "the paper's second release, made of the private table"
    based = {
        **SWEENEY_SPEC, "source": "gt1", "release": "based", "quasi_identifiers": dict.fromkeys(HELD),
        "privacy": [{"k_anonymity": 4}],
    }  # fmt: skip
    assert kanon_sql.anonymize(database.engine, Spec.from_dict(based)).passed
    classes = {}
    for *labels, _ in database.rows("based"):
        classes[tuple(labels)] = classes.get(tuple(labels), 0) + 1
    assert min(classes.values()) >= 4
    assert exposed(database, "based") == 0


@pytest.mark.slow
def test_columns_of_the_first_as_quasi_identifiers_of_the_next(database: Database) -> None:
    """The problem is what both are joined on: with it, every row that is joined is one of two."""
    tables(database)
    columns = {**SWEENEY_SPEC["quasi_identifiers"], "problem": {"maximum_level": 0}}
    spec = {
        **SWEENEY_SPEC, "release": "second", "quasi_identifiers": columns, "keep": [],
        "suppression": {"max_share": 0.5}, "search": {"metric": "discernibility"},
    }  # fmt: skip
    result = kanon_sql.anonymize(database.engine, Spec.from_dict(spec))
    assert result.passed
    assert result.rows["released"] == 6, "the three problems that two people have"
    assert exposed(database, "second") == 0


@pytest.mark.slow
def test_a_ledger_that_refuses_says_what_else_there_is(database: Database) -> None:
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("first", 0, 1)).passed
    refused = kanon_sql.anonymize(database.engine, asked("second", 1, 0))
    assert not refused.passed
    assert refused.notes[-1] == (
        "what can be released: ledger: {on_conflict: coarsen} looks for levels that are safe beside "
        "earlier releases; a release made of first alone, as the source of a spec without a ledger, "
        "reveals no more than first"
    )
    limits = {"quasi_identifiers": {"zip": {"prefix": [1]}, "sex": None}}
    coarser = asked("second", **limits, ledger={"table": "ledger", "on_conflict": "coarsen"})
    assert kanon_sql.anonymize(database.engine, coarser).passed
    plain = {
        **asked("third").to_dict(),
        "source": "first",
        "ledger": None,
        "quasi_identifiers": {"zip": {"prefix": [1]}},
    }
    made = kanon_sql.anonymize(database.engine, Spec.from_dict(plain))
    assert made.passed
    assert not any("what can be released" in note for note in made.notes)
    both = audit(database.engine, asked("first", 0, 1), "first", earlier=["third"], attacks=["complementary"])
    assert both.attacks[0].exposed == 0


@pytest.mark.slow
def test_where_nothing_is_known_nothing_is_advised(database: Database) -> None:
    """A source that has changed is no conflict, and one that may be coarsened is not told to be."""
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("first", 0, 1)).passed
    people(database, *SQUARE[:6])
    changed = kanon_sql.anonymize(database.engine, asked("second", 1, 1))
    assert not changed.passed
    assert not any("what can be released" in note for note in changed.notes)
    people(database, *SQUARE)
    held = asked("second", 1, 0, ledger={"table": "ledger", "on_conflict": "coarsen"})
    stays = kanon_sql.anonymize(database.engine, held)
    assert not stays.passed
    (advice,) = [note for note in stays.notes if "what can be released" in note]
    assert "coarsen" not in advice
