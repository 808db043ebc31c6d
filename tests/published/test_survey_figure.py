"""The models of the survey's figure 9, on its nine rows: AG_TS, AG_CS, AG_, CG_, _TS, _AS and _CS as specs.

Ciriani, De Capitani di Vimercati, Foresti, Samarati: k-Anonymity (Springer 2007). A generalization is of an attribute
(AG) or of a cell (CG), a suppression of an attribute (AS), a tuple (TS) or a cell (CS). The figure itself was not at
hand: its source rows are the paper's, and each released table below is, by brute force over all classings of the nine
rows, the only one of its model in which cells lose least on average.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest

import kanon_sql
from tests.conftest import Database
from tests.support import literature as lit
from tests.support.suppressions import suppressing

K = 2
ROWS = [(row["race"], row["zip"]) for row in lit.NINE_PATIENTS]
RACE = {value: (value, "person") for value in ("asian", "black", "white")}
ZIP = lit.ZIP_CODE
STARRED = {value: (*labels, "*") for value, labels in ZIP.items()}
"""With a top of its own, so that a suppressed cell says something else than `941**`."""

ASIAN_9414 = {("asian", "9414*"): 2}
BLACK_9413 = {("black", "9413*"): 2}


@dataclass(frozen=True)
class Model:
    """A model of the figure, as a spec and as the table that it releases."""

    released: Mapping[tuple[str, str], int]
    hierarchies: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=lambda: {"race": RACE, "zip": ZIP})
    highest: tuple[int, int] = (1, 2)
    limit: int = 0
    recoding: Any = "full_domain"


SUPPRESSIBLE = {"race": RACE, "zip": STARRED}
MODELS = {
    "b: AG_TS": Model({("asian", "9413*"): 3, **ASIAN_9414, **BLACK_9413}, limit=2),
    "c: AG_CS": Model(
        {("asian", "9413*"): 3, **ASIAN_9414, **BLACK_9413, ("white", "*"): 2}, SUPPRESSIBLE, recoding="cells"
    ),
    "d: AG_": Model({("asian", "941**"): 5, ("black", "941**"): 2, ("white", "941**"): 2}),
    "e: CG_": Model(
        {("asian", "94139"): 3, **ASIAN_9414, **BLACK_9413, ("white", "941**"): 2},
        recoding={"method": "local", "variant": "best"},
    ),
    "f: _TS": Model({("asian", "94139"): 3}, highest=(0, 0), limit=6),
    "g: _AS": Model(
        {("asian", "*"): 5, ("black", "*"): 2, ("white", "*"): 2},
        {"race": lit.flat("asian", "black", "white"), "zip": lit.flat(*ZIP)},
        highest=(1, 1),
    ),
    "h: _CS": Model(
        {("asian", "*"): 2, ("asian", "94139"): 3, ("black", "*"): 2, ("white", "*"): 2},
        SUPPRESSIBLE,
        highest=(0, 0),
        recoding="cells",
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.sampled(9)
def test_the_figure(database: Database, name: str) -> None:
    model = MODELS[name]
    assert Counter(released(database, model)) == model.released
    assert least_of(name) == {frozenset(model.released.items())}


def test_the_source_is_not_two_anonymous() -> None:
    """Figure 9 (a)."""
    assert sorted(Counter(ROWS).values()) == [1, 1, 1, 1, 1, 1, 3]


@pytest.mark.slow
def test_levels_minimum_says_the_same_as_a_limit_on_every_column(database: Database) -> None:
    model = MODELS["h: _CS"]
    short = Model(
        model.released, model.hierarchies, recoding={"method": "cells", "variant": "minimum"}, highest=(-1, -1)
    )
    assert Counter(released(database, short)) == model.released


def test_ts_without_two_equal_rows_is_refused_for_what_it_would_be(database: Database) -> None:
    """All rows may be suppressed, and all would have to be: what is wrong is that nothing is left."""
    database.table("people", ["zip"], [("94138",), ("94139",)])
    spec = {"version": 1, "source": "people", "quasi_identifiers": {"zip": {"maximum_level": 0}}}
    asked = {"privacy": [{"k_anonymity": K}], "suppression": {"max_share": 1.0}}
    result = kanon_sql.plan(database.engine, kanon_sql.Spec.from_dict({**spec, **asked}))
    assert result.message.endswith("all 2 rows violate it, and a release without them is empty")


def released(database: Database, model: Model) -> list[tuple[Any, ...]]:
    """What the model's spec publishes."""
    database.table("people", ["race", "zip"], ROWS)
    columns: dict[str, Any] = {}
    for (name, hierarchy), highest in zip(model.hierarchies.items(), model.highest, strict=True):
        lines = list(hierarchy.values())
        database.table(f"hierarchy_{name}", [f"level{n}" for n in range(len(lines[0]))], lines)
        columns[name] = {"table": f"hierarchy_{name}", **({"maximum_level": highest} if highest >= 0 else {})}
    spec = {"version": 1, "source": "people", "release": "people_release", "quasi_identifiers": columns}
    asked = {"privacy": [{"k_anonymity": K}], "suppression": suppressing(model.limit), "recoding": model.recoding}
    assert kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict({**spec, **asked})).passed
    return database.rows("people_release")


