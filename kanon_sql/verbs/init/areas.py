"""Which areas of postal codes have enough people, from a table of populations such as a census publishes."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.engines import Column, Engine, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import explained_if_missing, no_such_table
from kanon_sql.hierarchies import exact_value
from kanon_sql.spec import parse_table_name
from kanon_sql.sql import Relation, Sql, identifier
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.names import POSTAL
from kanon_sql.verbs.init.presets import SMALL_AREA

__all__ = ["large_areas"]

_ALIAS = "kanon_source"
_CODES = POSTAL | {"zip3", "zcta", "zcta3", "zcta5"}
_PEOPLE = frozenset(["population", "pop", "people", "persons", "inhabitants", "residents"])
ALL_AREAS = 1_000
"""This many areas have three digits."""


def large_areas(engine: Engine, workspace: Workspace, table: str) -> list[str]:
    """The first three digits of postal codes that more than 20,000 people have together.

    Args:
        engine: whose table it is.
        workspace: runs the statement.
        table: a table with a column of postal codes, as text, and one with the number of people of each. It is
            reference data: what comes back of it is written into the spec.

    Raises:
        SpecError: there is no such table, or it lacks such columns.
    """
    parts = parse_table_name(table)
    if engine.exists(parts) is None:
        raise SpecError(f"population: {no_such_table(engine, parts)}")
    with explained_if_missing(engine, parts):
        columns = engine.columns(engine.relation(table=parts, query=None, file=None))
    code = _column(columns, table, "postal codes as text, such as zip or zcta5", _CODES, ("text",))
    people = _column(columns, table, "people as numbers, such as population", _PEOPLE, ("integer", "decimal", "float"))
    workspace.report("adding up the people of each postal area", None)
    rows = workspace.fetch(
        "verbs/init/areas",
        ALL_AREAS,
        population=Relation(parts),
        code=exact_value(code, _ALIAS),
        people=Sql(f"{identifier(_ALIAS)}.{identifier(people.name)}"),
        limit=SMALL_AREA,
    )
    return sorted(str(area) for (area,) in rows if str(area).isascii() and str(area).isdigit())


def _column(columns: Sequence[Column], table: str, what: str, words: frozenset[str], kinds: Sequence[str]) -> Column:
    for column in columns:
        if column.kind in kinds and ColumnProfile(column, 0, 0, 0).words & words:
            return column
    raise SpecError(f"population: {table} has no column of {what}; name a table or view that has one")
