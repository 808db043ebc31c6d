"""The options that several verbs share, each described once."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql.cli.complete import one_of, paths

__all__ = [
    "DATABASE_VARIABLE",
    "SETTINGS",
    "AllMinimal",
    "At",
    "CheckFormat",
    "Database",
    "Distributions",
    "FailOnWarning",
    "Format",
    "Key",
    "MaxBytes",
    "MaxSeconds",
    "MaxStatements",
    "MemoryLimit",
    "OutputFormat",
    "Parties",
    "Profile",
    "Quiet",
    "ReportFile",
    "ScratchMode",
    "SpecFile",
    "Split",
    "SplitOption",
    "Threads",
    "Timeout",
    "Verbose",
    "seconds_of",
    "size_in_bytes",
]


DATABASE_VARIABLE = "KANON_SQL_DATABASE"

SETTINGS = "kanon_sql.settings"
"""Where a verb's context keeps what the file of settings said."""


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


class CheckFormat(StrEnum):
    """How ``check`` writes its data: for people, programs and pipelines."""

    text = "text"
    json = "json"
    junit = "junit"
    github = "github"
    markdown = "markdown"


def _memory_limit(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", value, re.IGNORECASE):
        raise typer.BadParameter("expected a size such as 4GB, 512MiB or 80%")
    return value


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _bytes(value: str | None) -> str | None:
    if value is not None:
        size_in_bytes(value)
    return value


def size_in_bytes(text: str) -> int:
    """``500MB`` as a number of bytes; ``MiB`` counts in powers of 1024."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if found is None:
        raise typer.BadParameter("expected a number of bytes, such as 500MB or 2GiB")
    number, unit, binary = found.groups()
    factor = _UNITS[unit.upper()]
    return int(float(number) * (1024 ** ("KMGT".index(unit.upper()) + 1) if binary and unit else factor))


DURATION = "a number of seconds, or a duration such as 90s, 10m or 1h30m"


def seconds_of(text: str) -> float | None:
    """``10m`` or ``1h30m`` as a number of seconds; None where the text is no duration."""
    found = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip().lower())
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds = found.groups()
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds or 0)


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


def _profile(context: typer.Context, value: str | None) -> str | None:
    """Take the defaults of the other options from the nearest file of settings."""
    if not context.resilient_parsing:
        from kanon_sql.cli.settings import settings_of
        from kanon_sql.errors import SpecError

        try:
            found = settings_of(Path.cwd(), value)
        except SpecError as error:
            raise typer.BadParameter(str(error)) from None
        if value is not None and "database" in found.values and os.environ.get(DATABASE_VARIABLE):
            raise typer.BadParameter(
                f"{DATABASE_VARIABLE} is set, and comes before the database of a profile; unset it, or leave the "
                "profile out"
            )
        context.default_map = {name: partial(_found, given) for name, given in found.values.items()}
        context.meta[SETTINGS] = found
    return value


SpecFile = Annotated[
    Path,
    typer.Argument(
        metavar="SPEC", help="The spec, a YAML file.", show_default=False, autocompletion=paths(".yml", ".yaml")
    ),
]
FailOnWarning = Annotated[
    bool, typer.Option("--fail-on-warning", help="Treat warnings as errors: exit with 1, publish nothing.")
]
Database = Annotated[
    str,
    typer.Option(
        "--database",
        "-d",
        envvar=DATABASE_VARIABLE,
        metavar="DATABASE",
        callback=_database,
        autocompletion=paths(".duckdb", ".db"),
        help="A DuckDB file, :memory:, or a URL such as postgresql://user@host/db.",
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
        help="The profile of kanon-sql.toml, or of [tool.kanon_sql] in pyproject.toml, whose defaults to use.",
    ),
]
Format = Annotated[OutputFormat, typer.Option("--format", help="How to write the result to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages; errors only.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Write every executed SQL statement, values redacted, to standard error."),
]


def _duration(value: str | float) -> float:
    seconds = seconds_of(str(value))
    if seconds is None:
        raise typer.BadParameter(f"expected {DURATION}")
    return seconds


Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        parser=_duration,
        show_default=False,
        help="End the run in order after this time: seconds, or 10m, 1h30m, 90s.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, max=4096, show_default=False, help="Threads the database may use."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        callback=_memory_limit,
        show_default=False,
        help="Memory the database may use, such as 4GB.",
    ),
]
ScratchMode = Annotated[
    str | None,
    typer.Option(
        "--scratch",
        metavar="MODE",
        show_default=False,
        autocompletion=one_of("temp", "inline", "schema:"),
        help="Where scratch tables live: temp, schema:NAME, or inline (nowhere). "
        "By default temporary tables where they are allowed, else inline.",
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="SIZE",
        callback=_bytes,
        show_default=False,
        help="Refuse to start when reading the source would take more, such as 10GB, as the database estimates.",
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds",
        metavar="SECONDS",
        min=0,
        show_default=False,
        help="End the search after this many seconds, with the best generalization found so far.",
    ),
]
MaxStatements = Annotated[
    int | None,
    typer.Option(
        "--max-statements",
        metavar="N",
        min=1,
        show_default=False,
        help="End the search after this many statements, with the best generalization found so far.",
    ),
]
AllMinimal = Annotated[
    bool, typer.Option("--all-minimal", help="List all k-minimal and locally minimal generalizations.")
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="PATH", show_default=False, help="Also write a report, one HTML file that opens offline."
    ),
]
Distributions = Annotated[
    bool,
    typer.Option(
        "--distributions",
        help="Also count rows by label, before and after, for --report and --format json; this shows labels.",
    ),
]
Parties = Annotated[
    list[str] | None,
    typer.Option(
        "--party",
        metavar="DATABASE",
        callback=lambda values: [_database(value) for value in values or ()],  # with old ones of typer None fails
        show_default=False,
        help="Instead of --database: the database of one party of several; give it for each.",
    ),
]
SplitOption = Annotated[
    Split,
    typer.Option("--split", help="With --party: every party has rows of its own (horizontal), or columns (vertical)."),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="COLUMN",
        show_default=False,
        help="With --split vertical: the column that every party has; one of the spec's identifiers.",
    ),
]
At = Annotated[
    int,
    typer.Option(
        "--at",
        metavar="N",
        min=1,
        help="With --split vertical: the number of the party where the joined release is published.",
    ),
]
