"""The pages that a user has open: what each asks about, and what it was told. At most this many; the oldest goes."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.explore.work import Job, Metered, Work
from kanon_sql.spec import Spec

if TYPE_CHECKING:
    from kanon_sql.verbs.init import Suggestion
    from kanon_sql.verbs.result import Plan

__all__ = ["MOST_VISITS", "Drafted", "Settings", "Visit", "Visits"]

MOST_VISITS = 8
"""This many pages at a time keep frequency sets."""

MOST_JOBS = 16
"""This many answers of a visit wait to be fetched."""

MOST_RESULTS = 24
"""This many specs of a visit, and what was answered to them."""


@dataclass(frozen=True)
class Settings:
    """What is allowed, and what the page begins with.

    Attributes:
        database: what the connection is called, without credentials.
        may_publish: releases may be published.
        reveals: values of small classes may be shown.
        table: the table, or the file, to start from where there is no spec.
        directory: where the server was started; what the page writes as files is below it.
    """

    database: str
    may_publish: bool = False
    reveals: bool = False
    table: str | None = None
    directory: Path = field(default_factory=Path.cwd)


@dataclass(frozen=True)
class Drafted:
    """What ``init`` suggests for a table.

    Attributes:
        table: its name, or a file's.
        columns: a suggestion each.
        text: the spec that follows from these.
    """

    table: str
    columns: tuple[Suggestion, ...]
    text: str


@dataclass
class Visit:
    """A page.

    Attributes:
        id: in its addresses.
        key: of the tab that opened it, and may ask for it.
        spec: what it asks about now; None until there is one.
        started_with: the spec that it began with.
        drafted: the table that it starts from, where it has no spec yet.
        pinned: candidates to compare, by their letters.
        jobs: what it asked, by number, the last ones.
        latest: what the controls asked last; older ones are stopped.
        results: the hash of a spec -> the plan of it, the last ones.
        full: the same with all that is counted and explained.
        metered: what all took together.
        read_at: when the source was read, UTC; None before.
        reading: how often the source was to be read again.
    """

    id: str
    key: str
    spec: Spec | None = None
    started_with: Spec | None = None
    drafted: Drafted | None = None
    pinned: dict[str, Spec] = field(default_factory=dict)
    jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)
    latest: Job | None = None
    results: OrderedDict[str, Plan] = field(default_factory=OrderedDict)
    full: OrderedDict[str, Plan] = field(default_factory=OrderedDict)
    metered: Metered = field(default_factory=Metered)
    read_at: str | None = None
    reading: int = 0

    def has(self, spec: Spec) -> None:
        """Ask about a spec from now on."""
        self.spec = spec
        self.started_with = self.started_with or spec

    def remember(self, spec: Spec, result: Plan, reading: int, *, in_full: bool) -> None:
        """Keep the plan of a spec, unless the search was stopped: asked again, it goes on.

        Args:
            spec: what was asked about, which need not be what the page asks about by now.
            result: the answer.
            reading: which reading of the source was asked; an answer of an earlier one is kept no more.
            in_full: with all that is counted and explained.
        """
        if result.stopped is not None or reading != self.reading:
            return
        results = self.full if in_full else self.results
        results[spec.hash] = result
        while len(results) > MOST_RESULTS:
            results.popitem(last=False)

    def forget(self) -> None:
        """The source is to be read again: no answer holds any more."""
        self.reading += 1
        self.results.clear()
        self.full.clear()
        self.read_at = None

    def count(self, result: object) -> None:
        """Add what an answer took to the meter."""
        cost = getattr(result, "cost", None)
        if cost is not None:
            self.metered.add(cost)
            if cost.source_scans:
                self.read_at = datetime.now(UTC).strftime("%H:%M:%S UTC")

    def add(self, job: Job) -> None:
        """Keep a question, until the page fetches its answer."""
        self.jobs[job.number] = job
        while len(self.jobs) > MOST_JOBS:
            self.jobs.popitem(last=False)


class Visits:
    """All of them.

    Args:
        work: what drops the frequency sets of those that go.
        spec: what a new one begins with; None for a page that asks.
    """

    def __init__(self, work: Work, spec: Spec | None) -> None:
        self._work = work
        self._spec = spec
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    def new(self, key: str) -> Visit:
        """The tab with this key opened the page."""
        visit = Visit(secrets.token_urlsafe(9), key)
        if self._spec is not None:
            visit.has(self._spec)
        self._visits[visit.id] = visit
        while len(self._visits) > MOST_VISITS:
            gone, _ = self._visits.popitem(last=False)
            self._work.end(gone)
        return visit

    def get(self, name: str, key: str) -> Visit | None:
        """One that is still there and belongs to the key; it is the youngest now."""
        visit = self._visits.get(name)
        if visit is None or not secrets.compare_digest(visit.key, key):
            return None
        self._visits.move_to_end(name)
        return visit
