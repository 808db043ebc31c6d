"""The result of ``risk`` as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, plain_notes, section
from kanon_sql.report.words import metric, number, percent, shown

if TYPE_CHECKING:
    from kanon_sql.disclosure.risk import HouseholdRisk, Risk, Suda, WeightedRisk
    from kanon_sql.verbs.risk import Distinguished, RiskResult

__all__ = ["risk_text"]

LISTED = 5
"""Combinations of more than one column that are listed, those that distinguish most records."""


def risk_text(result: RiskResult) -> RenderableType:
    """What an attacker may hope for, and which columns help."""
    parts: list[RenderableType] = [Text(shown(result.message), overflow="fold"), Text(), facts(_summary(result))]
    parts += section("Re-identification", _attackers(result))
    parts += section("Uniqueness", facts(_uniqueness(result)))
    if result.k_map_estimate is not None:
        parts += section("Journalist, without a population table", facts(_k_map(result)))
    parts += section("Distinction and separation of the columns", _combinations(result))
    parts += section("Smallest combinations in which every record is unique", _minimal(result))
    if result.suda is not None:
        parts += section("Special uniques (SUDA)", _special(result.suda, result.histogram.records))
    if result.weighted is not None:
        parts += section("Individual risk, by sampling weights", facts(_by_weights(result.weighted, result)))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def _summary(result: RiskResult) -> Iterable[tuple[str, str]]:
    yield "table", result.table
    yield "rows", number(result.histogram.rows)
    if result.unit is not None:
        yield "persons", f"{number(result.histogram.records)}, by {result.unit}"
    yield "classes", number(result.histogram.classes)
    yield "known to others", ", ".join(result.columns)


def _attackers(result: RiskResult) -> RenderableType:
    table = columns(
        [("attacker", False), ("knows or wants", False), ("highest", True), ("average", True),
         (f"above {result.threshold:g}", True), ("", True)]
    )  # fmt: skip

    def add(name: str, knows: str, found: Risk) -> None:
        records = result.histogram.records
        table.add_row(
            Text(name), Text(knows), _measure(found.highest), _measure(found.average),
            Text(number(found.at_risk)), Text(percent(found.at_risk, records)),
        )  # fmt: skip

    add("prosecutor", "is in the table", result.prosecutor)
    if result.journalist is not None:
        add("journalist", f"is in {shown(result.population or '')}", result.journalist)
    table.add_row(
        Text("marketer"), Text("many right matches"), Text(), _measure(result.marketer["average"]), Text(), Text()
    )  # fmt: skip
    return table


def _measure(value: float | None) -> Text:
    return Text("none" if value is None else metric(value))


def _uniqueness(result: RiskResult) -> Iterable[tuple[str, str]]:
    records = result.histogram.records
    yield "in the table", f"{number(result.histogram.uniques)} ({percent(result.histogram.uniques, records)})"
    if result.journalist is not None:
        uniques = result.journalist.population_uniques
        yield f"in {result.population}", f"{number(uniques)} of the table's ({percent(uniques, records)})"
    for item in result.uniqueness["population"]:
        if item.uniques is None or item.share is None:
            yield f"estimated ({item.estimator})", f"does not exist: {item.reason}"
        else:
            by = item.estimator if item.chosen is None else f"{item.estimator}: {item.chosen}"
            yield (
                f"estimated ({by})",
                f"{number(round(item.uniques))} of the population ({metric(100 * item.share)} %)",
            )


def _k_map(result: RiskResult) -> Iterable[tuple[str, str]]:
    found = result.k_map_estimate
    if found is None:
        return
    k = "none" if found.k is None else number(found.k)
    yield "k-map, estimated", f"k = {k}, at the significance level {found.significance:g}"
    needed = "no class is large enough" if found.safe_size is None else f"in classes under {number(found.safe_size)}"
    share = percent(found.at_risk, result.histogram.records)
    yield f"above {result.threshold:g}, estimated", f"{number(found.at_risk)} ({share}), {needed}"


def _combinations(result: RiskResult) -> RenderableType:
    table = columns([("columns", False), ("distinction", True), ("separation", True), ("unique", True)])
    alone = [item for item in result.combinations if len(item.columns) == 1]
    together = [item for item in result.combinations if 1 < len(item.columns) < len(result.columns)]
    everything = [item for item in result.combinations if 1 < len(item.columns) == len(result.columns)]
    order = {name: position for position, name in enumerate(result.columns)}
    together.sort(key=lambda item: (-item.uniques, -item.classes, [order[name] for name in item.columns]))
    for item in [*alone, *together[:LISTED], *everything]:
        table.add_row(
            Text(_named(result, item)),
            _measure(item.distinction),
            _measure(item.separation),
            Text(percent(item.uniques, item.records)),
        )
    return table


def _by_weights(found: WeightedRisk, result: RiskResult) -> Iterable[tuple[str, str]]:
    records = result.histogram.records
    yield "weights", f"{found.weight}, {number(round(found.population))} in all"
    parts: list[tuple[str, WeightedRisk | HouseholdRisk]] = [("", found)]
    if found.household is not None:
        yield "households", f"{number(found.household.households)}, by {found.household.key}"
        parts.append(("households: ", found.household))
    for name, item in parts:
        yield f"{name}highest", "none" if item.highest is None else metric(item.highest)
        yield f"{name}average", "none" if item.average is None else metric(item.average)
        yield f"{name}expected", f"{metric(item.expected)} re-identifications"
        yield f"{name}above {result.threshold:g}", f"{number(item.at_risk)} ({percent(item.at_risk, records)})"


def _special(found: Suda, records: int) -> RenderableType:
    """How many there are by the size of their smallest set of columns, and which columns make them so."""
    lines = [("records", f"{number(found.records)} ({percent(found.records, records)})")]
    lines += [
        (f"by {item['columns']} columns" if item["columns"] > 1 else "by 1 column", f"{number(item['records'])}")
        for item in found.sizes
    ]
    if found.highest_score is not None:
        lines.append(("highest score", number(found.highest_score)))
    lines += [
        (f"contribution of {shown(item['column'])}", metric(item["share"]))
        for item in found.contributions
        if item["share"] is not None
    ]
    if found.dis is not None and found.highest_dis_suda is not None:
        lines += [("DIS", metric(found.dis)), ("highest DIS-SUDA", metric(found.highest_dis_suda))]
    return facts(lines)


def _named(result: RiskResult, item: Distinguished) -> str:
    if 1 < len(item.columns) == len(result.columns):
        return "all of them"
    return ", ".join(map(shown, item.columns))


def _minimal(result: RiskResult) -> RenderableType:
    if not result.minimal_unique:
        return Text(f"none of up to {result.largest_combination} columns")
    return Group(*(Text(", ".join(map(shown, item))) for item in result.minimal_unique))
