"""Privacy models by their papers' definitions, for all classes at once.

Everything that can be counted is compared as whole numbers: a share p/P is at most a/b where p b <= a P. Only entropies
and logarithms are floating point, and those are compared within :data:`NEAR`.

What the papers leave open is taken from docs/reference/models.md: a NULL protects nobody (diversity), or is a value
like any other (distributions); a value that all persons of a class hold is disclosed; and a class that holds nobody, or
a value that the reference lacks, is at no distance at all where distances go by ranks, groups or ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from tests.small_worlds.worlds import Classes, Flags, Floats, Ints, Rows, class_sizes, histogram, whole

NEAR = 1e-9
"""What floating point leaves undecided: nearer to its bound than that is at it."""

INFINITE = math.inf
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """Each class under one requirement.

    Attributes:
        classes: the classes, by the requirement's own columns.
        ok: whether the class satisfies it.
        measure: what it reaches.
        tight: whether that is exactly the bound (or too near to it for floating point to tell).
        second: what it reaches of a second threshold, where there is one.
    """

    classes: Classes
    ok: Flags
    measure: Floats
    tight: Flags
    second: Floats | None = None


@dataclass(frozen=True)
class Given:
    """What a model looks at.

    Attributes:
        rows: the table of every world.
        classes: its classes.
        original: the rows that distributions are compared with, in the same worlds.
        population: per class, the persons of a population who look like it.
        unit: the column of persons.
        values: how many values each sensitive attribute has.
        trees: per sensitive attribute, the group of each value (NULL first) per level of its hierarchy.
    """

    rows: Rows
    classes: Classes
    original: Rows
    population: Ints | None
    unit: str | None
    values: Mapping[str, int]
    trees: Mapping[str, Sequence[Ints]]

    def sizes(self) -> Ints:
        return class_sizes(self.rows, self.classes, self.unit)

    def counts(self, attribute: str) -> Ints:
        return histogram(self.rows, self.classes, attribute, self.values[attribute], self.unit)

    def reference(self, parameters: Parameters, *, rows_without_records: bool = False) -> Ints:
        """The reference's counts, a row per class; of all rows, if those of nobody are to count too."""
        compared = self.rows if parameters.get("reference") == "release" else self.original
        name, unit = parameters["attribute"], None if rows_without_records else self.unit
        return histogram(compared, whole(compared), name, self.values[name], unit)[self.classes.world]


def exact(number: float | int) -> Fraction:
    """The number as it is written: 0.1 is one tenth."""
    return Fraction(Decimal(str(number)))


def at_most(numerator: Ints, denominator: Ints, bound: float) -> tuple[Flags, Flags]:
    """Whether a ratio is at most (is) a bound; an empty denominator is above every bound."""
    limit = exact(bound)
    left, right = numerator * limit.denominator, denominator * limit.numerator
    return (left <= right) & (denominator > 0), (left == right) & (denominator > 0)


def ratio(numerator: Ints, denominator: Ints) -> Floats:
    """The ratio; infinite where there is nothing to divide by."""
    return np.where(denominator > 0, numerator / np.maximum(denominator, 1), INFINITE)


def largest(given: Given, fits: Flags, numerator: Ints, denominator: Ints, bound: float) -> Judged:
    """Where a ratio must be at most a bound, for classes that fit at all."""
    ok, tight = at_most(numerator, denominator, bound)
    return Judged(given.classes, ok & fits, np.where(fits, ratio(numerator, denominator), INFINITE), tight & fits)


# --- sizes -------------------------------------------------------------------------------


def k_anonymity(given: Given, parameters: Parameters) -> Judged:
    """Sweeney 2002, definition 3: at least k."""
    sizes, k = given.sizes(), parameters["k"]
    return Judged(given.classes, sizes >= k, sizes.astype(float), sizes == k)


def k_map(given: Given, parameters: Parameters) -> Judged:
    """Sweeney 2001: at least k persons of a population look like every row."""
    assert given.population is not None
    people, k = given.population, parameters["k"]
    return Judged(given.classes, people >= k, people.astype(float), people == k)


def delta_presence(given: Given, parameters: Parameters) -> Judged:
    """Nergiz, Atzori, Clifton 2007, definition 2: f of F persons of the population are in the table."""
    assert given.population is not None
    sizes, people = given.sizes(), given.population
    low, high = exact(parameters.get("delta_min", 0)), exact(parameters["delta_max"])
    enough = sizes * low.denominator >= people * low.numerator
    few = sizes * high.denominator <= people * high.numerator
    tight = sizes * high.denominator == people * high.numerator
    ok = (people > 0) & (sizes <= people) & enough & few
    return Judged(given.classes, ok, ratio(sizes, people), tight)


# --- diversity ---------------------------------------------------------------------------


def disclosed(given: Given, counts: Ints) -> Flags:
    """Whether some value is that of all persons of a class. For rows, the other conditions say so."""
    if given.unit is None:
        return np.zeros(given.classes.count, dtype=bool)
    return (counts[:, 1:] == given.sizes()[:, None]).any(axis=1) & (given.sizes() > 0)


