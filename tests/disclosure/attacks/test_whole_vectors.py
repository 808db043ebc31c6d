"""Refinement of classes of whole vectors with the lowest labels: local recoding without its cuts."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import pytest

from kanon_sql import Spec, anonymize, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.errors import UnsupportedError
from tests.conftest import Database
from tests.oracles.whole import Classes, Paths, Release, Vector, Whole, all_levels, two_levels
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

TREES: list[dict[str, list[str]]] = [{"A": ["a1", "a2"], "B": ["b1", "b2"]}, {"X": ["x1"], "Y": ["y1", "y2"]}]
NAMES = ("q", "p")
BEST = {"method": "local", "variant": "best"}
RANGED = {"method": "local", "ranges": ["q"]}
DIVERSE = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "d", "l": 2}}]


def columns(count: int) -> list[Paths]:
    return [
        {value: (value, group, "*") for group, values in tree.items() for value in values} for tree in TREES[:count]
    ]


def whole_of(recoding: Any, count: int = 2) -> Whole:
    """What a recoding may do: with cells a column has one level and the top, and with ranges no level between."""
    if recoding == RANGED:
        flat = [{value: (value, "*") for values in tree.values() for value in values} for tree in TREES[:1]]
        own = [*flat, *columns(count)[1:]]
        return Whole(own, all_levels(own), ranged=[0])
    own = columns(count)
    return Whole(own, two_levels(own) if spec_of(count, recoding).recoding.method == "cells" else all_levels(own))


def spec_of(count: int, recoding: Any, **changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": 2}], "recoding": recoding,
            "quasi_identifiers": {
                name: None if recoding == RANGED and name == "q" else {"tree": tree}
                for name, tree in zip(NAMES, TREES[:count], strict=False)
            },
            **changes,
        }
    )  # fmt: skip


def put(database: Database, classes: Classes) -> None:
    width = len(next(iter(classes)))
    rows = [(*vector, "d0") for held in classes.values() for vector in held.elements()]
    values = [(*labels, f"d{place % 3}") for labels, held in classes.items() for place in range(held.total())]
    for name, lines in (("s", rows), ("r", values)):
        database.table(name, [*NAMES[:width], "d"], lines)


def attacked(database: Database, spec: Spec) -> dict[str, Attack]:
    result = audit(database.engine, spec, attacks=["refinement"], reveal=99)
    assert result.passed, "an estimate decides no verdict"
    return {str(attack.about): attack for attack in result.attacks}


def compared(whole: Whole, worlds: Sequence[Classes], attacks: Mapping[str, Attack], cells: bool = False) -> Any:
    """How many rows the attack exposes, and how many there are: more than there are would be unsound.

    Args:
        whole: what a recoding may do.
        worlds: every source, the one that was attacked first.
        attacks: what was found, by column.
        cells: whether single cells were suppressed, so that a column has one level and the top.
    """
    release = worlds[0]
    found = there = 0
    own = whole.columns
    for place, name in enumerate(NAMES[: len(own)]):
        have = {vector[place] for held in release.values() for vector in held}
        shares, certain = shares_of(whole, worlds, place), 0
        for labels in release:
            inside = whole.values_of(place, labels[place], sorted(have))
            level = level_of(own[place], {labels[place] for labels in release}) if cells else None
            parts = parts_of(own[place], inside, level)
            certain += sum(
                min(sum(n for v, n in classes[labels].items() if v[place] in part) for classes in worlds)
                for part in parts
                if len(parts) > 1
            )
        attack = attacks[name]
        assert all(shares[tuple(case["values"].values())] for case in attack.revealed or ())
        assert attack.risk is not None
        assert attack.risk <= max(shares.values()) + 1e-9
        told = re.search(r"is certain for (\d+)", attack.notes[1])
        assert told is not None
        assert int(told[1]) <= certain
        assert not any("contradict" in note for note in attack.notes)
        found += attack.exposed
        there += sum(held.total() for labels, held in release.items() if shares[labels])
    return found, there


def shares_of(whole: Whole, worlds: Sequence[Classes], place: int) -> dict[Vector, float]:
    """The share of the values under a label of a column that no row of the class has, in no source."""
    have = {vector[place] for held in worlds[0].values() for vector in held}
    shares = {}
    for labels in worlds[0]:
        inside = whole.values_of(place, labels[place], sorted(have))
        possible = {vector[place] for classes in worlds for vector in classes[labels]}
        shares[labels] = sum(value not in possible for value in inside) / len(inside)
    return shares


def level_of(paths: Paths, labels: Collection[str]) -> int:
    """The level that the labels of a column are of, besides the top; the lowest where several have them all."""
    height = len(next(iter(paths.values()))) - 1
    return next(
        level
        for level in range(height)
        if {*labels} <= {label for own in paths.values() for label in (own[level], "*")}
    )


def parts_of(paths: Paths, values: Sequence[str], level: int | None) -> list[list[str]]:
    """The values of a label by the labels below it."""
    height = len(paths[values[0]]) - 1
    for own in range(height - 1, -1, -1) if level is None else [level]:
        labels = dict.fromkeys(paths[value][own] for value in values)
        if len(labels) > 1:
            return [[value for value in values if paths[value][own] == label] for label in labels]
    return [values]


def some_classes(draw: random.Random, whole: Whole, rows: int) -> Classes:
    """A source whose vectors are divided at random, with more of some than of others."""
    way = draw.choice(whole.ways)
    skewed = [[*paths, *[next(iter(paths))] * (1 + 3 * place)] for place, paths in enumerate(whole.columns)]
    source = Counter(tuple(map(draw.choice, skewed)) for _ in range(rows))
    groups: dict[int, list[Vector]] = defaultdict(list)
    where = {low: draw.randrange(3) for low in sorted({whole.lowest(vector, way) for vector in source})}
    for vector in source:
        groups[where[whole.lowest(vector, way)]].append(vector)
    found: Classes = {}
    for held in groups.values():
        if not whole.together(held, way):
            return some_classes(draw, whole, rows)
        labels = whole.labels(held, way)
        found[labels] = found.get(labels, Counter()) + Counter({vector: source[vector] for vector in held})
    return found


# --- The assumptions hold of what the package releases -----------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recoding", "changes"),
    [
        (RANGED, {}),
        (RANGED, {"suppression": "20%"}),
        (BEST, {}),
        (BEST, {"suppression": "20%"}),
        ({"method": "local", "start": "optimum"}, {"suppression": "20%"}),
        ({"method": "local", "start": "both"}, {"suppression": "20%"}),
        ("local", {"privacy": DIVERSE, "sensitive": ["d"]}),
        (BEST, {"privacy": DIVERSE, "sensitive": ["d"], "suppression": "20%"}),
        ("local", {"privacy": [{"t_closeness": {"attribute": "d", "t": 0.4}}], "sensitive": ["d"]}),
        ("cells", {}),
        ("cells", {"suppression": "20%"}),
        ({"method": "cells", "variant": "minimum"}, {"privacy": DIVERSE, "sensitive": ["d"]}),
    ],
)  # fmt: skip
def test_classes_are_whole_vectors_with_the_lowest_labels(database: Database, recoding: Any, changes: Any) -> None:
    draw, whole, published = random.Random(1), whole_of(recoding), 0
    for rows in (8, 14, 20, 30):
        source = [
            (*(draw.choice([*paths, *list(paths)[:1]]) for paths in whole.columns), draw.choice("uvw"), f"{number}")
            for number in range(rows)
        ]
        database.table("s", [*NAMES, "d", "id"], source)
        spec = spec_of(2, recoding, **{"keep": ["id", *([] if "sensitive" in changes else ["d"])], **changes})
        if anonymize(database.engine, spec).passed:
            classes: dict[Vector, list[Vector]] = defaultdict(list)
            for *labels, number in database.connection.execute("SELECT q, p, id FROM r").fetchall():
                classes[tuple(labels)].append(source[int(number)][:2])
            assert whole.keeps(classes)
            published += 1
        database.clear()
    assert published > 1


# --- Against every source ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recoding", "count", "rows", "least"),
    [
        (BEST, 1, 8, 1.0),
        (BEST, 2, 7, 0.6),
        ("cells", 1, 8, 1.0),
        ("cells", 2, 6, 0.3),
        (RANGED, 1, 8, 0.9),
        (RANGED, 2, 7, 0.6),
    ],
)
def test_what_is_ruled_out_is_impossible_in_every_source(
    database: Database, recoding: Any, count: int, rows: int, least: float
) -> None:
    """However vectors are divided. Of one column nothing else is impossible; of two, classes may tell more together."""
    whole, draw = whole_of(recoding, count), random.Random(7)
    found = there = 0
    every = [[classes, *whole.worlds(classes)] for classes in (some_classes(draw, whole, rows) for _ in range(60))]
    telling = [own for own in every if any(any(shares_of(whole, own, place).values()) for place in range(count))]
    for worlds in [*every[:3], *telling[:6]]:
        put(database, worlds[0])
        attacks = attacked(database, spec_of(count, recoding))
        one, all_of_them = compared(whole, worlds, attacks, cells=recoding == "cells")
        found, there = found + one, there + all_of_them
        database.clear()
    assert found >= least * there > 0


@pytest.mark.slow
def test_what_is_ruled_out_is_impossible_in_every_source_that_is_released_so(database: Database) -> None:
    """By the package itself, of every source of seven rows in which all values occur."""
    own, every = columns(1), defaultdict[Release, list[Classes]](list)
    spec = spec_of(1, BEST, keep=["id"])
    for chosen in combinations_with_replacement(own[0], 7):
        if len(set(chosen)) < len(own[0]):
            continue
        database.table("s", ["q", "id"], [(value, f"{number}") for number, value in enumerate(chosen)])
        assert anonymize(database.engine, spec).passed
        classes: Classes = defaultdict(Counter)
        for label, number in database.connection.execute("SELECT q, id FROM r").fetchall():
            classes[(label,)][(chosen[int(number)],)] += 1
        every[frozenset((labels, held.total()) for labels, held in classes.items())].append(classes)
        database.clear()
    found = 0
    for worlds in every.values():
        put(database, worlds[0])
        found += compared(whole_of(BEST, 1), worlds, attacked(database, spec_of(1, BEST)))[0]
        database.clear()
    assert found


@pytest.mark.slow
def test_a_person_is_in_no_class_that_cannot_have_the_vector(database: Database) -> None:
    """With l-diversity: the sensitive values of classes that a person cannot be in."""
    own, draw, found = columns(1), random.Random(4), 0
    whole, spec = Whole(own, all_levels(own)), spec_of(1, "local", privacy=DIVERSE, sensitive=["d"])
    for _ in range(5):
        classes = some_classes(draw, whole, 9)
        put(database, classes)
        worlds = whole.worlds(classes)
        values = {labels: {f"d{place % 3}" for place in range(held.total())} for labels, held in classes.items()}
        shares = {}
        for vector in {vector for held in classes.values() for vector in held}:
            match = [labels for labels in classes if labels[0] in own[0][vector[0]]]
            there = set().union(*(values[labels] for labels in match))
            possible = {value for world in worlds for one in match if vector in world[one] for value in values[one]}
            shares[vector] = 1 - len(possible) / len(there)
        attack = attacked(database, spec)["d"]
        assert all(shares[tuple(case["values"].values())] for case in attack.revealed or ())
        assert attack.risk is not None
        assert attack.risk <= max(shares.values()) + 1e-9
        found += attack.exposed
        database.clear()
    assert found


# --- Rule by rule: ranges ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "changes", "exposed", "risk", "why"),
    [
        ({("<= b1", "x1"): 2, ("*", "Y"): 4}, {}, 2, 1 / 3, "two rows have the ends: none has a2"),
        ({("<= b1", "x1"): 2, ("*", "Y"): 4}, {"suppression": "20%"}, 0, 0, "an end may be suppressed"),
        ({("<= b1", "x1"): 3, ("*", "Y"): 4}, {}, 0, 0, "the third may have a2"),
        ({("<= b1", "x1"): 3, ("a2", "x1"): 2}, {}, 3, 1 / 3, "all rows with a2 and x1 are in their class"),
        ({("<= b1", "x1"): 3, ("a2", "y1"): 2}, {}, 0, 0, "the others have y1"),
        ({("*", "x1"): 4, ("[a2, b1]", "x1"): 3}, {}, 4, 1 / 2, "rows of the second one have a2 and b1"),
        ({("*", "Y"): 4, ("[a2, b1]", "Y"): 3}, {}, 0, 0, "rows of both may, with y1 and y2"),
    ],
)  # fmt: skip
def test_what_is_ruled_out_of_ranges(
    database: Database, release: Mapping[Vector, int], changes: Any, exposed: int, risk: float, why: str
) -> None:
    database.table("s", NAMES, [(value, other) for value in ("a1", "a2", "b1", "b2") for other in ("x1", "y1", "y2")])
    database.table("r", NAMES, [labels for labels, rows in release.items() for _ in range(rows)])
    found = attacked(database, spec_of(2, RANGED, **changes))["q"]
    assert found.exposed == exposed, why
    assert found.risk == pytest.approx(risk)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "exposed", "risk"),
    [({"<= 7 or NULL": 3}, 3, 1 / 4), ({"<= 7 or NULL": 4}, 0, 0), ({"*": 4, "[5, 7]": 3}, 4, 2 / 5)],
    ids=["three rows are the ends and NULL", "one has any value", "5 and 7 are elsewhere"],
)
def test_null_is_an_end_of_a_range(database: Database, release: Mapping[str, int], exposed: int, risk: float) -> None:
    spec = spec_of(1, RANGED)
    database.table("s", {"q": "INTEGER"}, [[number] for number in (1, 5, 7, 9, None)])
    database.table("r", ["q"], [[label] for label, rows in release.items() for _ in range(rows)])
    (found,) = attacked(database, spec).values()
    assert (found.exposed, found.risk) == (exposed, pytest.approx(risk))


# --- What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recoding": BEST, "suppression": {"max_share": 0.1, "style": "mask"}}, "masked rows look like a class"),
        ({"privacy": [{"k_anonymity": 2}, {"k_anonymity": {"k": 3, "quasi_identifiers": ["q"]}}]}, "optimum may be"),
        ({"recoding": BEST, "nulls": "suppress"}, "rows with NULL"),
        ({"recoding": BEST, "missing": ["?"]}, "codes that are read as NULL"),
        ({"recoding": {**RANGED, "variant": "best"}}, "optimum may be released instead of ranges"),
        ({"recoding": RANGED}, "labels of a column are no ranges"),
        ({"recoding": "cells"}, "labels of a column are on several levels"),
        ({"recoding": "cells", "suppression": {"max_share": 0.1, "style": "mask"}}, "masked rows look like a class"),
    ],
)  # fmt: skip
def test_other_rules_are_refused_by_name(database: Database, changes: Any, why: str) -> None:
    first = {("A", "*"): Counter([("a1", "x1"), ("a2", "y1")])}
    put(database, first | {("b1", "*"): Counter([("b1", "x1"), ("b1", "y1")])})
    with pytest.raises(UnsupportedError, match=why):
        attacked(database, spec_of(2, **{"recoding": "local", **changes}))


# --- Engines ----------------------------------------------------------------------------------------


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str) -> None:
    """a1 and x1 are in the class of this vector, so the rows with * have another value; also where * is suppressed."""
    rows = [("a1", "x1")] * 2 + [("a2", "x1"), ("b1", "x1"), ("b2", "x1")] + [("a1", "y1"), ("a2", "y1"), ("a2", "y2")]
    labels = [("a1", "x1")] * 2 + [("*", "x1")] * 3 + [("A", "Y")] * 3
    with subject_of(name) as subject:
        subject.table("s", dict.fromkeys(NAMES, "text"), rows)
        subject.table("r", dict.fromkeys(NAMES, "text"), labels)
        in_cells = [*labels[:5], *[("a2", "*")] * 3]
        subject.table("c", dict.fromkeys(NAMES, "text"), in_cells)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            found = audit(engine, spec_of(2, BEST), attacks=["refinement"]).attacks
            cells = audit(engine, spec_of(2, "cells", release="c"), attacks=["refinement"]).attacks
        finally:
            engine.close()
    for attacks in (found, cells):
        assert [(attack.exposed, attack.risk) for attack in attacks] == [(3, pytest.approx(0.25)), (0, 0)]
