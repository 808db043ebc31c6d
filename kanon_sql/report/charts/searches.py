"""Charts of what a search looked at, as Vega-Lite: numbers in, one JSON object out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.charts.grammar import BAR, PERCENT, WIDTH, Chart, chart, field, share_axis, tip, tips
from kanon_sql.report.pictures.colours import LIGHT
from kanon_sql.report.pictures.lattice import KINDS
from kanon_sql.search import Lattice, Node
from kanon_sql.verbs.details import HeightDetails, LatticeDetails, SolutionDetails

__all__ = ["frontier", "lattice", "over_k"]


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
    return chart(
        "Suppression against generalization",
        "",
        values,
        mark={"type": "point", "filled": True, "size": 110, "opacity": 0.85, "tooltip": True},
        encoding={
            "x": share_axis("rows suppressed"),
            "y": field(
                "generalized", "quantitative", "mean relative level of generalization",
                axis={"format": "~%", "tickCount": 5},
            ),
            "color": field("node", "nominal", scale=scale, legend={"title": None}),
            "shape": field(
                "node", "nominal", scale={"domain": ["chosen", "other"], "range": ["diamond", "circle"]},
                legend={"title": None},
            ),
            "tooltip": [
                *tips(("rank", "rank"), ("levels", "levels")),
                *tips(share="suppressed", counts=[("suppressed", "rows suppressed")]),
                tip("generalized", "generalized", "quantitative", **PERCENT),
                tip("metric", metric.replace("_", " "), "quantitative", format=",.4~g"),
            ],
        },
    )  # fmt: skip


_KNOWN = {
    "satisfies": (LIGHT["good"], "circle"),
    "must satisfy": (LIGHT["good"], "triangle-up"),
    "is worse": (LIGHT["before"], "square"),
    "not evaluated": (LIGHT["before"], "cross"),
    "must violate": (LIGHT["bad"], "triangle-down"),
    "violates": (LIGHT["bad"], "circle"),
}
"""What is known of a node -> colour and shape, which tell it together."""


def lattice(found: LatticeDetails, chosen: Node | None) -> Chart:
    """The lattice node by node where it is small, else the nodes of each height."""
    kinds = list(KINDS)
    words = [KINDS[kind][1] for kind in kinds]
    colour = field(
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
        return chart(
            title, "" if chosen is None else f"the chosen node has height {sum(chosen)}", values,
            height={"step": 18}, mark=BAR,
            encoding={
                "y": field("height", "ordinal", "height", sort="descending"),
                "x": field("nodes", "quantitative", "nodes"),
                "color": colour,
                "tooltip": tips(("height", "height"), ("known", "known"), counts=[("nodes", "nodes")]),
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
            "also": ", ".join(
                ["chosen"] * (item.node == (None if chosen is None else tuple(chosen))) + ["k-minimal"] * item.minimal
            ),
        }
        for item in found.nodes
    ]
    x = field("x", "quantitative", axis=None, scale={"padding": 20})
    ends = {"domain": [min(rows) - 0.6, max(rows) + 0.6], "nice": False}
    y = field("height", "quantitative", "height", axis={"values": sorted(rows), "grid": False}, scale=ends)
    return chart(
        title, "the ring is around the chosen node" if chosen is not None else "", values,
        height=60 * len(rows), width=max(WIDTH, 36 * max(map(len, rows.values()))),
        layer=[
            {
                "data": {"values": edges},
                "mark": {"type": "rule", "color": LIGHT["line"]},
                "encoding": {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "height2"}},
            },
            {
                "transform": [{"filter": {"field": "also", "oneOf": ["chosen", "chosen, k-minimal"]}}],
                "mark": {"type": "point", "size": 420, "color": LIGHT["ink"], "strokeWidth": 2.5},
                "encoding": {"x": x, "y": y},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 130, "opacity": 1, "tooltip": True},
                "encoding": {
                    "x": x, "y": y, "color": colour,
                    "shape": field(
                        "known", "nominal", scale={"domain": words, "range": [_KNOWN[kind][1] for kind in kinds]},
                        legend={"title": None},
                    ),
                    "tooltip": tips(("levels", "levels"), ("known", "known"), ("also", "also")),
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
    return chart(
        title,
        "",
        values,
        mark={"type": "line", "point": {"filled": True, "size": 70}, "tooltip": True},
        encoding={
            "x": field("k", "ordinal", "k", axis={"labelAngle": 0}),
            "y": field("value", "quantitative", what, axis=form, scale={"zero": True}),
            "color": field("spec", "nominal", scale=scale, legend={"title": None, "columns": 1, "labelLimit": 340}),
            "strokeDash": field("spec", "nominal", sort=specs, legend=None),
            "tooltip": [
                *tips(("spec", "spec"), ("k", "k")),
                tip("value", what, "quantitative", format=".3~%" if share else ",.4~g"),
            ],
        },
    )
