"""The manifest: a table beside the releases that says which run published what, and how.

A run's row is written with ``published_at`` at once where publishing is one transaction. Elsewhere it is written as
``pending`` before the release gets its name, and settled, that is written with its time, afterwards. So a row that is
not pending is about a release that stood under its name, verified. Where rows cannot be deleted, the pending row stays
beside the settled one, and a row that says ``withdrawn`` takes those of its run back.

A release is recognized by more than its name: the table carries the mark of the run that wrote it (``Dialect.mark``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from kanon_sql.engines import Engine, Workspace, open_workspace
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.spec import Origin, format_table_name, parse_table_name
from kanon_sql.sql import Relation

__all__ = [
    "MANIFEST_TABLE",
    "MAX_PENDING",
    "Kind",
    "Pending",
    "Record",
    "derived_id",
    "is_perturbed",
    "kind_of",
    "marks_perturbed",
    "pending_records",
    "published_manifest",
    "recorded_state",
    "release_key",
    "scratch_name",
    "under_another_id",
    "was_published",
]

MANIFEST_TABLE = "kanon_sql_manifest"

MAX_PENDING = 10_000
"""More runs that were cut off while they published are an error."""

_PENDING, _WITHDRAWN = "pending", "withdrawn"

_RUN_ID = re.compile(r"[0-9a-z]{1,64}")

_DERIVED_ID = re.compile(r"[0-9a-f]{8}(01|02|03)")
"""What a run publishes that is no release of true rows has an id of its own, made of that of the run."""

Kind = Literal["release", "recoding", "history", "perturbed"]
_ENDS: dict[str, Kind] = {"01": "recoding", "02": "history", "03": "perturbed"}

State = Literal["pending", "published"]


def derived_id(run_id: str, kind: Kind) -> str:
    """The id under which a run publishes the recoding or a history beside its release, or what is untrue."""
    return run_id + next(end for end, its_kind in _ENDS.items() if its_kind == kind)


def kind_of(run_id: str) -> Kind:
    """What a table with this id as its mark is: a release, a recoding that was kept, a history, or perturbed rows."""
    found = _DERIVED_ID.fullmatch(run_id)
    return "release" if found is None else _ENDS[found[1]]


def release_key(engine: Engine, release: tuple[str, ...]) -> str:
    """A release's name in the manifest: its last part, as the database compares names."""
    return engine.capabilities.folded(release[-1])


@dataclass(frozen=True)
class Record:
    """What a manifest says, or is to say, of one run.

    Attributes:
        workspace: where.
        table: the manifest.
        run_id: the run.
    """

    workspace: Workspace
    table: Relation
    run_id: str

    def publish(self, spec: Origin, manifest: Mapping[str, Any]) -> None:
        """Write that the release stands, inside the transaction that puts it there."""
        self._insert(spec, manifest, manifest["published_at"])

    def announce(self, spec: Origin, manifest: Mapping[str, Any]) -> None:
        """Write that the release is about to get its name."""
        self._insert(spec, manifest, _PENDING)

    def _insert(self, spec: Origin, manifest: Mapping[str, Any], published_at: str) -> None:
        assert spec.release is not None
        self.workspace.execute(
            "release/manifest/insert",
            table=self.table,
            release_name=release_key(self.workspace.engine, spec.release),
            run_id=self.run_id,
            published_at=published_at,
            spec_hash=spec.hash,
            manifest=json.dumps(manifest, sort_keys=True),
        )

    def settle(self, published_at: str) -> None:
        """Write that what was announced stands under its name. Who was cut off in here may do it again."""
        self.workspace.execute(
            "release/manifest/settle", table=self.table, run_id=self.run_id, published_at=published_at, pending=_PENDING
        )
        if self.workspace.dialect.deletes:
            self.workspace.execute("release/manifest/settled", table=self.table, run_id=self.run_id, pending=_PENDING)

    def withdraw(self) -> None:
        """Take back what was announced."""
        self.workspace.execute("release/manifest/withdraw", table=self.table, run_id=self.run_id)


def recorded_state(workspace: Workspace, table: Relation, release_name: str, run_id: str) -> State | None:
    """Whether a run published a release, as its manifest says; None when it says nothing of it."""
    rows = workspace.fetch("release/manifest/find", MAX_PENDING, table=table, release_name=release_name, run_id=run_id)
    found = {str(row[0]) for row in rows}
    if not found or _WITHDRAWN in found:
        return None
    return "pending" if found == {_PENDING} else "published"


def is_perturbed(engine: Engine, parts: tuple[str, ...]) -> bool:
    """Whether a table's own mark says that its values are untrue. Anyone who may read the table may read its mark."""
    run_id = engine.mark(parts)
    return run_id is not None and marks_perturbed(run_id)


