"""``render``: the SQL of every stage, without a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon_sql.engines.base import Column
from kanon_sql.engines.dry import SCRATCH_SCHEMA, DryEngine
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.evaluate import Evaluator
from kanon_sql.frequency import build_frequency_sets, source_columns
from kanon_sql.pipeline.search import source_of
from kanon_sql.privacy import model_of
from kanon_sql.publish import publish
from kanon_sql.quality import METRICS
from kanon_sql.release import Choice, written_release
from kanon_sql.search import Batch
from kanon_sql.spec import DatesHierarchy, IntervalsHierarchy, Spec, TableHierarchy
from kanon_sql.sql.statement import Statement
from kanon_sql.workspace import open_workspace

__all__ = ["Rendered", "render"]


@dataclass(frozen=True)
class Rendered:
    """The statements of a run, by stage.

    Attributes:
        dialect: the SQL dialect.
        statements: every statement in order.
        notes: what had to be assumed without a connection.
    """

    dialect: str
    statements: tuple[Statement, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """Stage -> its statements in order."""
        stages: dict[str, list[str]] = {}
        for statement in self.statements:
            stages.setdefault(statement.name.split("/")[0], []).append(statement.sql)
        return stages

    @property
    def sql(self) -> tuple[str, ...]:
        """The statements alone."""
        return tuple(statement.sql for statement in self.statements)

    @property
    def text(self) -> str:
        """A script: every statement with its stage above it."""
        parts = [f"-- {note}" for note in self.notes]
        parts += [f"-- {statement.name}\n{statement.sql.removesuffix(';')};" for statement in self.statements]
        return "\n\n".join(parts) + "\n"


def render(spec: Spec, dialect: str = "duckdb", node: Mapping[str, int] | None = None) -> Rendered:
    """The SQL of a run: hierarchies, frequency sets, one node's evaluation, release, verification.

    Args:
        spec: what to anonymize and how.
        dialect: one of :data:`kanon_sql.sql.dialects.DIALECTS`.
        node: the levels to write the release at; the lowest allowed ones by default.

    Raises:
        SpecError: ``node`` names an unknown quasi-identifier or a level that does not exist.
        UnsupportedError: another dialect, or a hierarchy that only a connection can tell.
    """
    for name, quasi_identifier in spec.quasi_identifiers.items():
        if isinstance(quasi_identifier.hierarchy, TableHierarchy):
            raise UnsupportedError(
                f"quasi_identifiers.{name}: the levels of a hierarchy table are not known without a connection; "
                "render needs rules, a file or a tree"
            )
    engine = DryEngine(dialect, _assumed_columns(spec))
    with open_workspace(engine, source_of(engine, spec)) as workspace:
        columns = source_columns(workspace, spec, "")
        models = [model_of(requirement) for requirement in spec.privacy]
        attributes = list(dict.fromkeys(model.attribute for model in models if model.attribute is not None))
        sets = build_frequency_sets(workspace, spec, columns, attributes)
        evaluator = Evaluator(workspace, sets, models, METRICS[spec.search.metric], spec.search.prefer, 0)
        levels = _levels(spec, evaluator, node or {})
        evaluator.ask(Batch((levels,), metrics=True))
        suppressed = evaluator.suppressed_classes(levels) if sets.keyed(levels) else None
        if spec.release is not None:
            choice = Choice(
                spec=spec,
                columns=columns,
                sets=sets,
                models=models,
                node=levels,
                suppressed=suppressed,
                suppressed_rows=1 if spec.suppression.style == "mask" else 0,
            )
            with written_release(workspace, choice) as written:
                publish(workspace, spec, written, {"published_at": "(the time)"})
    notes: tuple[str, ...] = _NOTES
    if spec.ledger is not None:
        notes += ("The ledger's statements are left out: which run depends on the releases that it holds.",)
    if engine.scratch.mode == "schema":
        notes += (f"Scratch tables are in the schema {SCRATCH_SCHEMA}: {engine.scratch.reason}.",)
    return Rendered(dialect, tuple(engine.meter.log), notes)


_NOTES = (
    "Rendered without a connection: the source's column types are assumed (text, unless a hierarchy",
    "says otherwise), and the release is written at the levels asked for, not at searched ones.",
)


def _levels(spec: Spec, evaluator: Evaluator, node: Mapping[str, int]) -> tuple[int, ...]:
    for name in node:
        if name not in spec.quasi_identifiers:
            raise SpecError(f"node: {name!r} is no quasi-identifier; expected {', '.join(spec.quasi_identifiers)}")
    lowest = evaluator.question().lattice.bottom
    levels = tuple(node.get(name, level) for name, level in zip(spec.quasi_identifiers, lowest, strict=True))
    for name, level, height in zip(spec.quasi_identifiers, levels, evaluator.heights, strict=True):
        if not 0 <= level <= height:
            raise SpecError(f"node: {name} has no level {level}; expected 0 to {height}")
    return levels


def _assumed_columns(spec: Spec) -> list[Column]:
    """Every column the spec names, with the kind its hierarchy needs, else text."""
    columns = []
    for name, quasi_identifier in spec.quasi_identifiers.items():
        if isinstance(quasi_identifier.hierarchy, IntervalsHierarchy):
            columns.append(Column(name, "DECIMAL", "decimal"))
        elif isinstance(quasi_identifier.hierarchy, DatesHierarchy):
            columns.append(Column(name, "DATE", "date"))
        else:
            columns.append(Column(name, "VARCHAR", "text"))
    others = [*spec.sensitive, *spec.keep, *spec.identifiers, *([spec.unit] if spec.unit else [])]
    columns += [Column(name, "VARCHAR", "text") for name in dict.fromkeys(others)]
    return columns
