"""What a verb is at, in one line: below the cell of a notebook, or on a terminal."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any, TextIO

from kanon_sql.errors import counted

__all__ = ["Progress"]


class Progress:
    """Shows what a verb is at in one line that the next stage replaces, for its parameter ``report``.

    In a notebook the line is below the cell, and at the end says how long the verb took. On a terminal it is on
    standard error, and gone at the end. Elsewhere, as in a log, nothing is shown.

    Args:
        file: the terminal; standard error if not given.

    Examples:
        >>> kanon_sql.plan(db, spec, report=kanon_sql.Progress()).passed
        True
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file
        self._line: _Cell | _Terminal | None = None
        self._cell: int | None = None

    def __call__(self, stage: str, nodes: int | None) -> None:
        """Show what is begun.

        Args:
            stage: in plain words.
            nodes: how many were evaluated so far; None where none are.
        """
        text = stage if nodes is None else f"{stage} ({counted(nodes, 'node')})"
        shell = _notebook()
        cell = None if shell is None else shell.execution_count
        if self._line is None or cell != self._cell:
            self._cell = cell
            self._line = _Terminal(self._file or sys.stderr) if shell is None else _Cell()
        self._line.show(text)

    def done(self) -> None:
        """Show no stage any more."""
        if self._line is not None:
            self._line.end()


def _notebook() -> Any:
    """The kernel of Jupyter that runs the program, in JupyterLab, VS Code or Colab; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if type(shell).__name__ in ("ZMQInteractiveShell", "Shell") else None  # the latter is Colab's


class _Cell:
    """A line below the cell that runs; several verbs called in it share the line."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._handle: Any = None

    def show(self, text: str) -> None:
        if self._handle is None:
            shown: Any = import_module("IPython.display")
            self._handle = shown.display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def end(self) -> None:
        self.show(f"done in {time.perf_counter() - self._started:.1f} s")


class _Terminal:
    """A line on a terminal, drawn again while the stage lasts."""

    def __init__(self, file: TextIO) -> None:
        from rich.console import Console
        from rich.status import Status

        self._status = Status("", console=Console(file=file, highlight=False))

    def show(self, text: str) -> None:
        from rich.text import Text

        self._status.update(Text(text))
        if self._status.console.is_terminal:
            self._status.start()

    def end(self) -> None:
        self._status.stop()
