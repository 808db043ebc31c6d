"""A recoding that is over: what it made of the frequency sets, and what that loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NotRequired, TypedDict

from kanon_sql.evaluate import (
    Covering,
    Examination,
    NothingToSearch,
    Rows,
    Searched,
    Table,
    achieved_by,
    closeness_of_all,
    flagged_classes,
    node_frames,
)
from kanon_sql.frequency import FrequencySets, holds_all
from kanon_sql.hierarchies import RANGES
from kanon_sql.models import geometric_mean, normalized_share
from kanon_sql.recode.bound import Bound, bound_of
from kanon_sql.recode.judge import Judge
from kanon_sql.recode.release import Column, Mapped
from kanon_sql.search import Node
from kanon_sql.spec import Count, Document, Keywords, Levels, Like, Nonnegative, Share
from kanon_sql.sql import Relation

__all__ = ["NoRecoding", "RecodingResult", "RecodingSummary", "SuppressedCells", "Tried", "highest_levels"]


def highest_levels(sets: FrequencySets) -> Node:
    """The highest levels allowed."""
    return tuple(lookup.highest for lookup in sets.lookups)


@dataclass(frozen=True)
class NoRecoding(NothingToSearch):
    """No class satisfies, not even that of all rows; no lattice was searched."""

    def summary(self) -> None:
        """There was no search."""


@dataclass(frozen=True)
class Tried(Document):
    """What one beginning led to.

    Attributes:
        mean_loss: the mean loss of a cell, columns weighted as the spec says.
        rounds: how many rounds it took.
        steps: how many steps of a sweep.
    """

    mean_loss: Share
    rounds: Count
    steps: Count


class LabelsOfLevel(TypedDict):
    """The labels of one level of a column.

    Attributes:
        labels: how many different labels are released.
        rows: how many rows have one of these.
        nulls: how many of the rows have NULL for their label, which stands for NULL alone; left out where none has.
    """

    labels: Count
    rows: Count
    nulls: NotRequired[Count]


class RecodedColumn(TypedDict):
    """What a recoding did to a column.

    Attributes:
        mean_loss: the mean over its cells of (values under the label - 1) / (values - 1), 1 where suppressed; None
            where numbers are replaced.
        levels: level that some row has -> its labels. Of ranges 0 is a value, 1 a range, and 2 all values.
        aggregate: for ``microaggregation``: what the numbers of a class are replaced by; None where there are labels.
        squares_lost: for ``microaggregation``: the squares of the distances from the released numbers over those from
            the mean; None where there are labels.
    """

    mean_loss: Share | None
    levels: Mapping[str, LabelsOfLevel]
    aggregate: NotRequired[Annotated[str | None, Keywords(enum=["mean", "median", "mode", None])]]
    squares_lost: NotRequired[Nonnegative | None]


class SuppressedCells(TypedDict):
    """The cells of a column that are suppressed in released rows.

    Attributes:
        cells: how many.
        share: of the rows of the source.
        cap: the share that the spec allows; None without a cap.
    """

    cells: Count
    share: Share
    cap: Share | None


class RecodingSummary(TypedDict):
    """A recoding whose labels differ by class.

    Attributes:
        method: how the classes were made.
        variant: the variant of the method, as the spec's reference lists them; None for methods without variants.
        ranges: for ``local`` and ``subtree``: the columns that are released as ranges of their values.
        start: where it began: at the highest levels, at the lowest (for ``subtree``), at the full-domain optimum, or
            with a sweep of nodes; for ``cells``, with all suppressed at its node, or with a sweep there. For ``apply``,
            with the classes that were kept.
        tried: beginning that was tried -> what it led to, in the order in which they were.
        rounds: how often all open partitions were divided.
        stopped: why it ended early; None if it did not.
        partitions: classes with different labels.
        mean_loss: the mean of the columns' mean losses, columns weighted; None where no column has labels.
        bound: what no local recoding with these hierarchies loses less than; None where it was not asked for.
        columns: quasi-identifier -> what was done to it.
        optimal: for ``microaggregation``: whether no other division of the rows with the same labels has smaller
            squares.
        squares_lost: for ``microaggregation``: the mean of the columns' ``squares_lost``, columns weighted. Another
            measure than ``mean_loss``.
        node: for ``cells``: the levels of what is not suppressed.
        nodes: for ``cells``: how many nodes were tried.
        suppressed_cells: for ``cells``: quasi-identifier -> its cells that are suppressed.
        classify: for ``subtree``: the column whose information chose the steps; None where detail did.
    """

    method: str
    variant: str | None
    ranges: Annotated[Sequence[str], Keywords(uniqueItems=True)]
    start: Annotated[str, Keywords(enum=["top", "bottom", "optimum", "sweep", "node", "kept"])]
    tried: Mapping[str, Annotated[Mapping[str, Any], Like(Tried)]]
    rounds: Count
    stopped: str | None
    partitions: Count
    mean_loss: Share | None
    bound: Annotated[Mapping[str, Any], Like(Bound)] | None
    columns: Mapping[str, RecodedColumn]
    optimal: NotRequired[bool]
    squares_lost: NotRequired[Nonnegative]
    node: NotRequired[Levels]
    nodes: NotRequired[Count]
    suppressed_cells: NotRequired[Mapping[str, SuppressedCells]]
    classify: NotRequired[str | None]


@dataclass(frozen=True)
class RecodingResult(Searched):
    """A recoding that is over. Its workspace is still open, and its scratch tables exist.

    Attributes:
        mapped: which vector is released as which class.
        judge: the requirements as every class satisfies them.
        rounds: how many rounds it took.
        violating: rows suppressed since their class violates at the node that the recoding began with.
        stopped: why it ended early, in words; None if it did not.
        start: where it began: ``top``, ``optimum`` or ``sweep``.
        steps: how many steps of a sweep it took.
        tried: per start that was tried, the mean loss (its columns weighted), and the rounds.
    """

    mapped: Mapped
    judge: Judge
    rounds: int
    violating: int
    stopped: str | None
    start: str
    steps: int
    tried: Mapping[str, Tried] = field(default_factory=dict)

    def rows(self) -> Rows:
        """Rows of the source, released and suppressed."""
        suppressed = self.violating + self.sets.null_rows
        return {**super().rows(), "released": self.sets.rows - suppressed, "suppressed": suppressed}

    @property
    def level_names(self) -> dict[str, tuple[str, ...]]:
        """Quasi-identifier -> what each of its levels is called; of ranges, those that this recoding made."""
        return {
            lookup.name: RANGES if lookup.index in self.mapped.ranges else tuple(lookup.level_names)
            for lookup in self.sets.lookups
        }

    def metrics(self) -> dict[str, float]:
        """The quality metrics that are defined without a node, and the mean loss of a cell."""
        rows, suppressed = self.sets.rows, self.rows()["suppressed"]
        shares = [
            column.covered / lookup.domain_rows + suppressed
            for lookup, column in zip(self.sets.lookups, self.mapped.columns, strict=True)
        ]
        weights = [lookup.quasi_identifier.weight for lookup in self.sets.lookups]
        losses = [
            normalized_share(share, rows, lookup.domain_rows)
            for lookup, share in zip(self.sets.lookups, shares, strict=True)
        ]
        return {
            "loss": geometric_mean(losses, [weight / max(weights) for weight in weights]),
            "discernibility": self.mapped.squares + float(suppressed) * rows,
            "average_class_size": rows / (self.mapped.count + (suppressed > 0)),
        }

    def releasable(self) -> Relation | None:
        """A table that holds all that is released, beside the labels of the classes, if there is one."""
        others = [*self.spec.sensitive, *self.spec.keep]
        if not holds_all(self.workspace, self.spec, self.columns, self.sets) or (others and self.mapped.slices):
            return None
        return self.judge.members.get(others[0]) if others else self.mapped.classes

    @property
    def losses(self) -> dict[str, float]:
        """Per column, the mean over its cells of the share of detail lost: (values under the label - 1) / (values - 1).

        A suppressed cell has lost all of it.
        """
        rows, suppressed = self.sets.rows, self.rows()["suppressed"]
        return {
            lookup.name: (
                ((column.covered - self.mapped.rows) / (lookup.domain_rows - 1) + suppressed) / rows
                if lookup.domain_rows > 1
                else suppressed / rows
            )
            for lookup, column in zip(self.sets.lookups, self.mapped.columns, strict=True)
        }

    @property
    def mean_loss(self) -> float:
        """The mean of the columns' losses, weighted as the spec says; at 12 digits, so that engines agree on ties."""
        losses = self.losses
        weights = {lookup.name: lookup.quasi_identifier.weight for lookup in self.sets.lookups if lookup.name in losses}
        if not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0)
        total = sum(weights[name] * loss for name, loss in losses.items())
        return float(f"{total / sum(weights.values()):.12g}")

    def tables(self) -> list[Table]:
        """The classes of the source and of the release to count, and the distance of every sensitive attribute."""
        closeness = closeness_of_all(self.models)
        raw = (0,) * len(self.sets.lookups)
        source = node_frames(self.sets, raw, Covering(raw, self.sets.base, self.sets.values, 0), self.judge.models)
        return [
            Table("source", source, self.sets.kept_rows, closeness),
            Table("release", self.judge.classes(self.mapped.classed), self.mapped.rows, closeness),
        ]

    def achieved(self) -> Examination:
        """What the classes achieve, from the frequency sets."""
        models = self.judge.models
        flagged = flagged_classes(self.judge.classes(self.mapped.classed), models, with_keys=False)
        found = achieved_by(self.workspace, flagged, models, self.mapped.rows)
        return replace(
            found,
            achieved=[replace(item, model=model) for item, model in zip(found.achieved, self.models, strict=True)],
        )

    def bound(self) -> Bound | None:
        """What no recoding with these hierarchies loses less than; None where that cannot be told."""
        return bound_of(self.prepared, highest_levels(self.sets))

    def to_dict(self) -> RecodingSummary:
        """The recoding as it stands in results and manifests."""
        losses, options = self.losses, self.spec.recoding
        return {
            "method": options.method,
            "variant": options.variant,
            "ranges": list(options.ranges or ()),
            "start": self.start,
            "tried": {name: tried.to_dict() for name, tried in self.tried.items()},
            "rounds": self.rounds,
            "stopped": self.stopped,
            "partitions": self.mapped.count,
            "mean_loss": self.mean_loss if losses else None,
            "bound": None,
            "columns": {
                lookup.name: {
                    "mean_loss": losses.get(lookup.name),
                    "levels": {str(level): _labels_of_level(column, level) for level in sorted(column.labels)},
                }
                for lookup, column in zip(self.sets.lookups, self.mapped.columns, strict=True)
            },
        }


def _labels_of_level(column: Column, level: int) -> LabelsOfLevel:
    found: LabelsOfLevel = {"labels": column.labels[level], "rows": column.rows[level]}
    return {**found, "nulls": column.nulls[level]} if level in column.nulls else found
