"""What must hold after a fault: asked of the database beside kanon_sql, and of the next run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon_sql.engines import SCRATCH_TABLE, Engine
from kanon_sql.errors import KanonError
from kanon_sql.release.publish import MANIFEST_TABLE
from kanon_sql.verbs.clean import clean
from tests.campaign.cases import CASES, LEDGER, RELEASE, Case
from tests.campaign.places import Place, Rows

PENDING = "pending"
"""Stands in a manifest in place of a time, until the release stands under its name."""


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
        state: the earlier release is intact (or there is none, as before), the new one is whole (``new``), or the
            earlier one is out of the way and recorded (``aside``), so that ``clean`` puts it back.
        problems: promises that were broken, in words.
        recovered: the next run and ``clean`` were tried, and did what they promise.
    """

    state: str = "intact"
    problems: list[str] = field(default_factory=list)
    recovered: bool = False


def standing(place: Place, case: Case) -> Before:
    """What stands there now."""
    others = {RELEASE} - set(case.names) if case.before else set()
    with place.still():
        return Before(
            case.read(place),
            {name: place.rows(name) for name in sorted(others)},
            frozenset(claim.run for claim in claims(place)),
        )


@dataclass(frozen=True)
class Claim:
    """A row that a manifest or a ledger holds of a release."""

    release: str
    run: str
    published_at: str
    text: str


def claims(place: Place, table: str = MANIFEST_TABLE) -> list[Claim]:
    """What a manifest or a ledger says, read as it is stored: one row per run and release, a settled one before a
    pending one."""
    if table not in place.tables():
        return []
    found = [Claim(*map(str, row)) for row in
             place.fetch(f"SELECT release_name, run_id, published_at, manifest FROM {table}")]  # fmt: skip
    withdrawn = {claim.run for claim in found if claim.published_at == "withdrawn"} | {"turn"}
    of_release: dict[tuple[str, str], Claim] = {}
    for claim in sorted(found, key=lambda claim: claim.published_at != PENDING):
        if claim.run not in withdrawn:
            of_release[claim.run, claim.release] = claim
    return list(of_release.values())


def pending(place: Place) -> set[str]:
    """The runs whose release is on its way, or was when they were cut off."""
    return {claim.run for claim in claims(place) if claim.published_at == PENDING}


def recorded(place: Place) -> list[str]:
    """The scratch tables that are recorded, and not said to be forgotten where no row can be deleted."""
    if SCRATCH_TABLE not in place.tables():
        return []
    times: Counter[str] = Counter()
    for name, created_at in place.fetch(f"SELECT object_name, created_at FROM {SCRATCH_TABLE}"):
        times[name] += -1 if created_at == "forgotten" else 1
    return [json.loads(name)[-1] for name, count in times.items() if count > 0]


def examine(place: Place, case: Case, before: Before, *, changed: bool = False) -> Verdict:
    """The state in which a fault left the database.

    Args:
        place: where.
        case: what was running.
        before: what stood there before.
        changed: the source is not what it was; a new release is then judged by its classes alone.
    """
    with place.still():
        return _examined(place, case, before, changed)


def _examined(place: Place, case: Case, before: Before, changed: bool) -> Verdict:
    now = case.read(place)
    verdict = Verdict(*case.state(place, before.release, _put_aside(place)))
    problems = verdict.problems
    on_the_way = pending(place)
    if verdict.state == "new" and now is not None:
        problems += _not_whole(place, case, now, before) if not changed else case.too_small(now)
    elif before.runs < {claim.run for claim in claims(place)} - on_the_way:
        problems.append("the manifest speaks of a release that is not there")
    for name, rows in before.others.items():
        if place.rows(name) != rows:
            problems.append(f"another release, {name}, is not what it was")
    if not changed and not case.is_source_intact(place):
        problems.append("the source was written to")
    if case.has_ledger:
        problems += _of_ledger(place, case.names[0], now is not None, on_the_way)
    problems += [f"nothing records {name}" for name in place.scratch() if name not in recorded(place)]
    return verdict


def _put_aside(place: Place) -> list[str]:
    """What a run moved out of the way, where exchanging takes two statements; of several tables with a number."""
    return [name for name in place.scratch() if re.search(r"_old\d?$", name) and name in recorded(place)]


def _of_ledger(place: Place, release: str, stands: bool, on_the_way: set[str]) -> list[str]:
    """A release has an entry, and an entry a release, unless the manifest says that it is on its way."""
    entered = {claim.run for claim in claims(place, LEDGER) if claim.release == release}
    if stands and not entered:
        return ["a release is not in its ledger"]
    return ["the ledger holds a release that is not there"] if not stands and entered - on_the_way else []


def _not_whole(place: Place, case: Case, now: Rows, before: Before) -> list[str]:
    """Why the new release is not one that the source gives, with its manifest beside it."""
    if not case.gives(now):
        return [f"{now.total()} rows stand under the release's name that the source does not give"]
    own = [claim for claim in claims(place) if claim.release in case.names and claim.run not in before.runs]
    if sorted(claim.release for claim in own) != sorted(case.names) or len({claim.run for claim in own}) != 1:
        return [f"{len(own)} manifests speak of the release"]
    wrong = case.manifest_wrong(json.loads(own[0].text), now)
    return [] if wrong is None else [wrong]


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
    try:
        with place.connect(**case.options(place)) as engine:
            if clean_first or (case.has_ledger and pending(place)):  # a ledger with such an entry asks for it
                _clean(engine, place, case, verdict)
            _next_run(engine, place, case, verdict, whole)
            _clean(engine, place, case, verdict)
    except Exception as error:
        verdict.problems.append(f"after the fault: {type(error).__name__}: {error}")
    verdict.recovered = len(verdict.problems) == earlier


def _next_run(engine: Engine, place: Place, case: Case, verdict: Verdict, whole: bool) -> None:
    """Run the case once more, or, where its release stands in a ledger and so must stay, another one."""
    again = CASES["again"] if case.has_ledger and verdict.state == "new" else case
    try:
        result = again.publish(engine, place)
    except KanonError as error:
        if whole:
            verdict.problems.append(f"the next run: {error}")
        return
    if not result.passed:
        verdict.problems += [f"the next run: {result.message}"] if whole else []
        return
    release = again.read(place)
    if release is None or (whole and not again.gives(release)):
        verdict.problems.append("the next run said that it published, and the release is not whole")
    else:
        verdict.problems += again.too_small(release)


def _clean(engine: Engine, place: Place, case: Case, verdict: Verdict) -> None:
    """``clean`` drops what is left of runs, and no release; one that is out of the way is put back."""
    release = case.after_clean(place, _put_aside(place))
    clean(engine, drop=True)
    with place.still():
        left = place.scratch() + [f"a record of {name}" for name in recorded(place)]
        left += [f"the pending run {run}" for run in sorted(pending(place))]
        strange = {name for name in place.tables() if name.startswith("kanon_")} - {
            MANIFEST_TABLE, SCRATCH_TABLE, *place.scratch()}  # fmt: skip
        if left:
            verdict.problems.append(f"clean left {', '.join(left)}")
        if release is not None and (case.read(place) or Counter()) != release:
            verdict.problems.append("clean changed the release")
        if strange:
            verdict.problems.append(f"tables of unknown use: {', '.join(sorted(strange))}")
