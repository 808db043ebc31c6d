"""The state of a release that grows: what later refreshes need to know, in a schema that no other user may read.

    kanon_sql_state        one row per run whose release has a state: levels, watermark, batches taken, counts
    kanon_RUN_published    every vector of values that was released, its labels, its batch, and in how many rows
    kanon_RUN_waiting      the rows of the source that could not be released yet

A state is that of the run whose mark the release carries: whatever else a killed run left is not looked at. So it
is made before the release is published, and becomes valid by that; where one transaction changes both, it is one.
It holds values and persons, and is as sensitive as the source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.release.ledger import digest_of
from kanon_sql.release.manifest import MANIFEST_TABLE, MAX_PENDING
from kanon_sql.spec import YEARS, Spec, format_table_name, parse_table_name, sha256
from kanon_sql.sql import Relation, Statement

__all__ = [
    "STATE_TABLE",
    "State",
    "drop_state",
    "forget_state",
    "open_state_schema",
    "promise_of",
    "refuse_growing",
    "refuse_other_state",
    "state_of",
    "states_in",
    "write_state",
]

STATE_TABLE = "kanon_sql_state"
"""Where the states in a schema are recorded."""

MAX_STATES = 10_000


@dataclass(frozen=True)
class State:
    """What is known of a release that grows.

    Attributes:
        schema: where it is kept.
        run_id: the run whose release it belongs to.
        tables: the run whose id is in the names of its tables.
        release: the name parts of the release.
        created_at: when the row was written, UTC.
        columns: the source's columns that it keeps, in the source's order; the n-th is its column ``cN``.
        types: column -> type and kind, of these and of the watermark.
        forms: column -> the form of its values so far, where its type promises none.
        node: quasi-identifier -> level at which the release shows it.
        promise: a digest of what later refreshes must have in common with this run.
        watermark: the highest that was taken, as text; None for none.
        batch: the number of the last batch that was released.
        whole_until: classes of batches up to this one leave whole: they were released at finer levels, too, and how
            many of a finer class would go is not known any more.
        taken: the names of the batches that were taken.
        rows: ``published``, ``waiting``, ``retired`` (have left the release, and are in the source), and ``source``.
    """

    schema: tuple[str, ...]
    run_id: str
    tables: str
    release: tuple[str, ...]
    created_at: str
    columns: tuple[str, ...]
    types: Mapping[str, Sequence[str]]
    forms: Mapping[str, str]
    node: Mapping[str, int]
    promise: str
    watermark: str | None
    batch: int
    whole_until: int
    taken: tuple[str, ...]
    rows: Mapping[str, int]

    @property
    def published(self) -> Relation:
        """The table of what was released."""
        return Relation((*self.schema, f"kanon_{self.tables}_published"))

    @property
    def waiting(self) -> Relation:
        """The table of what waits."""
        return Relation((*self.schema, f"kanon_{self.tables}_waiting"))

    def after(self, run_id: str, *, tables: str | None = None, **changes: Any) -> State:
        """The state once another run has changed it.

        Args:
            run_id: the run.
            tables: the run whose id is in the names of the tables then; the same as now by default.
            changes: fields that are others then.
        """
        return replace(self, run_id=run_id, tables=tables or self.tables, created_at=now(), **changes)

    @property
    def position(self) -> Mapping[str, int]:
        """Column of the source -> its number in the state's tables."""
        return {name: number for number, name in enumerate(self.columns)}


def registry(schema: tuple[str, ...]) -> Relation:
    """The record of the states in a schema."""
    return Relation((*schema, STATE_TABLE))


