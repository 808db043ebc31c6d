"""What results, reports and manifests say of a spec's release steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypedDict, cast

from kanon_sql.engines import Engine, open_workspace
from kanon_sql.frequency import plain_source_of
from kanon_sql.spec import Count, Keywords, Spec, Text
from kanon_sql.sql import source_relation

if TYPE_CHECKING:
    from kanon_sql.spec import TableSpec

__all__ = ["AppliedSteps", "CodedColumn", "DrawnSample", "notes_of_steps", "steps_dict"]


class DrawnSample(TypedDict):
    """A random sample of the rows.

    Attributes:
        fraction: the probability with which each value was drawn.
        by: the column whose values were drawn.
        repeatable: whether a secret of the user's decided, so that the same rows are drawn again.
        rows: rows of the source.
        drawn: those that were drawn; all other figures are of these.
    """

    fraction: Annotated[float, Keywords(exclusiveMinimum=0, exclusiveMaximum=1)]
    by: Text
    repeatable: bool
    rows: Count
    drawn: Count


class CodedColumn(TypedDict, total=False):
    """What was done to the values of a column.

    Attributes:
        round: rounded to multiples of this.
        bottom: values below are this.
        top: values above are this.
    """

    round: float
    bottom: float
    top: float


class AppliedSteps(TypedDict):
    """The release steps that were done before classes were made. What is released is coarser, and true.

    Attributes:
        sample: the sample that was drawn; None for all rows.
        columns: column -> what was done to it.
    """

    sample: DrawnSample | None
    columns: Mapping[str, CodedColumn]


def steps_dict(engine: Engine, spec: Spec | TableSpec, drawn: int) -> AppliedSteps | None:
    """The steps, and how many rows of how many were drawn; None where there are none.

    Args:
        engine: where the source is; its rows are counted where a sample was drawn.
        spec: with the steps.
        drawn: rows that the run read, after the steps.
    """
    if spec.steps is None:
        return None
    sample: DrawnSample | None = None
    if spec.steps.sample is not None:
        with open_workspace(engine, plain_source_of(engine, spec), inline=True) as workspace:
            (rows,) = workspace.row("release/count", table=source_relation(), mark=None, unit=None)
        sample = {
            "fraction": spec.steps.sample.fraction,
            "by": cast("str", spec.steps.sample.by or spec.unit),
            "repeatable": spec.steps.sample.key_variable is not None,
            "rows": int(rows),
            "drawn": drawn,
        }
    return {"sample": sample, "columns": spec.steps.to_dict()["columns"]}


def notes_of_steps(steps: AppliedSteps | None) -> list[str]:
    """The same for people: which steps there were, and that values stay true."""
    if steps is None:
        return []
    notes = []
    if (sample := steps["sample"]) is not None:
        notes.append(
            f"release steps: a random sample by {sample['by']!r}, {sample['fraction']:g} of all: {sample['drawn']:,} "
            f"of {sample['rows']:,} rows were drawn, and all figures here are for these rows"
        )
    done = [
        f"{name!r} " + " and ".join(f"{_WORDS[what]} {value}" for what, value in item.items())
        for name, item in steps["columns"].items()
    ]
    if done:
        notes.append(f"release steps: {', '.join(done)}; the released values are coarser, and true")
    return notes


_WORDS = {"round": "rounded to multiples of", "bottom": "bottom coded at", "top": "top coded at"}
