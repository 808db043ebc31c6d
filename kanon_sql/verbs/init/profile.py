"""``init``: profile a table where it lives and write a commented spec to start from.

Only counts come back: no value of the table is read, and none is in the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kanon_sql.disclosure.risk import Combination
from kanon_sql.engines import Column, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import no_such_table
from kanon_sql.hierarchies import exact_value
from kanon_sql.spec import Source, format_table_name, parse_table_name
from kanon_sql.sql import Sql, identifier, source_relation
from kanon_sql.verbs.init.hipaa import FORMS
from kanon_sql.verbs.init.interview import TELLING, ColumnsTogether, by_spread, columns_together, skeletons
from kanon_sql.verbs.init.panel import followed
from kanon_sql.verbs.init.suggest import (
    ColumnProfile,
    Role,
    Suggestion,
    suggest,
    unit_by_name,
    unless_varying,
    with_a_quasi_identifier,
)

__all__ = ["profile_columns", "write_spec"]

_ALIAS = "kanon_source"

NEARLY_ALL = 0.9
"""Share of a column's values that have a form from which it is taken for one of that form."""


def write_spec(
    engine: Engine,
    table: str,
    *,
    largest_combination: int = 2,
    skeleton_directory: Path | None = None,
    report: Reporter | None = None,
) -> str:
    """A commented spec for a table or view, with a role and a hierarchy suggested for each column.

    One pass over the table, a second one if it has several rows per person, one where columns look like the key of a
    panel, one for each number that needs intervals, and a few for the combinations of columns.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        table: as a spec names it, such as ``visits`` or ``main.visits``; or, where there is no such table, the path of
            a Parquet or CSV file.
        largest_combination: look at combinations of up to so many of the likely columns; 0 for none.
        skeleton_directory: where to write the values of short lists of categories, as hierarchy files to fill in;
            None to write none. These files hold values, those of single rows among them.
        report: called with each stage in plain words.

    Returns:
        YAML that :meth:`kanon_sql.Spec.parse` accepts.

    Raises:
        SpecError: there is no such table, or no column of it could be a quasi-identifier.
        HierarchyError: a file that would be written is there already.
        DatabaseError: the table cannot be read.
    """
    source = _source(engine, table)
    shown = table if source.file is not None else format_table_name(source.table or ())
    relation = engine.relation(table=source.table, query=None, file=source.file)
    with open_workspace(engine, relation, report) as workspace:
        columns, unusable = _usable(engine.columns(relation))
        workspace.report(f"profiling {shown}: one pass that counts", None)
        rows, profiles = profile_columns(workspace, columns)
        panel = followed(workspace, profiles) if unit_by_name(profiles) is None else None
        suggested = _about_persons(workspace, suggest(profiles, panel))
        suggestions = by_spread(workspace, with_a_quasi_identifier(suggested))
        found = columns_together(workspace, suggestions, largest_combination)
        if skeleton_directory is not None:
            suggestions = skeletons(workspace, suggestions, skeleton_directory)
    if not any(item.role == "quasi_identifier" for item in suggestions):
        raise SpecError(
            f"{shown}: no column could be a quasi-identifier: each is a key, a direct identifier or a sensitive "
            "attribute by its name; write the spec by hand and name what others may know"
        )
    return "\n".join(_lines(source, rows, suggestions, found, unusable)) + "\n"


def _source(engine: Engine, table: str) -> Source:
    """The table of this name, or the file."""
    parts = parse_table_name(table)
    if engine.exists(parts) is not None:
        return Source(table=parts)
    if Path(table).is_file():
        return Source(file=table)
    raise SpecError(no_such_table(engine, parts, or_file=True))


def _usable(columns: Sequence[Column]) -> tuple[list[Column], int]:
    """The columns whose names a spec can hold and whose values can be compared, and how many others there are."""
    seen: set[str] = set()
    found = []
    for column in columns:
        if column.name.strip() and column.name.casefold() not in seen and column.kind != "ambiguous":
            found.append(column)
        seen.add(column.name.casefold())
    return found, len(columns) - len(found)


# --- The profile ---------------------------------------------------------------------------