def l_diversity(given: Given, parameters: Parameters) -> Judged:
    """Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007: definitions 4.1 to 4.4."""
    return DIVERSITY[parameters.get("variant", "distinct")](given, parameters)


def distinct(given: Given, parameters: Parameters) -> Judged:
    counts = given.counts(parameters["attribute"])
    held = (counts[:, 1:] > 0).sum(axis=1)
    held = np.where(disclosed(given, counts), 1, held)
    return Judged(given.classes, held >= parameters["l"], held.astype(float), held == parameters["l"])


def entropy(given: Given, parameters: Parameters) -> Judged:
    """-sum p ln p >= ln l; measured as the l that is reached."""
    counts = given.counts(parameters["attribute"])
    known = counts[:, 1:].astype(float)
    shares = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    nats = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    nats = np.where(disclosed(given, counts), 0.0, nats)
    gap = nats - math.log(parameters["l"])
    return Judged(given.classes, gap >= -NEAR, np.exp(nats), np.abs(gap) <= NEAR)


def recursive(given: Given, parameters: Parameters) -> Judged:
    """r1 < c (r_l + ... + r_m), counts in descending order."""
    counts = given.counts(parameters["attribute"])
    ordered = -np.sort(-counts[:, 1:], axis=1)
    tail = np.where(disclosed(given, counts), 0, ordered[:, parameters["l"] - 1 :].sum(axis=1))
    return below(given, ordered[:, 0], tail, parameters["c"])


def below(given: Given, numerator: Ints, denominator: Ints, bound: float) -> Judged:
    """Where a ratio must be less than a bound."""
    ok, tight = at_most(numerator, denominator, bound)
    return Judged(given.classes, ok & ~tight, ratio(numerator, denominator), tight)


def npd_recursive(given: Given, parameters: Parameters) -> Judged:
    """Definitions 4.3 and 4.4: Y may be disclosed, W must not be excluded. NULL is no value, but counts for shares."""
    counts, l = given.counts(parameters["attribute"]), parameters["l"]  # noqa: E741
    values, every = counts[:, 1:], np.arange(counts.shape[1] - 1)
    free = np.isin(every, parameters["codes"]["allow_positive"])
    # Descending, and among equal counts those that may be disclosed last: which of them comes first changes no sum.
    order = np.argsort(-(values * 2 + ~free[None, :]), axis=1, kind="stable")
    r = np.take_along_axis(values, order, axis=1)
    hidden = ~free[order] & (r > 0)
    some, y = hidden.any(axis=1), hidden.argmax(axis=1)
    r_y = np.where(some, np.take_along_axis(r, y[:, None], axis=1)[:, 0], 0)
    late = r[:, l - 1 :].sum(axis=1)
    around = r[:, l - 2 :].sum(axis=1) - r_y
    tail = np.where(y + 1 <= l - 1, late, around)
    anything = values.sum(axis=1) > 0
    tail = np.where(some, tail, anything.astype(np.int64))  # 0 / 1: nothing to hide; 0 / 0: nothing there
    judged = below(given, r_y, tail, parameters["c"])
    must = parameters["codes"]["forbid_negative"]
    if not must:
        return judged
    least, all_rows = values[:, must].min(axis=1), counts.sum(axis=1)
    c2 = exact(parameters["c2"])
    kept = least * c2.denominator >= c2.numerator * all_rows
    tight = judged.tight | (least * c2.denominator == c2.numerator * all_rows)
    return Judged(given.classes, judged.ok & kept, judged.measure, tight, least / all_rows)


DIVERSITY: dict[str, Callable[[Given, Parameters], Judged]] = {
    "distinct": distinct,
    "entropy": entropy,
    "recursive": recursive,
    "npd_recursive": npd_recursive,
}


def alpha_k_anonymity(given: Given, parameters: Parameters) -> Judged:
    """Wong, Li, Fu, Wang 2006: k rows, and no (protected) value above a share alpha of those that are known."""
    counts = given.counts(parameters["attribute"])
    chosen = parameters["codes"].get("values") or range(counts.shape[1] - 1)
    most, known = counts[:, 1:][:, list(chosen)].max(axis=1), counts[:, 1:].sum(axis=1)
    ok, tight = at_most(most, np.maximum(known, 1), parameters["alpha"])
    sizes = given.sizes()
    return Judged(
        given.classes, ok & (sizes >= parameters["k"]), most / np.maximum(known, 1), tight | (sizes == parameters["k"])
    )


def p_sensitive(given: Given, parameters: Parameters) -> Judged:
    """Truta, Vinay 2006: k rows and p different values."""
    found, sizes = distinct(given, {**parameters, "l": parameters["p"]}), given.sizes()
    return Judged(given.classes, found.ok & (sizes >= parameters["k"]), found.measure, found.tight)


# --- distributions -----------------------------------------------------------------------


