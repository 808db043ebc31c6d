"""Release steps and untrue values in plain Python: what must come out, row by row, for a given secret."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from math import floor, sqrt
from statistics import NormalDist
from typing import Any

SECRET = "a secret of the tests"
ALL = 2**48

Value = Any
Row = Mapping[str, Value]


def key_for(purpose: str) -> str:
    return hmac.new(SECRET.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def draw(purpose: str, value: object) -> int:
    text = key_for(purpose) + ("n" if value is None else f"v{value}")
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def rounded(value: Value, base: str) -> Value:
    """To the nearest multiple, the higher one of two."""
    if value is None:
        return None
    found = floor(Fraction(str(value)) / Fraction(base) + Fraction(1, 2)) * Fraction(base)
    return int(found) if found.denominator == 1 else float(found)


def coded(value: Value, step: Mapping[str, Any]) -> Value:
    """What a column's step makes of a value: a label where ends are coded, of the number as it is rounded."""
    if value is None:
        return None
    made = rounded(value, str(step["round"])) if "round" in step else value
    if "bottom" in step and Fraction(str(made)) <= Fraction(str(step["bottom"])):
        return f"<= {step['bottom']}"
    if "top" in step and Fraction(str(made)) >= Fraction(str(step["top"])):
        return f">= {step['top']}"
    if not {"bottom", "top"} & set(step):
        return made
    return str(int(made)) if made == int(made) else str(made)


def sampled(rows: Sequence[Row], by: str, fraction: float) -> list[Row]:
    return [row for row in rows if draw("sample", row[by]) < int(Fraction(repr(fraction)) * ALL)]


def days_moved(person: object, days: int, step: int = 1) -> int:
    """By how many days the dates of a person are moved: a multiple of the step, never none."""
    steps = days // step
    place = draw("days that dates of persons are moved by", person) % (2 * steps)
    return [*range(-steps, 0), *range(1, steps + 1)][place] * step


# --- Untrue values ---------------------------------------------------------------------------


def masked(rows: Sequence[Row], key: str, name: str, method: Mapping[str, Any]) -> list[Value]:
    """The untrue values of a column, in the order of the rows."""
    ((kind, options),) = method.items()
    known = [(row[key], row[name], row) for row in rows if row[name] is not None]
    made = {
        "noise": noisy,
        "rank_swap": rank_swapped,
        "swap": swapped,
        "pram": randomized,
    }[kind](known, name, options)
    return [made.get(row[key]) for row in rows]


Known = Sequence[tuple[Any, Value, Row]]


def slices() -> list[float]:
    values = [NormalDist().inv_cdf((number + 0.5) / 4096) for number in range(4096)]
    size = sqrt(sum(value * value for value in values) / 4096)
    return [value / size for value in values]


_SLICES = slices()


