"""``audit``: every attack against brute force, the papers' examples, and what may never be shown."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from math import isclose
from typing import Any

import audit_oracle
import jsonschema
import literature
import pytest
from audit_oracle import Found
from conftest import Database
from hypothesis import given
from hypothesis import strategies as st
from oracle import TOLERANCE, Hierarchy, exact, generalize, height_of
from servers import SUBJECTS, subject_of
from strategies import SENSITIVE_VALUES, RandomProblem, examples, problems
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import Spec, SpecError, audit
from kanon_sql.cli import app
from kanon_sql.disclosure.attacks import ATTACKS, ON_REQUEST, Attack, Unmeasured, worst_of
from kanon_sql.disclosure.attacks.unsorted import correlated
from kanon_sql.engines.base import Engine
from kanon_sql.errors import DatabaseError, RequirementNotMet, UnsupportedError
from kanon_sql.report.json import audit_schema
from kanon_sql.verbs.audit import AuditResult

Rows = Sequence[Mapping[str, Any]]

NAMES = {*ATTACKS, "linking, reversed"} - {"consistency"}
NAMES |= {"consistency (1,k)", "consistency (k,1)", "consistency, global (1,k)"}


def make(database: Database, name: str, rows: Rows, columns: Sequence[str]) -> None:
    database.table(name, columns, [[row[column] for column in columns] for row in rows])


def hierarchy_table(database: Database, name: str, hierarchy: Hierarchy) -> dict[str, str]:
    levels = [f"l{level}" for level in range(height_of(hierarchy) + 1)]
    database.table(name, levels, [list(labels) for labels in hierarchy.values()])
    return {"table": name}


def by_name(result: AuditResult) -> dict[str, Attack]:
    return {attack.label: attack for attack in result.attacks}


def same(attack: Attack, found: Found) -> None:
    assert (attack.examined, attack.exposed, attack.beyond) == (found.examined, found.exposed, found.beyond)
    assert (attack.risk is None) == (found.risk is None)
    if attack.risk is not None and found.risk is not None:
        assert isclose(attack.risk, found.risk, abs_tol=1e-9)


# --- Against brute force ------------------------------------------------------------------------


def recoded(problem: RandomProblem, draw: random.Random, *, by_cell: bool, kept: float) -> list[dict[str, Any]]:
    """A release of some of a problem's rows: all cells of a column at one level, or each cell at its own."""
    heights = [height_of(hierarchy) for hierarchy in problem.hierarchies.values()]
    node = tuple(draw.randint(0, height) for height in heights)
    rows = []
    for row in problem.rows:
        if draw.random() > kept:
            continue
        levels = tuple(draw.randint(0, height) for height in heights) if by_cell else node
        (vector,) = generalize([row], problem.hierarchies, levels)
        assert vector is not None
        rows.append({**row, **dict(zip(problem.hierarchies, vector, strict=True))})
    draw.shuffle(rows)
    return rows


SENSITIVE_HIERARCHY: Hierarchy = {
    value: (value, "X" if value in ("x", "X", "x ") else "other", "*")
    for value in SENSITIVE_VALUES
    if value is not None
}


