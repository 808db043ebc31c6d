"""The risks of the evidence as blocks: the three of WP216, and the tables of EMA's guidance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kanon_sql.report.html.blocks import Block, Cells, Facts, Prose
from kanon_sql.report.text import size_cells
from kanon_sql.report.words import metric, number, percent

if TYPE_CHECKING:
    from kanon_sql.verbs.evidence import Evidence

__all__ = ["clinical", "inference", "linkability", "other", "singling_out"]

_HEADS = ["measured by", "tried on#", "exposed#", "share", "95 % interval", "beyond#", "highest risk#", "the risk is"]


def singling_out(found: Evidence) -> Iterator[Block]:
    """Whether records of one person can be isolated."""
    yield Prose("Whether some or all records of one person can be isolated.")
    yield from _threat(found, "singling_out")


def linkability(found: Evidence) -> Iterator[Block]:
    """Whether records of one person can be linked."""
    yield Prose("Whether two records of one person, or of a group, can be linked, in one table or in two.")
    yield from _threat(found, "linkability")


def inference(found: Evidence) -> Iterator[Block]:
    """Whether a value can be deduced from others."""
    yield Prose("Whether the value of an attribute can be deduced from others with a high probability.")
    yield from _threat(found, "inference")


def other(found: Evidence) -> Iterator[Block]:
    """Attacks that were added, and say nothing of which risk they are about."""
    yield from _threat(found, "other")


def _threat(found: Evidence, threat: str) -> Iterator[Block]:
    for item in (item for item in found.wp216 if item.threat == threat):
        if item.findings:
            rows: list[list[str]] = []
            marked: set[int] = set()
            for finding in item.findings:
                if finding.beyond and not finding.estimate:
                    marked.add(len(rows))
                share, interval = "", "all were tried"
                if finding.examined and finding.exposed is not None:
                    share = percent(finding.exposed, finding.examined)
                if finding.interval is not None:
                    low, high = 100 * finding.interval.low, 100 * finding.interval.high
                    interval = f"{metric(low)} to {metric(high)} %"
                name = f"{finding.measured_by} (estimate)" if finding.estimate else finding.measured_by
                rows.append(
                    [name, _count(finding.examined), _count(finding.exposed), share, interval, _count(finding.beyond),
                     "none" if finding.risk is None else metric(finding.risk), finding.what]
                )  # fmt: skip
            yield Cells(_HEADS, rows, marked=frozenset(marked))
        else:
            yield Prose("Nothing was measured.")
        if item.not_measured:
            yield Prose("Not measured:")
            yield Facts([(missing.what, missing.why) for missing in item.not_measured])


def _count(value: int | None) -> str:
    return "" if value is None else number(value)


def clinical(found: Evidence) -> Iterator[Block]:
    """The highest and the average risk beside the threshold."""
    records = found.records
    yield Prose(
        "The guidance on policy 0070 (EMA/90915/2016) asks for a measured risk of re-identification and a threshold, "
        f"and is cited for {records.threshold:g}; for what is made public, of the highest risk. A class of "
        f"{records.size_needed - 1} has a risk of {metric(1 / (records.size_needed - 1))}, which is often rounded to "
        f"it and counts as above it here; one of {records.size_needed} is not. The other way that the guidance accepts "
        "are the three criteria of WP216, above."
    )
    if records.highest is None or records.average_at_most is None:
        yield Prose("No person is in the release.")
        return
    at_most = "" if records.average is not None else "at most "
    rows = [
        ["maximum risk", metric(records.highest), f"{records.threshold:g}", _answer(records.highest_within)],
        ["average risk", f"{at_most}{metric(records.average_at_most)}", f"{records.threshold:g}",
         _answer(records.average_within)],
    ]  # fmt: skip
    journalist = found.journalist
    if journalist is not None and journalist.highest is not None and journalist.average is not None:
        where = f"against {journalist.population}"
        above = journalist.at_risk > 0
        rows.append([f"maximum risk {where}", metric(journalist.highest), f"{records.threshold:g}", _answer(not above)])
        over = journalist.average > records.threshold
        rows.append([f"average risk {where}", metric(journalist.average), f"{records.threshold:g}", _answer(not over)])
    bad = frozenset(index for index, row in enumerate(rows) if row[-1] != _answer(True))
    yield Cells(["measure", "risk#", "threshold#", "at or below it"], rows, marked=bad, caption=f"By {records.counted}")
    if records.average is None:
        yield Prose(
            "The average by persons was not counted: the manifest of a run with -o PATH.html holds it. "
            "It is not above the maximum."
        )
    if records.at_risk is not None and records.records is not None:
        share = percent(records.at_risk, records.records)
        yield Prose(f"{number(records.at_risk)} of {number(records.records)} {records.counted} are above it ({share}).")
    if not records.proven:
        yield Prose(
            "Rows were counted, and the spec protects persons: with several rows of one person in a class the risk is "
            "higher than it says here, so nothing below the threshold is shown."
        )
    for estimate in found.population_uniques:
        if estimate.share is not None:
            yield Prose(
                f"Unique in the population, estimated by {estimate.estimator}: {metric(100 * estimate.share)} %. It is "
                "an estimate by a model of the population, and has no interval."
            )
    if found.class_sizes:
        yield Cells(
            ["rows of the class#", "classes#", "rows#"], [list(cells) for cells in map(size_cells, found.class_sizes)],
            caption="Classes by size, in rows of the table as it is",
        )  # fmt: skip


def _answer(within: bool | None) -> str:
    return "not shown" if within is None else "yes" if within else "no"
