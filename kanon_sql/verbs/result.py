"""What verbs return that search, publish or judge a release: a type for each, whose fields are the keys of its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, cast

from kanon_sql.engines import Meter
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import (
    AllReached,
    ClassSizes,
    Failing,
    MaybeClasses,
    NothingFound,
    NothingToSearch,
    Rows,
    SearchSummary,
)
from kanon_sql.recode import RecodingSummary
from kanon_sql.spec import (
    HIDDEN,
    ON_REQUEST,
    Count,
    Displayed,
    Document,
    Keywords,
    LevelNames,
    Levels,
    Like,
    Nonnegative,
    Positive,
    Share,
    Text,
    VerdictResult,
    WarningOptions,
)
from kanon_sql.verbs.details import Details
from kanon_sql.verbs.steps import AppliedSteps

if TYPE_CHECKING:
    from kanon_sql.objects import Released
    from kanon_sql.spec import Spec

__all__ = [
    "AnyResult",
    "AppliedRelease",
    "Charted",
    "Check",
    "Cost",
    "DifferentialPrivacySummary",
    "Generalization",
    "GrowthSummary",
    "InvarianceSummary",
    "LedgerSummary",
    "OtherRecoding",
    "Plan",
    "PublishedRelease",
    "Publishing",
    "RefreshedRelease",
    "Release",
    "Result",
    "Slowest",
    "Utility",
    "Warned",
    "unreleased",
]


PAGE = "docs/reference/warnings.md"

_Positive = Annotated[float, Keywords(exclusiveMinimum=0)]
_Probability = Annotated[float, Keywords(exclusiveMinimum=0, exclusiveMaximum=1)]
_Several = Annotated[int, Keywords(minimum=2)]


class OtherRecoding(TypedDict):
    """What another recoding would lose instead.

    Attributes:
        recoding: its method and options, such as ``local:fast``.
        mean_loss: the mean loss of a cell; None where it is not possible.
        suppressed: rows that it would suppress; None where it is not possible.
        reason: why it is not possible; None where it is.
        stopped: why it ended early; None if it did not.
        statements: those of the cost that it took.
    """

    recoding: str
    mean_loss: Share | None
    suppressed: Count | None
    reason: str | None
    stopped: str | None
    statements: Count


class LedgerSummary(TypedDict):
    """What a release and those of its ledger tell together.

    Attributes:
        table: the ledger.
        earlier: the releases compared with, oldest first.
        coarsened: whether the search was held at the levels that earlier releases have, or above.
        refused: how many generalizations were compared before this one, and were not safe.
        changed: releases that the source no longer gives: nothing is known of them.
        classes: the joint classes; empty when there is nothing to compare with.
        achieved: per requirement of any of the releases, what the joint classes reach.
    """

    table: str
    earlier: Sequence[str]
    coarsened: bool
    refused: Count
    changed: Sequence[str]
    classes: MaybeClasses
    achieved: AllReached


class Accuracy(TypedDict):
    """The share of tested rows whose value is predicted correctly; None for fewer than 20 rows.

    Attributes:
        source: by a classifier that is trained on the source.
        release: by a classifier that is trained on the release.
        majority: by the most frequent value alone.
    """

    source: Share | None
    release: Share | None
    majority: Share | None


class Utility(TypedDict):
    """How well a classifier (naive Bayes) that is trained on the release predicts a column of held-out source rows.

    Attributes:
        classify: the column.
        folds: how many times a part of the rows was held out.
        classes: its different values.
        tested: rows of the source that have one; all of them are tested once.
        accuracy: the shares that are predicted correctly.
    """

    classify: str
    folds: _Several
    classes: Count
    tested: Count
    accuracy: Accuracy


class Budget(TypedDict):
    """A privacy budget.

    Attributes:
        epsilon: of the guarantee.
        delta: of the guarantee.
    """

    epsilon: Nonnegative
    delta: Nonnegative


class DifferentialPrivacySummary(TypedDict):
    """What the mechanism that made the release guarantees, and what the ledger's releases have spent.

    None of it depends on the rows.

    Attributes:
        epsilon: of the whole run, the choice of levels included.
        delta: of the whole run.
        epsilon_of_search: the part that choosing the levels spent; 0 where they were fixed.
        score: what made levels likelier; None where they were fixed.
        sampling: the probability with which each row was drawn.
        k: classes of fewer drawn rows were left out.
        protects: whose presence the guarantee is about.
        randomness: where the random numbers came from.
        ledger: the ledger that holds the budget.
        spent: by all releases of the ledger, this one included.
        total: the least total that any of them states.
    """

    epsilon: _Positive
    delta: _Probability
    epsilon_of_search: Nonnegative
    score: Literal["precision", "loss", "discernibility", "average_class_size", "entropy", "classification"] | None
    sampling: _Probability
    k: Count
    protects: Literal["rows"]
    randomness: Literal["operating system"]
    ledger: str
    spent: Budget
    total: Budget


class PersonsOfSequence(TypedDict):
    """The persons of a release of a sequence.

    Attributes:
        released_before: persons in a class with the values that their class had before.
        new: persons who were not released before.
    """

    released_before: Count
    new: Count


class ClassesByCounterfeits(TypedDict):
    """Classes with the same number of counterfeits.

    Attributes:
        counterfeits: the number.
        classes: how many classes have it.
    """

    counterfeits: Count
    classes: Count


class InvarianceSummary(TypedDict):
    """A release of an m-invariant sequence: what it satisfies, and the rows in it that belong to no person.

    Attributes:
        m: how many rows, all with different values, a class has at least.
        attribute: the sensitive attribute.
        history: the table that remembers who was released with which values.
        earlier: the releases that this one is m-invariant with, oldest first.
        persons: how many were released before, and how many were not.
        signatures: different sets of values that the classes have.
        counterfeits: rows of no person.
        classes_by_counterfeits: how many classes have each number of counterfeits. Of every class the release itself
            says it, in its column ``counterfeits``.
        rounds: how often classes were halved.
    """

    m: _Several
    attribute: str
    history: str
    earlier: Sequence[str]
    persons: PersonsOfSequence
    signatures: Count
    counterfeits: Count
    classes_by_counterfeits: Sequence[ClassesByCounterfeits]
    rounds: Count


class GrowthSummary(TypedDict):
    """What became of new rows, and of those that left.

    Attributes:
        batch: the number of the last batch that was added; the first release is 1.
        taken: new rows that were read.
        left: rows that were said to have left the source.
        added: rows that were added to the release.
        added_classes: the equivalence classes of the rows that were added; empty when none was.
        added_achieved: per requirement, what the rows that were added reach by themselves.
        removed: rows that were taken out of the release: those that left, and others with them.
        waiting: rows of the source that were never released, and may be: for others like them they wait, or are held.
            They count against suppression.
        held: those among them that are not released, since their persons were before.
        retired: rows of the source that were taken out of the release, and are not released again.
        on_drift: what the spec says to do when more rows would wait than may be suppressed.
        drift: whether more rows would have waited than suppression allows, at the levels that the release had.
        levels: what became of the levels.
        verified: what an independent GROUP BY has looked at.
    """

    batch: Count
    taken: Count
    left: Count
    added: Count
    added_classes: MaybeClasses
    added_achieved: AllReached
    removed: Count
    waiting: Count
    held: Count
    retired: Count
    on_drift: Literal["hold", "coarsen", "research"]
    drift: bool
    levels: Literal["kept", "coarser"]
    verified: Literal["nothing", "what was added", "the whole release"]


class Charted(Displayed):
    """Results with charts."""

    def chart(self, name: str) -> Any:
        """A chart for Altair, which analysts show, restyle and save; see :func:`kanon_sql.altair_chart`.

        Args:
            name: which one, such as ``frontier``; the error for an unknown name lists what there is.

        Raises:
            SpecError: there is no chart of this name.
            UnsupportedError: Altair is not installed.
        """
        from kanon_sql import altair_chart

        return altair_chart(cast("Any", self), name)


@dataclass(frozen=True)
class Warned(Document):
    """A warning of a run.

    Attributes:
        code: which one, the same in every release of kanon_sql; the spec's key ``warnings`` says what becomes of it.
        message: what was found, in a sentence, and what to do; no value of the data.
        page: where the documentation explains it.
        columns: the columns that it is about.
        figures: the figures that the message names.
        severe: it fails the run where the spec leaves that to how much there is of it (``by_share``).
    """

    code: Annotated[str, Keywords(enum=list(WarningOptions.model_fields))]
    message: Text
    page: Text = field(init=False)
    columns: Sequence[str]
    figures: Mapping[str, float | None] = field(default_factory=dict)
    severe: bool = field(default=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "page", f"{PAGE}#{self.code}")


LONG = 10.0
"""Seconds from which on a run says which statement took most of them."""


class Slowest(TypedDict):
    """The one statement that took more than half of a run of ten seconds or longer.

    Attributes:
        statement: its template.
        seconds: how long it took.
    """

    statement: str
    seconds: Nonnegative


@dataclass(frozen=True)
class Cost(Document):
    """What a run asked of the database, and what reached the client.

    Attributes:
        statements: statements executed.
        source_scans: reads of the source.
        rows_fetched: rows of aggregates that reached the client.
        bytes_fetched: the size of these rows as text.
        seconds: wall-clock time of the run.
        slowest: the one statement that took more than half of a long run; None where no statement did.
    """

    statements: Count = 0
    source_scans: Count = 0
    rows_fetched: Count = 0
    bytes_fetched: Count = 0
    seconds: Nonnegative = 0.0
    slowest: Slowest | None = field(default=None, metadata=ON_REQUEST)

    @classmethod
    def of(cls, meter: Meter, seconds: float) -> Cost:
        """The cost that a meter has counted."""
        name, longest = meter.longest
        return cls(
            meter.statements,
            meter.source_scans,
            meter.rows_fetched,
            meter.bytes_fetched,
            round(seconds, 3),
            {"statement": name, "seconds": round(longest, 3)} if seconds >= LONG and longest > seconds / 2 else None,
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class Result(Charted, VerdictResult):
    """What the results of ``plan``, ``anonymize``, ``apply``, ``refresh`` and ``check`` have in common.

    Attributes:
        verb: the verb that made it.
        verdict: whether every requirement is met.
        message: the verdict in a sentence.
        release: the release's name; None if there is none.
        rows: how many rows there are, and what became of them.
        classes: the equivalence classes of the release or the checked table; empty when there is none, and for
            ``refresh`` where it did not look at the whole release.
        class_sizes: classes and rows by the size of the class, both ends included; ranges that no class is in are left
            out.
        achieved: requirement, such as ``k_anonymity`` or ``t_closeness(diagnosis)`` -> what is reached, and what
            violates it.
        cost: what the run asked of the database, and what reached the client.
        notes: what the user should know besides.
        warnings: risks that a passing verdict does not cover; each has a code, and a page.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> isinstance(kanon_sql.plan(db, spec), kanon_sql.results.Result)
        True
        >>> kanon_sql.check(db, spec, "visits").raise_for_failure()
        Traceback (most recent call last):
        kanon_sql.errors.RequirementNotMet: visits: 120 of 120 classes (600 rows) violate 8-anonymity
    """

    verb: str = field(init=False)
    verdict: Literal["pass", "fail"]
    message: Text
    release: str | None
    rows: Rows
    classes: MaybeClasses
    class_sizes: Sequence[ClassSizes] = field(default_factory=list)
    achieved: AllReached
    cost: Cost = field(default_factory=Cost)
    notes: Sequence[str] = ()
    warnings: Sequence[Warned] = ()
    sql: Sequence[str] = field(default=(), metadata=HIDDEN)


@dataclass(frozen=True, repr=False, kw_only=True)
class Check(Result):
    """What ``check`` says of a table as it is.

    Attributes:
        release: the checked table's name.
        details: what a report shows besides: counts and shares, no value of the data; None unless asked for.
        revealed: classes that violate a requirement, with their values, the smallest first; None unless asked for.
            These are values of few persons.

    Examples:
        >>> result = kanon_sql.check(db, spec, "visits")
        >>> result.passed, result.rows["source"], result.achieved["k_anonymity"]["k"]
        (False, 600, 5)
    """

    verb: Literal["check"] = "check"
    release: str
    details: Details | None = None
    revealed: Sequence[Annotated[Mapping[str, Any], Like(Failing)]] | None = field(default=None, metadata=ON_REQUEST)


@dataclass(frozen=True, repr=False, kw_only=True)
class Generalization(Result):
    """What verbs say that choose how rows are generalized, or apply what was chosen.

    Attributes:
        node: the chosen generalization, quasi-identifier -> level; None when no node satisfies, and where labels
            differ by class.
        level_names: quasi-identifier -> what each of its levels is called, level 0 first, the top last; None where no
            level is told. A name says how labels are made, and has no value of the data; for a tree of the spec it is
            the tree's first labels.
        recoding: for a recoding whose labels differ by class: what it made; None where every row of a column has one
            level.
        max_suppressed: how many rows the spec lets be suppressed; None where nothing satisfies.
        metrics: quality metrics of the release; lower is better. Of local recoding those that need no node; empty when
            nothing satisfies.
        mean_loss: the mean over the cells of the share of detail lost, columns weighted as the spec says; a suppressed
            cell has lost everything. The same figure for every recoding. None when nothing satisfies.
        search: what the search did; None for local recoding, which searches no lattice.
        utility: how well the column that the spec names can be predicted from the release; None where it names none,
            and where nothing was found.
        steps: the release steps that were done before classes were made; None without steps.
        details: what a report shows besides: counts and shares, no value of the data; None unless asked for.
    """

    node: Levels | None
    level_names: LevelNames | None = None
    recoding: RecodingSummary | None = None
    max_suppressed: Count | None = None
    metrics: Mapping[str, float]
    mean_loss: Share | None = None
    search: SearchSummary | None
    utility: Utility | None = None
    steps: AppliedSteps | None = None
    details: Details | None = None

    @property
    def stopped(self) -> str | None:
        """Why the search or the recoding ended early, in words; None if it did not."""
        if self.recoding is not None:
            return self.recoding["stopped"]
        return None if self.search is None else self.search.stopped

    def to_dict(self, *, all_minimal: bool = False) -> dict[str, Any]:
        """One JSON-compatible object.

        Args:
            all_minimal: list all k-minimal generalizations, not only their number, and the locally minimal ones.
        """
        found = super().to_dict()
        if all_minimal and self.search is not None:
            found["search"] |= self.search.listed()
        return found


@dataclass(frozen=True, repr=False, kw_only=True)
class Plan(Generalization):
    """What ``plan`` found: what a release would be.

    Attributes:
        intervals: for algorithms that choose intervals: quasi-identifier -> how many intervals its released values are
            in, for those at level 1 of ``node``. The levels of ``node`` are then 0, the value; 1, the interval; 2, the
            top. None for other algorithms, and without a node.
        other_recoding: what another recoding would lose instead; None where it was not asked for, and when nothing
            satisfies.

    Examples:
        >>> result = kanon_sql.plan(db, spec)
        >>> result.passed, result.rows["released"], result.classes["smallest"]
        (True, 600, 10)
        >>> result.cost.source_scans
        1
        >>> list(result.to_dict())[:4]
        ['verb', 'verdict', 'message', 'release']
    """

    verb: Literal["plan"] = "plan"
    intervals: Mapping[str, Positive] | None = None
    other_recoding: OtherRecoding | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class Publishing(Result):
    """The result of a verb that publishes: the release can be had as a table of the program's.

    Attributes:
        manifest: the published manifest; None unless published.
        released: the release as a table of the program's, where the verb was given one; else None.
    """

    manifest: Mapping[str, Any] | None = field(default=None, metadata=HIDDEN)
    released: Released | None = field(default=None, compare=False, metadata=HIDDEN)

    def to_frame(self) -> Any:
        """The release as a table of the kind that ``anonymize`` was given.

        Raises:
            UnsupportedError: there is no release, or it is a table in a database.
        """
        return self._release().to_frame()

    def to_pandas(self) -> Any:
        """The release as a pandas DataFrame, where ``anonymize`` was given a table.

        Raises:
            UnsupportedError: there is no release, it is a table in a database, or pandas is not installed.
        """
        return self._release().to_pandas()

    def to_polars(self) -> Any:
        """The release as a polars DataFrame, where ``anonymize`` was given a table.

        Raises:
            UnsupportedError: there is no release, it is a table in a database, or polars is not installed.
        """
        return self._release().to_polars()

    def to_arrow(self) -> Any:
        """The release as a pyarrow Table, where ``anonymize`` was given a table.

        Raises:
            UnsupportedError: there is no release, it is a table in a database, or pyarrow is not installed.
        """
        return self._release().to_arrow()

    def _release(self) -> Released:
        if self.released is not None:
            return self.released
        if self.manifest is None:
            raise UnsupportedError(f"there is no release to read; {self.message}")
        raise UnsupportedError(
            f"the release is the table {self.release} of the database; read it there. A release comes out as a table "
            "only if anonymize was given one"
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class PublishedRelease(Generalization, Publishing):
    """What verbs say that publish what was chosen.

    Attributes:
        ledger: what the release and those of its ledger tell together; None without a ledger.
    """

    ledger: LedgerSummary | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class Release(PublishedRelease):
    """What ``anonymize`` published, or why it published nothing.

    Attributes:
        intervals: for algorithms that choose intervals: quasi-identifier -> how many intervals its released values are
            in, as in a plan. None for other algorithms, and without a node.
        differential_privacy: what the mechanism that made the release guarantees; None unless it was asked for.
        m_invariance: for a release of an m-invariant sequence: what it satisfies; None unless it was asked for.

    Examples:
        >>> result = kanon_sql.anonymize(db, spec)
        >>> result.passed, result.node, result.classes["smallest"]
        (True, {'age': 1, 'zip': 1}, 10)
    """

    verb: Literal["anonymize"] = "anonymize"
    intervals: Mapping[str, Positive] | None = None
    differential_privacy: DifferentialPrivacySummary | None = None
    m_invariance: InvarianceSummary | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class AppliedRelease(PublishedRelease):
    """What ``apply`` published by a kept recoding, or why it published nothing.

    Examples:
        >>> learning = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": {"save_as": "learned"}})
        >>> _ = kanon_sql.anonymize(db, learning)
        >>> kanon_sql.apply(db, spec, "learned", source="visits", release="visits_again").passed
        True
    """

    verb: Literal["apply"] = "apply"


@dataclass(frozen=True, repr=False, kw_only=True)
class RefreshedRelease(Publishing):
    """What ``refresh`` added to a release and took out of it, or why it changed nothing.

    Attributes:
        release: the release's name.
        node: the levels of the release, quasi-identifier -> level.
        level_names: quasi-identifier -> what each of its levels is called; None where no row was read.
        refresh: what became of new rows, and of those that left.

    Examples:
        >>> growing = kanon_sql.Spec.from_dict({**spec.to_dict(), "release": "visits_growing", "state": "kanon_state"})
        >>> _ = kanon_sql.anonymize(db, growing)
        >>> result = kanon_sql.refresh(db, growing, inserted="SELECT * FROM visits WHERE age < 30", batch="young")
        >>> result.refresh["added"], result.release
        (100, 'visits_growing')
    """

    verb: Literal["refresh"] = "refresh"
    release: str
    node: Levels
    level_names: LevelNames | None = None
    refresh: GrowthSummary


AnyResult = Plan | Release | AppliedRelease | RefreshedRelease | Check
"""The results that one schema describes."""

R = TypeVar("R", bound=Result)
G = TypeVar("G", bound=Generalization)


def redacted_log(meter: Meter) -> tuple[str, ...]:
    """Every statement of a run with its values redacted."""
    return tuple(statement.redacted for statement in meter.log)


def names_for_manifest(spec: Spec, names: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What levels are called, for a manifest; those of trees by their numbers, since manifests do not hold labels."""
    return {
        name: [own[0], *(f"level {level} of the tree" for level in range(1, len(own) - 1)), own[-1]]
        if spec.quasi_identifiers[name].hierarchy.in_spec
        else list(own)
        for name, own in names.items()
    }


def unpublished(result: R, why: str) -> R:
    """The result of a release that was made and may not be published: the verdict is ``fail``."""
    return replace(result, verdict="fail", message=f"nothing was published: {why}")


def unreleased(kind: type[G], found: NothingToSearch | NothingFound, message: str) -> G:
    """The result of a search without a release: the verdict is ``fail``."""
    return kind(
        verdict="fail",
        message=message,
        release=None,
        node=None,
        rows=found.rows(),
        classes={},
        achieved={},
        metrics={},
        search=found.summary(),
        notes=found.notes,
        level_names=found.level_names,
    )
