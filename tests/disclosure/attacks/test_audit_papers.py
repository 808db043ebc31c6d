"""``audit``: the examples of the papers that the attacks come from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from math import isclose
from typing import Any

import pytest

import kanon_sql
from kanon_sql import Spec, SpecError, audit
from kanon_sql.engines.base import Engine
from kanon_sql.errors import RequirementNotMet, UnsupportedError
from tests.conftest import Database
from tests.oracles import audit as audit_oracle
from tests.oracles.model import Hierarchy, generalize
from tests.support import literature
from tests.support.audits import by_name, hierarchy_table, make, small_spec

# --- Sweeney's tables ---------------------------------------------------------------------------

SWEENEY_SPEC: dict[str, Any] = {
    "version": 1,
    "source": "pt",
    "release": "gt3",
    "quasi_identifiers": {
        "race": {"tree": {"person": ["black", "white"]}},
        "birth": {
            "tree": {
                "1960-69": {
                    year: sorted({row["birth"] for row in literature.SWEENEY_PT if row["birth"].endswith(year)})
                    for year in ("1964", "1965", "1967")
                }
            }
        },
        "gender": {"tree": {"human": ["male", "female"]}},
        "zip": {"prefix": [4]},
    },
    "keep": ["problem"],
    "privacy": [{"k_anonymity": 2}],
}
SWEENEY_COLUMNS = [*literature.SWEENEY_QUASI_IDENTIFIERS, "problem"]


@pytest.fixture
def sweeney(database: Database) -> Engine:
    for name, rows in (
        ("pt", literature.SWEENEY_PT), ("gt1", literature.SWEENEY_GT1), ("gt3", literature.SWEENEY_GT3),
        ("lt", literature.SWEENEY_LT),
    ):  # fmt: skip
        make(database, name, rows, SWEENEY_COLUMNS)
    return database.engine


def lt_classes() -> list[int]:
    return [len(rows) for rows in audit_oracle.classes_of(literature.SWEENEY_LT, literature.SWEENEY_QUASI_IDENTIFIERS)]


@pytest.mark.slow
def test_two_releases_that_are_each_2_anonymous_are_linked_to_lt(sweeney: Engine) -> None:
    """Sweeney 2002, section 4.2: GT1 and GT3 are 2-anonymous, and LT, joined from them, is not."""
    spec = Spec.from_dict(SWEENEY_SPEC)
    for alone in ("gt1", "gt3"):
        assert kanon_sql.check(sweeney, spec, alone).passed
    result = audit(sweeney, spec, earlier=["gt1"], attacks=["complementary"])
    (attack,) = result.attacks
    alone_in_lt = sum(size for size in lt_classes() if size < 2)
    assert alone_in_lt == 2
    assert (attack.examined, attack.exposed, attack.beyond, attack.risk) == (12, alone_in_lt, alone_in_lt, 1.0)
    assert not result.passed
    with pytest.raises(RequirementNotMet):
        result.raise_for_failure()
    assert audit(sweeney, spec, "gt1", earlier=["gt3"], attacks=["complementary"]).attacks[0].exposed == alone_in_lt
    assert audit(sweeney, spec, earlier=["gt3"], attacks=["complementary"]).passed, "a release adds nothing to itself"


@pytest.mark.slow
def test_the_linked_table_itself_is_linked_to_people(sweeney: Engine) -> None:
    on = list(literature.SWEENEY_QUASI_IDENTIFIERS)
    linked = {
        name: audit(sweeney, Spec.from_dict(SWEENEY_SPEC), name, external="pt", on=on, attacks=["linking"])
        for name in ("pt", "gt1", "gt3", "lt")
    }
    exposed = {name: result.attacks[0].exposed for name, result in linked.items()}
    assert exposed == {"pt": 12, "gt1": 0, "gt3": 0, "lt": sum(size for size in lt_classes() if size < 2)}


@pytest.mark.slow
def test_rows_added_between_two_releases_are_a_temporal_attack(sweeney: Engine, database: Database) -> None:
    """Sweeney 2002, section 4.3: the table grew after the first release, which a later one must still build on."""
    added = [
        {"race": "black", "birth": "9/7/1965", "gender": "male", "zip": "02139", "problem": "headache"},
        {"race": "black", "birth": "11/4/1965", "gender": "male", "zip": "02139", "problem": "rash"},
    ]
    tree = SWEENEY_SPEC["quasi_identifiers"]["birth"]["tree"]["1960-69"]
    tree = {**tree, "1965": [*tree["1965"], *(row["birth"] for row in added)]}
    spec = Spec.from_dict(
        {
            **SWEENEY_SPEC,
            "release": "later",
            "quasi_identifiers": {**SWEENEY_SPEC["quasi_identifiers"], "birth": {"tree": {"1960-69": tree}}},
        }
    )
    make(database, "pt", [*literature.SWEENEY_PT, *added], SWEENEY_COLUMNS)
    new = [{**row, "birth": "1965"} for row in added]
    make(database, "later", [*literature.SWEENEY_GT3, *new], SWEENEY_COLUMNS)
    assert kanon_sql.check(database.engine, spec).passed
    (attack,) = audit(database.engine, spec, earlier=["gt1"], attacks=["complementary"]).attacks
    assert (attack.examined, attack.exposed, attack.risk) == (12, 2, 1.0), "the new people are in one release only"
    make(database, "later", [*literature.SWEENEY_GT1, *new], SWEENEY_COLUMNS)  # built on the first release
    assert audit(database.engine, spec, earlier=["gt1"], attacks=["complementary"]).passed


def test_the_release_that_tells_most_counts(database: Database) -> None:
    """Two rows of one release may be a person's, but only one of the other: one is left."""
    database.table("s", ["q", "d"], [("a", "x"), ("b", "x")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "x")])
    database.table("old", ["q", "d"], [("a", "x"), ("b", "x")])
    for table, earlier in (("r", "old"), ("old", "r")):
        (attack,) = audit(database.engine, small_spec(), table, earlier=[earlier], attacks=["complementary"]).attacks
        assert (attack.examined, attack.exposed, attack.risk) == (2, 2, 1.0)