def t_closeness(given: Given, parameters: Parameters) -> Judged:
    """Li, Li, Venkatasubramanian 2007, section 5.1: the earth mover's distance is at most t."""
    p, q = given.counts(parameters["attribute"]), given.reference(parameters)
    p_all, q_all = p.sum(axis=1), q.sum(axis=1)
    ahead = p * q_all[:, None] - q * p_all[:, None]  # in units of 1 / (p_all q_all)
    unit, distance = p_all * q_all, parameters.get("distance", "equal")
    fits = p_all > 0
    groups = given.trees.get(parameters["attribute"], ())
    if distance == "equal" or (distance == "hierarchical" and len(groups) == 2):  # below one root all are as far apart
        return largest(given, fits, *_apart(np.abs(ahead).sum(axis=1), 2 * unit, q_all), parameters["t"])
    # A value without a person in the reference has no rank; a row of nobody is enough to know its groups.
    known = q if distance == "ordered" else given.reference(parameters, rows_without_records=True)
    fits &= ((p == 0) | (known > 0)).all(axis=1)
    if distance == "ordered":
        held = q > 0
        moved = (np.abs(np.cumsum(ahead, axis=1)) * held).sum(axis=1)
        steps = np.maximum(held.sum(axis=1) - 1, 1)
        # NULL has no rank of its own: its share may not differ by more than t either.
        moved = np.maximum(moved, np.abs(ahead[:, 0]) * steps)
        return largest(given, fits, moved, steps * unit, parameters["t"])
    cost, extra = np.zeros(len(p), dtype=np.int64), ahead
    for level, (below_, above) in enumerate(pairwise(groups), start=1):
        parent_of = np.zeros((int(below_.max()) + 1, int(above.max()) + 1), dtype=np.int64)
        parent_of[below_, above] = 1
        gains, losses = np.maximum(extra, 0) @ parent_of, np.maximum(-extra, 0) @ parent_of
        cost += level * np.minimum(gains, losses).sum(axis=1)
        extra = gains - losses
    return largest(given, fits, *_apart(cost, (len(groups) - 1) * unit, q_all), parameters["t"])


def _apart(distance: Ints, most: Ints, reference: Ints) -> tuple[Ints, Ints]:
    """A distance and the largest one there is, which it is where the reference counts nobody."""
    return np.where(reference > 0, distance, 1), np.where(reference > 0, most, 1)


def beta_likeness(given: Given, parameters: Parameters) -> Judged:
    """Cao, Karras 2012: (q - p) / p is at most beta (definition 2), and at most -ln p (definition 3, enhanced)."""
    q, p = given.counts(parameters["attribute"]), given.reference(parameters)
    q_all, p_all = q.sum(axis=1, keepdims=True), p.sum(axis=1, keepdims=True)
    gain, share = q * p_all - p * q_all, p * q_all
    ok, tight = at_most(gain, np.where(share > 0, share, 1), parameters["beta"])
    fits = ((q == 0) | (p > 0)).all(axis=1)
    gains = np.where(share > 0, gain / np.maximum(share, 1), 0.0)
    if parameters.get("variant", "enhanced") == "enhanced":
        bound = -np.log(np.where(p > 0, p / np.maximum(p_all, 1), 1))
        fits &= ((gain <= 0) | (gains <= bound + NEAR)).all(axis=1)
        tight |= (gain > 0) & (np.abs(gains - bound) <= NEAR)
    measure = np.where(fits, np.maximum(gains.max(axis=1, initial=0.0), 0.0), INFINITE)
    return Judged(given.classes, ok.all(axis=1) & fits, measure, tight.any(axis=1))


def delta_disclosure(given: Given, parameters: Parameters) -> Judged:
    """Brickell, Shmatikov 2008, definition 4: |log2(q / p)| < delta for every value of the table."""
    q, p = given.counts(parameters["attribute"]), given.reference(parameters)
    fits = ((q > 0) == (p > 0)).all(axis=1)
    both = (q > 0) & (p > 0)
    left, right = q * p.sum(axis=1, keepdims=True), p * q.sum(axis=1, keepdims=True)
    logs = np.abs(np.log2(np.where(both, left, 1) / np.where(both, right, 1)))
    measure = np.where(fits, logs.max(axis=1, initial=0.0), INFINITE)
    gap = parameters["delta"] - measure
    return Judged(given.classes, gap > NEAR, measure, np.abs(gap) <= NEAR)


MODELS: dict[str, Callable[[Given, Parameters], Judged]] = {
    "k_anonymity": k_anonymity,
    "l_diversity": l_diversity,
    "t_closeness": t_closeness,
    "alpha_k_anonymity": alpha_k_anonymity,
    "p_sensitive_k_anonymity": p_sensitive,
    "beta_likeness": beta_likeness,
    "delta_disclosure": delta_disclosure,
    "k_map": k_map,
    "delta_presence": delta_presence,
}

SMALLEST = ("k_anonymity", "k_map", "p_sensitive_k_anonymity")
"""Models whose worst class has the smallest measure; so have distinct and entropy diversity."""


def worst_is_smallest(model: str, parameters: Parameters) -> bool:
    return model in SMALLEST or (
        model == "l_diversity" and parameters.get("variant", "distinct") in ("distinct", "entropy")
    )
