"""Samarati's lectures on data protection (FOSAD): the numbers and tables that its slides teach with.

Of the slides are: the six shares and the 87 % of slide 18, the marital statuses in their order and the three classes
of three patients (54), that four tables are compared by the four notions of k-anonymity revisited (57), the shares .75
and .2, and a class with ulcer, ulcer and gastritis (60 to 64). The rows are the nine patients of Ciriani et al., or the
smallest tables that have these numbers; verdicts on them come from the oracles.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import kanon_sql
from kanon_sql import Spec, audit
from tests.conftest import Database
from tests.oracles.consistency import consistent, edges_of
from tests.oracles.model import Hierarchy
from tests.support import literature as lit
from tests.support.audits import by_name, hierarchy_table

# --- slides 7 and 9: macrodata and microdata --------------------------------------------------------


@pytest.mark.slow
def test_7_macrodata_are_counts_of_the_rows_of_microdata(database: Database) -> None:
    """The nine patients by sex and disease, with their margins; counts of a single patient are suppressed."""
    database.table("patients", ["sex", "health"], [(row["sex"], row["health"]) for row in lit.NINE_PATIENTS])
    spec = {
        "version": 1, "kind": "table", "source": "patients",
        "dimensions": {"sex": None, "health": None}, "rules": {"threshold": 2},
    }  # fmt: skip
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))
    counts = Counter(labels for row in lit.NINE_PATIENTS for labels in product((row["sex"], "*"), (row["health"], "*")))
    assert counts["*", "*"] == 9
    assert counts["F", "*"] == 7
    assert counts["*", "obesity"] == 3
    assert {tuple(cell.labels) for cell in result.table} == {*counts}
    assert all(cell.suppressed or cell.value == counts[tuple(cell.labels)] for cell in result.table)
    assert all(cell.suppressed for cell in result.table if counts[tuple(cell.labels)] == 1)
    assert not all(cell.suppressed for cell in result.table)


# --- slide 18: who is unique in the population ---------------------------------------------------------

UNIQUE = {
    ("zip", "year"): 0.2,
    ("county", "year"): 0.0,
    ("zip", "month"): 4.2,
    ("county", "month"): 0.2,
    ("zip", "day"): 63.3,
    ("county", "day"): 14.8,
}
"""Percent of the population of the United States that sex, place and birth leave alone (Golle 2006)."""
EARLIER = 87
"""The same of ZIP code, sex and day of birth by Sweeney (2000)."""
FINER = {"zip": "county", "day": "month", "month": "year"}


@pytest.mark.slow
def test_18_a_finer_place_or_birth_leaves_more_persons_alone(database: Database) -> None:
    """The census is not repeated here: 4,000 persons in 40 ZIP codes of 8 counties are in the slide's order too."""
    draw = random.Random(18)
    people = []
    for _ in range(4_000):
        code, days = draw.randrange(40), draw.randrange(60 * 360)
        day = (str(1940 + days // 360), f"{days // 30:05}", f"{days:05}")
        people.append((draw.choice("mf"), f"z{code}", f"c{code % 8}", *day))
    columns = ["sex", "zip", "county", "year", "month", "day"]
    database.table("people", columns, people)
    shares: dict[tuple[str, str], float] = {}
    for pair in UNIQUE:
        known = ["sex", *pair]
        spec = {
            "version": 1, "source": "people", "quasi_identifiers": dict.fromkeys(known), "privacy": [{"k_anonymity": 2}]
        }  # fmt: skip
        (found,) = kanon_sql.check(database.engine, Spec.from_dict(spec), "people").achieved.values()
        vectors = Counter(tuple(row[columns.index(name)] for name in known) for row in people)
        assert found["violating_rows"] == sum(size == 1 for size in vectors.values())
        shares[pair] = 100 * found["violating_rows"] / len(people)
    for measured in (UNIQUE, shares):
        for place, birth in UNIQUE:
            for coarser in ((FINER.get(place, place), birth), (place, FINER.get(birth, birth))):
                assert measured[place, birth] >= measured[coarser]
    assert max(UNIQUE.values()) < EARLIER


# --- slide 54: Mondrian --------------------------------------------------------------------------------------

MARITAL = ["single", "married", "divorced", "widow"]


@pytest.mark.parametrize("order", [MARITAL, sorted(MARITAL)], ids=["the slide's", "alphabetical"])
@pytest.mark.sampled(2)
def test_54_the_order_of_a_categorical_column_decides(database: Database, order: list[str]) -> None:
    """k = 3 over marital status and ZIP code: three classes of three in the slide's order, two in the alphabet's."""
    database.table("people", ["marital", "zip"], [(row["marital"], row["zip"]) for row in lit.NINE_PATIENTS])
    spec = {
        "version": 1,
        "source": "people",
        "release": "people_release",
        "quasi_identifiers": {"marital": {"tree": {"not released": order}}, "zip": None},
        "privacy": [{"k_anonymity": 3}],
        "recoding": "mondrian",
    }
    assert kanon_sql.anonymize(database.engine, Spec.from_dict(spec)).passed
    expected = {
        tuple(MARITAL): {
            ("single", "<= 94139"): 3,
            ("married", "94139"): 3,
            ("divorced..widow", ">= 94141"): 3,
        },
        tuple(sorted(MARITAL)): {("divorced..married", ">= 94139"): 5, ("single..widow", "<= 94141"): 4},
    }
    assert Counter(database.rows("people_release")) == expected[tuple(order)]


# --- slide 57: k-anonymity revisited ------------------------------------------------------------------------------

PERSONS = lit.table("race | zip", "white | 94138", "black | 94139", "asian | 94141", "asian | 94141", "asian | 94142")
OF_PERSONS: dict[str, Hierarchy] = {
    "race": {value: (value, "person") for value in ("white", "black", "asian")},
    "zip": lit.prefixes((4, 3), "94138", "94139", "94141", "94142"),
}
BOTH = ["person | 9413*", "person | 9413*"]
FOUR = {
    "2-anonymous": [*BOTH, "asian | 9414*", "asian | 9414*", "asian | 9414*"],
    "one at its value": [*BOTH, "asian | 94141", "asian | 9414*", "asian | 9414*"],
    "two at their values": [*BOTH, "asian | 94141", "asian | 94141", "asian | 9414*"],
    "the single one at its value": [*BOTH, "asian | 9414*", "asian | 9414*", "asian | 94142"],
}
KINDS = ("k", "1k", "k1", "kk", "global_1k")
PASS = {
    "2-anonymous": "k 1k k1 kk global_1k",
    "one at its value": "1k k1 kk global_1k",
    "two at their values": "k1",
    "the single one at its value": "1k",
}
"""Which notions each of the four tables satisfies with k = 2."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUR)
def test_57_k_anonymity_revisited(database: Database, name: str) -> None:
    release = lit.table("race | zip", *FOUR[name])
    for table, rows in (("source", PERSONS), ("release", release)):
        database.table(table, ["race", "zip"], [list(row.values()) for row in rows])
    columns = {column: hierarchy_table(database, f"h_{column}", OF_PERSONS[column]) for column in OF_PERSONS}
    passed = set()
    for kind in KINDS:
        asked = {"k_anonymity": 2} if kind == "k" else {"kk_anonymity": {"k": 2, "variant": kind}}
        spec = {"version": 1, "source": "source", "release": "release", "quasi_identifiers": columns}
        if kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": [asked]})).passed:
            passed.add(kind)
    assert passed == by_oracle(release) == {*PASS[name].split()}


def by_oracle(release: list[dict[str, str]]) -> set[str]:
    """Every assignment of the rows to the persons is tried."""
    found = consistent(edges_of(PERSONS, release, OF_PERSONS), len(PERSONS))
    assert found.matches is not None
    fewest = {
        "k": min(Counter(tuple(row.values()) for row in release).values()),
        "1k": min(found.of_records),
        "k1": min(found.of_rows),
        "kk": min(*found.of_records, *found.of_rows),
        "global_1k": min(found.matches),
    }
    return {kind for kind, count in fewest.items() if count >= 2}


# --- slides 60 to 64: what l-diversity does not protect from --------------------------------------------


def sick(database: Database, rows: list[tuple[str, str]], privacy: dict[str, Any]) -> Spec:
    database.table("people", ["class", "disease"], rows)
    return Spec.from_dict(
        {
            "version": 1, "source": {"query": "SELECT * FROM people"}, "release": "people",
            "quasi_identifiers": {"class": None}, "sensitive": ["disease"], "privacy": [privacy],
        }
    )  # fmt: skip


@pytest.mark.slow
def test_60_three_of_four_where_it_is_one_of_five_in_the_table(database: Database) -> None:
    """A share of .75 in a class against .2 in the table: 2-diverse, and .55 away from the table."""
    rows = [("a", "diabetes")] * 3 + [("a", "none")] + [("b", "diabetes")] + [("b", "none")] * 15
    spec = sick(database, rows, {"l_diversity": {"attribute": "disease", "l": 2}})
    assert kanon_sql.check(database.engine, spec).passed
    skewed = by_name(audit(database.engine, spec, attacks=["skewness"]))["skewness of disease"]
    assert skewed.risk == pytest.approx(float(Fraction(3, 4) - Fraction(1, 5)))
    for t, passed in ((0.55, True), (0.54, False)):
        close = sick(database, rows, {"t_closeness": {"attribute": "disease", "t": t}})
        result = kanon_sql.check(database.engine, close)
        assert result.passed is passed
        assert result.achieved["t_closeness(disease)"]["t"] == pytest.approx(0.55)


@pytest.mark.slow
def test_64_ulcer_ulcer_gastritis_are_all_of_the_stomach(database: Database) -> None:
    rows = [("a", "ulcer"), ("a", "ulcer"), ("a", "gastritis"), ("b", "ulcer"), ("b", "flu"), ("b", "bronchitis")]
    spec = sick(database, rows, {"l_diversity": {"attribute": "disease", "l": 2}})
    assert kanon_sql.check(database.engine, spec).passed
    organs = {"stomach": ["ulcer", "gastritis"], "lung": ["flu", "bronchitis"]}
    hierarchies: Mapping[str, Any] = {"disease": {"tree": organs}}
    (similar,) = audit(database.engine, spec, hierarchies=hierarchies, attacks=["similarity"], reveal=3).attacks
    assert (similar.examined, similar.exposed, similar.risk) == (6, 3, 1.0)
    assert list(similar.revealed or ()) == [{"values": {"class": "a"}, "people": 3}]
