"""Random specs: what is asked of the tables of a batch, in the package's words and in the oracle's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.small_worlds.tables import QUASI_IDENTIFIERS, SENSITIVE, UNIT, Tables
from tests.support.suppressions import suppressing

SHARES = (0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1)
METRICS = ("loss", "precision", "height", "discernibility", "average_class_size", "entropy", "ambiguity")
ROWS_ONLY = ("npd_recursive", "alpha_k_anonymity", "beta_likeness", "delta_disclosure")
MOST_NODES = 24


@dataclass(frozen=True)
class Requirement:
    """One requirement.

    Attributes:
        model: its name in a spec.
        parameters: as a spec has them.
        codes: the listed values as codes of the attribute, where it lists some.
    """

    model: str
    parameters: Mapping[str, Any]
    codes: Mapping[str, Sequence[int]]

    @property
    def name(self) -> str:
        """What the table of results calls it."""
        kind = self.parameters.get("variant", self.parameters.get("distance"))
        of_sets = " over a set" if "quasi_identifiers" in self.parameters else ""
        return f"{self.model}{'' if kind is None else f' ({kind})'}{of_sets}"

    @property
    def given(self) -> dict[str, Any]:
        """For the oracle."""
        return {**self.parameters, "codes": self.codes}

    def to_dict(self) -> dict[str, Any]:
        return {self.model: dict(self.parameters)}


@dataclass(frozen=True)
class Asked:
    """A spec.

    Attributes:
        style: ``check``, ``anonymize`` or ``plan``.
        spec: the mapping for :meth:`kanon_sql.Spec.from_dict`.
        requirements: its requirements.
        columns: its quasi-identifiers.
        unit: the column of persons.
        source: the table that distributions are compared with, ``people`` or ``origin``.
    """

    style: str
    spec: dict[str, Any]
    requirements: Sequence[Requirement]
    columns: Sequence[str]
    unit: str | None
    source: str

    @property
    def nulls(self) -> str:
        return str(self.spec["nulls"])

    @property
    def of_population(self) -> bool:
        """Whether a requirement compares with the population."""
        return any("population" in item.parameters for item in self.requirements)


def draw_spec(style: str, rng: Random, tables: Tables) -> Asked:
    """A random spec of a style."""
    return _checked(rng, tables) if style == "check" else _searched(style, rng, tables)


# --- requirements ------------------------------------------------------------------------


def _diversity(rng: Random, tables: Tables, attribute: str, kind: str) -> Requirement:
    given: dict[str, Any] = {"attribute": attribute, "l": rng.choice((2, 2, 3, 1)), "variant": kind}
    codes: dict[str, Sequence[int]] = {"allow_positive": [], "forbid_negative": []}
    if kind == "entropy":
        given["l"] = rng.choice((1, 1.5, 2, 2, 2.5, 3))
    if kind in ("recursive", "npd_recursive"):
        given["c"] = rng.choice((0.5, 1, 1.5, 2, 2.5, 3, 4, 10))
    if kind == "npd_recursive":
        given["l"] = rng.choice((2, 2, 3))
        width = range(len(tables.values[attribute]))
        if rng.random() < 0.6:
            codes["allow_positive"] = rng.sample(width, rng.randint(1, 2))
        if rng.random() < 0.5 or not codes["allow_positive"]:
            codes["forbid_negative"] = rng.sample(width, 1)
            given["c2"] = rng.choice((0.05, 0.1, 0.2, 0.25, 0.5))
        texts = [str(value) for value in tables.values[attribute]]
        given |= {name: [texts[code] for code in listed] for name, listed in codes.items() if listed}
    return Requirement("l_diversity", given, codes)


def _closeness(rng: Random, tables: Tables, attribute: str, distance: str) -> Requirement:
    given: dict[str, Any] = {"attribute": attribute, "t": rng.choice(SHARES), "distance": distance}
    if distance == "hierarchical":
        own = tables.hierarchies[attribute]
        given["hierarchy"] = {"tree": own.tree()} if own.fits_a_tree else {"table": f"main.h_{attribute}"}
    return Requirement("t_closeness", given, {})


def _alpha(rng: Random, tables: Tables, attribute: str) -> Requirement:
    given = {"attribute": attribute, "alpha": rng.choice((0.25, 0.4, 0.5, 0.6, 0.75, 0.9)), "k": rng.choice((1, 2, 3))}
    codes: dict[str, Sequence[int]] = {}
    if rng.random() < 0.4:
        codes["values"] = rng.sample(range(len(tables.values[attribute])), rng.randint(1, 3))
        given["values"] = [str(tables.values[attribute][code]) for code in codes["values"]]
    return Requirement("alpha_k_anonymity", given, codes)


def _p_sensitive(rng: Random, attribute: str) -> Requirement:
    p = rng.choice((1, 2, 2, 3))
    return Requirement("p_sensitive_k_anonymity", {"attribute": attribute, "p": p, "k": rng.randint(p, 4)}, {})


def _likeness(rng: Random, attribute: str, kind: str) -> Requirement:
    return Requirement(
        "beta_likeness", {"attribute": attribute, "beta": rng.choice((0.25, 0.5, 1, 1.5, 2, 4)), "variant": kind}, {}
    )


def _presence(rng: Random) -> Requirement:
    return Requirement(
        "delta_presence", {"population": "population", "delta_max": rng.choice((0.25, 0.5, 0.6, 0.75, 1))}, {}
    )


CHOICES = (
    ("k_anonymity", 7),
    ("distinct", 5),
    ("entropy", 4),
    ("recursive", 4),
    ("npd_recursive", 3),
    ("equal", 4),
    ("ordered", 2),
    ("hierarchical", 1),
    ("alpha_k_anonymity", 4),
    ("p_sensitive_k_anonymity", 4),
    ("basic", 2),
    ("enhanced", 2),
    ("delta_disclosure", 2),
)
"""What is asked for, and how often."""
DIVERSITIES = ("distinct", "entropy", "recursive", "npd_recursive")
DISTANCES = ("equal", "ordered", "hierarchical")


def _requirement(rng: Random, tables: Tables, which: str) -> Requirement:
    attribute = {"ordered": "s1", "hierarchical": "s0"}.get(which, rng.choice(SENSITIVE))
    if which == "k_anonymity":
        return Requirement("k_anonymity", {"k": rng.choice((1, 2, 2, 3, 4, 5))}, {})
    if which in DIVERSITIES:
        return _diversity(rng, tables, attribute, which)
    if which in DISTANCES:
        return _closeness(rng, tables, attribute, which)
    if which == "alpha_k_anonymity":
        return _alpha(rng, tables, attribute)
    if which == "p_sensitive_k_anonymity":
        return _p_sensitive(rng, attribute)
    if which in ("basic", "enhanced"):
        return _likeness(rng, attribute, which)
    assert which == "delta_disclosure"
    return Requirement(which, {"attribute": attribute, "delta": rng.choice((0.5, 1, 1.5, 2, 3))}, {})


def _requirements(rng: Random, tables: Tables, unit: str | None) -> list[Requirement]:
    """One to three."""
    names = [which for which, _ in CHOICES if unit is None or which not in (*ROWS_ONLY, "basic", "enhanced")]
    weights = [weight for which, weight in CHOICES if which in names]
    chosen = list(dict.fromkeys(rng.choices(names, weights, k=rng.choices((1, 2, 3), (84, 13, 3))[0])))
    return [_requirement(rng, tables, which) for which in chosen]


def _replaced(requirement: Requirement, **more: Any) -> Requirement:
    return Requirement(requirement.model, {**requirement.parameters, **more}, requirement.codes)


# --- check -------------------------------------------------------------------------------


def _checked(rng: Random, tables: Tables) -> Asked:
    columns = rng.sample(QUASI_IDENTIFIERS, rng.choice((1, 2, 2, 3, 4)))
    unit = UNIT if rng.random() < 0.3 else None
    source = rng.choice(("origin", "people"))
    population = rng.random() < 0.01
    if population:
        source = "people"
        required = [_of_population(rng)]
        required += [_requirement(rng, tables, "k_anonymity")] if rng.random() < 0.5 or unit else []
    else:
        required = _compared(rng, [_varied(rng, item, columns) for item in _requirements(rng, tables, unit)])
    hierarchies = {name: _hierarchy(rng, tables, name) if population else None for name in columns}
    spec = {
        "version": 1,
        "source": source,
        "unit": unit,
        "quasi_identifiers": hierarchies,
        "sensitive": list(SENSITIVE),
        "privacy": [item.to_dict() for item in required],
        "nulls": "value",
    }
    return Asked("check", spec, required, columns, unit, source)


def _of_population(rng: Random) -> Requirement:
    if rng.random() < 0.5:
        return Requirement("k_map", {"population": "population", "k": rng.choice((1, 2, 3, 5))}, {})
    found = _presence(rng)
    return found if rng.random() < 0.5 else _replaced(found, delta_min=rng.choice((0.1, 0.2, 0.25)))


def _varied(rng: Random, item: Requirement, columns: Sequence[str]) -> Requirement:
    """The requirement over other columns, or against another reference, now and then."""
    chance = rng.random()
    if item.model in ("k_anonymity", "l_diversity") and chance < 0.15:
        return _replaced(item, quasi_identifiers=rng.sample(list(columns), rng.randint(1, len(columns))))
    if item.model in ("l_diversity", "t_closeness") and 0.15 <= chance < 0.25:
        return _replaced(item, others_as_quasi_identifiers=True)
    return item


def _others_known(item: Requirement) -> Requirement:
    if item.model not in ("l_diversity", "t_closeness") or "quasi_identifiers" in item.parameters:
        return item
    return _replaced(item, others_as_quasi_identifiers=True)


def _compared(rng: Random, required: Sequence[Requirement]) -> list[Requirement]:
    """All requirements against the release instead of the original, now and then: a spec has one reference."""
    if rng.random() < 0.8:
        return list(required)
    models = ("t_closeness", "beta_likeness", "delta_disclosure")
    return [_replaced(item, reference="release") if item.model in models else item for item in required]


def _hierarchy(rng: Random, tables: Tables, name: str) -> dict[str, Any]:
    own = tables.hierarchies[name]
    if own.fits_a_tree and rng.random() < 0.5:
        return {"tree": own.tree()}
    return {"table": f"main.h_{name}"}


# --- plan and anonymize ------------------------------------------------------------------


def _searched(style: str, rng: Random, tables: Tables) -> Asked:
    unit = UNIT if rng.random() < 0.3 else None
    columns = _few_nodes(rng, tables)
    required = _requirements(rng, tables, unit)
    limit = rng.choice((0, 0, 1, 3, 0.1, 0.2, 0.5, 0.9, 1.0))
    if rng.random() < 0.25:
        required = [_others_known(item) for item in required]
    elif unit is None and rng.random() < 0.15:
        required = _with_sets(rng, required, columns)
    if rng.random() < 0.12:
        required.append(_presence(rng) if rng.random() < 0.5 else _replaced_k_map(rng))
    style_of_suppression = rng.choice(("drop", "drop", "mask"))
    if any("population" in item.parameters for item in required):
        style_of_suppression = "drop"
    spec = {
        "version": 1,
        "source": "people",
        "release": "people_release",
        "unit": unit,
        "quasi_identifiers": {name: _levels(rng, tables, name) for name in columns},
        "sensitive": list(SENSITIVE),
        "privacy": [item.to_dict() for item in required],
        "suppression": suppressing(limit, style=style_of_suppression),
        "search": {
            "algorithm": rng.choice(("optimal", "optimal", "optimal", "exhaustive", "incognito", "samarati")),
            "metric": rng.choice(METRICS),
        },
        "nulls": rng.choice(("value", "value", "suppress", "error")),
        "warnings": {"kept_reveals_quasi_identifier": "warn"},
    }
    return Asked(style, spec, required, columns, unit, "people")


def _replaced_k_map(rng: Random) -> Requirement:
    return Requirement("k_map", {"population": "population", "k": rng.choice((1, 2, 3, 5))}, {})


def _few_nodes(rng: Random, tables: Tables) -> list[str]:
    """Quasi-identifiers whose lattice is small."""
    chosen: list[str] = []
    nodes = 1
    for name in rng.sample(QUASI_IDENTIFIERS, rng.choice((1, 2, 2, 3))):
        nodes *= tables.hierarchies[name].height + 1
        if nodes <= MOST_NODES:
            chosen.append(name)
    return chosen


def _levels(rng: Random, tables: Tables, name: str) -> dict[str, Any]:
    """The hierarchy, and now and then the levels allowed and a weight."""
    found = _hierarchy(rng, tables, name)
    height = tables.hierarchies[name].height
    if rng.random() < 0.1:
        low = rng.randint(0, height)
        found |= {"minimum_level": low, "maximum_level": rng.randint(low, height)}
    if rng.random() < 0.1:
        found["weight"] = rng.choice((0.25, 0.5, 2, 3))
    return found


def _with_sets(rng: Random, required: list[Requirement], columns: Sequence[str]) -> list[Requirement]:
    """With k-anonymity over a chain of sets, too."""
    order = rng.sample(list(columns), len(columns))
    fewer = range(1, len(order))
    sizes = sorted(rng.sample(fewer, min(len(fewer), rng.randint(1, 2))), reverse=True)
    more = [
        Requirement("k_anonymity", {"k": rng.randint(2, 6), "quasi_identifiers": order[:size]}, {}) for size in sizes
    ]
    return [*required, *more]
