"""``functions``: the requirements of a spec as a function in the database, whose rows say what each reaches."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from kanon_sql.engines import Engine, Workspace, open_workspace
from kanon_sql.errors import Obstacle, SpecError, refuse
from kanon_sql.evaluate import Subject, table_context, table_frames
from kanon_sql.frequency import no_such_table, open_table, source_of
from kanon_sql.models import PrivacyModel, models_of
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.sql import Dialect, Relation, Sql, exact_text, laid_out, render
from kanon_sql.verbs.check import identifiers_in, never_released, spellings
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.run import running
from kanon_sql.verbs.single_query import single_queries, single_query_obstacles

__all__ = ["DIALECTS", "check_function", "function_obstacles"]

DIALECTS = ("duckdb", "postgres", "snowflake", "bigquery", "spark", "databricks")
"""Engines with functions that return the rows of a query, where texts are compared exactly by SQL alone."""

_COLUMNS = {
    "requirement": "VARCHAR",
    "asked": "VARCHAR",
    "achieved": "DOUBLE",
    "violating_classes": "BIGINT",
    "violating_rows": "BIGINT",
    "verdict": "VARCHAR",
}
"""What the function returns, with the types that its templates cast to."""

_MOST_COLUMNS = 100_000


def check_function(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    count_rows: bool = False,
    timeout: float | None = None,
) -> str:
    """A statement that creates a function ``kanon_check_TABLE``, which returns a row for each requirement.

    A row has the requirement, what was asked, what is achieved (its first figure in results), the classes that violate
    it, the rows in these, and a verdict: ``pass``, ``fail``, ``no rows`` where the table is empty, or ``not judged``
    where rows were lost on the way. The verdict is that of :func:`kanon_sql.check`. On DuckDB and PostgreSQL one more
    row fails when a column is gone or has another type, or when the table has an identifier. No row is read: only the
    types of columns are asked for.

    Args:
        engine: from :func:`kanon_sql.connect`, on the database that is to hold the function; read-only is enough.
        spec: the quasi-identifiers and the requirements.
        table: the table to judge; the spec's release by default.
        count_rows: count rows although the spec names a unit.
        timeout: seconds for the whole run; None for no limit.

    Raises:
        SpecError: the table lacks a column or holds an identifier; a requirement needs more than one query, or compares
            with a source that is no table.
        UnsupportedError: another engine.
        KanonError: see :mod:`kanon_sql.errors`.
    """
    refuse(obstacles(engine, spec, "functions", Options(table=table)))
    parts = parse_table_name(table) if table is not None else spec.release
    assert parts is not None
    unit = None if count_rows else spec.unit
    with running(engine, timeout):
        judged = _full_name(engine, parts)
        if _compares_with_source(spec) and spec.source.table is not None:
            source = spec.source.model_copy(update={"table": _full_name(engine, spec.source.table)})
            spec = spec.model_copy(update={"source": source})
        with open_workspace(engine, source_of(engine, spec), inline=True) as workspace:
            opened = open_table(engine, spec, judged)
            if exposed := [] if opened.is_source else identifiers_in(spec, opened.columns):
                raise SpecError(
                    f"{opened.shown} holds identifiers ({', '.join(exposed)}), so it is no release; name a release"
                )
            whole = Relation(judged)
            judgements = list(single_queries(workspace, spec, whole, opened, unit, "which the function needs"))
            rows = [_requirement(subject, model) for model, subject in judgements]
            catalog = _catalog(engine.dialect, judged)
            if catalog is not None:
                names = dict.fromkeys(name for _, subject in judgements for name in _columns_of(subject))
                forbidden = [] if opened.is_source else never_released(spec)
                rows.append(_columns(workspace, catalog, list(names), forbidden))
            query = workspace.text("verbs/functions/judged", {"columns": catalog or ""}, rows=rows)
            # Nothing of this run: the same spec gives the same function.
            query = laid_out(query.replace(f"kanon_{workspace.run_id}_", "kanon_"), engine.dialect.sqlglot)
        notes = [" ".join(note.split()) for note in engine.read_notes]
    made = engine.dialect.table_function(_function(engine.dialect, judged), _COLUMNS, query)
    return "".join(f"-- {line}\n" for line in [*_head(engine.dialect, judged), *notes]) + made + "\n"


def function_obstacles(engine: Engine, spec: Spec, table: str | None) -> Iterator[Obstacle]:
    """Why a spec's requirements are not written as a function, as far as no statement is needed to know it.

    Args:
        engine: the database that is to hold the function.
        spec: with the requirements.
        table: the table to judge; None for the spec's release.
    """
    yield from single_query_obstacles(
        engine, spec, table, "functions", "check functions", "the table to check", DIALECTS
    )
    if spec.source.given and spec.source.table is None and _compares_with_source(spec):
        yield Obstacle(
            "source: what a query or a file stands for depends on the session that calls the function; create a view "
            "of it, and name that",
            SpecError,
        )


def _compares_with_source(spec: Spec) -> bool:
    return any(model.needs_reference and model.reference == "original" for model in models_of(spec))


def _full_name(engine: Engine, parts: tuple[str, ...]) -> tuple[str, ...]:
    """A table's name in any session.

    Raises:
        SpecError: there is no such table, or it vanishes with this session.
    """
    found = engine.full_name(parts)
    if found is None:
        raise SpecError(no_such_table(engine, parts))
    temporary = engine.dialect.of_session
    if temporary is not None and any(temporary.fullmatch(part) for part in found[:-1]):
        raise SpecError(f"{'.'.join(parts)} is a temporary table, which no other session has; name another table")
    return found


def _requirement(subject: Subject, model: PrivacyModel) -> Sql:
    """The query of one requirement's row."""
    return render(
        "verbs/functions/requirement",
        requirement=model.key,
        asked=model.label,
        extreme=Sql(model.worst),
        logarithmic=model.logarithmic,
        **table_context(subject, [model], table_frames(subject, [model])),
    )


