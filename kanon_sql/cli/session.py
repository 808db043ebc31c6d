"""What surrounds a verb: progress, the log of statements, and errors as exit codes.

Everything here writes to standard error; standard output belongs to the result.
"""

from __future__ import annotations

import errno
import gc
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kanon_sql.errors import ExitCode, HierarchyError, KanonError, SpecError
from kanon_sql.interrupts import Interrupts, interrupts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from kanon_sql.engines import Engine, Meter
    from kanon_sql.evaluate import Budget
    from kanon_sql.spec import Spec

__all__ = ["INTERRUPTED", "TERMINATED", "Session", "session"]

INTERRUPTED = 130
"""The exit code of a process that Ctrl-C ended, by convention of the shell: 128 + SIGINT."""

TERMINATED = 143
"""That of a process that SIGTERM ended: 128 + SIGTERM."""

PUBLISHING = "publishing"

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the operating system says of output that finds no room; files that a verb writes have messages of their own."""


class Session:
    """One run of a verb.

    Args:
        quiet: neither progress nor messages.
        verbose: write every statement, and the traceback of an unexpected error.
    """

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.stage: str | None = None
        self.engine: Engine | None = None
        self.engines: list[Engine] = []  # of parties; the first of them is ``engine`` too
        self._status: Status | None = None
        self._meter: Meter | None = None
        self._written = 0
        self.interrupts = Interrupts(self.cancel)

    @cached_property
    def console(self) -> Console:
        """Standard error with colors and a progress display; made when there is something to show on it."""
        from rich.console import Console

        return Console(stderr=True, markup=False, highlight=False, emoji=False)

    # --- The database ---

    def connect(
        self,
        database: str,
        *,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: str | None = None,
        scratch: str | None = None,
    ) -> Engine:
        """Open the database; the session closes it."""
        from kanon_sql.engines import connect

        # What is imported by now stays; looking for cycles in it would take a tenth of a second when the process ends.
        # DuckDB's own objects have to be found then, or it complains about them.
        if "duckdb" not in sys.modules:
            gc.freeze()
        self.engine = connect(
            database, read_only=read_only, threads=threads, memory_limit=memory_limit, scratch=scratch
        )
        return self.engine

    def connect_parties(
        self, databases: Sequence[str], *, read_only: Sequence[bool], scratch: str | None
    ) -> list[Engine]:
        """Open the database of every party; the session closes them.

        Args:
            databases: theirs.
            read_only: for each, whether nothing is written there.
            scratch: where scratch tables live.
        """
        for database, reads in zip(databases, read_only, strict=True):
            first = self.engine
            self.engines.append(self.connect(database, read_only=reads, scratch=scratch))
            self.engine = first or self.engine
        return self.engines

    def keep_below(self, max_bytes: str | None, spec: Spec, verb: str) -> None:
        """Refuse a verb whose reading of the source would take more bytes than the user allows."""
        if max_bytes is not None and self.engine is not None:
            from kanon_sql.cli.options import size_in_bytes
            from kanon_sql.verbs.estimate import refuse_beyond

            refuse_beyond(self.engine, spec, verb, size_in_bytes(max_bytes))

    def cancel(self) -> None:
        """Stop the running statement; called from another thread."""
        for engine in self._connected():
            engine.cancel()

    def _connected(self) -> Sequence[Engine]:
        """The database, or those of all parties."""
        return self.engines or ([] if self.engine is None else [self.engine])

    def patient_budget(self, seconds: float | None, statements: int | None) -> Budget:
        """A budget for a search that Ctrl-C ends as well, at the best node found so far."""
        from kanon_sql.evaluate import Budget

        return Budget(seconds, statements, lambda: self.interrupts.wished, self.interrupts.patience)

    # --- What happens meanwhile ---

    def report(self, stage: str, nodes: int | None = None) -> None:
        """Show what is being done; a pipeline's ``report``."""
        self.stage = stage
        if self.engine is not None and self.engine.meter is not self._meter:
            self._meter, self._written = self.engine.meter, 0
        self.log()
        if self.quiet or not sys.stderr.isatty():
            return
        from rich.text import Text

        from kanon_sql.cli.progress import Working
        from kanon_sql.report.words import number, shown

        text = Text(shown(stage))
        if nodes:
            text.append(f"  {number(nodes)} nodes", "dim")
        working = Working(text, self._meter)
        if self._status is None:
            self._status = self.console.status(working)
            self._status.start()
        else:
            self._status.update(working)

    def log(self) -> None:
        """With ``--verbose``: write the statements that ran since the last call."""
        if self.verbose and self._meter is not None:
            for statement in self._meter.log[self._written :]:
                self._written += 1
                self.statement(statement.redacted, statement.name)

    def statement(self, sql: str, name: str | None = None) -> None:
        """Write one statement whose values are redacted already."""
        if name is not None:
            self.console.print(f"-- {name}", style="dim", soft_wrap=True)
        self.console.print(_safe(sql) + ";", soft_wrap=True)

    def message(self, text: str) -> None:
        """Tell the user something, unless they asked for quiet."""
        if self.quiet:
            return
        if self._status is None:
            typer.echo(_safe(text), err=True)
        else:
            self.console.print(_safe(text), soft_wrap=True)

    def error(self, text: str) -> None:
        """Tell the user what went wrong."""
        from rich.text import Text

        self.console.print(Text.assemble(("error: ", "bold red"), _safe(text)), soft_wrap=True)

    def pause(self) -> None:
        """Take the progress display off the terminal until the next report."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def close(self) -> None:
        """End the progress display, write what is left of the log, close the database."""
        self.pause()
        self.log()
        for engine in self._connected():
            engine.close()
        self.engine, self.engines = None, []


def _safe(text: str) -> str:
    from kanon_sql.report.words import shown

    return "\n".join(shown(line) for line in text.split("\n"))


@contextmanager
def session(*, quiet: bool, verbose: bool, spec: Path | None = None) -> Iterator[Session]:
    """Run a verb. Errors become a message on standard error and an exit code.

    Args:
        quiet: neither progress nor messages.
        verbose: write every statement, and the traceback of an unexpected error.
        spec: the spec file, for the place of problems found while running.

    Raises:
        typer.Exit: with the exit code of what happened.
    """
    run = Session(quiet=quiet, verbose=verbose)
    with interrupts(run.cancel) as ctrl_c:
        run.interrupts = ctrl_c
        try:
            try:
                yield run
            finally:
                run.close()
        except (typer.Exit, BrokenPipeError):
            raise
        except BaseException as error:
            # Drivers turn Ctrl-C into errors of their own, so what was pressed decides.
            if ctrl_c.pressed or isinstance(error, KeyboardInterrupt):
                run.error(_interrupted(run))
                raise typer.Exit(TERMINATED if ctrl_c.terminated else INTERRUPTED) from None
            if isinstance(error, KanonError):
                run.error("\n".join([_message(error, spec), *error.notes]))
                raise typer.Exit(int(error.exit_code)) from None
            if isinstance(error, OSError) and error.errno in _FULL:
                run.error(
                    f"standard output cannot be written: {error.strerror}; what the run published stands, and "
                    "kanon-sql report writes its result from the manifest"
                )
                raise typer.Exit(int(ExitCode.USAGE)) from None
            if isinstance(error, typer.Abort) or not isinstance(error, Exception):
                raise
            name = type(error).__name__
            hint = "please report it; run with --verbose for the traceback"
            run.console.print(f"unexpected error: {name}; {hint}", soft_wrap=True)
            if verbose:
                run.console.print(traceback.format_exc(), soft_wrap=True)
            raise typer.Exit(int(ExitCode.DATABASE)) from None


def _message(error: KanonError, spec: Path | None) -> str:
    if spec is None or not isinstance(error, SpecError | HierarchyError):
        return str(error)
    from kanon_sql.cli.locate import located

    return "\n".join(str(problem) for problem in located(error.problems, spec))


def _interrupted(run: Session) -> str:
    what = "terminated" if run.interrupts.terminated else "interrupted"
    if run.stage == PUBLISHING:
        return f"{what} while publishing; run check to see which release stands"
    return f"{what}; nothing was published"
