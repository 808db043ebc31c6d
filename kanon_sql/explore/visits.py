"""The pages that a user has open: what each asks about, and what it was told. At most this many; the oldest goes."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql.errors import SpecError
from kanon_sql.explore.controls import rule_text
from kanon_sql.explore.history import History
from kanon_sql.explore.roles import roles_in
from kanon_sql.explore.work import Job, Metered, Work
from kanon_sql.spec import Spec

if TYPE_CHECKING:
    from kanon_sql.spec import RelationalSpec
    from kanon_sql.verbs.init import Suggestion
    from kanon_sql.verbs.relational import RelationalResult
    from kanon_sql.verbs.result import Plan

__all__ = ["LONGEST_NAME", "MOST_CANDIDATES", "MOST_VISITS", "Candidate", "Drafted", "Settings", "Visit", "Visits"]

MOST_VISITS = 8
"""This many pages at a time keep frequency sets."""

MOST_JOBS = 16
"""This many answers of a visit wait to be fetched."""

MOST_RESULTS = 24
"""This many specs of a visit, and what was answered to them."""


MOST_CANDIDATES = 12
"""This many specs are kept to be compared: more columns no reader compares."""

LONGEST_NAME = 60
"""Characters of the name of a candidate."""


@dataclass(frozen=True)
class Settings:
    """What is allowed, and what the page begins with.

    Attributes:
        database: what the connection is called, without credentials.
        may_publish: releases may be published.
        reveals: values of small classes may be shown.
        table: the table, or the file, to start from where there is no spec.
        several: reads the spec of several tables whose plan is shown; None for a page of one table.
        directory: where the server was started; what the page writes as files is below it.
    """

    database: str
    may_publish: bool = False
    reveals: bool = False
    table: str | None = None
    several: Callable[[], RelationalSpec] | None = None
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


@dataclass(frozen=True)
class Candidate:
    """A spec that was kept, by the name that the user gave it."""

    name: str
    spec: Spec


@dataclass
class Visit:
    """A page.

    Attributes:
        id: in its addresses.
        key: of the tab that opened it, and may ask for it.
        spec: what it asks about now; None until there is one.
        started_with: the spec that it began with.
        drafted: the table that it starts from, where it has no spec yet.
        history: what the controls said before, to be taken back.
        candidates: kept specs, by number.
        numbered: how many were kept so far, which numbers the next one.
        revision: how often the controls were changed from outside of their form, which is of an earlier one then.
        columns: names and types of the source's columns; None before these are known.
        hierarchies: what columns had as quasi-identifiers, for when they are quasi-identifiers again.
        jobs: what it asked, by number, the last ones.
        latest: what the controls asked last; older ones are stopped.
        results: the hash of a spec -> the plan of it, the last ones.
        full: the same with all that is counted and explained.
        level_names: what the levels of a column with a hierarchy are called.
        looked_at: the same with the warnings about the rows that would be released.
        related: the last plan of several tables.
        looked_last: the roles that the last one of these had, and its plan; None before.
        used_at: when the page was used last, UTC.
        metered: what all took together.
        read_at: when the source was read, UTC; None before.
        reading: how often the source was to be read again.
    """

    id: str
    key: str
    spec: Spec | None = None
    started_with: Spec | None = None
    drafted: Drafted | None = None
    history: History = field(default_factory=History)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    numbered: int = 0
    revision: int = 0
    columns: tuple[tuple[str, str], ...] | None = None
    hierarchies: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)
    latest: Job | None = None
    results: OrderedDict[str, Plan] = field(default_factory=OrderedDict)
    full: OrderedDict[str, Plan] = field(default_factory=OrderedDict)
    level_names: dict[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    looked_at: OrderedDict[str, Plan] = field(default_factory=OrderedDict)
    related: RelationalResult | None = None
    looked_last: tuple[Mapping[str, str], Plan] | None = None
    used_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    metered: Metered = field(default_factory=Metered)
    read_at: str | None = None
    reading: int = 0

    def has(self, spec: Spec, title: str = "", *, by_form: bool = False) -> None:
        """Ask about a spec from now on; the one before can be had again.

        Args:
            spec: the spec.
            title: what the user did, where the changes do not say it.
            by_form: the form of the controls says so itself.
        """
        self.revision += not by_form
        if self.spec is not None and self.spec != spec:
            self.history.record(self.spec, spec, title)
        self._show(spec)

    def step(self, *, back: bool) -> str | None:
        """Take a step of the controls back, or do it again: what it was, in words; None where there is none."""
        found = self.history.undo() if back else self.history.redo()
        if found is None:
            return None
        self.revision += 1
        self._show(found[0])
        return found[1]

    def _show(self, spec: Spec) -> None:
        before = {} if self.spec is None else self.spec.quasi_identifiers
        gone = before.keys() - spec.quasi_identifiers.keys()
        self.hierarchies |= {name: before[name].to_dict() for name in gone}
        if self.spec is not None and self.spec.source != spec.source:  # a candidate that was loaded
            self.columns, self.looked_last = None, None
            self.hierarchies.clear()
        self.spec = spec
        self.started_with = self.started_with or spec

    def keep(self, name: str, spec: Spec) -> None:
        """Keep a spec as a candidate.

        Args:
            name: what the user calls it; empty for a number.
            spec: the spec.

        Raises:
            SpecError: another one has this name, it is too long, or there are too many.
        """
        self.numbered += 1
        name = " ".join(name.split()) or f"candidate {self.numbered}"
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise SpecError(f"name: expected at most {LONGEST_NAME} characters that can be printed")
        if name.casefold() in {item.name.casefold() for item in self.candidates.values()}:
            raise SpecError(f"name: there is a candidate {name!r}; choose another name, or delete that one first")
        if len(self.candidates) >= MOST_CANDIDATES:
            raise SpecError(f"{MOST_CANDIDATES} candidates are kept, which is the most; delete one first")
        self.candidates[str(self.numbered)] = Candidate(name, spec)

    def remember(self, results: OrderedDict[str, Plan], spec: Spec, result: Plan, reading: int) -> None:
        """Keep the plan of a spec, unless the search was stopped: asked again, it goes on.

        Args:
            results: ``results``, ``full`` or ``looked_at`` of this visit.
            spec: what was asked about, which need not be what the page asks about by now.
            result: the answer.
            reading: which reading of the source was asked; an answer of an earlier one is kept no more.
        """
        if result.stopped is not None or reading != self.reading:
            return
        results[spec.hash] = result
        for name, names in (result.level_names or {}).items():
            if name in spec.quasi_identifiers:
                self.level_names[name, rule_text(spec.quasi_identifiers[name])] = names
        while len(results) > MOST_RESULTS:
            results.popitem(last=False)
        if results is self.looked_at:
            self.looked_last = roles_in(spec), result

    def level_names_of(self, spec: Spec) -> dict[str, Sequence[str]]:
        """What the levels of the quasi-identifiers are called, of those that a search has named."""
        keys = {name: (name, rule_text(item)) for name, item in spec.quasi_identifiers.items()}
        return {name: self.level_names[key] for name, key in keys.items() if key in self.level_names}

    def forget(self) -> None:
        """The source is to be read again: no answer holds any more."""
        self.reading += 1
        self.results.clear()
        self.full.clear()
        self.looked_at.clear()
        self.looked_last = None
        self.columns = None
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
        candidates: the kept specs of a new one, by their names.
    """

    def __init__(self, work: Work, spec: Spec | None, candidates: Mapping[str, Spec]) -> None:
        self._work = work
        self._spec = spec
        self._candidates = candidates
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    def new(self, key: str) -> Visit:
        """The tab with this key opened the page."""
        visit = Visit(secrets.token_urlsafe(9), key)
        if self._spec is not None:
            visit.has(self._spec)
        for name, spec in self._candidates.items():
            visit.keep(name, spec)
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
        visit.used_at = datetime.now(UTC)
        return visit

    def earlier(self, key: str) -> list[Visit]:
        """The pages of other tabs, which a new tab may go on with: the one used last comes first."""
        others = [visit for visit in self._visits.values() if not secrets.compare_digest(visit.key, key)]
        return [visit for visit in reversed(others) if visit.spec is not None]

    def go_on(self, name: str, key: str) -> Visit | None:
        """Hand a page of another tab to the tab with this key, whose own goes; that other tab has it no more."""
        visit = self._visits.get(name)
        if visit is None:
            return None
        for own in [item for item in self._visits.values() if secrets.compare_digest(item.key, key)]:
            if own is not visit:
                del self._visits[own.id]
                self._work.end(own.id)
        visit.key = key
        self._visits.move_to_end(name)
        return visit