def _columns_of(subject: Subject) -> list[str]:
    return [*subject.quasi_identifiers, *subject.facts, *([] if subject.unit is None else [subject.unit])]


def _catalog(dialect: Dialect, table: tuple[str, ...]) -> str | None:
    """The FROM form of a table's columns and their types; None where it was not tried."""
    if dialect.column_types is None:
        return None
    quoted = dialect.relation(table)
    return f"({dialect.column_types.format(table=quoted, name=dialect.literal(quoted))})"


def _columns(workspace: Workspace, catalog: str, names: Sequence[str], forbidden: Sequence[str]) -> Sql:
    """The query that compares the table's columns with those of now."""
    statement = workspace.compiler.statement("verbs/functions/types", {"columns": catalog})
    types = {str(name): str(kind) for name, kind in workspace.query(statement, _MOST_COLUMNS)}
    name, kind = exact_text(Sql("column_name")), exact_text(Sql("column_type"))
    expected = [
        render("verbs/functions/column", name=name, type=kind, column_name=item, column_type=types[item])
        for item in names
    ]
    ruled_out = [render("verbs/functions/named", name=name, column_name=item) for item in spellings(forbidden)]
    return render("verbs/functions/columns", expected=expected, forbidden=ruled_out)


def _function(dialect: Dialect, table: tuple[str, ...]) -> str:
    """A name that can be called without quotes, in the table's schema; no other table there has it."""
    folded = table[-1].lower() if dialect.folds_upper else table[-1]
    word = re.sub(r"[^0-9a-z_]+", "_", folded.lower())[:40]
    if word != folded:
        word += f"_{hashlib.sha256(folded.encode()).hexdigest()[:8]}"
    return "".join(f"{dialect.quote(part)}." for part in table[:-1]) + f"kanon_check_{word}"


def _head(dialect: Dialect, table: tuple[str, ...]) -> Iterator[str]:
    """What the function is, and when to write it again."""
    called = dialect.function_call.format(_function(dialect, table))
    yield f"{called} returns a row for each requirement, and is called where a table would be named."
    yield "It judges as kanon-sql check does, with the rights of the role that calls it, and shows no value."
    yield "It does not compute warnings. Require verdict = 'pass' in all rows: an empty table has 'no rows'."
    if not dialect.functions_have_path:
        yield "A macro or function of yours with the name of one that it calls would change its answer."
    if dialect.column_types is None:
        yield "It does not look for identifiers, or for columns of another type: write it again when the table changes."
    else:
        yield "The row 'columns' fails when a type changes or an identifier is added: write the function again."