@pytest.mark.slow
def test_a_release_that_somebody_is_not_in_hides_nothing(database: Database) -> None:
    """Two releases tell of b together, whoever a third one has: b was suppressed there, or came later."""
    database.table("s", ["q", "d"], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "y"), ("*", "x")])
    database.table("old", ["q", "d"], database.rows("s"))
    database.table("fewer", ["q", "d"], [("a", "x"), ("a", "y")])
    database.table("masked", ["q", "d"], [("a", "x"), ("a", "y"), ("*", "w")])
    for earlier in (["old"], ["old", "fewer"], ["fewer", "old"], ["fewer", "old", "masked"]):
        result = audit(database.engine, small_spec(), earlier=earlier, attacks=["complementary", "composition"])
        for attack in result.attacks:
            assert (attack.examined, attack.exposed, attack.risk) == (3, 1, 1.0), (attack.label, earlier)
    with pytest.raises(SpecError, match="at most 60"):
        audit(database.engine, small_spec(), earlier=["old"] * 61)
    many = audit(database.engine, small_spec(), earlier=["old"] * 60, attacks=["complementary"])
    assert many.attacks[0].exposed == 1


# --- Other papers -------------------------------------------------------------------------------


def inpatients(database: Database, hierarchies: Mapping[str, Hierarchy]) -> Spec:
    """The release of a figure of the l-diversity paper, from its private table."""
    columns = ["zip", "age", "nationality", "condition"]
    make(database, "inpatients", literature.INPATIENTS, columns)
    vectors = generalize(literature.INPATIENTS, hierarchies, literature.INPATIENTS_NODE)
    released = [
        {**row, **dict(zip(hierarchies, vector or (), strict=True))}
        for row, vector in zip(literature.INPATIENTS, vectors, strict=True)
    ]
    random.Random(1).shuffle(released)
    make(database, "published", released, columns)
    quasi = {name: hierarchy_table(database, f"h_{name}", hierarchy) for name, hierarchy in hierarchies.items()}
    return Spec.from_dict(
        {
            "version": 1, "source": "inpatients", "release": "published", "quasi_identifiers": quasi,
            "sensitive": ["condition"], "privacy": [{"k_anonymity": 4}],
        }
    )  # fmt: skip


