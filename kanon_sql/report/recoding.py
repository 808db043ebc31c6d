"""What a recoding that is not full-domain did to each column, as rows of a table: for every form of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.report.words import metric, number, percent, plural

__all__ = ["column_cells", "recoding_in_words", "recoding_title"]

_BEGUN = {
    "top": "from the highest levels down",
    "optimum": "from the full-domain optimum down",
    "sweep": "a sweep of nodes",
}


_TITLES = {"local": "Local recoding", "mondrian": "Multidimensional recoding (Mondrian)"}


def recoding_title(recoding: Mapping[str, Any]) -> str:
    """What the literature calls it."""
    return _TITLES[recoding["method"]]


def recoding_in_words(recoding: Mapping[str, Any]) -> str:
    """What was made, in a sentence."""
    made = f"{plural(recoding['partitions'], 'class')} made in {plural(recoding['rounds'], 'round')}"
    ways = len(recoding["tried"])
    best = f" (the best of {ways} ways: {_BEGUN[recoding['start']]})" if ways > 1 else ""
    lost = f"a cell has lost {metric(100 * recoding['mean_loss'])} % of its detail on average"
    return f"{made}{best}; {lost}{_beside_bound(recoding)}"


def _beside_bound(recoding: Mapping[str, Any]) -> str:
    """How far that is from what has to be lost, where it was asked for."""
    bound = recoding["bound"]
    if bound is None:
        return ""
    least = f"{metric(100 * bound['mean_loss'])} %"
    nodes = plural(bound["nodes"], "node")
    said = f"all {nodes} were asked about" if bound["exact"] else f"{nodes} were asked about, each for several levels"
    if not bound["mean_loss"]:
        return f"; nothing has to be lost as far as is known ({said})"
    times = recoding["mean_loss"] / bound["mean_loss"]
    return f", {times:.1f} times the bound: no recoding with these hierarchies loses less than {least} ({said})"


def column_cells(recoding: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Per column: its name, the mean loss of a cell, how many labels there are, and the share of rows on each level."""
    for name, column in recoding["columns"].items():
        levels = column["levels"]
        rows = sum(item["rows"] for item in levels.values())
        shares = ", ".join(f"{level}: {percent(item['rows'], rows)}" for level, item in levels.items())
        labels = sum(item["labels"] for item in levels.values())
        yield name, metric(column["mean_loss"]), number(labels), shares
