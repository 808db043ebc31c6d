"""An audit as text: the verdict, a line per attack, and the exposed cases only if they were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, plain_notes, section, verdict
from kanon_sql.report.words import metric, number, shown

if TYPE_CHECKING:
    from kanon_sql.disclosure.attacks import Attack, Revealed
    from kanon_sql.verbs.audit import AuditResult

__all__ = ["audit_text"]


def audit_text(result: AuditResult) -> RenderableType:
    """The result of ``audit``."""
    parts: list[RenderableType] = [
        verdict(result.passed, result.message),
        Text(),
        facts([("table", result.release), ("rows", number(result.rows))]),
        *section("Attacks", _attacks(result.attacks)),
        *section("Risks", facts((_name(attack), attack.measure) for attack in result.attacks)),
    ]
    for attack in result.attacks:
        if attack.revealed:
            parts += section(f"Exposed by {shown(attack.label)}: values of persons", _revealed(attack.revealed))
    if result.left_out:
        parts += section("Not run", facts(result.left_out.items()))
    notes = [f"{_name(attack)}: {note}" for attack in result.attacks for note in attack.notes]
    parts += section("Notes", plain_notes([*notes, *result.notes]))
    return Group(*parts, Text(), Text(cost_line(result.cost), "dim"))


def _name(attack: Attack) -> str:
    return f"{attack.label} (estimate)" if attack.estimate else attack.label


def _attacks(attacks: Sequence[Attack]) -> RenderableType:
    heads = [("attack", False), ("examined", True), ("exposed", True), ("beyond", True), ("highest risk", True)]
    table = columns(heads)
    for attack in attacks:
        style = "red" if attack.failed else ""
        table.add_row(
            Text(shown(_name(attack))),
            Text(number(attack.examined)),
            Text(number(attack.exposed), style),
            Text(number(attack.beyond), style),
            Text("none" if attack.risk is None else metric(attack.risk)),
        )
    return table


def _revealed(cases: Sequence[Revealed]) -> RenderableType:
    table = columns([*((shown(name), False) for name in cases[0]["values"]), ("people", True)])
    for case in cases:
        values = ("NULL" if value is None else shown(value) for value in case["values"].values())
        table.add_row(*map(Text, values), Text(number(case["people"])))
    return table
