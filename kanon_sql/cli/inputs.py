"""What the verbs are given: specs, tables in the place of one, and databases, read and refused in one way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kanon_sql.cli.options import CSV_KEYS, DRAFT_KEYS, unquoted
from kanon_sql.errors import DatabaseError, Problem, SpecError

if TYPE_CHECKING:
    from kanon_sql.cli.session import Session
    from kanon_sql.engines import Engine
    from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, Spec, TableSpec
    from kanon_sql.verbs.result import Result

    R = TypeVar("R", bound=Result)

__all__ = [
    "MEMORY",
    "csv_options",
    "drafted",
    "load_any_spec",
    "load_spec",
    "need_database",
    "need_lasting",
    "need_parties",
    "print_drafted",
    "refuse_no_draft",
    "refuse_no_task",
    "roles_from_options",
    "run_if_several",
    "spec_from_options",
    "spec_of_several",
]

MEMORY = ":memory:"


def load_spec(path: Path) -> Spec:
    """The spec in a file; importing what reads it only now.

    Raises:
        SpecError: the spec is wrong, or names no source: a program may give a table with it, a command
            does not.
    """
    from kanon_sql.spec import Spec

    spec = Spec.load(path)
    if not spec.source.given:
        message = "missing 'source'; add the table or view to anonymize, {query: ...} or {file: ...}"
        raise SpecError([Problem(message, str(path), 1, 1)])
    return spec


def load_any_spec(path: Path) -> Spec | TableSpec | CloakSpec | PerturbSpec:
    """The spec in a file, of the kind that it says it is."""
    from kanon_sql.spec import CloakSpec, PerturbSpec, TableSpec, read_yaml

    try:
        written = read_yaml(path.read_text("utf-8-sig"), str(path)).data
    except (OSError, ValueError):
        written = None  # load_spec says what is wrong
    kind = written.get("kind") if isinstance(written, dict) else None
    others = {item.of_kind: item for item in (TableSpec, CloakSpec, PerturbSpec)}
    return others[kind].load(path) if isinstance(kind, str) and kind in others else load_spec(path)


def run_if_several(
    run: Session,
    verb: str,
    path: str,
    refused: Mapping[str, bool],
    manifest: str | None = None,
    earlier: str | None = None,
) -> None:
    """Run a verb and exit, if a file is a spec of several tables.

    Args:
        run: the session.
        verb: the command: plan, anonymize, apply, check or audit.
        path: the spec, or a table, which is none.
        refused: options that are for one table -> whether they were given.
        manifest: what ``--manifest`` says, of anonymize and apply.
        earlier: the earlier release, of apply.

    Raises:
        SpecError: the spec is wrong, such an option was given, or a release would be lost.
    """
    spec = spec_of_several(path)
    if spec is None:
        return
    from kanon_sql.cli.outputs import (
        default_manifest,
        exit_with,
        manifest_path,
        print_output,
        write_manifest,
        write_report,
    )
    from kanon_sql.spec import PERSON
    from kanon_sql.verbs import relational, relational_apply, relational_audit

    given = [name for name, is_given in refused.items() if is_given]
    given += [f"--set {key}" for key in run.own]
    if given:
        raise SpecError(f"{', '.join(given)}: {verb} does not take this for a spec of several tables; leave it out")
    publishes = verb in ("anonymize", "apply")
    if publishes:
        need_lasting(run.database)
        if manifest != "none":
            manifest_path(manifest)  # refused before the run where it is a directory
    engine = run.connect(read_only=not publishes)
    verbs = {"audit": relational_audit, "apply": relational_apply}.get(verb, relational)
    named = () if earlier is None else (earlier,)
    result = getattr(verbs, verb)(engine, spec, *named, timeout=run.timeout, report=run.report)
    run.close()
    print_output(run, result)
    if publishes and result.manifest is not None and manifest != "none":
        written = manifest_path(manifest) or default_manifest(Path(path), spec.released(PERSON))
        write_manifest(written, result.manifest)
        run.message(f"manifest: {written}")
    if run.report_file is not None:
        from kanon_sql.report.related_page import related_report

        write_report(run, related_report(result))
    exit_with(result.passed)


def spec_of_several(path: str) -> RelationalSpec | None:
    """The spec of several tables in a file; None where it is of another kind, or no spec."""
    if not _names_a_spec(path):
        return None
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError):
        return None  # which reading it as a spec of one table explains
    if "person" not in text:  # a spec of one table is read once
        return None
    from kanon_sql.spec import RelationalSpec, read_yaml

    return RelationalSpec.load(path) if RelationalSpec.is_of_several(read_yaml(text, path).data) else None


def need_database(database: str) -> None:
    """Refuse to create a database where one has to be there already."""
    from kanon_sql.engines import database_kind

    if database_kind(database) == "file" and not Path(database).exists():
        raise DatabaseError(f"there is no database file {database}; give an existing file with -d FILE")


def need_lasting(database: str, instead: str = "") -> None:
    """Refuse to publish where nothing stays: in memory, or in a database that is not there.

    Args:
        database: where a release goes to.
        instead: what may be done instead, for the message.

    Raises:
        SpecError: it is in memory.
        DatabaseError: it does not exist.
    """
    if database == MEMORY:
        raise SpecError(f"a release in :memory: is lost when this process ends; give a database with -d FILE{instead}")
    need_database(database)


def need_parties(databases: Sequence[str]) -> None:
    """Refuse parties whose databases are not there.

    Raises:
        SpecError: one is in memory.
        DatabaseError: one does not exist.
    """
    for database in databases:
        if database == MEMORY:
            raise SpecError("--database: a database in memory cannot be shared between parties; give a file or a URL")
        need_database(database)


def by_column(option: str, texts: Sequence[str] | None) -> dict[str, Any]:
    """The numbers of ``--l`` or ``--t`` by column.

    Args:
        option: its name: what is whole and at least 1 for l, and a share for t.
        texts: as they were given, ``COLUMN:NUMBER``.

    Raises:
        SpecError: one has another form, or a column has two.
    """
    whole = option.endswith("l")
    example = "diagnosis:3" if whole else "diagnosis:0.3"
    found: dict[str, Any] = {}
    for item in texts or ():
        column, _, text = item.rpartition(":")
        column = unquoted(column.strip())
        if not column or not re.fullmatch(r"\d{1,9}" if whole else r"\d*\.?\d+", text.strip(), re.ASCII):
            raise SpecError(f"{option}: expected COLUMN:NUMBER, such as {example}, got {item!r}")
        if column in found:
            raise SpecError(f"{option}: column {column!r} has two numbers; give one")
        number = int(text) if whole else float(text)
        if whole and number < 1:
            raise SpecError(f"{option}: expected l of at least 1, got {text.strip()}")
        if not whole and number > 1:
            raise SpecError(f"{option}: expected t of at most 1, got {text.strip()}")
        found[column] = number
    return found


def roles_from_options(
    run: Session,
    given: str,
    quasi_identifiers: Sequence[str] | None,
    k: int | None,
    l: Sequence[str] | None,  # noqa: E741 - the name that the literature gives it
    t: Sequence[str] | None,
) -> dict[str, Any]:
    """What was said in the place of a spec, as the verbs of Python take it; nothing where a spec was given.

    Args:
        run: the session.
        given: the first argument, a spec or a table.
        quasi_identifiers: of ``--quasi-identifiers``.
        k: of ``--k``.
        l: of ``--l``.
        t: of ``--t``.

    Raises:
        SpecError: a spec was given too, or it is not said which columns are quasi-identifiers.
    """
    asked = {"--quasi-identifiers": quasi_identifiers, "--k": k, "--l": l, "--t": t}
    passed = [option for option, value in asked.items() if value]
    passed += [f"--set {key}" for key in (*DRAFT_KEYS, *CSV_KEYS) if key in run.own]
    if not passed:
        return {}
    if _names_a_spec(given):
        raise SpecError(f"{', '.join(passed)}: {given} is a spec; set this in the spec, or give a table instead")
    if not quasi_identifiers:
        raise SpecError(
            f"{', '.join(passed)}: --quasi-identifiers is missing; list the columns that an attacker may know of a "
            "person"
        )
    roles = {
        "quasi_identifiers": quasi_identifiers,
        "k": k,
        "l": by_column("--l", l) or None,
        "t": by_column("--t", t) or None,
        "unit": key_from(run, "unit"),
        **{key: [unquoted(name) for name in run.own[key]] for key in DRAFT_KEYS if key != "unit" and key in run.own},
        "csv": csv_options(run) or None,
    }
    return {key: value for key, value in roles.items() if value is not None}


def csv_options(run: Session) -> dict[str, str]:
    """How a CSV file is written, by the keys of ``source.csv``."""
    return {key: value for key in CSV_KEYS if (value := run.one(key)) is not None}


def refuse_no_task(roles: Mapping[str, Any]) -> None:
    """Refuse to check a table for nothing.

    Raises:
        SpecError: its columns are named, and no requirement.
    """
    if roles and not {"k", "l", "t"} & roles.keys():
        raise SpecError("no requirement was given; add --k 5, --l diagnosis:3 or --t diagnosis:0.3")


def key_from(run: Session, key: str) -> str | list[str] | None:
    """The column, or the columns, that ``--set KEY=COLUMN`` names; None where it is not set."""
    names = [unquoted(name) for name in run.own.get(key, ())]
    return names if len(names) > 1 else next(iter(names), None)


def _names_a_spec(given: str) -> bool:
    return Path(given).suffix.lower() in (".yml", ".yaml")


def spec_from_options(run: Session, given: str) -> Spec:
    """The spec that was given.

    Args:
        run: the session, which finds the places of problems in it.
        given: its path.

    Raises:
        SpecError: there is none, or it is wrong.
    """
    path = Path(given)
    if not _names_a_spec(given) and (path.suffix.lower() in (".parquet", ".csv") or not path.exists()):
        raise SpecError(
            f"{given}: expected a spec, a YAML file such as kanon-sql init writes; for a table, also give the "
            "quasi-identifiers and a requirement: --quasi-identifiers age,zip --k 5"
        )
    run.spec = path
    return load_spec(path)


def drafted(
    run: Session, engine: Engine, verb: str, table: str, roles: Mapping[str, Any], release_file: str | None = None
) -> tuple[Spec, str]:
    """The spec that ``init`` drafts for a table, and its text.

    Args:
        run: the session.
        engine: where the table is.
        verb: the one that needs it, for messages.
        table: its name, or a file.
        roles: of its columns, of :func:`roles_from_options`.
        release_file: the file that is released in the place of a table.

    Raises:
        SpecError: there is no such table or column.
    """
    from kanon_sql.spec import Spec
    from kanon_sql.verbs.init import init

    if "max_bytes" in run.own:
        raise SpecError(
            f"--set max_bytes: without a spec, {verb} reads the table to draft one, before the limit can be checked; "
            "write the spec with kanon-sql init, and give it here"
        )
    text = init(engine, table, **roles, timeout=run.timeout, report=run.report)
    if release_file is not None:
        file = json.dumps(release_file, ensure_ascii=False)  # a text in quotes is the same in YAML
        text = re.sub(r"(?m)^release: .*$", lambda _: f"release: {{file: {file}}}", text, count=1)
    return Spec.parse(text), text


def refuse_no_draft(run: Session, shows: bool, roles: Mapping[str, Any]) -> None:
    """Refuse ``--show spec`` where there is no draft to show, or no place for it.

    Raises:
        SpecError: a spec was given, or the result is JSON.
    """
    if shows and not roles:
        raise SpecError("--show spec prints a drafted spec; leave it out when you give a spec")
    if shows and run.format == "json":
        raise SpecError(
            "--show spec prints text; write the spec to a file with kanon-sql init, or leave --format json out"
        )


def print_drafted(run: Session, result: R, spec: Spec, shown: str | None) -> R:
    """Print a drafted spec, if ``--show spec`` asks for it.

    Args:
        run: the session.
        result: of the verb that used it.
        spec: it.
        shown: its text; None where nothing asks for it.

    Returns:
        The result, with a note of the draft.
    """
    from kanon_sql.verbs.without_spec import note_of_draft

    if shown is not None:
        run.echo(f"{shown}\n")
    return replace(result, notes=[*result.notes, note_of_draft(spec, "--show spec prints it")])
