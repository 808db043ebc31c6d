"""The way in and out of a run: leftovers go, perturbed tables are refused, and at the end its cost is known."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from kanon_sql.engines import Deadline, Engine, Meter, Reporter, StageReporter
from kanon_sql.errors import SpecError
from kanon_sql.spec import format_table_name
from kanon_sql.verbs.result import Cost, redacted_log

if TYPE_CHECKING:
    from kanon_sql.spec import Origin

__all__ = ["Run", "refuse_perturbed", "running"]

R = TypeVar("R")


@dataclass(frozen=True)
class Run:
    """A run under way.

    Attributes:
        engine: where it runs.
        meter: what it has asked of the database so far.
        started: when it began.
    """

    engine: Engine
    meter: Meter
    started: float

    @property
    def cost(self) -> Cost:
        """What it took so far."""
        return Cost.of(self.meter, time.perf_counter() - self.started)

    @property
    def sql(self) -> tuple[str, ...]:
        """Every statement so far, with values redacted."""
        return redacted_log(self.meter)

    def closed(self, result: R) -> R:
        """A result of any verb with what the whole run took, and its statements with values redacted."""
        made: Any = result
        closed: R = replace(made, cost=self.cost, sql=self.sql)
        return closed


@contextmanager
def running(
    engine: Engine,
    timeout: float | None,
    report: Reporter | None = None,
    *,
    publishes: Origin | None = None,
    judges: Sequence[tuple[str, ...] | None] = (),
) -> Iterator[Run]:
    """Open a run.

    Args:
        engine: where.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words; None for what a run around this one reports to.
        publishes: what is to be published, beside which killed runs may have left something; None for nothing.
        judges: the names of the tables of which something is claimed; None for what has no name.

    Raises:
        SpecError: one of these tables holds perturbed values.
    """
    started = time.perf_counter()
    before = engine.progress
    if report is not None:
        engine.progress = StageReporter(report)
    try:
        with engine.run(Deadline(timeout)) as meter:
            if publishes is not None:
                from kanon_sql.release import remove_leftovers  # all that writes, which a plan does without

                remove_leftovers(engine, publishes)
            refuse_perturbed(engine, *judges)
            yield Run(engine, meter, started)
    finally:
        engine.progress = before
        getattr(report, "done", lambda: None)()  # what it shows may end with the run


def refuse_perturbed(engine: Engine, *tables: tuple[str, ...] | None) -> None:
    """Refuse what ``perturb`` has published: its mark says so.

    Args:
        engine: with a run open.
        tables: the name parts of what is to be judged; None for what has no name.

    Raises:
        SpecError: one of them holds perturbed values.
    """
    for parts in tables:
        run_id = None if parts is None else engine.mark(parts)
        if parts is None or run_id is None:
            continue
        from kanon_sql.release import marks_perturbed  # all that writes and publishes, for what is rarely marked

        if marks_perturbed(run_id):
            raise SpecError(
                f"{format_table_name(parts)!r} was published by perturb, so its values are perturbed and its classes "
                "prove nothing; name the table with the true values"
            )
