"""What several releases tell together, in plain Python over a list of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import kanon_sql
from kanon_sql.models.privacy import model_of as privacy_model
from kanon_sql.spec import parse_requirement
from tests.oracles.model import Hierarchy, Requirement, Row, classes, frequencies, generalize, judge, model_of, worst
from tests.support.oracle_answers import judge_table, reached
from tests.support.suppressions import suppressing


@dataclass(frozen=True)
class Shape:
    """A release to be made: its quasi-identifiers and what else it shows."""

    hierarchies: Mapping[str, Hierarchy]
    written: Mapping[str, Any]
    """Quasi-identifier -> how the spec writes it."""
    shown: Sequence[str]
    requirements: Sequence[Requirement]
    nulls: str = "value"
    limit: float | int = 0
    style: str = "drop"
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """What a release shows of every row: its labels (None: suppressed), and the shown columns."""

    vectors: Sequence[tuple[str | None, ...] | None]
    masked: bool
    shape: Shape

    def shows(self, index: int) -> bool:
        return self.masked or self.vectors[index] is not None

    def labels(self, index: int) -> tuple[str | None, ...] | None:
        vector = self.vectors[index]
        return ("*",) * len(self.shape.hierarchies) if vector is None and self.masked else vector

    def table(self, rows: Sequence[Row]) -> Counter[tuple[Any, ...]]:
        return Counter(
            (*(self.labels(index) or ()), *(row[name] for name in self.shape.shown))
            for index, row in enumerate(rows)
            if self.shows(index)
        )


def made(rows: Sequence[Row], shape: Shape, node: Sequence[int], unit: str | None, masked: bool) -> Made:
    """Generalize, and suppress the classes that violate a requirement."""
    kept = set()
    for vector, members in classes(rows, shape.hierarchies, tuple(node), shape.nulls).items():
        held = [rows[index] for index in members]
        if all(judge(item, held, original(rows, item, unit), unit)[1] for item in shape.requirements):
            kept.add(vector)
    vectors = generalize(rows, shape.hierarchies, tuple(node), shape.nulls)
    return Made([vector if vector in kept else None for vector in vectors], masked, shape)


def original(rows: Sequence[Row], requirement: Requirement, unit: str | None) -> Counter[Any] | None:
    attribute = model_of(requirement)[1].get("attribute")
    return None if attribute is None else frequencies(rows, attribute, unit)


def together(rows: Sequence[Row], releases: Sequence[Made], unit: str | None) -> dict[str, dict[str, Any]]:
    """Every requirement of every release on the joint classes."""
    quasi_identifiers = {name for item in releases for name in item.shape.hierarchies}

    def key(index: int) -> tuple[Any, ...]:
        parts: list[Any] = []
        for item in releases:
            also = [name for name in item.shape.shown if name in quasi_identifiers]
            seen = tuple(rows[index][name] for name in also) if item.shows(index) else None
            parts += [item.shows(index), item.labels(index), seen]
        return tuple(parts)

    achieved = {}
    for requirement in [item for release in releases for item in release.shape.requirements]:
        attribute = model_of(requirement)[1].get("attribute")
        found: dict[tuple[Any, ...], list[Row]] = {}
        for index, row in enumerate(rows):
            if any(item.shows(index) and attribute in (None, *item.shape.shown) for item in releases):
                found.setdefault(key(index), []).append(row)
        verdicts = [
            (*judge_table(requirement, held, original(rows, requirement, unit), unit), len(held))
            for held in found.values()
        ]
        achieved[privacy_model(parse_requirement(requirement)).label] = {
            **reached(requirement, worst(requirement, [measure for measure, _, _ in verdicts])),
            "violating_classes": sum(not enough for _, enough, _ in verdicts),
            "violating_rows": sum(size for _, enough, size in verdicts if not enough),
        }
    return achieved


def spec_of(shape: Shape, release: str, unit: str | None, **more: Any) -> kanon_sql.Spec:
    keep = [name for name in shape.shown if name not in shape.more["sensitive"]]
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": release, "unit": unit,
            "quasi_identifiers": shape.written, "sensitive": shape.more["sensitive"], "keep": keep,
            "privacy": shape.requirements, "suppression": suppressing(shape.limit, style=shape.style),
            "search": {"metric": "height"}, "nulls": shape.nulls, "ledger": "ledger", **more,
        }
    )  # fmt: skip
