"""Ten patients of a hospital: the table that short introductions to k-anonymity show, and its 2-anonymous version.

The table is that of the article "k-anonymity" in Wikipedia: names and religions are suppressed, ages are put into
intervals, and it is 2-anonymous in age, gender and state of domicile.
"""

from __future__ import annotations

from collections import Counter

import kanon_sql
from tests.conftest import Database
from tests.support import literature as lit

TEN = lit.table(
    "name | age | gender | state | religion | disease",
    "Ramsha | 30 | Female | Tamil Nadu | Hindu | Cancer",
    "Yadu | 24 | Female | Kerala | Hindu | Viral infection",
    "Salima | 28 | Female | Tamil Nadu | Muslim | TB",
    "Sunny | 27 | Male | Karnataka | Parsi | No illness",
    "Joan | 24 | Female | Kerala | Christian | Heart-related",
    "Bahuksana | 23 | Male | Karnataka | Buddhist | TB",
    "Rambha | 19 | Male | Kerala | Hindu | Cancer",
    "Kishor | 29 | Male | Karnataka | Hindu | Heart-related",
    "Johnson | 17 | Male | Kerala | Christian | Heart-related",
    "John | 19 | Male | Kerala | Christian | Viral infection",
)
RELEASED = lit.table(
    "name | age | gender | state | religion | disease",
    "* | 20 < Age <= 30 | Female | Tamil Nadu | * | Cancer",
    "* | 20 < Age <= 30 | Female | Kerala | * | Viral infection",
    "* | 20 < Age <= 30 | Female | Tamil Nadu | * | TB",
    "* | 20 < Age <= 30 | Male | Karnataka | * | No illness",
    "* | 20 < Age <= 30 | Female | Kerala | * | Heart-related",
    "* | 20 < Age <= 30 | Male | Karnataka | * | TB",
    "* | Age <= 20 | Male | Kerala | * | Cancer",
    "* | 20 < Age <= 30 | Male | Karnataka | * | Heart-related",
    "* | Age <= 20 | Male | Kerala | * | Heart-related",
    "* | Age <= 20 | Male | Kerala | * | Viral infection",
)


def of(column: str) -> list[str]:
    return sorted({row[column] for row in TEN})


def test_the_table_of_ten_is_released_cell_by_cell(database: Database) -> None:
    """The lowest node that satisfies is the article's; every class has two patients at least, of two diseases."""
    database.table("patients", list(TEN[0]), [list(row.values()) for row in TEN])
    young = [age for age in of("age") if int(age) <= 20]
    ages = {"Age <= 20": young, "20 < Age <= 30": [age for age in of("age") if age not in young]}
    spec = {
        "version": 1,
        "source": "patients",
        "release": "patients_release",
        "quasi_identifiers": {
            "name": {"tree": {"*": of("name")}, "minimum_level": 1},
            "age": {"tree": {"*": ages}},
            "gender": {"tree": {"*": of("gender")}},
            "state": {"tree": {"*": of("state")}},
            "religion": {"tree": {"*": of("religion")}, "minimum_level": 1},
        },
        "sensitive": ["disease"],
        "privacy": [{"k_anonymity": 2}, {"l_diversity": {"attribute": "disease", "l": 2}}],
    }
    result = kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict(spec))
    assert result.node == {"name": 1, "age": 1, "gender": 0, "state": 0, "religion": 1}
    assert result.classes["smallest"] == 2
    released = Counter(database.rows("patients_release"))
    assert released == Counter(tuple(row.values()) for row in RELEASED)
