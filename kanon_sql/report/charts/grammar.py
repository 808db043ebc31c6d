"""What charts are made of: frames, encodings, tooltips. Names of columns are data, never part of an expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.pictures.colours import LIGHT

__all__ = ["BAR", "PERCENT", "SCHEMA", "WIDTH", "Chart", "chart", "field", "share_axis", "side", "tip", "tips"]

Chart = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""Its name: nothing is fetched from there."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_CONFIG: Chart = dict(background=LIGHT["paper"]) | {  # noqa: C408, attacks alone are called by their names in quotes
    "font": _FONT,
    "view": {"stroke": None},
    "title": {"color": LIGHT["ink"], "subtitleColor": LIGHT["muted"], "anchor": "start", "fontSize": 14},
    "axis": {
        "labelColor": LIGHT["muted"], "titleColor": LIGHT["muted"], "titleFontWeight": "normal",
        "domainColor": LIGHT["line"], "tickColor": LIGHT["line"], "gridColor": LIGHT["line"],
        "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 160,
    },
    "legend": {"labelColor": LIGHT["muted"], "titleColor": LIGHT["muted"], "labelFontSize": 12, "orient": "top"},
}  # fmt: skip
_SIDES = {"source": LIGHT["before"], "release": LIGHT["accent"], "checked table": LIGHT["accent"]}
PERCENT = {"format": ".3~%"}
WIDTH, _HEIGHT = 380, 220


def chart(title: str, subtitle: str, values: Sequence[Mapping[str, Any]], **more: Any) -> Chart:
    """A chart of ``values``: its title, its size and what everything is drawn with."""
    return {
        "$schema": SCHEMA,
        "title": {"text": title, **({"subtitle": subtitle} if subtitle else {})},
        "config": _CONFIG,
        "width": WIDTH,
        "height": _HEIGHT,
        "data": {"values": [dict(item) for item in values]},
        **more,
    }


def field(name: str, kind: str, title: str | None = None, **more: Any) -> Chart:
    """An encoding by a field of the values."""
    return {"field": name, "type": kind, **({} if title is None else {"title": title}), **more}


def side(tables: Sequence[str]) -> Chart:
    """Which table: the colour says it, and the legend."""
    scale = {"domain": list(tables), "range": [_SIDES.get(name, LIGHT["accent"]) for name in tables]}
    return field("table", "nominal", scale=scale, legend={"title": None})


def share_axis(title: str, **more: Any) -> Chart:
    """An axis of shares, in per cent."""
    return field("share", "quantitative", title, axis={"format": "~%", "tickCount": 5}, **more)


def tip(name: str, title: str, kind: str = "nominal", **more: Any) -> Chart:
    """A line of a tooltip."""
    return field(name, kind, title, **more)


def tips(*columns: tuple[str, str], share: str | None = None, counts: Sequence[tuple[str, str]] = ()) -> list[Chart]:
    """A tooltip: texts, then counts, then a share, each as its field and its title."""
    lines = [tip(name, title) for name, title in columns]
    lines += [tip(name, title, "quantitative", format=",") for name, title in counts]
    return lines if share is None else [*lines, tip("share", share, "quantitative", **PERCENT)]


BAR: Chart = {"type": "bar", "tooltip": True}
