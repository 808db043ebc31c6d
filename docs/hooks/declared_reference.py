"""The tables of what is declared in a file each: search algorithms and quality metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kanon_sql.declared import QUALITY_METRICS, SEARCH_ALGORITHMS

__all__ = ["algorithms", "metrics"]


def algorithms() -> str:
    """What each search finds and proves, those that prove nothing last."""
    rows = [(f"`{name}`", item.finds, item.when, item.source) for name, item in SEARCH_ALGORITHMS.items()]
    return _table(("`algorithm`", "what it finds, and proves", "when", "source"), rows)


def metrics() -> str:
    """How each quality metric is computed."""
    rows = [(f"`{name}`", item.formula, item.words, item.source) for name, item in QUALITY_METRICS.items()]
    return _table(("`metric`", "formula", "what it says", "source"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
