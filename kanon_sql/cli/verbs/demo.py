"""``demo``: a small clinic, made and anonymized."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories
from kanon_sql.cli.options import Format, OutputFormat, Quiet, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_result

__all__ = ["demo"]


@program.command(
    epilog=examples(
        "kanon-sql demo",
        "kanon-sql demo clinic --format json",
    )
)
def demo(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIRECTORY", help="Where to write; created if it does not exist.", autocompletion=directories
        ),
    ] = Path(),
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a small clinic, anonymize it, and show the result.

    Writes demo.duckdb (generated visits of generated patients), the spec demo.yml and its
    hierarchies into a directory, runs anonymize on them and prints its result. Everything
    is there to be read, changed and run again.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.verbs.demo import demo as make_demo

        spec_path, result = make_demo(directory, report=run.report)
        if verbose:
            for sql in result.sql:
                run.statement(sql)
        print_result(run, result, output)
        following = ["kanon-sql", "plan", str(spec_path), "-d", str(spec_path.parent / "demo.duckdb")]
        run.message(f"\nnext: {shlex.join(following)}")
        exit_with(result.passed)