@given(problem=problems(units=False, max_rows=16, max_columns=3), seed=st.integers(0, 10_000), by_cell=st.booleans())
@examples(6)
def test_every_attack_finds_what_brute_force_finds(
    shared_database: Database, problem: RandomProblem, seed: int, by_cell: bool
) -> None:
    draw = random.Random(seed)
    quasi, sensitive = list(problem.hierarchies), problem.sensitive
    columns = [*quasi, *sensitive, "kept"]
    source = [{**row, "kept": draw.choice(["a", "A", None])} for row in problem.rows]
    with_kept = RandomProblem(source, problem.hierarchies, sensitive, problem.requirements, problem.limit)
    release, earlier, other = (recoded(with_kept, draw, by_cell=by_cell, kept=kept) for kept in (0.9, 0.9, 0.7))
    # People who are in the source and people who are not, some with values that no hierarchy knows.
    external = [
        {name: draw.choice([row[name] for row in [*source, {name: "unheard of"}, {name: None}]]) for name in columns}
        for _ in range(12)
    ]
    external += [dict(row) for row in source[:6]]
    fewer = [name for name in columns if name != quasi[-1] or len(quasi) == 1]
    for name, rows in (("source", source), ("released", release), ("earlier", earlier), ("external", external)):
        make(shared_database, name, rows, columns)
    other = [{name: row[name] for name in fewer} for row in other]
    make(shared_database, "other", other, fewer)
    spec = Spec.from_dict(
        {
            "version": 1,
            "source": "source",
            "release": "released",
            "quasi_identifiers": {
                name: hierarchy_table(shared_database, f"h_{name}", hierarchy)
                for name, hierarchy in problem.hierarchies.items()
            },
            "sensitive": sensitive,
            "keep": ["kept"],
            "privacy": problem.requirements,
        }
    )
    on = draw.sample(columns, draw.randint(1, len(columns)))
    negations = draw.randint(1, 3)
    hierarchies = {name: hierarchy_table(shared_database, "h_sensitive", SENSITIVE_HIERARCHY) for name in sensitive}
    options: dict[str, Any] = {"external": "external", "on": on, "negations": negations, "hierarchies": hierarchies}
    result = audit(shared_database.engine, spec, earlier=["earlier", "other"], **options)
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    found = by_name(result)
    k = max((item["k_anonymity"]["k"] for item in problem.requirements if "k_anonymity" in item), default=2)
    given_hierarchies = {name: problem.hierarchies[name] for name in on if name in quasi}
    forward, backward = audit_oracle.linking(external, release, on, given_hierarchies, k)
    if external and release and forward.risk is None:
        assert {"linking", "linking, reversed"} <= set(result.left_out)
    else:
        same(found["linking with external"], forward)
        same(found["linking, reversed with external"], backward)
    plain = [*sensitive, "kept"]

    def same_of_several(name: str, expected: Found) -> None:
        if release and (earlier or other) and expected.risk is None:
            assert name.split()[0] in result.left_out, "nobody is in several releases"
        else:
            same(found[name], expected)

    same_of_several(
        "complementary with earlier, other",
        audit_oracle.complementary(source, [release, earlier, other], problem.hierarchies, plain, k),
    )
    for name in sensitive:
        asked = [item["l_diversity"] for item in problem.requirements if "l_diversity" in item]
        diversity = max([2, *(-int(-item["l"] // 1) for item in asked if item["attribute"] == name)])
        close = [item["t_closeness"] for item in problem.requirements if "t_closeness" in item]
        most = [exact(item["t"]) + exact(TOLERANCE) for item in close if item["attribute"] == name]
        same(found[f"homogeneity of {name}"], audit_oracle.homogeneity(release, quasi, name))
        same(found[f"background of {name}"], audit_oracle.ruled_out(release, quasi, name, negations, diversity))
        same(
            found[f"skewness of {name}"],
            audit_oracle.skewness(release, quasi, name, source, min(most, default=None)),
        )
        same(found[f"similarity of {name}"], audit_oracle.similarity(release, quasi, name, SENSITIVE_HIERARCHY))
        same_of_several(
            f"composition of {name}",
            audit_oracle.composition(source, [release, earlier, other], problem.hierarchies, name, diversity),
        )
    examined, independent, correlation = audit_oracle.order(source, release, problem.hierarchies, plain)
    unsorted = found["unsorted"]
    assert unsorted.examined == examined
    assert (unsorted.risk is None) == (correlation is None)
    if correlation is not None and unsorted.risk is not None:
        assert isclose(unsorted.risk, abs(correlation), abs_tol=1e-9)
        assert unsorted.exposed == (examined if correlated(correlation, independent) else 0)
    assert result.passed == (not any(item.beyond for item in result.attacks if not item.estimate))
    assert list(shared_database.engine.columns("released"))  # the scratch mode is back
    assert shared_database.engine.scratch.mode == "temp"


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


def test_the_linked_table_itself_is_linked_to_people(sweeney: Engine) -> None:
    on = list(literature.SWEENEY_QUASI_IDENTIFIERS)
    linked = {
        name: audit(sweeney, Spec.from_dict(SWEENEY_SPEC), name, external="pt", on=on, attacks=["linking"])
        for name in ("pt", "gt1", "gt3", "lt")
    }
    exposed = {name: result.attacks[0].exposed for name, result in linked.items()}
    assert exposed == {"pt": 12, "gt1": 0, "gt3": 0, "lt": sum(size for size in lt_classes() if size < 2)}


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


# --- The order of rows --------------------------------------------------------------------------


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


def ordered(database: Database, shuffled: bool) -> Spec:
    """Forty people in two classes, released in the source's order or in another; all their charges differ."""
    people = [(f"{position % 2}{position % 3}", str(position * 17 % 101)) for position in range(40)]
    database.table("people", ["q", "charge"], people)
    released = [(q[0] + "*", charge) for q, charge in people]
    if shuffled:
        random.Random(3).shuffle(released)
    else:
        released.sort(key=lambda row: row[0])  # by class, and in a class as they were
    database.table("released", ["q", "charge"], released)
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": {"prefix": [1]}},
            "keep": ["charge"], "privacy": [{"k_anonymity": 2}],
        }
    )  # fmt: skip


def test_a_release_in_the_sources_order_exposes_everybody(database: Database) -> None:
    """Sweeney 2002, section 4.1, also when its classes are sorted."""
    (attack,) = audit(database.engine, ordered(database, shuffled=False), attacks=["unsorted"]).attacks
    assert (attack.examined, attack.exposed, attack.beyond) == (40, 40, 40)
    assert attack.risk is not None
    assert isclose(attack.risk, 1.0)


def test_a_shuffled_release_and_our_own_expose_nobody(database: Database) -> None:
    spec = ordered(database, shuffled=True)
    assert audit(database.engine, spec, attacks=["unsorted"]).passed
    database.connection.execute("DROP TABLE released")
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert audit(database.engine, spec).passed


def test_few_rows_show_no_order() -> None:
    assert not correlated(1.0, 7)
    assert correlated(1.0, 8)
    assert not correlated(0.5, 50)
    assert correlated(0.7, 50)


# --- Degenerate tables --------------------------------------------------------------------------


def small_spec(**changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": {"q": None}, "sensitive": ["d"],
            "privacy": [{"k_anonymity": 2}], **changes,
        }
    )  # fmt: skip


def test_nobody_is_exposed_in_an_empty_table(database: Database) -> None:
    for name in ("s", "r", "e"):
        database.table(name, ["q", "d"], [])
    result = audit(
        database.engine, small_spec(), external="e", earlier=["e"], hierarchies={"d": {"tree": {"x": ["flu"]}}}
    )
    assert result.passed
    assert {attack.examined for attack in result.attacks} == {0}
    assert {attack.risk for attack in result.attacks} == {None}
    assert any("nobody" in note for note in result.notes)


def test_a_class_of_nulls_discloses_nothing_and_null_protects_nobody(database: Database) -> None:
    database.table("s", ["q", "d"], [("a", None)] * 3 + [("b", "flu"), ("b", None), (None, "flu"), (None, "x")])
    database.table("r", ["q", "d"], database.rows("s"))
    (attack,) = audit(database.engine, small_spec(), attacks=["homogeneity"]).attacks
    assert (attack.examined, attack.exposed, attack.beyond) == (7, 2, 2)


def test_the_most_frequent_others_are_ruled_out(database: Database) -> None:
    """Counts 5, 3 and 1: without the 3 the most frequent value is 5 of 6."""
    database.table("s", ["q", "d"], [("a", "x")] * 5 + [("a", "y")] * 3 + [("a", "z")] + [("a", None)] * 9)
    database.table("r", ["q", "d"], database.rows("s"))
    (attack,) = audit(database.engine, small_spec(), attacks=["background"]).attacks
    assert (attack.exposed, attack.risk) == (0, 5 / 6)


def test_a_null_matches_null_and_the_top_alone(database: Database) -> None:
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [(None, "x"), ("a", "x"), ("*", "x"), ("*", "y")])
    database.table("e", ["q"], [(None,)])
    forward, _ = audit(
        database.engine, small_spec(privacy=[{"k_anonymity": 4}]), external="e", attacks=["linking"]
    ).attacks
    assert (forward.exposed, forward.risk) == (1, 1 / 3)


