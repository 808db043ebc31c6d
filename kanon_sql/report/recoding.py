"""What a recoding did to each column, as rows of a table: for every form of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.registers import RECODINGS
from kanon_sql.report.levels import Names, level_in_words
from kanon_sql.report.words import metric, number, percent, plural, shown

__all__ = ["column_cells", "recoding_in_words"]

_STARTS = {
    "top": "from the highest levels down",
    "bottom": "from the lowest levels up",
    "optimum": "from the full-domain optimum down",
    "sweep": "a sweep of nodes",
}


def recoding_in_words(recoding: Mapping[str, Any], names: Names | None = None) -> str:
    """What was made, in a sentence; levels by their names where these are known."""
    if "squares_lost" in recoding:
        return f"{_made(recoding)}; {_aggregated(recoding)}"
    lost = f"cells lose {metric(100 * recoding['mean_loss'])} % of their detail on average"
    if "suppressed_cells" in recoding:
        return f"{_suppressed(recoding, names)}; {lost}{_against_bound(recoding)}"
    if recoding["start"] == "kept":
        by = "by the cuts that were" if RECODINGS[recoding["method"]].of_ranges else "of the recoding that was"
        return f"{plural(recoding['partitions'], 'class')} {by} kept; {lost}"
    if RECODINGS[recoding["method"]].of_rows:
        before = metric(100 * recoding["tried"]["local"]["mean_loss"])
        made = (
            f"{plural(recoding['partitions'], 'different row')}, cells lowered in {plural(recoding['rounds'], 'round')}"
        )
        return (
            f"{made}; {lost}, where the local recoding that it starts from loses {before} %{_against_bound(recoding)}"
        )
    ways = len(recoding["tried"])
    best = f" (the best of {ways} ways: {_STARTS[recoding['start']]})" if ways > 1 else ""
    return f"{_made(recoding)}{best}{_ranges(recoding['ranges'])}; {lost}{_against_bound(recoding)}"


def _made(recoding: Mapping[str, Any]) -> str:
    return f"{plural(recoding['partitions'], 'class')} made in {plural(recoding['rounds'], 'round')}"


def _aggregated(recoding: Mapping[str, Any]) -> str:
    """What numbers lose, and apart from it what labels do: two measures."""
    text = f"numbers have lost {metric(100 * recoding['squares_lost'])} % of their squares"
    if recoding["mean_loss"] is None:
        return text
    return f"{text}; cells of the other columns lose {metric(100 * recoding['mean_loss'])} % of their detail on average"


def _ranges(names: Sequence[str]) -> str:
    """The columns that are released as ranges."""
    whose = "its" if len(names) == 1 else "their"
    return f", {', '.join(map(shown, names))} as ranges of {whose} values" if names else ""


def _suppressed(recoding: Mapping[str, Any], names: Names | None) -> str:
    """The node, and how many cells are suppressed at it."""
    levels = ", ".join(f"{shown(name)} {_named(level, names, name)}" for name, level in recoding["node"].items())
    cells = sum(item["cells"] for item in recoding["suppressed_cells"].values())
    tried = "" if recoding["start"] == "kept" else f" ({plural(recoding['nodes'], 'node')} tried)"
    made = f"{plural(cells, 'cell')} suppressed at the levels {levels}{tried}"
    full = recoding["tried"].get("full_domain")
    comparison = "" if full is None else f", where full-domain recoding would lose {metric(100 * full['mean_loss'])} %"
    return f"{plural(recoding['partitions'], 'class')}, {made}{comparison}"


def _named(level: int, names: Names | None, column: str) -> str:
    """A level and its name."""
    text = level_in_words(names, column, level)
    return f"{level} ({shown(text)})" if text else str(level)


def _with_nulls_apart(levels: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str | None, Mapping[str, int]]]:
    """Each level with the rows whose label is no NULL, and at the end those where it is."""
    nulls = sum(item.get("nulls", 0) for item in levels.values())
    for level, item in levels.items():
        if rows := item["rows"] - item.get("nulls", 0):
            yield level, {**item, "rows": rows}
    if nulls:
        yield None, {"rows": nulls}


def _against_bound(recoding: Mapping[str, Any]) -> str:
    """How far that is from what has to be lost, where it was asked for."""
    bound = recoding["bound"]
    if bound is None:
        return ""
    least = f"{metric(100 * bound['mean_loss'])} %"
    nodes = plural(bound["nodes"], "node")
    text = f"all {nodes} were evaluated" if bound["exact"] else f"{nodes} were evaluated, each for several levels"
    if not bound["mean_loss"]:
        return f"; the known lower bound of the loss is 0 ({text})"
    times = recoding["mean_loss"] / bound["mean_loss"]
    return f", {times:.1f} times the bound: no recoding with these hierarchies loses less than {least} ({text})"


def column_cells(recoding: Mapping[str, Any], names: Names | None = None) -> Iterator[tuple[str, str, str, str]]:
    """Per column: its name, the mean loss of a cell, how many labels there are, and the share of rows on each level."""
    for name, column in recoding["columns"].items():
        levels = column["levels"]
        rows = sum(item["rows"] for item in levels.values())
        cells = recoding.get("suppressed_cells", {}).get(name, {"cells": 0, "cap": None})
        top = max(levels, key=int) if cells["cells"] else None
        shares = ", ".join(
            f"{'suppressed' if level == top else _named(int(level), names, name)}: {percent(item['rows'], rows)}"
            if level is not None
            else f"NULL: {percent(item['rows'], rows)}"
            for level, item in _with_nulls_apart(levels)
        )
        if cells["cap"] is not None:
            shares += f" (at most {metric(100 * cells['cap'])} % of the source may be suppressed)"
        labels = sum(item["labels"] for item in levels.values())
        if column.get("aggregate") is not None:
            shares = f"the {column['aggregate']} of the class; {metric(100 * column['squares_lost'])} % of squares lost"
        yield name, "-" if column["mean_loss"] is None else metric(column["mean_loss"]), number(labels), shares
