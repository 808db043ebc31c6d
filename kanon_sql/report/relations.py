"""The result of several tables as text for people: what became of each, and who shares what may be known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, named_warnings, plain_notes, section, verdict
from kanon_sql.report.words import number, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.relational import JointResult, RelationalResult, RequirementResult
    from kanon_sql.verbs.relational_audit import RelationalAudit
    from kanon_sql.verbs.relational_comparison import RelationalComparison

__all__ = ["audit_text", "comparison_text", "relational_text"]


def relational_text(result: RelationalResult) -> RenderableType:
    """The verdict, each table with what it lost, and the requirements."""
    parts: list[RenderableType] = [verdict(result.passed, result.message), Text(), facts(_summary(result))]
    if result.tables:
        parts += section("Tables", _tables(result))
    if any(table["columns"] for table in result.tables.values()):
        parts += section("Columns", _columns(result))
    if result.requirements:
        parts += section("Requirements", _requirements(result.requirements))
    if result.ledger is not None:
        parts += section("Together with earlier releases", _ledger(result.ledger))
    if result.warnings:
        parts += section("Warnings", named_warnings(result.warnings))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def _summary(result: RelationalResult) -> Iterable[tuple[str, str]]:
    yield "persons", number(result.persons)
    yield "left out", number(result.left_out)
    if result.recoding is not None:
        yield "recoding", result.recoding
    if result.fewest is not None:
        yield "classes of persons", number(result.classes)
        yield "smallest class", number(result.fewest)
    if result.nodes_asked is not None:
        yield "nodes asked", number(result.nodes_asked)


def _tables(result: RelationalResult) -> RenderableType:
    checked = result.recoding is None
    heads = [("table", False), ("rows", True)]
    heads += [] if checked else [("released", True), ("mean loss", True)]
    table = columns([*heads, ("published as", False)])
    for name, item in result.tables.items():
        figures = [] if checked else [number(item["released"]), _share(item["loss"])]
        table.add_row(Text(shown(name)), number(item["rows"]), *figures, Text(shown(item["published"] or "")))
    return table


def _columns(result: RelationalResult) -> RenderableType:
    table = columns([("column", False), ("mean loss", True), ("rows on levels 0, 1, ...", False)])
    for name, item in result.tables.items():
        for column, found in item["columns"].items():
            highest = max((int(level) for level in found["levels"]), default=0)
            rows = " / ".join(number(found["levels"].get(str(level), 0)) for level in range(highest + 1))
            table.add_row(Text(shown(f"{name}.{column}")), _share(found["loss"]), rows)
    return table


def _ledger(found: JointResult) -> RenderableType:
    """What the release and those of its ledger show together."""
    listed = [
        ("ledger", shown(found["table"])),
        ("compared with", shown(", ".join(found["earlier"])) or "none: the first one"),
    ]
    if found["changed"]:
        listed.append(("not comparable", shown(", ".join(found["changed"]))))
    if not found["requirements"]:
        return facts(listed)
    listed += [("persons", number(found["persons"])), ("joint classes", number(found["classes"]))]
    return Group(facts(listed), _requirements(found["requirements"]))


def _requirements(requirements: Sequence[RequirementResult]) -> RenderableType:
    table = columns([("requirement", False), ("reached", True), ("violations", True)])
    for item in requirements:
        reached = ", ".join(f"{name} = {value:.4g}" for name, value in item["reached"].items() if value is not None)
        table.add_row(item["requirement"], reached, number(item["rare"]))
    return table


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def audit_text(result: RelationalAudit) -> RenderableType:
    """The verdict, and who could be found by how many items, in the joined tables and in each alone."""
    parts: list[RenderableType] = [verdict(result.passed, result.message)]
    joined = columns([("items known", False), ("unique", True), (f"below {result.k}", True), ("only joined", True)])
    for known, item in result.together.items():
        joined.add_row(known, number(item["unique"]), number(item["few"]), number(result.only_joined[known]))
    parts += section("Persons who could be found in the joined tables", joined)
    alone = columns([("table alone", False), *((f"{known}: unique", True) for known in result.together)])
    for name, items in result.alone.items():
        alone.add_row(Text(shown(name)), *(number(item["unique"]) for item in items.values()))
    parts += section("Persons who are unique in one table", alone)
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def comparison_text(result: RelationalComparison) -> RenderableType:
    """The runs side by side: persons left out, and the mean loss of each table."""
    names = list(dict.fromkeys(name for run in result.runs for name in run.result.tables))
    table = columns(
        [("spec", False), ("found", False), ("left out", True), *((f"loss {name}", True) for name in names)]
    )
    for run in result.runs:
        losses = [
            _share(run.result.tables[name]["loss"]) if run.result.passed and name in run.result.tables else ""
            for name in names
        ]
        found = "yes" if run.result.passed else "no"
        table.add_row(Text(shown(run.title)), found, number(run.result.left_out), *losses)
    return Group(verdict(result.passed, result.message), *section("Specs", table))
