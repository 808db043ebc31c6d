"""The generalization lattice: node by node where it is small, else how many nodes of each height are what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kanon_sql.report.levels import Names, node_in_words
from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale
from kanon_sql.report.words import number, plural
from kanon_sql.search import Known, Lattice, Node
from kanon_sql.verbs.details import HeightDetails, LatticeDetails

__all__ = ["lattice"]

KINDS: dict[Known, tuple[str, str]] = {
    "satisfies": ("satisfies", "satisfies, asked"),
    "must satisfy": ("inferred", "satisfies, inferred"),
    "is worse": ("worse", "pruned: worse than the best"),
    "not evaluated": ("unknown", "not looked at"),
    "must violate": ("must-violate", "violates, inferred"),
    "violates": ("violates", "violates, asked"),
}
"""What may be known about a node -> its mark and words."""

_STEP, _ROW = 30, 40


def lattice(
    found: LatticeDetails,
    chosen: Node | None,
    minimal: bool,
    names: Names | None = None,
    tooltips: Mapping[Node, str] | None = None,
) -> Picture:
    """The lattice by height, highest first.

    Args:
        found: what is known of it.
        chosen: the chosen node.
        minimal: whether all k-minimal nodes are known.
        names: what levels are called.
        tooltips: node -> what else is known of it, where that was asked for.
    """
    canvas = Canvas()
    legend = _legend(canvas, found, chosen, minimal)
    if found.nodes is None:
        size = _by_height(canvas, found.heights, None if chosen is None else sum(chosen), legend)
    else:
        size = _by_node(canvas, found, chosen, legend, names, tooltips or {})
    kinds = _kinds(found)
    return Picture(
        name="lattice",
        title="The lattice of generalizations, by height",
        description=_caption(found, chosen),
        size=size,
        marks=canvas.marks,
        heads=["height#", "nodes#", *(f"{KINDS[kind][1]}#" for kind in kinds), *(["k-minimal#"] if minimal else [])],
        rows=[
            [
                str(item.height),
                number(item.nodes),
                *(number((item.known or {}).get(kind, 0)) for kind in kinds),
                *([number(item.minimal)] if minimal else []),
            ]
            for item in reversed(found.heights)
        ],
    )


def _kinds(found: LatticeDetails) -> list[Known]:
    return [kind for kind in KINDS if any((item.known or {}).get(kind) for item in found.heights)]


def _caption(found: LatticeDetails, chosen: Node | None) -> str:
    known: Counter[Known] = Counter()
    for item in found.heights:
        known.update(item.known or {})
    counts = ", ".join(f"{number(known[kind])} {KINDS[kind][1]}" for kind in KINDS if known[kind])
    total = sum(item.nodes for item in found.heights)
    ends = found.heights[0].height, found.heights[-1].height
    heights = f"height {ends[0]}" if ends[0] == ends[1] else f"the heights {ends[0]} to {ends[1]}"
    caption = f"{plural(total, 'node')} of {heights}" + (f": {counts}." if counts else ".")
    return caption if chosen is None else f"{caption} The chosen node has height {sum(chosen)}."


def _legend(canvas: Canvas, found: LatticeDetails, chosen: Node | None, minimal: bool) -> float:
    """What the marks mean, two a row; returns where it ends."""
    entries = [KINDS[kind] for kind in _kinds(found)]
    if not entries:
        entries = [("worse", "nodes")]
    rings = [("minimal", "k-minimal")] if minimal and found.nodes is not None else []
    rings += [("chosen", "chosen")] if chosen is not None else []
    for index, (kind, words) in enumerate([*entries, *rings]):
        x, y = (index % 2) * WIDTH / 2, 12 + 18 * (index // 2)
        if kind in ("chosen", "minimal"):
            canvas.circle(kind, x + 6, y - 4, 6)
        else:
            canvas.circle(kind, x + 6, y - 4, 5)
        canvas.text("small", x + 18, y, words)
    return 12 + 18 * ((len(entries) + len(rings) - 1) // 2) + 14


def _by_height(canvas: Canvas, heights: Sequence[HeightDetails], chosen: int | None, top: float) -> tuple[int, int]:
    row = 20 if len(heights) <= 24 else 14
    most = max(item.nodes for item in heights)
    x = Scale(0, most, 0, WIDTH - 104)
    for index, item in enumerate(reversed(heights)):
        y = top + index * row
        canvas.text("small", 22, y + row - 7, str(item.height), "end")
        width = max(2.0, x(item.nodes))
        at = 30 + (x(most) - width) / 2
        if item.known is None:
            canvas.rect("worse", at, y, width, row - 4)
        for kind, (mark, words) in KINDS.items():
            share = width * (item.known or {}).get(kind, 0) / item.nodes
            inset = 1 if mark in ("inferred", "must-violate", "unknown") else 0
            tip = f"height {item.height}: {number((item.known or {}).get(kind, 0))} {words}"
            canvas.rect(
                mark, at + inset, y + inset, max(0.6, share - 2 * inset) if share else 0, row - 4 - 2 * inset, tip
            )
            at += share
        canvas.text("small", WIDTH, y + row - 7, number(item.nodes), "end")
        if item.height == chosen:
            canvas.rect("chosen", 26, y - 2, WIDTH - 104 + 8, row)
    return WIDTH, int(top + row * len(heights) + 4)


def _by_node(
    canvas: Canvas,
    found: LatticeDetails,
    chosen: Node | None,
    top: float,
    names: Names | None,
    tooltips: Mapping[Node, str],
) -> tuple[int, int]:
    assert found.nodes is not None
    rows: dict[int, list[Node]] = {}
    for item in found.nodes:
        rows.setdefault(sum(item.node), []).append(item.node)
    widest = max(map(len, rows.values()))
    width = max(WIDTH, 40 + _STEP * widest)
    highest = max(rows)
    step = min(64.0, (width - 40) / widest)
    places = {
        node: (
            40 + (width - 40) / 2 + (index - (len(nodes) - 1) / 2) * step,
            top + 16 + (highest - height) * _ROW,
        )
        for height, nodes in rows.items()
        for index, node in enumerate(sorted(nodes, reverse=True))
    }
    vectors = [item.node for item in found.nodes]
    whole = Lattice(tuple(map(min, zip(*vectors, strict=True))), tuple(map(max, zip(*vectors, strict=True))))
    for node, (x, y) in places.items():
        for above in whole.successors(node):
            canvas.line("edge", x, y, *places[above])
    for height in rows:
        canvas.text("small", 22, top + 20 + (highest - height) * _ROW, str(height), "end")
    for item in found.nodes:
        x, y = places[item.node]
        mark, words = KINDS[item.known]
        levels = node_in_words(dict(zip(found.attributes, item.node, strict=True)), names)
        tip = f"{levels}: {'chosen' if item.node == chosen else words}{', k-minimal' if item.minimal else ''}"
        if item.node in tooltips:
            tip += f"; {tooltips[item.node]}"
        canvas.circle(mark, x, y, 6, tip)
        if item.minimal:
            canvas.circle("minimal", x, y, 9)
        if item.node == chosen:
            canvas.circle("chosen", x, y, 11)
    return int(width), int(top + 32 + (highest - min(rows)) * _ROW)
