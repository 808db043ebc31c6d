"""ZIP codes under HIPAA's Safe Harbor: the first three digits may stay where more than 20,000 people live in them.

45 CFR 164.514(b)(2)(i)(B). An area is all ZIP codes that begin as a released label does; labels of fewer than three
digits are areas likewise. What the population table lacks is taken to have no person.
"""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.engines import Engine, open_workspace, refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.frequency import OpenTable, open_table, source_of, unknown_columns
from kanon_sql.hierarchies import exact_value
from kanon_sql.spec import Count, Document, Spec, Text, in_json, parse_table_name
from kanon_sql.sql import Sql, identifier

__all__ = ["MOST_PEOPLE", "ZipCodes", "ZipPopulation", "count_zip_codes"]

MOST_PEOPLE = 20_000
"""An area of this many people or fewer may not be named."""

_DIGITS = 5
"""Of a ZIP code. Codes of different lengths, some shorter, have lost their zeros at the front."""

_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True)
class ZipPopulation:
    """Where people are counted.

    Attributes:
        table: a table with a column of ZIP codes of the same name as the release's.
        people: its column of how many people live there; None where each row is a person.
    """

    table: str
    people: str | None = None


@dataclass(frozen=True)
class ZipCodes(Document):
    """What the labels of a column of ZIP codes tell.

    Attributes:
        column: its name.
        population: the table that people were counted in.
        rows: rows of the release.
        areas: different areas that labels name.
        hidden_rows: rows that name none.
        finer_rows: rows of labels with more than three digits.
        small_areas: areas of up to three digits with 20,000 people or fewer.
        small_rows: the rows in them.
        unknown_areas: those of them where the population table has no person at all.
    """

    column: Text
    population: Text
    rows: Count
    areas: Count
    hidden_rows: Count
    finer_rows: Count
    small_areas: Count
    small_rows: Count
    unknown_areas: Count

    @property
    @in_json
    def within(self) -> bool:
        """Whether every row is as the rule allows."""
        return not self.finer_rows and not self.small_rows


def count_zip_codes(engine: Engine, spec: Spec, opened: OpenTable, column: str, given: ZipPopulation) -> ZipCodes:
    """Count the areas of a release by the people who live there: one statement.

    Args:
        engine: with a run open.
        spec: names the source.
        opened: the release.
        column: its column of ZIP codes.
        given: the population.

    Raises:
        SpecError: the population lacks a column, or one is not of a type that can be compared.
    """
    people = open_table(engine, spec, parse_table_name(given.table), released=False)
    needed = [column, *([] if given.people is None else [given.people])]
    problems = unknown_columns(people.shown, people.columns, needed, "so that people cannot be counted by ZIP code")
    if problems:
        raise SpecError(problems)
    for table in (opened, people):
        kind = table.columns[column].kind
        if kind not in ("text", "other"):
            raise SpecError(
                f"{table.shown}: column {column!r} is {table.columns[column].type}; a ZIP code must be text, since a "
                "number has no leading zeros: cast it in a view, and restore the zeros"
            )
    if given.people is not None and people.columns[given.people].kind not in _NUMBERS:
        raise SpecError(
            f"{people.shown}: column {given.people!r} is {people.columns[given.people].type}; expected a number, of "
            "people"
        )
    with open_workspace(engine, source_of(engine, spec), inline=True) as workspace:
        workspace.report(f"counting the people of {people.shown} by ZIP code", None)
        opened.refuse_inexact(workspace, [column])
        people.refuse_inexact(workspace, needed)
        counted = Sql("1") if given.people is None else Sql(f"{identifier('peopled')}.{identifier(given.people)}")
        row = workspace.row(
            "verbs/evidence/zip_codes",
            table=opened.relation,
            population=people.relation,
            label=exact_value(opened.columns[column], "checked"),
            code=exact_value(people.columns[column], "peopled"),
            people=counted,
            most=MOST_PEOPLE,
        )
    areas, hidden, finer, small, small_rows, unknown, *lengths, judged, there = row
    refuse_incomplete("verbs/evidence/zip_codes", judged, there)
    for table, (shortest, longest) in ((opened, lengths[:2]), (people, lengths[2:])):
        if shortest is not None and shortest != longest and shortest < _DIGITS:
            raise SpecError(
                f"{table.shown}: column {column!r} has codes of {shortest} to {longest} characters; leading zeros seem "
                "to be lost, so people would be counted in wrong areas: restore the zeros in a view"
            )
    return ZipCodes(
        column=column,
        population=people.shown,
        rows=int(there),
        areas=int(areas or 0),
        hidden_rows=int(hidden or 0),
        finer_rows=int(finer or 0),
        small_areas=int(small or 0),
        small_rows=int(small_rows or 0),
        unknown_areas=int(unknown or 0),
    )