def profile_columns(workspace: Workspace, columns: Sequence[Column]) -> tuple[int, list[ColumnProfile]]:
    """Count rows and, per column, values and their forms, in one pass.

    Args:
        workspace: its source is the table.
        columns: the columns to profile.

    Returns:
        The number of rows, and a profile per column.
    """
    if not columns:
        return 0, []
    items = [
        {
            "value": exact_value(column, _ALIAS),
            "text": _as_text(column),
            "number": _as_number(column),
            "is_text": column.kind == "text",
        }
        for column in columns
    ]
    values = iter(
        workspace.row(
            "verbs/init/columns", source=source_relation(), columns=items, digits=[str(digit) for digit in range(10)]
        )
    )
    rows = int(next(values))
    profiles = []
    for column, item in zip(columns, items, strict=True):
        filled, distinct = int(next(values)), int(next(values))
        shortest, longest, digits = [next(values) for _ in range(3)] if item["text"] is not None else [None, None, 0]
        forms = {form: int(next(values) or 0) for form in FORMS} if item["is_text"] else {}
        thirds = next(values) if item["number"] is not None else None
        profiles.append(
            ColumnProfile(
                column=column,
                rows=rows,
                filled=filled,
                distinct=distinct,
                shortest=None if shortest is None else int(shortest),
                longest=None if longest is None else int(longest),
                digits=int(digits or 0),
                form=next((form for form, count in forms.items() if count >= NEARLY_ALL * max(1, filled)), None),
                thirds=int(thirds) if thirds is not None and math.isfinite(thirds) else None,
            )
        )
    return rows, profiles


def _name(column: Column) -> str:
    return f"{identifier(_ALIAS)}.{identifier(column.name)}"


def _as_text(column: Column) -> Sql | None:
    return Sql(f"CAST({_name(column)} AS VARCHAR)") if column.kind in ("text", "integer") else None


def _as_number(column: Column) -> Sql | None:
    numeric = column.kind in ("integer", "decimal", "float")
    return Sql(f"CAST({_name(column)} AS DOUBLE)") if numeric else None


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
    counts = {item.profile.name: int(count or 0) for item, count in zip(asked, varying, strict=True)}
    return [
        unless_varying(item, int(persons), counts[item.profile.name]) if item.profile.name in counts else item
        for item in found
    ]


# --- The text ------------------------------------------------------------------------------


def _lines(
    source: Source, rows: int, found: Sequence[Suggestion], apart: ColumnsTogether | None, unusable: int
) -> Iterator[str]:
    roles: dict[Role, list[Suggestion]] = {}
    for item in found:
        roles.setdefault(item.role, []).append(item)
    parts = source.table or (Path(source.file or "").stem,)
    release = format_table_name((*parts[:-1], f"{parts[-1]}_release"))
    yield f"# A spec to start from, suggested by counts over {rows:,} rows; no value was looked at."
    yield "# Read every line: names and counts only suggest, and what others may know of a person only you know."
    yield "version: 1"
    yield ""
    if source.file is not None:
        yield f"source: {{file: {_yaml(source.file)}}}  # beside this spec, or the path from it"
    else:
        yield f"source: {_yaml(format_table_name(parts))}"
    yield f"release: {_yaml(release)}"
    yield ""
    yield from _unit_lines(roles.get("unit", []))
    yield "# Never released."
    yield from _list_lines("identifiers", roles.get("identifier", []), "")
    yield ""
    yield "# What others may know of a person, generalized level by level until the requirements hold."
    own = [item.profile.name for item in roles["quasi_identifier"]]
    yield from _together_lines(apart, own)
    yield "quasi_identifiers:"
    for item in roles["quasi_identifier"]:
        known = f"{item.reason}{_counted(item.profile)}{_setting_apart(item.profile)}{_with_another(apart, item, own)}"
        yield f"  # {known}{'; ' if item.hint else ''}{item.hint}"
        if item.profile.hipaa is not None:
            yield f"  # {item.profile.hipaa.hint}"
        yield f"  {_yaml(item.profile.name)}: {item.hierarchy}"
    yield ""
    yield "# Released as they are, and protected by the requirements below."
    yield from _list_lines("sensitive", roles.get("sensitive", []), "")
    yield ""
    yield "# Not released, unless you take the # away: then as they are, so only what nobody could know a person by."
    yield from _list_lines("keep", roles.get("left_out", []), "# ", apart, own)
    if unusable:
        yield f"# Columns whose names or types a spec cannot use (rename or cast them in a source query): {unusable}"
    yield ""
    yield "# All of these hold in the release, or there is no release."
    yield "privacy:"
    yield f"  - k_anonymity: {{k: 5}}  # at least 5 {'persons' if 'unit' in roles else 'rows'} look alike"
    for item in roles.get("sensitive", []):
        if item.profile.distinct > 1:
            needed = min(3, item.profile.distinct)
            yield f"  - l_diversity: {{attribute: {_yaml(item.profile.name)}, l: {needed}, kind: distinct}}"
    yield ""
    yield "# At most this share of the rows may be left out."
    yield "suppression: {limit: 0.02}"