def test_tables_that_share_no_form_are_not_called_safe(database: Database) -> None:
    """Nothing matches, since one side writes Roman numbers: that protects nobody."""
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [("1", "x"), ("2", "x")])
    database.table("e", ["q"], [("I",), ("II",)])
    result = audit(database.engine, small_spec(), external="e")
    assert not {"linking", "linking, reversed"} & {attack.name for attack in result.attacks}
    for name in ("linking", "linking, reversed"):
        assert result.left_out[name].startswith("nothing of e matches a row")
    with pytest.raises(UnsupportedError, match="attack linking: nothing of e matches a row"):
        audit(database.engine, small_spec(), external="e", attacks=["linking"])
    for table, rows in (("e", []), ("r", [])):  # nobody to match is another matter
        database.connection.execute(f"DELETE FROM {table}")
        forward, _ = audit(database.engine, small_spec(), external="e", attacks=["linking"]).attacks
        assert (forward.examined, forward.exposed) == (len(rows), 0)


def test_releases_that_share_no_form_are_not_called_safe(database: Database) -> None:
    """Every value is out already, but written in capitals: nobody is found in both releases."""
    database.table("s", ["q", "d"], [("a", "x"), ("b", "y")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "y")])
    database.table("old", ["q", "d"], [("a", "X"), ("b", "Y")])
    result = audit(database.engine, small_spec(), earlier=["old"])
    for name in ("complementary", "composition"):
        assert name not in {attack.name for attack in result.attacks}
        assert result.left_out[name].startswith("nobody of the source is in r and another release")
        with pytest.raises(UnsupportedError, match=f"attack {name}: nobody of the source"):
            audit(database.engine, small_spec(), earlier=["old"], attacks=[name])
    for table in ("old", "r"):  # nobody to be found is another matter
        database.connection.execute(f"DELETE FROM {table}")
        for attack in audit(database.engine, small_spec(), earlier=["old"], attacks=["complementary"]).attacks:
            assert (attack.examined, attack.exposed) == (0, 0)


NUMBERS = ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(9, 1)", "VARCHAR")


