"""Charts of what a table holds and lost, as Vega-Lite: numbers in, one JSON object out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.charts.grammar import BAR, Chart, chart, field, share_axis, side, tips
from kanon_sql.report.pictures.colours import LIGHT
from kanon_sql.report.pictures.distributions import label_in_words
from kanon_sql.report.pictures.histograms import RISKS, named, sizes_in_words
from kanon_sql.report.pictures.utility import TRAINED
from kanon_sql.verbs.details import AttributeDetails, DistanceDetails, DistributionDetails, TableDetails

__all__ = ["class_sizes", "distances", "distribution", "losses", "risks", "utility"]


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
    return chart(
        f"{counted.capitalize()} by the size of their class",
        "" if k is None else f"k = {k:,} was asked for",
        values,
        mark=BAR,
        encoding={
            "x": field(
                "size", "ordinal", f"{counted} in the class", sort=[sizes_in_words(*item) for item in sizes],
                axis={"labelAngle": -40},
            ),
            "xOffset": field("table", "nominal", sort=names),
            "y": share_axis(f"share of {counted}"),
            "color": side(names),
            "tooltip": tips(
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
    return chart(
        "Information loss per quasi-identifier",
        "",
        values,
        height={"step": 28},
        mark={**BAR, "color": LIGHT["accent"]},
        encoding={
            "y": field("column", "nominal", sort=[item.name for item in attributes], axis={"title": None}),
            "x": share_axis("loss", scale={"domain": [0, 1]}),
            "tooltip": tips(("column", "quasi-identifier"), ("level", "level"), share="loss"),
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
    return chart(
        "Re-identification risk of a record",
        "",
        values,
        height={"step": 16},
        mark=BAR,
        encoding={
            "y": field("risk", "nominal", sort=list(RISKS.values()), axis={"title": None, "labelLimit": 260}),
            "yOffset": field("table", "nominal", sort=names),
            "x": share_axis("risk", scale={"domain": [0, 1]}),
            "color": side(names),
            "tooltip": tips(("risk", "what"), ("table", "table"), share="risk"),
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
            "x": field(
                "from",
                "quantitative",
                "distance from the whole source",
                scale={"domain": [-0.02, 1]},
                axis={"values": [0, 0.25, 0.5, 0.75, 1]},
            ),
            "x2": {"field": "to"},
            "y": share_axis("share of classes"),
            "y2": {"datum": 0},
            "color": side(names),
            "tooltip": tips(
                ("table", "table"), ("distance", "distance"), share="share", counts=[("classes", "classes")]
            ),
        },
    }
    layers = [bars]
    if t is not None:
        limit = {"values": [{"limit": min(t, 1.0), "label": f"t = {t:g}"}]}
        layers.append(
            {
                "data": limit,
                "mark": {"type": "rule", "strokeDash": [4, 3], "color": LIGHT["bad"], "tooltip": True},
                "encoding": {"x": field("limit", "quantitative"), "tooltip": tips(("label", "asked for"))},
            }
        )
    return chart(title, "" if t is None else f"t = {t:g} was asked for", values, layer=layers)


def distribution(found: DistributionDetails) -> Chart | None:
    """The share of rows with each label, in the source and in the release."""
    sides = ("source", "release") if found.source else ("release",)
    values = []
    for name in sides:
        counts = [(cell.source or 0) if name == "source" else cell.released for cell in found.cells]
        total = max(1, sum(counts))
        values += [
            {"label": label_in_words(cell), "table": name, found.counted: count, "share": count / total}
            for cell, count in zip(found.cells, counts, strict=True)
        ]
    if not values:
        return None
    level = "" if found.level is None else f" of level {found.level}"
    return chart(
        f"{found.name}: {found.counted} by label{level}",
        f"labels with fewer than {found.least} {found.counted} are merged",
        values,
        height={"step": 12},
        mark=BAR,
        encoding={
            "y": field("label", "nominal", sort=[label_in_words(cell) for cell in found.cells], axis={"title": None}),
            "yOffset": field("table", "nominal", sort=list(sides)),
            "x": share_axis(f"share of {found.counted}"),
            "color": side(sides),
            "tooltip": tips(
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
    return chart(
        f"Accuracy of predicting {found['classify']}",
        "on held-out rows of the source",
        values,
        height={"step": 30},
        mark=BAR,
        encoding={
            "y": field("classifier", "nominal", sort=list(TRAINED.values()), axis={"title": None, "labelLimit": 260}),
            "x": share_axis("accuracy", scale={"domain": [0, 1]}),
            "color": {**side(["source", "release"]), "legend": None},
            "tooltip": tips(("classifier", "classifier"), share="accuracy"),
        },
    )
