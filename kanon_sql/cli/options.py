"""The options that several verbs share, each described once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql.cli.complete import one_of, paths

__all__ = [
    "CSV_KEYS",
    "CSV_TEXT_KEYS",
    "DATABASE_VARIABLE",
    "DRAFT_KEYS",
    "KEYS",
    "LAST",
    "LIMITS",
    "MAX_BYTES",
    "ROLE_KEYS",
    "SETTINGS",
    "CheckFormat",
    "CompareFormat",
    "CountRows",
    "Database",
    "EvidenceFormat",
    "External",
    "FailOnWarning",
    "K",
    "Key",
    "L",
    "Manifest",
    "On",
    "OtherReleases",
    "OutputFormat",
    "Parties",
    "Population",
    "Preview",
    "Profile",
    "QuasiIdentifiers",
    "Quiet",
    "SamplingFraction",
    "SpecFile",
    "SpecOrTable",
    "Split",
    "SplitOption",
    "T",
    "TableFormat",
    "Verbose",
    "format_option",
    "items",
    "listed",
    "named",
    "numbers",
    "output_option",
    "parse_show",
    "resource",
    "seconds_of",
    "settings_option",
    "size_in_bytes",
    "table_option",
    "unquoted",
]


DATABASE_VARIABLE = "KANON_SQL_DATABASE"

SETTINGS = "kanon_sql.settings"
"""Where a verb's context keeps what the file of settings said."""

KEYS: Mapping[str, str] = {
    "database": "a DuckDB file, :memory:, a URL without a password, {variable = NAME} or {dbt = PROFILE}",
    "threads": "a whole number of at least 1",
    "memory_limit": "a size such as 4GB",
    "timeout": "a number of seconds, or a duration such as 90s, 10m or 1h30m",
    "scratch": "temp, schema:NAME or inline",
}
"""What a file of settings may say, and of which form it is; ``--set`` takes all but the database."""

LIMITS: Mapping[str, str] = {
    "max_seconds": "end the search after this time, and use the best generalization found",
    "max_statements": "the same after this many statements",
}
"""What ``--set`` may limit a search by."""

MAX_BYTES: Mapping[str, str] = {
    "max_bytes": "a size such as 10GB; refuse to start if the database estimates that reading the source takes more"
}
"""What ``--set`` may limit the reading of the source by."""

CONNECTION, OUTPUT = "Connection", "Output"
"""The headings of the shared options in the help of a verb."""


class OutputFormat(StrEnum):
    """How a verb writes its data to standard output."""

    text = "text"
    json = "json"


class Split(StrEnum):
    """How a table is split between parties."""

    horizontal = "horizontal"
    vertical = "vertical"


class CompareFormat(StrEnum):
    """How ``compare`` writes its data: for people, programs and comments on changes."""

    text = "text"
    json = "json"
    markdown = "markdown"


class EvidenceFormat(StrEnum):
    """How ``release evidence`` writes its document."""

    html = "html"
    markdown = "markdown"
    json = "json"


class CheckFormat(StrEnum):
    """How ``check`` writes its data: for people, programs and pipelines."""

    text = "text"
    json = "json"
    junit = "junit"
    github = "github"
    markdown = "markdown"