@pytest.mark.slow
def test_the_4_anonymous_inpatients_are_homogeneous(database: Database) -> None:
    """Machanavajjhala et al. 2006, section 2.1 (figure 2): everybody in the class of the thirties has cancer.

    Section 2.2: Umeko is Japanese and has no heart disease, so that two values leave one: the first class too.
    """
    spec = inpatients(database, literature.INPATIENTS_4_ANONYMOUS)
    found = by_name(audit(database.engine, spec))
    homogeneous, background = found["homogeneity of condition"], found["background of condition"]
    assert (homogeneous.examined, homogeneous.exposed, homogeneous.risk) == (12, 4, 1.0)
    assert (background.exposed, background.beyond, background.risk) == (8, 4, 1.0)


def test_the_3_diverse_inpatients_withstand_one_negation_and_not_two(database: Database) -> None:
    """The same paper, figure 3: l - 1 = 2 statements are needed."""
    spec = inpatients(database, literature.INPATIENTS_3_DIVERSE)
    one = audit(database.engine, spec, attacks=["homogeneity", "background"])
    assert one.passed
    assert [attack.exposed for attack in one.attacks] == [0, 0]
    (two,) = audit(database.engine, spec, attacks=["background"], negations=2).attacks
    assert (two.exposed, two.beyond) == (12, 0)
    strict = Spec.from_dict(
        {**spec.to_dict(), "privacy": [{"l_diversity": {"attribute": "condition", "l": 4}}, {"k_anonymity": 4}]}
    )
    (asked,) = audit(database.engine, strict, attacks=["background"], negations=2).attacks
    assert (asked.exposed, asked.beyond) == (12, 12), "4-diversity would have been asked for"


def test_two_hospitals_know_that_alice_has_aids(database: Database) -> None:
    """Ganta, Kasiviswanathan, Smith 2008, section 1 (figure 1): the values of both hospitals have one in common."""
    first = ["AIDS", "Heart Disease", "Viral Infection", "Viral Infection"]
    second = ["AIDS", "Tuberculosis", "Flu", "Tuberculosis", "Cancer", "Cancer"]
    columns = ["zip", "age", "condition"]
    database.table("hospital_a", columns, [("130**", "< 30", condition) for condition in first])
    database.table("hospital_b", columns, [("130**", "< 35", condition) for condition in second])
    database.table("people", columns, [("13012", "28", "AIDS")])
    ages = {"28": ("28", "< 30", "< 35", "*"), "33": ("33", "33", "< 35", "*")}
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "hospital_b", "sensitive": ["condition"],
            "quasi_identifiers": {"zip": {"prefix": [3]}, "age": hierarchy_table(database, "h_age", ages)},
            "privacy": [{"k_anonymity": 4}],
        }
    )  # fmt: skip
    result = audit(database.engine, spec, earlier=["hospital_a"], attacks=["composition"])
    (attack,) = result.attacks
    assert (attack.examined, attack.exposed, attack.beyond, attack.risk) == (1, 1, 1, 1.0)


