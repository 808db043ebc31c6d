"""The results of ``clean``, ``doctor`` and ``pipeline estimate`` as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kanon_sql.report.layout import columns, facts, section
from kanon_sql.report.words import number, plural, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kanon_sql.verbs.clean import CleanResult
    from kanon_sql.verbs.doctor import DoctorResult
    from kanon_sql.verbs.estimate import Estimated

__all__ = ["clean_text", "doctor_text", "estimate_text"]


def clean_text(result: CleanResult) -> RenderableType:
    """What ``clean`` found, and what became of it."""
    if not result.objects:
        return Text("nothing to clean: no scratch object is recorded, and no other run works here")
    table = columns([("scratch object", False), ("created", False), ("", False)])
    for item in result.objects:
        table.add_row(Text(shown(item.name)), Text(shown(item.created_at)), Text(item.state))
    return Group(
        Text(f"{plural(len(result.objects), 'scratch object')} of kanon_sql", "bold"), Padding(table, (0, 0, 0, 2))
    )


def doctor_text(result: DoctorResult, origins: Mapping[str, str]) -> RenderableType:
    """What the connection may do, and which verbs would work.

    Args:
        result: what was tried.
        origins: option of the command line -> where it is set.
    """
    checks = Table.grid(padding=(0, 2))
    for check in result.checks:
        checks.add_row(_yes(check.ok), Text(check.name), Text(shown(check.detail), "dim"))
    verbs = Table.grid(padding=(0, 2))
    for verb in result.verbs:
        verbs.add_row(_yes(verb.works), Text(verb.name), Text(f"needs {verb.needs}", "dim"))
    return Group(
        facts(
            [
                ("database", result.database),
                ("engine", f"{result.engine} {result.version}"),
                ("access", "read only" if result.read_only else "read and write"),
            ]
        ),
        *([] if not origins else section("Set", facts([(name, shown(where)) for name, where in origins.items()]))),
        *section("Connection", checks),
        *section("Verbs", verbs),
        *([] if result.obstacles is None else section("Spec", _hindered(result.obstacles, result.not_asked))),
    )


def _hindered(obstacles: Mapping[str, Sequence[str]], not_asked: Mapping[str, str]) -> RenderableType:
    """What of a spec stands in the way of each verb."""
    table = Table.grid(padding=(0, 2))
    for verb, reasons in obstacles.items():
        table.add_row(_yes(not reasons), Text(verb), Text("\n".join(map(shown, reasons)), "dim"))
    for verb, why in not_asked.items():
        table.add_row(Text("-", "dim"), Text(verb), Text(why, "dim"))
    return table


def estimate_text(found: Estimated) -> RenderableType:
    """What reading the source would cost."""
    if not found.origin:
        return Text("this database does not estimate what reading the source costs")
    times = f"once: plan; {'three times, with the ledger' if found.ledger else 'twice'}: anonymize"
    cells = [
        ("rows", "not known" if found.rows is None else number(found.rows)),
        ("bytes", "not known" if found.bytes is None else number(found.bytes)),
        ("says", found.origin),
        ("reads", "the source in every statement (inline)" if found.inline else times),
    ]
    if found.temporary_bytes is not None:
        cells.append(
            ("disk", f"at most about {number(found.temporary_bytes)} bytes for scratch, where all rows differ")
        )
    return Group(Text("One read of the columns of the source that the spec needs"), facts(cells))


def _yes(value: bool) -> Text:
    return Text("yes", "green") if value else Text("no", "bold red")
