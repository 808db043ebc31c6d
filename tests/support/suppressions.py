"""A spec's limit of suppression, from a number as the oracles have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["limit_of", "suppressing"]


def suppressing(limit: int | float, **more: Any) -> dict[str, Any]:
    """The section of a spec: a whole number is one of rows, and any other number a share."""
    return {"max_rows" if isinstance(limit, int) else "max_share": limit, **more}


def limit_of(section: Mapping[str, Any]) -> Any:
    """The number that a section of a spec was made of."""
    return section.get("max_rows", section.get("max_share", 0))
