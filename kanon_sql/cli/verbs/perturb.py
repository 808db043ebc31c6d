"""``perturb``: publish rows whose values are untrue on purpose."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_perturb_spec, need_database
from kanon_sql.cli.options import (
    Database,
    FailOnWarning,
    Format,
    MemoryLimit,
    OutputFormat,
    Profile,
    Quiet,
    ScratchMode,
    SpecFile,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_found
from kanon_sql.errors import SpecError

__all__ = ["perturb"]


@program.command(
    epilog=examples(
        "kanon-sql perturb masking.yml -d clinic.duckdb",
        "kanon-sql perturb masking.yml -d clinic.duckdb --preview",
        "kanon-sql perturb masking.yml -d clinic.duckdb --format json -q",
    )
)
def perturb(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Publish nothing, although the spec names a release.")
    ] = False,
    fail_on_warning: FailOnWarning = False,
    scratch: ScratchMode = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Publish rows whose values are untrue on purpose.

    The spec is a perturbation spec: source, key, perturb, keep and linkage (kanon-sql
    schema --perturb-spec). Values are changed by noise, rank swapping, data swapping or
    PRAM; what that does to means, variances, correlations and frequencies is measured, and
    how many rows record linkage by distance finds. No k-anonymity is claimed of such a
    release. Exit code 1 says that linkage finds more than the spec allows, or that a
    warning is an error: nothing was published.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.perturb import perturb as run_perturb

        spec = load_perturb_spec(spec_file)
        if spec.release is not None and not preview and database == MEMORY:
            raise SpecError("a table in :memory: would vanish with this process; give a database with -d FILE")
        need_database(database)
        engine = run.connect(database, read_only=False, threads=threads, memory_limit=memory_limit, scratch=scratch)
        result = run_perturb(
            engine, spec, preview=preview, timeout=timeout, report=run.report, fail_on_warning=fail_on_warning
        )
        run.close()
        print_found(result, output)
        exit_with(result.passed)
