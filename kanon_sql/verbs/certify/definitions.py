"""What a requirement of a spec asks of every class, for statements that owe nothing to the models of the search.

Each is read from the spec's requirement and its paper again: what a model of ``models/privacy`` would leave out, or
count differently, is counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil, log
from typing import Any, Literal

from kanon_sql.models import (
    AlphaKAnonymityRequirement,
    BetaLikenessRequirement,
    DeltaDisclosureRequirement,
    LDiversityRequirement,
    PSensitiveRequirement,
    RiskRequirement,
    TClosenessRequirement,
    label_of,
)
from kanon_sql.spec import Document, KAnonymityRequirement, Requirement, Spec

__all__ = ["Definition", "NotCertified", "attributes_of", "definition_of", "definitions_of"]

TOLERANCE = 1e-9
"""How far a sum of binary fractions may lie beyond a threshold and still satisfy it."""

Kind = Literal[
    "size", "personal_k", "risk", "distinct", "entropy", "recursive", "distance", "order", "share", "gain",
    "bounded_gain", "logarithm",
]  # fmt: skip


@dataclass(frozen=True)
class NotCertified(Document):
    """What a certificate does not say, and why.

    Attributes:
        what: is not said.
        why: it is not.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Definition:
    """What a requirement asks of every class.

    Attributes:
        label: the requirement in the field's notation.
        says: the definition in words.
        kind: what is measured of a class.
        comparison: of the measure with the threshold.
        threshold: with its tolerance.
        attribute: the sensitive attribute, or the column with the k of each row.
        least_size: the size that a class must have besides.
        values: the values to protect, where these are not all.
        reference: the table whose distribution a class is compared with.
        keys: what classes are made by: the quasi-identifiers and, where other attributes are known too, those.
        by_all: these are the spec's quasi-identifiers, all of them and no others.
        lasting: a generalization of a class that satisfies it satisfies it as well, whatever it is merged with.
        lasts_unsuppressed: it does where nothing is suppressed, and rows are counted.
        numbers: other parameters.
    """

    label: str
    says: str
    kind: Kind
    comparison: str
    threshold: float | int
    keys: tuple[str, ...]
    by_all: bool
    attribute: str | None = None
    least_size: int | None = None
    values: tuple[str, ...] | None = None
    reference: Literal["original", "release"] | None = None
    lasting: bool = False
    lasts_unsuppressed: bool = True
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def largest_is_worst(self) -> bool:
        """Whether the class with the largest measure is the worst."""
        return self.comparison in ("<", "<=")


_TESTED = "certificates have no plain SQL for it; check measures it"


def definitions_of(spec: Spec) -> tuple[list[Definition], list[NotCertified]]:
    """What the spec's requirements ask, and those that nothing is certified of, by name."""
    found, left = [], []
    for requirement in spec.privacy:
        made = definition_of(requirement, tuple(spec.quasi_identifiers), spec.sensitive)
        if isinstance(made, str):
            left.append(NotCertified(label_of(requirement), made))
        else:
            found.append(made)
    return found, left


def definition_of(requirement: Requirement, names: tuple[str, ...], sensitive: Sequence[str]) -> Definition | str:
    """The definition, or why there is none.

    Args:
        requirement: it.
        names: the quasi-identifiers.
        sensitive: the sensitive columns.
    """
    keys = names
    if requirement.groups_by_others:
        attribute = getattr(requirement, "attribute", None)
        keys = (*names, *(name for name in sensitive if name != attribute))
    elif requirement.grouped_by is not None:
        keys = tuple(name for name in names if name in requirement.grouped_by)
    common: dict[str, Any] = {"label": label_of(requirement), "keys": keys, "by_all": keys == names}
    over = "" if keys == names else f" by {', '.join(keys)}"
    if (why := requirement.not_certified) is not None:
        return f"{why}; {_TESTED}" if requirement.judged_by_table else why
    defined = _DEFINED.get(requirement.name)
    if defined is None:
        return "it is not part of this package, so certificates have no plain SQL for it"
    return defined(requirement, common, over)


def _of_closeness(requirement: TClosenessRequirement, common: Mapping[str, Any], over: str) -> Definition | str:
    if requirement.distance == "hierarchical":
        return "certificates have no plain SQL for its hierarchical distance; check measures it"
    if requirement.distance == "ordered":
        return Definition(
            says=f"in every class{over}, the cumulative shares of the values of {requirement.attribute} in their order "
            f"differ from those of the {requirement.reference} table by at most {requirement.t:g}: added up, over the "
            "number of values less one; and so does the share of NULL",
            kind="order", comparison="<=", threshold=requirement.t + TOLERANCE, attribute=requirement.attribute,
            reference=requirement.reference, **common,
        )  # fmt: skip
    return Definition(
        says=f"in every class{over}, half the sum of |p - q| over the values of {requirement.attribute} is at most "
        f"{requirement.t:g}, where q is how often the {requirement.reference} table has them",
        kind="distance", comparison="<=", threshold=requirement.t + TOLERANCE, attribute=requirement.attribute,
        reference=requirement.reference, **common,
    )  # fmt: skip


def _of_shares(requirement: AlphaKAnonymityRequirement, common: Mapping[str, Any], over: str) -> Definition:
    which = "a value" if requirement.values is None else "a value to protect"
    return Definition(
        says=f"every class{over} has at least {requirement.k}, and the largest share of {which} of "
        f"{requirement.attribute} is at most {requirement.alpha:g}",
        kind="share", comparison="<=", threshold=requirement.alpha + TOLERANCE, attribute=requirement.attribute,
        least_size=requirement.k, values=requirement.values, **common,
    )  # fmt: skip


