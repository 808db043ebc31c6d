"""``doctor``: what a connection may do, found out by trying, which verbs would work on it, and what a spec hinders.

Every probe is undone at once: tables are created in a transaction that is rolled back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql.engines import Engine, Workspace, open_workspace
from kanon_sql.errors import KanonError
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.dbt import ADAPTERS
from kanon_sql.verbs.functions import DIALECTS as WITH_FUNCTIONS
from kanon_sql.verbs.preflight import obstacles
from kanon_sql.verbs.sqlmesh import DIALECTS

if TYPE_CHECKING:
    from kanon_sql.spec import CloakSpec, PerturbSpec, TableSpec

__all__ = ["Check", "DoctorResult", "VerbCheck", "doctor"]

_OF_KIND = {
    "release": {
        "plan": "plan",
        "anonymize": "anonymize",
        "check": "check",
        "release apply": "apply",
        "release refresh": "refresh",
        "release certify": "certify",
        "pipeline render": "render",
        "pipeline dbt": "dbt",
        "pipeline sqlmesh": "sqlmesh",
        "pipeline functions": "functions",
    },
    "table": {"publish table": "tabulate"},
    "positions": {"publish positions": "cloak"},
    "perturbed": {"publish perturbed": "perturb"},
}
"""The kind of a spec -> the verbs that take one, as they are called, and the name of their rules."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried.

    Attributes:
        key: for programs.
        name: in words.
        ok: whether it works.
        detail: what that means, or why not.
    """

    key: str
    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class VerbCheck:
    """Whether a verb would work here, and what it needs."""

    name: str
    works: bool
    needs: str


@dataclass(frozen=True)
class DoctorResult:
    """What this connection may do.

    Attributes:
        database: its label, without credentials.
        engine, version: the kind of database.
        read_only: whether the connection refuses to write.
        checks: what was tried.
        verbs: what would work.
        obstacles: verb -> what of the spec that was given stands in its way, for those that take one of its kind; None
            without a spec.
        not_asked: verb -> why the spec does not ask for it, for those of its kind of which it says nothing.
    """

    database: str
    engine: str
    version: str
    read_only: bool
    checks: tuple[Check, ...]
    verbs: tuple[VerbCheck, ...]
    obstacles: Mapping[str, tuple[str, ...]] | None = None
    not_asked: Mapping[str, str] = field(default_factory=dict)

    def works(self, verb: str) -> bool:
        """Whether a verb would work here, with the spec that was given."""
        hindered = self.obstacles is not None and bool(self.obstacles.get(verb))
        return (
            not hindered and verb not in self.not_asked and any(item.works for item in self.verbs if item.name == verb)
        )

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object."""
        return {
            "verb": "doctor",
            "database": self.database,
            "engine": self.engine,
            "version": self.version,
            "read_only": self.read_only,
            "checks": {item.key: {"ok": item.ok, "detail": item.detail} for item in self.checks},
            "verbs": {item.name: {"works": item.works, "needs": item.needs} for item in self.verbs},
            "obstacles": None if self.obstacles is None else {verb: list(why) for verb, why in self.obstacles.items()},
            "not_asked": dict(self.not_asked),
        }


def doctor(engine: Engine, spec: Spec | TableSpec | CloakSpec | PerturbSpec | None = None) -> DoctorResult:
    """Try out what a connection may do, and say what of a spec cannot be here. Leaves nothing behind.

    Args:
        engine: from :func:`kanon_sql.connect`.
        spec: what verbs are to do; of it no statement is made.
    """
    with open_workspace(engine, "") as workspace:
        workspace.report("testing the connection", None)
        text = _exact_text(workspace)
        scratch = _scratch_tables(workspace)
        tables, rollback = _tables(workspace)
        leftovers, readable = _leftovers(engine)
        checks = (
            text,
            scratch,
            tables,
            rollback,
            _publishing(engine),
            _files(engine),
            leftovers,
            _states(engine),
            _row_versions(engine),
        )
    exact = text.ok
    searches = exact and scratch.ok
    verbs = (
        *(VerbCheck(name, exact, "the right to read") for name in ("init", "check", "risk", "audit")),
        VerbCheck("release ledger", True, "the right to read, and a release in a ledger"),
        *(
            VerbCheck(name, searches, "scratch tables, or none of them (inline)")
            for name in ("hierarchy", "plan", "compare", "explore", "release certify")
        ),
        VerbCheck(
            "pipeline dbt",
            searches and engine.dialect.name in ADAPTERS,
            "what plan needs, a dbt project, and an engine that the dbt package supports",
        ),
        VerbCheck(
            "pipeline sqlmesh",
            exact and engine.dialect.name in DIALECTS,
            "the right to read, on an engine it writes audits for",
        ),
        VerbCheck(
            "pipeline functions",
            exact and engine.dialect.name in WITH_FUNCTIONS,
            "the right to read, on an engine it writes functions for",
        ),
        *(
            VerbCheck(
                name,
                searches and tables.ok and readable and not engine.ephemeral,
                "scratch tables or none of them, tables that outlive the connection, and those of kanon_sql readable",
            )
            for name in ("anonymize", "release apply", "publish table")
        ),
        *(
            VerbCheck(
                name,
                searches and tables.ok and readable and not engine.ephemeral and engine.scratch.mode != "inline",
                "scratch tables, tables that outlive the connection, and those of kanon_sql readable",
            )
            for name in ("release refresh", "publish positions", "publish perturbed")
        ),
    )
    hindered, not_asked = None, {}
    if spec is not None:
        not_asked = _not_asked(spec)
        hindered = {
            verb: tuple(dict.fromkeys(item.message for item in obstacles(engine, spec, rules)))
            for verb, rules in _OF_KIND[spec.kind].items()
            if verb not in not_asked
        }
    return DoctorResult(
        engine.label, engine.dialect.name, engine.version, engine.read_only, checks, verbs, hindered, not_asked
    )


