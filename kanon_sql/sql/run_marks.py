"""The mark by which a table says which run wrote it: written into a comment, or what stands for one."""

from __future__ import annotations

import re

__all__ = ["mark_text", "marked_run"]

_MARK = "anonymized by kanon_sql, run "


def mark_text(run_id: str) -> str:
    """What a table says of itself that a run has written and verified."""
    return f"{_MARK}{run_id}"


def marked_run(text: str | None) -> str | None:
    """The run whose mark is in a text, which may say more than that; None when there is no mark."""
    found = re.search(rf"{_MARK}([0-9a-z]{{1,64}})\b", text or "")
    return None if found is None else found.group(1)