# --- brute force -----------------------------------------------------------------------------

Labels = tuple[str, ...]
Table = frozenset[tuple[Labels, int]]


def least_of(name: str) -> set[Table]:
    """The tables of a model in which cells lose least on average."""
    model = MODELS[name]
    hierarchies = list(model.hierarchies.values())
    nodes = list(product(*(range(highest + 1) for highest in model.highest)))
    if name.endswith("CS"):
        made = [suppressed(classing, node, hierarchies) for node in nodes for classing in classings()]
    elif name.endswith("CG_"):
        made = [generalized(classing, hierarchies) for classing in classings()]
    else:
        made = [found for node in nodes if (found := full_domain(node, hierarchies, model.limit)) is not None]
    least = min(lost for lost, _ in made)
    return {frozenset(Counter(table).items()) for lost, table in made if lost == least}


@cache
def classings() -> list[tuple[tuple[int, ...], ...]]:
    """Every way to put the nine rows into classes of at least two."""

    def of(left: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
        if not left:
            yield ()
        for size in range(K - 1, len(left)):
            for others in combinations(left[1:], size):
                rest = [row for row in left[1:] if row not in others]
                for more in of(rest):
                    yield ((left[0], *others), *more)

    return list(of(range(len(ROWS))))


def lost(hierarchy: Mapping[str, Labels], level: int, value: str) -> Fraction:
    """The share of detail that a cell loses."""
    under = sum(labels[level] == hierarchy[value][level] for labels in hierarchy.values())
    return Fraction(under - 1, len(hierarchy) - 1)


def suppressed(
    classing: Sequence[Sequence[int]], node: Sequence[int], hierarchies: Sequence[Mapping[str, Labels]]
) -> tuple[Fraction, list[Labels]]:
    """The rows at a node; a cell is suppressed where its class has several labels."""
    total, table = Fraction(0), []
    for rows in classing:
        labels = []
        for column, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
            found = {hierarchy[ROWS[row][column]][level] for row in rows}
            labels.append(found.pop() if len(found) == 1 else "*")
            alike = labels[-1] != "*"
            total += sum(lost(hierarchy, level, ROWS[row][column]) if alike else Fraction(1) for row in rows)
        table += [tuple(labels)] * len(rows)
    return total, table


def generalized(
    classing: Sequence[Sequence[int]], hierarchies: Sequence[Mapping[str, Labels]]
) -> tuple[Fraction, list[Labels]]:
    """The rows with the lowest labels that each class has in common."""
    total, table = Fraction(0), []
    for rows in classing:
        labels = []
        for column, hierarchy in enumerate(hierarchies):
            values = [ROWS[row][column] for row in rows]
            level = next(n for n in range(3) if len({hierarchy[value][n] for value in values}) == 1)
            labels.append(hierarchy[values[0]][level])
            total += len(rows) * lost(hierarchy, level, values[0])
        table += [tuple(labels)] * len(rows)
    return total, table


def full_domain(
    node: Sequence[int], hierarchies: Sequence[Mapping[str, Labels]], limit: int
) -> tuple[Fraction, list[Labels]] | None:
    """The rows at a node without those of small classes; None where these are too many."""
    table = [
        tuple(hierarchy[value][level] for hierarchy, value, level in zip(hierarchies, row, node, strict=True))
        for row in ROWS
    ]
    sizes = Counter(table)
    kept = [labels for labels in table if sizes[labels] >= K]
    if len(ROWS) - len(kept) > limit:
        return None
    total = Fraction(len(hierarchies) * (len(ROWS) - len(kept)))
    for row, labels in zip(ROWS, table, strict=True):
        if sizes[labels] >= K:
            total += sum(lost(h, level, value) for h, value, level in zip(hierarchies, row, node, strict=True))
    return total, kept
