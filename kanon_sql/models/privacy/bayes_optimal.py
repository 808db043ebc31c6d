"""Bayes-optimal privacy: a release tells an attacker with background knowledge little that is new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypedDict

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Background, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec import Keywords, Positive, format_table_name
from kanon_sql.spec.checks import Check, Fault, share, the_number
from kanon_sql.spec.fields import ColumnName, TableName
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    Attribute,
    Form,
    Requirement,
)

__all__ = ["BayesOptimalModel", "BayesOptimalRequirement"]


def _inside(what: str) -> Check[float]:
    return the_number(f"{what}, above 0 and below 1", above=0, below=1)


class BayesOptimalRequirement(Requirement):
    """The release changes little of what an attacker with a background distribution believes of any person.

    Attributes:
        attribute: the sensitive attribute.
        background: the table of what the attacker knows beforehand; None for the source itself.
        weight: its column of weights or probabilities; None where each of its rows counts alike.
        delta: a positive disclosure is a belief above 1 - delta in a person's value, where it was not before.
        epsilon: a negative disclosure is a belief below epsilon in a value that a person may have, where it was not.
        theta: the most that any belief may change.
    """

    name: ClassVar[str] = "bayes_optimal"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "bayes_optimal: {attribute: diagnosis, theta: 0.3}",
            "the release changes an attacker's belief in no person's value by more than theta; with `delta` and "
            "`epsilon`, no positive and no negative disclosure",
            "Machanavajjhala et al. 2007, section 3",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., background: ..., theta: 0.2}"
    definition: ClassVar[str] = (
        "The release changes no attacker's belief in a person's value by more than theta (Machanavajjhala et "
        "al. 2007, section 3)."
    )
    not_certified: ClassVar[str] = "it compares an attacker's beliefs before and after the release"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    background: TableName | None = Field(
        default=None,
        description="The attacker's background table: the source's quasi-identifiers, the attribute, and optionally "
        "a weight.",
    )
    weight: ColumnName | None = Field(
        default=None, description="The background's column of weights or probabilities; by default each row counts 1."
    )
    delta: Annotated[float | None, _inside("delta")] = Field(
        default=None,
        description="The belief in a person's value rises above 1 - delta for no value, unless it was above before.",
    )
    epsilon: Annotated[float | None, _inside("epsilon")] = Field(
        default=None,
        description="The belief in a person's value falls below epsilon for no value, unless it was below before.",
    )
    theta: Annotated[float | None, share("theta")] = Field(
        default=None, description="The largest change of any belief."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Some threshold is asked for; weights are a background's."""
        if not {"delta", "epsilon", "theta"} & set(given):
            why = "missing a threshold: theta (how far a belief may move), delta (positive) or epsilon (negative)"
            yield Fault((), why, True)
        if "weight" in given and "background" not in given:
            yield Fault(("weight",), "'weight' is a column of the 'background', which is missing", True)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the background by its name."""
        body = self.model_dump(mode="json", exclude_none=True)
        if self.background is not None:
            body["background"] = format_table_name(self.background)
        return {self.name: body}


class BeliefCell(TypedDict):
    """Persons whose values are believed about as much before the release and after it.

    Attributes:
        prior_from: the belief before the release is in the tenth that begins here; 1 is in the last one.
        posterior_from: the belief after it is in the tenth that begins here.
        persons: rows of the source whose persons are believed so.
    """

    prior_from: Annotated[float, Keywords(minimum=0, maximum=0.9)]
    posterior_from: Annotated[float, Keywords(minimum=0, maximum=0.9)]
    persons: Positive


@register
@dataclass(frozen=True)
class BayesOptimalModel(PrivacyModel):
    """Bayes-optimal privacy (Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, section 3).

    The attacker knows a distribution f(q, s) of persons, and of a person in the table the quasi-identifiers q. Before
    the release his belief in the sensitive value s is alpha = f(s | q). The release shows that person in a class q*,
    with n(q*, s) rows of each value, and his belief becomes (theorem 3.1)

        beta = n(q*, s) f(s | q) / f(s | q*)   over the sum of this for all s,

    f(s | q*) being that of every person who generalizes to q*. That is exact, for classes of any size, where the
    others of the class are drawn from f and their quasi-identifiers are not known. An attacker who knows them too may
    believe something else, unless all in the class have the same f(s | q).

    A class violates where for a person in it, as the source has them,

    - ``delta``: beta > 1 - delta for the person's own value, and alpha was not (positive disclosure);
    - ``epsilon``: beta < epsilon for a value that a person with q does not have, and alpha was not (negative
      disclosure);
    - ``theta``: |beta - alpha| > theta for some value (the uninformative principle);

    each up to 1e-9. It also violates where beta does not exist: the class holds a value that the background calls
    impossible there, the background knows no person with q, or no person of the source is behind the class. NULL is a
    value like any other.

    A background that is the distribution of the class's own rows gives beta = alpha: who knows the table already
    learns nothing from it.

    Monotone only for an attacker who sees no difference in a class; in general the search could prune nothing, and it
    counts classes, not the persons behind them. So ``check`` judges the release, and the search refuses it.

    Attributes:
        sensitive: the sensitive attribute.
        table: the table of f; None for the source.
        weight: its column of weights; None to count rows.
        delta, epsilon, theta: the thresholds; None where not asked for.
    """

    name: ClassVar[str] = "bayes_optimal"
    requirement: ClassVar = BayesOptimalRequirement
    figures: ClassVar = {
        "theta": figure(
            "bayes_optimal: the most that a belief changes; null where one does not exist.", minimum=0, maximum=1
        ),
        "exposed_persons": figure(
            "bayes_optimal: rows of the source whose persons are exposed.", int, type="integer", minimum=0
        ),
        "beliefs": figure(
            "bayes_optimal: how the beliefs in what persons of the source have were before the release and are "
            "after it, in tenths. No cell is of fewer persons than a class may have.",
            Sequence[BeliefCell],
            type="array",
        ),
        "beliefs_not_shown": figure(
            "bayes_optimal: rows of the source in cells of too few to be shown.", int, type="integer", minimum=0
        ),
    }
    worst: ClassVar = "MAX"
    second: ClassVar = "MAX"
    needs_facts: ClassVar[tuple[str, ...]] = ("belief_change", "exposed")
    sensitive: str
    table: tuple[str, ...] | None = None
    weight: str | None = None
    delta: float | None = None
    epsilon: float | None = None
    theta: float | None = None

    @classmethod
    def of(cls, requirement: BayesOptimalRequirement) -> Self:
        """With the requirement's parameters."""
        asked = {name: getattr(requirement, name) for name in ("weight", "delta", "epsilon", "theta")}
        return cls(requirement.attribute, requirement.background, **asked)

    @property
    def shown(self) -> str:
        """The background's name for messages."""
        return "the source" if self.table is None else format_table_name(self.table)

    @property
    def frame(self) -> str:
        """Beliefs, a row per class; the double quotes keep it apart from a sensitive attribute of that name."""
        return f'{self.sensitive}, "{self.shown}"'

    @property
    def notation(self) -> str:
        """Such as ``Bayes-optimal privacy (theta 0.2) of diagnosis given survey``."""
        asked = {"delta": self.delta, "epsilon": self.epsilon, "theta": self.theta}
        listed = ", ".join(f"{name} {value:g}" for name, value in asked.items() if value is not None)
        return f"Bayes-optimal privacy ({listed}) of {self.sensitive} given {self.shown}"

    @property
    def background(self) -> Background:
        """The table, or the source, with where a belief in it exposes a person."""
        thresholds = {
            "certain": None if self.delta is None else 1 - self.delta + TOLERANCE,
            "excluded": None if self.epsilon is None else self.epsilon - TOLERANCE,
            "moved": None if self.theta is None else self.theta + TOLERANCE,
        }
        return Background(self.sensitive, self.table, self.weight, thresholds, self.shown, self.label)

    @property
    def search_obstacle(self) -> str:
        """Beliefs are of persons, and a search has classes."""
        return (
            "a search would have to compute the belief about each person at every node; search with other "
            "requirements, and use this one with check"
        )

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Never: a belief can move more in a merged class than in its parts."""
        return Monotonicity.NEVER

    def parameters(self) -> dict[str, Any]:
        """Nothing: what is exposed is decided person by person, before classes are."""
        return {}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest change of a belief; None when some belief does not exist."""
        return {"theta": None if unbounded else worst}
