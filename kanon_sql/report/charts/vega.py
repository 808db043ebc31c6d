"""Vega-Lite specifications: numbers in, one JSON object out. Names of columns are data, never part of an expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.pictures.colours import LIGHT
from kanon_sql.report.pictures.distributions import label_in_words
from kanon_sql.report.pictures.histograms import RISKS, named, sizes_in_words
from kanon_sql.report.pictures.lattice import KINDS
from kanon_sql.report.pictures.utility import TRAINED
from kanon_sql.search import Lattice, Node
from kanon_sql.verbs.details import (
    AttributeDetails,
    DistanceDetails,
    DistributionDetails,
    HeightDetails,
    LatticeDetails,
    SolutionDetails,
    TableDetails,
)

__all__ = [
    "class_sizes", "distances", "distribution", "frontier", "lattice", "losses", "over_k", "risks", "utility",
]  # fmt: skip

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
_PERCENT = {"format": ".3~%"}
_WIDTH, _HEIGHT = 380, 220


def _chart(title: str, subtitle: str, values: Sequence[Mapping[str, Any]], **more: Any) -> Chart:
    return {
        "$schema": SCHEMA,
        "title": {"text": title, **({"subtitle": subtitle} if subtitle else {})},
        "config": _CONFIG,
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": [dict(item) for item in values]},
        **more,
    }


def _field(name: str, kind: str, title: str | None = None, **more: Any) -> Chart:
    return {"field": name, "type": kind, **({} if title is None else {"title": title}), **more}


def _side(tables: Sequence[str]) -> Chart:
    """Which table: the colour says it, and the legend."""
    scale = {"domain": list(tables), "range": [_SIDES.get(name, LIGHT["accent"]) for name in tables]}
    return _field("table", "nominal", scale=scale, legend={"title": None})


def _share(title: str, **more: Any) -> Chart:
    return _field("share", "quantitative", title, axis={"format": "~%", "tickCount": 5}, **more)


def _tip(name: str, title: str, kind: str = "nominal", **more: Any) -> Chart:
    return _field(name, kind, title, **more)


def _tips(*columns: tuple[str, str], share: str | None = None, counts: Sequence[tuple[str, str]] = ()) -> list[Chart]:
    tips = [_tip(name, title) for name, title in columns]
    tips += [_tip(name, title, "quantitative", format=",") for name, title in counts]
    return tips if share is None else [*tips, _tip("share", share, "quantitative", **_PERCENT)]


_BAR: Chart = {"type": "bar", "tooltip": True}


def class_sizes(found: Sequence[TableDetails], counted: str, k: int | None) -> Chart | None:
    """The share of rows in classes of each size; see the picture of the same name."""
    tables = [table for table in found if table.records]
    sizes = sorted({(item.low, item.high) for table in tables for item in table.sizes})
    held = {(table.name, item.low, item.high): item for table in tables for item in table.sizes}
    values = [
        {
            "table": named(table),
            "size": sizes_in_words(low, high),
            "classes": 0 if item is None else item.classes,
            "records": 0 if item is None else item.records,
            "share": 0 if item is None else item.records / table.records,
        }
        for low, high in sizes
        for table in tables
        for item in [held.get((table.name, low, high))]
    ]
    if not values:
        return None
    names = [named(table) for table in tables]
    return _chart(
        f"{counted.capitalize()} by the size of their class",
        "" if k is None else f"k = {k:,} was asked for",
        values,
        mark=_BAR,
        encoding={
            "x": _field(
                "size", "ordinal", f"{counted} in the class", sort=[sizes_in_words(*item) for item in sizes],
                axis={"labelAngle": -40},
            ),
            "xOffset": _field("table", "nominal", sort=names),
            "y": _share(f"share of {counted}"),
            "color": _side(names),
            "tooltip": _tips(
                ("table", "table"), ("size", "size"), share="share",
                counts=[("classes", "classes"), ("records", counted)],
            ),
        },
    )  # fmt: skip


def losses(attributes: Sequence[AttributeDetails]) -> Chart | None:
    """The share of each quasi-identifier's detail that is lost."""
    if not attributes:
        return None
    values = [
        {"column": item.name, "share": item.loss, "level": f"{item.level} of {item.height}"} for item in attributes
    ]
    return _chart(
        "Detail lost per quasi-identifier",
        "",
        values,
        height={"step": 28},
        mark={**_BAR, "color": LIGHT["accent"]},
        encoding={
            "y": _field("column", "nominal", sort=[item.name for item in attributes], axis={"title": None}),
            "x": _share("loss", scale={"domain": [0, 1]}),
            "tooltip": _tips(("column", "quasi-identifier"), ("level", "level"), share="loss"),
        },
    )


