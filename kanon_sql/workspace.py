"""One run's working place: its engine, its compiler, and the scratch tables it owns.

Scratch names carry the run's id, so that two runs never meet; everything created here is
dropped when the ``with`` block ends, whatever happened inside.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.engines.base import Engine, Row
from kanon_sql.errors import DatabaseError
from kanon_sql.sql.statement import Compiler
from kanon_sql.sql.text import Relation

__all__ = ["Reporter", "Workspace", "open_workspace"]

Reporter = Callable[[str, int | None], None]
"""Told what is being done in plain words, and how many nodes were evaluated so far."""


def _silent(stage: str, nodes: int | None = None) -> None:
    """Report to nobody."""


@dataclass
class Workspace:
    """What every stage needs to run its statements.

    Attributes:
        engine: where statements run.
        compiler: turns templates into the engine's SQL.
        report: called at the start of each stage.
        run_id: in every scratch name.
    """

    engine: Engine
    compiler: Compiler
    report: Reporter = _silent
    run_id: str = field(default_factory=lambda: secrets.token_hex(4))
    _tables: list[Relation] = field(default_factory=list)

    def table(self, what: str) -> Relation:
        """A new scratch table's name, to be created by the caller and dropped at the end."""
        relation = Relation((f"kanon_{self.run_id}_{what}",))
        self._tables.append(relation)
        return relation

    def execute(self, name: str, /, **context: Any) -> None:
        """Compile a template and run it for its effect."""
        self.engine.execute(self.compiler.statement(name, **context))

    def fetch(self, name: str, limit: int, /, **context: Any) -> list[Row]:
        """Compile a template and fetch its rows, at most ``limit``."""
        return self.engine.fetch(self.compiler.statement(name, **context), limit)

    def row(self, name: str, /, **context: Any) -> Row:
        """Compile a template that returns exactly one row."""
        rows = self.fetch(name, 1, **context)
        if len(rows) != 1:
            raise DatabaseError(f"{name}: expected one row, got {len(rows)}")
        return rows[0]

    def drop(self, relation: Relation) -> None:
        """Drop a scratch table that is no longer needed."""
        self.execute("scratch/drop", target=relation)
        self._tables.remove(relation)

    def drop_all(self) -> None:
        """Drop what is left. A table that was never created is no error."""
        while self._tables:
            with suppress(DatabaseError):
                self.execute("scratch/drop", target=self._tables.pop())


@contextmanager
def open_workspace(engine: Engine, source: str, report: Reporter | None = None) -> Iterator[Workspace]:
    """A workspace whose scratch tables vanish at the end of the block.

    Args:
        engine: where statements run.
        source: the FROM form of the source relation.
        report: called at the start of each stage.
    """
    workspace = Workspace(
        engine, Compiler(engine.capabilities.dialect, source, engine.capabilities.exact_collation), report or _silent
    )
    try:
        yield workspace
    finally:
        with engine.without_deadline():
            workspace.drop_all()
