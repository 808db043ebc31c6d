"""(1,k)-, (k,1)-, (k,k)- and global (1,k)-anonymity: records of the source and rows of the release that fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.spec import ConsistencyKind, KKAnonymityRequirement

__all__ = ["KKAnonymityModel"]

_NOTATIONS = {"kk": "({k},{k})", "1k": "(1,{k})", "k1": "({k},1)", "global_1k": "global (1,{k})"}


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
        kind: which of the notions.
    """

    name: ClassVar[str] = "kk_anonymity"
    requirement: ClassVar = KKAnonymityRequirement
    worst: ClassVar = "MIN"
    needs_facts: ClassVar[tuple[str, ...]] = ("records", "fewest_rows", "fewest_matches")
    k: int
    kind: ConsistencyKind = "kk"

    @classmethod
    def of(cls, requirement: KKAnonymityRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.k, requirement.kind)

    @property
    def frame(self) -> str:
        """Rows and records, counted for each class; the double quotes keep it apart from a sensitive attribute."""
        return '"consistency"'

    @property
    def notation(self) -> str:
        """Such as ``(5,5)-anonymity``."""
        return f"{_NOTATIONS[self.kind].format(k=self.k)}-anonymity"

    @property
    def key(self) -> str:
        """``kk_anonymity``, and the kind where it is another."""
        return self.name if self.kind == "kk" else f"{self.name}[{self.kind}]"

    @property
    def search_obstacle(self) -> str:
        """A search counts classes, and this is about rows and records that overlap."""
        return (
            "the search counts classes, and this counts the records of the source that each row covers; ask for "
            "k_anonymity, which implies it, or use recoding: kk, which releases (k,k)- and global (1,k)-anonymous rows"
        )

    @property
    def least_consistent(self) -> int:
        """``k``."""
        return self.k

    @property
    def tries_assignments(self) -> bool:
        """Global (1,k) does."""
        return self.kind == "global_1k"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Never for a search, which joins whole classes and suppresses others: it is not asked."""
        return Monotonicity.NEVER

    def parameters(self) -> dict[str, Any]:
        """``k`` and ``kind``."""
        return {"k": self.k, "kind": self.kind}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest k that the table satisfies; None when it has no row."""
        return {"k": None if worst is None else int(worst)}
