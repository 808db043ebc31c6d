"""What judges the rows of a table has judged all of them: counted beside every verdict, and compared here."""

from __future__ import annotations

from typing import Any

from kanon_sql.errors import InternalError

__all__ = ["refuse_incomplete"]


def refuse_incomplete(statement: str, judged: Any, there: Any, what: str = "rows", *, at_least: bool = False) -> None:
    """Stop a run whose statement has not judged what it was to judge, neither more nor less.

    A value that an engine does not find equal to itself loses its class in a join, and a class that no statement looks
    at violates nothing. So the same statement counts what it judged, and what there was before any join.

    Args:
        statement: the template's name.
        judged: how many were judged, as the engine returns it; None for none.
        there: how many there are.
        what: of what.
        at_least: a person may be judged several times.

    Raises:
        InternalError: the numbers differ.
    """
    found, expected = int(judged or 0), int(there or 0)
    if found == expected or (at_least and found > expected):
        return
    raise InternalError(
        f"internal error in {statement}: {found:,} {what} were judged, but there are {expected:,}, so there is "
        "no verdict. If nothing wrote to the table meanwhile, this is a defect: please report it with the "
        "engine, its version and the types of the columns, without values"
    )
