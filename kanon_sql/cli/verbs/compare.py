"""``compare``: several specs, values of k, recodings or numbers of columns, side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kanon_sql.cli.complete import paths
from kanon_sql.cli.inputs import load_spec, need_database, spec_of_several
from kanon_sql.cli.options import LIMITS, CompareFormat, listed, numbers
from kanon_sql.cli.outputs import exit_with, print_output, write_report
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.spec import RelationalSpec, Spec

__all__ = ["compare"]


@verb(
    "kanon-sql compare spec.yml -d clinic.duckdb --k 2,5,10,50",
    "kanon-sql compare spec.yml -d clinic.duckdb --recoding full_domain,local",
    "kanon-sql compare spec.yml -d clinic.duckdb --columns 1,2",
    "kanon-sql compare spec.yml -d clinic.duckdb --k 2,10 --classify diagnosis",
    "kanon-sql compare strict.yml loose.yml -d clinic.duckdb -o both.html",
    scratch=True,
    formats=CompareFormat,
    reports=True,
    keys=LIMITS,
)
def compare(
    run: Session,
    spec_files: Annotated[
        list[Path],
        typer.Argument(
            metavar="SPEC", help="The specs, YAML files.", show_default=False, autocompletion=paths(".yml", ".yaml")
        ),
    ],
    ks: Annotated[
        list[str] | None,
        typer.Option("--k", metavar="K,...", show_default=False, help="Try each of these instead of the spec's k."),
    ] = None,
    recodings: Annotated[
        list[str] | None,
        typer.Option(
            "--recoding",
            metavar="METHOD,...",
            show_default=False,
            callback=listed,
            help="Try each of these instead of the spec's recoding; add an option after a colon, as in local:best.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="N,...",
            show_default=False,
            help="For each N, plan with the spec's first N quasi-identifiers: shows what each further column costs.",
        ),
    ] = None,
    classify: Annotated[
        str | None,
        typer.Option(
            "--classify",
            metavar="COLUMN",
            show_default=False,
            help="Measure how well a classifier that is trained on each release predicts this column.",
        ),
    ] = None,
) -> None:
    """Compare specs, k, recodings or columns: what privacy costs.

    Plans each of them and prints the metric, the suppressed rows and the classes of each best
    generalization side by side. Writes only temporary tables. Exit code 1: for at least one of
    them, no generalization was found. Impossible combinations are listed with the reason and
    do not count as failures. Limits apply to each run.
    """
    from kanon_sql.verbs.compare import compare as run_compare

    wanted, counts = _numbers("--k 2,5,10", ks), _numbers("--columns 1,2,3", columns)
    several = {str(path): spec for path in spec_files if (spec := spec_of_several(str(path))) is not None}
    if several:
        _refuse_for_several(run, len(several) < len(spec_files), recodings, columns, classify)
        _compare_several(run, several, wanted)
        return
    specs = _named(spec_files)
    need_database(run.database)
    engine = run.connect(read_only=True)
    found = run_compare(
        engine,
        specs,
        wanted,
        recodings=recodings or (),
        columns=counts,
        classify=classify,
        timeout=run.timeout,
        budget=run.budget(),
        report=run.report,
    )
    run.close()
    if run.format == "markdown":
        from kanon_sql.report.comparison import comparison_markdown

        run.echo(comparison_markdown(found))
    else:
        print_output(run, found)
    if run.report_file is not None:
        from kanon_sql.report.html import comparison_report

        write_report(run, comparison_report(found))
    exit_with(found.passed)


def _numbers(option: str, texts: list[str] | None) -> list[int]:
    """The numbers of an option, which stands with an example of them."""
    try:
        return numbers(texts)
    except ValueError:
        name = option.split()[0]
        raise SpecError(f"{name}: expected whole numbers separated by commas, such as {option}") from None


def _named(paths: list[Path]) -> dict[str, "Spec"]:
    """Each spec under its file's name; under its whole path where two files have one name."""
    names = [path.name for path in paths]
    shown = [str(path) if names.count(path.name) > 1 else path.name for path in paths]
    if len(set(shown)) < len(shown):
        raise SpecError("compare: the same spec is given twice; give different files")
    return {name: load_spec(path) for name, path in zip(shown, paths, strict=True)}


def _refuse_for_several(
    run: Session, mixed: bool, recodings: list[str] | None, columns: list[str] | None, classify: str | None
) -> None:
    """Refuse what is for specs of one table.

    Raises:
        SpecError: such an option was given, or such a spec.
    """
    if mixed:
        raise SpecError("compare: specs of one table and of several tables cannot be compared; give one kind")
    given = {
        "--recoding": bool(recodings),
        "--columns": bool(columns),
        "--classify": classify is not None,
        "--format markdown": run.format == "markdown",
        "--output": run.report_file is not None,
        **{f"--set {key}": True for key in run.own},
    }
    if named := [name for name, is_given in given.items() if is_given]:
        raise SpecError(f"{', '.join(named)}: compare does not take this for specs of several tables; leave it out")


def _compare_several(run: Session, specs: "dict[str, RelationalSpec]", ks: list[int]) -> None:
    """Compare specs of several tables."""
    from kanon_sql.verbs.relational_comparison import compare as run_compare

    need_database(run.database)
    engine = run.connect(read_only=True)
    found = run_compare(engine, specs, ks, timeout=run.timeout, report=run.report)
    run.close()
    print_output(run, found)
    exit_with(found.passed)
