"""The tables of what is declared in a file each: search algorithms, quality metrics and attacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kanon_sql.registers import ATTACKS, QUALITY_METRICS, SEARCH_ALGORITHMS

__all__ = ["algorithms", "attacks", "metrics", "table"]


def algorithms() -> str:
    """What each search finds and proves, those that prove nothing last."""
    rows = [(f"`{name}`", item.finds, item.when, item.source) for name, item in SEARCH_ALGORITHMS.items()]
    return table(("`algorithm`", "what it finds, and proves", "when", "source"), rows)


def attacks() -> str:
    """What each attacker knows, and who is exposed to them."""
    rows = [(f"`{name}`", item.attacker, item.exposes, item.asks_for, item.source) for name, item in ATTACKS.items()]
    return table(("attack", "the attacker", "exposed are", "needs", "source"), rows)


def metrics() -> str:
    """How each quality metric is computed."""
    rows = [(f"`{name}`", item.formula, item.words, item.source) for name, item in QUALITY_METRICS.items()]
    return table(("`metric`", "formula", "what it says", "source"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
