"""Bars: classes by size and by distance, loss per attribute, and risk, each before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from kanon_sql.report.levels import Names, level_in_words
from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale, clipped, ticks
from kanon_sql.report.words import metric, number, percent, plural
from kanon_sql.verbs.details import AttributeDetails, Details, Distance, DistanceDetails, RangeDetails, TableDetails

__all__ = ["class_sizes", "distance_title", "distances", "losses", "named", "risks", "sizes_in_words"]

_LEFT, _RIGHT, _TOP, _HEIGHT, _BOTTOM = 50, 10, 38, 170, 42


def class_sizes(found: Sequence[TableDetails], counted: str, k: int | None) -> Picture | None:
    """How many records stand in classes of which size, in the source and in the release.

    Args:
        found: the tables.
        counted: rows or persons.
        k: the largest that was asked for; None if none was, or if it is not known.
    """
    tables = [table for table in found if table.records]
    if not tables:
        return None
    held = sorted({(item.low, item.high) for table in tables for item in table.sizes})
    shares = {
        table.name: {(item.low, item.high): item.records / table.records for item in table.sizes} for table in tables
    }
    canvas, bottom = Canvas(), _TOP + _HEIGHT
    y = _shares_axis(canvas, max(max(found.values()) for found in shares.values()), counted)
    place = Scale(0, len(held), _LEFT + 6, WIDTH - _RIGHT)
    step = place(1) - place(0)
    below = sum(1 for low, _ in held if k is not None and low < k)
    labels = _labels(held, step)
    for index, sizes in enumerate(held):
        for position, table in enumerate(tables):
            share = shares[table.name].get(sizes, 0.0)
            width = (step - 4) / len(tables)
            tip = f"{named(table)}: {metric(100 * share)} % of {counted} in classes of {sizes_in_words(*sizes)}"
            canvas.rect(_kind(table), place(index) + 2 + position * width, y(share), width, bottom - y(share), tip)
        canvas.text("small", place(index) + step / 2, bottom + 15, labels[index], "middle")
    canvas.line("axis", _LEFT, bottom, WIDTH - _RIGHT, bottom)
    if k is not None and below > 0:
        canvas.line("limit", place(below), _TOP - 4, place(below), bottom)
        if below < len(held):
            canvas.text("limit-text", place(below) + 4, _TOP - 6, f"k = {number(k)}")
        else:
            canvas.text("limit-text", place(below) - 4, _TOP - 6, f"k = {number(k)}", "end")
    canvas.text("small", (_LEFT + WIDTH - _RIGHT) / 2, bottom + 34, _titled(counted, labels), "middle")
    _legend(canvas, tables)
    return Picture(
        name="class-sizes",
        title=f"{counted.capitalize()} by the size of their class",
        description=" ".join(_sizes_caption(table, counted, k) for table in tables),
        size=(WIDTH, bottom + _BOTTOM),
        marks=canvas.marks,
        heads=["size", *(head for table in tables for head in (f"{named(table)}: classes#", f"{counted}#"))],
        rows=[
            [sizes_in_words(*sizes), *(cell for table in tables for cell in _cells(table.sizes, sizes))]
            for sizes in held
        ],
    )


def distances(details: Details, attribute: str, distance: Distance) -> Picture | None:
    """How far the values of a sensitive attribute in the classes are from those in the source, by one measure."""
    found = {
        table.name: (table, item)
        for table in details.tables
        for item in table.distances
        if (item.attribute, item.distance) == (attribute, distance) and table.classes
    }
    if not found:
        return None
    tables = [table for table, _ in found.values()]
    t = next(iter(found.values()))[1].t
    canvas, bottom = Canvas(), _TOP + _HEIGHT
    most = max(item.classes / table.classes for table, own in found.values() for item in own.ranges)
    y = _shares_axis(canvas, most, "classes")
    x = Scale(0, 1, _LEFT + 14, WIDTH - _RIGHT)
    for table, own in sorted(found.values(), key=lambda item: _kind(item[0]) != "release"):  # outlines on top
        filled = _kind(table) == "release"
        for item in own.ranges:
            share = item.classes / table.classes
            start, end = _span(item, x)
            tip = f"{named(table)}: {metric(100 * share)} % of classes at a distance {_range(*_ends(item))}"
            if filled:
                canvas.rect("release", start, y(share), end - start, bottom - y(share), tip)
            else:
                canvas.path("outline", [(start, bottom), (start, y(share)), (end, y(share)), (end, bottom)], tip)
    canvas.line("axis", _LEFT, bottom, WIDTH - _RIGHT, bottom)
    for tick in (0, 0.25, 0.5, 0.75, 1):
        canvas.text("small", x(tick), bottom + 15, f"{tick:g}", "middle")
    if t is not None:
        canvas.line("limit", x(min(t, 1)), _TOP - 4, x(min(t, 1)), bottom)
        left = t > 0.5
        canvas.text(
            "limit-text", x(min(t, 1)) + (-4 if left else 4), _TOP - 6, f"t = {t:g}", "end" if left else "start"
        )
    canvas.text("small", (_LEFT + WIDTH - _RIGHT) / 2, bottom + 34, "distance from the whole source", "middle")
    canvas.legend(
        12, [("release" if _kind(table) == "release" else "outline", named(table)) for table in tables], _LEFT
    )
    ranges = sorted({_ends(item) for _, own in found.values() for item in own.ranges})
    return Picture(
        name=f"distances-{_position(details, attribute, distance)}",
        title=distance_title(attribute, distance),
        description=" ".join(_distances_caption(table, own) for table, own in found.values())
        + ("" if t is None else f" At most {t:g} is asked for."),
        size=(WIDTH, bottom + _BOTTOM),
        marks=canvas.marks,
        heads=["distance", *(f"{named(table)}: classes#" for table in tables)],
        rows=[[_range(*ends), *(_classes(own, ends) for _, own in found.values())] for ends in ranges],
    )


def distance_title(attribute: str, distance: Distance) -> str:
    """What the picture of a distance is called."""
    return f"Distance of {attribute} in the classes{_BY[distance]}"


def losses(attributes: Sequence[AttributeDetails], names: Names | None = None) -> Picture | None:
    """How much of each quasi-identifier's detail is lost; what its level is called, where that is known."""
    if not attributes:
        return None
    canvas, row, label = Canvas(), 34, 150
    x = Scale(0, 1, label, WIDTH - 62)
    for index, item in enumerate(attributes):
        top = 4 + index * row
        canvas.text("strong", 0, top + 12, clipped(item.name, label - 10))
        caption = level_in_words(names, item.name, item.level)
        canvas.text("small", 0, top + 26, clipped(caption or f"level {item.level} of {item.height}", label - 10))
        canvas.rect("track", label, top + 4, x(1) - label, 18)
        canvas.rect("release", label, top + 4, x(item.loss) - label, 18, f"{item.name}: {metric(100 * item.loss)} %")
        canvas.text("", WIDTH, top + 17, f"{_rounded(item.loss)} %", "end")
    worst = max(attributes, key=lambda item: item.loss)
    return Picture(
        name="loss",
        title="Information loss per quasi-identifier",
        description=f"{worst.name} loses the most: {metric(100 * worst.loss)} %. 0 % is the value itself, 100 % "
        "the top of its hierarchy; suppressed rows lose everything.",
        size=(WIDTH, 8 + row * len(attributes)),
        marks=canvas.marks,
        heads=["quasi-identifier", "level#", "which is", "highest level#", "loss#"],
        rows=[
            [
                item.name,
                str(item.level),
                level_in_words(names, item.name, item.level),
                str(item.height),
                f"{metric(100 * item.loss)} %",
            ]
            for item in attributes
        ],
    )


