"""What surrounds a verb: progress, the log of statements, and errors as exit codes.

Everything here writes to standard error; standard output belongs to the result.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kanon_sql.errors import ExitCode, HierarchyError, KanonError, Problem, SpecError
from kanon_sql.interrupts import Interrupts, interrupts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from kanon_sql.engines import Engine, Meter
    from kanon_sql.evaluate import Budget
    from kanon_sql.spec import Spec

__all__ = ["INTERRUPTED", "TERMINATED", "Session", "SharedOptions", "session"]

INTERRUPTED = 130
"""The exit code of a process that Ctrl-C ended, by convention of the shell: 128 + SIGINT."""

TERMINATED = 143
"""That of a process that SIGTERM ended: 128 + SIGTERM."""

PUBLISHING = "publishing"

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the operating system says of output that finds no room; files that a verb writes have messages of their own."""


@dataclass(frozen=True)
class SharedOptions:
    """What the options that verbs share say, as Typer read them.

    Attributes:
        context: of the verb.
        arguments: parameter -> its value.
        settable: what ``--set`` may set.
        formats: in which forms the verb writes; None where there is one.
        product: what ``--output`` writes; None where the verb has no shared ``--output``.
        reports: its result can be an HTML report.
    """

    context: typer.Context
    arguments: Mapping[str, Any]
    settable: Mapping[str, str]
    formats: type[StrEnum] | None
    product: str | None
    reports: bool


