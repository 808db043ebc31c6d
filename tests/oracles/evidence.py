"""What evidence must say of a table, counted in plain Python over lists of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Any

Row = Mapping[str, Any]
THRESHOLD = Fraction(9, 100)


def classes_of(rows: Sequence[Row], columns: Sequence[str]) -> list[list[Row]]:
    found: dict[tuple[Hashable, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in columns)].append(row)
    return list(found.values())


def record_figures(rows: Sequence[Row], columns: Sequence[str], unit: str | None = None) -> dict[str, Any]:
    """The figures of the records: each is in one class, and its risk is one over the records there."""
    members = [
        set(range(len(group))) if unit is None else {row[unit] for row in group} for group in classes_of(rows, columns)
    ]
    risks = [Fraction(1, len(group)) for group in members for _ in group]
    if not risks:
        return {"records": 0, "classes": 0, "smallest": None, "alone": 0, "at_risk": 0, "highest": None,
                "highest_within": None, "average": None, "average_within": None}  # fmt: skip
    average = sum(risks, Fraction(0)) / len(risks)
    return {
        "records": len(risks),
        "classes": len(members),
        "smallest": min(map(len, members)),
        "alone": sum(risk == 1 for risk in risks),
        "at_risk": sum(risk > THRESHOLD for risk in risks),
        "highest": float(max(risks)),
        "highest_within": max(risks) <= THRESHOLD,
        "average": float(average),
        "average_within": average <= THRESHOLD,
    }


def homogeneous(rows: Sequence[Row], columns: Sequence[str], attribute: str) -> int:
    """Rows of classes with one value; NULL is none, and protects nobody."""
    groups = classes_of(rows, columns)
    return sum(len(group) for group in groups if len({row[attribute] for row in group} - {None}) == 1)


def zip_figures(labels: Sequence[str | None], people: Mapping[str, int]) -> dict[str, int]:
    """The areas of ZIP codes, one label at a time; ``people`` by the whole code."""
    found = {"hidden_rows": 0, "finer_rows": 0, "small_rows": 0}
    areas, small, unknown = set(), set(), set()
    for label in labels:
        area = None if label is None else label.replace("*", "")
        if area in (None, "", "000"):
            found["hidden_rows"] += 1
            continue
        assert area is not None
        areas.add(area)
        if len(area) > 3:
            found["finer_rows"] += 1
            continue
        living = [count for code, count in people.items() if code.startswith(area)]
        if sum(living) <= 20_000:
            found["small_rows"] += 1
            small.add(area)
            if not living:
                unknown.add(area)
    return {**found, "areas": len(areas), "small_areas": len(small), "unknown_areas": len(unknown)}


def at_most(found: int, tried: int, share: Fraction) -> Fraction:
    """The binomial probability of so many or fewer, exactly."""
    return sum(
        (comb(tried, number) * share**number * (1 - share) ** (tried - number) for number in range(found + 1)),
        Fraction(0),
    )
