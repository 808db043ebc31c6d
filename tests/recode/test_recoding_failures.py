"""Any statement of a recoding may fail: the earlier release stands, and nothing is left."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Meter
from kanon_sql.errors import DatabaseError
from tests.servers.embedded import DuckDBSubject
from tests.support.recodings import RECODINGS, RELEASE, earlier, fill, spec

OWN = {
    "local, best": (
        *(f"recode/{name}" for name in ("claimable_pairs", "claimed", "closed_count", "homed")),
        *(f"recode/{name}" for name in ("learned", "live_count", "mean_prices", "nodes", "prices")),
        "recode/reopened", "recode/swept", "recode/unswept",
    ),
    "local, ranges": (
        "recode/offers", "release/recoded_ranges", "recode/mondrian/places",
        "recode/mondrian/ranges", "recode/mondrian/same_labels",
    ),
    "mondrian, relaxed": ("recode/mondrian/halved", "recode/mondrian/halves"),
    "mondrian": ("recode/mondrian/",),
    "cells": ("release/recoded_suppressed",),
    "subtree, bottom up": ("recode/subtree/at_bottom", "recode/subtree/generalized"),
    "subtree": ("recode/subtree/",),
    "kk, global": (
        *(f"recode/kk/{name}" for name in ("candidates", "compared", "costs", "every_cell", "graph", "released")),
        "recode/kk/wider_cells", "recode/kk/wider_pairs",
    ),
    "kk": ("recode/kk/",),
    "forest": ("recode/pairs", "recode/parted", "recode/trees/", "recode/weights"),
    "cover": ("recode/cover/",),
    "matching": ("recode/matching/",),
    "microaggregation of one column": ("recode/microaggregation/optimal/",),
    "microaggregation": ("recode/microaggregation/", "release/recoded_aggregates"),
    "local": ("recode/", "release/"),
}  # fmt: skip
"""Statements, or folders of them, and the recoding that they are tried with every time: the first in this list."""

ROWS = {"kk, global": 36}
"""How many rows the table has, where those of :func:`fill` leave no row to widen."""

RECORD = "release/manifest/create"
"""A manifest that is there needs none, so that failing to make one is no failure."""


def owner(statement: str) -> str:
    """The recoding that a statement is tried with every time."""
    return next(name for name, starts in OWN.items() if statement.startswith(starts))


class Fault:
    """Fails every statement of one template, and remembers the names of all."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        self.failing = ""
        counted = Meter.count

        def count(meter: Meter, statement: Any, *given: Any) -> Any:
            self.names.append(statement.name)
            if statement.name == self.failing:
                raise DatabaseError(f"{statement.name} fails")
            return counted(meter, statement, *given)

        patched.setattr(Meter, "count", count)


def assert_every_failure_is_one(name: str, patched: pytest.MonkeyPatch, *, all_of_them: bool) -> None:
    subject = DuckDBSubject()
    try:
        fill(subject, ROWS.get(name, 24))
        engine = subject.connect()
        kanon_sql.anonymize(engine, earlier())
        before = Counter(subject.rows(RELEASE))
        fault = Fault(patched)
        kanon_sql.anonymize(engine, spec(name, release="another"))
        made = {found for found in fault.names if found.startswith(("recode/", "release/"))} - {RECORD}
        own = {found for found in made if owner(found) == name}
        missing = [start for start in OWN[name] if not any(found.startswith(start) for found in own)]
        assert missing == [], "the run takes another way"
        standing = set(subject.tables())
        for fault.failing in sorted(made) if all_of_them else sorted(own)[::4]:
            with pytest.raises(DatabaseError, match=f"{fault.failing} fails"):
                kanon_sql.anonymize(engine, spec(name))
            assert Counter(subject.rows(RELEASE)) == before, fault.failing
            assert set(subject.tables()) == standing, fault.failing
        fault.failing = ""
        assert kanon_sql.anonymize(engine, spec(name)).passed, "the next run needs no help"
        assert Counter(subject.rows(RELEASE)) == Counter(subject.rows("another")) != before
    finally:
        subject.close()


@pytest.mark.campaign_on("kk", "kk, global", "local, best", "local, ranges", "microaggregation", "subtree, bottom up")
@pytest.mark.slow
@pytest.mark.parametrize("name", RECODINGS)
@pytest.mark.sampled(4)
def test_a_failing_statement_leaves_the_earlier_release(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth statement with one recoding."""
    assert_every_failure_is_one(name, monkeypatch, all_of_them=False)


@pytest.mark.campaign
@pytest.mark.parametrize("name", RECODINGS)
def test_any_failing_statement_leaves_the_earlier_release(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_every_failure_is_one(name, monkeypatch, all_of_them=True)
