"""``render``: the SQL of every stage, without a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kanon_sql.engines import SCRATCH_SCHEMA, Column, DryEngine, open_workspace
from kanon_sql.errors import SpecError, UnsupportedError, refuse
from kanon_sql.evaluate import (
    Evaluator,
    Partitions,
    order_domains,
    with_codes,
    with_labels,
)
from kanon_sql.frequency import (
    build_frequency_sets,
    counted_attributes,
    measured_models,
    populations_of,
    source_columns,
    source_of,
)
from kanon_sql.models import metric_for, models_of
from kanon_sql.objects import refuse_unread
from kanon_sql.release import Choice, publish, publish_view, refuse_other_release, staged_release
from kanon_sql.search import Batch, Span
from kanon_sql.spec import (
    Spec,
)
from kanon_sql.sql import (
    Dialect,
    Sql,
    Statement,
    dialect_named,
    exact_text,
    identifier,
    laid_out,
    source_relation,
)
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.warnings import heeded, named_like_identifiers

__all__ = ["Rendered", "assumed_columns", "render"]


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
        """Return a mapping: stage -> its statements in order."""
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
        """A script: every statement with its stage above it, in lines of a readable length."""
        words = dialect_named(self.dialect).sqlglot
        parts = [f"-- {note}" for note in self.notes]
        for statement in self.statements:
            parts.append(f"-- {statement.name}\n{laid_out(statement.sql.removesuffix(';'), words)};")
        return "\n\n".join(parts) + "\n"


def render(spec: Spec, dialect: str = "duckdb", node: Mapping[str, int] | None = None) -> Rendered:
    """Write the SQL of a run without a connection: every stage, with the evaluation of one node.

    Args:
        spec: what to anonymize and how.
        dialect: the SQL dialect, such as ``duckdb``, ``postgres`` or ``snowflake``.
        node: the levels to write the release at; the lowest allowed ones by default.

    Returns:
        The statements in order, and what had to be assumed.

    Raises:
        SpecError: ``node`` names an unknown quasi-identifier or a level that does not exist, or the
            algorithm chooses no levels.
        UnsupportedError: the dialect is unknown, a hierarchy needs a connection, or the algorithm cannot search for
            a requirement.

    Examples:
        >>> script = kanon_sql.render(spec, "postgres", {"age": 1, "zip": 2})
        >>> script.statements[0].name
        'frequency/raw'
        >>> script.text.count("GROUP BY") > 3
        True
    """
    refuse_unread("render", spec)
    refuse(obstacles(DryEngine(dialect, ()), spec, "render", Options(node=node)))
    engine = DryEngine(dialect, assumed_columns(spec))
    with open_workspace(engine, source_of(engine, spec)) as workspace:
        if spec.release_view is not None:
            refuse_other_release(workspace, spec)
        columns = source_columns(workspace, spec, "")
        models = models_of(spec)
        attributes = counted_attributes(spec, models)
        populations = populations_of(workspace, spec, models, columns)
        sets = build_frequency_sets(workspace, spec, models, columns, attributes, populations)
        for name in (*attributes, *([spec.unit] if spec.unit is not None else [])):
            text = exact_text(Sql(f"CAST(kanon_source.{identifier(name)} AS VARCHAR)"))
            workspace.row("verbs/render/several_texts", table=source_relation(), own=name, written=text)
        models = measured_models(models, sets.facts)
        evaluator = Evaluator(workspace, sets, models, metric_for(spec), spec.search.prefer, 0)
        coded = None
        if spec.search.of_intervals:
            ordered = order_domains(workspace, spec, columns, sets, most=spec.search.cuts)
            partitions = Partitions(evaluator, ordered)
            partitions.ask(Batch((Span(0, partitions.cuts.every),), metrics=True))
            coded = with_codes(workspace, sets, ordered, partitions.places(0))
            levels = tuple(0 if domain.order is None else 1 for domain in ordered.domains)
            evaluator = Evaluator(workspace, coded.sets, models, metric_for(spec), spec.search.prefer, 0)
        else:
            levels = _levels(spec, evaluator, node or {})
        evaluator.ask(Batch((levels,), metrics=True))
        suppressed = evaluator.suppressed_classes(levels) if evaluator.sets.keyed(levels) else None
        if coded is not None:
            sets = with_labels(workspace, replace(coded, node=levels), suppressed, few=2).sets
        if spec.release is not None:
            any_rows = spec.suppression.model_copy(update={"max_rows": None, "max_share": 1.0})
            choice = Choice(
                spec=spec.model_copy(update={"suppression": any_rows}),
                columns=columns,
                sets=sets,
                models=models,
                node=levels,
                suppressed=suppressed,
                suppressed_rows=1 if spec.suppression.style == "mask" else 0,
                vectors=evaluator.releasable(spec, columns, levels),
            )
            with engine.transaction(), staged_release(workspace, choice) as written:
                if spec.release_view is not None:
                    publish_view(workspace, choice, {"published_at": "(the time)"}, unseen=True)
                else:
                    publish(workspace, spec, written.table, {"published_at": "(the time)"}, unseen=True)
    notes: tuple[str, ...] = (*_NOTES, _NO_CUTS) if spec.search.of_intervals else _NOTES
    if spec.sensitive or spec.keep:
        warned = heeded(spec, named_like_identifiers(spec, [*spec.sensitive, *spec.keep]))
        notes += (_NO_WARNINGS, *(f"{item.code}: {item.message}" for item in warned))
    if spec.year is not None:
        notes += (f"Labels are for a release of {spec.year}: render the script again for another year.",)
    if attributes or spec.unit is not None:
        notes += _COUNTED
    if _has_rights(engine.dialect):
        notes += _readable(engine, spec)
    if any(statement.loads for statement in engine.meter.log):
        notes += (_VALUES,)
    if spec.release_file is not None:
        notes += ("The release is a file, which this script does not write: use kanon-sql anonymize.",)
    if spec.ledger is not None:
        notes += ("The ledger's statements are left out, since they depend on its releases.",)
    if spec.recoding.save_as is not None:
        notes += ("This script does not save the recoding: use kanon-sql anonymize.",)
    if spec.state is not None:
        notes += ("This script does not save the state of a growing release: use kanon-sql anonymize and refresh.",)
    if engine.scratch.mode == "schema":
        notes += (f"Scratch tables are in the schema {SCRATCH_SCHEMA}: {engine.scratch.reason}.",)
    return Rendered(dialect, tuple(engine.meter.log), notes)


_NOTES = (
    "Rendered without a connection: the source's column types are assumed (text, unless a hierarchy",
    "says otherwise), and the release is written at the levels asked for, not at searched ones.",
)


_COUNTED = (
    "Sensitive values and persons are counted by their texts (by their numbers where distance: ordered asks). Of a",
    "type that writes equal values in several ways, such as 1.0 and 1.00, 0 and -0 or intervals, one value would count",
    "as several, and so would texts that a collation takes for one: verbs/render/several_texts has to be 0, and to run",
    "without an error. Else publish nothing: cast the column in a source query, or use kanon-sql anonymize, which",
    "looks at its type.",
)

_NO_WARNINGS = "No warnings are looked for that take the data: kanon-sql anonymize and check do that."
_READABLE = (
    "While this script runs, tables that are not temporary, the release among them before it is verified, have the",
    "rights that new tables have in their schema: run it where no other user may read these, or let kanon-sql",
    "anonymize take such rights away.",
)

_TILL_COMMIT = (
    "The release is written, verified and published in one transaction: no other session sees it before COMMIT.",
    "No statement looks at what the verification counts: the violating classes of evaluate/achieved, and the rows of",
    "release/labels, have to be 0 until then; else say ROLLBACK.",
)
_TILL_REVEALED = (
    "The release is a temporary table until it is verified, and is copied then. No statement looks at what the",
    "verification counts: the violating classes of evaluate/achieved, and the rows of release/labels, have to be 0",
    "before release/reveal; else end the session there.",
)


def _readable(engine: DryEngine, spec: Spec) -> tuple[str, ...]:
    """What others may read while the script runs, and where it is to be stopped."""
    makes = spec.release_file is None and spec.release_view is None and spec.release is not None
    if engine.scratch.mode == "schema":
        return _READABLE
    if not makes:
        return ()
    if engine.capabilities.conceals:
        return _TILL_REVEALED
    return _TILL_COMMIT if engine.capabilities.transactional_ddl else _READABLE


_VALUES = "It holds values of hierarchies as they are: keep it in a file that its owner alone can read (umask 077)."


_NO_CUTS = "Where the domains can be cut is not known either: each is one interval."


def _has_rights(dialect: Dialect) -> bool:
    """Whether a database has users who may read some tables and not others."""
    try:
        return dialect.readers(("",)) is not None
    except UnsupportedError:  # it has, and which is not known
        return True


def _levels(spec: Spec, evaluator: Evaluator, node: Mapping[str, int]) -> tuple[int, ...]:
    lowest = evaluator.question().lattice.bottom
    levels = tuple(node.get(name, level) for name, level in zip(spec.quasi_identifiers, lowest, strict=True))
    for name, level, height in zip(spec.quasi_identifiers, levels, evaluator.heights, strict=True):
        if not 0 <= level <= height:
            raise SpecError(f"node: {name} has no level {level}; expected 0 to {height}")
    return levels


def assumed_columns(spec: Spec) -> list[Column]:
    """Every column the spec names, with the kind its hierarchy or its form needs, else text."""
    columns = []
    for name, quasi_identifier in spec.quasi_identifiers.items():
        number = quasi_identifier.as_ == "number"
        columns.append(Column(name, *(("DECIMAL", "decimal") if number else quasi_identifier.hierarchy.assumed_type)))
    ordered = [model.attribute for model in models_of(spec) if model.spans and model.attribute is not None]
    columns += [Column(name, "DECIMAL", "decimal") for name in dict.fromkeys(ordered)]
    others = [name for name in spec.sensitive if name not in ordered]
    others += [*spec.keep, *spec.identifiers, *([spec.unit] if spec.unit else [])]
    others += [model.population_person for model in models_of(spec) if model.population_person is not None]
    columns += [Column(name, "VARCHAR", "text", known=False) for name in dict.fromkeys(others)]
    return columns
