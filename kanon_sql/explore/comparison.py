"""Candidates side by side: a column each, a row per figure, and what must not be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanon_sql.errors import KanonError
from kanon_sql.explore.controls import limit_words, recoding_label, requirements_in_words
from kanon_sql.explore.roles import SHORT, roles_in
from kanon_sql.report.levels import level_in_words
from kanon_sql.report.words import metric, number, percent, plural
from kanon_sql.spec import Spec

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Plan

__all__ = ["Row", "SideBySide", "side_by_side"]

NOT_KNOWN = "-"


@dataclass(frozen=True)
class Row:
    """A figure of each candidate.

    Attributes:
        head: what it is.
        cells: the figure of each candidate.
        is_number: it is set as numbers are.
    """

    head: str
    cells: Sequence[str]
    is_number: bool = False

    @property
    def differs(self) -> bool:
        """Whether not all candidates have the same."""
        return len(set(self.cells)) > 1


@dataclass(frozen=True)
class SideBySide:
    """A comparison.

    Attributes:
        names: of the candidates.
        passed: of each, whether a release is possible; None where there is no answer.
        figures: a row per figure.
        columns: a row per column: the level, or the role.
        notes: what must not be compared, a sentence each.
    """

    names: Sequence[str]
    passed: Sequence[bool | None]
    figures: Sequence[Row]
    columns: Sequence[Row]
    notes: Sequence[str]


def side_by_side(specs: Mapping[str, Spec], found: Mapping[str, Plan | KanonError]) -> SideBySide:
    """Compare candidates.

    Args:
        specs: the candidates by name.
        found: the plan of each, or why there is none.
    """
    plans = {name: None if isinstance(item, KanonError) else item for name, item in found.items()}
    return SideBySide(
        list(specs),
        [None if plan is None else plan.passed for plan in plans.values()],
        list(_figures(specs, found, plans)),
        list(_columns(specs, plans)),
        list(_notes(specs)),
    )


def _figures(
    specs: Mapping[str, Spec], found: Mapping[str, Plan | KanonError], plans: Mapping[str, Plan | None]
) -> Iterator[Row]:
    def of_plan(head: str, figure: Callable[[Plan], str], *, of_releases: bool = True) -> Row:
        cells = [
            NOT_KNOWN if plan is None or (of_releases and plan.node is None and plan.recoding is None) else figure(plan)
            for plan in plans.values()
        ]
        return Row(head, cells, is_number=True)

    def of_spec(head: str, words: Callable[[Spec], str]) -> Row:
        return Row(head, [words(spec) for spec in specs.values()])

    yield of_spec("requirements", lambda spec: "; ".join(requirements_in_words(spec)))
    keys = dict.fromkeys(key for plan in plans.values() if plan is not None for key in plan.achieved)
    for key in keys:
        yield of_plan(f"achieved: {_requirement(key)}", lambda plan, key=key: _achieved(plan, key))  # type: ignore[misc]
    yield of_spec("suppression limit", limit_words)
    yield of_plan("suppressed rows", _suppressed)
    yield of_plan("mean loss", lambda plan: NOT_KNOWN if plan.mean_loss is None else metric(plan.mean_loss))
    yield of_plan("classes", lambda plan: number(int(plan.classes.get("count") or 0)))
    yield of_plan("smallest class", lambda plan: number(int(plan.classes.get("smallest") or 0)))
    yield of_spec("counted", lambda spec: "rows" if spec.unit is None else f"persons, by {spec.unit}")
    yield of_spec("recoding", recoding_label)
    yield of_spec("metric", lambda spec: spec.search.metric_label)
    yield Row("warnings", [_warnings(item) for item in found.values()])
    yield Row("result", [str(item) if isinstance(item, KanonError) else item.message for item in found.values()])


def _requirement(key: str) -> str:
    """The key of a result in words: ``distinct_l_diversity(diagnosis)`` is about a column."""
    name, _, column = key.partition("(")
    words = re.sub("(^|_)([a-z])_", r"\1\2-", name).replace("_", " ")
    return f"{words} of {column.removesuffix(')')}" if column else words


def _achieved(plan: Plan, key: str) -> str:
    entry = plan.achieved.get(key)
    if entry is None:
        return "not required"
    numbers = {
        name: value
        for name, value in entry.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and not name.startswith("violating_")
    }
    return ", ".join(f"{name} = {metric(value)}" for name, value in numbers.items()) or NOT_KNOWN


def _suppressed(plan: Plan) -> str:
    return f"{number(plan.rows['suppressed'])} ({percent(plan.rows['suppressed'], plan.rows['source'])})"


def _warnings(item: Plan | KanonError) -> str:
    if isinstance(item, KanonError):
        return NOT_KNOWN
    found = [
        f"{warned.code} ({', '.join(warned.columns)})" if warned.columns else warned.code for warned in item.warnings
    ]
    return "; ".join(found) or "none"


def _columns(specs: Mapping[str, Spec], plans: Mapping[str, Plan | None]) -> Iterator[Row]:
    roles = {name: roles_in(spec) for name, spec in specs.items()}
    order = [column for spec in specs.values() for column in spec.quasi_identifiers]
    for column in dict.fromkeys([*order, *(column for own in roles.values() for column in own)]):
        yield Row(column, [_cell(column, roles[name].get(column, "left_out"), plans[name]) for name in specs])


def _cell(column: str, role: str, plan: Plan | None) -> str:
    """The level of a quasi-identifier; the role of any other column."""
    if role != "quasi_identifier":
        return SHORT[role]
    if plan is None:
        return NOT_KNOWN
    if plan.intervals and column in plan.intervals:
        return plural(plan.intervals[column], "interval")
    if plan.node is not None:
        level = plan.node[column]
        return f"{level}: {level_in_words(plan.level_names, column, level)}"
    return NOT_KNOWN if plan.recoding is None else "levels that differ by class"


def _notes(specs: Mapping[str, Spec]) -> Iterator[str]:
    """Why a lower figure is no better release."""
    known = {name: set(spec.quasi_identifiers) for name, spec in specs.items()}
    everywhere = set.intersection(*known.values())
    partial = [column for column in dict.fromkeys(c for spec in specs.values() for c in spec.quasi_identifiers)
               if column not in everywhere]  # fmt: skip
    if partial:
        lacking = "; ".join(
            f"{column} is none in {', '.join(name for name, own in known.items() if column not in own)}"
            for column in partial
        )
        yield (
            f"The quasi-identifiers differ ({lacking}): these candidates assume attackers who know different things, "
            "and loss is a mean over different columns. A lower loss or a higher k is no better release here."
        )
    if len({str(spec.source.to_dict()) for spec in specs.values()}) > 1:
        yield "The sources differ, so rows and shares are of different tables."
    if len({spec.unit for spec in specs.values()}) > 1:
        yield "Some count persons and others count rows: their k do not mean the same."
