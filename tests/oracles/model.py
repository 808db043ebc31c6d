"""What every class must answer, in plain Python over a list of rows: for reading, not for speed.

Nothing here shares a line with the package: no SQL, no database, no frequency set. A row is a mapping from
column to value; a hierarchy maps a value to its labels at levels 0..H (level 0 is the text of the value,
level H is one label for all, `*` in most).

Choices that the literature leaves open, made once here:

- A NULL quasi-identifier is a value of its own up to the level below the top (`nulls="value"`), or its row is
  suppressed and belongs to no class (`nulls="suppress"`).
- A NULL sensitive value protects nobody: l-diversity does not count it. For t-closeness it is a value like
  any other.
- With a unit, a class is as large as its distinct units, and a sensitive value as frequent as the distinct
  units that hold it. A row without a unit belongs to nobody: it adds to no count.
- Everything that can be counted is compared exactly (`Fraction`); only entropy and t have a tolerance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

Row = Mapping[str, Any]
Labels = tuple[str | None, ...]
Hierarchy = Mapping[Any, Labels]
Vector = tuple[str | None, ...]
Node = tuple[int, ...]
Requirement = Mapping[str, Mapping[str, Any]]

TOLERANCE = 1e-9
LARGER_IS_WORSE = ("t_closeness", "alpha_k_anonymity", "beta_likeness", "delta_disclosure")
INFINITY = math.inf


# --- generalization -----------------------------------------------------------------------


def height_of(hierarchy: Hierarchy) -> int:
    """The number of levels above the value itself."""
    return len(next(iter(hierarchy.values()))) - 1


def with_null(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy with its entry for NULL: its own, or NULL at every level below the top, where all values meet."""
    top = next(iter(hierarchy.values()))[-1]
    return {None: (None,) * height_of(hierarchy) + (top,), **hierarchy}


def has_null(row: Row, columns: Iterable[str]) -> bool:
    return any(row[column] is None for column in columns)


def generalize(
    rows: Sequence[Row], hierarchies: Mapping[str, Hierarchy], node: Node, nulls: str = "value"
) -> list[Vector | None]:
    """The quasi-identifier vector of every row at a node; None for a row that its NULL suppresses."""
    lookups = {column: with_null(hierarchy) for column, hierarchy in hierarchies.items()}

    def vector(row: Row) -> Vector:
        return tuple(lookups[column][row[column]][level] for column, level in zip(lookups, node, strict=True))

    return [None if nulls == "suppress" and has_null(row, hierarchies) else vector(row) for row in rows]


def classes(
    rows: Sequence[Row], hierarchies: Mapping[str, Hierarchy], node: Node, nulls: str = "value"
) -> dict[Vector, list[int]]:
    """The equivalence classes of a node: vector -> indexes of its rows."""
    found: dict[Vector, list[int]] = {}
    for index, vector in enumerate(generalize(rows, hierarchies, node, nulls)):
        if vector is not None:
            found.setdefault(vector, []).append(index)
    return found


# --- one class against one requirement ----------------------------------------------------


def class_size(rows: Sequence[Row], unit: str | None) -> int:
    return len(rows) if unit is None else len({row[unit] for row in rows} - {None})


def frequencies(rows: Sequence[Row], attribute: str, unit: str | None) -> Counter[Any]:
    """How often each value (NULL included) of a sensitive attribute occurs: rows, or distinct units."""
    if unit is None:
        return Counter(row[attribute] for row in rows)
    holders = {(row[attribute], row[unit]) for row in rows if row[unit] is not None}
    return Counter(value for value, _ in holders)


def exact(number: float | int | str | Decimal) -> Fraction:
    """The number as it was written: 0.1 is one tenth."""
    return Fraction(Decimal(str(number)))


def distinct_measure(counts: Iterable[int]) -> int:
    return len(list(counts))


def entropy_measure(counts: Iterable[int]) -> float:
    """Shannon entropy in nats; 0 when there is nothing to count."""
    listed = list(counts)
    total = sum(listed)
    return math.fsum(n / total * math.log(total / n) for n in listed)


EULER_MASCHERONI = 0.57721566490153286060651209008240243


