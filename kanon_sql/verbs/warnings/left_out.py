"""The warning that a release that grows lacks more rows of its source than the spec allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.evaluate import rows_in_words
from kanon_sql.spec import Spec
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.handling import heeded

if TYPE_CHECKING:
    from kanon_sql.release import State

__all__ = ["left_out"]


def left_out(spec: Spec, state: State) -> list[Warned]:
    """Rows that were taken and are not in the release, where they are more than ``suppression``.

    Args:
        spec: what is released.
        state: after the run.
    """
    rows = state.rows
    count, most = rows["source"] - rows["published"], spec.suppression.most(rows["source"])
    if count <= most:
        return []
    retired = f", {rows['retired']:,} were removed with deleted rows" if rows["retired"] else ""
    if spec.increments is None or spec.increments.on_drift == "hold":
        advice = "Allow coarser levels (increments: {on_drift: coarsen})"
    else:
        advice = "Coarser levels would not help: start a release under another name"
    message = (
        f"the release lacks {count:,} of {rows_in_words(rows['source'])} ({rows['waiting']:,} wait{retired}), and "
        f"suppression allows {most:,}. {advice}, or raise the limit"
    )
    figures = {"rows": rows["source"], "left_out": count, "waiting": rows["waiting"], "allowed": most}
    return heeded(spec, [Warned("limit_exceeded", message, [], figures)])
