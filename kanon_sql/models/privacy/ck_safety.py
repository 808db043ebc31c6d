"""(c,k)-safety: what any k implications tell of a person, in the worst case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import C_ABOVE
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec.checks import integer, the_number
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    Attribute,
    Form,
    Requirement,
)
from kanon_sql.sql import Sql, render

__all__ = ["ABOUT_BELIEF", "Belief", "CKSafetyModel", "CKSafetyRequirement"]

MOST_IMPLICATIONS = 10
"""What a class is measured by grows with the number of ways to write k + 1 as a sum: 56 for 10, and 1,002 for 21."""


Belief = Annotated[float, the_number("c, a probability above 0 and at most 1", above=0, most=1)]


ABOUT_BELIEF = "The belief in any person's value must be below this probability."


class CKSafetyRequirement(Requirement):
    """An attacker with any k basic implications about the table believes no value of a person with probability c.

    Attributes:
        attribute: the sensitive attribute.
        c: what every belief stays below.
        k: how many implications the attacker knows.
    """

    name: ClassVar[str] = "ck_safety"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "ck_safety: {attribute: diagnosis, c: 0.7, k: 2}",
            "the belief in any person's value stays below c for an attacker who knows [any k "
            "implications](#background-knowledge)",
            "Martin, Kifer, Machanavajjhala, Gehrke, Halpern 2007",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., c: 0.7, k: 2}"
    definition: ClassVar[str] = (
        "The belief in any person's value stays below c, for an attacker who knows any k implications (Martin et al. "
        "2007)."
    )
    not_certified: ClassVar[str] = "it is a worst case over an attacker's knowledge about k others"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    c: Belief = Field(description=ABOUT_BELIEF)
    k: Annotated[int, integer("k, a number of implications", 0, MOST_IMPLICATIONS)] = Field(
        description="How many implications (if one person has this value, another has that) the attacker knows."
    )

    @property
    def identity(self) -> tuple[object, ...]:
        """One for each k."""
        return (self.name, self.attribute, self.k)


@register
@dataclass(frozen=True)
class CKSafetyModel(PrivacyModel):
    """(c,k)-safety (Martin, Kifer, Machanavajjhala, Gehrke, Halpern: Worst-case background knowledge, ICDE 2007).

    The attacker knows who is in which class, each class's values, and k basic implications: if all of some persons have
    certain values, then one of some persons has a certain value. The table is safe if no person's value is believed
    with probability c or more, whichever implications these are.

    By the paper's theorem the worst of them are simple: k atoms (a person has a value), each of which implies one atom
    A. So belief in A is 1 / (1 + r), r being the least Pr(neither A nor the k atoms) / Pr(A). In a class with counts
    n_1 >= n_2 >= ..., n in all, j atoms are none of them true with the least probability (MINIMIZE1)

        f(j) = min over j = v_0 + v_1 + ..., v_0 >= v_1 >= ..., of the product over i of
               (n - i - n_1 - ... - n_(v_i)) / (n - i)

    where the i-th person is not to have the v_i most frequent values. Probabilities of different classes multiply, and
    A is best placed on the most frequent value of its class (MINIMIZE2). A class may be used twice without harm, since
    f(i) f(j) >= f(i + j): put in one order, a factor of either product stands no earlier than before, and falls with
    its place. So the dynamic program over classes needs no more than the least g(j) of f(j) over all classes: with
    M(0) = 1 and M(h) = min over j of g(j) M(h - j),

        r = min over classes and j of f(j) M(k + 1 - j) n / n_1.

    The measure of a class is the belief for an A of its own, with the other atoms wherever they tell most.

    Monotone without suppression (the paper's theorem). Merging two classes and handing out all their values is the same
    as handing their persons at random to two classes as they were, and then the values within these. So a belief about
    the merged table is a mean of beliefs about tables with the old histograms, in which persons have changed places.
    Implications of these are implications all the same, so none of them is larger than the worst case before. Not with
    suppression: a class that violates may be merged with one that satisfies. In a search, a class that tells too much
    even by itself is suppressed, and is not counted among those where atoms may lie; other violating classes are.

    NULL is no value: such rows are left out, so that it protects no person. A class with nothing else violates. For
    rows
    alone: of persons with several rows, each holds several values.
    """

    name: ClassVar[str] = "ck_safety"
    requirement: ClassVar = CKSafetyRequirement
    figures: ClassVar = {"c_above": C_ABOVE}
    worst: ClassVar = "MAX"
    needs_positions: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = True
    sensitive: str
    c: float
    k: int

    @classmethod
    def of(cls, requirement: CKSafetyRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.attribute, requirement.c, requirement.k)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``(0.7, 2)-safety of diagnosis``."""
        return f"({self.c:g}, {self.k})-safety of {self.sensitive}"

    @property
    def key(self) -> str:
        """The attribute, and k."""
        return f"{self.name}({self.sensitive})[k={self.k}]"

    @property
    def least_values(self) -> int:
        """``k + 2``: with fewer, k implications leave one value of a person."""
        return self.k + 2

    @property
    def among_classes(self) -> bool:
        """With implications, whose atoms may lie in other classes."""
        return self.k > 0

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def out_of_reach(self, whole: Whole) -> str | None:
        """A class has no more values than the source."""
        if whole.values >= self.least_values:
            return None
        return f"with {whole.in_words}, {self.k} implications can tell which of them a person has"

    def parts(self, name: str) -> Mapping[str, Sql]:
        """How many rows have a value, and how many have one of the most frequent ones."""
        tops = {_top(name, place): self._part("top", place=place) for place in range(1, self.k + 2)}
        return {f"{name}_held": self._part("held"), **tops}

    def class_steps(self, name: str, of_table: Sql, *, suppresses: bool) -> Sequence[Mapping[str, Sql]]:
        """Factors, least probabilities of a class, those of all classes, of several together, and the belief."""
        atoms = self.k + 1
        own = {"held": f"{name}_held", "top": _top(name, 1), "alone": _fewest(name, atoms)}
        steps = [
            {
                _factor(name, person, values): self._part(
                    "factor", held=own["held"], top=_top(name, values), person=person
                )
                for person in range(atoms)
                for values in range(1, atoms // (person + 1) + 1)
            },
            {
                _fewest(name, number): self._part(
                    "least",
                    products=[
                        [_factor(name, person, values) for person, values in enumerate(parts)]
                        for parts in _sums(number)
                    ],
                )
                for number in range(1, atoms + 1)
            },
        ]
        if self.k:
            bound = {"ratio": (1 - self.c) / self.c, "suppresses": suppresses, "over": of_table, **own}
            steps += [
                {
                    _anywhere(name, number): self._part("anywhere", fewest=_fewest(name, number), **bound)
                    for number in range(1, atoms)
                },
                {
                    _together(name, number): self._part(
                        "least", products=[[_anywhere(name, part) for part in parts] for parts in _sums(number)]
                    )
                    for number in range(1, atoms)
                },
            ]
        products = [
            [_fewest(name, number), *([_together(name, atoms - number)] if number < atoms else [])]
            for number in range(1, atoms + 1)
        ]
        return [*steps, {name: self._part("belief", products=products, **own)}]

    def _part(self, part: str, **context: Any) -> Sql:
        return render(f"models/privacy/{self.name}", part=part, **context)

    def parameters(self) -> dict[str, Any]:
        """``c`` less the tolerance: beliefs stay below it."""
        return {"c": self.c - TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest belief: every c above it is satisfied; None when some class satisfies none."""
        return {"c_above": None if unbounded else worst}


def _sums(number: int, most: int | None = None) -> Iterator[list[int]]:
    """The ways to write a number as a sum of whole numbers, the largest first."""
    if not number:
        yield []
    for first in range(min(number, most or number), 0, -1):
        yield from ([first, *rest] for rest in _sums(number - first, first))


def _top(name: str, values: int) -> str:
    """The column of the rows that have one of this many most frequent values."""
    return f"{name}_top{values}"


def _factor(name: str, person: int, values: int) -> str:
    """The column of the probability that a person, after this many others, has none of the most frequent values."""
    return f"{name}_factor{person}_{values}"


def _fewest(name: str, atoms: int) -> str:
    """The column of the least probability that none of this many atoms of the class holds: f."""
    return f"{name}_fewest{atoms}"


def _anywhere(name: str, atoms: int) -> str:
    """The column of the same, of any one class: g."""
    return f"{name}_anywhere{atoms}"


def _together(name: str, atoms: int) -> str:
    """The column of the same, of several classes: M."""
    return f"{name}_together{atoms}"