@pytest.mark.parametrize("theirs", NUMBERS)
@pytest.mark.parametrize("ours", NUMBERS)
def test_a_number_is_one_whatever_its_type(database: Database, ours: str, theirs: str) -> None:
    """2 is 2.0 and 2.00, in a kept column as in a label of level 0: who has both tables links them. NULL is NULL."""
    rows = [(2, "x", 5), (2, "x", 6), (3, "x", 7), (None, "x", None)]
    database.table("s", {"q": ours, "d": "VARCHAR", "n": ours}, rows)
    database.table("kept", {"q": ours, "d": "VARCHAR", "n": ours}, rows)
    database.table("r", {"q": "VARCHAR", "d": "VARCHAR", "n": ours}, database.rows("kept"))
    database.table("e", {"q": theirs, "n": theirs}, [(2, 5), (3, 7), (3, 8), (None, None)])
    database.table("old", {"q": "VARCHAR", "d": "VARCHAR", "n": theirs}, [("*", "x", n) for n in (5, 6, 7, None)])
    spec = small_spec(quasi_identifiers={"q": {}}, keep=["n"], privacy=[{"k_anonymity": 2}])
    for on, exposed in (("n", 3), ("q", 3)):
        forward, _ = audit(database.engine, spec, external="e", on=[on], attacks=["linking"]).attacks
        assert (forward.examined, forward.exposed, forward.risk) == (4, exposed, 1.0), on
        assert f"{exposed if on == 'n' else 4} of 4 match anything" in forward.notes
    if ours != "DOUBLE":  # whose text in DuckDB, 2.0, is not how it is released
        (attack,) = audit(database.engine, spec, earlier=["old"], attacks=["complementary"]).attacks
        assert (attack.examined, attack.exposed, attack.risk) == (4, 2, 1.0)


def test_a_day_is_the_midnight_that_it_begins_with(database: Database) -> None:
    days = [("2020-01-01",), ("2020-01-02",), (None,)]
    database.table("s", {"q": "DATE", "d": "VARCHAR", "other": "VARCHAR"}, [])
    for ours in ("DATE", "TIMESTAMP"):
        for theirs in ("DATE", "TIMESTAMP"):
            database.table("r", {"q": ours, "d": "VARCHAR"}, [(*day, "x") for day in days])
            database.table("e", {"q": theirs}, days)
            for quasi in ({"q": {"dates": ["month"]}}, {"other": {}}):
                spec = small_spec(quasi_identifiers=quasi)
                database.connection.execute("ALTER TABLE r ADD COLUMN IF NOT EXISTS other VARCHAR")
                forward, _ = audit(database.engine, spec, external="e", on=["q"], attacks=["linking"]).attacks
                assert (forward.exposed, forward.risk) == (3, 1.0), (ours, theirs, quasi)


def test_a_column_that_differs_in_case_is_not_left_out(database: Database) -> None:
    """Joined without it, the earlier release looks harmless, and it shows everybody's own value."""
    database.table("s", ["q", "d"], [("a", "x"), ("b", "x")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "x")])
    database.table("old", ["Q", "d"], database.rows("s"))
    database.table("view", ["q", "D"], database.rows("s"))
    for options in ({"earlier": ["old"]}, {"external": "old"}, {"other_views": ["view"]}):
        with pytest.raises(SpecError, match=r"'[QD]' would not be joined with '[qd]', whose name differs in case"):
            audit(database.engine, small_spec(), **options)
    assert audit(database.engine, small_spec(), external="old", on=["d"], attacks=["linking"]).passed


def test_masked_rows_match_everybody(database: Database) -> None:
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [("a", "x"), ("*", "x")])
    database.table("e", {"q": "VARCHAR", "n": "INTEGER"}, [("a", 1), ("b", 2)])
    forward, backward = audit(database.engine, small_spec(), external="e", attacks=["linking"]).attacks
    assert (forward.examined, forward.exposed, forward.risk) == (2, 1, 1.0)
    assert (backward.examined, backward.exposed, backward.estimate) == (2, 1, True)


def test_masked_rows_are_joined_whatever_the_top_is_called(database: Database) -> None:
    """A mask is an asterisk; whose values stand beside it in another release is exposed all the same."""
    rows = [("a", "x"), ("a", "y"), ("c", "z"), ("d", "w")]
    database.table("s", ["q", "d"], rows)
    database.table("old", ["q", "d"], rows)
    for top in ("*", "anybody"):
        spec = small_spec(
            quasi_identifiers={"q": {"tree": {top: {"low": ["a", "b"], "high": ["c", "d"]}}, "maximum_level": 0}},
            suppression={"limit": 0.5, "style": "mask"},
        )
        database.connection.execute("DROP TABLE IF EXISTS r")
        assert kanon_sql.anonymize(database.engine, spec).passed
        assert sorted(database.rows("r")) == [("*", "w"), ("*", "z"), ("a", "x"), ("a", "y")]
        found = by_name(audit(database.engine, spec, earlier=["old"]))
        for name in ("complementary with old", "composition of d"):
            assert (found[name].examined, found[name].exposed, found[name].risk) == (4, 2, 1.0), (top, name)
        assert found["consistency, global (1,k)"].risk == 1 / 2, top
        assert audit(database.engine, spec, external="old", on=["q"], attacks=["linking"]).attacks[0].risk == 1 / 2


def test_an_asterisk_that_is_a_group_is_no_mask(database: Database) -> None:
    database.table("s", ["q", "d"], [("a", "x"), ("b", "x"), ("c", "x")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "x"), ("c", "x")])
    database.table("h", ["l0", "l1", "l2"], [("a", "*", "all"), ("b", "*", "all"), ("c", "c", "all")])
    spec = small_spec(quasi_identifiers={"q": {"table": "h"}})
    forward, backward = audit(database.engine, spec, external="s", attacks=["linking"]).attacks
    assert (forward.exposed, backward.exposed) == (1, 1)


