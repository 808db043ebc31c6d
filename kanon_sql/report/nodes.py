"""Nodes of the lattice in words: what is known of each, and why it is ruled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.levels import Names, node_in_words
from kanon_sql.report.words import metric, plural

__all__ = ["figures_in_words", "known_in_words", "why_in_words"]


def known_in_words(item: Mapping[str, Any]) -> str:
    """What is known of a node, as it is under ``search.lattice`` of a result, such as ``satisfies, evaluated``."""
    status, satisfied = item["status"], item["satisfied"]
    if status == "pruned":
        return "pruned: worse than the best"
    if status == "open":
        return "not evaluated"
    return f"{'satisfies' if satisfied else 'violates'}, {'evaluated' if status == 'evaluated' else 'inferred'}"


def figures_in_words(item: Mapping[str, Any]) -> str:
    """What was measured of a node: its suppressed rows and its metric; empty where nothing was."""
    parts = [] if item["suppressed"] is None else [f"{plural(item['suppressed'], 'row')} suppressed"]
    if item["metric"] is not None:
        parts.append(f"metric {_figure(item['metric'])}")
    elif item["bound"] is not None:
        parts.append(f"metric at least {_figure(item['bound'])}")
    return ", ".join(parts)


def why_in_words(item: Mapping[str, Any], columns: Sequence[str], names: Names | None) -> str:
    """Why a node is not the chosen one, in a sentence; empty where it was not ruled out.

    Args:
        item: as it is under ``search.lattice`` of a result.
        columns: the quasi-identifiers, in the order of levels.
        names: what levels are called.
    """
    status, because = item["status"], item["because"]
    other = None
    if because is not None and list(because) != list(item["node"]):
        other = node_in_words(dict(zip(columns, because, strict=True)), names)
    if status == "pruned":
        if other is None:
            return "its metric is above that of the best node, whatever it suppresses"
        return f"its metric is above that of the best node, since that of a specialization is: {other}"
    if status == "inferred" and other is not None:
        return f"a {'generalization' if not item['satisfied'] else 'specialization'} of it " + (
            f"violates: {other}" if not item["satisfied"] else f"satisfies: {other}"
        )
    if status == "evaluated" and not item["satisfied"]:
        return "it would suppress more than the limit"
    return ""


def _figure(value: Any) -> str:
    """A metric, or the losses that a ranked one consists of."""
    return ", ".join(map(metric, value)) if isinstance(value, list | tuple) else metric(value)