RISKS = {
    "highest": "highest risk of a record (prosecutor)",
    "average": "average risk (marketer)",
    "unique": "unique records",
    "above": "records above a risk of 1/k",
}
"""Each figure of risk, in words."""


def risks(found: Sequence[TableDetails]) -> Picture | None:
    """The figures of risk, before and after."""
    tables = [table for table in found if table.risk is not None]
    if not tables:
        return None
    canvas, row, label = Canvas(), 24 + 16 * len(tables), 0
    x = Scale(0, 1, label, WIDTH - 62)
    shown = [
        (words, {table.name: float(getattr(table.risk, name)) for table in tables})
        for name, words in RISKS.items()
        if all(getattr(table.risk, name) is not None for table in tables)
    ]
    top = 24.0
    for words, values in shown:
        canvas.text("", 0, top + 12, words)
        for position, table in enumerate(tables):
            y = top + 18 + position * 15
            value = values[table.name]
            canvas.rect("track", label, y, x(1) - label, 11)
            canvas.rect(
                _kind(table), label, y, max(1.5, x(value) - label) if value else 0, 11, f"{named(table)}: {words}"
            )
            canvas.text("small", WIDTH, y + 10, f"{_rounded(value)} %", "end")
        top += row + 6
    canvas.legend(12, [(_kind(table), named(table)) for table in tables])
    return Picture(
        name="risk",
        title="Re-identification risk of a record",
        description=" ".join(
            f"{words.capitalize()}: "
            + ", ".join(f"{name} {metric(100 * value)} %" for name, value in values.items())
            + "."
            for words, values in shown
        ),
        size=(WIDTH, int(top)),
        marks=canvas.marks,
        heads=["", *(f"{named(table)}#" for table in tables)],
        rows=[[words, *(f"{metric(100 * values[table.name])} %" for table in tables)] for words, values in shown],
    )


# --- What they share ---------------------------------------------------------------------------