def test_a_label_of_two_levels_is_taken_at_that_of_the_others(database: Database) -> None:
    """In a release of cities, New York is not the state: who lives in Buffalo is behind one row."""
    cities = ["New York", "New York", "New York", "Buffalo", "LA", "LA"]
    database.table("s", ["q", "d"], [(city, "x") for city in cities])
    tree = {"US": {"New York": ["New York", "Buffalo"], "CA": ["LA", "Fresno"]}}
    spec = small_spec(quasi_identifiers={"q": {"tree": tree}})
    names = ("linking with s", "complementary with old", "consistency (1,k)", "consistency, global (1,k)")
    states = ["New York"] * 4 + ["CA"] * 2
    for labels, exposed, matched in (
        (cities, 1, 1), (states, 0, 0), (["US"] * 6, 0, 0), ([*cities[:4], "US", "US"], 0, 1),
        ([*cities[:4], "CA", "CA"], 0, 1),  # of no one level: New York may be the state
    ):  # fmt: skip
        for table in ("r", "old"):
            database.table(table, ["q", "d"], [(label, "x") for label in labels])
        found = by_name(audit(database.engine, spec, external="s", earlier=["old"]))
        assert [found[name].exposed for name in names] == [exposed] * 3 + [matched], labels


def test_where_labels_may_be_of_two_levels_the_worse_counts(database: Database) -> None:
    """3 is an age and the thirties: the girl of 3 is alone in her row, though no woman is in her thirties."""
    ages = [(3, "f")] + [(3, "m"), (4, "f"), (4, "m")] * 3
    database.table("s", {"q": "INTEGER", "sex": "VARCHAR", "d": "VARCHAR"},
                   [(*row, "x") for row in [*ages, *[(34, "m"), (45, "m"), (45, "f")] * 3]])  # fmt: skip
    for table in ("r", "old"):
        database.table(table, ["q", "sex", "d"], [(str(age), sex, "x") for age, sex in ages])
    decades = {"sql": ["CAST(CAST(FLOOR(x / 10) AS INTEGER) AS VARCHAR)"]}
    spec = small_spec(quasi_identifiers={"q": decades, "sex": None})
    names = ("linking with s", "complementary with old", "consistency (1,k)", "consistency, global (1,k)")

    def attacked(attacks: Sequence[str], **options: Any) -> AuditResult:
        return audit(database.engine, spec, attacks=attacks, **options)

    for attack, options in (
        ("linking", {"external": "s", "on": ["q", "sex"]}),
        ("complementary", {"earlier": ["old"]}),
        ("consistency", {}),
    ):  # fmt: skip
        result = attacked([attack], reveal=9, **options)
        found = by_name(result)
        for name in {*names} & {*found}:
            assert (found[name].exposed, found[name].beyond, found[name].risk) == (1, 1, 1.0), name
            assert list(found[name].revealed or ()) == [{"values": {"q": "3", "sex": "f"}, "people": 1}]
            assert any("several levels" in note for note in found[name].notes)
        assert not result.passed
    # In a release of decades, it is them that count, though 3 and 4 are ages too.
    decade = [(str(age // 10), sex, "x") for age, sex in [(34, "f"), *[(34, "m"), (45, "m"), (45, "f")] * 3]]
    database.table("r", ["q", "sex", "d"], decade)
    database.connection.execute("INSERT INTO s VALUES (34, 'f', 'x')")
    found = by_name(attacked(["linking"], external="s", on=["q", "sex"]))
    assert found["linking with s"].exposed == 1


def test_levels_that_say_the_same_are_read_once(database: Database) -> None:
    database.table("s", ["q", "d"], [(value, "x") for value in "aabbc"])
    database.table("h", ["l0", "l1", "l2", "l3"], [(v, g, g, "all") for v, g in (("a", "ab"), ("b", "ab"), ("c", "c"))])
    database.table("r", ["q", "d"], [("ab", "x")] * 4 + [("c", "x"), ("all", "x")])
    spec = small_spec(quasi_identifiers={"q": {"table": "h"}})
    result = audit(database.engine, spec, external="s", attacks=["linking"])
    assert not any("several levels" in note for attack in result.attacks for note in attack.notes)


def test_columns_need_not_agree_on_types(database: Database) -> None:
    database.table("s", {"q": "INTEGER", "d": "VARCHAR"}, [(7, "x")])
    database.table("r", {"q": "VARCHAR", "d": "VARCHAR", "n": "INTEGER"}, [("7", "x", 5), ("8", "y", 6)])
    database.table("e", {"q": "BIGINT", "n": "VARCHAR"}, [(7, "5"), (8, "5")])
    forward, _ = audit(database.engine, small_spec(), external="e", attacks=["linking"]).attacks
    assert (forward.examined, forward.exposed) == (2, 1)


def test_labels_that_are_no_numbers_are_not_shortened(database: Database) -> None:
    """1.50 is 1.5, but 1.5-100 is not 1.5-10: two rows of each do not make four."""
    for kind in ("INTEGER", "DECIMAL(8, 2)", "DOUBLE"):
        database.table("s", {"q": kind, "d": "VARCHAR"}, [(4, "x"), (50, "x"), (50, "x")])
        digits = ".00" if "DECIMAL" in kind else ""
        database.table("h", ["l0", "l1"], [(f"4{digits}", "1.5-10"), (f"50{digits}", "1.5-100")])
        database.table("r", ["q", "d"], [("1.5-10", "x"), ("1.5-100", "x"), ("1.5-100", "x")])
        spec = small_spec(quasi_identifiers={"q": {"table": "h"}})
        result = audit(database.engine, spec, external="s", earlier=["r"])
        found = by_name(result)
        for name in ("linking with s", "complementary with r", "consistency (1,k)"):
            assert (found[name].exposed, found[name].risk) == (1, 1.0), (name, kind)


@pytest.mark.parametrize(
    ("original", "released"),
    [
        ("DECIMAL(6, 2)", "INTEGER"), ("INTEGER", "DECIMAL(6, 2)"), ("DOUBLE", "DECIMAL(6, 2)"),
        ("DECIMAL(6, 2)", "VARCHAR"), ("DATE", "TIMESTAMP"), ("TIMESTAMP", "DATE"),
    ],
)  # fmt: skip
def test_every_attack_reads_labels_whatever_their_type(database: Database, original: str, released: str) -> None:
    """34 is 34.00, and a day is its midnight: other programs and databases give columns types of their own."""
    one, other = ("2000-01-01", "2000-01-02") if "DATE" in (original, released) else ("34", "35")
    rows = [(value, letter) for value in (one, other) for letter in "abcdefgh"]
    database.table("s", {"q": original, "d": "VARCHAR"}, [*rows, (other, "i"), (one, "j")])
    for table in ("r", "old"):
        database.table(table, {"q": released, "d": "VARCHAR"}, [*rows, (other, "i"), (one, "j")])
    spec = small_spec(privacy=[{"k_anonymity": 10}, {"l_diversity": {"attribute": "d", "l": 2}}],
                      suppression={"limit": 0})  # fmt: skip
    attacks = ["linking", "complementary", "composition", "unsorted", "consistency", "definetti", "minimality"]
    found = by_name(audit(database.engine, spec, external="s", earlier=["old"], attacks=attacks))
    names = ["linking with s", "consistency (1,k)", "consistency (k,1)", "consistency, global (1,k)"]
    assert {found[name].exposed for name in names} == {18}
    assert {found[name].examined for name in [*names, "composition of d", "definetti of d", "minimality of d"]} == {18}
    assert found["complementary with old"].exposed == 18
    assert (found["unsorted"].exposed, found["unsorted"].risk) == (18, 1.0), "the order is the source's"


# --- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": ["q"]}, "need the external table"),
        ({"external": "e", "on": ["z"]}, "no column 'z'"),
        ({"external": "nothing"}, "nothing"),
        ({"external": "apart"}, "no column in common"),
        ({"negations": 0}, "at least 1"),
        ({"attacks": ["linkin"]}, "did you mean 'linking'"),
        ({"attacks": ["linking"]}, "needs an external table"),
        ({"attacks": ["homogeneity"], "external": "e"}, "only for the attack linking"),
        ({"attacks": ["homogeneity"], "earlier": ["e"]}, "only for the attack complementary or composition"),
        ({"attacks": ["homogeneity"], "negations": 2}, "only for the attack background"),
        ({"attacks": ["composition"]}, "needs an earlier release"),
        ({"hierarchies": {"q": {"prefix": [1]}}}, "not listed under sensitive"),
        ({"hierarchies": {"d": {"prefixes": [1]}}}, "did you mean 'prefix'"),
        ({"count_rows": True}, "names no unit"),
        ({"table": "apart"}, "no column 'q'"),
        ({"earlier": ["strange"]}, "other hierarchies"),
        ({"reveal": -1}, "at least 0"),
    ],
)
def test_what_cannot_apply_is_refused(database: Database, options: dict[str, Any], message: str) -> None:
    database.table("s", ["q", "d"], [("a", "x")])
    database.table("r", ["q", "d"], [("a", "x")])
    database.table("e", ["q"], [("a",)])
    database.table("apart", ["other"], [("a",)])
    database.table("strange", ["q", "d"], [("another label", "x")])
    with pytest.raises(kanon_sql.KanonError, match=message):
        audit(database.engine, small_spec(), **options)


def test_a_source_that_is_not_there_is_said_to(database: Database) -> None:
    database.table("r", ["q", "d"], [])
    with pytest.raises(DatabaseError, match="there is no table or view 's'"):
        audit(database.engine, small_spec())


def test_nothing_to_attack_with_is_no_pass(database: Database) -> None:
    database.table("r", ["q"], [("a",)])
    database.table("s", ["q"], [("b",)])
    with pytest.raises(SpecError, match=r"nothing to attack .*consistency: 1 rows of r are consistent with no record"):
        audit(database.engine, small_spec(sensitive=[]))


def test_persons_are_counted_as_rows_only_if_the_user_says_so(database: Database) -> None:
    database.table("s", ["q", "d", "person"], [("a", "x", "p")] * 2)
    database.table("r", ["q", "d"], [("a", "x")] * 2)
    spec = small_spec(unit="person")
    with pytest.raises(SpecError, match="--rows"):
        audit(database.engine, spec)
    result = audit(database.engine, spec, count_rows=True)
    assert any("upper bound" in note for note in result.notes)


# --- Nothing is written, and nothing is told ------------------------------------------------------

SECRET = "Qwyjibo"


@pytest.fixture
def secretive(database: Database) -> Spec:
    rows = [("a", "flu"), ("a", "cold"), (SECRET, SECRET)]
    for name in ("s", "r", "e", "old"):
        database.table(name, ["q", "d"], rows)
    return small_spec()


def test_values_are_told_only_on_request(database: Database, secretive: Spec) -> None:
    before = database.tables()
    options: dict[str, Any] = {"external": "e", "earlier": ["old"]}
    result = audit(database.engine, secretive, **options)
    assert not result.passed
    assert SECRET not in json.dumps(result.to_dict()) + result.message + "".join(result.sql)
    assert not any("CREATE" in sql or "INSERT" in sql for sql in result.sql)
    assert database.tables() == before
    assert result.cost.rows_fetched < 60
    shown = audit(database.engine, secretive, reveal=2, **options)
    jsonschema.Draft202012Validator(audit_schema()).validate(shown.to_dict())
    assert SECRET in json.dumps(shown.to_dict())
    assert SECRET not in "".join(shown.sql)
    assert all(len(attack.revealed or ()) <= 2 for attack in shown.attacks)


def test_the_command_line_tells_no_value_unless_asked(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        for name in ("s", "r", "e"):
            connection.execute(f"CREATE TABLE {name} AS SELECT '{SECRET}' AS q, '{SECRET}' AS d")
    (tmp_path / "spec.yml").write_text(
        "version: 1\nsource: s\nrelease: r\nquasi_identifiers: {q: }\nsensitive: [d]\nprivacy: [{k_anonymity: 2}]\n"
    )
    (tmp_path / "d.csv").write_text(f"{SECRET};group;*\nother;other;*\n")
    command = ["audit", "spec.yml", "-d", "clinic.duckdb", "--external", "e", "--hierarchy", "d=d.csv"]
    hidden = CliRunner().invoke(app, [*command, "--earlier", "e"])
    assert hidden.exit_code == 1, hidden.output
    assert SECRET not in hidden.output
    for word in ("FAIL", "linking with e", "(estimate)", "homogeneity of d", "similarity of d", "complementary with e"):
        assert word in hidden.stdout
    shown = CliRunner().invoke(app, [*command, "--reveal", "1"])
    assert SECRET in shown.stdout
    assert "warning" in shown.stderr
    data = json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).stdout)
    jsonschema.Draft202012Validator(audit_schema()).validate(data)
    assert SECRET not in json.dumps(data)
    refused = CliRunner().invoke(app, [*command, "--hierarchy", "d"])
    assert refused.exit_code == 2


