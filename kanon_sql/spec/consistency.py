"""The requirement that compares a release with its source, record by record and row by row: k-anonymity revisited.

Definitions: (1,k)-, (k,1)-, (k,k)- and global (1,k)-anonymity (Gionis, Mazza and Tassa 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, choice, integer
from kanon_sql.spec.requirement import Requirement

__all__ = ["ConsistencyKind", "KKAnonymityRequirement"]

ConsistencyKind = Literal["kk", "1k", "k1", "global_1k"]
"""Which of the notions is asked for."""


class KKAnonymityRequirement(Requirement):
    """Records of the source and rows of the release are consistent with at least ``k`` of one another.

    A row is consistent with a record when each of its cells covers the record's value. k-anonymity implies all of these
    notions, and is none of them.

    Attributes:
        k: how many.
        kind: ``1k``, every record is consistent with k rows; ``k1``, every row is with k records; ``kk``, both;
            ``global_1k``, every record has k rows that it may be in some assignment of all rows to records.
    """

    name: ClassVar[str] = "kk_anonymity"
    expected: ClassVar[str] = "{k: 5} or a whole number, or {k: 5, kind: global_1k}"
    counts_persons: ClassVar[bool] = False

    k: Annotated[int, checked(integer("k", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="How many rows a record, and how many records a row is consistent with at least."
    )
    kind: Annotated[ConsistencyKind, checked(choice("kind of kk_anonymity", get_args(ConsistencyKind)))] = Field(
        default="kk", description="Which side is counted: records (1k), rows (k1), both (kk), or assignments."
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
                "kk_anonymity compares records with rows, and a person with several rows has several records, which "
                "an attacker knows to be one person's; leave 'unit' out to protect rows, or use k_anonymity",
                True,
            )

    @classmethod
    def written(cls, value: Any) -> Any:
        """``kk_anonymity: 5`` is ``kk_anonymity: {k: 5}``."""
        return {"k": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @classmethod
    def _body_schema(cls, inner: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [inner, {"type": "integer", "minimum": 1}]}
