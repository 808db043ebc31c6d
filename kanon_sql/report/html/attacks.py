"""What the report says of an audit, a line per attack, and of the attackers of ``risk`` or of a population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.disclosure.attacks import label_of
from kanon_sql.report.html.blocks import Block, Cells, Facts, Prose
from kanon_sql.report.run import Run
from kanon_sql.report.words import metric, number, percent

__all__ = ["ATTACKERS", "OF_AUDITS", "attackers", "attacks", "notes_of_attacks", "risks", "skipped"]

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


ATTACKERS = ("prosecutor", "journalist", "marketer")
"""The keys of ``risk`` that are shown here."""


def attackers(run: Run) -> Iterator[Block]:
    """The attackers of ``risk`` in one table, and the journalist where a population was compared with."""
    if run.verb == "risk":
        yield from _measured(run.others)
    for item in run.achieved.values():
        asked, k = str(item.get("requirement", "")), item.get("k")
        if "-map to " in asked and isinstance(k, int) and k > 0:
            yield Prose(
                f"The journalist knows that a person is in {asked.partition('-map to ')[2]}, and not whether in the "
                f"table: every row could be any of at least {number(k)} persons there, so the risk of a row is at most "
                f"{metric(100 / k)} %."
            )


def _measured(found: Mapping[str, Any]) -> Iterator[Block]:
    threshold, records = found.get("threshold"), found.get("records")
    population = found.get("population") or "the population"
    knows = {"prosecutor": "the person is in the table", "journalist": f"the person is in {population}"}
    rows = []
    for name, known in knows.items():
        risk = found.get(name)
        if isinstance(risk, Mapping) and isinstance(records, int):
            at_risk = int(risk.get("at_risk") or 0)
            measures = [_share(risk.get("highest")), _share(risk.get("average"))]
            rows.append([name, known, *measures, f"{number(at_risk)} ({percent(at_risk, records)})"])
    marketer = found.get("marketer")
    if isinstance(marketer, Mapping):
        rows.append(["marketer", "many right matches", "", _share(marketer.get("average")), ""])
    if rows:
        above = f"above {metric(threshold)}#" if isinstance(threshold, float | int) else "at risk#"
        yield Cells(["attacker", "knows or wants", "highest risk#", "average risk#", above], rows)


def _share(value: Any) -> str:
    return metric(value) if isinstance(value, float | int) else "none"