class TableFormat(StrEnum):
    """How ``publish table`` writes its cells: for people, programs and spreadsheets."""

    text = "text"
    json = "json"
    csv = "csv"


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def size_in_bytes(text: str) -> int:
    """``500MB`` as a number of bytes; ``MiB`` counts in powers of 1024.

    Raises:
        ValueError: the text is no size.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if found is None:
        raise ValueError("a number of bytes, such as 500MB or 2GiB")
    number, unit, binary = found.groups()
    factor = _UNITS[unit.upper()]
    return int(float(number) * (1024 ** ("KMGT".index(unit.upper()) + 1) if binary and unit else factor))


def items(texts: Sequence[str] | None) -> list[str]:
    """The items of a list: each may stand in an option of its own, or several with commas between.

    A comma within double quotes separates nothing, so that a name may have one.

    Raises:
        ValueError: an item is empty.
    """
    found = []
    for text in texts or ():
        item, quoted = "", False
        for character in text:
            quoted ^= character == '"'
            if character == "," and not quoted:
                found.append(item.strip())
                item = ""
            else:
                item += character
        found.append(item.strip())
    if not all(found):
        raise ValueError("expected a list such as A,B without an empty item")
    return found


def unquoted(name: str) -> str:
    """A name that may stand in double quotes, without them."""
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == '"' else name


def listed(texts: Sequence[str] | None) -> list[str]:
    """The callback of an option that is a list."""
    try:
        return items(texts)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def named(texts: Sequence[str] | None) -> list[str]:
    """The callback of an option that is a list of names: each may stand in double quotes."""
    return [unquoted(item) for item in listed(texts)]


def parse_show(show: Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    """What ``--show`` asks for.

    Args:
        show: as it was given.
        known: what there is to show.

    Raises:
        SpecError: there is no such thing.
    """
    from kanon_sql.errors import SpecError

    for name in show or ():
        if name not in known:
            raise SpecError(f"--show: expected {', '.join(known[:-1])} or {known[-1]}, got {name!r}")
    return show or ()


def numbers(texts: Sequence[str] | None) -> list[int]:
    """The whole numbers in a list.

    Raises:
        ValueError: an item is no whole number.
    """
    found = items(texts)
    if not all(item.isascii() and item.isdigit() and len(item) < 10 for item in found):
        raise ValueError("expected whole numbers separated by commas, such as 2,5,10")
    return [int(item) for item in found]


def seconds_of(text: str) -> float | None:
    """``10m`` or ``1h30m`` as a number of seconds; None where the text is no duration."""
    found = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip().lower())
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds = found.groups()
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds or 0)


def resource(key: str, text: str) -> Any:
    """What a key of the settings says of the connection.

    Args:
        key: one of :data:`KEYS`, but not the database.
        text: its value.

    Raises:
        ValueError: the value has another form.
    """
    if key == "threads" and text.isascii() and text.isdigit() and 1 <= int(text) <= 4096:
        return int(text)
    if key == "memory_limit" and re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", text, re.IGNORECASE):
        return text
    if key == "timeout" and (seconds := seconds_of(text)) is not None:
        return seconds
    if key == "scratch" and text:
        return text
    raise ValueError(f"expected {KEYS[key]}")


def _database(value: str) -> str:
    if not value:
        raise typer.BadParameter("expected a DuckDB file, :memory: or a URL")
    if value.startswith(":memory:") and value != ":memory:":
        raise typer.BadParameter("a database in memory has no name; use :memory:")
    return value


def _found(given: Any) -> Any:
    """A default of a file, or what finds it."""
    from kanon_sql.errors import SpecError

    try:
        return given() if callable(given) else given
    except SpecError as error:
        raise typer.BadParameter(str(error)) from None


def _options(context: typer.Context) -> list[Any]:
    return [item for item in context.command.params if item.param_type_name == "option"]


def _profile(context: typer.Context, value: str | None) -> str | None:
    """Take the defaults of the other options from the nearest file of settings."""
    if not context.resilient_parsing:
        from kanon_sql.cli.settings import settings_of
        from kanon_sql.errors import SpecError

        try:
            found = settings_of(Path.cwd(), value)
        except SpecError as error:
            raise typer.BadParameter(str(error)) from None
        several = any(item.name == "database" and item.multiple for item in _options(context))
        if several:  # each party's database is named on the command line
            context.meta[SETTINGS] = found
            return value
        if value is not None and "database" in found.values and os.environ.get(DATABASE_VARIABLE):
            raise typer.BadParameter(
                f"{DATABASE_VARIABLE} is set and overrides the profile's database; unset it, or leave the profile out"
            )
        context.default_map = {name: partial(_found, found.values[name]) for name in found.values if name == "database"}
        context.meta[SETTINGS] = found
    return value


SpecFile = Annotated[
    Path,
    typer.Argument(
        metavar="SPEC", help="The spec, a YAML file.", show_default=False, autocompletion=paths(".yml", ".yaml")
    ),
]
FailOnWarning = Annotated[
    bool, typer.Option("--fail-on-warning", help="Treat warnings as errors: exit code 1, and nothing is published.")
]
CountRows = Annotated[
    bool,
    typer.Option(
        "--rows", help="Count rows instead of persons, although the spec names a unit; this gives upper bounds."
    ),
]


def table_option(which: str) -> Any:
    """``--table``, in the place of the spec's release.

    Args:
        which: the table that the verb looks at, for the help.
    """
    return typer.Option(
        "--table", metavar="TABLE", show_default=False, help=f"{which}; if not given, the spec's release."
    )


_NAMED: dict[str, Any] = {
    "envvar": DATABASE_VARIABLE,
    "metavar": "DATABASE",
    "autocompletion": paths(".duckdb", ".db"),
    "rich_help_panel": CONNECTION,
}
Database = Annotated[
    str,
    typer.Option(
        "--database",
        "-d",
        callback=_database,
        help="A DuckDB file, :memory:, or a URL such as postgresql://user@host/db.",
        **_NAMED,
    ),
]
Parties = Annotated[
    list[str] | None,
    typer.Option(
        "--database",
        "-d",
        callback=lambda values: [_database(value) for value in listed(values)],
        show_default=False,
        help="The database of each party, a file or a URL.",
        **{**_NAMED, "envvar": None, "metavar": "DATABASE,..."},
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        envvar="KANON_SQL_PROFILE",
        metavar="NAME",
        is_eager=True,
        callback=_profile,
        show_default=False,
        help="A profile of kanon-sql.toml, or of [tool.kanon_sql] in pyproject.toml.",
        rich_help_panel=CONNECTION,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no messages; errors only.", rich_help_panel=OUTPUT)
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Log every SQL statement to standard error, with values redacted.",
        rich_help_panel=OUTPUT,
    ),
]


def _explained(keys: Mapping[str, str]) -> list[str]:
    """What ``--set`` may set; what the file of settings may say too is known by its name."""
    shared = ", ".join(key for key in keys if key in KEYS)
    return [*([f"{shared} (of the connection)"] if shared else []),
            *(f"{key} ({text})" for key, text in keys.items() if key not in KEYS)]  # fmt: skip


def settings_option(keys: Mapping[str, str]) -> Any:
    """``--set`` of a verb.

    Args:
        keys: what it may set.
    """
    return Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE,...",
            show_default=False,
            autocompletion=one_of(*(f"{key}=" for key in keys)),
            help=f"Settings that are rarely needed: {', '.join(_explained(keys))}.",
            rich_help_panel=CONNECTION,
        ),
    ]


def output_option(product: str, reports: bool) -> Any:
    """``--output`` of a verb.

    Args:
        product: what it writes.
        reports: it can be an HTML report.
    """
    report = " With PATH.html, print it, and write a report that opens offline." if reports else ""
    return Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            show_default=False,
            help=f"Write the {product} to this file instead of to standard output.{report}",
            rich_help_panel=OUTPUT,
        ),
    ]


def format_option(formats: type[StrEnum], product: str | None) -> Any:
    """``--format`` of a verb.

    Args:
        formats: those that it has.
        product: what ``--output`` writes; None where that does not take the place of standard output.
    """
    text = "Output format." if product is None else "Output format; if not given, the extension of --output decides."
    return Annotated[
        formats,
        typer.Option("--format", help=text, rich_help_panel=OUTPUT),
    ]


LAST = {".json": "json", ".md": "markdown", ".xml": "junit", ".csv": "csv"}
"""How a file's name ends -> the format that ``--output`` writes it in, where ``--format`` is not given."""


