"""What results, reports and manifests say of a spec's release steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanon_sql.engines import Engine, open_workspace
from kanon_sql.frequency import plain_source_of
from kanon_sql.spec import Spec
from kanon_sql.sql import source_relation

if TYPE_CHECKING:
    from kanon_sql.spec import TableSpec

__all__ = ["notes_of_steps", "steps_dict"]


def steps_dict(engine: Engine, spec: Spec | TableSpec, drawn: int) -> dict[str, Any] | None:
    """The steps, and how many rows of how many were drawn; None where there are none.

    Args:
        engine: where the source is; its rows are counted where a sample was drawn.
        spec: with the steps.
        drawn: rows that the run read, after the steps.
    """
    if spec.steps is None:
        return None
    sample = None
    if spec.steps.sample is not None:
        with open_workspace(engine, plain_source_of(engine, spec), inline=True) as workspace:
            (rows,) = workspace.row("release/count", table=source_relation(), mark=None, unit=None)
        sample = {
            "fraction": spec.steps.sample.fraction,
            "by": spec.steps.sample.by or spec.unit,
            "repeatable": spec.steps.sample.key_variable is not None,
            "rows": int(rows),
            "drawn": drawn,
        }
    return {"sample": sample, "columns": spec.steps.to_dict()["columns"]}


def notes_of_steps(steps: dict[str, Any] | None) -> list[str]:
    """The same for people: which steps there were, and that values stay true."""
    if steps is None:
        return []
    notes = []
    if (sample := steps["sample"]) is not None:
        notes.append(
            f"release steps: a random sample by {sample['by']!r}, {sample['fraction']:g} of all: {sample['drawn']:,} "
            f"of {sample['rows']:,} rows were drawn, and every figure here is of these"
        )
    done = [
        f"{name!r} " + " and ".join(f"{_WORDS[what]} {value}" for what, value in item.items())
        for name, item in steps["columns"].items()
    ]
    if done:
        notes.append(f"release steps: {', '.join(done)}; the values that are released are coarser, and true")
    return notes


_WORDS = {"round": "rounded to multiples of", "bottom": "bottom coded at", "top": "top coded at"}