def marks_perturbed(run_id: str) -> bool:
    """Whether the run of a mark made values untrue."""
    return kind_of(run_id) == "perturbed"


@contextmanager
def under_another_id(engine: Engine, kind: Kind) -> Iterator[None]:
    """A run has one release of true rows: whatever else it publishes has a mark, a manifest and names of its own."""
    before = engine.run_id
    engine.run_id = derived_id(before, kind)
    try:
        yield
    finally:
        engine.run_id = before


@dataclass(frozen=True, slots=True)
class Pending:
    """A release that was announced, by a run that is still publishing it or was cut off.

    Attributes:
        release_name: the last part of its name, as the database compares names.
        run_id: the run.
        published_at: when it was about to be published.
        ledger: the name parts of the ledger that it was entered into, if there is one.
        number: which of the tables it is that its run was publishing together; None where it is the only one.
    """

    release_name: str
    run_id: str
    published_at: str
    ledger: tuple[str, ...] | None
    number: int | None = None

    def scratch(self, what: str) -> str:
        """The name of a scratch table of its run: ``release``, or ``old`` for the release that it replaces."""
        return scratch_name(self.run_id, what, self.number)


def scratch_name(run_id: str, what: str, number: int | None) -> str:
    """The name of a scratch table beside a release, see :meth:`Pending.scratch`."""
    return f"kanon_{run_id}_{what}{'' if number is None else number}"


def was_published(engine: Engine, place: tuple[str, ...], items: Sequence[Pending]) -> bool:
    """Whether what a run announced got its names: it stands under them, with the mark of the run.

    Where several tables get their names at once, one that does not stand there was dropped since.
    """
    stand = (
        item.run_id in (engine.mark((*place, item.release_name)), engine.view_mark((*place, item.release_name)))
        for item in items
    )
    return any(stand) if engine.capabilities.renames_together else all(stand)


def pending_records(workspace: Workspace, table: Relation) -> list[Pending]:
    """What a manifest holds as announced and not as settled."""
    rows = workspace.fetch("release/manifest/pending", MAX_PENDING, table=table, pending=_PENDING)
    return [_pending(str(name), str(run_id), json.loads(str(text))) for name, run_id, text in rows]


def _pending(release_name: str, run_id: str, manifest: Mapping[str, Any]) -> Pending:
    ledger = manifest.get("spec", {}).get("ledger")  # a rendered script's manifest has no spec
    name = None if ledger is None else parse_table_name(ledger["table"])
    return Pending(release_name, run_id, str(manifest["published_at"]), name, manifest.get("table_number"))


def manifest_of(engine: Engine, parts: tuple[str, ...]) -> dict[str, Any] | None:
    """The manifest of a table; None where no run has marked it, or none of its manifests can be read.

    A copy of the table elsewhere keeps the mark, and has no manifest there.

    Args:
        engine: from :func:`kanon_sql.connect`, with a run open.
        parts: the table.
    """
    run_id = engine.mark(parts)
    if run_id is None:
        return None
    try:
        return published_manifest(engine, run_id, format_table_name(parts[:-1]) if parts[:-1] else None)
    except KanonError:
        return None


def published_manifest(engine: Engine, run_id: str, schema: str | None = None) -> dict[str, Any]:
    """The manifest that a run left beside its release.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        run_id: the run, as its manifest names it.
        schema: where the release is, if not in the default schema.

    Raises:
        SpecError: there is no such run, or it was cut off while it published.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise SpecError(
            f"{run_id!r} is neither a file nor the id of a run; give the JSON file of a result, or a run id"
        )
    table = Relation((*(parse_table_name(schema) if schema is not None else ()), MANIFEST_TABLE))
    with open_workspace(engine, "") as workspace:
        if not engine.shared(table.parts):
            raise SpecError(
                f"this database has no table {'.'.join(table.parts)}, so no release was published there; name "
                "the release's --schema, or another database"
            )
        rows = workspace.fetch("release/manifest/read", MAX_PENDING, table=table, run_id=run_id)
    settled = [text for published_at, text in rows if published_at != _PENDING]
    if rows and not settled:
        raise SpecError(
            f"the run {run_id} is recorded in {'.'.join(table.parts)} as pending: it is still publishing, or was "
            "interrupted; when no run publishes, run kanon-sql clean --yes, which completes it or removes what "
            "it left"
        )
    if not settled or not settled[0]:
        raise SpecError(
            f"no release of the run {run_id} is recorded in {'.'.join(table.parts)}; expected the id in its result or "
            "manifest shows"
        )
    found: dict[str, Any] = json.loads(str(settled[0]))
    return found
