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

__all__ = ["Frames", "achieved_columns", "classes", "conditions", "flagged_classes", "measure_name"]


@dataclass(frozen=True)
class Frames:
    """Where classes are counted from.

    Attributes:
        base: FROM form over the quasi-identifiers: ``row_count`` (and ``person_count`` or ``unit``).
        values: per sensitive attribute, a FROM form with ``value_code`` and ``reference_share`` too.
        counting: what a class counts: rows, persons (added up), or unit (counted distinct).
        keys: the expressions that classes are grouped by, over either form.
        carried: expressions to carry along, constant within a class.
    """

    base: Sql
    values: dict[str, Sql]
    counting: str
    keys: Sequence[Sql]
    carried: Sequence[Sql] = ()

    @property
    def key_names(self) -> list[str]:
        """The names of the key columns: ``k0``, ``k1``, ..."""
        return [f"k{index}" for index in range(len(self.keys))]

    @property
    def carried_names(self) -> list[str]:
        """The names of the carried columns: ``z0``, ``z1``, ..."""
        return [f"z{index}" for index in range(len(self.carried))]


def measure_name(index: int, model: PrivacyModel) -> str:
    """The column that holds a model's measure."""
    return "class_size" if model.attribute is None else f"m{index}"


def classes(frames: Frames, models: Sequence[PrivacyModel], *, with_keys: bool = True) -> Sql:
    """The equivalence classes, one row each, with their counts and the models' measures.

    Args:
        frames: where to count from.
        models: the requirements.
        with_keys: whether the keys are needed; leaving them out saves planning time.
    """
    names = [measure_name(index, model) for index, model in enumerate(models)]
    # One sensitive attribute counted in rows needs no second pass for the class sizes.
    alone = len(frames.values) == 1 and frames.counting == "rows"
    joined = bool(frames.values) and not alone
    shared: dict[str, Any] = {
        "keys": frames.keys,
        "key_names": frames.key_names,
        "carried": frames.carried,
        "carried_names": frames.carried_names,
        "counting": frames.counting,
        "with_keys": with_keys or joined,
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
    base = None if alone else render("evaluate/base_frame", frequency=frames.base, **shared)
    return render("evaluate/classes", groups=groups, values_frames=values_frames, base_frame=base, **shared)


def conditions(models: Sequence[PrivacyModel]) -> list[Sql]:
    """Per model, the condition that a class of :func:`classes` must satisfy."""
    return [model.condition(measure_name(index, model)) for index, model in enumerate(models)]


def flagged_classes(frames: Frames, models: Sequence[PrivacyModel]) -> Sql:
    """The classes with a column ``satisfied``, 1 or 0."""
    measures = [measure_name(index, model) for index, model in enumerate(models) if model.attribute is not None]
    return render(
        "evaluate/flagged",
        classes=classes(frames, models),
        columns=[*frames.key_names, "class_rows", "class_size", *frames.carried_names, *measures],
        conditions=conditions(models),
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
