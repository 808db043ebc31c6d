"""Two to four runs at once: each is held before a statement of its own, and then they go on, one after another."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any, ClassVar

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.errors import KanonError
from tests.campaign.cases import HELD, LEDGER, Case, Node, levels, spec_of
from tests.campaign.faults import Kind, Struck, Target
from tests.campaign.judging import PENDING, Before, Verdict, claims, recorded
from tests.campaign.places import Place
from tests.campaign.several import SeveralNode
from tests.campaign.wire import Point, Wire

PATIENCE = 1.0
"""Seconds that a run may take to its point, or to its end, before another goes on: it may wait for a lock."""

END_SECONDS = 90.0


class Held:
    """A run in a thread of its own, held before its n-th statement until it is let go."""

    def __init__(self, place: Place, case: Case, spec: Any, at: int) -> None:
        self.case, self.place, self.spec, self._at = case, place, spec, at
        self.arrived, self.done = threading.Event(), threading.Event()
        self._go = threading.Event()
        self.run_id: str | None = None
        self.may_be: str | None = None
        self.problem: str | None = None
        self.where = ""
        self._thread = threading.Thread(target=self._run, args=(place, case), daemon=True)
        self._thread.start()

    def _run(self, place: Place, case: Case) -> None:
        try:
            with place.connect(**case.options(place)) as engine:
                Wire(engine, self._at_point)
                self._publish(engine)
        except KanonError:
            pass
        except BaseException as error:
            self.problem = f"raw {type(error).__name__}"
        finally:
            self.done.set()

    def _publish(self, engine: Engine) -> None:
        """Anonymize, and note the run if it says that it published, or failed and does not say that nothing stands.

        A run that is refused while it settles cannot know more: another run that finds its release settles it.
        """
        try:
            result = self.case.publish(engine, self.place, self.spec)
        except KanonError as error:
            said = str(error)
            stands = "nevertheless published"
            if said.endswith((f"{stands} under its name", f"the tables are {stands}")):
                self.run_id = engine.run_id
            elif stands in said or "it is unknown which" in said:
                self.may_be = engine.run_id
            return
        if result.passed and result.manifest:
            self.run_id = result.manifest["run_id"]

    def _at_point(self, point: Point) -> None:
        if point.number == self._at and point.when == "before":
            self.where = str(point)
            self.arrived.set()
            self._go.wait(END_SECONDS)

    def come(self) -> None:
        """Wait until it is at its point, at its end, or stuck."""
        _until(lambda: self.arrived.is_set() or self.done.is_set(), PATIENCE)

    def go(self) -> None:
        """Let it go on, to its end or until it is stuck."""
        self._go.set()
        self.done.wait(PATIENCE)

    def end(self) -> None:
        """Wait for its end."""
        self._go.set()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            self.problem = "the run hung"


def _until(reached: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not reached() and time.monotonic() < end:
        time.sleep(0.002)


class TwoRuns(Kind):
    """Two runs that publish under one name."""

    name = "two runs at once"
    cases = ("first", "again", "scratch schema", "several first", "several", "ready first", "ready", "ready more")
    runs: ClassVar[int] = 2

    def __init__(self) -> None:
        self.held: list[Held] = []

    def targets(self, names: Sequence[str], random: Random) -> list[Target]:
        """All pairs of points from the writing of the release on; of three and four runs a draw of them."""
        first = next(i for i, name in enumerate(names) if name.startswith("release/")) + 1
        late = range(first, len(names) + 1)
        if self.runs == 2:
            return [Target(one, others=(other,)) for one, other in product(late, late)]
        return [Target(random.choice(late), others=tuple(random.choices(late, k=self.runs - 1))) for _ in range(400)]

    def specs(self, place: Place, case: Case) -> list[kanon_sql.Spec | kanon_sql.RelationalSpec]:
        """What the runs publish."""
        return [case.spec_at(place, node) for node in HELD[: self.runs]]

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        self.held = []
        for spec, at in zip(self.specs(place, case), (target.number, *target.others), strict=True):
            self.held.append(run := Held(place, case, spec, at))
            run.come()
        for run in random.sample(self.held, len(self.held)):
            run.go()
        for run in self.held:
            run.end()
        place.settle()
        problems = [run.problem for run in self.held if run.problem]
        where = "; ".join(run.where or "nowhere" for run in self.held)
        return Struck(where, sum(run.arrived.is_set() for run in self.held) > 1, "; ".join(problems) or None)

    def examine(self, place: Place, case: Case, before: Before, struck: Struck) -> Verdict:
        """What stands is what one run published that says so, and the manifest knows just those that say so."""
        with place.still():
            now = case.read(place)
            verdict = Verdict("intact" if now == before.release else "new")
            told = {claim.run: claim for claim in claims(place) if claim.run not in before.runs}
            passed = {run.run_id for run in self.held if run.run_id}
            possible = passed | {run.may_be for run in self.held if run.may_be}
            settled = {run for run, claim in told.items() if claim.published_at != PENDING}
            if verdict.state == "new" and (now is None or case.node_of(now) not in self._nodes(case, told, possible)):
                verdict.problems.append("what stands there is not what a run says that it published")
            if verdict.state == "intact" and passed:
                verdict.problems.append("a run says that it published, and the earlier release stands")
            if not passed <= settled <= possible:
                verdict.problems.append(
                    f"{len(passed)} runs say that they published, the manifest that {len(settled)} did"
                )
            verdict.problems += [f"nothing records {name}" for name in place.scratch() if name not in recorded(place)]
            if not case.is_source_intact(place):
                verdict.problems.append("the source was written to")
        return verdict

    @staticmethod
    def _nodes(case: Case, told: dict[str, Any], passed: set[str]) -> set[Node | SeveralNode]:
        return {case.node_in(json.loads(claim.text)) for run, claim in told.items() if run in passed}


class ThreeRuns(TwoRuns):
    """Three runs that publish under one name."""

    name = "three runs at once"
    runs = 3


class FourRuns(TwoRuns):
    """Four runs that publish under one name."""

    name = "four runs at once"
    runs = 4


class TwoEntries(TwoRuns):
    """Two releases for one ledger, each alone as anonymous as it must be, and both together not."""

    name = "two ledger entries"
    cases = ("joint",)
    other = "third_release"

    def specs(self, place: Place, case: Case) -> list[kanon_sql.Spec | kanon_sql.RelationalSpec]:
        changes = {**case.asks, **levels(0, 2), "release": self.other, "privacy": [{"k_anonymity": case.k}]}
        return [case.spec_at(place), spec_of(**changes)]

    def examine(self, place: Place, case: Case, before: Before, struck: Struck) -> Verdict:
        """At most one of them stands, and it is in the ledger."""
        with place.still():
            names = [name for name in (case.names[0], self.other) if place.rows(name) is not None]
            entered = [claim.release for claim in claims(place, LEDGER)]
            verdict = Verdict("new" if names else "intact")
            passed = [run for run in self.held if run.run_id]
            if len(names) > 1:
                verdict.problems.append("two releases stand that together show classes of 2 for k = 5")
            if sorted(names) != sorted(entered) or len(passed) != len(names):
                verdict.problems.append(f"{len(passed)} runs published, {names} stand, {entered} are in the ledger")
        return verdict