def _of_sensitivity(requirement: PSensitiveRequirement, common: Mapping[str, Any], over: str) -> Definition:
    return Definition(
        says=f"every class{over} has at least {requirement.k}, and {requirement.p} different values of "
        f"{requirement.attribute}",
        kind="distinct", comparison=">=", threshold=requirement.p, attribute=requirement.attribute,
        least_size=requirement.k, lasting=True, **common,
    )  # fmt: skip


def _of_gains(requirement: BetaLikenessRequirement, common: Mapping[str, Any], over: str) -> Definition:
    bounded = requirement.variant == "enhanced"
    return Definition(
        says=f"in every class{over}, no value of {requirement.attribute} gains more than {requirement.beta:g} of "
        f"its share of the {requirement.reference} table{', nor more than -ln of it' if bounded else ''}",
        kind="bounded_gain" if bounded else "gain", comparison="<=", threshold=requirement.beta + TOLERANCE,
        attribute=requirement.attribute, reference=requirement.reference, numbers={"tolerance": TOLERANCE},
        **common,
    )  # fmt: skip


def _of_logarithms(requirement: DeltaDisclosureRequirement, common: Mapping[str, Any], over: str) -> Definition:
    return Definition(
        says=f"in every class{over}, |log2(q / p)| is below {requirement.delta:g} for every value of "
        f"{requirement.attribute} in the {requirement.reference} table",
        kind="logarithm", comparison="<", threshold=requirement.delta - TOLERANCE, attribute=requirement.attribute,
        reference=requirement.reference, **common,
    )  # fmt: skip


def _of_size(requirement: KAnonymityRequirement, common: Mapping[str, Any], over: str) -> Definition | str:
    if requirement.combinations is not None:
        return f"combinations of a few columns lie across classes; {_TESTED}"
    if requirement.k is not None:
        return Definition(
            says=f"every class{over} has at least {requirement.k}", kind="size", comparison=">=",
            threshold=requirement.k, lasting=True, **common,
        )  # fmt: skip
    assert requirement.default is not None
    return Definition(
        says=f"every class{over} is as large as the largest {requirement.column} in it "
        f"({requirement.default} where NULL)",
        kind="personal_k", comparison="<=", threshold=requirement.default, attribute=requirement.column, **common,
    )  # fmt: skip


def _of_diversity(requirement: LDiversityRequirement, common: Mapping[str, Any], over: str) -> Definition | str:
    name = requirement.attribute
    if requirement.variant == "distinct":
        return Definition(
            says=f"every class{over} has at least {requirement.l:g} different values of {name}", kind="distinct",
            comparison=">=", threshold=int(requirement.l), attribute=name, lasting=True, **common,
        )  # fmt: skip
    if requirement.variant == "entropy" and requirement.estimator != "grassberger":
        return Definition(
            says=f"in every class{over}, the entropy of the values of {name} is at least ln {requirement.l:g}",
            kind="entropy", comparison=">=", threshold=log(requirement.l) - TOLERANCE, attribute=name, **common,
        )  # fmt: skip
    if requirement.variant == "recursive":
        assert requirement.c is not None
        return Definition(
            says=f"in every class{over}, the most frequent value of {name} is rarer than {requirement.c:g} times all "
            f"from the {int(requirement.l)}th on together",
            kind="recursive", comparison="<", threshold=requirement.c, attribute=name,
            numbers={"l": int(requirement.l)}, **common,
        )  # fmt: skip
    if requirement.variant == "entropy":
        return "it estimates the population behind a class, and is not a property of the class"
    return f"it weighs values that may be disclosed and values that must not be excluded; {_TESTED}"


def _of_risk(requirement: RiskRequirement, common: Mapping[str, Any], over: str) -> Definition | str:
    if requirement.population is not None or requirement.sampling_fraction is not None:
        return f"its attacker looks for a person of a population; {_TESTED}"
    size = 1 if requirement.highest is None else ceil(1 / Fraction(Decimal(str(requirement.highest))))
    if requirement.average is None and not requirement.records_at_risk:
        return Definition(
            says=f"every class has at least {size}, so that no record's risk is above {requirement.highest:g}",
            kind="size", comparison=">=", threshold=size, lasting=True, **common,
        )  # fmt: skip
    parts = [] if requirement.average is None else [f"the average risk is at most {requirement.average:g}"]
    if requirement.highest is not None:
        parts.append(
            f"at most {requirement.records_at_risk:g} of the records are in a class of fewer than {size}, whose risk "
            f"is above {requirement.highest:g}"
        )
    return Definition(
        says=" and ".join(parts), kind="risk", comparison="<=", threshold=requirement.records_at_risk, numbers={
            "safe_size": size, "average": requirement.average, "highest": requirement.highest,
        }, **common,
    )  # fmt: skip


_DEFINED: Mapping[str, Callable[[Any, Mapping[str, Any], str], Definition | str]] = {
    "k_anonymity": _of_size,
    "l_diversity": _of_diversity,
    "t_closeness": _of_closeness,
    "alpha_k_anonymity": _of_shares,
    "p_sensitive_k_anonymity": _of_sensitivity,
    "beta_likeness": _of_gains,
    "delta_disclosure": _of_logarithms,
    "risk": _of_risk,
}
"""The name of a requirement -> what it asks, from its parameters, what classes are made by, and that in words."""


def attributes_of(definitions: Sequence[Definition]) -> list[str]:
    """The columns that definitions look at, besides the quasi-identifiers."""
    found = [item.attribute for item in definitions if item.attribute is not None]
    return list(dict.fromkeys(found))