def _shares_axis(canvas: Canvas, most: float, what: str) -> Scale:
    """Rules and numbers for shares in percent, and their scale."""
    marks = ticks(100 * most, 4)
    y = Scale(0, marks[-1] / 100, _TOP + _HEIGHT, _TOP)
    for mark in marks:
        canvas.line("rule", _LEFT, y(mark / 100), WIDTH - _RIGHT, y(mark / 100))
        canvas.text("small", _LEFT - 6, y(mark / 100) + 4, f"{mark:g} %", "end")
    return y


def _legend(canvas: Canvas, tables: Sequence[TableDetails]) -> None:
    canvas.legend(12, [(_kind(table), named(table)) for table in tables], _LEFT)


_NAMES: Mapping[str, str] = {"source": "source", "release": "release", "table": "checked table"}


def named(table: TableDetails) -> str:
    """What pictures call a table."""
    return _NAMES.get(table.name, table.name)


def _kind(table: TableDetails) -> str:
    return "source" if table.name == "source" else "release"


_BY = {"equal": "", "ordered": ", by rank", "hierarchical": ", by hierarchy"}
"""How a distance is measured, in words."""


def _position(details: Details, attribute: str, distance: Distance) -> int:
    """Attributes may have any name, files may not."""
    names = dict.fromkeys((item.attribute, item.distance) for table in details.tables for item in table.distances)
    return 1 + [*names].index((attribute, distance))


def sizes_in_words(low: float, high: float | None) -> str:
    """A range of sizes."""
    if high is None:
        return f"{number(int(low))} and more"
    return number(int(low)) if low == high else f"{number(int(low))} to {number(int(high))}"


def _titled(counted: str, labels: Sequence[str]) -> str:
    """The words under the axis; labels without both ends say where a range begins."""
    whole = any("\N{EN DASH}" in label or label.endswith("+") for label in labels) or len(labels) == 1
    return f"{counted} in the class" + ("" if whole else " (each bar: from this size on)")


def _labels(sizes: Sequence[tuple[float, float | None]], width: float) -> list[str]:
    """Ranges of sizes in little room: all where they begin, unless both ends of all fit."""

    def short(value: float) -> str:
        for unit, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
            if value >= unit and value % (unit / 10) == 0:
                return f"{value / unit:g}{letter}"
        return f"{value:g}"

    both = [
        short(low) + ("+" if high is None else "" if low == high else f"\N{EN DASH}{short(high)}")
        for low, high in sizes
    ]
    if all(6.2 * len(label) < width for label in both):
        return both
    begins = [short(low) for low, _ in sizes]
    wide = max(map(len, begins)) * 6.2 + 4
    every = max(1, -int(-wide // width))
    return [label if index % every == 0 else "" for index, label in enumerate(begins)]


def _ends(item: RangeDetails) -> tuple[float, float]:
    return item.low, inf if item.high is None else item.high


def _range(low: float, high: float) -> str:
    if high == inf:
        return "not defined"
    return "0" if high == 0 else f"above {low:g}, up to {high:g}"


def _span(item: RangeDetails, x: Scale) -> tuple[float, float]:
    """Where a range begins and ends; the classes without any distance have a narrow one before 0."""
    if item.high == 0:
        return x(0) - 10, x(0) - 2
    if item.high is None:
        return x(1), x(1) + 6
    return x(item.low) + 0.5, x(item.high) - 0.5


def _cells(ranges: Sequence[RangeDetails], sizes: tuple[float, float | None]) -> list[str]:
    for item in ranges:
        if (item.low, item.high) == sizes:
            return [number(item.classes), number(item.records)]
    return ["0", "0"]


def _classes(own: DistanceDetails, ends: tuple[float, float]) -> str:
    return number(sum(item.classes for item in own.ranges if _ends(item) == ends))


def _sizes_caption(table: TableDetails, counted: str, k: int | None) -> str:
    caption = f"{named(table).capitalize()}: {plural(table.classes, 'class')} of {plural(table.records, counted[:-1])}"
    if k is None:
        return caption + "."
    small = sum(item.records for item in table.sizes if item.low < k)
    return f"{caption}, {percent(small, table.records) if small else 'none'} of them in classes below k = {k}."


def _distances_caption(table: TableDetails, own: DistanceDetails) -> str:
    undefined = sum(item.classes for item in own.ranges if item.high is None)
    most = max((item.high for item in own.ranges if item.high is not None), default=None)
    caption = [] if most is None else [f"no class has a distance above {min(most, 1):g}"]
    caption += [f"the distance of {plural(undefined, 'class')} is not defined"] if undefined else []
    return f"{named(table).capitalize()}: {'; '.join(caption)}."


def _rounded(share: float) -> str:
    """A share in percent with little room; never 0 or 100 unless it is exactly that."""
    value = 100 * share
    if 0 < value < 0.1:
        return "< 0.1"
    if 99.9 < value < 100:
        return "> 99.9"
    return f"{value:.3g}"
