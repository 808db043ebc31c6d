"""What the tests of ``init`` share."""

from __future__ import annotations

from typing import Any

import kanon_sql
from kanon_sql.engines import Engine, Meter


def metered(engine: Engine, table: str, **options: Any) -> tuple[str, Meter]:
    """The spec that is suggested for a table, and what it cost."""
    seen: list[Meter] = []
    text = kanon_sql.init(engine, table, report=lambda stage, nodes: seen.append(engine.meter), **options)
    return text, seen[-1]
