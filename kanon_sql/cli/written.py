"""What the verbs write: results to standard output, reports to files, and the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from kanon_sql.cli.options import OutputFormat
from kanon_sql.errors import ExitCode, SpecError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kanon_sql.cli.session import Session
    from kanon_sql.verbs.result import Result

__all__ = [
    "exit_with",
    "print_found",
    "print_json",
    "print_result",
    "print_text",
    "refuse_report_path",
    "refuse_unshown",
    "write_manifest",
    "write_report",
    "write_result_report",
]


def refuse_report_path(path: Path | None, option: str) -> None:
    """Refuse a path that no file can be written to, before anything is run.

    Raises:
        SpecError: it is a directory, or in none.
    """
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise SpecError(f"{option} {path}: expected a file in an existing directory")


def refuse_unshown(distributions: bool, path: Path | None, output: OutputFormat) -> None:
    """Refuse to count distributions that nothing would show.

    Raises:
        SpecError: they are asked for without a report and without JSON.
    """
    if distributions and path is None and output is not OutputFormat.json:
        raise SpecError("--distributions is for --report PATH and --format json; name one of them")


def write_report(run: Session, path: Path | None, page: str) -> None:
    """Write a page into a file that its owner alone can read, or to standard output.

    Raises:
        SpecError: the file cannot be written; what was run before stands.
    """
    if path is None:
        typer.echo(page, nl=not page.endswith("\n"))
        return
    from kanon_sql.engines import write_private

    try:
        write_private(path, page if page.endswith("\n") else page + "\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(
            f"the run is done, but its report cannot be written to {path}: {reason}; kanon-sql report writes it from "
            "the result's JSON or the manifest"
        ) from None
    run.message(f"report: {path}")


def print_result(run: Session, result: Result, output: OutputFormat, *, all_minimal: bool = False) -> None:
    """Print a result as text or as JSON, once the progress is off the terminal."""
    run.close()
    print_found(result, output, all_minimal=all_minimal)


def write_result_report(run: Session, result: Result, path: Path | None) -> None:
    """Write the HTML report of a result, if one is asked for."""
    if path is not None:
        from kanon_sql.report.html import html_report

        write_report(run, path, html_report(result))


def write_manifest(path: Path, manifest: Any) -> None:
    """Write what was published and how into a file that its owner alone can read.

    Raises:
        SpecError: the file cannot be written; the release stands.
    """
    from kanon_sql.engines import write_private
    from kanon_sql.report.json import to_json

    try:
        write_private(path, to_json(dict(manifest)) + "\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(
            f"the release is published, but its manifest cannot be written to {path}: {reason}; it is in the database "
            "too, and kanon-sql report reads it there by the run's id"
        ) from None


def print_found(found: Any, output: OutputFormat, **options: Any) -> None:
    """Print what a verb found as text or as JSON.

    Args:
        found: its result.
        output: which of the two.
        options: what its ``to_dict`` and its text take besides.
    """
    if output is OutputFormat.json:
        print_json(found.to_dict(**options))
    else:
        from kanon_sql.report.plain import text_of

        print_text(text_of(found, **options))


def print_json(data: Any) -> None:
    """Print what a verb found as JSON."""
    from kanon_sql.report.json import to_json

    typer.echo(to_json(data))


def print_text(content: RenderableType) -> None:
    """Print what a verb found for a person to read."""
    from kanon_sql.report import layout

    layout.print_text(content)


def exit_with(passed: bool) -> NoReturn:
    """End the verb: code 0, or 1 for requirements that are not met."""
    raise typer.Exit(int(ExitCode.PASS if passed else ExitCode.FAIL))
