"""What a report shows beyond a result: histograms, losses, the lattice by height, what ran.

It is asked for with ``details=True``; it costs one statement and no scan of the source. Everything in it is a count,
a share, or a name out of the spec; it has no value of the data, except for the labels of distributions, which are
asked for by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict

from kanon_sql.engines import Engine, Workspace, now
from kanon_sql.evaluate import Answered, Bin, Chosen, Counted, Searched, Table, count_classes, groupings
from kanon_sql.models import Distance, PrivacyModel
from kanon_sql.recode import RecodingResult
from kanon_sql.search import Known, Lattice, Node
from kanon_sql.spec import Count, Document, Keywords, LevelVector, Nonnegative, Positive, Share, Spec
from kanon_sql.sql import Statement
from kanon_sql.version import __version__

__all__ = [
    "AttributeDetails",
    "CellDetails",
    "Details",
    "Distance",
    "DistanceDetails",
    "DistributionDetails",
    "HeightDetails",
    "LatticeDetails",
    "NodeDetails",
    "RangeDetails",
    "SolutionDetails",
    "TableDetails",
    "counted_anyway",
    "of_search",
    "of_table",
    "with_statements",
]

LISTED = 150
"""A lattice of this many nodes is drawn node by node."""

EXPLAINED = 100_000
"""Of a lattice with more nodes only the number per height is given."""

SOLUTIONS = 100
"""At most this many of the satisfying nodes that were measured are listed, the best ones."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class RangeDetails(_Part):
    """Some classes by size or by distance; see :class:`kanon_sql.evaluate.class_counts.Bin`.

    Attributes:
        low: the least size, included, or the distance that they are above.
        high: the largest size or distance, included; None where there is no upper end.
        classes: how many classes.
        records: rows in them, or persons.
    """

    low: Nonnegative
    high: Nonnegative | None
    classes: Count
    records: Count


class DistanceDetails(_Part):
    """The distances of a sensitive attribute's values in the classes from those in the whole source.

    Attributes:
        attribute: its name.
        distance: between two values: ``equal`` for all, ``ordered`` (by rank) or ``hierarchical``.
        t: the distance that a class may have; None where none was asked for.
        ranges: the classes by distance, nearest first.
    """

    attribute: str
    distance: Distance = "equal"
    t: float | None
    ranges: tuple[RangeDetails, ...]


class RiskDetails(_Part):
    """How likely an attacker who knows the quasi-identifiers finds the right record.

    Definitions: El Emam, Guide to the De-Identification of Personal Health Information (2013), chapter 16, with the
    table as the population (prosecutor). The journalist's risk needs a population table.

    Attributes:
        highest: prosecutor risk of the record at most risk: 1 / the smallest class.
        average: marketer risk: the share of records that a guess per class is right about: classes / records.
        unique: share of records that are alone in their class.
        above: share of records at a risk above 1 / k; None where no k was asked for.
    """

    highest: Share
    average: Share
    unique: Share
    above: Share | None


class TableDetails(_Part):
    """The classes of one table.

    Attributes:
        name: ``source``, ``release``, or ``table`` for one that was checked.
        classes: how many.
        records: rows (or persons, as ``counted`` says) in them.
        sizes: the classes by size.
        distances: per sensitive attribute.
        risk: None for a table without records.
    """

    name: Annotated[str, Keywords(enum=["source", "release", "table"])]
    classes: Count
    records: Count
    sizes: tuple[RangeDetails, ...]
    distances: tuple[DistanceDetails, ...]
    risk: RiskDetails | None


class AttributeDetails(_Part):
    """One quasi-identifier at the chosen node.

    Attributes:
        name: the column's.
        level: of its hierarchy.
        minimum, maximum: the lowest and the highest level that it may have.
        height: the highest level of its hierarchy.
        loss: the share of its detail that is lost, suppressed rows included.
    """

    name: str
    level: Count
    minimum: Count
    maximum: Count
    height: Count
    loss: Share


class HeightDetails(_Part):
    """The nodes of one height.

    Attributes:
        height: the sum of the levels.
        nodes: how many nodes there are.
        known: what is known -> of how many nodes; None for a lattice that is too large to say.
        minimal: how many of them are k-minimal.
    """

    height: Count
    nodes: Count
    known: Annotated[dict[Known, Count] | None, Keywords(propertyNames={"enum": list(get_args(Known))})]
    minimal: Count


class NodeDetails(_Part):
    """One node of a small lattice.

    Attributes:
        node: the vector of levels.
        known: what is known about it.
        minimal: whether it is k-minimal.
    """

    node: LevelVector
    known: Known
    minimal: bool