def _not_asked(spec: Spec | TableSpec | CloakSpec | PerturbSpec) -> dict[str, str]:
    """Verbs that only a part of the specs of a kind is for, where this spec is not among them."""
    if isinstance(spec, Spec) and spec.state is None:
        return {"release refresh": "not asked for: the spec has no state, so the release does not grow"}
    return {}


def _exact_text(workspace: Workspace) -> Check:
    (different,) = workspace.row("verbs/doctor/probe_text")
    ok = different == 4
    return Check(
        "exact_text",
        "compares text exactly",
        ok,
        "letter case, accents and trailing spaces count"
        if ok
        else "the collation merges different texts into one group",
    )


def _scratch_tables(workspace: Workspace) -> Check:
    name, scratch = "keeps scratch tables", workspace.engine.scratch
    if scratch.mode == "inline":
        return Check("scratch", name, True, f"none (inline): {scratch.reason}; every statement reads the source")
    where = f"in schema {'.'.join(scratch.schema)}" if scratch.mode == "schema" else "as temporary tables"
    try:
        target = workspace.table("probe")
        workspace.execute("verbs/doctor/probe_create", target=target, temporary=True)
        workspace.drop(target)
    except KanonError as error:
        return Check("scratch", name, False, f"{where}: {error}")
    return Check("scratch", name, True, f"{where}: tried one and dropped it")


def _publishing(engine: Engine) -> Check:
    atomic = engine.capabilities.atomic_replace
    detail = (
        "a reader sees the old release or the new one"
        if atomic
        else "between dropping the old release and naming the new one a reader finds none"
    )
    return Check("atomic_replace", "replaces a release at once", atomic, detail)


class _Undo(Exception):
    """Leaves a transaction by rolling it back."""


def _tables(workspace: Workspace) -> tuple[Check, Check]:
    """Create a table in a transaction that is rolled back, and see whether it is gone."""
    engine = workspace.engine
    name, rollback = "creates tables", "rolls DDL back"
    if engine.read_only:
        refused = "the connection is read-only"
        return Check("tables", name, False, refused), Check("transactional_ddl", rollback, False, refused)
    target = Relation((f"kanon_{workspace.run_id}_doctor",))
    try:
        with engine.transaction():
            workspace.execute("verbs/doctor/probe_create", target=target, temporary=False)
            raise _Undo
    except _Undo:
        pass
    except KanonError as error:
        refused = str(error)
        return Check("tables", name, False, refused), Check("transactional_ddl", rollback, False, "not tried")
    created = Check("tables", name, True, "tried one inside a transaction")
    if engine.exists(target.parts) is None:
        return created, Check("transactional_ddl", rollback, True, "the table was gone after a rollback")
    workspace.execute("engines/scratch/drop", target=target)
    return created, Check("transactional_ddl", rollback, False, "the table was still there after a rollback")


def _row_versions(engine: Engine) -> Check:
    """Tables whose rows are merged some time after they were written."""
    name = "has each row once"
    found = engine.row_versions()
    if not found:
        return Check("row_versions", name, True, "no table of this schema merges rows later")
    listed = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return Check(
        "row_versions", name, False,
        f"rows of {listed} are merged later; such a table is read with FINAL, in a source query or a view that says so "
        "behind its name, or where the spec says count_versions: true under source",
    )  # fmt: skip


def _files(engine: Engine) -> Check:
    name = "reads Parquet and CSV files"
    if not engine.capabilities.files:
        return Check("files", name, False, "this engine reads tables only")
    try:
        with tempfile.TemporaryDirectory(prefix="kanon_sql_") as directory:
            probe = Path(directory) / "probe.csv"
            probe.write_text("probe\n1\n", encoding="utf-8")
            engine.columns(engine.relation(table=None, query=None, file=str(probe)))
    except (KanonError, OSError) as error:
        return Check("files", name, False, str(error) or type(error).__name__)
    return Check("files", name, True, "read a small CSV file")


def _states(engine: Engine) -> Check:
    """The states of releases that grow, which are as sensitive as their sources."""
    name = "lists states of releases"
    try:
        objects = clean(engine, drop=False, states=True).objects
    except KanonError as error:
        return Check("states", name, False, f"the record of states cannot be read: {error}")
    if not objects:
        return Check("states", name, True, "none is recorded in the schema kanon_state")
    listed = ", ".join(item.name if item.state != "left over" else f"{item.name} (left over)" for item in objects)
    return Check("states", name, True, f"{listed}: as sensitive as the source; see kanon-sql clean --state")


def _leftovers(engine: Engine) -> tuple[Check, bool]:
    """What killed runs left, and whether what runs share can be read: another role may have made it."""
    name = "has no leftovers"
    try:
        objects = clean(engine, drop=False).objects
    except KanonError as error:
        return Check("no_leftovers", name, False, f"the record of earlier runs cannot be read: {error}"), False
    if not objects:
        return Check("no_leftovers", name, True, "no scratch table is recorded"), True
    return Check("no_leftovers", name, False, f"{len(objects)} recorded; see kanon-sql clean"), True