def risks(found: Sequence[TableDetails]) -> Chart | None:
    """The figures of risk, before and after."""
    tables = [table for table in found if table.risk is not None]
    values = [
        {"risk": words, "table": named(table), "share": float(getattr(table.risk, name))}
        for name, words in RISKS.items()
        if all(getattr(table.risk, name) is not None for table in tables)
        for table in tables
    ]
    if not values:
        return None
    names = [named(table) for table in tables]
    return _chart(
        "Risk of finding a person's record",
        "",
        values,
        height={"step": 16},
        mark=_BAR,
        encoding={
            "y": _field("risk", "nominal", sort=list(RISKS.values()), axis={"title": None, "labelLimit": 260}),
            "yOffset": _field("table", "nominal", sort=names),
            "x": _share("risk", scale={"domain": [0, 1]}),
            "color": _side(names),
            "tooltip": _tips(("risk", "what"), ("table", "table"), share="risk"),
        },
    )


def distances(found: Sequence[tuple[TableDetails, DistanceDetails]], title: str, t: float | None) -> Chart | None:
    """How many classes are how far from the distribution of the whole source."""
    values = [
        {
            "table": named(table),
            "from": -0.02 if item.high == 0 else item.low,
            "to": 0.0 if item.high == 0 else min(item.high, 1.0),
            "distance": "0" if item.high == 0 else f"above {item.low:g}, up to {item.high:g}",
            "classes": item.classes,
            "share": item.classes / table.classes,
        }
        for table, own in found
        for item in own.ranges
        if item.high is not None and table.classes
    ]
    if not values:
        return None
    names = list(dict.fromkeys(str(item["table"]) for item in values))
    bars: Chart = {
        "mark": {"type": "rect", "tooltip": True, "opacity": 0.75},
        "encoding": {
            "x": _field(
                "from",
                "quantitative",
                "distance from the whole source",
                scale={"domain": [-0.02, 1]},
                axis={"values": [0, 0.25, 0.5, 0.75, 1]},
            ),
            "x2": {"field": "to"},
            "y": _share("share of classes"),
            "y2": {"datum": 0},
            "color": _side(names),
            "tooltip": _tips(
                ("table", "table"), ("distance", "distance"), share="share", counts=[("classes", "classes")]
            ),
        },
    }
    layers = [bars]
    if t is not None:
        limit = {"values": [{"limit": min(t, 1.0), "said": f"t = {t:g}"}]}
        layers.append(
            {
                "data": limit,
                "mark": {"type": "rule", "strokeDash": [4, 3], "color": LIGHT["bad"], "tooltip": True},
                "encoding": {"x": _field("limit", "quantitative"), "tooltip": _tips(("said", "asked for"))},
            }
        )
    return _chart(title, "" if t is None else f"t = {t:g} was asked for", values, layer=layers)


def distribution(found: DistributionDetails) -> Chart | None:
    """The share of rows with each label, in the source and in the release."""
    sides = ("source", "release") if found.source else ("release",)
    values = []
    for side in sides:
        counts = [(cell.source or 0) if side == "source" else cell.released for cell in found.cells]
        total = max(1, sum(counts))
        values += [
            {"label": label_in_words(cell), "table": side, found.counted: count, "share": count / total}
            for cell, count in zip(found.cells, counts, strict=True)
        ]
    if not values:
        return None
    level = "" if found.level is None else f" of level {found.level}"
    return _chart(
        f"{found.name}: {found.counted} by label{level}",
        f"labels with fewer than {found.least} {found.counted} are merged",
        values,
        height={"step": 12},
        mark=_BAR,
        encoding={
            "y": _field("label", "nominal", sort=[label_in_words(cell) for cell in found.cells], axis={"title": None}),
            "yOffset": _field("table", "nominal", sort=list(sides)),
            "x": _share(f"share of {found.counted}"),
            "color": _side(sides),
            "tooltip": _tips(
                ("label", "label"), ("table", "table"), share="share", counts=[(found.counted, found.counted)]
            ),
        },
    )


