"""The three risks of WP216, and the measurements that speak of each.

Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216, section 3). It gives no
thresholds, so none are applied: what each attack found is listed under the risk that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from kanon_sql.disclosure.attacks import Attack, Threat, label_of, methods
from kanon_sql.spec import Count, Document, Keywords, Share, Text, in_json
from kanon_sql.verbs.audit import AuditResult
from kanon_sql.verbs.evidence.interval import Interval, exact_interval
from kanon_sql.verbs.evidence.records import Records

__all__ = ["Finding", "NotMeasured", "OfOpinion", "opinion"]


@dataclass(frozen=True)
class Finding(Document):
    """What one measurement says.

    Attributes:
        measured_by: the verb, and the attack.
        what: what the figures are.
        examined: rows, persons or records that it was tried on; None where they were not counted.
        exposed: those of them that it exposes; None where it does not say.
        beyond: those of the exposed that the requirements should have protected.
        risk: the highest that any of them runs; None where there is nothing to measure.
        estimate: it rests on an assumption that no database can check.
        interval: of the share of exposed, where what was examined is a random sample; None where it is every person.
    """

    measured_by: Text
    what: Text
    examined: Count | None
    exposed: Count | None
    beyond: Count | None
    risk: Annotated[float, Keywords(minimum=-1, maximum=1)] | None
    estimate: bool = False
    interval: Interval | None = None

    @property
    @in_json
    def share(self) -> Share | None:
        """Exposed of examined; None where either was not counted."""
        return self.exposed / self.examined if self.examined and self.exposed is not None else None


@dataclass(frozen=True)
class NotMeasured(Document):
    """A measurement that there could be, and why there is none.

    Attributes:
        what: would be measured.
        why: it is not.
    """

    what: Text
    why: Text


@dataclass(frozen=True)
class OfOpinion(Document):
    """One of the three risks, or ``other`` for attacks that were added.

    Attributes:
        threat: which.
        findings: what was measured.
        not_measured: the attacks on it that were not run, and why.
    """

    threat: Threat
    findings: Sequence[Finding]
    not_measured: Sequence[NotMeasured]


def opinion(records: Records, audited: AuditResult | None, why_not: str | None, *, sampled: bool) -> list[OfOpinion]:
    """What was measured of each risk.

    Args:
        records: the classes of the release.
        audited: what attacks found; None where none could be run.
        why_not: then the reason.
        sampled: the external table is a random sample of those that an attacker may look for.
    """
    names = {result: method.name for method in methods() for result in method.results}
    about = {method.name: method.threat for method in methods()}
    found: dict[Threat, list[Finding]] = {"singling_out": list(_of_classes(records)), "linkability": [],
                                          "inference": [], "other": []}  # fmt: skip
    for attack in audited.attacks if audited is not None else ():
        found[about[names.get(attack.name, attack.name)]].append(_of_attack(attack, sampled=sampled))
    left_out = dict(audited.left_out) if audited is not None else dict.fromkeys(names.values(), why_not or "")
    missing: dict[Threat, list[NotMeasured]] = {threat: [] for threat in found}
    for name, why in left_out.items():
        missing[about[names.get(name, name)]].append(NotMeasured(label_of(name, None), why))
    return [
        OfOpinion(threat, found[threat], missing[threat])
        for threat in found
        if threat != "other" or found[threat] or missing[threat]
    ]


def _of_classes(records: Records) -> Iterator[Finding]:
    """Who is alone, and how surely a person is found who is known to be there."""
    if records.smallest is None:
        return
    more = "" if records.proven else "; persons were not counted, and their risk may be higher"
    yield Finding(
        measured_by="risk" if records.records is not None else "anonymize, before it published",
        what=f"{records.counted} that are alone in their class; the risk is one over the smallest class{more}",
        examined=records.records,
        exposed=records.alone,
        beyond=None,
        risk=records.highest,
    )


def _of_attack(attack: Attack, *, sampled: bool) -> Finding:
    is_share = sampled and attack.name in {method.counts_external for method in methods()}
    return Finding(
        measured_by=f"audit: {attack.label}",
        what=attack.measure,
        examined=attack.examined,
        exposed=attack.exposed,
        beyond=attack.beyond,
        risk=attack.risk,
        estimate=attack.estimate,
        interval=exact_interval(attack.exposed, attack.examined) if is_share else None,
    )
