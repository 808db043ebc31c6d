"""What :func:`kanon_sql.evidence` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kanon_sql.disclosure.risk import Estimate, JournalistRisk
from kanon_sql.evaluate import ClassSizes
from kanon_sql.spec import HIDDEN, Count, Document, Printed, Text
from kanon_sql.verbs.evidence.columns import Entry
from kanon_sql.verbs.evidence.opinion import NotMeasured, OfOpinion
from kanon_sql.verbs.evidence.published import Published
from kanon_sql.verbs.evidence.records import Records
from kanon_sql.verbs.evidence.safe_harbor import Listed
from kanon_sql.verbs.evidence.standard import Clause
from kanon_sql.verbs.evidence.zip_codes import ZipCodes
from kanon_sql.verbs.result import Cost, Warned

__all__ = ["AgainstPopulation", "Asked", "Evidence", "Made"]


@dataclass(frozen=True)
class Made(Document):
    """When and by what the evidence was made.

    Attributes:
        at: when, UTC.
        version: of kanon_sql.
        engine: the database's name and version.
        spec_hash: SHA-256 of the spec that the release was judged by.
    """

    at: Text
    version: Text
    engine: Text
    spec_hash: Text


@dataclass(frozen=True)
class Asked(Document):
    """A requirement, and what the table reaches.

    Attributes:
        name: its key in a spec.
        requirement: in words, with its thresholds.
        counted: what its classes were counted in: ``rows`` or ``persons``.
        achieved: what is reached, by name, as ``check`` or the run's manifest gives it.
        violating_classes: classes of the table that violate it.
        violating_rows: the rows in them.
    """

    name: Text
    requirement: Text
    counted: Literal["rows", "persons"]
    achieved: Mapping[str, Any]
    violating_classes: Count
    violating_rows: Count


@dataclass(frozen=True)
class AgainstPopulation(JournalistRisk):
    """The risk of the records against a population.

    Attributes:
        population: its table.
    """

    population: str | None


@dataclass(frozen=True, repr=False)
class Evidence(Printed, Document):
    """What a person who answers for a release can sign: what was measured, by what, and what was not.

    Attributes:
        verb: what made it.
        verdict: ``pass`` when every requirement is met, in what it protects, and no attack that was run exposes any
            person beyond the requirements.
        message: the verdict in a sentence.
        problems: why not, a sentence each.
        release: the table.
        rows: how many it has.
        made: when and by what.
        run: what the manifest of the table says; None where there is none.
        columns: the data dictionary.
        requirements: what was asked and what is reached.
        records: the risk of its records, with the threshold of EMA's guidance.
        journalist: the risk against a population; None where none was named.
        population_uniques: estimates of the records that are alone in the population; empty without a sampling
            fraction.
        class_sizes: how many classes and rows there are, by the size of the class.
        attacks: those that were run, in words.
        wp216: the three risks of WP216.
        safe_harbor: the kinds of identifiers of HIPAA's Safe Harbor, and the columns whose names suggest them.
        zip_codes: what was counted of ZIP codes against a population.
        iso_27559: the points of ISO/IEC 27559:2022.
        not_measured: risks that this says nothing of.
        warnings: of the run that published the table, and of its check.
        notes: what else there is to know.
        spec: the spec, without passwords, literals of SQL and labels of trees.
        cost: what all of it asked of the database.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> found = kanon_sql.evidence(db, spec)
        >>> found.passed, found.message[:27]
        (False, 'visits_release: homogeneity')
        >>> found.records.highest, found.records.highest_within
        (0.1, False)
    """

    verb: Literal["evidence"] = field(default="evidence", init=False)
    verdict: Literal["pass", "fail"]
    message: Text = field(init=False)
    problems: Sequence[Text]
    release: Text
    rows: Count
    made: Made
    run: Published | None
    columns: Sequence[Entry]
    requirements: Sequence[Asked]
    records: Records
    journalist: AgainstPopulation | None
    population_uniques: Sequence[Estimate]
    class_sizes: Sequence[ClassSizes]
    attacks: Sequence[Text]
    wp216: Sequence[OfOpinion]
    safe_harbor: Sequence[Listed]
    zip_codes: Sequence[ZipCodes]
    iso_27559: Sequence[Clause]
    not_measured: Sequence[NotMeasured]
    warnings: Sequence[Warned]
    notes: Sequence[str]
    spec: Mapping[str, Any]
    cost: Cost
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", self._in_a_sentence())

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"

    def _in_a_sentence(self) -> str:
        if self.problems:
            return "; ".join(self.problems)
        if not self.attacks:
            return f"{self.release}: every requirement is met; no attack could be run"
        return (
            f"{self.release}: every requirement is met, and no attack that was run exposes any person beyond what the "
            "requirements allow"
        )
