"""The points of ISO/IEC 27559:2022 on attack modelling and on what surrounds it, and what answers each.

Clauses are named as the standard's public table of contents names them; its text is not quoted. Where nothing here can
answer, that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.spec import Document, Text
from kanon_sql.verbs.evidence.records import Records
from kanon_sql.verbs.risk import RiskResult

__all__ = ["Clause", "clauses"]


@dataclass(frozen=True)
class Clause(Document):
    """A point of the standard.

    Attributes:
        number: of the clause.
        title: of the clause.
        answer: what was measured; None where it is for people to answer.
    """

    number: Text
    title: Text
    answer: str | None


_FOR_PEOPLE = {
    "6.2": "Threat modelling: security and privacy practices, motives and capacity to re-identify",
    "6.3": "Transparency and impact assessment, privacy-related harms",
}
_AFTER = {
    "8.3.2": "Mitigation: reconfiguring the environment",
    "9": "De-identification governance, before and after data are made available",
}


def clauses(
    records: Records,
    measured: RiskResult,
    requirements: Sequence[str],
    attacks: Sequence[str],
    columns: tuple[int, int],
) -> list[Clause]:
    """The list, in the standard's order.

    Args:
        records: the classes of the release.
        measured: their risk, and the population's where one was named.
        requirements: the requirements of the spec, in words.
        attacks: those that were run.
        columns: of the source's columns, how many the release tells something by, and how many there are.
    """
    informative, there = columns
    return [
        *(Clause(number, title, None) for number, title in _FOR_PEOPLE.items()),
        Clause("7.2", "Data features", (
            f"the data dictionary: {informative} of {there} columns tell something in the release, each with its role; "
            f"{'persons are' if records.counted == 'persons' else 'a row is taken to be'} the data principals"
            f"{'' if records.proven else ', although the spec protects persons'}"
        )),
        Clause("7.3.2", "Attack modelling: maximum or average risk", _risks(records)),
        Clause("7.3.3", "Attack modelling: population or sample-based attack", _population(measured)),
        Clause("7.3.4", "Attack modelling: data privacy models", "; ".join(requirements)),
        Clause("8.2.2", "Quantifying identifiability", "the risk tables, with a threshold of "
               f"{records.threshold:g}; which threshold fits the context is for people to say"),
        Clause("8.2.3", "Adversarial testing", f"attacks that were run: {', '.join(attacks)}" if attacks else None),
        *(Clause(number, title, None) for number, title in _AFTER.items()),
    ]  # fmt: skip


def _risks(records: Records) -> str:
    if records.highest is None:
        return "no person is in the release"
    average = records.average_at_most
    at_most = "" if records.average is not None else "at most "
    assert average is not None
    return f"maximum {records.highest:.4g}, average {at_most}{average:.4g}, by {records.counted}"


def _population(measured: RiskResult) -> str:
    known = "the attacker knows that the person is in the release (prosecutor): measured"
    if measured.journalist is not None:
        highest = measured.journalist.highest
        shown = "none" if highest is None else f"{highest:.4g}"
        return f"{known}; knows that the person is in {measured.population} (journalist): maximum {shown}"
    if measured.k_map_estimate is not None:
        return f"{known}; knows that the person is in the population (journalist): estimated"
    return f"{known}; knows that the person is in the population (journalist): not measured, no population was named"
