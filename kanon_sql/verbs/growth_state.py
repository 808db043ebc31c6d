"""The first release of one that grows: the source is read once, and what later refreshes need is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from kanon_sql.engines import Column, Engine, Workspace, now, open_workspace
from kanon_sql.errors import DatabaseError
from kanon_sql.frequency import explained_if_missing, plain_source_of
from kanon_sql.release import (
    Choice,
    Day,
    NewRows,
    State,
    WrittenTable,
    drop_others,
    drop_state,
    judged_rows,
    kept_columns,
    open_state_schema,
    promise_of,
    refuse_unequal,
    remember,
    take_rows,
    types_of,
    value_forms,
    wait,
    write_state,
)
from kanon_sql.spec import Spec, format_table_name
from kanon_sql.sql import Relation

__all__ = ["StateSource", "state_source", "watermark_of"]


@dataclass
class StateSource:
    """What a run of ``anonymize`` reads, and how it keeps a state.

    Attributes:
        spec: what to release, from the rows that were read; the user's own without a state.
        remember: keeps the state, and says so in a sentence; None without a state.
    """

    spec: Spec
    remember: Callable[[Choice, WrittenTable], str] | None = None


@contextmanager
def state_source(engine: Engine, spec: Spec) -> Iterator[StateSource]:
    """Read the source into a scratch table, where a state is to be kept of exactly what was read.

    Raises:
        SpecError: others may read what would be kept.
        UnsupportedError: the engine does not say who may, or has no scratch tables.
    """
    if spec.state is None:
        yield StateSource(spec)
        return
    assert spec.release is not None
    relation = plain_source_of(engine, spec)
    with open_workspace(engine, relation) as workspace:
        open_state_schema(workspace, spec.state)
        with explained_if_missing(engine, spec.source.table):
            columns = workspace.described(relation)
        workspace.report("reading the source", None)
        taken = take_rows(workspace, columns, list(columns), watermark_of(spec), None)
        first = _First(workspace, spec, columns, taken)
        try:
            yield StateSource(spec.over_rows(taken.table.parts), first.remember)
        finally:
            with engine.without_deadline(), suppress(DatabaseError):
                first.end()


def watermark_of(spec: Spec) -> str | None:
    """The column that later rows have more of; None where new rows come as tables."""
    return None if spec.increments is None else spec.increments.watermark


@dataclass
class _First:
    """The state of a first release, which is kept before it is published, and dropped where it was not."""

    workspace: Workspace
    spec: Spec
    columns: Mapping[str, Column]
    taken: NewRows
    kept: list[State] = field(default_factory=list)

    def remember(self, choice: Choice, written: WrittenTable) -> str:
        """Keep which rows were released, and which wait; says so in a sentence."""
        spec, workspace = self.spec, self.workspace
        assert spec.state is not None
        assert spec.release is not None
        workspace.report("keeping the state", None)
        names, watermark = kept_columns(spec, self.columns), watermark_of(spec)
        judged = judged_rows(workspace, choice, names, None)
        refuse_unequal(workspace, choice, judged, names, written.table, written.rows)
        state = State(
            schema=spec.state,
            run_id=workspace.run_id,
            tables=workspace.run_id,
            release=spec.release,
            created_at=now(),
            columns=names,
            types=types_of(self.columns, [*names, *([] if watermark is None else [watermark])]),
            forms=value_forms(workspace, self.columns, names, self.taken.table, {}),
            node=dict(zip(spec.quasi_identifiers, choice.levels, strict=True)),
            promise=promise_of(spec),
            watermark=self.taken.watermark,
            batch=1,
            whole_until=0,
            taken=(),
            rows={
                "source": self.taken.rows,
                "published": written.rows,
                "waiting": self.taken.rows - written.rows,
                "retired": 0,
            },
        )
        write_state(workspace, state)
        self.kept.append(state)
        remember(workspace, spec, self.columns, names, judged, 1, into=state.published)
        wait(workspace, names, judged, Day(Relation(())), into=state.waiting)
        workspace.drop(judged.table)
        return (
            f"the state for later refreshes is in the schema {format_table_name(spec.state)}; it holds values and "
            "persons, and is as sensitive as the source"
        )

    def end(self) -> None:
        """Drop what was kept where the release was not published; else what runs before left."""
        for state in self.kept:
            if self.workspace.engine.mark(state.release) == state.run_id:
                drop_others(self.workspace, state)
            else:
                drop_state(self.workspace, state)