class LatticeDetails(_Part):
    """The lattice: by height, and node by node where it is small.

    Attributes:
        attributes: the quasi-identifiers, in the order of the levels.
        heights: the nodes by height.
        nodes: the nodes; None for a lattice that is too large to draw.
    """

    attributes: tuple[str, ...]
    heights: tuple[HeightDetails, ...]
    nodes: tuple[NodeDetails, ...] | None


class SolutionDetails(_Part):
    """A satisfying node that was measured.

    Attributes:
        node: the vector of levels.
        generalization: the mean share of its hierarchies that is climbed, 0 to 1 (Sweeney 2002's precision, turned).
        suppressed: rows suppressed.
        metric: the metric that was searched for.
    """

    node: LevelVector
    generalization: Share
    suppressed: Count
    metric: float | None


class CellDetails(_Part):
    """A label, or several that are merged, and how many rows have it.

    Attributes:
        label: as it is released; None for NULL, and for merged labels.
        source: rows of the source; None where the source may not be shown.
        released: rows of the release.
        merged: whether these are the labels that are not shown by themselves.
    """

    label: str | None
    source: Count | None
    released: Count
    merged: bool


class DistributionDetails(_Part):
    """How the rows are distributed over the labels of a column; see :mod:`kanon_sql.verbs.distributions`.

    Attributes:
        name: the column's.
        level: of its hierarchy; None for a sensitive attribute.
        least: a label with fewer rows is merged with others.
        source: whether the source's rows are shown beside the release's.
        cells: the labels in order, the merged ones last; none where a small count would follow from any of them, and
            where a person has several labels.
        counted: what the counts are of, ``rows`` or ``persons``.
    """

    name: str
    level: Count | None
    least: Annotated[int, Keywords(minimum=2)]
    source: bool
    cells: tuple[CellDetails, ...]
    counted: Literal["rows", "persons"] = "rows"


class Details(Document, _Part):
    """What a report shows beyond a result.

    Attributes:
        run_id: which run.
        at: when, in UTC, ISO 8601.
        engine: the database's name and version.
        version: of kanon_sql.
        counted: what classes count: ``rows`` or ``persons``.
        k: the largest k asked of these classes; None if none was.
        tables: the source and the release, or the checked table.
        attributes: per quasi-identifier; none without a node.
        lattice: None for ``check``, where there is nothing to search, and for algorithms that choose intervals.
        solutions: the satisfying nodes that were measured, best first.
        distributions: of the rows over the labels of each column; empty unless asked for.
        statements: template -> how many statements of it ran.
        spec: without credentials, literals of SQL, or labels of trees.
    """

    run_id: str
    at: str
    engine: str
    version: str
    counted: Literal["rows", "persons"]
    k: Positive | None
    tables: tuple[TableDetails, ...]
    attributes: tuple[AttributeDetails, ...] = ()
    lattice: LatticeDetails | None = None
    solutions: tuple[SolutionDetails, ...] = ()
    distributions: tuple[DistributionDetails, ...] = ()
    statements: dict[str, Count] = {}
    spec: dict[str, Any]

    def of_release_alone(self) -> Details:
        """The same without the classes and the labels of the source: for those to read who may read the release."""
        tables = tuple(item for item in self.tables if item.name != "source")
        return self.model_copy(update={"tables": tables, "distributions": ()})

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object."""
        return self.model_dump(mode="json")


def counted_anyway(engine: Engine, spec: Spec) -> bool:
    """Whether a release has these in its manifest although no report of it was asked for.

    Not where a statement reads the source again, nor where figures of the source may not be told.
    """
    return engine.scratch.mode != "inline" and spec.differential_privacy is None and spec.m_invariance is None


def of_search(found: Searched) -> Details:
    """The details of a search that is over, while its workspace is still open: one statement beside the metrics'."""
    if isinstance(found, RecodingResult):
        return _details(found.workspace, found.spec, found.models, found.tables(), found.sets.counting)
    if not isinstance(found, Answered):
        return _details(found.workspace, found.spec, found.models, [], found.sets.counting)
    evaluator, outcome = found.evaluator, found.outcome
    raw = (0,) * len(found.sets.lookups)
    tables = [evaluator.table("source", raw, kept_only=False)]
    attributes: list[AttributeDetails] = []
    if isinstance(found, Chosen):
        tables.append(evaluator.table("release", found.node, kept_only=True))
        limits = zip(*_limits(found), evaluator.losses(found.node), strict=True)
        attributes = [
            AttributeDetails(name=lookup.name, level=level, minimum=low, maximum=high, height=lookup.height, loss=loss)
            for lookup, level, (low, high, loss) in zip(found.sets.lookups, found.node, limits, strict=True)
        ]
    made = _details(found.workspace, found.spec, found.models, tables, found.sets.counting)
    heights = evaluator.heights
    return made.model_copy(
        update={
            "attributes": tuple(attributes),
            "lattice": None if found.spec.search.of_intervals else _lattice(found, evaluator.question().lattice),
            "solutions": tuple(
                SolutionDetails(
                    node=verdict.node,
                    generalization=_climbed(verdict.node, heights),
                    suppressed=verdict.suppressed,
                    metric=verdict.metric,
                )
                for verdict in outcome.solutions[:SOLUTIONS]
            ),
        }
    )


