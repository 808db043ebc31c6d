"""Compose the query of equivalence classes: sizes, measures, and which classes satisfy.

Used by the evaluator over frequency sets and by ``check`` over a written table. The
privacy models give the pieces; the composition is the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.privacy import PrivacyModel
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Sql, identifier

__all__ = ["Frames", "achieved_columns", "flagged_classes"]


@dataclass(frozen=True)
class Frames:
    """Where classes are counted from.

    Attributes:
        base: FROM form over the quasi-identifiers: ``row_count`` (and ``person_count`` or ``unit``).
        values: per sensitive attribute, a FROM form with ``value_code`` and ``reference_share`` too.
        counting: what a class counts: rows, persons (added up), or unit (counted distinct).
        keys: the expressions that classes are grouped by, over either form.
        sizes: expressions to carry along, constant within a class.
    """

    base: Sql
    values: dict[str, Sql]
    counting: str
    keys: Sequence[Sql]
    sizes: Sequence[Sql] = ()

    @property
    def key_names(self) -> list[str]:
        """The names of the key columns: ``k0``, ``k1``, ..."""
        return [f"k{index}" for index in range(len(self.keys))]

    @property
    def size_names(self) -> list[str]:
        """The names of the carried columns: ``z0``, ``z1``, ..."""
        return [f"z{index}" for index in range(len(self.sizes))]


def measure_name(index: int, model: PrivacyModel) -> str:
    """The column that holds a model's measure."""
    return "class_size" if model.attribute is None else f"m{index}"


def flagged_classes(frames: Frames, models: Sequence[PrivacyModel], monotone: Sequence[bool]) -> Sql:
    """The classes with columns ``satisfied`` and ``monotone_satisfied`` (1 or 0).

    Args:
        frames: where to count from.
        models: the requirements.
        monotone: per model, whether pruning by it is sound under the suppression in force.
    """
    names = [measure_name(index, model) for index, model in enumerate(models)]
    shared: dict[str, Any] = {
        "keys": frames.keys,
        "key_names": frames.key_names,
        "sizes": frames.sizes,
        "size_names": frames.size_names,
        "counting": frames.counting,
    }
    groups, values_frames = [], []
    for attribute, relation in frames.values.items():
        own = [
            {"name": name, "measure": model.measure(name), "disclosed": model.disclosed()}
            for name, model in zip(names, models, strict=True)
            if model.attribute == attribute
        ]
        over = [model for model in models if model.attribute == attribute]
        groups.append({"models": own})
        values_frames.append(
            render(
                "evaluate/values_frame",
                frequency=relation,
                models=own,
                totals=any(model.needs_totals for model in over),
                positions=any(model.needs_positions for model in over),
                **shared,
            )
        )
    # One sensitive attribute counted in rows needs no second pass for the class sizes.
    alone = len(values_frames) == 1 and frames.counting == "rows"
    base = None if alone else render("evaluate/base_frame", frequency=frames.base, **shared)
    classes = render("evaluate/classes", groups=groups, values_frames=values_frames, base_frame=base, **shared)
    measures = [name for name, model in zip(names, models, strict=True) if model.attribute is not None]
    conditions = [model.condition(name) for name, model in zip(names, models, strict=True)]
    return render(
        "evaluate/flagged",
        classes=classes,
        columns=[*frames.key_names, "class_rows", "class_size", *frames.size_names, *measures],
        conditions=conditions,
        monotone_conditions=[condition for condition, sound in zip(conditions, monotone, strict=True) if sound],
    )


def achieved_columns(models: Sequence[PrivacyModel]) -> list[dict[str, Sql]]:
    """What ``evaluate/achieved`` needs per model."""
    columns = []
    for index, model in enumerate(models):
        name = measure_name(index, model)
        columns.append(
            {
                "extreme": Sql(model.worst),
                "measure": identifier(name),
                "condition": model.condition(name),
            }
        )
    return columns
