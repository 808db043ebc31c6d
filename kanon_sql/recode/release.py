"""What the partitions of a recoding are released as: the labels of every class, and what they cost.

A partition's label of a column is the lowest one that all of its vectors have in common. Partitions with the same
labels are one class. The same text may stand at two levels of a hierarchy for different values ("other", a top that is
called like a value): then only the highest of these labels is released, and what has a lower one takes the next label
above it that is clear, so that anyone who reads a label knows what it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kanon_sql.engines import Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.recode.paths import Path
from kanon_sql.recode.range_labels import KINDS, Ranges, ranges_of
from kanon_sql.sql import Relation, Sql, slot

if TYPE_CHECKING:
    from kanon_sql.recode.partitions import Partitions

__all__ = ["Aggregated", "Column", "Cuts", "Mapped", "Suppressed", "described", "mapped", "raised_of"]


@dataclass(frozen=True)
class Column:
    """What a recoding did to one column.

    Attributes:
        labels: per level, how many different labels are released.
        rows: per level, how many rows have one of these.
        nulls: per level, how many of these rows have NULL for their label: it stands for NULL alone.
        covered: domain values under the labels, summed over the released rows.
    """

    labels: Mapping[int, int]
    rows: Mapping[int, int]
    nulls: Mapping[int, int]
    covered: int


@dataclass(frozen=True)
class Aggregated:
    """What a column's numbers are replaced by.

    Attributes:
        function: ``mean``, ``median`` or ``mode`` of the class.
        amount: a number in a column ``value`` in whole units of its last digit.
    """

    function: str
    amount: Sql


@dataclass(frozen=True)
class Suppressed:
    """The suppressed cells of one column.

    Attributes:
        cells: how many cells of released rows there are.
        most: how many there may be.
    """

    cells: int
    most: int


@dataclass(frozen=True)
class Cuts:
    """The cuts of a recoding, to be kept.

    Attributes:
        table: them; a row per cut.
        attributes: the numbers of the columns that could be cut.
        orders: per column that could be cut, what its values are compared as.
    """

    table: Relation
    attributes: Sequence[int]
    orders: Mapping[str, str]


@dataclass(frozen=True)
class Mapped:
    """Which vector is released as which class.

    Attributes:
        classed: every released vector: ``part`` is the number of its class, beside the codes.
        classes: every class: its number ``part``, its rows ``part_rows``, and per column ``label<i>``, ``level<i>``.
        names: the columns of the codes.
        paths: the quasi-identifiers.
        count: how many classes there are.
        rows: rows in them.
        squares: the sum of the squares of the classes' rows.
        columns: per quasi-identifier.
        vectors: every vector, suppressed ones too.
        ranges: by its number, every quasi-identifier whose labels are ranges.
        slices: ``classed`` has slices of the rows of a vector: each this many, after the first ``first_row`` of them.
        suppressed: per quasi-identifier, where the top says that a cell is suppressed; empty where it is a label.
        aggregated: by its number, every quasi-identifier whose label is a number of its class.
        cuts: what the classes were divided by, where that is to be kept; None else.
    """

    classed: Relation
    classes: Relation
    names: Sequence[str]
    paths: Sequence[Path]
    count: int
    rows: int
    squares: float
    columns: Sequence[Column]
    vectors: Relation
    ranges: Mapping[int, Ranges] = field(default_factory=dict)
    slices: bool = False
    suppressed: Sequence[Suppressed] = ()
    aggregated: Mapping[int, Aggregated] = field(default_factory=dict)
    cuts: Cuts | None = None

    @property
    def lost(self) -> int:
        """What all rows together lose by their labels, in whole shares of :data:`kanon_sql.recode.paths.PRICE`."""
        return sum(
            path.share * (column.covered - self.rows) for path, column in zip(self.paths, self.columns, strict=True)
        )


@dataclass(frozen=True)
class _Classes:
    """Partitions by their labels: with these, their vectors, the verdicts, and how many rows violate."""

    joined: Relation
    classed: Relation
    judged: Relation
    violating: int


def mapped(state: Partitions, *, slices: bool = False) -> Mapped:
    """The classes that the partitions of a recoding become, every one of which satisfies.

    Args:
        state: the partitions.
        slices: whether they hold slices of the rows of a vector.

    Raises:
        VerificationError: one does not, although its parts did and the whole does.
    """
    paths, raised = raised_of(state)
    found = _classes(state, state.open, paths, raised, "", slices=slices)
    if found.violating:  # of persons with several rows, classes that satisfy may not do so together
        tables = {"assigned": state.open, "classed": found.classed, "judged": found.judged, "vectors": state.vectors}
        assigned = state.make("restored", "restored", tables, words=state.names, by_person=state.judge.by_person)
        found = _classes(state, assigned, paths, raised, "_restored")
    if found.violating:
        raise VerificationError(
            "the classes of the recoding do not satisfy; please report this with the engine's version"
        )
    ranges = ranges_of(state, state.ranged, state.orders, found.joined)
    tables = {"joined": found.joined, "labels": state.labels}
    tables |= {f"ranges_{index}": own.table for index, own in ranges.items()}
    classes = state.make("class_labels", "classes", tables, attributes=tuple(paths), ranged=tuple(ranges))
    kinds = sum(KINDS if path.index in ranges else path.high - path.low + 1 for path in paths)
    count, rows, squares = state.row("summary", {"classes": classes})
    return Mapped(
        classed=found.classed,
        classes=classes,
        vectors=state.vectors,
        names=state.values,
        paths=paths,
        count=count,
        rows=rows,
        squares=squares,
        slices=slices,
        columns=described(state.workspace, classes, paths, kinds),
        ranges=ranges,
    )


def raised_of(state: Partitions) -> tuple[list[Path], Relation | None]:
    """The quasi-identifiers, marked where some label is not clear, and where such labels go."""
    workspace = state.workspace
    unclear = state.make("unclear", "unclear", {"labels": state.labels})
    statement = workspace.compiler.filled("recode/unclear_columns", {"unclear": workspace.quoted(unclear)})
    found = {int(attribute) for (attribute,) in workspace.query(statement, len(state.paths))}
    raised = state.make("raised", "raised", {"unclear": unclear, "labels": state.labels}) if found else None
    found -= {item.index for item in state.ranged}  # no label of theirs is released
    return [replace(path, raised=path.index in found) for path in state.paths], raised if found else None


def _classes(
    state: Partitions,
    assigned: Relation,
    paths: Sequence[Path],
    raised: Relation | None,
    suffix: str,
    *,
    slices: bool = False,
) -> _Classes:
    """The classes of some partitions: those with the same labels are one."""
    tables = {"assigned": assigned} if raised is None else {"assigned": assigned, "raised": raised}
    ranged = tuple(state.ranged)
    tight = state.make("tight", f"tight{suffix}", tables, attributes=tuple(paths), ranged=ranged)
    labelled = tuple(path for path in paths if path.index not in {item.index for item in ranged})
    joined = state.make("joined", f"joined{suffix}", {"tight": tight}, attributes=labelled, ranged=ranged)
    classed = state.make(
        "classed", f"classed{suffix}", {"assigned": assigned, "joined": joined},
        words=state.values, by_person=state.judge.by_person, slices=slices,
    )  # fmt: skip
    judged = state.judge.judged(f"judged{suffix}", slot("grouped"), ["part"], {"grouped": classed})
    _, violating = state.row("verdict", {"judged": judged})
    return _Classes(joined, classed, judged, violating)


def described(workspace: Workspace, classes: Relation, paths: Sequence[Path], most: int) -> list[Column]:
    """What was done to every column, in one statement.

    Args:
        workspace: where.
        classes: the classes with their labels.
        paths: the quasi-identifiers.
        most: the most levels that labels have, all columns together.
    """
    compiler, quote = workspace.compiler, workspace.compiler.quote
    branches = [
        compiler.filled(
            "recode/described",
            {
                "attribute": str(path.index),
                "level": quote(f"level{path.index}"),
                "label": quote(f"label{path.index}"),
                "label_size": quote(f"label_size{path.index}"),
                "classes": workspace.quoted(classes),
            },
        )
        for path in paths
    ]
    found = sorted(tuple(map(int, row)) for row in workspace.query(compiler.union(branches), most))
    return [
        Column(
            labels={level: labels for index, level, labels, *_ in found if index == path.index},
            rows={level: rows for index, level, _, rows, *_ in found if index == path.index},
            nulls={level: nulls for index, level, _, _, nulls, _ in found if index == path.index and nulls},
            covered=sum(covered for index, *_, covered in found if index == path.index),
        )
        for path in paths
    ]
