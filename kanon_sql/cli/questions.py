"""The questions of ``init --interactive``: at a terminal, on standard error, with what is suggested as defaults."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.cli.session import Session
    from kanon_sql.verbs.init import Roles, Suggestion

__all__ = ["Questions"]

T = TypeVar("T")

NONE = "-"
"""The answer that names no column."""


class Questions:
    """Asks about the roles of columns.

    Args:
        run: whose terminal it is.

    Raises:
        SpecError: there is no terminal to ask at.
    """

    def __init__(self, run: Session) -> None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SpecError(
                "--interactive needs a terminal on standard input and standard error; give the roles with "
                "--quasi-identifiers, --sensitive, --identifiers, --set keep, --unit and --k instead"
            )
        self.run = run

    def ask(self, found: Sequence[Suggestion], k: int) -> tuple[Roles, int]:
        """Show the suggestions, and ask for each role.

        Args:
            found: the suggestions.
            k: the proposed k.

        Returns:
            The roles, and k.
        """
        from kanon_sql.verbs.init import Roles

        self.run.pause()
        self._show(found)
        names = [item.profile.name for item in found]

        def of(role: str) -> list[str]:
            return [item.profile.name for item in found if item.role == role]

        self._print(
            f"Press Enter to accept the value in brackets; enter {NONE} for no column; separate several with commas."
        )
        question = "Which column identifies the person, if a person has several rows?"
        unit = next(iter(self._columns(question, names, of("unit"), most=1)), None)
        free = [name for name in names if name != unit]

        def asked(question: str, role: str, least: int = 0) -> list[str]:
            default = [name for name in of(role) if name in free]
            chosen = self._columns(question, free, default, least=least)
            free[:] = [name for name in free if name not in chosen]
            return chosen

        quasi_identifiers = asked("Which columns may others know of a person?", "quasi_identifier", 1)
        sensitive = asked("Which columns are sensitive?", "sensitive")
        keep = asked("Which other columns are released unchanged?", "keep")
        number = self._number(f"How many {'rows' if unit is None else 'persons'} must each class have at least?", k)
        given = [item.profile.name for item in found if item.role == "identifier" and item.asked]
        identifiers = [name for name in given if name in free]
        return Roles(quasi_identifiers, sensitive, identifiers, keep, unit, rows=unit is None), number

    def _show(self, found: Sequence[Suggestion]) -> None:
        from rich.table import Table

        from kanon_sql.report.words import shown

        table = Table("column", "values", "suggested", "why", box=None, pad_edge=False, header_style="bold")
        for item in found:
            role = {"left_out": "not released", "quasi_identifier": "quasi-identifier"}.get(item.role, item.role)
            table.add_row(shown(item.profile.name), f"{item.profile.distinct:,}", role, shown(item.reason))
        self.run.console.print(table)

    def _print(self, text: str) -> None:
        self.run.console.print(text, soft_wrap=True)

    def _columns(
        self, question: str, names: Sequence[str], default: Sequence[str], *, least: int = 0, most: int | None = None
    ) -> list[str]:
        """Ask for columns until all of them are there."""
        from kanon_sql.spec import did_you_mean
        from kanon_sql.verbs.init import columns_named

        def read(text: str) -> list[str]:
            asked = [] if text == NONE else columns_named(text, names)
            for name in asked:
                if name not in names:
                    raise ValueError(f"{name!r} is not one of the remaining columns{did_you_mean(name, names)}")
            if len(asked) < least:
                raise ValueError("name at least one column")
            if most is not None and len(asked) > most:
                raise ValueError("name one column")
            return list(dict.fromkeys(asked))

        return self._answer(question, ", ".join(default) or NONE, list(default), read, least)

    def _number(self, question: str, default: int) -> int:
        def read(text: str) -> int:
            if not text.isdecimal() or int(text) < 1:
                raise ValueError("expected a whole number of at least 1")
            return int(text)

        return self._answer(question, str(default), default, read, 0)

    def _answer(self, question: str, shown_default: str, default: T, read: Callable[[str], T], least: int) -> T:
        from rich.prompt import Prompt
        from rich.text import Text

        while True:
            prompt = Text.assemble((question, "bold"), f" [{shown_default}]")
            try:
                text = Prompt.ask(prompt, console=self.run.console, default="", show_default=False).strip()
            except EOFError:
                raise KeyboardInterrupt from None
            if not text and not (least and not default):
                return default
            try:
                return read(text)
            except ValueError as error:
                self._print(str(error))