def utility(found: Mapping[str, Any]) -> Chart:
    """The accuracy of the classifiers."""
    values = [
        {"classifier": words, "table": "release" if name == "release" else "source", "share": found["accuracy"][name]}
        for name, words in TRAINED.items()
    ]
    return _chart(
        f"How often {found['classify']} is told rightly",
        "on rows of the source that were held out",
        values,
        height={"step": 30},
        mark=_BAR,
        encoding={
            "y": _field("classifier", "nominal", sort=list(TRAINED.values()), axis={"title": None, "labelLimit": 260}),
            "x": _share("accuracy", scale={"domain": [0, 1]}),
            "color": {**_side(["source", "release"]), "legend": None},
            "tooltip": _tips(("classifier", "classifier"), share="accuracy"),
        },
    )


def frontier(
    solutions: Sequence[SolutionDetails], chosen: Node | None, names: Sequence[str], rows: int, metric: str
) -> Chart | None:
    """Every satisfying node that was measured: how much it generalizes, how much it suppresses."""
    if not solutions or not rows:
        return None
    values = [
        {
            "rank": rank,
            "levels": ", ".join(f"{name} {level}" for name, level in zip(names, item.node, strict=False)),
            "share": item.suppressed / rows,
            "suppressed": item.suppressed,
            "generalized": item.generalization,
            "metric": item.metric,
            "node": "chosen" if chosen is not None and item.node == tuple(chosen) else "other",
        }
        for rank, item in enumerate(solutions, 1)
    ]
    scale = {"domain": ["chosen", "other"], "range": [LIGHT["accent"], LIGHT["before"]]}
    return _chart(
        "Suppression against generalization",
        "",
        values,
        mark={"type": "point", "filled": True, "size": 110, "opacity": 0.85, "tooltip": True},
        encoding={
            "x": _share("rows suppressed"),
            "y": _field(
                "generalized", "quantitative", "mean share of the hierarchies climbed",
                axis={"format": "~%", "tickCount": 5},
            ),
            "color": _field("node", "nominal", scale=scale, legend={"title": None}),
            "shape": _field(
                "node", "nominal", scale={"domain": ["chosen", "other"], "range": ["diamond", "circle"]},
                legend={"title": None},
            ),
            "tooltip": [
                *_tips(("rank", "rank"), ("levels", "levels")),
                *_tips(share="suppressed", counts=[("suppressed", "rows suppressed")]),
                _tip("generalized", "generalized", "quantitative", **_PERCENT),
                _tip("metric", metric.replace("_", " "), "quantitative", format=",.4~g"),
            ],
        },
    )  # fmt: skip


_KNOWN = {
    "satisfies": (LIGHT["good"], "circle"),
    "must satisfy": (LIGHT["good"], "triangle-up"),
    "is worse": (LIGHT["before"], "square"),
    "not looked at": (LIGHT["before"], "cross"),
    "must violate": (LIGHT["bad"], "triangle-down"),
    "violates": (LIGHT["bad"], "circle"),
}
"""What is known of a node -> colour and shape, which tell it together."""


