"""A table that a verb reads as it is: the spec's source, or any other table by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches

from kanon_sql.engines import Column, Engine, Workspace, open_workspace
from kanon_sql.errors import DatabaseError, Obstacle, Problem, SpecError, obstacles_in
from kanon_sql.frequency.counts import refuse_counts
from kanon_sql.frequency.points import pointed
from kanon_sql.frequency.reading import as_read, read_table, reads_otherwise
from kanon_sql.frequency.steps import stepped
from kanon_sql.hierarchies import (
    exact_texts,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
    refuse_split_labels,
)
from kanon_sql.spec import Origin, Spec, format_table_name, is_csv
from kanon_sql.sql import Relation, single_query, source_relation

__all__ = [
    "OpenTable",
    "explained_if_missing",
    "is_same_table",
    "no_such_table",
    "open_table",
    "plain_source_of",
    "source_columns",
    "source_obstacles",
    "source_of",
    "unknown_columns",
]


_MISSING = (
    "source: missing, and it is needed here; name a table, {query: ...} or {file: ...} in the spec, or give the table "
    "itself, such as a DataFrame: anonymize(source, spec), or check(source, spec, table=release)"
)


def no_such_table(engine: Engine, parts: tuple[str, ...], *, or_file: bool = False) -> str:
    """That there is no such table or view, nor a file where one would do, and what to do."""
    name = ".".join(parts)
    if or_file and (is_csv(name) or name.lower().endswith(".parquet")):
        return f"there is no file {name!r} here, and no table or view of this name in {engine.label}"
    message = f"there is no table or view {format_table_name(parts)!r} in {engine.label}; expected its name as the "
    if engine.label == ":memory:":
        message += "database has it; name the database that holds it with -d FILE or -d URL"
    else:
        message += "database has it, with its schema where the session would not look there"
    return f"{message}, or the path of a Parquet or CSV file" if or_file else message


@contextmanager
def explained_if_missing(engine: Engine, parts: tuple[str, ...] | None) -> Iterator[None]:
    """Say of a failure inside that it comes from a missing table, if it does.

    Args:
        engine: where the table is looked for, after the failure only.
        parts: its name; None for a query or a file.

    Raises:
        DatabaseError: what was raised inside, in better words where the table is not there.
    """
    try:
        yield
    except DatabaseError:
        found: object = True
        if parts is not None:
            with suppress(DatabaseError):
                found = engine.exists(parts)
        if parts is not None and found is None:
            raise DatabaseError(no_such_table(engine, parts)) from None
        raise


@dataclass(frozen=True)
class OpenTable:
    """A table and its columns.

    Attributes:
        shown: what messages call it.
        relation: it; the source's slot where it is the source, so that its scans are counted.
        columns: its columns by name.
        is_source: whether it is the spec's source.
    """

    shown: str
    relation: Relation
    columns: Mapping[str, Column]
    is_source: bool

    def refuse_inexact(self, workspace: Workspace, names: Iterable[str]) -> None:
        """Refuse it where this engine could not compare some of its columns exactly.

        Raises:
            UnsupportedError: values of several types, or texts whose blanks are ignored.
        """
        used = {name: self.columns[name] for name in names}
        refuse_mixed_forms(workspace, self.relation, used)
        refuse_blank_ends(workspace, self.relation, exact_texts(list(used.values()), "checked"), self.shown)


def open_table(
    engine: Engine, spec: Origin, parts: tuple[str, ...] | None, *, counts: bool = False, released: bool = True
) -> OpenTable:
    """Look up a table's columns. Its rows are read where columns are to be functions of others.

    Args:
        engine: where it is.
        spec: names the source.
        parts: the table's name; None for the source.
        counts: the caller counts the persons that rows stand for, where a column says that.
        released: a table that is not the source is a released one, not a population: :func:`as_read` reads these
            in two ways.

    Raises:
        UnsupportedError: rows stand for several persons, and the caller counts rows.
    """
    source = spec.source.table
    # After steps, the source by its name is another table.
    as_it_stands = not isinstance(spec, Spec) or spec.steps is None
    is_source = parts is None or (as_it_stands and source is not None and is_same_table(engine, source, parts))
    if not counts:
        refuse_counts(spec, "this command")
    relation = (
        source_of(engine, spec, counts=counts) if is_source else engine.relation(table=parts, query=None, file=None)
    )
    named = parts or source
    with explained_if_missing(engine, named):
        columns: Mapping[str, Column] = {column.name: column for column in engine.columns(relation)}
    _refuse_counted_twice(spec, columns)
    shown = "the source" if named is None else ".".join(named)
    read = Relation(named or ())
    if not is_source and reads_otherwise(spec):
        with open_workspace(engine, relation, inline=True) as workspace:
            read, columns = read_table(workspace, spec, read, columns, shown, released=released)
    if isinstance(spec, Spec) and spec.computed and not is_source:
        with open_workspace(engine, relation, inline=True) as workspace:
            refuse_split_labels(workspace, spec.computed, columns, Relation(named or ()), shown)
    return OpenTable(shown, source_relation() if is_source else read, columns, is_source)


def unknown_columns(shown: str, columns: Iterable[str], names: Iterable[str], why: str) -> list[Problem]:
    """A problem for each column that a table lacks.

    Args:
        shown: what messages call the table.
        columns: its columns.
        names: the columns that are needed.
        why: who needs them, such as ``which the spec needs``.
    """
    known, problems = list(columns), []
    for name in names:
        if name not in known:
            folded = {column.casefold(): column for column in reversed(known)}
            close = get_close_matches(name.casefold(), folded, n=1)
            hint = f"did you mean {folded[close[0]]!r}?" if close else f"expected one of {', '.join(map(repr, known))}"
            problems.append(Problem(f"{shown}: there is no column {name!r}, {why}; {hint}"))
    return problems


def source_columns(workspace: Workspace, spec: Spec, relation: str) -> dict[str, Column]:
    """The source's columns by name, checked against the spec.

    Raises:
        SpecError: the spec names a column that the source does not have.
    """
    columns = workspace.described(relation)
    named = [
        *((f"identifiers: {name}", name) for name in spec.identifiers),
        *((f"quasi_identifiers: {name}", name) for name in spec.quasi_identifiers),
        *((f"sensitive: {name}", name) for name in spec.sensitive),
        *((f"keep: {name}", name) for name in spec.keep),
        *((f"unit: {name}", name) for name in (spec.unit,) if name is not None),
    ]
    problems = []
    for where, name in named:
        if name not in columns:
            close = get_close_matches(name.lower(), [column.lower() for column in columns], n=1, cutoff=0.6)
            original = next((column for column in columns if close and column.lower() == close[0]), None)
            hint = f"did you mean {original!r}?" if original else f"expected one of {', '.join(map(repr, columns))}"
            problems.append(Problem(f"{where}: the source has no such column; {hint}"))
    taken = {name.casefold(): name for name in columns}
    problems += [
        Problem(
            f"quasi_identifiers.{column.of}.as: the source has a column {taken[column.name.casefold()]!r}, which "
            "a query of the release would read instead; rename it in a source query"
        )
        for column in spec.computed
        if column.name.casefold() in taken
    ]
    problems += [
        Problem(
            f"quasi_identifiers.{name}.as: number is for numbers, and the column is {columns[name].type}; leave it "
            "out, or cast the column in a source query"
        )
        for name, item in spec.quasi_identifiers.items()
        if item.as_ == "number" and name in columns and columns[name].kind not in ("integer", "decimal", "float")
    ]
    if problems:
        raise SpecError(problems)
    _refuse_counted_twice(spec, columns)
    return columns


def _refuse_counted_twice(spec: Origin, columns: Mapping[str, Column]) -> None:
    """Refuse requirements and units over types whose equal values may have several texts."""
    requirements = spec.privacy if isinstance(spec, Spec) else ()
    refuse_several_texts(columns, [requirement.attribute for requirement in requirements], "a requirement")
    refuse_several_texts(columns, [getattr(spec, "unit", None)], "the unit")


def source_obstacles(engine: Engine, spec: Origin) -> Iterator[Obstacle]:
    """A source that is missing, or that this engine does not read, as far as no statement is needed to know it.

    Args:
        engine: where it is.
        spec: names it.
    """
    source = spec.source
    if not source.given:
        yield Obstacle(_MISSING, SpecError)
    if isinstance(spec, Spec):
        yield from obstacles_in(spec.refuse_past_year)
    if source.query is not None:
        query = source.query
        yield from obstacles_in(lambda: single_query(query, engine.dialect.sqlglot))
    if source.file is not None and not engine.capabilities.files:  # which says how it is read there
        yield from obstacles_in(lambda: engine.relation(table=None, query=None, file=source.file))


def source_of(engine: Engine, spec: Origin, *, counts: bool = False) -> str:
    """The FROM form of the spec's source, with the cells of its points, and after its release steps.

    A run that has read the source into a table of its own reads that.

    Args:
        engine: where it is.
        spec: names the source.
        counts: the caller counts the persons that rows stand for, where a column says that.

    Raises:
        UnsupportedError: rows stand for several persons, and the caller counts rows.
    """
    if not counts:
        refuse_counts(spec, "this command")
    if isinstance(spec, Spec) and spec.rows_in is not None:
        return engine.relation(table=spec.rows_in, query=None, file=None)
    relation = plain_source_of(engine, spec, counts=counts)
    if isinstance(spec, Spec):
        with explained_if_missing(engine, spec.source.table):
            return stepped(engine, spec, pointed(engine, spec, relation))
    from kanon_sql.spec import TableSpec  # a plan reads no other spec

    if not isinstance(spec, TableSpec):
        return relation
    with explained_if_missing(engine, spec.source.table):
        return stepped(engine, spec, relation)


def plain_source_of(engine: Engine, spec: Origin, *, counts: bool = False) -> str:
    """The FROM form of the spec's source, before points and steps: as it is, but for missing codes and keys.

    Raises:
        SpecError: the spec names none.
    """
    if not counts:
        refuse_counts(spec, "this command")
    if not spec.source.given:
        raise SpecError(_MISSING)
    if isinstance(spec, Spec):
        spec.refuse_past_year()
    file = None if spec.source.file is None else spec.resolve(spec.source.file)
    if isinstance(spec, Spec):
        file = spec.source_path
    relation = engine.relation(
        table=spec.source.table,
        query=spec.source.query,
        file=None if file is None else str(file),
        csv=spec.source.csv,
    )
    if spec.source.count_versions:
        engine.count_versions(relation)
    if not reads_otherwise(spec):
        return relation
    with explained_if_missing(engine, spec.source.table):
        columns = {column.name: column for column in engine.columns(relation)}
    with open_workspace(engine, relation, inline=True) as workspace:
        read = as_read(workspace, spec, source_relation(), columns)
        return workspace.quoted(read)


def is_same_table(engine: Engine, first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two ways of writing a name mean one table or view."""
    if first == second or first[-1].lower() != second[-1].lower():
        return first == second
    found = engine.full_name(first)
    return found is not None and found == engine.full_name(second)
