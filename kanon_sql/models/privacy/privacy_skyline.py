"""The privacy skyline: what knowledge of three kinds tells of a person, in the worst case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel, SetWindows
from kanon_sql.models.privacy.ck_safety import ABOUT_BELIEF, Belief
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import C_ABOVE
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec.checks import integer
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    Attribute,
    Form,
    Requirement,
)
from kanon_sql.sql import Sql, render

__all__ = ["PrivacySkylineModel", "PrivacySkylineRequirement"]

MOST_PIECES = 20


class PrivacySkylineRequirement(Requirement):
    """An attacker with l, k and m facts of three kinds believes no person's value with probability c: a skyline point.

    Attributes:
        attribute: the sensitive attribute.
        l: how many values the attacker knows a person not to have.
        k: how many others' values the attacker knows.
        m: of how many others the attacker knows that, if they have a value, the person has it too.
        c: what every belief stays below.
    """

    name: ClassVar[str] = "privacy_skyline"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "privacy_skyline: {attribute: diagnosis, l: 1, k: 3, m: 0, c: 0.7}",
            "the belief stays below c for an attacker who knows l values that the person does not have, the values "
            "of k others, and m persons [of the same family](#background-knowledge)",
            "Chen, LeFevre, Ramakrishnan 2007",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., l: 1, k: 3, m: 0, c: 0.7}"
    definition: ClassVar[str] = (
        "The belief in any person's value stays below c, for an attacker who knows facts about the person, about "
        "others, and about the family (Chen, LeFevre, Ramakrishnan 2007)."
    )
    not_certified: ClassVar[str] = "it is a worst case over three kinds of knowledge"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    l: Annotated[int, integer("l, a number of values", 0, MOST_PIECES)] = Field(  # noqa: E741
        default=0, description="How many values the attacker knows that the person does not have."
    )
    k: Annotated[int, integer("k, a number of persons", 0, MOST_PIECES)] = Field(
        default=0, description="Of how many other persons the attacker knows the value."
    )
    m: Annotated[int, integer("m, a number of persons", 0, MOST_PIECES)] = Field(
        default=0, description="How many family members the attacker knows: if one has a value, so does the person."
    )
    c: Belief = Field(description=ABOUT_BELIEF)

    @property
    def identity(self) -> tuple[object, ...]:
        """One for each point."""
        return (self.name, self.attribute, self.l, self.k, self.m)


@register
@dataclass(frozen=True)
class PrivacySkylineModel(PrivacyModel):
    """One point of a privacy skyline (Chen, LeFevre, Ramakrishnan: Privacy skyline, VLDB 2007).

    The attacker knows who is in which class, each class's values, and of a person t and a value s

    - l values that t does not have,
    - the values of k other persons,
    - that t has s if one of m further persons has it (t's same-value family).

    The table is safe at the point (l, k, m) if no person's value is believed with probability c or more, whichever
    persons and values these are. A skyline is several points: a requirement for each. Up to as many pieces are known.

    With n rows in a class and a of them with s, X the rows of its l most frequent other values, and k_e and m_e of the
    told and of the family in t's class e, belief is 1 / (1 + r), where r is the least of

        (n - k_e - a - X) / a * product for i = 1 ... m_e of (n - k_e - a - i) / (n - k_e - i)

    times, for every other class, the product for i = 0 ... m_g - 1 of (n_g - k_g - a_g - i) / (n_g - k_g - i): told are
    persons with neither s nor an excluded value, and worlds are equally likely. The logarithm of a factor,
    log(x - a) - log(x), is concave in x, and falls with every step. So log r is concave in how the m persons are shared
    out among the classes, for any sharing out of the k persons, and the other way round. It is least at a corner: all m
    in one class g, and all k either in e or in g (the congregation property; derived here, and tried against all
    knowledge on small tables). That leaves three: everything in e; all m in g and all k in e; both in g. g may be e,
    which is never better than the first. For the second and the third, g is the class in which the family tells most of
    s, whichever e is: a window over the classes with s finds it.

    Monotone without suppression, for the same reason as :mod:`kanon_sql.models.privacy.ck_safety`: the forms of
    knowledge stay the same when persons change places. Not with it. In a search, a class that tells too much even by
    itself is suppressed, and not counted among those where the family may be; other violating classes are.

    NULL is no value: such rows are left out, so that it protects no person. A class with nothing else violates. For
    rows
    alone: of persons with several rows, each holds several values.
    """

    name: ClassVar[str] = "privacy_skyline"
    requirement: ClassVar = PrivacySkylineRequirement
    figures: ClassVar = {"c_above": C_ABOVE}
    worst: ClassVar = "MAX"
    needs_positions: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = True
    sensitive: str
    l: int  # noqa: E741 - the paper's letter
    k: int
    m: int
    c: float

    @classmethod
    def of(cls, requirement: PrivacySkylineRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.attribute, requirement.l, requirement.k, requirement.m, requirement.c)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``safety of diagnosis at the skyline point (1, 3, 0) with c = 0.7``."""
        return f"safety of {self.sensitive} at the skyline point ({self.l}, {self.k}, {self.m}) with c = {self.c:g}"

    @property
    def key(self) -> str:
        """The attribute, and the point."""
        return f"{self.name}({self.sensitive})[l={self.l}, k={self.k}, m={self.m}]"

    @property
    def least_values(self) -> int:
        """``l + 2``: with fewer, l values that a person does not have leave one."""
        return self.l + 2

    @property
    def among_classes(self) -> bool:
        """With a family, which may be in another class."""
        return self.m > 0

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def out_of_reach(self, whole: Whole) -> str | None:
        """A class has no more values than the source."""
        if whole.values >= self.least_values:
            return None
        return f"with {whole.in_words}, to lack {self.l} of them can tell which one a person has"

    def value_steps(
        self, name: str, of_class: Sql, of_value: Sql, of_sets: Sequence[SetWindows], *, suppresses: bool
    ) -> Sequence[Mapping[str, Sql]]:
        """What a class has, its ratios for each value, the worst of the class, and of all classes with the value."""
        columns = {column: f"{name}_{column}" for column in ("held", "most", "more", "own", "worst")}

        def part(part: str, **context: Any) -> Sql:
            return render(f"models/privacy/{self.name}", part=part, of_class=of_class, **columns, **context)

        counted = {"held": part("held")}
        if self.l:
            counted |= {"most": part("first", places=self.l), "more": part("first", places=self.l + 1)}
        ratios = {"own": part("person", l=self.l, known=self.k, family=self.m)}
        if self.m:
            ratios |= {
                "person": part("person", l=self.l, known=0, family=0),
                "person_known": part("person", l=self.l, known=self.k, family=0),
                "family": part("family", known=0, family=self.m),
                "family_known": part("family", known=self.k, family=self.m),
            }
        steps = [counted, ratios]
        if self.m:
            bound = {"ratio": (1 - self.c) / self.c, "suppresses": suppresses, "of_value": of_value}
            steps += [
                {"worst": part("worst")},
                {
                    f"{which}_anywhere": part("anywhere", which=f"{name}_{which}", **bound)
                    for which in ("family", "family_known")
                },
            ]
        return [{f"{name}_{column}": value for column, value in step.items()} for step in steps]

    def measure(self, name: str) -> Sql:
        """The largest belief in a value of the class."""
        named = ("own", "person", "person_known", "family_anywhere", "family_known_anywhere")
        columns = {column: f"{name}_{column}" for column in named}
        return render(f"models/privacy/{self.name}", part="measure", m=self.m, **columns)

    def parameters(self) -> dict[str, Any]:
        """``c`` less the tolerance: beliefs stay below it."""
        return {"c": self.c - TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest belief: every c above it is satisfied; None when some class satisfies none."""
        return {"c_above": None if unbounded else worst}