class Session:
    """One run of a verb.

    Args:
        quiet: neither progress nor messages.
        verbose: write every statement, and the traceback of an unexpected error.
        spec: the spec file, for the place of problems found while running.

    Attributes:
        database: what ``--database`` names.
        databases: the same of several parties.
        format: what ``--format`` says.
        report_file: the HTML report that ``--output`` asks for.
        output_directory: where the file of ``--output`` goes; the current directory without one.
        own: key -> values, of what ``--set`` says that is not about the connection.
        timeout: seconds for the statements of the run.
    """

    def __init__(self, *, quiet: bool, verbose: bool, spec: Path | None = None) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.spec = spec
        self.database = ":memory:"
        self.databases: Sequence[str] = ()
        self.format = ""
        self.report_file: Path | None = None
        self.output_directory = Path()
        self.own: Mapping[str, list[str]] = {}
        self.timeout: float | None = None
        self._resources: dict[str, Any] = {}
        self._asked: SharedOptions | None = None
        self._set: frozenset[str] = frozenset()
        self._kept: StringIO | None = None  # of standard output, where --output names a file
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

    # --- What the shared options say ---

    @contextmanager
    def takes(self, asked: SharedOptions) -> Iterator[None]:
        """Take what the shared options say; at the end, write the file that ``--output`` names.

        Raises:
            SpecError: a setting is wrong, or the file cannot be written.
        """
        from kanon_sql.cli.outputs import output_of, read_settings, write_output

        database = asked.arguments.get("database")
        if isinstance(database, str):
            self.database = database
        else:
            self.databases = database or ()
        self._asked = asked
        self._resources, self.own, self._set = read_settings(asked)
        self.timeout = self._resources.pop("timeout", None)
        self.format, path, is_report = output_of(asked)
        if path is not None:
            self.output_directory = path.parent
        if path is None or is_report:
            self.report_file = path
            yield
            return
        self._kept = StringIO()
        try:
            yield
        except typer.Exit:
            write_output(self, path, asked.product or "", self._kept.getvalue())
            raise
        write_output(self, path, asked.product or "", self._kept.getvalue())

    @property
    def writes_output(self) -> bool:
        """Whether ``--output`` names a file for what is printed."""
        return self._kept is not None

    def origins(self) -> dict[str, str]:
        """Key of the settings -> where it is set; without those that are set nowhere, and without values."""
        from kanon_sql.cli.options import DATABASE_VARIABLE, KEYS, SETTINGS

        assert self._asked is not None
        by_source = {
            "COMMANDLINE": "the command line",
            "ENVIRONMENT": f"the environment variable {DATABASE_VARIABLE}",
        }
        arguments = self._asked.context.meta[SETTINGS].origins
        found = {}
        for key in KEYS:
            source = self._asked.context.get_parameter_source("database") if key == "database" else None
            where = by_source.get(source.name) if source is not None else None
            if key in self._set:
                where = by_source["COMMANDLINE"]
            if (where or arguments.get(key)) is not None:
                found[key] = where or arguments[key]
        return found

    def named_on_the_line(self, parameter: str) -> bool:
        """Whether a parameter was given on the command line."""
        assert self._asked is not None
        source = self._asked.context.get_parameter_source(parameter)
        return source is not None and source.name == "COMMANDLINE"

    def one(self, key: str) -> str | None:
        """The only value of a key of ``--set``; None where it is not set.

        Raises:
            SpecError: there are several.
        """
        values = self.own.get(key, [])
        if len(values) > 1:
            raise SpecError(f"--set {key}: expected one value, got {len(values)}")
        return values[0] if values else None

    def number(self, key: str, default: int, least: int, most: int = 1_000_000) -> int:
        """The same as a whole number.

        Raises:
            SpecError: it is none, or not between these.
        """
        text = self.one(key)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
            span = f"of at least {least}" if most == 1_000_000 else f"from {least} to {most}"
            raise SpecError(f"--set {key}: expected a whole number {span}")
        return int(text)

    def flag(self, key: str) -> bool:
        """Whether a key of ``--set`` is true.

        Raises:
            SpecError: it is neither true nor false.
        """
        text = self.one(key) or "false"
        if text not in ("true", "false"):
            raise SpecError(f"--set {key}: expected true or false")
        return text == "true"

    # --- What it writes ---

    def echo(self, text: str) -> None:
        """Write to standard output, or to the file of ``--output``; the text ends with a line break then."""
        if self._kept is None:
            typer.echo(text, nl=not text.endswith("\n"))
        else:
            self._kept.write(text if text.endswith("\n") else text + "\n")

    @contextmanager
    def stdout(self) -> Iterator[None]:
        """Inside, what is printed goes to the file of ``--output``, if there is one."""
        if self._kept is None:
            yield
            return
        with redirect_stdout(self._kept):
            yield

    # --- The database ---

    def connect(self, database: str | None = None, *, read_only: bool = False, scratch: str | None = None) -> Engine:
        """Open the database; the session closes it.

        Args:
            database: it, if not that of ``--database``.
            read_only: change nothing in it.
            scratch: where scratch tables live, if not where ``--set scratch`` says.
        """
        from kanon_sql.engines import connect

        # What is imported by now stays; looking for cycles in it would take a tenth of a second when the process ends.
        # DuckDB's own objects have to be found then, or it complains about them.
        if "duckdb" not in sys.modules:
            gc.freeze()
        self.engine = connect(
            self.database if database is None else database, read_only=read_only, **self.resources(scratch)
        )
        return self.engine

    def resources(self, scratch: str | None = None) -> dict[str, Any]:
        """What ``--set`` and the file of settings say of the connection, as ``connect`` takes it.

        Args:
            scratch: where scratch tables live, if not where they say.
        """
        return {**self._resources, **({} if scratch is None else {"scratch": scratch})}

    def connect_parties(self, *, read_only: Sequence[bool]) -> list[Engine]:
        """Open the database of every party; the session closes them.

        Args:
            read_only: for each, whether nothing is written there.
        """
        for database, reads in zip(self.databases, read_only, strict=True):
            first = self.engine
            self.engines.append(self.connect(database, read_only=reads))
            self.engine = first or self.engine
        return self.engines

    def keep_below(self, spec: Spec, verb: str) -> None:
        """Refuse a verb whose reading of the source would take more bytes than ``--set max_bytes`` allows.

        Raises:
            SpecError: the value is no size.
        """
        text = self.one("max_bytes")
        if text is not None and self.engine is not None:
            from kanon_sql.cli.options import size_in_bytes
            from kanon_sql.verbs.estimate import refuse_beyond

            try:
                most = size_in_bytes(text)
            except ValueError as error:
                raise SpecError(f"--set max_bytes: expected {error}") from None
            refuse_beyond(self.engine, spec, verb, most)

    def cancel(self) -> None:
        """Stop the running statement; called from another thread."""
        for engine in self._connected():
            engine.cancel()

    def _connected(self) -> Sequence[Engine]:
        """The database, or those of all parties."""
        return self.engines or ([] if self.engine is None else [self.engine])

    def budget(self, *, patient: bool = False) -> Budget:
        """What ``--set`` allows a search.

        Args:
            patient: Ctrl-C ends the search as well, at the best node found so far.

        Raises:
            SpecError: a limit is no number.
        """
        from kanon_sql.cli.options import seconds_of
        from kanon_sql.evaluate import Budget

        text = self.one("max_seconds")
        seconds = None if text is None else seconds_of(text)
        if text is not None and seconds is None:
            raise SpecError("--set max_seconds: expected a number of seconds, or a duration such as 90s, 10m or 1h30m")
        statements = None if self.one("max_statements") is None else self.number("max_statements", 1, 1)
        if patient:
            return Budget(seconds, statements, lambda: self.interrupts.stop_requested, self.interrupts.deferred)
        return Budget(seconds, statements)

    # --- What happens meanwhile ---

    def report(self, stage: str, nodes: int | None = None) -> None:
        """Show what is being done; what verbs call as ``report``."""
        self.stage = stage
        if self.engine is not None and self.engine.meter is not self._meter:
            self._meter, self._written = self.engine.meter, 0
        self.log()
        if self.quiet or not sys.stderr.isatty():
            return
        from rich.text import Text

        from kanon_sql.cli.progress import Working
        from kanon_sql.report.words import plural, shown

        text = Text(shown(stage))
        if nodes:
            text.append(f"  {plural(nodes, 'node')}", "dim")
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
    run = Session(quiet=quiet, verbose=verbose, spec=spec)
    with interrupts(run.cancel) as ctrl_c:
        run.interrupts = ctrl_c
        try:
            try:
                yield run
            finally:
                run.close()
                sys.stdout.flush()  # when Python does so at its end, an error of that has no message
        except (typer.Exit, BrokenPipeError):
            raise
        except BaseException as error:
            # Drivers turn Ctrl-C into errors of their own, so what was pressed decides.
            if ctrl_c.pressed or isinstance(error, KeyboardInterrupt):
                run.error(_interrupted(run))
                raise typer.Exit(TERMINATED if ctrl_c.terminated else INTERRUPTED) from None
            if isinstance(error, KanonError):
                run.error("\n".join([_message(error, run.spec), *error.notes]))
                raise typer.Exit(int(error.exit_code)) from None
            if isinstance(error, OSError) and error.errno in _FULL:
                _drop_output()
                run.error(
                    f"standard output cannot be written: {error.strerror}; what the run published stays published; "
                    "print its result from the manifest with kanon-sql report"
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


def _drop_output() -> None:
    """Let what standard output had no room for go nowhere, or Python would try again at its end and say so."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _message(error: KanonError, spec: Path | None) -> str:
    problems = getattr(error, "problems", None) or [Problem(str(error))]
    if spec is None or not (isinstance(error, SpecError | HierarchyError) or str(error).startswith("source ")):
        return str(error)
    from kanon_sql.cli.locate import located

    return "\n".join(str(problem) for problem in located(problems, spec))


def _interrupted(run: Session) -> str:
    what = "terminated" if run.interrupts.terminated else "interrupted"
    if run.stage == PUBLISHING:
        return f"{what} while publishing; run check to see which release is in place"
    return f"{what}; nothing was published"