def test_the_schema_names_every_attack_and_key(database: Database, secretive: Spec) -> None:
    schema = audit_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    data = audit(database.engine, secretive, reveal=1).to_dict()
    assert set(data) == set(schema["properties"]) == set(schema["required"])
    keys = schema["$defs"]["attack"]["properties"]
    assert set(keys["name"]["enum"]) == NAMES
    assert set(data["attacks"][0]) == set(keys)
    printed = CliRunner().invoke(app, ["schema", "--audit"])
    assert json.loads(printed.stdout) == schema
    assert CliRunner().invoke(app, ["schema", "--audit", "--result"]).exit_code == 2


# --- Every engine -------------------------------------------------------------------------------

CLINIC: dict[str, Any] = {
    "version": 1,
    "source": "audited_visits",
    "release": "audited",
    "quasi_identifiers": {
        "age": {"intervals": [10, 20], "top": 60},
        "zip": {"prefix": [3]},
        "sex": {"tree": {"any": ["M", "F", "m"]}},
    },
    "sensitive": ["illness"],
    "keep": ["charge"],
    "privacy": [
        {"k_anonymity": 3},
        {"l_diversity": {"attribute": "illness", "l": 3}},
        {"t_closeness": {"attribute": "illness", "t": 0.3}},
    ],
}


