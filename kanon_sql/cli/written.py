"""Reports as files: refused before a run where they cannot be written, written after it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.cli.session import Session

__all__ = ["refuse_report_path", "write_report"]


def refuse_report_path(path: Path | None, option: str) -> None:
    """Refuse a path that no file can be written to, before anything is run.

    Raises:
        SpecError: it is a directory, or in none.
    """
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise SpecError(f"{option} {path}: expected a file in an existing directory")


def write_report(run: Session, path: Path | None, page: str) -> None:
    """Write a page into a file, or to standard output.

    Raises:
        SpecError: the file cannot be written; what was run before stands.
    """
    if path is None:
        typer.echo(page, nl=not page.endswith("\n"))
        return
    try:
        path.write_text(page if page.endswith("\n") else page + "\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(f"the run is done, but its report cannot be written to {path}: {reason}") from None
    run.message(f"report: {path}")
