"""What the report says of an audit: a line per attack, what its risk is, and what was not run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.disclosure.attacks import label_of
from kanon_sql.report.html.blocks import Block, Cells, Facts, Prose
from kanon_sql.report.run import Run
from kanon_sql.report.words import metric, number

__all__ = ["OF_AUDITS", "attacks", "notes_of_attacks", "risks", "skipped"]

OF_AUDITS = ("attacks", "left_out")
"""The keys of an audit that are shown here."""


def attacks(run: Run) -> Iterator[Block]:
    """Which rows or persons each attack exposes."""
    found = _attacks(run)
    if found:
        yield Prose("Beyond are those of the exposed that the requirements should have protected.")
        yield Cells(
            ["attack", "examined#", "exposed#", "beyond#", "highest risk#"],
            [
                [_label(item), *(_figure(item.get(key)) for key in ("examined", "exposed", "beyond", "risk"))]
                for item in found
            ],
            marked=frozenset(
                index for index, item in enumerate(found) if item.get("beyond") and not item.get("estimate")
            ),
        )


def risks(run: Run) -> Iterator[Block]:
    """What the highest risk of each attack is."""
    found = _attacks(run)
    if found:
        yield Facts([(_label(item), str(item.get("measure", ""))) for item in found])


def skipped(run: Run) -> Iterator[Block]:
    """The attacks that were not run, and why."""
    left_out = run.others.get("left_out")
    if _attacks(run) and isinstance(left_out, Mapping) and left_out:
        yield Facts([(str(name), str(why)) for name, why in left_out.items()])


def notes_of_attacks(run: Run) -> Iterator[Block]:
    """What to know of single attacks."""
    for item in _attacks(run):
        for note in item.get("notes") or ():
            yield Prose(f"{_label(item)}: {note}")


def _attacks(run: Run) -> list[Mapping[str, Any]]:
    found = run.others.get("attacks") if run.verb == "audit" else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _label(item: Mapping[str, Any]) -> str:
    label = label_of(str(item.get("name", "")), item.get("about"))
    return f"{label} (estimate)" if item.get("estimate") else label


def _figure(value: Any) -> str:
    if isinstance(value, int):
        return number(value)
    return metric(value) if isinstance(value, float) else "none"