Preview = Annotated[bool, typer.Option("--preview", help="Do not publish, even if the spec names a release.")]
External = Annotated[
    str | None,
    typer.Option(
        "--external", metavar="TABLE", show_default=False, help="The table that the attacker links with the release."
    ),
]
On = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="COLUMN,...",
        show_default=False,
        callback=named,
        help="The columns to link on; if not given, all that both tables have.",
    ),
]
OtherReleases = Annotated[
    list[str] | None,
    typer.Option(
        "--earlier",
        metavar="TABLE,...",
        show_default=False,
        callback=listed,
        help="Other releases of the same people.",
    ),
]
Population = Annotated[
    str | None,
    typer.Option(
        "--population",
        metavar="TABLE",
        show_default=False,
        help="Population table, with the same quasi-identifiers in the same format.",
    ),
]
SamplingFraction = Annotated[
    float | None,
    typer.Option(
        "--sampling-fraction",
        metavar="SHARE",
        show_default=False,
        help="The table's share of the population, to estimate population uniques and k-map.",
    ),
]
Manifest = Annotated[
    str | None,
    typer.Option(
        "--manifest",
        metavar="PATH",
        show_default=False,
        help="Also write the manifest to this file; it is always in the database.",
    ),
]
SplitOption = Annotated[
    Split,
    typer.Option(
        "--split", help="Each party holds other rows (horizontal), or other columns of the same rows (vertical)."
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="COLUMN",
        show_default=False,
        help="With --split vertical: the join column that every party has; one of the spec's identifiers.",
    ),
]