def lattice(found: LatticeDetails, chosen: Node | None) -> Chart:
    """The lattice node by node where it is small, else the nodes of each height."""
    kinds = list(KINDS)
    words = [KINDS[kind][1] for kind in kinds]
    colour = _field(
        "known", "nominal", scale={"domain": words, "range": [_KNOWN[kind][0] for kind in kinds]},
        legend={"title": None, "columns": 2, "labelLimit": 220},
    )  # fmt: skip
    title = "The lattice of generalizations, by height"
    if found.nodes is None:
        values = [
            {"height": item.height, "known": words, "nodes": count}
            for item in found.heights
            for words, count in _known(item)
        ]
        if any(item.known is None for item in found.heights):
            colour = {"value": LIGHT["before"]}
        return _chart(
            title, "" if chosen is None else f"the chosen node has height {sum(chosen)}", values,
            height={"step": 18}, mark=_BAR,
            encoding={
                "y": _field("height", "ordinal", "height", sort="descending"),
                "x": _field("nodes", "quantitative", "nodes"),
                "color": colour,
                "tooltip": _tips(("height", "height"), ("known", "known"), counts=[("nodes", "nodes")]),
            },
        )  # fmt: skip
    rows: dict[int, list[Node]] = {}
    for item in found.nodes:
        rows.setdefault(sum(item.node), []).append(item.node)
    places = {
        node: index - (len(nodes) - 1) / 2
        for nodes in rows.values()
        for index, node in enumerate(sorted(nodes, reverse=True))
    }
    vectors = [item.node for item in found.nodes]
    whole = Lattice(tuple(map(min, zip(*vectors, strict=True))), tuple(map(max, zip(*vectors, strict=True))))
    edges = [
        {"x": places[node], "height": sum(node), "x2": places[above], "height2": sum(above)}
        for node in vectors
        for above in whole.successors(node)
    ]
    values = [
        {
            "x": places[item.node],
            "height": sum(item.node),
            "known": KINDS[item.known][1],
            "levels": ", ".join(f"{name} {level}" for name, level in zip(found.attributes, item.node, strict=True)),
            "said": ", ".join(
                ["chosen"] * (item.node == (None if chosen is None else tuple(chosen))) + ["k-minimal"] * item.minimal
            ),
        }
        for item in found.nodes
    ]
    x = _field("x", "quantitative", axis=None, scale={"padding": 20})
    ends = {"domain": [min(rows) - 0.6, max(rows) + 0.6], "nice": False}
    y = _field("height", "quantitative", "height", axis={"values": sorted(rows), "grid": False}, scale=ends)
    return _chart(
        title, "the ring is around the chosen node" if chosen is not None else "", values,
        height=60 * len(rows), width=max(_WIDTH, 36 * max(map(len, rows.values()))),
        layer=[
            {
                "data": {"values": edges},
                "mark": {"type": "rule", "color": LIGHT["line"]},
                "encoding": {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "height2"}},
            },
            {
                "transform": [{"filter": {"field": "said", "oneOf": ["chosen", "chosen, k-minimal"]}}],
                "mark": {"type": "point", "size": 420, "color": LIGHT["ink"], "strokeWidth": 2.5},
                "encoding": {"x": x, "y": y},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 130, "opacity": 1, "tooltip": True},
                "encoding": {
                    "x": x, "y": y, "color": colour,
                    "shape": _field(
                        "known", "nominal", scale={"domain": words, "range": [_KNOWN[kind][1] for kind in kinds]},
                        legend={"title": None},
                    ),
                    "tooltip": _tips(("levels", "levels"), ("known", "known"), ("said", "also")),
                },
            },
        ],
    )  # fmt: skip


def _known(item: HeightDetails) -> list[tuple[str, int]]:
    """How many nodes of a height are known to be what, in words."""
    if item.known is None:
        return [("nodes", item.nodes)]
    return [(KINDS[kind][1], count) for kind, count in item.known.items()]


def over_k(values: Sequence[Mapping[str, Any]], title: str, what: str, *, share: bool) -> Chart:
    """A line per spec over k.

    Args:
        values: ``spec``, ``k`` and ``value`` of each run.
        title: what is shown.
        what: the measure's name.
        share: whether it is one.
    """
    form = {"format": "~%"} if share else {}
    specs = list(dict.fromkeys(item["spec"] for item in values))
    colours = [LIGHT[name] for name in ("accent", "before", "good", "bad")]
    scale = {"domain": specs, "range": [colours[place % 4] for place in range(len(specs))]}
    return _chart(
        title,
        "",
        values,
        mark={"type": "line", "point": {"filled": True, "size": 70}, "tooltip": True},
        encoding={
            "x": _field("k", "ordinal", "k", axis={"labelAngle": 0}),
            "y": _field("value", "quantitative", what, axis=form, scale={"zero": True}),
            "color": _field("spec", "nominal", scale=scale, legend={"title": None, "columns": 1, "labelLimit": 340}),
            "strokeDash": _field("spec", "nominal", sort=specs, legend=None),
            "tooltip": [
                *_tips(("spec", "spec"), ("k", "k")),
                _tip("value", what, "quantitative", format=".3~%" if share else ",.4~g"),
            ],
        },
    )
