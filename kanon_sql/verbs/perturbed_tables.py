"""Refuse to judge a table of untrue values by requirements that are about true ones."""

from __future__ import annotations

from kanon_sql.engines import Engine
from kanon_sql.errors import SpecError
from kanon_sql.spec import format_table_name

__all__ = ["refuse_perturbed"]


def refuse_perturbed(engine: Engine, *tables: tuple[str, ...] | None) -> None:
    """Refuse what ``perturb`` has published: its mark says so.

    Args:
        engine: with a run open.
        tables: the name parts of what is to be judged; None for what has no name.

    Raises:
        SpecError: one of them is untrue.
    """
    for parts in tables:
        run_id = None if parts is None else engine.mark(parts)
        if parts is None or run_id is None:
            continue
        from kanon_sql.release import marks_perturbed  # all that writes and publishes, for what is rarely marked

        if marks_perturbed(run_id):
            raise SpecError(
                f"{format_table_name(parts)!r} was published by perturb, and its values are untrue: classes of "
                "wrong values say nothing of how many persons could be meant, so no requirement is judged in it. "
                "Name the table with the true values"
            )