def clinic() -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Visits, two releases of them at different levels, and a list of people."""
    draw = random.Random(5)
    visits: list[tuple[Any, ...]] = [
        (
            draw.choice([*range(-3, 75, 4), None]), draw.choice(["94130", "94131", "9423", None]),
            draw.choice(["M", "F", "m"]), draw.choice(["flu", "Flu", "ulcer", None]), draw.randint(1, 9),
        )
        for _ in range(80)
    ]  # fmt: skip

    def interval(age: int | None, width: int) -> str | None:
        if age is None:
            return None
        return ">= 60" if age >= 60 else f"[{age // width * width}, {age // width * width + width})"

    def area(zip_code: str | None) -> str | None:
        return None if zip_code is None else zip_code[:3] + "*" * (len(zip_code) - 3)

    first = [(interval(age, 10), "*", "any", illness, charge) for age, _, _, illness, charge in visits]
    second = [(interval(age, 20), area(code), sex, illness, charge) for age, code, sex, illness, charge in visits[:70]]
    people = [(age, code, charge) for age, code, _, _, charge in visits[::3]] + [(30, "94130", 5), (99, "x", 1)]
    return visits, first, second, people


QUICK = ("duckdb", "sqlite")  # what the others can do differently, conformance asks of them by default


def engine_marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xdist_group(name), *([] if name in QUICK else [pytest.mark.slow])]


@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS])
def test_every_engine_finds_the_same(name: str, database: Database) -> None:
    if name == "spark":
        pytest.skip("it takes Spark minutes; the statements are rendered for it in the golden files")
    visits, first, second, people = clinic()
    texts = dict.fromkeys(("age", "zip", "sex", "illness"), "text")
    tables: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
        "audited_visits": ({**texts, "age": "integer", "charge": "integer"}, visits),
        "audited": ({**texts, "charge": "integer"}, second),
        "audited_areas": ({"zip": "text", "illness": "text"}, [(code, illness) for _, code, _, illness, _ in second]),
        "audited_before": ({**texts, "charge": "integer"}, first),
        "audited_people": ({"age": "decimal", "zip": "text", "charge": "decimal"}, people),  # 5 is 5.00
    }
    spec = Spec.from_dict(CLINIC)
    options: dict[str, Any] = {
        "external": "audited_people", "earlier": ["audited_before"], "other_views": ["audited_areas"],
        "negations": 2, "reveal": 2,
        "hierarchies": {"illness": {"tree": {"Infection": ["flu", "Flu"], "Stomach": ["ulcer"]}}},
    }  # fmt: skip
    kinds = {"text": "VARCHAR", "integer": "INTEGER", "decimal": "DECIMAL(12, 2)"}
    for table, (columns, rows) in tables.items():
        database.table(table, {column: kinds[kind] for column, kind in columns.items()}, rows)
    expected = audit(database.engine, spec, **options)
    assert {attack.name for attack in expected.attacks} == NAMES - {*ON_REQUEST}
    assert sum(attack.exposed > 0 for attack in expected.attacks) >= 5, "the tables must have something to find"
    with subject_of(name) as subject:
        for table, (columns, rows) in tables.items():
            subject.table(table, columns, rows)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            found = audit(engine, spec, **options)
        finally:
            engine.close()
    if "unsorted" in found.left_out:
        assert "physical row identifier" in found.left_out["unsorted"]
    assert found.verdict == expected.verdict
    seen = [attack for attack in expected.attacks if attack.name not in found.left_out]
    for ours, theirs in zip(found.attacks, seen, strict=True):
        assert (ours.label, ours.examined, ours.exposed, ours.beyond) == (
            theirs.label, theirs.examined, theirs.exposed, theirs.beyond,
        )  # fmt: skip
        assert ours.risk is not None
        assert theirs.risk is not None
        assert isclose(ours.risk, theirs.risk, abs_tol=1e-9)
        assert len(ours.revealed or ()) == len(theirs.revealed or ())
    assert ("unsorted" in found.left_out) == (name not in ("duckdb", "postgres", "sqlite"))
    assert not any("CREATE" in sql for sql in found.sql)


def test_an_order_that_cannot_be_seen_is_refused_by_name(database: Database) -> None:
    database.table("s", ["q", "d"], [("a", "x")])
    database.table("r", ["q", "d"], [("a", "x")])
    spec = small_spec(source={"query": "SELECT * FROM s"})
    with pytest.raises(UnsupportedError, match="query or a file"):
        audit(database.engine, spec, attacks=["unsorted"])


@pytest.mark.parametrize("without", ["s", "r"])
def test_a_table_without_row_numbers_is_attacked_otherwise(tmp_path: Any, without: str) -> None:
    path = tmp_path / "clinic.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in ("s", "r"):
            option = " WITHOUT ROWID" if name == without else ""
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, q TEXT, d TEXT){option}")
            connection.execute(f"INSERT INTO {name} VALUES (1, 'a', 'x'), (2, 'a', 'y')")
    with closing(kanon_sql.connect(f"sqlite:///{path}")) as engine:
        result = audit(engine, small_spec())
    assert "no physical identifier" in result.left_out["unsorted"]
    assert "consistency (1,k)" in {attack.name for attack in result.attacks}


def test_of_several_readings_one_that_is_too_large_for_a_part_counts_for_the_others() -> None:
    """The labels may be of the level whose graph was too large: what was found there is not to be lost."""

    def attack(name: str, exposed: int) -> Attack:
        return Attack(name, None, 9, exposed, exposed, 0.5, "")

    exposing, safe, everything = attack("(1,k)", 3), attack("(1,k)", 0), attack("global", 0)
    large = Unmeasured("global", "too many edges", too_large=True)
    assert worst_of([[exposing, large], [safe, everything]]) == [exposing, large, everything]
    assert worst_of([[exposing, Unmeasured("global", "no assignment")], [safe, everything]]) == [safe, everything]
    assert worst_of([[safe], [exposing]]) == [exposing]
