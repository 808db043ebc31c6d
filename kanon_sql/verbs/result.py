"""What every verb returns: verdicts are values, one shape of dictionary for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast

from kanon_sql.engines import Meter
from kanon_sql.errors import RequirementNotMet, UnsupportedError
from kanon_sql.search import Explained
from kanon_sql.spec import HIDDEN, ON_REQUEST, Count, Displayed, Document, Keywords, Nonnegative, Text, WarningOptions

if TYPE_CHECKING:
    from kanon_sql.objects import Released
    from kanon_sql.spec import Spec
    from kanon_sql.verbs.details import Details

from kanon_sql.evaluate import Distances, MaybeClasses, NothingFound, NothingToSearch, SearchSummary

__all__ = [
    "Charted",
    "Cost",
    "Result",
    "Slowest",
    "Warned",
    "unreleased",
]


PAGE = "docs/reference/warnings.md"


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


@dataclass(frozen=True, repr=False)
class Result(Charted, Document):
    """The result of ``plan``, ``anonymize``, ``apply``, ``refresh`` or ``check``.

    Attributes:
        verb: the verb that made it.
        verdict: ``pass`` or ``fail``.
        message: the verdict in a sentence.
        release: the release's name, or the checked table's; None if there is none.
        node: quasi-identifier -> level; None when no node satisfies, or for ``check``.
        level_names: quasi-identifier -> what each of its levels is called, level 0 first; None where no level is told.
            A name says how labels are made, and has no value of the data.
        intervals: quasi-identifier -> how many intervals its released values are in, for the columns that are
            released as intervals; None for algorithms that choose levels. For algorithms that choose intervals,
            level 0 of ``node`` is the value, level 1 the interval and level 2 the top.
        rows: ``source``, ``released``, ``suppressed`` (and ``masked``, ``persons`` where they apply).
        classes: ``count``, ``smallest``, ``average``, ``largest``.
        class_sizes: how many classes and rows there are, by the size of the class.
        achieved: requirement -> the value that is reached, and how many classes and rows violate it.
        metrics: metric -> its value at the node.
        mean_loss: the mean over the cells of the share of detail lost, columns weighted as the spec says: the one
            figure that all recodings have in common. None for ``check``, and without a release.
        other_recoding: for a plan that was asked for it: what another recoding would lose: ``recoding``,
            ``mean_loss``, ``suppressed``, ``stopped``, ``statements``, and the ``reason`` where it is not possible.
        search: what the search did; None for ``check``.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        sql: every statement that ran, in order, with values redacted.
        manifest: the published manifest; None unless published.
        lattice: what is known about every node; None unless asked for.
        distances: the matrix of distance vectors; None unless asked for.
        revealed: classes that violate a requirement, with their values; None unless asked for.
        details: what a report shows besides; None unless asked for.
        ledger: what the release and those of its ledger tell together; None without a ledger.
        recoding: for a local recoding, which has no node: its method, rounds and partitions, the mean loss per column,
            and how many labels and rows each level has; None where every row of a column has one level.
        steps: the release steps that were done before classes were made, and how many rows were drawn; None without.
        utility: how well the column that the spec names can be told from the release; None where it names none.
        differential_privacy: the mechanism's epsilon and delta, the sampling probability and k that follow from them,
            and what the ledger's releases have spent; None unless it was asked for.
        m_invariance: the history and the earlier releases of the sequence, how many persons were released before, and
            how many counterfeits there are, by class; None unless it was asked for.
        refresh: for ``refresh``: how many rows were ``taken``, ``added`` and ``removed``, how many are ``waiting``,
            ``held`` and ``retired``, and what became of the levels; None for other verbs.
        warnings: risks that a passing verdict does not cover; each has a code, and a page.
        released: the release as a table of the program's, where ``anonymize`` was given one; else None.

    Examples:
        >>> result = kanon_sql.plan(db, spec)
        >>> result.passed, result.rows["released"], result.classes["smallest"]
        (True, 600, 10)
        >>> result.cost.source_scans
        1
        >>> sorted(result.to_dict())[:3]
        ['achieved', 'class_sizes', 'classes']
    """

    verb: Literal["plan", "anonymize", "check", "apply", "refresh"]
    verdict: Literal["pass", "fail"]
    message: str
    release: str | None
    node: Mapping[str, int] | None
    rows: Mapping[str, int]
    classes: MaybeClasses
    achieved: Mapping[str, Mapping[str, Any]]
    metrics: Mapping[str, float]
    search: SearchSummary | None
    cost: Cost
    notes: Sequence[str] = ()
    sql: Sequence[str] = field(default=(), repr=False)
    manifest: Mapping[str, Any] | None = field(default=None, repr=False)
    lattice: Sequence[Explained] | None = field(default=None, repr=False)
    distances: Distances | None = field(default=None, repr=False)
    intervals: Mapping[str, int] | None = None
    class_sizes: Sequence[Mapping[str, int | None]] = ()
    revealed: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False)
    details: Details | None = field(default=None, repr=False)
    ledger: Mapping[str, Any] | None = None
    recoding: Mapping[str, Any] | None = None
    mean_loss: float | None = None
    other_recoding: Mapping[str, Any] | None = None
    differential_privacy: Mapping[str, Any] | None = None
    m_invariance: Mapping[str, Any] | None = None
    refresh: Mapping[str, Any] | None = None
    steps: Mapping[str, Any] | None = None
    utility: Mapping[str, Any] | None = None
    warnings: Sequence[Warned] = ()
    released: Released | None = field(default=None, repr=False, compare=False)
    level_names: Mapping[str, Sequence[str]] | None = None

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"

    @property
    def stopped(self) -> str | None:
        """Why the search or the recoding ended early, in words; None if it did not."""
        if self.recoding is not None:
            return self.recoding["stopped"]  # type: ignore[no-any-return]
        return None if self.search is None else self.search.stopped

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
        if self.verb not in ("anonymize", "apply", "refresh"):
            raise UnsupportedError(f"{self.verb} does not publish; use anonymize")
        if self.manifest is None:
            raise UnsupportedError(f"there is no release to read; {self.message}")
        raise UnsupportedError(
            f"the release is the table {self.release} of the database, and is read there; only what anonymize makes of "
            "a table that it is given comes out as a table"
        )

    def raise_for_failure(self) -> Result:
        """Return this result, or raise :class:`RequirementNotMet` if the verdict is ``fail``."""
        if not self.passed:
            raise RequirementNotMet(self.message, self)
        return self

    def to_dict(self, *, all_minimal: bool = False) -> dict[str, Any]:
        """Return one JSON-compatible object, which has the same keys for every verb.

        Args:
            all_minimal: list all k-minimal generalizations, not only their number, and the locally minimal ones.
        """
        search = None
        if self.search is not None:
            found = self.search.minimal
            search = {
                "algorithm": self.search.algorithm,
                "proven": self.search.proven,
                "criterion": self.search.criterion,
                "nodes_total": self.search.nodes_total,
                "nodes_evaluated": self.search.nodes_evaluated,
                "nodes_inferred": self.search.nodes_inferred,
                "minimal_nodes": None if found is None else len(found),
                "runners_up": [dict(item) for item in self.search.runners_up],
                "stopped": self.search.stopped,
                "frequency_sets": self.search.frequency_sets,
                "base_reads": self.search.base_reads,
                "matrix": None if self.search.matrix is None else dict(self.search.matrix),
            }
            if self.lattice is not None:
                search["lattice"] = [asdict(item) for item in self.lattice]
            if self.distances is not None:
                search["distances"] = self.distances.to_dict()
            if all_minimal and found is not None:
                search["minimal"] = [list(node) for node in found]
                local = self.search.locally_minimal
                search["locally_minimal"] = None if local is None else [list(node) for node in local]
        revealed = {} if self.revealed is None else {"revealed": [dict(item) for item in self.revealed]}
        return {
            "verb": self.verb,
            "verdict": self.verdict,
            "message": self.message,
            "release": self.release,
            "node": None if self.node is None else dict(self.node),
            "level_names": None if self.level_names is None else {k: list(v) for k, v in self.level_names.items()},
            "intervals": None if self.intervals is None else dict(self.intervals),
            "recoding": None if self.recoding is None else dict(self.recoding),
            "rows": dict(self.rows),
            "classes": dict(self.classes),
            "class_sizes": [dict(item) for item in self.class_sizes],
            "achieved": {key: dict(value) for key, value in self.achieved.items()},
            "metrics": dict(self.metrics),
            "mean_loss": self.mean_loss,
            "other_recoding": None if self.other_recoding is None else dict(self.other_recoding),
            "search": search,
            "cost": self.cost.to_dict(),
            "notes": list(self.notes),
            "warnings": [item.to_dict() for item in self.warnings],
            "details": None if self.details is None else self.details.to_dict(),
            "ledger": None if self.ledger is None else dict(self.ledger),
            "utility": None if self.utility is None else dict(self.utility),
            "steps": None if self.steps is None else dict(self.steps),
            "differential_privacy": None if self.differential_privacy is None else dict(self.differential_privacy),
            "m_invariance": None if self.m_invariance is None else dict(self.m_invariance),
            "refresh": None if self.refresh is None else dict(self.refresh),
            **revealed,
        }


def redacted_log(meter: Meter) -> tuple[str, ...]:
    """Every statement of a run with its values redacted."""
    return tuple(statement.redacted for statement in meter.log)


def names_for_manifest(spec: Spec, names: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What levels are called, for a manifest; without the labels of trees, which manifests do not hold."""
    return {name: list(own) for name, own in names.items() if not spec.quasi_identifiers[name].hierarchy.in_spec}


def unreleased(
    verb: Literal["plan", "anonymize", "apply"], found: NothingToSearch | NothingFound, message: str
) -> Result:
    """The result of a search without a release: the verdict is ``fail``."""
    return Result(
        verb=verb,
        verdict="fail",
        message=message,
        release=None,
        node=None,
        rows=found.rows(),
        classes={},
        class_sizes=[],
        achieved={},
        metrics={},
        search=found.summary(),
        cost=Cost(),
        notes=found.notes,
        level_names=found.level_names,
    )
