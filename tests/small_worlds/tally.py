"""Problems, what came of them, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.small_worlds.specs import Asked


@dataclass(frozen=True)
class Problem:
    """A table and a spec.

    Attributes:
        number: by which it can be run again.
        table: the table's number in its batch.
        asked: the spec.
    """

    number: int
    table: int
    asked: Asked


@dataclass(frozen=True)
class Outcome:
    """What came of a problem.

    Attributes:
        problem: it.
        verdict: ``pass``, ``fail`` or ``error``, as both should say.
        tight: some class is exactly at a bound.
        nulls: some quasi-identifier that the spec names is NULL.
        wrong: what the package says otherwise, in words; empty where all agree.
    """

    problem: Problem
    verdict: str
    tight: bool
    nulls: bool
    wrong: Sequence[str] = ()


@dataclass
class Tally:
    """What came of problems, by engine, model, unit, NULLs and style.

    Attributes:
        counts: by engine, model, unit, NULLs, style and what is counted.
        problems: how many there were.
        asked: how many there were, by engine and style.
        seconds: how long they took, by engine and style.
        wrong: the disagreements.
    """

    counts: Counter[tuple[str, str, str, str, str, str]] = field(default_factory=Counter)
    problems: int = 0
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: dict[tuple[str, str], float] = field(default_factory=dict)
    wrong: list[Outcome] = field(default_factory=list)

    def add(self, engine: str, outcome: Outcome, seconds: float) -> None:
        """Count what an engine made of a problem, and how long that took."""
        asked = outcome.problem.asked
        style = asked.style
        self.problems += 1
        self.asked[engine, style] += 1
        self.seconds[engine, style] = self.seconds.get((engine, style), 0.0) + seconds
        unit = "rows" if asked.unit is None else "persons"
        nulls = asked.nulls if outcome.nulls else "none"
        for name in dict.fromkeys(item.name for item in asked.requirements):
            key = (engine, name, unit, nulls, style)
            self.counts[(*key, "problems")] += 1
            self.counts[(*key, outcome.verdict)] += 1
            self.counts[(*key, "at a bound")] += outcome.tight
            self.counts[(*key, "agree")] += not outcome.wrong
        if outcome.wrong:
            self.wrong.append(outcome)


COUNTED = ("problems", "agree", "pass", "fail", "error", "at a bound")


def table_of(tally: Tally) -> Iterator[str]:
    """The counts as a table in Markdown: a line per engine, model, unit, NULLs and style."""
    yield f"| engine | model | unit | NULLs | style | {' | '.join(COUNTED)} |"
    yield f"|---|---|---|---|---|{'---:|' * len(COUNTED)}"
    for key in sorted({key[:5] for key in tally.counts}):
        yield f"| {' | '.join(key)} | {' | '.join(f'{tally.counts[(*key, name)]:,}' for name in COUNTED)} |"