def _unit_lines(unit: Sequence[Suggestion]) -> Iterator[str]:
    if not unit:
        yield "# If a person has several rows, name the column that tells them apart, to protect them and not rows:"
        yield "# unit: person_id"
    for item in unit:
        yield f"# Protect persons, not rows: {item.reason}{_counted(item.profile)}."
        yield f"unit: {_yaml(item.profile.name)}"
    yield ""


def _list_lines(
    key: str, items: Sequence[Suggestion], off: str, apart: ColumnsTogether | None = None, own: Sequence[str] = ()
) -> Iterator[str]:
    # With nothing after the key the list is empty, and taking a # away below leaves valid YAML.
    yield f"{key}:"
    for item in items:
        hipaa = "" if item.profile.hipaa is None else f"; {item.profile.hipaa.hint}"
        known = f"{item.reason}{_counted(item.profile)}{_with_another(apart, item, own)}"
        yield f"  {off}- {_yaml(item.profile.name)}  # {known}{hipaa}"


def _counted(profile: ColumnProfile) -> str:
    """How many values a column has, roughly enough that no single row shows."""
    if not profile.filled:
        return ""
    missing = 1 - profile.filled / profile.rows
    nulls = "" if not missing else ", under 1% NULL" if missing < 0.01 else f", about {missing:.0%} NULL"
    return f" ({profile.distinct:,} value{'s' if profile.distinct != 1 else ''}{nulls})"


def _setting_apart(profile: ColumnProfile) -> str:
    """Distinction (Motwani and Xu 2007): different values per row, to two digits; of one column alone."""
    if not profile.rows or profile.distinct < 2:
        return ""
    return f", distinction {profile.distinct / profile.rows:.2g}"


def _together_lines(apart: ColumnsTogether | None, own: Sequence[str]) -> Iterator[str]:
    """What the quasi-identifiers tell apart together."""
    if apart is None:
        return
    if apart.everything is not None:
        yield f"# All together set {_share(apart.everything)} of the {apart.records} apart from every other."
    best = apart.best_of(own)
    if best is not None and len(own) > 2:
        yield f"# Of two, {_yaml(best[0][0])} and {_yaml(best[0][1])} do so most: {_share(best[1])}."
    for names in apart.minimal:
        yield f"# No two {apart.records} are alike in {' and '.join(map(_yaml, names))}."


def _with_another(apart: ColumnsTogether | None, item: Suggestion, own: Sequence[str]) -> str:
    """With which quasi-identifier a column tells most apart, if that is a reason to take it for one."""
    best = None if apart is None or item.by_name else apart.best_with(item.profile.name, own)
    if apart is None or best is None or best[1].uniques < TELLING * best[1].records:
        return ""
    return f"; with {_yaml(best[0])} it sets {_share(best[1])} of the {apart.records} apart"


def _share(found: Combination) -> str:
    """A share in whole percent, so that no single row shows."""
    if not found.uniques:
        return "none"
    if found.identifies:
        return "every one"
    share = found.uniques / found.records
    return "under 1%" if share < 0.01 else "over 99%" if share > 0.99 else f"about {share:.0%}"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_RESERVED = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])


def _yaml(text: str) -> str:
    """Text as a YAML scalar that reads back as it is, on one line."""
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