def grassberger_measure(counts: Iterable[int]) -> float:
    """Grassberger's estimate in nats (arXiv:physics/0307138v2), at most the logarithm of the number of values."""
    listed = list(counts)
    if not listed:
        return 0.0
    total = sum(listed)
    return min(grassberger(total) - math.fsum(n * grassberger(n) for n in listed) / total, math.log(len(listed)))


@cache
def grassberger(n: int) -> float:
    """What the logarithm is replaced by: G(1) = -gamma - ln 2, G(2j) = G(2j - 2) + 2 / (2j - 1), G(2j + 1) = G(2j)."""
    return -EULER_MASCHERONI - math.log(2) + math.fsum(2 / k for k in range(1, n, 2))


def recursive_measure(counts: Iterable[int], l: int) -> Fraction | float:  # noqa: E741
    """r1 / (r_l + ... + r_m) with r sorted descending: the c that must be exceeded.

    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-diversity (ICDE 2006), definition 4.2.
    """
    ordered = sorted(counts, reverse=True)
    tail = sum(ordered[l - 1 :])
    return Fraction(ordered[0], tail) if tail else INFINITY


def equal_distance(p: Mapping[Any, int], q: Mapping[Any, int]) -> Fraction:
    """Half the sum of |p - q| over the values of either distribution.

    Li, Li, Venkatasubramanian: t-closeness (ICDE 2007), section 4, equal ground distance. A class that
    holds nobody (no row has a unit) is as far away as can be.
    """
    p_total, q_total = sum(p.values()), sum(q.values())
    if not p_total:
        return Fraction(1)
    values = set(p) | set(q)
    return (
        sum(
            (abs(Fraction(p.get(v, 0), p_total) - Fraction(q.get(v, 0), q_total)) for v in values),
            Fraction(0),
        )
        / 2
    )


def ordered_distance(p: Mapping[Any, int], q: Mapping[Any, int]) -> Fraction | float:
    """The sum of the differences of cumulative shares over m - 1 (the same paper, section 5.1), NULL ranking first.

    The shares of NULL may not differ by more either. A value that q does not have has no rank.
    """
    if not sum(p.values()) or any(n and not q.get(value) for value, n in p.items()):
        return INFINITY
    values = sorted((value for value in q if q[value]), key=lambda value: (value is not None, value))
    p_total, q_total = sum(p.values()), sum(q.values())
    ahead, moved = Fraction(0), Fraction(0)
    for value in values:
        ahead += Fraction(p.get(value, 0), p_total) - Fraction(q[value], q_total)
        moved += abs(ahead)
    nulls = abs(Fraction(p.get(None, 0), p_total) - Fraction(q.get(None, 0), q_total))
    return max(nulls, moved / (len(values) - 1)) if len(values) > 1 else Fraction(0)