WITHOUT_SPEC = "Without a spec"
"""The heading of the options that stand for one."""

CSV_TEXT_KEYS: Mapping[str, str] = {
    "encoding": "of a CSV file: utf-8, utf-16 or latin-1",
    "delimiter": "of a CSV file: ; or | or tab",
}
"""How a CSV file is written whose cells are compared as texts."""

CSV_KEYS: Mapping[str, str] = {
    **CSV_TEXT_KEYS,
    "decimal": "decimal mark of a CSV file: comma or point",
    "dates": "date format of a CSV file, such as %d/%m/%Y",
}
"""How a CSV file is written, as ``--set`` takes it where a spec is drafted."""

ROLE_KEYS: Mapping[str, str] = {
    "unit": "without a spec, the person identifier, if a person can have several rows",
    "sensitive": "without a spec, more sensitive columns",
    "keep": "without a spec, columns to release as they are",
}
"""The roles that are rarely named, as ``--set`` takes them."""

DRAFT_KEYS: Mapping[str, str] = {
    **ROLE_KEYS,
    "identifiers": "without a spec, columns never released",
}
"""The same where a spec is drafted."""

SpecOrTable = Annotated[
    str,
    typer.Argument(
        metavar="SPEC|TABLE",
        help="The spec, a YAML file; or a table, or a Parquet or CSV file, with --quasi-identifiers.",
        show_default=False,
        autocompletion=paths(".yml", ".yaml", ".parquet", ".csv"),
    ),
]


def _by_column_option(name: str, text: str) -> Any:
    return Annotated[
        list[str] | None,
        typer.Option(
            name,
            metavar="COLUMN:NUMBER,...",
            show_default=False,
            callback=listed,
            help=text,
            rich_help_panel=WITHOUT_SPEC,
        ),
    ]


QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option(
        "--quasi-identifiers",
        metavar="COLUMN,...",
        show_default=False,
        callback=named,
        help="All quasi-identifier columns.",
        rich_help_panel=WITHOUT_SPEC,
    ),
]
K = Annotated[
    int | None,
    typer.Option("--k", metavar="K", min=1, show_default=False, help="k of k-anonymity.", rich_help_panel=WITHOUT_SPEC),
]
L = _by_column_option("--l", "l of distinct l-diversity, per sensitive column, such as diagnosis:3.")
T = _by_column_option("--t", "t of t-closeness, per sensitive column, such as diagnosis:0.3.")
