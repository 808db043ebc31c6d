"""``anonymize``: publish a verified release, or nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanon_sql.cli.complete import one_of
from kanon_sql.cli.inputs import (
    MEMORY,
    drafted,
    need_database,
    print_drafted,
    refuse_no_draft,
    roles_from_options,
    run_if_several,
    spec_from_options,
)
from kanon_sql.cli.options import (
    CSV_KEYS,
    DRAFT_KEYS,
    LIMITS,
    MAX_BYTES,
    FailOnWarning,
    K,
    L,
    QuasiIdentifiers,
    SpecOrTable,
    T,
    listed,
    parse_show,
)
from kanon_sql.cli.outputs import (
    default_manifest,
    exit_with,
    manifest_path,
    print_result,
    refuse_directory,
    refuse_unshown,
    write_for_owner,
    write_manifest,
    write_result_report,
)
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import KanonError, SpecError

if TYPE_CHECKING:
    from kanon_sql.engines import Engine
    from kanon_sql.spec import Spec

__all__ = ["anonymize"]

SHOWN = ("minimal", "distributions", "spec")


@verb(
    "kanon-sql anonymize spec.yml -d clinic.duckdb",
    "kanon-sql anonymize spec.yml -d clinic.duckdb --manifest manifest.json",
    "kanon-sql anonymize spec.yml -d clinic.duckdb --format json -q",
    "kanon-sql anonymize spec.yml -d clinic.duckdb -o report.html",
    "kanon-sql anonymize spec.yml -d clinic.duckdb --set comment=true",
    "kanon-sql anonymize spec.yml -d clinic.duckdb --set max_seconds=600",
    "kanon-sql anonymize visits -d clinic.duckdb --quasi-identifiers age --k 5",
    "kanon-sql anonymize files.yml",
    scratch=True,
    reports=True,
    keys={
        "dictionary": "FILE.md; also write the data dictionary of the release",
        "comment": "true to also write a comment on each column, before the table gets its name",
        **LIMITS,
        **MAX_BYTES,
        **DRAFT_KEYS,
        **CSV_KEYS,
    },
)
def anonymize(
    run: Session,
    spec_or_table: SpecOrTable,
    manifest: Annotated[
        str | None,
        typer.Option(
            "--manifest",
            metavar="PATH",
            show_default=False,
            help="Where to write the manifest; none keeps it in the database only. If not given, "
            "RELEASE.manifest.json in the spec's directory, or FILE.manifest.json next to a released file.",
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="WHAT,...",
            show_default=False,
            callback=listed,
            autocompletion=one_of(*SHOWN),
            help="Show more: minimal (all k-minimal and locally minimal generalizations), distributions (rows by "
            "label, before and after; this shows labels), spec (the draft, if no spec was given).",
        ),
    ] = None,
    fail_on_warning: FailOnWarning = False,
    quasi_identifiers: QuasiIdentifiers = None,
    k: K = None,
    l: L = None,  # noqa: E741 - the name that the literature gives it
    t: T = None,
) -> None:
    """Publish a verified anonymous release, or publish nothing.

    Searches as plan does, writes the generalized table under a scratch name, verifies it with
    an independent query, and then publishes it under the release's name in one step,
    replacing an earlier release. The manifest records how, without any value of the data.
    With release: {file: out.parquet} in the spec, the release is a file (Parquet, CSV, Excel,
    Stata or SPSS), which is read back and verified; if the source is a file too, no database
    is needed. Exit code 1: no generalization that satisfies the requirements was found, and
    nothing was published. Ctrl-C publishes nothing.

    Without a spec, name the table and its --quasi-identifiers; init drafts the spec, and
    --show spec prints it. The release of visits is then visits_release, and without a database
    that of visits.csv is the file visits_release.csv.
    """
    from kanon_sql.cli.streams import messages_on_stderr, with_streams, write_release
    from kanon_sql.release import file_manifest, file_of
    from kanon_sql.verbs.anonymize import anonymize as run_anonymize
    from kanon_sql.verbs.details import counted_anyway

    shown = parse_show(show, SHOWN)
    comment, named = run.flag("comment"), run.one("dictionary")
    dictionary = None if named is None else Path(named)
    refuse_unshown(run, "distributions" in shown)
    roles = roles_from_options(run, spec_or_table, quasi_identifiers, k, l, t)
    one_table = {
        "--show": bool(show), "--set dictionary": dictionary is not None, "--set comment": comment,
        "--fail-on-warning": fail_on_warning,
    }  # fmt: skip
    refuse_directory(dictionary, "--set dictionary")
    run_if_several(run, "anonymize", spec_or_table, one_table, manifest)
    refuse_no_draft(run, "spec" in shown, roles)
    budget = run.budget()
    if roles:
        spec, draft = _drafted(run, spec_or_table, roles)
    else:
        spec, draft = spec_from_options(run, spec_or_table), ""
    is_file = spec.release_file is not None
    in_database_only = manifest == "none"
    if is_file and in_database_only:
        raise SpecError(
            "--manifest none: a released file needs its manifest next to it, so that a later run may replace the "
            "file; leave the option out"
        )
    if run.database == MEMORY and not is_file:
        raise SpecError(
            "a release in :memory: is lost when this process ends; give a database with -d FILE, or publish a file: "
            "release: {file: out.parquet}"
        )
    path = None
    if not in_database_only:
        # A file has its manifest next to it in any case.
        near = Path.cwd() / "spec.yml" if roles else Path(spec_or_table)
        path = manifest_path(manifest) or (None if is_file else default_manifest(near, spec.release or ("release",)))
    if spec.source.table is not None or is_file:
        need_database(run.database)
    with with_streams(spec) as spec:
        engine = run.engine or run.connect(read_only=is_file)
        run.keep_below(spec, "anonymize")
        result = run_anonymize(
            engine,
            spec,
            timeout=run.timeout,
            report=run.report,
            budget=budget,
            all_minimal="minimal" in shown,
            details=run.report_file is not None or counted_anyway(engine, spec),
            distributions="distributions" in shown,
            comments=comment,
            fail_on_warning=fail_on_warning,
        )
        described = _described(run, engine, spec) if dictionary is not None and result.passed else ""
        if roles:
            result = print_drafted(run, result, spec, draft if "spec" in shown else None)
        with messages_on_stderr(spec) as streams:
            if not (streams and run.quiet):
                print_result(run, result, all_minimal="minimal" in shown)
        if streams and result.passed:
            run.close()
            write_release(spec)
        elif is_file and result.manifest is not None:
            run.message(f"manifest: {file_manifest(file_of(spec))}")
    if path is not None and result.manifest is not None:
        write_manifest(path, result.manifest)
        run.message(f"manifest: {path}")
    if described:
        assert dictionary is not None
        write_for_owner(dictionary, described, "its dictionary", "kanon-sql release dictionary makes it again")
        run.message(f"dictionary: {dictionary}")
    write_result_report(run, result)
    exit_with(result.passed)


def _described(run: Session, engine: "Engine", spec: "Spec") -> str:
    """The data dictionary of what was just published.

    Raises:
        SpecError: it cannot be made; the release stands.
    """
    from kanon_sql.report.evidence import dictionary_markdown
    from kanon_sql.verbs.evidence import data_dictionary

    try:
        return dictionary_markdown(data_dictionary(engine, spec, timeout=run.timeout, report=run.report))
    except KanonError as error:
        raise SpecError(
            f"the release is published, but not its dictionary; write it with release dictionary. {error}"
        ) from None


def _drafted(run: Session, table: str, roles: Mapping[str, Any]) -> "tuple[Spec, str]":
    """The spec that ``init`` drafts for a table, once it is known where the release stays.

    That of a file is a file beside the working directory where no database is named.
    """
    is_file = Path(table).suffix.lower() in (".parquet", ".csv")
    if run.database == MEMORY and not is_file:
        raise SpecError("a release in :memory: is lost when this process ends; give a database with -d FILE")
    if not is_file:
        need_database(run.database)
    if run.database != MEMORY:
        return drafted(run, run.connect(), "anonymize", table, roles)
    path = Path(f"{Path(table).stem}_release{Path(table).suffix.lower()}")
    return drafted(run, run.connect(read_only=True), "anonymize", table, roles, release_file=str(path))