@pytest.mark.slow
def test_stomach_diseases_are_similar(database: Database) -> None:
    """Li, Li, Venkatasubramanian 2007, section 3.1 (tables 3 and 4): 3 diverse values, all of the stomach."""
    diseases = {
        "Stomach": ["gastric ulcer", "gastritis", "stomach cancer"],
        "Respiratory": ["flu", "bronchitis", "pneumonia"],
    }
    table = [
        ("476**", "2*", "gastric ulcer"), ("476**", "2*", "gastritis"), ("476**", "2*", "stomach cancer"),
        ("4790*", ">= 40", "gastritis"), ("4790*", ">= 40", "flu"), ("4790*", ">= 40", "bronchitis"),
        ("476**", "3*", "bronchitis"), ("476**", "3*", "pneumonia"), ("476**", "3*", "stomach cancer"),
    ]  # fmt: skip
    database.table("salaries", ["zip", "age", "disease"], table)
    spec = Spec.from_dict(
        {
            "version": 1, "source": {"query": "SELECT * FROM salaries"}, "release": "salaries",
            "quasi_identifiers": {"zip": None, "age": None}, "sensitive": ["disease"],
            "privacy": [{"l_diversity": {"attribute": "disease", "l": 3}}],
        }
    )  # fmt: skip
    assert kanon_sql.check(database.engine, spec).passed
    result = audit(database.engine, spec, hierarchies={"disease": {"tree": diseases}}, reveal=5)
    found = by_name(result)
    similar = found["similarity of disease"]
    assert (similar.examined, similar.exposed, similar.beyond, similar.risk) == (9, 3, 3, 1.0)
    assert list(similar.revealed or ()) == [{"values": {"zip": "476**", "age": "2*"}, "people": 3}]
    assert "query" in result.left_out["unsorted"]


@pytest.mark.parametrize("tops", [1, 2, 3])
def test_levels_that_repeat_the_top_make_nothing_similar(database: Database, tops: int) -> None:
    groups = {"ulcer": "stomach", "gastritis": "stomach", "flu": "lung"}
    levels = ["value", "organ", *(f"top{number}" for number in range(tops))]
    database.table("h", levels, [(value, group, *["*"] * tops) for value, group in groups.items()])
    database.table("s", ["q", "d"], [("a", "flu"), ("a", "ulcer"), ("b", "ulcer"), ("b", "gastritis"), ("b", None)])
    database.table("r", ["q", "d"], database.rows("s"))
    options: dict[str, Any] = {"hierarchies": {"d": {"table": "h"}}, "attacks": ["similarity"]}
    (attack,) = audit(database.engine, small_spec(), **options).attacks
    assert (attack.examined, attack.exposed, attack.risk) == (5, 3, 1.0)


def test_skewness_is_bounded_by_t(database: Database) -> None:
    """The same section: 1 % of the population is positive, half of a class is."""
    rows = [("a", "positive"), ("a", "negative")] + [("b", "negative")] * 98 + [("b", "positive")]
    database.table("tested", ["q", "result"], rows[:101])
    spec = {
        "version": 1, "source": "tested", "release": "tested", "quasi_identifiers": {"q": None},
        "sensitive": ["result"],
    }  # fmt: skip
    for t, exposed in ((0.1, 2), (0.49, 0)):
        privacy = [{"t_closeness": {"attribute": "result", "t": t}}]
        given = Spec.from_dict({**spec, "source": {"query": "SELECT * FROM tested"}, "privacy": privacy})
        (attack,) = audit(database.engine, given, attacks=["skewness"]).attacks
        assert attack.risk is not None
        assert isclose(attack.risk, Fraction(1, 2) - Fraction(2, 101))
        assert attack.exposed == exposed


def test_skewness_leaves_out_what_it_cannot_compare(database: Database) -> None:
    """A cast finds 1 as '1' and as '01': its rows counted twice, and those of another value gained less."""
    database.table("people", ["q", "s"], [("a", "1"), ("a", "01"), ("b", "2"), ("b", "3")])
    database.table("released", {"q": "VARCHAR", "s": "INTEGER"}, [("a", 1), ("a", 2), ("b", 2), ("b", 3)])
    given = Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"q": None},
            "sensitive": ["s"],
            "privacy": [{"t_closeness": {"attribute": "s", "t": 0.2}}],
        }
    )
    why = "'s' is INTEGER in the table and VARCHAR in the source"
    result = audit(database.engine, given)
    assert "skewness" not in [attack.name for attack in result.attacks]
    assert why in result.left_out["skewness"]
    with pytest.raises(UnsupportedError, match=f"attack skewness: {why}"):
        audit(database.engine, given, attacks=["skewness"])