def noisy(known: Known, name: str, options: Mapping[str, Any]) -> dict[Any, Value]:
    values = [float(value) for _, value, _ in known]
    mean = sum(values) / len(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    unit = 10 ** options["decimals"]
    made = {}
    for key, value, _ in known:
        normal = _SLICES[draw(f"first {name}", key) // (ALL // 4096)]
        if options.get("variant") == "multiplicative":
            factor = 10**6 + round(float(f"{options['share'] * 10**6:.6g}") * normal)
            units = floor(float(value) * unit * float(factor) / 10**6 + 0.5)
        else:
            units = floor(float(value) * unit + 0.5) + round(
                float(f"{unit * options['share'] * deviation:.6g}") * normal
            )
        made[key] = units if unit == 1 else units / unit
    return made


def exchanged(pairs: Sequence[Sequence[tuple[Any, Value]]]) -> dict[Any, Value]:
    made = {}
    for pair in pairs:
        for place, (key, _) in enumerate(pair):
            made[key] = pair[len(pair) - 1 - place][1]
    return made


def paired(members: Sequence[tuple[Any, Value, Row]], name: str) -> list[list[tuple[Any, Value]]]:
    listed = sorted(members, key=lambda item: (draw(f"second {name}", item[0]), str(item[0])))
    return [[(key, value) for key, value, _ in listed[start : start + 2]] for start in range(0, len(listed), 2)]


def rank_swapped(known: Known, name: str, options: Mapping[str, Any]) -> dict[Any, Value]:
    width = max(2, int(Fraction(repr(options["share"])) * len(known)) + 1)
    start = int(key_for(f"start {name}"), 16) % width
    ordered = sorted(known, key=lambda item: (item[1], draw(f"first {name}", item[0]), str(item[0])))
    blocks: dict[int, list[tuple[Any, Value, Row]]] = defaultdict(list)
    for rank, item in enumerate(ordered, 1):
        blocks[(rank + start) // width].append(item)
    return exchanged([pair for members in blocks.values() for pair in paired(members, name)])


def swapped(known: Known, name: str, options: Mapping[str, Any]) -> dict[Any, Value]:
    made = {key: value for key, value, _ in known}
    strata: dict[Hashable, list[tuple[Any, Value, Row]]] = defaultdict(list)
    for item in known:
        if draw(f"first {name}", item[0]) < int(Fraction(repr(options["share"])) * ALL):
            strata[tuple(item[2][column] for column in options.get("within", ()))].append(item)
    return made | exchanged([pair for members in strata.values() for pair in paired(members, name)])


def randomized(known: Known, name: str, options: Mapping[str, Any]) -> dict[Any, Value]:
    counts = Counter(value for _, value, _ in known)
    if "matrix" in options:
        rows = {label: {to: Fraction(str(p)) for to, p in row.items()} for label, row in options["matrix"].items()}
        if options.get("invariant", True):
            rows = two_stages(rows, counts)
        return {key: reached(rows[value], draw(f"first {name}", key)) for key, value, _ in known}
    categories, made = sorted(counts), {}
    for key, value, _ in known:
        second = draw(f"second {name}", key)
        if draw(f"first {name}", key) < int(Fraction(repr(options["retain"])) * ALL):
            made[key] = value
        elif options.get("invariant", True):
            place = floor(second / ALL * len(known))
            made[key] = [category for category in categories for _ in range(counts[category])][place]
        else:
            others = [category for category in categories if category != value]
            after = [category for category in others if category > value]
            made[key] = [*after, *others[: len(others) - len(after)]][floor(second / ALL * len(others))]
    return made


def reached(row: Mapping[str, Fraction], number: int) -> str:
    total = Fraction(0)
    for to, chance in row.items():
        total += chance
        if number < int(total * ALL):
            return to
    raise AssertionError("a row adds up to 1")


def two_stages(rows: Mapping[str, Mapping[str, Fraction]], counts: Mapping[str, int]) -> dict[str, dict[str, Fraction]]:
    """P and then the way back by Bayes' rule."""
    labels = list(rows)
    made: dict[str, dict[str, Fraction]] = {}
    for label in labels:
        made[label] = dict.fromkeys(labels, Fraction(0))
        if not counts.get(label):
            made[label][label] = Fraction(1)
            continue
        for to, chance in rows[label].items():
            arrived = {back: counts.get(back, 0) * rows[back].get(to, Fraction(0)) for back in labels}
            for back, weight in arrived.items():
                made[label][back] += chance * weight / sum(arrived.values()) if chance else Fraction(0)
    return made


# --- What remains ----------------------------------------------------------------------------


def linked(
    true: Sequence[Sequence[Value]],
    untrue: Sequence[Sequence[Value]],
    numbers: Sequence[bool],
    looked_at: Sequence[int],
) -> tuple[float, int]:
    """Rows that are expected to be found, and those with no other record as near."""
    weights: list[float | None] = []
    for place, number in enumerate(numbers):
        values = [float(row[place]) for row in true if number and row[place] is not None]
        if not values:
            weights.append(None)
            continue
        mean = sum(values) / len(values)
        spread = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
        weights.append(1 / spread if spread else 1.0)

    def apart(shown: Sequence[Value], known: Sequence[Value]) -> float:
        total = 0.0
        for one, other, weight in zip(shown, known, weights, strict=True):
            if one is None or other is None:
                total += float((one is None) != (other is None))
            elif weight is None:
                total += float(one != other)
            else:
                total += ((float(one) - float(other)) * weight) ** 2
        return round(total, 9)

    found, certain = 0.0, 0
    for place in looked_at:
        distances = [apart(untrue[place], record) for record in true]
        if distances[place] == min(distances):
            ties = distances.count(distances[place])
            found += 1 / ties
            certain += ties == 1
    return found, certain


def released(rows: Sequence[Row], spec: Mapping[str, Any], as_text: Callable[[Value], str | None]) -> Counter[Any]:
    """What is published, as a multiset of rows of text."""
    columns = [masked(rows, spec["key"], name, method) for name, method in spec["perturb"].items()]
    columns += [[row[name] for row in rows] for name in spec.get("keep", ())]
    return Counter(tuple(map(as_text, cells)) for cells in zip(*columns, strict=True))
