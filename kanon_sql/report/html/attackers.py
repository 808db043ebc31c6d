"""What the report says of who may find a person again: from ``risk``, or from a requirement on a population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.report.html.blocks import Block, Cells, Prose
from kanon_sql.report.run import Run
from kanon_sql.report.words import metric, number, percent

__all__ = ["ATTACKERS", "attackers"]

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
