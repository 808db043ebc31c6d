"""``init``: profile a table where it lives and write a commented spec to start from."""

from __future__ import annotations

from pathlib import Path

from kanon_sql.engines import Deadline, Engine, Reporter
from kanon_sql.errors import SpecError
from kanon_sql.objects import accepts_objects
from kanon_sql.verbs.init.panel import followed
from kanon_sql.verbs.init.profile import write_spec
from kanon_sql.verbs.init.suggest import SMALL_CATEGORY, ColumnProfile, is_person_key

__all__ = ["SMALL_CATEGORY", "ColumnProfile", "followed", "init", "is_person_key", "write_spec"]


@accepts_objects
def init(
    engine: Engine,
    table: str | None = None,
    *,
    largest_combination: int = 2,
    skeleton_directory: Path | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> str:
    """Profile a table and write a commented spec to start from.

    Args:
        engine: from :func:`kanon_sql.connect`, where a read-only connection is enough; or a table or a connection of
            the program's own.
        table: as a spec names it, or the path of a Parquet or CSV file; nothing where the table itself was given.
        largest_combination: look at combinations of up to so many of the likely columns; 0 for none.
        skeleton_directory: where to write the values of short lists of categories, as hierarchy files to fill in;
            None to write none. These files hold values, those of single rows among them.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        YAML that :meth:`kanon_sql.Spec.parse` accepts.

    Raises:
        SpecError: there is no such table, or no column of it could be a quasi-identifier.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> written = kanon_sql.init(db, "visits")
        >>> kanon_sql.Spec.parse(written).source.table
        ('visits',)
    """
    if table is None:
        raise SpecError("init: the table is missing; name it beside the connection: init(connection, 'visits')")
    with engine.run(Deadline(timeout)):
        return write_spec(
            engine,
            table,
            largest_combination=largest_combination,
            skeleton_directory=skeleton_directory,
            report=report,
        )
