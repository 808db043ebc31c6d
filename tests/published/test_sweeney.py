"""Sweeney: k-anonymity, a model for protecting privacy (IJUFKS 10(5), 2002), beside the tables in ``literature.py``.

Of the paper are: the six, three and one of figure 1's example, the table of figure 2, the nine counts of example 4, the
lemma, and that patients, physicians and medications are released as views. The rows of figure 1 and of the views are
the smallest that have these numbers.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql import Spec, audit
from tests.conftest import Database
from tests.disclosure.attacks.test_views import attacked, publish, spec_of
from tests.support import literature as lit

# --- figure 1: linking to identify ---------------------------------------------------------------------

VOTERS = [
    ("Weld", "7/31/45", "m", "02138"),
    ("b", "7/31/45", "m", "02139"),
    ("c", "7/31/45", "m", "02140"),
    ("d", "7/31/45", "f", "02138"),
    ("e", "7/31/45", "f", "02139"),
    ("f", "7/31/45", "f", "02140"),
]
"""Six voters of Cambridge are born on the governor's day, three of them are men, and one lives in his ZIP code."""


@pytest.mark.slow
@pytest.mark.parametrize(("known", "left"), [(["birth"], 6), (["birth", "sex"], 3), (["birth", "sex", "zip"], 1)])
def test_figure_1_six_three_one(database: Database, known: list[str], left: int) -> None:
    database.table("voters", ["name", "birth", "sex", "zip"], VOTERS)
    patients = [(*VOTERS[0][1:], "x"), ("1/1/50", "f", "02141", "y")]
    for name in ("patients", "released"):
        database.table(name, ["birth", "sex", "zip", "diagnosis"], patients)
    spec = Spec.from_dict(
        {
            "version": 1, "source": "patients", "release": "released", "sensitive": ["diagnosis"],
            "quasi_identifiers": dict.fromkeys(["birth", "sex", "zip"]), "privacy": [{"k_anonymity": 2}],
        }
    )  # fmt: skip
    (attack,) = audit(database.engine, spec, external="voters", on=known, attacks=["mapping"]).attacks
    assert (attack.examined, attack.risk) == (2, pytest.approx(1 / left))
    assert attack.exposed == (1 if left == 1 else 0)


# --- figure 2, example 4 and the lemma --------------------------------------------------------------------------

EXAMPLE_4 = {
    ("race", "Black"): 6,
    ("race", "White"): 5,
    ("birth", "1964"): 5,
    ("birth", "1965"): 4,
    ("birth", "1967"): 2,
    ("gender", "m"): 6,
    ("gender", "f"): 5,
    ("zip", "0213*"): 9,
    ("zip", "0214*"): 2,
}
"""How often each value is in the table of figure 2, as the example counts them."""
OF_THE_TABLE = {**EXAMPLE_4, ("gender", "m"): 7, ("gender", "f"): 4}
"""The table that figure 2 prints has seven men and four women: the example counts one of them otherwise."""


def test_example_4_each_value_is_there_at_least_k_times(database: Database) -> None:
    values = Counter((name, row[name]) for row in lit.SWEENEY_T for name in lit.SWEENEY_QUASI_IDENTIFIERS)
    assert values == OF_THE_TABLE
    assert sum(EXAMPLE_4.values()) == sum(OF_THE_TABLE.values()) == 4 * len(lit.SWEENEY_T)
    assert min(EXAMPLE_4.values()) == 2
    fewest = {name: fewest_of(database, lit.SWEENEY_T, [name]) for name in lit.SWEENEY_QUASI_IDENTIFIERS}
    assert fewest == {"race": 5, "birth": 2, "gender": 4, "zip": 2}
    assert fewest_of(database, lit.SWEENEY_T, list(lit.SWEENEY_QUASI_IDENTIFIERS)) == 2


def fewest_of(database: Database, rows: list[dict[str, str]], columns: list[str]) -> Any:
    """The k of a table for some of its columns."""
    database.table("people", list(rows[0]), [list(row.values()) for row in rows])
    spec = {"version": 1, "source": "people", "quasi_identifiers": dict.fromkeys(columns)}
    asked = {**spec, "privacy": [{"k_anonymity": 2}]}
    return kanon_sql.check(database.engine, Spec.from_dict(asked), "people").achieved["k_anonymity"]["k"]


@pytest.mark.slow
def test_the_lemma_and_not_its_converse(database: Database) -> None:
    """k-anonymous rows have every value of every column k times; such columns do not make a table k-anonymous."""
    columns = list(lit.SWEENEY_QUASI_IDENTIFIERS)
    for rows, k in lit.SWEENEY_K:
        assert all(fewest_of(database, rows, [name]) >= k for name in columns)
    converse = lit.table("race | gender", "black | m", "black | f", "white | m", "white | f")
    assert [fewest_of(database, converse, [name]) for name in ("race", "gender")] == [2, 2]
    assert fewest_of(database, converse, ["race", "gender"]) == 1


# --- views of patients, physicians and medications -------------------------------------------------------------------

TREATED = [
    {"patient": "Ann", "physician": "Kildare", "medication": "insulin"},
    {"patient": "Ben", "physician": "Kildare", "medication": "insulin"},
    {"patient": "Cid", "physician": "House", "medication": "statin"},
    {"patient": "Dan", "physician": "House", "medication": "aspirin"},
]


def test_views_tell_the_medication_of_who_has_a_physician_of_one(database: Database) -> None:
    """Who sees whom, and who prescribes what: each view hides what a patient takes, and both tell it of two."""
    names = publish(database, TREATED, [["patient", "physician"], ["physician", "medication"]])
    attack = attacked(database, spec_of(["patient"], "medication"), names)
    assert (attack.examined, attack.exposed, attack.beyond, attack.risk) == (4, 2, 2, 1.0)
    other = publish(database, TREATED[2:], [["patient", "physician"], ["physician", "medication"]])
    attack = attacked(database, spec_of(["patient"], "medication"), other)
    assert (attack.examined, attack.exposed, attack.risk) == (2, 0, 0.5)
