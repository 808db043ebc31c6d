"""A spec of columns beside labels, and its release."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import kanon_sql
from tests.conftest import Database

BASE: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "people_release",
    "keep": ["id"],
    "privacy": [{"k_anonymity": 2}],
    "suppression": {"max_share": 1.0},
    "warnings": {"nearly_unique_kept": "allow"},
}


def spec_of(quasi: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**BASE, "quasi_identifiers": quasi, **changes})


def interval(value: Any, item: dict[str, Any], level: int, *, integer: bool) -> tuple[Any, Any, Any]:
    """Where it begins, where it ends, its middle: by arithmetic on the value, not by reading a label."""
    bottom, top = item.get("bottom"), item.get("top")
    if value is None or level > len(item["intervals"]):
        return None, None, None
    if level == 0:
        whole = integer and all(float(end).is_integer() for end in (*item["intervals"], bottom or 0, top or 0))
        return value, value + 1 if whole else value, value
    if bottom is not None and value < bottom:
        return None, bottom, None
    if top is not None and value >= top:
        return top, None, None
    width, origin = item["intervals"][level - 1], item.get("origin", 0)
    low = origin + (value - origin) // width * width
    high = low + width
    low = low if bottom is None else max(low, bottom)
    high = high if top is None else min(high, top)
    return low, high, (low + high) / 2


def days(value: date | None, unit: str | None) -> tuple[date | None, date | None]:
    """The first day, and the one after the last."""
    if value is None or unit is None:
        return None, None
    value = value.date() if isinstance(value, datetime) else value
    if unit == "day":
        return value, value + timedelta(days=1)
    if unit in ("month", "quarter"):
        months = 1 if unit == "month" else 3
        first = (value.year * 12 + value.month - 1) // months * months
        return tuple(date(month // 12, month % 12 + 1, 1) for month in (first, first + months))  # type: ignore[return-value]
    years = {"year": 1, "decade": 10, "century": 100}[unit]
    year = value.year // years * years
    return date(year, 1, 1), date(year + years, 1, 1)


def without(spec: kanon_sql.Spec) -> kanon_sql.Spec:
    """The same spec, which knows nothing of columns beside labels."""
    written = spec.to_dict()
    for item in written["quasi_identifiers"].values():
        item.pop("as", None)
    return kanon_sql.Spec.from_dict(written)


def read(label: str | None) -> tuple[Any, Any]:
    """The ends that a label names, read by Python."""
    if label is None or label == "*":
        return None, None
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return int(low), int(high)
    if label.startswith("< "):
        return None, int(label[2:])
    if label.startswith(">= "):
        return int(label[3:]), None
    return int(label), int(label) + 1


def attacked(database: Database, spec: kanon_sql.Spec, table: str | None = None) -> list[dict[str, Any]]:
    found = kanon_sql.audit(database.engine, spec, table=table, count_rows=spec.unit is not None)
    return [item.to_dict() for item in found.attacks]
