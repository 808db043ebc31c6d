"""(epsilon, delta)-differential privacy of a release: what a spec says of it, and what it cannot stand beside.

A random sample of the rows, generalized by levels that do not depend on the rows, without its classes below a k that
follows from epsilon and delta, is differentially private (Li, Qardaji, Su 2012, theorem 1; Bild, Kuhn, Prasser 2018).
Every refusal here is a premise of the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.spec.checks import (
    Check,
    Fault,
    Faults,
    Part,
    chosen,
    did_you_mean,
    fail,
    integer,
    kind,
    shaped,
    the_number,
)
from kanon_sql.spec.fields import ClassColumn
from kanon_sql.spec.hierarchy import QuasiIdentifier
from kanon_sql.spec.recoding import RecodingOptions
from kanon_sql.spec.requirement import (
    Form,
    Requirement,
)
from kanon_sql.spec.sections import SearchOptions

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["DifferentialPrivacyRequirement", "LevelSearch", "differential_privacy_faults", "differential_privacy_in"]

LEAST_EPSILON, MOST_EPSILON = 0.001, 20
"""Below, k takes long to compute; above, the promise is that a likelihood grows by less than 500 million times."""


def epsilon_of(what: str) -> Check[float]:
    """A check for an epsilon."""
    fits = f"{what} from {LEAST_EPSILON} to {MOST_EPSILON}"
    return the_number(fits, least=LEAST_EPSILON, most=MOST_EPSILON)


def exactly(value: float) -> Fraction:
    """A number as a spec writes it, so that 0.1 and 0.2 add up to 0.3."""
    return Fraction(Decimal(str(value)))


class Total(Part):
    """What all releases of a ledger may spend together.

    Attributes:
        epsilon: the sum of their epsilons at most.
        delta: the sum of their deltas at most.
    """

    expected: ClassVar[str] = "{epsilon: 3, delta: 1e-5}"

    epsilon: Annotated[float, the_number("a total epsilon of at least 0.001", least=LEAST_EPSILON)] = Field(
        description="The privacy budget: the largest sum of the epsilons of all releases of the ledger."
    )
    delta: Annotated[float, the_number("a total delta of at least 0 and below 1", least=0, below=1)] = Field(
        description="The largest sum of the deltas of all releases of the ledger."
    )


class LevelSearch(Part):
    """How the levels are chosen where the spec does not fix them: by the exponential mechanism.

    Attributes:
        epsilon: the part of the requirement's epsilon that choosing the levels may spend.
        score: what makes levels likelier; each is a metric of which one row changes little.
        classify: for the score classification, the quasi-identifier that is to be told from the others.
    """

    expected: ClassVar[str] = "{epsilon: 0.1, score: loss}"

    epsilon: Annotated[float, epsilon_of("the epsilon of the search")] = Field(
        description="The part of epsilon to spend on choosing the levels."
    )
    score: Annotated[
        Literal["precision", "loss", "discernibility", "average_class_size", "entropy", "classification"],
        chosen("score"),
    ] = Field(default="precision", description="The score function: levels with a higher score are likelier.")
    classify: ClassColumn = Field(
        default=None, description="For the score classification: the quasi-identifier to predict."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """The score classification, and no other, tells a column."""
        if value is None:
            return
        if value.score == "classification" and value.classify is None:
            why = "the score classification needs 'classify', the quasi-identifier to predict from the others"
            yield Fault(("score",), why, True)
        if value.score != "classification" and value.classify is not None:
            yield Fault(("classify",), f"the score {value.score} predicts no column; leave 'classify' out", True)


@shaped({"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer", "minimum": 0}})
def _levels(value: object) -> dict[str, int]:
    """The fixed level of each quasi-identifier."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of quasi-identifiers to levels, such as {{age: 2}}, got {kind(value)}")
    faults = Faults()
    check = integer("a level", 0)
    found = {str(name): faults.attempt((name,), check, level) for name, level in value.items()}
    faults.finish()
    return {name: level for name, level in found.items() if level is not None}


