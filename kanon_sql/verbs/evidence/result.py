"""What :func:`kanon_sql.evidence` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from kanon_sql.evaluate import ClassSizes
from kanon_sql.spec import Printed
from kanon_sql.verbs.evidence.dictionary import Entry
from kanon_sql.verbs.evidence.opinion import NotMeasured, OfOpinion
from kanon_sql.verbs.evidence.published import Published
from kanon_sql.verbs.evidence.records import Records
from kanon_sql.verbs.evidence.safe_harbor import Listed
from kanon_sql.verbs.evidence.standard import Clause
from kanon_sql.verbs.evidence.zip_codes import ZipCodes
from kanon_sql.verbs.result import Cost, Warned
from kanon_sql.verbs.risk import RiskResult

__all__ = ["Asked", "Evidence", "Made"]


@dataclass(frozen=True)
class Made:
    """When and by what the evidence was made.

    Attributes:
        at: UTC.
        version: of kanon_sql.
        engine: the database's name and version.
        spec_hash: SHA-256 of the spec.
    """

    at: str
    version: str
    engine: str
    spec_hash: str


@dataclass(frozen=True)
class Asked:
    """A requirement, and what the table reaches.

    Attributes:
        name: its key in a spec.
        requirement: in words, with its thresholds.
        counted: what its classes were counted in: ``rows`` or ``persons``.
        achieved: what is reached, by name, as ``check`` or the run's manifest gives it.
        violating_classes, violating_rows: of the table.
    """

    name: str
    requirement: str
    counted: Literal["rows", "persons"]
    achieved: Mapping[str, Any]
    violating_classes: int
    violating_rows: int


@dataclass(frozen=True, repr=False)
class Evidence(Printed):
    """What a person who answers for a release can sign: what was measured, by what, and what was not.

    Attributes:
        verdict: ``pass`` when every requirement is met, in what it protects, and no attack that was run exposes any
            person beyond the requirements.
        problems: why not, a sentence each.
        release: the table.
        rows: rows in it.
        made: when and by what.
        run: what the manifest of the table says; None where there is none.
        columns: the data dictionary.
        requirements: what was asked and what is reached.
        records: the risk of its records, with the threshold of EMA's guidance.
        measured: the risk of the table's records as it is.
        class_sizes: how many classes and rows there are, by the size of the class.
        attacks: those that were run, in words.
        opinion: the three risks of WP216.
        safe_harbor: the kinds of identifiers of HIPAA's Safe Harbor.
        zip_codes: what was counted of ZIP codes.
        clauses: the points of ISO/IEC 27559.
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

    verdict: Literal["pass", "fail"]
    problems: Sequence[str]
    release: str
    rows: int
    made: Made
    run: Published | None
    columns: Sequence[Entry]
    requirements: Sequence[Asked]
    records: Records
    measured: RiskResult
    class_sizes: Sequence[ClassSizes]
    attacks: Sequence[str]
    opinion: Sequence[OfOpinion]
    safe_harbor: Sequence[Listed]
    zip_codes: Sequence[ZipCodes]
    clauses: Sequence[Clause]
    not_measured: Sequence[NotMeasured]
    warnings: Sequence[Warned]
    notes: Sequence[str]
    spec: Mapping[str, Any]
    cost: Cost
    sql: Sequence[str] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"

    @property
    def message(self) -> str:
        """The verdict in a sentence."""
        if self.problems:
            return "; ".join(self.problems)
        if not self.rows:
            return f"{self.release} has no rows"
        if not self.attacks:
            return f"{self.release}: every requirement is met; no attack could be run"
        return (
            f"{self.release}: every requirement is met, and no attack that was run exposes any person beyond what the "
            "requirements allow"
        )

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object; its schema is ``evidence.schema.json``."""
        journalist = self.measured.journalist
        return {
            "verb": "evidence",
            "verdict": self.verdict,
            "message": self.message,
            "problems": list(self.problems),
            "release": self.release,
            "rows": self.rows,
            "made": asdict(self.made),
            "run": None if self.run is None else self.run.to_dict(),
            "columns": [item.to_dict() for item in self.columns],
            "requirements": [asdict(item) for item in self.requirements],
            "records": self.records.to_dict(),
            "journalist": None
            if journalist is None
            else {"population": self.measured.population, **asdict(journalist)},
            "population_uniques": [item.to_dict() for item in self.measured.uniqueness["population"]],
            "class_sizes": [dict(item) for item in self.class_sizes],
            "attacks": list(self.attacks),
            "wp216": [item.to_dict() for item in self.opinion],
            "safe_harbor": [item.to_dict() for item in self.safe_harbor],
            "zip_codes": [{**asdict(item), "within": item.within} for item in self.zip_codes],
            "iso_27559": [asdict(item) for item in self.clauses],
            "not_measured": [asdict(item) for item in self.not_measured],
            "warnings": [item.to_dict() for item in self.warnings],
            "notes": list(self.notes),
            "spec": dict(self.spec),
            "cost": self.cost.to_dict(),
        }
