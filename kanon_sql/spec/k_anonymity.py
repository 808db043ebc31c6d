"""k-anonymity as a spec asks for it (Samarati 2001): the one requirement that other sections of a spec look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.spec.checks import (
    Fault,
    integer,
    quote,
    text,
)
from kanon_sql.spec.fields import K
from kanon_sql.spec.requirement import (
    ABOUT_COLUMNS,
    Columns,
    Form,
    Requirement,
)

__all__ = ["KAnonymityRequirement"]

MOST_SETS = 120
"""Those of 3 of 10 columns, or 2 of 16. Each takes a window in every statement, and planning its time."""


class KAnonymityRequirement(Requirement):
    """Every equivalence class holds at least ``k`` rows (persons, when the spec has a unit).

    Attributes:
        k: how many; None where a column says it.
        column: a column of whole numbers: the k of each row. A class is as large as the largest k in it.
        default: the k of a row without one (NULL); None without a column.
        combinations: instead of all quasi-identifiers together, every combination of this many of them has k rows; None
            for all together.
        quasi_identifiers: those that classes are made by; None for all of the spec.
    """

    name: ClassVar[str] = "k_anonymity"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "k_anonymity: {k: 5}",
            "at least k rows, or persons",
            "Samarati 2001; Sweeney 2002",
        ),
        Form(
            "k_anonymity: {column: wanted_k, default: 5}",
            "at least as many rows, or persons, as the largest k that a row of it has",
            "Gedik, Liu 2005",
        ),
        Form(
            "k_anonymity: {k: 3, combinations: 2}",
            "at least k rows that share its labels of [any 2 quasi-identifiers](#combinations-of-few-columns), in any "
            "class",
            "Hundepool, Willenborg 1996",
        ),
    )
    expected: ClassVar[str] = "{k: 5} or a whole number, or {column: wanted_k, default: 5}"
    definition: ClassVar[str] = (
        "Every class has at least k rows, or persons where persons are protected (Samarati 2001; Sweeney 2002). It "
        "does not protect sensitive values: all rows of a class may have the same value. With combinations, every "
        "combination of values of so few columns has k rows, and a class may be smaller (Hundepool, Willenborg 1996)."
    )

    k: K | None = Field(default=None, description="The size of the smallest equivalence class.")
    column: Annotated[str | None, text("the name of a column with the k of each row")] = Field(
        default=None,
        description="Instead of k: the sensitive column that holds the k of each row (personalized k-anonymity).",
    )
    default: Annotated[int | None, integer("a default k", 1)] = Field(
        default=None, description="With 'column': the k of rows whose column is NULL."
    )
    combinations: Annotated[int | None, integer("combinations, a number of quasi-identifiers", 1)] = Field(
        default=None,
        description="Every combination of values of this many quasi-identifiers has k rows (mu-Argus); by default the "
        "values of all together do.",
    )
    quasi_identifiers: Columns = Field(default=None, description=ABOUT_COLUMNS)

    @property
    def asks_for_classes(self) -> bool:
        """Whether it asks for classes of k rows, and nothing else."""
        return self.k is not None and self.combinations is None

    @property
    def identity(self) -> tuple[object, ...]:
        """For combinations of another size it is another requirement."""
        return (*super().identity, self.combinations)

    @property
    def never_grows(self) -> str | None:
        """A k that differs from row to row, and combinations, of which new rows bring some that are rare."""
        if self.combinations is not None:
            return (
                "rows of a growing release are held back by class, but combinations lie across classes; leave "
                "'combinations' out: then it implies what this asks for"
            )
        return None if self.k is not None else "with a state, k must be a fixed number; give k instead of a column"

    @property
    def attribute(self) -> str | None:
        """The column with the k of each row; without one k-anonymity is about the quasi-identifiers only."""
        return self.column

    @property
    def attribute_key(self) -> str:
        """Where a spec names it."""
        return "column"

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """The k of a row without one (NULL)."""
        if self.column is not None:
            yield "default", self.default

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Either a k, or a column with a default."""
        if given.get("k") is None and given.get("column") is None:
            yield Fault(
                (),
                "missing 'k', the size of the smallest class, such as 5; or 'column', which holds the k of each row",
                True,
            )
        elif given.get("column") is not None and given.get("k") is not None:
            yield Fault(("k",), "'column' already gives the k of each row; leave 'k' out", True)
        elif given.get("column") is not None and given.get("default") is None:
            yield Fault((), "missing 'default', the k of rows whose 'column' is NULL, such as 5", True)
        elif given.get("default") is not None and given.get("column") is None:
            yield Fault(
                ("default",), "'default' needs a 'column' with the k of each row; add it, or leave 'default' out", True
            )
        elif given.get("column") is not None and given.get("quasi_identifiers") is not None:
            yield Fault(
                ("quasi_identifiers",),
                "the k of each row ('column') applies to all quasi-identifiers; leave 'quasi_identifiers' out",
                True,
            )
        for key in ("column", "quasi_identifiers"):
            if given.get("combinations") is not None and given.get(key) is not None:
                why = f"it counts the combinations of all quasi-identifiers, with one k; leave {quote(key)} out"
                yield Fault(("combinations",), why, True)

    def misfits(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object) -> Iterator[Fault]:
        """Also more combinations than one statement takes, and persons, who have several rows."""
        yield from super().misfits(quasi_identifiers, sensitive, unit)
        if self.combinations is None:
            return
        if unit is not None:
            why = (
                "combinations are counted in rows, and a person with several rows would count several times; leave "
                "'unit' out to protect rows, or leave 'combinations' out"
            )
            yield Fault(("combinations",), why, True)
        sets = comb(len(quasi_identifiers), min(self.combinations, len(quasi_identifiers)))
        if sets > MOST_SETS:
            why = (
                f"{len(quasi_identifiers)} quasi-identifiers have {sets:,} sets of {self.combinations}, more than the "
                f"limit of {MOST_SETS}; use a smaller number, or leave 'combinations' out, which implies it"
            )
            yield Fault(("combinations",), why)

    @classmethod
    def written(cls, value: Any) -> Any:
        """``k_anonymity: 5`` is ``k_anonymity: {k: 5}``."""
        return {"k": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @classmethod
    def _body_schema(cls, inner: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [inner, {"type": "integer", "minimum": 1}]}
