"""What every report in text is laid out with: the verdict, sections, labelled facts, tables, notes and the cost.

Calm, 80 columns, ASCII. Colours and widths are the terminal's business (rich); without a terminal it is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import IO, TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kanon_sql.report.words import metric, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Cost, Slowest, Warned

__all__ = [
    "columns",
    "cost_line",
    "facts",
    "named_warnings",
    "plain",
    "plain_notes",
    "print_text",
    "section",
    "slowest_statement",
    "verdict",
]


def print_text(content: RenderableType) -> None:
    """Write to standard output, without the spaces that only fill a line."""
    console = _console()
    console.file.write(_captured(console, content))


def plain(content: RenderableType) -> str:
    """The same without a terminal: no colours, and 80 columns where COLUMNS does not say another width."""
    return _captured(_console(StringIO()), content)


def _console(file: IO[str] | None = None) -> Console:
    # In a notebook rich would show an output of its own, and its kernel asks for colours, also in what str() returns.
    colours = None if file is None else False
    return Console(
        file=file, highlight=False, markup=False, emoji=False, force_jupyter=False, force_terminal=colours,
        no_color=file is not None,
    )  # fmt: skip


def _captured(console: Console, content: RenderableType) -> str:
    with console.capture() as captured:
        console.print(content)
    return re.sub(r" +$", "", captured.get(), flags=re.MULTILINE)


def verdict(passed: bool, message: str) -> RenderableType:
    """The verdict in a word and a sentence."""
    grid = Table.grid(padding=(0, 2))
    grid.add_row(
        Text("PASS", "bold green") if passed else Text("FAIL", "bold red"),
        Text(shown(message), overflow="fold"),
    )
    return grid


def section(title: str, content: RenderableType) -> list[RenderableType]:
    """A heading and what stands under it."""
    return [Text(), Text(title, "bold"), Padding(content, (0, 0, 0, 2))]


def facts(pairs: Iterable[tuple[str, str]]) -> RenderableType:
    """A few labelled facts, one a line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in pairs:
        grid.add_row(Text(label), Text(shown(value)))
    return grid


class _Whole(Table):
    """A table that breaks no word where the words of a line have room; rich narrows the widest column."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = [(Text(str(column.header)), *column.cells) for column in self.columns]
        sizes = [[Measurement.get(console, options, cell) for cell in own] for own in cells]
        least = [max(item.minimum for item in own) for own in sizes]
        wanted = [max(item.maximum for item in own) for own in sizes]
        free = options.max_width - _GAP * (len(sizes) - 1) - sum(least)
        if 0 <= free < sum(wanted) - sum(least):
            for place, index in enumerate(sorted(range(len(sizes)), key=lambda index: wanted[index] - least[index])):
                given = min(wanted[index] - least[index], free // (len(sizes) - place))
                self.columns[index].width = least[index] + given
                free -= given
        yield from super().__rich_console__(console, options)


_GAP = 2


def columns(heads: Sequence[tuple[str, bool]]) -> Table:
    """An empty table without lines; each head says whether its column holds numbers."""
    table = _Whole(box=None, padding=(0, _GAP, 0, 0), header_style="dim", pad_edge=False)
    for head, numeric in heads:
        table.add_column(head, justify="right" if numeric else "left", overflow="fold")
    return table


def plain_notes(notes: Iterable[str]) -> RenderableType:
    """What the user should know besides, a line or more each."""
    grid = Table.grid(padding=(0, 1))
    for note in notes:
        grid.add_row(Text("-"), Text(shown(note), overflow="fold"))
    return grid


def named_warnings(warned: Iterable[Warned]) -> RenderableType:
    """Each by its code, and where it is explained."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="yellow", no_wrap=True)
    grid.add_column(overflow="fold")
    for item in warned:
        grid.add_row(Text(item.code), Text(f"{shown(item.message)} ({item.page})"))
    return grid


def cost_line(cost: Cost) -> str:
    """What a run cost, in a line."""
    return (
        f"{plural(cost.statements, 'statement')}, {plural(cost.source_scans, 'source scan')}, "
        f"{plural(cost.rows_fetched, 'row')} / {plural(cost.bytes_fetched, 'byte')} fetched, "
        f"{metric(cost.seconds)} s" + (f"; {slowest_statement(cost.slowest)}" if cost.slowest is not None else "")
    )


def slowest_statement(slowest: Slowest) -> str:
    """Which statement took most of a long run.

    Args:
        slowest: its template, and its seconds.
    """
    return f"one statement ({slowest['statement']}) took {metric(slowest['seconds'])} s"
