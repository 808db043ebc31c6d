"""(1,k)-, (k,1)-, (k,k)- and global (1,k)-anonymity: records of the source and rows of the release that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS
from kanon_sql.spec.checks import Fault, chosen
from kanon_sql.spec.fields import K
from kanon_sql.spec.requirement import (
    Form,
    Requirement,
)

__all__ = ["KKAnonymityModel", "KKAnonymityRequirement"]

ConsistencyVariant = Literal["kk", "1k", "k1", "global_1k"]
"""Which of the notions is asked for."""


class KKAnonymityRequirement(Requirement):
    """Records of the source and rows of the release are consistent with at least ``k`` of one another.

    A row is consistent with a record when each of its cells covers the record's value. k-anonymity implies all of these
    notions, and is none of them.

    Attributes:
        k: how many.
        variant: ``1k``, every record is consistent with k rows; ``k1``, every row is with k records; ``kk``, both;
            ``global_1k``, every record has k rows that it may be in some assignment of all rows to records.
    """

    name: ClassVar[str] = "kk_anonymity"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "kk_anonymity: {k: 5}",
            "each row covers at least k records of the source, and each record is covered by at least k rows: "
            "[(k,k)](#k-anonymity-revisited); variant `1k`, `k1`: only one of the two; `global_1k`: each record has "
            "at least k matches",
            "Gionis, Mazza, Tassa 2008",
        ),
    )
    expected: ClassVar[str] = "{k: 5} or a whole number, or {k: 5, variant: global_1k}"
    definition: ClassVar[str] = (
        "Every row covers k records of the source, every record is covered by k rows, or only one of the two, by "
        "variant. It is weaker than k-anonymity (Gionis, Mazza, Tassa 2008)."
    )
    not_certified: ClassVar[str] = "it matches every row of the release with the records of the source"
    counts_persons: ClassVar[bool] = False

    k: K = Field(description="The smallest number of rows per record, and of records per row, that are consistent.")
    variant: Annotated[ConsistencyVariant, chosen("variant of kk_anonymity")] = Field(
        default="kk",
        description="What to count: rows per record (1k), records per row (k1), both (kk), or matches (global_1k).",
    )

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None

    def misfits(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object) -> Iterator[Fault]:
        """It is about rows: a person with several rows would be behind several of them."""
        if unit is not None:
            yield Fault(
                (),
                "kk_anonymity compares records with rows, but a person with several rows has several records; leave "
                "'unit' out to protect rows, or use k_anonymity",
                True,
            )

    @classmethod
    def written(cls, value: Any) -> Any:
        """``kk_anonymity: 5`` is ``kk_anonymity: {k: 5}``."""
        return {"k": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @classmethod
    def _body_schema(cls, inner: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [inner, {"type": "integer", "minimum": 1}]}


_NOTATIONS = {"kk": "({k},{k})", "1k": "(1,{k})", "k1": "({k},1)", "global_1k": "global (1,{k})"}


@register
@dataclass(frozen=True)
class KKAnonymityModel(PrivacyModel):
    """k-anonymity revisited (Gionis, Mazza, Tassa: k-Anonymization revisited, ICDE 2008).

    A row of the release is *consistent* with a record of the source when each of its cells covers the record's value.

    - ``1k``: every record is consistent with at least k rows; one that no row is consistent with was left out, and is
      in none;
    - ``k1``: every row is consistent with at least k records of the source;
    - ``kk``: both;
    - ``global_1k``: every record has at least k *matches*, rows that it has in some assignment of each row to a record
      of its own.

    k-anonymity implies all of these, and global (1,k) implies (1,k). The converse does not hold. (k,k) protects from an
    attacker who knows the quasi-identifiers of a person, and not of all others in the table: who knows them may exclude
    rows that others must have. Only global (1,k) counts that.

    It is measured for each class of the release: the fewest records (k1) of its rows, or the fewest rows (1k) or
    matches of the records that it is consistent with. So a class violates where its rows, or a record that may be
    behind them, have too few.

    Monotone: more general labels only add edges between records and rows.

    Attributes:
        k: how many.
        variant: which of the notions.
    """

    name: ClassVar[str] = "kk_anonymity"
    requirement: ClassVar = KKAnonymityRequirement
    figures: ClassVar = {"k": SMALLEST_CLASS}
    worst: ClassVar = "MIN"
    needs_facts: ClassVar[tuple[str, ...]] = ("records", "fewest_rows", "fewest_matches")
    k: int
    variant: ConsistencyVariant = "kk"

    @classmethod
    def of(cls, requirement: KKAnonymityRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.k, requirement.variant)

    @property
    def frame(self) -> str:
        """Rows and records, counted for each class; the double quotes keep it apart from a sensitive attribute."""
        return '"consistency"'

    @property
    def notation(self) -> str:
        """Such as ``(5,5)-anonymity``."""
        return f"{_NOTATIONS[self.variant].format(k=self.k)}-anonymity"

    @property
    def key(self) -> str:
        """``kk_anonymity``, and the variant where it is another."""
        return self.name if self.variant == "kk" else f"{self.name}[{self.variant}]"

    @property
    def search_obstacle(self) -> str:
        """A search counts classes, and this is about rows and records that overlap."""
        return (
            "a search by classes cannot count the records of the source that each row covers; use k_anonymity, which "
            "implies it, or recoding: kk, which releases (k,k)- and global (1,k)-anonymous rows"
        )

    @property
    def least_consistent(self) -> int:
        """``k``."""
        return self.k

    @property
    def needs_perfect_matchings(self) -> bool:
        """Global (1,k) does."""
        return self.variant == "global_1k"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Never for a search, which joins whole classes and suppresses others: it is not asked."""
        return Monotonicity.NEVER

    def parameters(self) -> dict[str, Any]:
        """``k`` and ``variant``."""
        return {"k": self.k, "variant": self.variant}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest k that the table satisfies; None when it has no row."""
        return {"k": None if worst is None else int(worst)}
