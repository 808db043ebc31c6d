"""What must hold after a fault: asked of the database beside kanon_sql, and of the next run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from campaign.cases import CASES, LEDGER, RELEASE, Case, Node, people
from campaign.places import SCRATCH, SOURCE, Place, Rows

import kanon_sql
from kanon_sql.engines import SCRATCH_TABLE
from kanon_sql.errors import KanonError
from kanon_sql.release.publish import MANIFEST_TABLE
from kanon_sql.testing import as_text
from kanon_sql.verbs.clean import clean

PENDING = "pending"
"""Stands in a manifest in place of a time, while a release is on its way."""


@dataclass
class Before:
    """What stood there before the run.

    Attributes:
        release: the rows under the name that the run publishes to; None when there was nothing.
        others: the rows of the other releases.
        runs: the run ids that the manifest knows.
    """

    release: Rows | None
    others: Mapping[str, Rows | None]
    runs: frozenset[str]


@dataclass
class Verdict:
    """What was found after a fault.

    Attributes:
        state: the earlier release is intact (or there is none, as before), or the new one is whole.
        problems: promises that were broken, in words.
        recovered: the next run and ``clean`` were tried, and did what they promise.
    """

    state: str = "intact"
    problems: list[str] = field(default_factory=list)
    recovered: bool = False


def name_of(case: Case) -> str:
    """The name that a case publishes to."""
    return str(case.asks.get("release", RELEASE))


def standing(place: Place, case: Case) -> Before:
    """What stands there now."""
    others = {RELEASE} - {name_of(case)} if case.before else set()
    return Before(
        place.rows(name_of(case)),
        {name: place.rows(name) for name in sorted(others)},
        frozenset(run for _, run, _, _ in manifests(place)),
    )


def manifests(place: Place) -> list[tuple[str, str, str, str]]:
    """Release, run, time and text of what the manifest says was published, read as it is stored."""
    if MANIFEST_TABLE not in place.tables():
        return []
    found = place.fetch(f"SELECT release_name, run_id, published_at, manifest FROM {MANIFEST_TABLE}")
    withdrawn = {run for _, run, at, _ in found if at == "withdrawn"}
    return [(name, run, at, text) for name, run, at, text in found if run not in withdrawn and at != PENDING]


def _entries(place: Place) -> list[str]:
    """The releases that the ledger says were published."""
    if LEDGER not in place.tables():
        return []
    found = place.fetch(f"SELECT release_name, run_id, published_at FROM {LEDGER}")
    withdrawn = {run for _, run, at in found if at == "withdrawn"}
    return [name for name, run, at in found if run not in withdrawn and at not in ("withdrawn", PENDING)
            and run != "turn"]  # fmt: skip


def _recorded(place: Place) -> list[str]:
    """The scratch tables that are recorded."""
    if SCRATCH_TABLE not in place.tables():
        return []
    return [json.loads(name)[-1] for (name,) in place.fetch(f"SELECT object_name FROM {SCRATCH_TABLE}")]


def examine(place: Place, case: Case, before: Before, *, changed: bool = False) -> Verdict:
    """The state in which a fault left the database.

    Args:
        place: where.
        case: what was running.
        before: what stood there before.
        changed: the source is not what it was; a new release is then judged by its classes alone.
    """
    verdict = Verdict()
    problems = verdict.problems
    now = place.rows(name_of(case))
    if now != before.release:
        verdict.state = "new"
        if now is None:
            problems.append("the earlier release is gone")
        else:
            problems += _not_whole(place, case, now, before) if not changed else too_small(case, now)
    elif before.runs < frozenset(run for _, run, _, _ in manifests(place)):
        problems.append("the manifest speaks of a release that is not there")
    for name, rows in before.others.items():
        if place.rows(name) != rows:
            problems.append(f"another release, {name}, is not what it was")
    if not changed and place.rows(SOURCE) != as_texts(people(case.times)):
        problems.append("the source was written to")
    if case.has_ledger and (name_of(case) in _entries(place)) is not (now is not None):
        problems.append(f"the ledger says {_entries(place)}, and the release is {'' if now else 'not '}there")
    problems += [f"nothing records {name}" for name in place.scratch() if name not in _recorded(place)]
    return verdict


def as_texts(rows: Iterable[tuple[Any, ...]]) -> Rows:
    """Rows as :meth:`Place.rows` gives them."""
    return Counter(tuple(map(as_text, row)) for row in rows)


def _not_whole(place: Place, case: Case, now: Rows, before: Before) -> list[str]:
    """Why the new release is not one that the source gives, with its manifest beside it."""
    node = case.node_of(now)
    if node is None:
        return [f"{now.total()} rows stand under the release's name that no node gives"]
    claims = [json.loads(text) for name, run, _, text in manifests(place)
              if name == name_of(case) and run not in before.runs]  # fmt: skip
    if [node_in(claim) for claim in claims] != [node]:
        return [f"the release is at {node}, and the manifest says {[node_in(claim) for claim in claims]}"]
    return [] if claims[0]["rows"]["released"] == _unmasked(now) else ["the manifest counts other rows"]


def node_in(manifest: Mapping[str, Any]) -> Node:
    """The levels that a manifest names."""
    return manifest["node"]["sex"], manifest["node"]["age"]


def _unmasked(rows: Rows) -> int:
    return sum(count for row, count in rows.items() if row[:2] != ("*", "*"))


def too_small(case: Case, release: Rows) -> list[str]:
    """Classes of a release below what was asked for, by brute force."""
    sizes: Counter[tuple[str | None, ...]] = Counter()
    for row, count in release.items():
        sizes[row[:2]] += count
    return [f"a class of {size} in a release for k = {case.k}" for size in sizes.values() if size < case.k]


def recover(place: Place, case: Case, verdict: Verdict, *, clean_first: bool, whole: bool = True) -> None:
    """Let the next run publish and ``clean`` leave nothing, in either order.

    Args:
        place: where.
        case: what ran, and runs again.
        verdict: problems are added to it.
        clean_first: ``clean`` comes before the next run, as well as after.
        whole: the source is what it was, so the next run must publish.
    """
    earlier = len(verdict.problems)
    if clean_first:
        _clean(place, case, verdict)
    try:
        again = CASES["again"] if case.has_ledger and verdict.state == "new" else case
        with place.connect(**case.options(place)) as engine:
            result = kanon_sql.anonymize(engine, again.spec)
        release = place.rows(name_of(again))
        if not result.passed and whole:
            verdict.problems.append(f"the next run: {result.message}")
        elif result.passed and (release is None or (whole and again.node_of(release) is None)):
            verdict.problems.append("the next run said that it published, and the release is not whole")
        elif result.passed and release is not None:
            verdict.problems += too_small(again, release)
    except KanonError as error:
        if whole:
            verdict.problems.append(f"the next run: {error}")
    except Exception as error:
        verdict.problems.append(f"the next run: raw {type(error).__name__}")
    _clean(place, case, verdict)
    verdict.recovered = len(verdict.problems) == earlier


def _clean(place: Place, case: Case, verdict: Verdict) -> None:
    """``clean`` drops what is left of runs, and no release."""
    release = place.rows(name_of(case))
    try:
        with place.connect(**case.options(place)) as engine:
            clean(engine, drop=True)
    except Exception as error:
        verdict.problems.append(f"clean: {type(error).__name__}: {error}")
    left = place.scratch() + [f"a record of {name}" for name in _recorded(place)]
    if left:
        verdict.problems.append(f"clean left {', '.join(left)}")
    if place.rows(name_of(case)) != release:
        verdict.problems.append("clean changed the release")
    strange = [name for name in place.tables() if name.startswith("kanon_") and name not in (
        MANIFEST_TABLE, SCRATCH_TABLE) and not SCRATCH.fullmatch(name)]  # fmt: skip
    if strange:
        verdict.problems.append(f"tables of unknown use: {', '.join(strange)}")