def tree_paths(tree: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Value -> its labels from itself to the top, of a tree of one depth; `*` is the top if the tree has none."""

    def walk(branch: Any, above: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
        items = branch.items() if isinstance(branch, Mapping) else [(value, None) for value in branch]
        for label, inside in items:
            if inside:
                yield from walk(inside, (label, *above))
            else:
                yield (label, *above)

    paths = {path[0]: path for path in walk(tree, ())}
    return paths if len(tree) == 1 else {value: (*path, "*") for value, path in paths.items()}


def hierarchical_distance(p: Mapping[Any, int], q: Mapping[Any, int], tree: Mapping[str, Any]) -> Fraction | float:
    """The cost of every inner node, added up (the same paper, section 5.1): height / H * min(pos_extra, neg_extra)."""
    if not sum(p.values()) or any(n and not q.get(value) for value, n in p.items()):
        return INFINITY
    paths: dict[Any, tuple[Any, ...]] = dict(tree_paths(tree))
    longest = len(next(iter(paths.values())))
    top = next(level for level in range(1, longest) if len({path[level] for path in paths.values()}) == 1)
    paths[None] = (*[("NULL", level) for level in range(top)], paths[next(iter(paths))][top])
    p_total, q_total = sum(p.values()), sum(q.values())
    extra: dict[Any, Fraction] = {}
    cost = Fraction(0)
    for value, path in paths.items():
        extra[0, path[0]] = Fraction(p.get(value, 0), p_total) - Fraction(q.get(value, 0), q_total)
    for level in range(1, top + 1):
        children: dict[Any, set[Any]] = {}
        for path in paths.values():
            children.setdefault(path[level], set()).add(path[level - 1])
        for node, below in children.items():
            given = [extra[level - 1, child] for child in below]
            positive = sum((item for item in given if item > 0), Fraction(0))
            negative = -sum((item for item in given if item < 0), Fraction(0))
            cost += Fraction(level, top) * min(positive, negative)
            extra[level, node] = positive - negative
    return cost


def npd_measures(counts: Mapping[Any, int], parameters: Mapping[str, Any]) -> tuple[Fraction | float, Fraction]:
    """(The c1 that must be exceeded, the least share of a value that must not be excluded).

    Machanavajjhala et al. (2007), definitions 4.3 and 4.4, with y and l counted from 1.
    """
    allowed = {str(value) for value in parameters.get("allow_positive", ())}
    ranked = sorted(((n, str(value)) for value, n in counts.items() if value is not None), reverse=True)
    least = min(
        (Fraction(counts.get(value, 0), sum(counts.values())) for value in parameters.get("forbid_negative", ())),
        default=Fraction(1),
    )
    if not ranked:
        return INFINITY, least
    places = [place for place, (_, value) in enumerate(ranked, start=1) if value not in allowed]
    if not places:
        return Fraction(0), least
    y, l = places[0], parameters["l"]  # noqa: E741
    r = {place: n for place, (n, _) in enumerate(ranked, start=1)}
    m = len(ranked)
    others = range(l, m + 1) if y <= l - 1 else [place for place in range(l - 1, m + 1) if place != y]
    tail = sum(r[place] for place in others)
    return (Fraction(r[y], tail) if tail else INFINITY), least


def alpha_measure(counts: Mapping[Any, int], values: Sequence[Any] | None) -> Fraction:
    """The largest share of a value to protect. Wong, Li, Fu, Wang: (alpha, k)-anonymity (KDD 2006), definition 2."""
    known = {value: n for value, n in counts.items() if value is not None}
    shares = [Fraction(n, sum(known.values())) for value, n in known.items() if values is None or value in values]
    return max(shares, default=Fraction(0))


def beta_measure(p: Mapping[Any, int], q: Mapping[Any, int], enhanced: bool) -> Fraction | float:
    """The largest relative gain. Cao, Karras: Publishing microdata with a robust privacy guarantee (VLDB 2012)."""
    worst: Fraction | float = Fraction(0)
    for value, n in p.items():
        if not q.get(value):
            return INFINITY
        before = Fraction(q[value], sum(q.values()))
        gain = (Fraction(n, sum(p.values())) - before) / before
        if enhanced and gain > 0 and gain > -math.log(before) + TOLERANCE:
            return INFINITY
        worst = max(worst, gain)
    return worst


def delta_measure(p: Mapping[Any, int], q: Mapping[Any, int]) -> float:
    """The largest |log2(q / p)|. Brickell, Shmatikov: The cost of privacy (KDD 2008)."""
    worst = 0.0
    for value in set(p) | set(q):
        if not p.get(value) or not q.get(value):
            return INFINITY
        worst = max(worst, abs(math.log2(p[value] * sum(q.values()) / (q[value] * sum(p.values())))))
    return worst


def judge_disclosure(
    model: str, parameters: Mapping[str, Any], counts: Mapping[Any, int], original: Mapping[Any, int], size: int
) -> tuple[float, bool]:
    """(measure, whether it is enough) of a class for the models that compare single values."""
    slack = exact(TOLERANCE)
    if model == "alpha_k_anonymity":
        share = alpha_measure(counts, parameters.get("values"))
        return float(share), size >= parameters["k"] and share <= exact(parameters["alpha"]) + slack
    if model == "p_sensitive_k_anonymity":
        held = distinct_measure(n for value, n in counts.items() if value is not None)
        return held, size >= parameters["k"] and held >= parameters["p"]
    if model == "beta_likeness":
        gain = beta_measure(counts, original, parameters.get("variant", "enhanced") == "enhanced")
        return float(gain), gain <= exact(parameters["beta"]) + slack
    if model == "delta_disclosure":
        log = delta_measure(counts, original)
        return log, log < parameters["delta"] - TOLERANCE
    raise ValueError(f"no such privacy model: {model!r}")


def closeness(parameters: Mapping[str, Any], p: Mapping[Any, int], q: Mapping[Any, int]) -> Fraction | float:
    """The distance of two distributions that a requirement asks for."""
    if parameters.get("distance") == "ordered":
        return ordered_distance(p, q)
    if parameters.get("distance") == "hierarchical":
        return hierarchical_distance(p, q, parameters["hierarchy"]["tree"])
    return equal_distance(p, q)


def l_diversity_measure(counts: Mapping[Any, int], parameters: Mapping[str, Any]) -> Fraction | float | int:
    protective = [n for value, n in counts.items() if value is not None]
    if parameters["variant"] == "distinct":
        return distinct_measure(protective)
    if parameters.get("estimator") == "grassberger":
        return grassberger_measure(protective)
    if parameters["variant"] == "entropy":
        return entropy_measure(protective)
    return recursive_measure(protective, parameters["l"])


def everybody_holds_one_value(counts: Mapping[Any, int], size: int) -> bool:
    """Whether some value is true of every unit of the class, so that membership alone discloses it."""
    return any(n == size for value, n in counts.items() if value is not None)


def model_of(requirement: Requirement) -> tuple[str, Mapping[str, Any]]:
    (item,) = requirement.items()
    return item


def name_of(requirement: Requirement) -> str:
    """k_anonymity; l_diversity:<kind>:<attribute>; t_closeness:<distance>:<attribute>; ..."""
    model, parameters = model_of(requirement)
    named = ("variant", "estimator", "distance", "attribute", "column")
    return ":".join([model, *(parameters[key] for key in named if key in parameters)])


def judge(
    requirement: Requirement,
    rows: Sequence[Row],
    original: Mapping[Any, int] | None = None,
    unit: str | None = None,
) -> tuple[float, bool]:
    """(measure, whether it is enough) of one class.

    `original` holds the frequencies of the sensitive attribute in the original table, for t-closeness.
    """
    model, parameters = model_of(requirement)
    size = class_size(rows, unit)
    if model == "k_anonymity" and "column" in parameters:
        wishes = [row[parameters["column"]] for row in rows]
        largest = max(parameters["default"] if wish is None else wish for wish in wishes)
        return largest, size >= largest
    if model == "k_anonymity":
        return size, size >= parameters["k"]
    counts = frequencies(rows, parameters["attribute"], unit)
    if model == "t_closeness":
        distance = closeness(parameters, counts, original or {})
        return float(distance), distance <= exact(parameters["t"]) + exact(TOLERANCE)
    if model != "l_diversity":
        if unit is not None and model != "p_sensitive_k_anonymity":
            raise ValueError(f"{model} is not defined for persons")
        measure, enough = judge_disclosure(model, parameters, counts, original or {}, size)
        if unit is not None and everybody_holds_one_value(counts, size):
            return 1, enough and parameters["p"] == 1
        return measure, enough
    kind, l = parameters["variant"], parameters["l"]  # noqa: E741
    if kind == "npd_recursive":
        ratio, least = npd_measures(counts, parameters)
        kept = "c2" not in parameters or least >= exact(parameters["c2"]) - exact(TOLERANCE)
        return float(ratio), kept and ratio < exact(parameters["c"])
    measure: Any = l_diversity_measure(counts, parameters)
    disclosed = unit is not None and everybody_holds_one_value(counts, size)
    if kind == "distinct":
        measure = 1 if disclosed else measure
        return measure, measure >= l
    if kind == "entropy":
        measure = 0.0 if disclosed else measure
        return float(measure), measure >= math.log(l) - TOLERANCE
    measure = INFINITY if disclosed else measure
    enough = sum(value is not None for value in counts) >= l
    return float(measure), enough and measure < exact(parameters["c"])


def worst(requirement: Requirement, measures: Iterable[float]) -> float | None:
    """The measure of the whole release: that of its weakest class; None when there is no class."""
    model, parameters = model_of(requirement)
    larger_is_worse = (
        model in LARGER_IS_WORSE
        or "column" in parameters
        or parameters.get("variant") in ("recursive", "npd_recursive")
    )
    return (max if larger_is_worse else min)(measures, default=None)