def open_state_schema(workspace: Workspace, schema: tuple[str, ...]) -> None:
    """Make the schema of a state and its record unless they are there, and see that no other user may read them.

    Raises:
        SpecError: others may read it; or it is not there, and is not made by SQL.
        UnsupportedError: the engine does not say who may.
        DatabaseError: the schema is not there and cannot be made.
    """
    dialect, engine = workspace.dialect, workspace.engine
    query = dialect.readers(schema)
    table = registry(schema)
    named = dialect.schemas_named(schema)
    if named is not None and not _counted(workspace, named):
        raise SpecError(
            f"state: there is no schema {format_table_name(schema)!r}, and {dialect.name} makes none: its "
            "schemas are the file, called main, and what is attached to it; write state: {schema: main}, and protect "
            "the file like the source"
        )
    if not engine.shared(table.parts):
        if (sql := dialect.create_schema(schema)) is not None:
            with suppress(DatabaseError):  # it may be there, made by a user who may
                workspace.run(Statement("release/state/schema", sql, quoted=dialect.quoted))
        workspace.create_shared("release/manifest/create", table)
    if query is None:
        return
    others = _counted(workspace, query)
    shown = format_table_name(schema)
    if others is None and not _counted(workspace, dialect.schemas_created_by_us(schema)):
        raise SpecError(
            f"state: this user cannot see who else may read {shown!r}, and a state is as sensitive as the "
            "source; name a schema that does not exist yet, which is then created for states, or connect as a "
            "user who may see grants"
        )
    if others:
        raise SpecError(
            f"state: {others} other users or roles may read the schema {shown!r}, and a state is as sensitive as "
            "the source; revoke their right to it, or name a schema that does not exist yet, which is then "
            "created for its owner alone"
        )


def _counted(workspace: Workspace, query: str | None) -> int | None:
    """What a query of the catalog counts; None where this user may not ask, or there is nothing to ask."""
    if query is None:
        return None
    try:
        ((count,),) = workspace.query(Statement("release/state/readers", query, quoted=workspace.dialect.quoted), 1)
    except DatabaseError:
        return None
    return int(count)


def state_of(workspace: Workspace, schema: tuple[str, ...], release: tuple[str, ...]) -> State | None:
    """The state of the release that stands under a name; None where it has none.

    Args:
        workspace: where.
        schema: where states are kept.
        release: the release's name.
    """
    engine, table = workspace.engine, registry(schema)
    run_id = engine.mark(release) if engine.exists(release) == "table" else None
    if run_id is None or not engine.shared(table.parts):
        return None
    rows = workspace.fetch("release/manifest/read", MAX_PENDING, table=table, run_id=run_id)
    return None if not rows else _read(schema, str(rows[0][1]))


def refuse_growing(workspace: Workspace, spec: Spec, run_id: str | None) -> None:
    """Refuse to put a release made again in the place of one that grows, whatever the spec says of its state.

    Args:
        workspace: where.
        spec: names the release.
        run_id: the run whose release stands under the name; None where there is none.

    Raises:
        SpecError: that release has a state.
    """
    if run_id is None or spec.release is None:
        return
    manifest = Relation((*spec.release[:-1], MANIFEST_TABLE))
    rows = workspace.fetch("release/manifest/read", MAX_PENDING, table=manifest, run_id=run_id)
    record = [json.loads(str(text)) for _, text in rows if text]
    kept = next((item["spec"]["state"] for item in record if (item.get("spec") or {}).get("state")), None)
    if kept is not None and state_of(workspace, parse_table_name(kept["schema"]), spec.release) is not None:
        raise SpecError(
            f"state: {format_table_name(spec.release)} is a growing release already: kanon-sql release refresh "
            "adds new rows to it. A second release of the same rows could be compared with the first row by "
            "row; to start again all the same, drop the state by kanon-sql clean --state --schema "
            f"{kept['schema']}"
        )


def states_in(workspace: Workspace, schema: tuple[str, ...]) -> list[State]:
    """All states that are recorded in a schema, those that a killed run left among them."""
    table = registry(schema)
    if not workspace.engine.shared(table.parts):
        return []
    rows = workspace.fetch("release/ledger/entries", MAX_STATES, table=table)
    return [_read(schema, str(row[0])) for row in rows]


