"""Samarati's matrix of distance vectors, to be looked at: which vectors meet at which levels, and no value of any.

Source: Samarati 2001, "Protecting respondents' identities in microdata release", section 4 and figure 6.
The search counts with a folded form of it (:mod:`kanon_sql.evaluate.distance_vectors`) that never leaves the database.
This one has a row per outlier and vector, so it is refused above a size at which no one would read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.errors import Obstacle, SearchTooLarge, UnsupportedError, VerificationError
from kanon_sql.evaluate.distance_vectors import distances_of
from kanon_sql.frequency import FrequencySets
from kanon_sql.models import PrivacyModel
from kanon_sql.search import Node
from kanon_sql.spec import Count, Document, LevelVector, Positive, plain

__all__ = ["MOST_SHOWN", "Distances", "ShownDistances", "distances_between", "matrix_obstacles", "outlier_size"]

MOST_SHOWN = 10_000
"""The most pairs of an outlier and a vector that are fetched and shown."""


class VectorSize(TypedDict):
    """A vector of values.

    Attributes:
        number: its number, from 1.
        size: its rows or persons; None for an outlier, which has fewer than k.
    """

    number: Count
    size: Positive | None


class OutlierDistances(TypedDict):
    """The distance vectors of an outlier.

    Attributes:
        number: its number as a vector.
        distances: to every vector, in their order: per column the lowest level at which both have the same label.
    """

    number: Count
    distances: Sequence[LevelVector]


class ShownDistances(TypedDict):
    """The distance vectors between outliers, of fewer than k rows, and all vectors of values.

    Attributes:
        k: fewer rows or persons than this make an outlier.
        columns: the quasi-identifiers, in the order of the distances.
        vectors: the vectors of values; their numbers say nothing of their values.
        outliers: the vectors of fewer than k rows or persons.
    """

    k: Count
    columns: Sequence[str]
    vectors: Sequence[VectorSize]
    outliers: Sequence[OutlierDistances]


@dataclass(frozen=True)
class Distances(Document):
    """The distance vectors between outliers and all distinct vectors of values.

    Vectors have numbers that say nothing of their values: those of k rows or more come first, the largest before the
    others, then the outliers, and those alike by their distances; only what all this leaves open is in the order of
    the database.

    Attributes:
        k: fewer rows (or persons) than this make an outlier.
        columns: the quasi-identifiers, in the order of the distances.
        sizes: per vector its rows (or persons); None for an outlier, of which it is told that they are fewer than k.
        matrix: per outlier, in the order of the vectors, the distance vector to each vector: per quasi-identifier
            the lowest level at which both have the same label.
    """

    k: int
    columns: tuple[str, ...]
    sizes: tuple[int | None, ...]
    matrix: tuple[tuple[Node, ...], ...]

    @property
    def outliers(self) -> tuple[int, ...]:
        """The numbers of the vectors that are outliers, from 1."""
        return tuple(number for number, size in enumerate(self.sizes, 1) if size is None)

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object."""
        shown: ShownDistances = {
            "k": self.k,
            "columns": self.columns,
            "vectors": [{"number": number, "size": size} for number, size in enumerate(self.sizes, 1)],
            "outliers": [
                {"number": number, "distances": distances}
                for number, distances in zip(self.outliers, self.matrix, strict=True)
            ],
        }
        found: dict[str, Any] = plain(shown)
        return found


def outlier_size(models: Sequence[PrivacyModel]) -> int | None:
    """The k below which a vector is an outlier; None where no requirement asks for a size of the classes."""
    asked = [model.least_size for model in models if model.quasi_identifiers is None and model.least_size is not None]
    return max(asked, default=None)


def matrix_obstacles(models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Requirements that make no vector an outlier."""
    if outlier_size(models) is None:
        yield Obstacle(
            "--show matrix: an outlier is a vector of fewer than k rows, and no requirement says how many these are; "
            "add k_anonymity, or leave --show matrix out"
        )


def distances_between(workspace: Workspace, sets: FrequencySets, k: int) -> Distances:
    """Fetch the matrix: numbers of vectors, levels, and the sizes of vectors of at least k.

    Args:
        workspace: where the frequency sets are.
        sets: the frequency sets.
        k: see :func:`outlier_size`.

    Raises:
        SearchTooLarge: more than :data:`MOST_SHOWN` pairs.
        UnsupportedError: sizes of vectors do not add up to those of classes.
        VerificationError: the matrix that came back is not one of these vectors.
    """
    if sets.counting == "unit":
        raise UnsupportedError(
            "--show matrix: an outlier is told by the size of its vector, but one person has rows with several "
            "vectors; leave --show matrix out"
        )
    lookups = [lookup for lookup in sets.lookups if lookup.height]
    shared = {
        "frequency": sets.base,
        "size": "row_count" if sets.counting == "rows" else "person_count",
        "k": k,
    }
    counted = workspace.row("evaluate/distance_vectors/size", **shared)
    vectors, outliers, rows, _ = (int(count or 0) for count in counted)
    refuse_incomplete("evaluate/distance_vectors/size", rows, sets.kept_rows)
    pairs = vectors * outliers
    if pairs > MOST_SHOWN:
        raise SearchTooLarge(
            f"--show matrix would show {outliers:,} outliers by {vectors:,} distinct vectors: {pairs:,} distance "
            f"vectors (at most {MOST_SHOWN:,}). Leave --show matrix out, or use fewer quasi-identifiers; samarati with "
            "search.distance_vectors computes with larger ones."
        )
    numbered = workspace.table("numbered_vectors")
    workspace.execute("evaluate/distance_vectors/vectors", target=numbered, words=sets.codes.words, **shared)
    distances = distances_of(sets.codes, lookups)
    found = workspace.fetch(
        "evaluate/distance_vectors/pairs", pairs + 1, vectors=numbered, lookups=lookups, distances=distances, k=k
    )
    workspace.drop(numbered)
    sizes: dict[int, int | None] = {}
    between: dict[int, dict[int, Node]] = {}
    for outlier, vector, size, *levels in found:
        own = iter(int(level) for level in levels)
        distance = tuple(next(own) if lookup.height else 0 for lookup in sets.lookups)
        sizes[int(vector)] = None if size is None else int(size)
        between.setdefault(int(outlier), {})[int(vector)] = distance
    small = [vector for vector, size in sizes.items() if size is None]
    if (len(found), len(between), set(small)) != (pairs, outliers, set(between)):
        raise VerificationError(
            "the matrix of distance vectors does not have every outlier and every vector once; please report this with "
            "the engine's version"
        )
    return _in_order(k, tuple(lookup.name for lookup in sets.lookups), sizes, between)


def _in_order(
    k: int, columns: tuple[str, ...], sizes: dict[int, int | None], between: dict[int, dict[int, Node]]
) -> Distances:
    """Number the vectors by what is shown of them, so that no number tells a place in the order of their values."""

    def place(vector: int) -> tuple[bool, int, list[Node], list[tuple[int, Node]], int]:
        size = sizes[vector]
        from_outliers = sorted(own[vector] for own in between.values())
        to_sizes = sorted((-(sizes[other] or 0), distance) for other, distance in between.get(vector, {}).items())
        return size is None, -(size or 0), from_outliers, to_sizes, vector

    order = sorted(sizes, key=place)
    return Distances(
        k=k,
        columns=columns,
        sizes=tuple(sizes[vector] for vector in order),
        matrix=tuple(
            tuple(between[outlier][vector] for vector in order) for outlier in order if sizes[outlier] is None
        ),
    )
