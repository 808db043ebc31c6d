"""A table that a verb reads as it stands: the spec's source, or any other table by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from kanon_sql.blanks import refuse_blank_ends
from kanon_sql.engines.base import Column, Engine
from kanon_sql.errors import Problem
from kanon_sql.forms import refuse_mixed_forms
from kanon_sql.frequency import exact_texts
from kanon_sql.pipeline.missing import explained_if_missing
from kanon_sql.pipeline.search import source_of
from kanon_sql.publish import is_same_table
from kanon_sql.spec import Spec
from kanon_sql.sql.statement import source_relation
from kanon_sql.sql.text import Relation
from kanon_sql.workspace import Workspace

__all__ = ["OpenTable", "open_table", "unknown_columns"]


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


def open_table(engine: Engine, spec: Spec, parts: tuple[str, ...] | None) -> OpenTable:
    """Look up a table's columns, without reading a row.

    Args:
        engine: where it is.
        spec: names the source.
        parts: the table's name; None for the source.
    """
    source = spec.source.table
    is_source = parts is None or (source is not None and is_same_table(engine, source, parts))
    relation = source_of(engine, spec) if parts is None else engine.relation(table=parts, query=None, file=None)
    named = parts or source
    with explained_if_missing(engine, named):
        columns = {column.name: column for column in engine.columns(relation)}
    shown = "the source" if named is None else ".".join(named)
    return OpenTable(shown, source_relation() if is_source else Relation(named or ()), columns, is_source)


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
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(map(repr, known))}"
            problems.append(Problem(f"{shown}: there is no column {name!r}, {why}; {hint}"))
    return problems