def _read(schema: tuple[str, ...], text: str) -> State:
    """A state as :func:`write_state` wrote it.

    Raises:
        SpecError: something else has written it.
    """
    try:
        record = json.loads(text)
        lists = {key: tuple(record[key]) for key in ("release", "columns", "taken")}
        return State(**{**record, **lists, "schema": schema})
    except (ValueError, KeyError, TypeError):
        raise SpecError(
            f"state: {format_table_name(registry(schema).parts)!r} holds a row that this version of kanon_sql "
            "cannot read; upgrade kanon_sql, or name another schema"
        ) from None


def write_state(workspace: Workspace, state: State) -> None:
    """Record a state."""
    record = {key: value for key, value in asdict(state).items() if key != "schema"}
    workspace.execute(
        "release/manifest/insert",
        table=registry(state.schema),
        release_name=format_table_name(state.release),
        run_id=state.run_id,
        published_at=state.created_at,
        spec_hash=state.promise,
        manifest=json.dumps(record, sort_keys=True),
    )


def forget_state(workspace: Workspace, state: State) -> None:
    """Take the record of a state back; its tables stay."""
    workspace.execute("release/manifest/withdraw", table=registry(state.schema), run_id=state.run_id)


def drop_state(workspace: Workspace, state: State) -> None:
    """Drop the tables of a state, and forget it."""
    for table in (state.published, state.waiting):
        workspace.execute("engines/scratch/drop", target=table)
    forget_state(workspace, state)


def promise_of(spec: Spec) -> str:
    """A digest of what all runs of a release that grows have in common: columns, hierarchies, requirements, watermark.

    By another watermark, or in another source, rows that were taken would be new once more, and a class would count
    each of them twice. Without a watermark the spec's source is not read again for rows that are new.
    """
    return sha256(_promised(spec))


def _promised(spec: Spec) -> dict[str, Any]:
    """What a promise is the digest of."""
    record = spec.to_dict()
    common = ("unit", "quasi_identifiers", "sensitive", "keep", "privacy", "nulls")
    digests = {name: digest_of(spec, column) for name, column in spec.quasi_identifiers.items()}
    watermark = None if spec.increments is None else spec.increments.watermark
    source = None if watermark is None else record["source"]
    return {**{key: record[key] for key in common}, "digests": digests, "watermark": watermark, "source": source}


def _year_of(spec: Spec, state: State) -> int | None:
    """The year in which a state was begun, where nothing but the year differs."""
    dated = {name: column for name, column in spec.quasi_identifiers.items() if column.names_release_year}
    if not dated:
        return None
    promised = _promised(spec)
    for year in range(YEARS[0], YEARS[1] + 1):
        digests = {name: digest_of(spec, column.in_year(year)) for name, column in dated.items()}
        if sha256({**promised, "digests": {**promised["digests"], **digests}}) == state.promise:
            return year
    return None


def refuse_other_state(spec: Spec, state: State, columns: Sequence[str]) -> None:
    """Refuse to go on with the state of another spec, or of a table that has lost a column.

    Raises:
        SpecError: says what differs.
    """
    if state.promise != promise_of(spec):
        if (year := _year_of(spec, state)) is not None:
            raise SpecError(
                f"release_year: {format_table_name(state.release)} was started in {year}, and its labels depend "
                f"on the year, which is {spec.year} now; it would have labels of two years. Start another "
                f"release under another name, or write release_year: {year} in the spec to keep the labels of "
                "that year"
            )
        raise SpecError(
            f"state: {format_table_name(state.release)} was started with other quasi-identifiers, hierarchies, "
            "sensitive or kept columns, unit, requirements, nulls, watermark or source than this spec has, and "
            "what was released cannot be taken back; use the spec that it was started with (if a table was "
            "renamed, create a view with the old name). To start again, drop the state by kanon-sql clean "
            "--state, and release under another name"
        )
    missing = [name for name in state.columns if name not in columns]
    if missing:
        raise SpecError(f"state: the new rows have no column {missing[0]!r}, which the release has; add it")
