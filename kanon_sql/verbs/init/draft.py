"""``init``: profile a table where it lives and write a commented spec to start from.

Only counts come back: no value of the table is read, and none is in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kanon_sql.engines import Column, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import no_such_table
from kanon_sql.hierarchies import exact_value
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import CsvFormat, Source, did_you_mean, format_table_name, is_csv, parse_table_name
from kanon_sql.sql import source_relation
from kanon_sql.verbs.init.areas import large_areas
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.csv_values import doubtful_values
from kanon_sql.verbs.init.interview import by_spread, columns_together, skeletons
from kanon_sql.verbs.init.names import names_no_attribute
from kanon_sql.verbs.init.panel import followed
from kanon_sql.verbs.init.presets import PRESETS, Preset, PresetKnowledge
from kanon_sql.verbs.init.profile import profile_columns
from kanon_sql.verbs.init.suggest import (
    Panel,
    Suggestion,
    as_quasi_identifier_of,
    suggest,
    unit_by_name,
    unless_varying,
    with_a_release,
)
from kanon_sql.verbs.init.text import Draft, K, as_yaml, lines_of
from kanon_sql.verbs.init.user_columns import Roles, resolved, unit_of, with_roles
from kanon_sql.verbs.run import running

__all__ = ["Answers", "Ask", "init", "usable_columns"]

_ALIAS = "kanon_source"

REVEALS = 0.5
"""How far rows with a value of a column agree in a quasi-identifier, between chance (0) and always (1), from which the
column is taken for one as well."""

MOST_REVEALING = 8
"""This many columns are looked at for that."""

Answers = tuple[Roles, int | None]
"""The roles of columns, and k; None for the usual one."""

Ask = Callable[[Sequence[Suggestion], int], Answers]
"""Asks the user about suggestions; the second argument is the k that is proposed."""


@accepts_objects
def init(
    engine: Engine,
    table: str | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifiers: Sequence[str] = (),
    keep: Sequence[str] = (),
    unit: str | Sequence[str] | None = None,
    k: int | None = None,
    l: Mapping[str, int] | None = None,  # noqa: E741 - the name that the literature gives it
    t: Mapping[str, float] | None = None,
    preset: str | None = None,
    population: str | None = None,
    largest_combination: int = 2,
    skeleton_directory: Path | None = None,
    csv: Mapping[str, str] | None = None,
    ask: Ask | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> str:
    """A commented spec for a table or view, with a role and a hierarchy suggested for each column.

    Names, types and counts suggest what is not said. One pass over the table counts, a second one if it has several
    rows per person, one where columns look like the key of a panel, one for each number that needs intervals, and a few
    for the combinations of columns. No value is read.

    Args:
        engine: from :func:`kanon_sql.connect`, where a read-only connection is enough; or a table or a connection of
            the program's own.
        table: as a spec names it, such as ``visits`` or ``main.visits``; or, where there is no such table, the path of
            a Parquet or CSV file; nothing where the table itself was given.
        quasi_identifiers: the columns that others may know, all of them: no other becomes one. None for suggestions.
        sensitive: the columns that no reader should learn of a person, all of them. None for suggestions.
        identifiers: columns that are never released, besides those suggested.
        keep: columns that are released as they are.
        unit: the column that identifies persons, or a list of those that do together. None to look for one, by names
            and in the data.
        k: rows, or persons, that look alike; 5, or what a preset asks for, where it is None.
        l: column -> l of distinct l-diversity. Such a column is sensitive, besides those suggested.
        t: column -> t of t-closeness, likewise.
        preset: ``hipaa-safe-harbor``, ``ema-0070`` or ``gdpr-wp216``: follow its rules, and say where they stand.
        population: for ``hipaa-safe-harbor``, a table with postal codes (text) and the number of people of each. Areas
            whose codes begin with the same three digits, and that have more than 20,000 people, keep these digits.
        largest_combination: look at combinations of up to this many of the likely columns; 0 for none.
        skeleton_directory: where to write the values of short lists of categories, as hierarchy files to fill in;
            None to write none. These files hold values, those of single rows among them.
        csv: how a CSV file is written, as ``source.csv`` of a spec has it: ``encoding``, ``delimiter``, ``decimal``,
            ``dates``.
        ask: called with the suggestions and the proposed k; what it returns goes before both. None to ask no one.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        YAML that :meth:`kanon_sql.Spec.parse` accepts.

    Raises:
        SpecError: there is no such table, column or preset, a column has two roles, a preset forbids what was asked
            for, or no column could be a quasi-identifier.
        HierarchyError: a file that would be written is there already.
        DatabaseError: the table cannot be read.

    Examples:
        >>> text = kanon_sql.init(db, "visits", quasi_identifiers=["age", "zip"], sensitive=["diagnosis"])
        >>> list(kanon_sql.Spec.parse(text).quasi_identifiers)
        ['age', 'zip']
    """
    if table is None:
        raise SpecError("init: the table is missing; name it beside the connection: init(connection, 'visits')")
    rules = _preset(preset, k, population)
    roles = Roles(quasi_identifiers, sensitive, identifiers, keep, unit, l=l or {}, t=t or {})
    with running(engine, timeout, report):
        source = _source(engine, table, csv)
        shown = table if source.file is not None else format_table_name(source.table or ())
        relation = engine.relation(table=source.table, query=None, file=source.file, csv=source.csv)
        with open_workspace(engine, relation) as workspace:
            columns, unusable = usable_columns(engine.columns(relation))
            names = [column.name for column in columns]
            roles = resolved(roles, shown, names)
            areas = None if population is None else large_areas(engine, workspace, population)
            workspace.report(f"profiling {shown}: one pass that counts", None)
            rows, profiles = profile_columns(workspace, columns)
            if source.file is not None and not rows:
                raise SpecError(f"{shown}: the file has columns and no row; a spec is drafted from counts of its rows")
            unknown = roles.unit is None and not roles.key and unit_by_name(profiles) is None
            panel = followed(workspace, profiles) if unknown else None
            suggestions = _suggested(workspace, profiles, panel, roles)
            if ask is not None:
                key = roles.key
                roles, k = ask(suggestions, k or (rules.k if rules is not None else K))
                roles = replace(resolved(roles, shown, names), key=key)
                _preset(preset, k, population)
                suggestions = _suggested(workspace, profiles, panel, roles)
            if rules is not None:
                suggestions = rules.adapt(suggestions, PresetKnowledge(areas))
            if not any(item.role == "quasi_identifier" for item in suggestions):
                raise SpecError(
                    f"{shown}: no column looks like a quasi-identifier: each one looks like a key, a direct identifier "
                    "or a sensitive attribute; name the quasi-identifiers with --quasi-identifiers, or write the spec "
                    "by hand"
                )
            suggestions = by_spread(workspace, suggestions)
            together = columns_together(workspace, suggestions, largest_combination)
            if skeleton_directory is not None:
                suggestions = skeletons(workspace, suggestions, skeleton_directory)
            notes = engine.read_notes
            if is_csv(source.file):
                notes = (*notes, *doubtful_values(workspace, profiles, source.csv))
    shows_values = skeleton_directory is not None
    draft = Draft(source, rows, suggestions, together, panel, unusable, rules, k, notes, roles, shows_values)
    return "\n".join(lines_of(draft)) + "\n"


def _preset(name: str | None, k: int | None, population: str | None) -> Preset | None:
    """The preset of this name, if the rest of what was asked for fits it."""
    if k is not None and k < 1:
        raise SpecError(f"k: expected a whole number of at least 1, got {k}")
    if name is not None and name not in PRESETS:
        raise SpecError(f"preset: there is no preset {name!r}{did_you_mean(name, PRESETS)}")
    found = None if name is None else PRESETS[name]
    if population is not None and (found is None or not found.takes_population):
        takers = ", ".join(preset.name for preset in PRESETS.values() if preset.takes_population)
        raise SpecError(f"population: only the preset {takers} uses the populations of postal areas; leave it out")
    if found is not None and k is not None and k < found.k and found.k_is_a_rule:
        raise SpecError(f"k: {found.name} asks for at least {found.k}, got {k}; raise it")
    return found


def _source(engine: Engine, table: str, csv: Mapping[str, str] | None) -> Source:
    """The table of this name, or the file."""
    parts = parse_table_name(table)
    if engine.exists(parts) is not None:
        if csv:
            raise SpecError(
                f"{', '.join(csv)}: these options are for CSV files, and {table!r} is a table; leave them out"
            )
        return Source(table=parts)
    if Path(table).exists():
        if csv and not is_csv(table):
            raise SpecError(
                f"{', '.join(csv)}: these options are for files whose name ends in .csv, unlike "
                f"{table!r}; leave them out"
            )
        return Source(file=table, csv=CsvFormat.parse(csv) if csv else None)
    raise SpecError(no_such_table(engine, parts, or_file=True))


def usable_columns(columns: Sequence[Column]) -> tuple[list[Column], int]:
    """The columns whose names a spec can hold and whose values can be compared, and how many others there are."""
    seen: set[str] = set()
    found = []
    for column in columns:
        if column.name.strip() and column.name.casefold() not in seen and column.kind != "ambiguous":
            found.append(column)
        seen.add(column.name.casefold())
    return found, len(columns) - len(found)


def _suggested(
    workspace: Workspace, profiles: Sequence[ColumnProfile], panel: Panel | None, roles: Roles
) -> list[Suggestion]:
    """A suggestion for each column, with what the user said in its place."""
    found = suggest(profiles, panel, unit=unit_of(roles, profiles), rows=roles.rows)
    found = with_roles(_about_persons(workspace, found), roles)
    return found if roles.quasi_identifiers is not None else with_a_release(_revealing(workspace, found, panel), panel)


def _revealing(workspace: Workspace, found: Sequence[Suggestion], panel: Panel | None) -> list[Suggestion]:
    """Take columns for quasi-identifiers that reveal one, as a town does a ZIP code: kept, they would undo its labels.

    It takes one statement over the source, where columns that no role is suggested for have values that repeat.
    """
    key = {profile.name for profile in panel or ()}  # which may be the unit
    free = [item for item in found if item.role == "left_out" and not item.asked and item.profile.distinct > 1]
    free = [item for item in free if item.profile.name not in key and not names_no_attribute(item.profile)]
    free = [item for item in free if 2 * item.profile.distinct <= item.profile.filled][:MOST_REVEALING]
    known = [item.profile.name for item in found if item.role == "quasi_identifier" and item.profile.distinct > 1]
    if not free or not known:
        return list(found)
    from kanon_sql.disclosure.risk import Pair, Records, agreement_of

    workspace.report("looking for columns that reveal quasi-identifiers", None)
    pairs = [Pair(item.profile.name, name) for item in free for name in known]
    columns = {item.profile.name: item.profile.column for item in found}
    agreements, _ = agreement_of(workspace, Records.of_table(source_relation(), columns), pairs)
    taken = []
    for item in found:
        own = {pair.value: found.agreement for pair, found in agreements.items() if pair.kept == item.profile.name}
        names = [as_yaml(name) for name, agreement in own.items() if agreement >= REVEALS]
        why = f"rows with the same value also have the same value of {' and '.join(names)}, more often than by chance"
        taken.append(as_quasi_identifier_of(item, why) if names else item)
    return taken


def _about_persons(workspace: Workspace, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Leave out what is no attribute of a person, if the table has several rows per person."""
    unit = next((item.profile.column for item in found if item.role == "unit"), None)
    asked = [item for item in found if item.role == "quasi_identifier" and not item.by_name]
    if unit is None or not asked:
        return list(found)
    workspace.report("looking for columns that vary between the rows of a person", None)
    persons, *varying = workspace.row(
        "verbs/init/persons",
        source=source_relation(),
        unit=exact_value(unit, _ALIAS),
        values=[exact_value(item.profile.column, _ALIAS) for item in asked],
    )
    counts: Mapping[str, int] = {item.profile.name: int(count or 0) for item, count in zip(asked, varying, strict=True)}
    return [
        unless_varying(item, int(persons), counts[item.profile.name]) if item.profile.name in counts else item
        for item in found
    ]