def of_table(workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], table: Table) -> Details:
    """The details of a table that was checked: one statement."""
    return _details(workspace, spec, models, [table], table.frames.counting)


def with_statements(details: Details | None, log: Iterable[Statement]) -> Details | None:
    """The details with what ran, once the run is over."""
    if details is None:
        return None
    return details.model_copy(update={"statements": dict(sorted(Counter(item.name for item in log).items()))})


def _details(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    tables: Sequence[Table],
    counting: str,
) -> Details:
    own = groupings(models)[None]
    k = max((model.least_size for model in own if model.least_size is not None), default=None)
    workspace.report("counting the classes by size and distance", None)
    counted = count_classes(workspace, tables, own) if tables else []
    return Details(
        run_id=workspace.run_id,
        at=now(),
        engine=f"{workspace.dialect.name} {workspace.engine.version}".strip(),
        version=__version__,
        counted="rows" if counting == "rows" else "persons",
        k=k,
        tables=tuple(_table(table, item, k, own) for table, item in zip(tables, counted, strict=True)),
        spec=spec.redacted(),
    )


def _table(table: Table, counted: Counted, k: int | None, asked: Sequence[PrivacyModel]) -> TableDetails:
    classes, records = (sum(getattr(item, what) for item in counted.sizes) for what in ("classes", "records"))
    return TableDetails(
        name=counted.name,
        classes=classes,
        records=records,
        sizes=tuple(map(_range, counted.sizes)),
        distances=tuple(
            DistanceDetails(
                attribute=model.sensitive,
                distance=model.distance,
                t=model.t if model in asked else None,
                ranges=tuple(map(_range, bins)),
            )
            for model, bins in zip(table.closeness, counted.distances, strict=True)
        ),
        risk=_risk(counted.sizes, classes, records, k) if records else None,
    )


def _range(item: Bin) -> RangeDetails:
    return RangeDetails(low=item.low, high=item.high, classes=item.classes, records=item.records)


def _risk(sizes: Sequence[Bin], classes: int, records: int, k: int | None) -> RiskDetails:
    held = [item for item in sizes if item.records]
    small = sum(item.records for item in held if k is not None and item.low < k)
    return RiskDetails(
        highest=1 / min(item.smallest for item in held if item.smallest),
        average=min(1.0, classes / records),
        unique=sum(item.records for item in held if item.low == 1 == item.high) / records,
        above=None if k is None else small / records,
    )


def _limits(found: Chosen) -> tuple[Node, Node]:
    """The lowest and the highest level of each quasi-identifier; the spec's hold for the hierarchies as given."""
    evaluator = found.evaluator
    if found.labelled is not None:
        return (0,) * len(evaluator.heights), evaluator.heights
    lattice = evaluator.question().lattice
    return lattice.bottom, lattice.top


def _climbed(node: Sequence[int], heights: Sequence[int]) -> float:
    shares = [level / height for level, height in zip(node, heights, strict=True) if height]
    return sum(shares) / len(shares) if shares else 0.0


def _lattice(found: Answered, lattice: Lattice) -> LatticeDetails:
    names = tuple(found.spec.quasi_identifiers)
    listed = set(found.outcome.minimal or ())
    minimal = Counter(map(sum, listed))
    if lattice.size > EXPLAINED:
        heights = [
            HeightDetails(height=height, nodes=lattice.count_at(height), known=None, minimal=minimal[height])
            for height in lattice.heights
        ]
        return LatticeDetails(attributes=names, heights=tuple(heights), nodes=None)
    explained = found.explained()
    known: dict[int, Counter[Known]] = {}
    for item in explained:
        known.setdefault(sum(item.node), Counter())[item.known] += 1
    nodes = None
    if lattice.size <= LISTED:
        nodes = tuple(NodeDetails(node=item.node, known=item.known, minimal=item.node in listed) for item in explained)
    return LatticeDetails(
        attributes=names,
        heights=tuple(
            HeightDetails(height=height, nodes=counts.total(), known=dict(counts), minimal=minimal[height])
            for height, counts in sorted(known.items())
        ),
        nodes=nodes,
    )