class DifferentialPrivacyRequirement(Requirement):
    """The release is the output of an (epsilon, delta)-differentially private mechanism.

    Attributes:
        epsilon: the mechanism's, the search of levels included.
        delta: the mechanism's.
        generalization: the level of each quasi-identifier, chosen without looking at the rows; None for a search.
        search: how levels are chosen by looking at the rows; None where they are fixed.
        sampling: the probability with which each row is drawn; None for the largest that epsilon allows.
        total: what all releases of the ledger may spend together; None where this release is to be its only one.
    """

    name: ClassVar[str] = "differential_privacy"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "differential_privacy: {epsilon: 1, delta: 1e-6, generalization: {age: 2}}",
            "k drawn rows, where k follows from epsilon and delta: [a page of its own](differential-privacy.md)",
            "Li, Qardaji, Su 2012; Bild, Kuhn, Prasser 2018",
        ),
    )
    expected: ClassVar[str] = "{epsilon: 1, delta: 1e-6, generalization: {age: 2}}"
    judged_by_table: ClassVar[bool] = False
    not_certified: ClassVar[str] = "it is a property of the mechanism, which a table does not show"
    counts_persons: ClassVar[bool] = False

    epsilon: Annotated[float, epsilon_of("epsilon")] = Field(
        description="With and without any one row, the probabilities of a release differ by at most a factor of "
        "e^epsilon."
    )
    delta: Annotated[float, the_number("delta of at least 1e-30 and below 1", least=1e-30, below=1)] = Field(
        description="The probability of exceptions; choose it far below 1 / the number of rows."
    )
    generalization: Annotated[dict[str, int] | None, _levels] = Field(
        default=None, description="The level of every quasi-identifier, chosen independently of the data."
    )
    search: LevelSearch | None = Field(
        default=None, description="Instead of 'generalization': choose the levels with the exponential mechanism."
    )
    sampling: Annotated[float | None, the_number("a probability above 0 and below 1", above=0, below=1)] = Field(
        default=None, description="The sampling probability of a row; by default the largest that epsilon allows."
    )
    total: Total | None = Field(
        default=None,
        description="The privacy budget of all releases of the ledger together; by default that of this release alone.",
    )

    @property
    def attribute(self) -> None:
        """No sensitive attribute: every released column counts as a quasi-identifier."""
        return None

    @property
    def notation(self) -> str:
        """Such as ``(1, 1e-06)-differential privacy``."""
        return f"({self.epsilon:g}, {self.delta:g})-differential privacy"

    @property
    def spends(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta, exactly."""
        return exactly(self.epsilon), exactly(self.delta)

    @property
    def of_search(self) -> Fraction:
        """The epsilon that choosing the levels spends; 0 where they are fixed."""
        return Fraction(0) if self.search is None else exactly(self.search.epsilon)

    @property
    def asked_sampling(self) -> Fraction | None:
        """The sampling probability, exactly; None for the largest that epsilon allows."""
        return None if self.sampling is None else exactly(self.sampling)

    @property
    def may_spend(self) -> tuple[Fraction, Fraction]:
        """The epsilon and delta that all releases of the ledger may spend together."""
        if self.total is None:
            return self.spends
        return exactly(self.total.epsilon), exactly(self.total.delta)

    def misfits(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object) -> Iterator[Fault]:
        """It protects rows."""
        if unit is not None:
            why = (
                f"{self.name} protects rows, not persons: epsilon bounds the effect of one row. Leave 'unit' out, and "
                "use a source query with one row per person, or an epsilon that is still small enough when multiplied "
                "by the number of rows of a person"
            )
            yield Fault((), why, True)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Levels are fixed or searched; a total holds this release at least."""
        ways = [key for key in ("generalization", "search") if given.get(key) is not None]
        if not ways:
            yield Fault((), "missing 'generalization': the level of every quasi-identifier; or 'search'", True)
        elif len(ways) == 2:
            yield Fault(("search",), "'generalization' already fixes the levels; leave 'search' out", True)
        if value is None:
            return
        if value.search is not None and value.of_search >= exactly(value.epsilon):
            yield Fault(("search", "epsilon"), "the search uses all of epsilon; leave some for the sample")
        if value.total is not None:
            for key, own, most in zip(("epsilon", "delta"), value.spends, value.may_spend, strict=True):
                if most < own:
                    yield Fault(("total", key), f"the total {key} is below that of this release alone")

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, which reads back as this requirement."""
        return {self.name: self.model_dump(mode="json", exclude_none=True)}


def differential_privacy_in(privacy: Sequence[Requirement]) -> DifferentialPrivacyRequirement | None:
    """The requirement of that name among others; None where there is none."""
    return next((item for item in privacy if isinstance(item, DifferentialPrivacyRequirement)), None)


def differential_privacy_faults(spec: Spec) -> Iterator[Fault]:
    """What a differentially private release cannot have: each breaks a premise of the proof."""
    for position, requirement in enumerate(spec.privacy):
        if isinstance(requirement, DifferentialPrivacyRequirement):
            loc = ("privacy", position, requirement.name)
            if len(spec.privacy) > 1:
                why = (
                    "it cannot be combined with other requirements: they suppress rows depending on the data, which "
                    "the proof does not cover; leave the others out. Released classes have at least k rows in any case"
                )
                yield Fault(loc, why, True)
            yield from _section_faults(spec)
            yield from _column_faults(spec)
            for fault in (
                *_level_faults(spec.quasi_identifiers, requirement),
                *_score_faults(spec.quasi_identifiers, requirement),
            ):
                yield fault._replace(loc=(*loc, *fault.loc))
            return


def _section_faults(spec: Spec) -> Iterator[Fault]:
    """Sections that would let the rows decide what is released."""
    name = DifferentialPrivacyRequirement.name
    if spec.ledger is None:
        why = (
            f"{name} needs a 'ledger', which adds up the privacy budget that all releases spend and refuses to exceed "
            "it"
        )
        yield Fault(("privacy",), why, True)
    elif spec.ledger.on_conflict != "refuse":
        why = f"with {name} releases are not compared, so on_conflict has no effect; leave it out"
        yield Fault(("ledger", "on_conflict"), why, True)
    if spec.recoding != RecodingOptions():
        why = (
            f"{name} needs levels that do not depend on the data, but this recoding derives its labels from the data "
            "or saves them; leave it out"
        )
        yield Fault(("recoding",), why, True)
    if spec.warnings.fatal:
        why = f"with {name} no warnings are computed; leave 'error' out"
        yield Fault(("warnings", spec.warnings.fatal[0]), why)
    if spec.search != SearchOptions():
        why = (
            f"this search reads the data without a privacy budget; with {name}, fix the levels ('generalization'), or "
            "spend a part of epsilon on them (its own 'search')"
        )
        yield Fault(("search",), why, True)
    some = spec.suppression.allows_some and spec.suppression.limit != ("max_share", 1.0)
    if some or spec.suppression.style == "mask":
        why = (
            f"with {name} every class below k is dropped; stopping at a limit, or counting masked rows, would reveal "
            "information about the data; leave it out"
        )
        yield Fault(("suppression",), why, True)
    if spec.nulls == "error":
        why = f"with {name} a run that stops at a NULL reveals that there is one; use value or suppress"
        yield Fault(("nulls",), why)


def _column_faults(spec: Spec) -> Iterator[Fault]:
    """Columns and hierarchies that would let a row show, or the rows decide."""
    name = DifferentialPrivacyRequirement.name
    for role in ("sensitive", "keep"):
        if getattr(spec, role):
            why = (
                f"with {name} every released column must be a quasi-identifier, since an unchanged value may belong to "
                "one person only; list the columns under quasi_identifiers, if necessary at level 0"
            )
            yield Fault((role,), why, True)
    for column, item in spec.quasi_identifiers.items():
        if item.parents == "several":
            why = (
                f"the choice among several parents depends on the data, which {name} does not allow; give each value "
                "one parent"
            )
            yield Fault(("quasi_identifiers", column, "parents"), why, True)


def _level_faults(
    quasi_identifiers: Mapping[str, QuasiIdentifier], requirement: DifferentialPrivacyRequirement
) -> Iterator[Fault]:
    """A level for every quasi-identifier, within its limits."""
    if requirement.generalization is None:
        return
    for name, level in requirement.generalization.items():
        column = quasi_identifiers.get(name)
        if column is None:
            hint = did_you_mean(name, quasi_identifiers)
            yield Fault(("generalization", name), f"this is no quasi-identifier{hint}", True)
            continue
        highest = [item for item in (column.maximum_level, column.height_hint) if item is not None]
        if level < column.minimum_level or any(level > item for item in highest):
            most = min(highest, default=None)
            allowed = f"{column.minimum_level} to {most}" if most is not None else f"{column.minimum_level} or higher"
            yield Fault(("generalization", name), f"level {level} is not allowed for this column; expected {allowed}")
    for name in quasi_identifiers:
        if name not in requirement.generalization:
            yield Fault(("generalization",), f"missing the level of {name!r}; every quasi-identifier needs one", True)


def _score_faults(
    quasi_identifiers: Mapping[str, QuasiIdentifier], requirement: DifferentialPrivacyRequirement
) -> Iterator[Fault]:
    """A score is made of the spec and of numbers of rows, and of nothing else that the rows decide."""
    search = requirement.search
    if search is None:
        return
    if search.classify is not None and search.classify not in quasi_identifiers:
        hint = did_you_mean(search.classify, quasi_identifiers)
        why = f"this is no quasi-identifier, and with {requirement.name} nothing else is released{hint}"
        yield Fault(("search", "classify"), why)
    if search.score == "loss":
        for name, column in quasi_identifiers.items():
            if not column.hierarchy.lists_values:
                why = (
                    f"the score loss needs the domain of {name!r}, which only the data show; list its values in a "
                    "hierarchy file or tree, or use the score precision"
                )
                yield Fault(("search", "score"), why)
