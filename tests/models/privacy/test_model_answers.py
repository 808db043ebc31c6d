"""The privacy models by hand: the papers' examples, degenerate cases, monotonicity, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.models.privacy import Monotonicity, model_of
from kanon_sql.report.json import to_json
from tests.conftest import Database
from tests.oracles.model import Requirement, hierarchical_distance, judge, ordered_distance, tree_paths
from tests.support.pitfalls import classes, spec_of
from tests.support.specs import QUIET
from tests.support.strategies import examples

DISEASES = {
    "respiratory and digestive diseases": {
        "respiratory diseases": {
            "respiratory infection": ["flu", "pneumonia", "bronchitis"],
            "vascular lung diseases": ["pulmonary edema", "pulmonary embolism"],
        },
        "digestive system diseases": {
            "stomach diseases": ["gastric ulcer", "gastritis", "stomach cancer"],
            "colon diseases": ["colitis", "colon cancer"],
        },
    }
}
"""Li, Li, Venkatasubramanian 2007, figure 1: leaves below three levels of groups."""

SALARIES = [range(3, 6), (6, 11, 8), (7, 9, 10)]
"""The same paper, table 3: salaries in thousands, three classes of three."""


def of(model: str, **parameters: Any) -> Requirement:
    return {model: {"attribute": "s", **parameters}}


def npd(c: float, l: int, **more: Any) -> Requirement:  # noqa: E741
    return of("l_diversity", variant="npd_recursive", c=c, l=l, **more)


def check(database: Database, *privacy: Requirement, **more: Any) -> kanon_sql.results.Check:
    spec = spec_of(["q"], list(privacy), sensitive=["s"], warnings=QUIET)
    return kanon_sql.check(database.engine, spec, "people", **more)


def reached(database: Database, requirement: Requirement, name: str) -> Any:
    (values,) = check(database, requirement).achieved.values()
    return values[name]


# --- t-closeness by ranks and by hierarchy --------------------------------------------------------------


@pytest.mark.parametrize(("members", "distance"), [((3, 4, 5), 3 / 8), ((6, 8, 11), 1 / 6)])
def test_salaries_of_the_paper(database: Database, members: Sequence[int], distance: float) -> None:
    """{3k, 4k, 5k} is at 0.375 and {6k, 8k, 11k} at 0.167 of {3k, ..., 11k}."""
    database.table("everybody", {"s": "INTEGER"}, [(salary,) for salary in range(3, 12)])
    database.table("people", {"q": "VARCHAR", "s": "INTEGER"}, [("a", salary) for salary in members])
    spec = spec_of(["q"], [of("t_closeness", t=0.2, distance="ordered")], sensitive=["s"], source="everybody")
    result = kanon_sql.check(database.engine, spec, "people")
    assert result.achieved["ordered_t_closeness(s)"]["t"] == pytest.approx(distance, abs=1e-12)
    assert result.passed is (distance < 0.2)


def test_spans_that_end_between_the_points_of_the_reference(database: Database) -> None:
    """Halves and fifths against thirds, such as (|1/2 - 1/3| + |1/2 - 2/3|) / 2."""
    database.table("everybody", {"s": "INTEGER"}, [(1,), (2,), (3,)])
    spec = spec_of(["q"], [of("t_closeness", t=0.2, distance="ordered")], sensitive=["s"], source="everybody")
    for members, distance in (((1, 3), 1 / 6), ((1, 2), 1 / 4), ((2, 3), 1 / 4), ((1, 1, 2, 2, 3), 1 / 10)):
        database.table("people", {"q": "VARCHAR", "s": "INTEGER"}, [("a", salary) for salary in members])
        (values,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
        assert values["t"] == pytest.approx(distance, abs=1e-12), members


def test_salaries_as_one_table(database: Database) -> None:
    rows = [(f"class {number}", salary) for number, salaries in enumerate(SALARIES) for salary in salaries]
    database.table("people", {"q": "VARCHAR", "s": "INTEGER"}, rows)
    result = check(database, of("t_closeness", t=0.3, distance="ordered"))
    assert result.achieved["ordered_t_closeness(s)"]["t"] == pytest.approx(0.375)
    assert result.achieved["ordered_t_closeness(s)"]["violating_classes"] == 1


@pytest.mark.slow
def test_salaries_beside_another_attribute(database: Database) -> None:
    """As one table again, 0.375 from it: each class is placed by its own shares, whatever else is counted with it."""
    paid = [(f"class {number}", salary) for number, salaries in enumerate(SALARIES) for salary in salaries]
    rows = [(name, salary, "d", person) for person, (name, salary) in enumerate(paid)]
    database.table("people", {"q": "VARCHAR", "s": "INTEGER", "other": "VARCHAR", "person": "INTEGER"}, rows)
    beside = {"p_sensitive_k_anonymity": {"attribute": "other", "p": 1, "k": 1}}
    for t, level in ((0.37, 1), (0.38, 0)):
        for privacy, more in (
            ([of("t_closeness", t=t, distance="ordered")], {"sensitive": ["s"]}),
            ([of("t_closeness", t=t, distance="ordered")], {"sensitive": ["s"], "unit": "person"}),
            ([of("t_closeness", t=t, distance="ordered"), beside], {"sensitive": ["s", "other"]}),
        ):
            spec = spec_of(["q"], privacy, **more)
            result = kanon_sql.check(database.engine, spec, "people")
            assert result.achieved["ordered_t_closeness(s)"]["t"] == pytest.approx(0.375)
            assert result.achieved["ordered_t_closeness(s)"]["violating_classes"] == level
            assert kanon_sql.plan(database.engine, spec).node == {"q": level}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("distance", [
    {"distance": "equal"}, {"distance": "ordered"},
    {"distance": "hierarchical", "hierarchy": {"tree": {"low": {"1": {}, "2": {}}, "high": {"3": {}}}}},
])  # fmt: skip
def test_a_class_that_holds_nobody_is_close_to_nothing(database: Database, distance: dict[str, Any]) -> None:
    """Rows of no person have no distribution, which is within no t; that of one person may be the whole one."""
    columns = {"q": "VARCHAR", "s": "INTEGER", "person": "VARCHAR"}
    spec = spec_of(["q"], [of("t_closeness", t=1, **distance)], sensitive=["s"], unit="person")
    database.table("people", columns, [("a", 1, "Ada"), ("a", 2, "Bo"), ("b", 1, None), ("b", 2, None)])
    (found,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
    assert (found["t"], found["violating_classes"], found["violating_rows"]) == (None, 1, 2)
    database.table("people", columns, [("a", 1, "Ada")])
    spec = spec_of(["q"], [of("t_closeness", t=0, **distance)], sensitive=["s"], unit="person")
    (found,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
    assert (found["t"], found["violating_classes"]) == (0, 0)


def test_diseases_meet_where_the_paper_says() -> None:
    """d(flu, bronchitis) = 1/3, d(flu, pulmonary embolism) = 2/3, d(flu, stomach cancer) = 1."""
    assert {len(path) for path in tree_paths(DISEASES).values()} == {4}
    for other, distance in (
        ("bronchitis", Fraction(1, 3)),
        ("pulmonary embolism", Fraction(2, 3)),
        ("stomach cancer", 1),
    ):
        everything = Counter(flu=1) + Counter([other])
        assert 2 * hierarchical_distance({"flu": 1}, everything, DISEASES) == distance


@pytest.mark.parametrize(
    ("other", "distance"), [("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1)]
)
def test_diseases_by_hierarchy(database: Database, other: str, distance: float) -> None:
    classes(database, {"flu": 1}, {other: 1})
    close = of("t_closeness", t=0.2, distance="hierarchical", hierarchy={"tree": DISEASES})
    assert reached(database, close, "t") == pytest.approx(distance / 2, abs=1e-12)


counts = st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(any)


def cheapest(p: Sequence[int], q: Sequence[int], cost: Any) -> Fraction:
    """Earth moving by brute force: both as piles of equal grains, every way to match them."""
    total = math.lcm(sum(p), sum(q))
    piles = [[value for value, n in enumerate(side) for _ in range(n * total // sum(side))] for side in (p, q)]
    if total > 6:
        return Fraction(-1)
    ways = (sum(cost(a, b) for a, b in zip(piles[0], way, strict=True)) for way in set(permutations(piles[1])))
    return min(ways, default=Fraction(0)) / total


@given(p=counts, q=st.lists(st.integers(1, 1), min_size=4, max_size=4) | st.just([1, 2, 2, 1]))
@examples(25)
def test_distances_are_those_of_earth_moving(p: list[int], q: list[int]) -> None:
    """The oracle's formulas against the definition."""
    tree = {"x": {"0": {}, "1": {}}, "y": {"2": {}, "3": {}}}

    def in_tree(a: int, b: int) -> Fraction:
        return Fraction(0 if a == b else 1 if a // 2 == b // 2 else 2, 2)

    by_rank = cheapest(p, q, lambda a, b: Fraction(abs(a - b), 3))
    if by_rank < 0:
        return
    assert ordered_distance(dict(enumerate(p)), dict(enumerate(q))) == by_rank
    named = [{str(value): n for value, n in enumerate(side)} for side in (p, q)]
    assert hierarchical_distance(named[0], named[1], tree) == cheapest(p, q, in_tree)


def test_null_is_a_category_of_its_own(database: Database) -> None:
    """It ranks first, and its share alone may be what is too far; in a hierarchy it meets the others at the top."""
    classes(database, {None: 2}, {1: 1, 2: 1}, kind="INTEGER")
    # By ranks NULL is at (1/2 + 1/4) / 2 = 0.375, but its share differs by 0.5.
    assert reached(database, of("t_closeness", t=0.5, distance="ordered"), "t") == pytest.approx(0.5)
    classes(database, {None: 2}, {"flu": 2})
    close = of("t_closeness", t=0.5, distance="hierarchical", hierarchy={"tree": DISEASES})
    assert reached(database, close, "t") == pytest.approx(0.5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("levels", [["*"], ["*", "*"], ["*"] * 4, []])
def test_a_top_that_is_repeated_brings_no_values_together(
    database: Database, tmp_path: Path, levels: list[str]
) -> None:
    """A distance is the level where two values meet over the height; levels above the root are no height."""
    classes(database, {"flu": 2}, {"ulcer": 2})
    database.table(
        "meanings", [f"level {level}" for level in range(len(levels) + 1)], [["flu", *levels], ["ulcer", *levels]]
    )
    file = tmp_path / "meanings.csv"
    file.write_text("".join(f"{';'.join([value, *levels])}\n" for value in ("flu", "ulcer")))
    rules = [{"sql": [f"'{label}'" for label in levels[1:]]}] if levels[1:] else []
    for hierarchy in ({"table": "meanings"}, {"file": str(file)}, *rules):
        result = check(database, of("t_closeness", t=0.3, distance="hierarchical", hierarchy=hierarchy))
        assert not result.passed
        assert result.achieved["hierarchical_t_closeness(s)"]["t"] == pytest.approx(0.5)


@pytest.mark.parametrize("above", [["illness"], ["illness", "*"], ["illness", "any", "All"]])
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_the_height_is_where_one_label_stands_for_all_values(
    database: Database, tmp_path: Path, above: list[str]
) -> None:
    """Whatever it is called: levels above it would divide every distance. Half of the reference has each value."""
    classes(database, {"flu": 2}, {"ulcer": 2})
    tree: Any = ["flu", "ulcer"]
    for label in above:
        tree = {label: tree}
    file = tmp_path / "meanings.csv"
    file.write_text("".join(f"{';'.join([value, *above])}\n" for value in ("flu", "ulcer")))
    database.table("meanings", [f"l{n}" for n in range(len(above) + 1)], [["flu", *above], ["ulcer", *above]])
    for hierarchy in (
        {"tree": tree}, {"file": str(file)}, {"table": "meanings"}, {"sql": [f"'{label}'" for label in above]},
    ):  # fmt: skip
        close = of("t_closeness", t=0.3, distance="hierarchical", hierarchy=hierarchy)
        assert reached(database, close, "t") == pytest.approx(0.5)
        for recoding in ("full_domain", "local", "mondrian"):
            spec = spec_of(["q"], [close], sensitive=["s"], recoding=recoding)
            found = kanon_sql.plan(database.engine, spec)
            assert found.achieved["hierarchical_t_closeness(s)"]["t"] == 0, "both values are in one class"


def test_ordered_needs_an_order_and_a_hierarchy_all_values(database: Database) -> None:
    classes(database, {"flu": 2}, {"unheard-of": 2})
    with pytest.raises(SpecError, match="needs a number, a date or an enumeration"):
        check(database, of("t_closeness", t=0.5, distance="ordered"))
    close = of("t_closeness", t=0.5, distance="hierarchical", hierarchy={"tree": DISEASES})
    for verb in (
        check,
        lambda *given: kanon_sql.plan(database.engine, spec_of(["q"], list(given[1:]), sensitive=["s"])),
    ):
        with pytest.raises(HierarchyError, match="1 distinct value ") as refused:
            verb(database, close)
        assert "unheard-of" not in str(refused.value)


# --- the other models ---------------------------------------------------------------------------------------


def test_the_worst_class_is_what_recursive_diversity_reaches(database: Database) -> None:
    """l = 2: 3 / 1 in one class and 1 / 1 in the other."""
    classes(database, {"flu": 3, "HIV": 1}, {"flu": 1, "HIV": 1})
    recursive = of("l_diversity", variant="recursive", l=2, c=3)
    assert reached(database, recursive, "c_above") == 3
    assert not check(database, recursive).passed
    assert check(database, of("l_diversity", variant="recursive", l=2, c=3.1)).passed


@pytest.mark.slow
def test_npd_recursive_by_hand(database: Database) -> None:
    classes(database, {"flu": 6, "HIV": 2, "cold": 1, "ulcer": 1})
    # Recursive: 6 / (1 + 1). With flu allowed HIV is second: 2 / (1 + 1), since y = 2 <= l - 1 = 2.
    assert reached(database, npd(9, 3, allow_positive=["nothing"]), "c_above") == 3
    assert reached(database, npd(9, 3, allow_positive=["flu"]), "c_above") == 1
    # l = 2: y = 2 > 1, so HIV is compared with all others: 2 / (6 + 1 + 1).
    assert reached(database, npd(9, 2, allow_positive=["flu"]), "c_above") == 0.25
    everything = ["flu", "HIV", "cold", "ulcer"]
    assert reached(database, npd(0.1, 3, allow_positive=everything), "c_above") == 0
    assert reached(database, npd(9, 3, forbid_negative=["HIV"], c2=0.2), "c2") == pytest.approx(0.2)
    assert check(database, npd(9, 3, forbid_negative=["HIV"], c2=0.2)).passed
    assert not check(database, npd(9, 3, forbid_negative=["HIV", "cold"], c2=0.2)).passed
    assert reached(database, npd(9, 3, forbid_negative=["malaria"], c2=0.2), "c2") == 0


def test_alpha_k_by_hand(database: Database) -> None:
    """Half of each class has HIV; flu is not to be protected."""
    classes(database, {"HIV": 1, "flu": 1}, {"HIV": 1, "flu": 3})
    listed = of("alpha_k_anonymity", alpha=0.5, k=2, values=["HIV"])
    assert check(database, listed).passed
    assert check(database, listed).achieved["alpha_k_anonymity(s)"] == {
        "requirement": "(0.5, 2)-anonymity of s", "alpha": 0.5, "k": 2, "violating_classes": 0, "violating_rows": 0,
    }  # fmt: skip
    assert not check(database, of("alpha_k_anonymity", alpha=0.5, k=3, values=["HIV"])).passed
    assert reached(database, of("alpha_k_anonymity", alpha=0.5, k=2), "alpha") == 0.75
    with pytest.raises(SpecError, match="1 of the values to protect") as refused:
        check(database, of("alpha_k_anonymity", alpha=0.5, k=2, values=["hiv"]))
    assert "hiv" not in str(refused.value)


def test_a_value_that_was_suppressed_altogether_is_no_misspelling(database: Database) -> None:
    classes(database, {"HIV": 1}, {"flu": 1, "cold": 1})
    spec = spec_of(
        {"q": {"maximum_level": 0}},
        [of("alpha_k_anonymity", alpha=0.5, k=2, values=["HIV"])],
        sensitive=["s"],
        suppression={"max_rows": 1},
    )
    assert kanon_sql.anonymize(database.engine, spec).rows["suppressed"] == 1
    assert kanon_sql.check(database.engine, spec).passed


def test_p_sensitive_by_hand(database: Database) -> None:
    """Truta and Vinay 2006, section 2: 3-anonymous, but one class has one income only."""
    classes(database, {"50,000": 3}, {"30,000": 1, "40,000": 2})
    result = check(database, of("p_sensitive_k_anonymity", p=2, k=3))
    assert result.achieved["p_sensitive_k_anonymity(s)"] == {
        "requirement": "2-sensitive 3-anonymity of s", "p": 1, "k": 3, "violating_classes": 1, "violating_rows": 3,
    }  # fmt: skip
    assert check(database, of("p_sensitive_k_anonymity", p=1, k=3)).passed


def test_beta_likeness_by_hand(database: Database) -> None:
    """p = 1/4 to q = 1/2 gains 1; p = 3/4 to q = 1 gains 1/3, more than -ln(3/4) = 0.288 allows."""
    classes(database, {"rare": 1, "common": 1}, {"common": 2})
    assert reached(database, of("beta_likeness", beta=1, variant="basic"), "beta") == pytest.approx(1)
    assert check(database, of("beta_likeness", beta=1, variant="basic")).passed
    assert not check(database, of("beta_likeness", beta=0.99, variant="basic")).passed
    assert reached(database, of("beta_likeness", beta=1, variant="enhanced"), "beta") is None
    assert check(database, of("beta_likeness", beta=1)).achieved["enhanced_beta_likeness(s)"]["violating_classes"] == 1


def test_delta_disclosure_by_hand(database: Database) -> None:
    """p = 3/8 to q = 3/4: one bit, and the bound is strict."""
    classes(database, {"a": 3, "b": 1}, {"a": 3, "b": 9})
    assert reached(database, of("delta_disclosure", delta=1), "delta_above") == pytest.approx(math.log2(2.5))
    assert not check(database, of("delta_disclosure", delta=1)).passed
    classes(database, {"a": 1, "b": 1}, {"a": 1, "b": 1})
    assert check(database, of("delta_disclosure", delta=0.001)).passed


def test_the_bound_of_delta_disclosure_is_strict(database: Database) -> None:
    """p = 1/4 to q = 1/2 is one bit exactly; the others are log2 of 3/2, 7/6 and 22/21."""
    classes(database, {"a": 1, "b": 1}, {"a": 3, "b": 11})
    assert reached(database, of("delta_disclosure", delta=1), "delta_above") == pytest.approx(1)
    assert not check(database, of("delta_disclosure", delta=1)).passed
    assert check(database, of("delta_disclosure", delta=1.001)).passed


def test_pitfall_13_delta_disclosure_of_an_absent_value_is_infinite(database: Database) -> None:
    classes(database, {"a": 1, "b": 1}, {"a": 2})
    assert reached(database, of("delta_disclosure", delta=100), "delta_above") is None
    assert not check(database, of("delta_disclosure", delta=100)).passed


@pytest.mark.slow
def test_pitfall_13_constant_column(database: Database) -> None:
    tree = {"tree": {"all": {"7": {}}}}
    for kind, value in (("INTEGER", 7), ("VARCHAR", "7")):
        classes(database, {value: 3}, {value: 5}, kind=kind)
        assert reached(database, of("beta_likeness", beta=1), "beta") == 0
        assert reached(database, of("delta_disclosure", delta=1), "delta_above") == 0
        assert reached(database, of("alpha_k_anonymity", alpha=0.5, k=2), "alpha") == 1
        assert reached(database, of("p_sensitive_k_anonymity", p=1, k=2), "p") == 1
        assert reached(database, npd(9, 2, allow_positive=["8"]), "c_above") is None
        assert reached(database, npd(9, 2, allow_positive=["7"]), "c_above") == 0
        assert reached(database, of("t_closeness", t=0, distance="hierarchical", hierarchy=tree), "t") == 0
        if kind == "INTEGER":
            assert reached(database, of("t_closeness", t=0, distance="ordered"), "t") == 0


def test_pitfall_17_null_is_no_protective_value(database: Database) -> None:
    """Not in (alpha, k), p-sensitive and npd; a category in beta and delta."""
    classes(database, {"x": 2, None: 2})
    assert reached(database, of("alpha_k_anonymity", alpha=0.5, k=2), "alpha") == 1
    assert reached(database, of("p_sensitive_k_anonymity", p=1, k=2), "p") == 1
    assert reached(database, npd(9, 2, allow_positive=["y"]), "c_above") is None
    classes(database, {None: 1, "x": 1}, {"x": 2})
    assert reached(database, of("beta_likeness", beta=1, variant="basic"), "beta") == 1
    assert reached(database, of("delta_disclosure", delta=9), "delta_above") is None


def test_pitfall_21_the_reference_is_the_original_table(database: Database) -> None:
    """The suppressed class still counts; a value that the release lacks is missing from each of its classes."""
    classes(database, {"a": 2, "b": 2}, {"a": 2, "b": 2}, {"c": 2})
    for requirement, name, of_original, of_release in (
        (of("beta_likeness", beta=0.3, variant="basic"), "beta", 0.25, 0),
        (of("delta_disclosure", delta=9), "delta_above", None, 0),
    ):
        spec = spec_of(["q"], [requirement], sensitive=["s"])
        database.table(
            "release", {"q": "VARCHAR", "s": "VARCHAR"}, [row for row in database.rows("people") if row[1] != "c"]
        )
        (values,) = kanon_sql.check(database.engine, spec, "release").achieved.values()
        assert values[name] == (None if of_original is None else pytest.approx(of_original))
        ((model, body),) = requirement.items()
        other = spec_of(["q"], [{model: {**body, "reference": "release"}}], sensitive=["s"])
        (values,) = kanon_sql.check(database.engine, other, "release").achieved.values()
        assert values[name] == pytest.approx(of_release)


@pytest.mark.parametrize(
    "requirement",
    [
        of("alpha_k_anonymity", alpha=0.5, k=2), of("p_sensitive_k_anonymity", p=2, k=2), of("beta_likeness", beta=1),
        of("delta_disclosure", delta=1), npd(2, 2, allow_positive=["x"]), of("t_closeness", t=0.1, distance="ordered"),
    ],
    ids=lambda item: next(iter(item)),
)  # fmt: skip
def test_a_table_without_rows_and_one_class(database: Database, requirement: Requirement) -> None:
    classes(database, kind="INTEGER")
    result = check(database, requirement)
    assert (result.passed, result.class_sizes) == (False, [])
    assert {item["violating_classes"] for item in result.achieved.values()} == {0}, "it has none that could"
    classes(database, {1: 2, 2: 2}, kind="INTEGER")  # one class is the table
    assert check(database, requirement).passed


def test_statements_of_check(database: Database) -> None:
    """One over the table, one of the catalog, for its mark; a look at listed values; whether a tree has them all."""
    classes(database, {"flu": 2, "gastritis": 2}, {"flu": 2, "gastritis": 2})
    expected = {
        "beta_likeness": 2, "delta_disclosure": 2, "p_sensitive_k_anonymity": 2,
        "alpha_k_anonymity": 3, "t_closeness": 3,
    }  # fmt: skip
    for requirement in (
        of("beta_likeness", beta=1), of("delta_disclosure", delta=1), of("p_sensitive_k_anonymity", p=2, k=2),
        of("alpha_k_anonymity", alpha=0.5, k=2, values=["flu"]),
        of("t_closeness", t=0.1, distance="hierarchical", hierarchy={"tree": DISEASES}),
    ):  # fmt: skip
        result = check(database, requirement)
        own = [sql for sql in result.sql if "DESCRIBE" not in sql]
        assert len(own) == expected[next(iter(requirement))], requirement
        assert not any("CREATE" in sql for sql in result.sql)


# --- monotonicity ---------------------------------------------------------------------------------------------

MODELS: list[Requirement] = [
    of("alpha_k_anonymity", alpha=0.5, k=2),
    of("p_sensitive_k_anonymity", p=2, k=2),
    of("beta_likeness", beta=0.5, variant="basic"),
    of("beta_likeness", beta=0.5, variant="enhanced"),
    of("delta_disclosure", delta=1),
    npd(1.5, 2, allow_positive=["2"]),
    npd(1, 3, allow_positive=["2", "1"], forbid_negative=["3"], c2=0.2),
    of("t_closeness", t=0.3, distance="ordered"),
    of("t_closeness", t=0.3, distance="hierarchical", hierarchy={"tree": {"x": ["0", "1"], "y": ["2", "3"]}}),
]


def rows_of(given: Sequence[int], requirement: Requirement) -> list[dict[str, Any]]:
    """Rows with so many of each of four values, and a NULL at the end of the list."""
    numeric = requirement.get("t_closeness", {}).get("distance") == "ordered"
    values: list[Any] = [*(range(4) if numeric else map(str, range(4))), None]
    return [{"s": value} for value, count in zip(values, given, strict=True) for _ in range(count)]


some = st.lists(st.sampled_from([0, 1, 1, 2, 3, 5]), min_size=5, max_size=5).filter(any)


@pytest.mark.parametrize("requirement", MODELS, ids=str)
@given(one=some, other=some, rest=some)
@examples(150)
def test_monotonicity(requirement: Requirement, one: list[int], other: list[int], rest: list[int]) -> None:
    """Merging two satisfied classes satisfies; with a violating one, it does where the model says always."""
    parts = [rows_of(given, requirement) for given in (one, other)]
    everybody = Counter(row["s"] for row in [*parts[0], *parts[1], *rows_of(rest, requirement)])
    satisfied = [judge(requirement, part, everybody)[1] for part in parts]
    merged = judge(requirement, parts[0] + parts[1], everybody)[1]
    name = next(iter(requirement))
    spec = spec_of(["q"], [requirement], sensitive=["s"])
    when = model_of(spec.privacy[0]).monotonicity(False)
    assert when is (Monotonicity.ALWAYS if name == "p_sensitive_k_anonymity" else Monotonicity.WITHOUT_SUPPRESSION)
    if all(satisfied) or (any(satisfied) and when is Monotonicity.ALWAYS):
        assert merged


@pytest.mark.parametrize(
    ("requirement", "good", "bad"),
    [
        (of("alpha_k_anonymity", alpha=0.5, k=2), [1, 1, 0, 0, 0], [3, 0, 0, 0, 0]),
        (of("beta_likeness", beta=0.5, variant="basic"), [1, 1, 0, 0, 0], [3, 0, 0, 0, 0]),
        (of("beta_likeness", beta=0.5, variant="enhanced"), [1, 1, 0, 0, 0], [3, 0, 0, 0, 0]),
        (of("delta_disclosure", delta=0.7), [1, 1, 0, 0, 0], [9, 0, 0, 0, 0]),
        (npd(1.5, 2, allow_positive=["2"]), [1, 1, 0, 0, 0], [3, 0, 0, 0, 0]),
        (of("t_closeness", t=0.2, distance="ordered"), [1, 1, 0, 0, 0], [9, 0, 0, 0, 0]),
    ],
    ids=str,
)
def test_merging_with_a_suppressed_class_may_violate(requirement: Requirement, good: list[int], bad: list[int]) -> None:
    """Why pruning is sound without suppression only."""
    everybody = Counter(row["s"] for row in rows_of([20, 20, 0, 0, 0], requirement))
    first, second = rows_of(good, requirement), rows_of(bad, requirement)
    assert judge(requirement, first, everybody)[1]
    assert not judge(requirement, first + second, everybody)[1]


# --- several sensitive attributes, several sets of quasi-identifiers -------------------------------------------


def people(database: Database) -> None:
    rows = [("a", "x", "flu", "low"), ("a", "x", "HIV", "high"), ("a", "y", "flu", "low"), ("a", "y", "HIV", "high")]
    database.table("people", ["q", "r", "s", "v"], rows)


def test_others_as_quasi_identifiers(database: Database) -> None:
    """Each attribute is 2-diverse by itself; who knows the income knows the illness (Machanavajjhala, section 4.4)."""
    people(database)
    alone = spec_of(["q"], [of("l_diversity", l=2)], sensitive=["s", "v"])
    assert kanon_sql.check(database.engine, alone, "people").passed
    together = spec_of(["q"], [of("l_diversity", l=2, others_as_quasi_identifiers=True)], sensitive=["s", "v"])
    result = kanon_sql.check(database.engine, together, "people")
    (values,) = result.achieved.values()
    assert (values["l"], values["violating_classes"], result.classes["count"]) == (1, 2, 1)
    assert not kanon_sql.plan(database.engine, together).passed
    with pytest.raises(SpecError, match="no other sensitive attribute"):
        spec_of(["q"], [of("l_diversity", l=2, others_as_quasi_identifiers=True)], sensitive=["s"])
    rows = [("a", illness, income) for illness in ("flu", "cold") for income in ("low", "high")]
    database.table("people", ["q", "s", "v"], rows)
    (values,) = kanon_sql.check(database.engine, together, "people").achieved.values()
    assert (values["l"], values["violating_classes"]) == (2, 0), "of either income, one has flu and one a cold"


def test_several_sets_of_quasi_identifiers(database: Database) -> None:
    people(database)
    wanted = [{"k_anonymity": 2}, {"k_anonymity": {"k": 5, "quasi_identifiers": ["q"]}}]
    result = kanon_sql.check(database.engine, spec_of(["q", "r"], wanted), "people")
    assert {key: item["k"] for key, item in result.achieved.items()} == {"k_anonymity": 2, "k_anonymity[q]": 4}
    assert (result.verdict, result.classes["count"]) == ("fail", 2)
    assert "5-anonymity over q" in result.message
    with pytest.raises(SpecError, match="no quasi-identifier"):
        spec_of(["q"], [{"k_anonymity": {"k": 5, "quasi_identifiers": ["z"]}}])
    assert "fewer than k = 5" in kanon_sql.plan(database.engine, spec_of(["q", "r"], wanted)).message


# --- class sizes, and what is revealed -----------------------------------------------------------------------------


def test_no_range_of_class_sizes_holds_both_verdicts(database: Database) -> None:
    classes(database, *[[size] for size in (1, 1, 2, 4, 5, 7, 8, 15, 16, 20)])
    assert check(database, {"k_anonymity": 8}).class_sizes == [
        {"from": 1, "to": 1, "classes": 2, "rows": 2},
        {"from": 2, "to": 4, "classes": 2, "rows": 6},
        {"from": 5, "to": 7, "classes": 2, "rows": 12},
        {"from": 8, "to": 9, "classes": 1, "rows": 8},
        {"from": 10, "to": 19, "classes": 2, "rows": 31},
        {"from": 20, "to": 49, "classes": 1, "rows": 20},
    ]


def test_values_are_revealed_only_when_asked_for(database: Database) -> None:
    database.table("people", ["q", "s"], [("Q-secret", "S-secret"), ("b", "x"), ("b", "y"), (None, "z")])
    requirements = [{"k_anonymity": 2}, of("alpha_k_anonymity", alpha=0.5, k=2, values=["S-secret"])]
    hidden = check(database, *requirements)
    for text in (to_json(hidden.to_dict()), repr(hidden), hidden.message, *hidden.sql):
        assert "secret" not in text
    shown = check(database, *requirements, reveal=9)
    assert [item["values"] for item in shown.to_dict()["revealed"]] == [{"q": "Q-secret"}, {"q": None}]
    assert len(shown.to_dict()["revealed"][0]["violates"]) == 2
    assert any("do not pass this result on" in note for note in shown.notes)
    assert "secret" not in shown.message
    assert len(check(database, *requirements, reveal=1).to_dict()["revealed"]) == 1
    assert check(database, {"k_anonymity": 1}, reveal=9).to_dict()["revealed"] == []


# --- what the spec refuses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requirement", "why"),
    [
        (of("alpha_k_anonymity", alpha=1, k=2), "alpha, above 0 and below 1"),
        (of("p_sensitive_k_anonymity", p=3, k=2), "at most k = 2"),
        (of("beta_likeness", beta=0), "beta, above 0"),
        (of("delta_disclosure", delta=0), "delta, above 0"),
        (of("t_closeness", t=0.1, distance="hierarchical"), "missing 'hierarchy'"),
        (of("t_closeness", t=0.1, hierarchy={"prefix": [1]}), "belongs to distance: hierarchical"),
        (of("l_diversity", l=2, c2=0.1), "needs variant: npd_recursive"),
        (npd(2, 1, allow_positive=["x"]), "at least 2"),
        (npd(2, 2), "npd_recursive needs allow_positive, forbid_negative or both"),
        (npd(2, 2, forbid_negative=["x"]), "missing 'c2'"),
        (npd(2, 2, allow_positive=["x"], c2=0.1), "which is missing"),
    ],
)
def test_refused(requirement: Requirement, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        spec_of(["q"], [requirement], sensitive=["s"])


@pytest.mark.parametrize(
    "requirement",
    [of("alpha_k_anonymity", alpha=0.5, k=2), of("beta_likeness", beta=1), of("delta_disclosure", delta=1)],
)
def test_persons_are_refused_where_shares_do_not_add_up(requirement: Mapping[str, Any]) -> None:
    with pytest.raises(SpecError, match="defined for rows"):
        spec_of(["q"], [requirement], sensitive=["s"], unit="person")


def test_listed_values_are_not_in_the_manifest(database: Database) -> None:
    classes(database, {"HIV-secret": 1, "flu": 1}, {"HIV-secret": 1, "flu": 3})
    spec = spec_of(["q"], [of("alpha_k_anonymity", alpha=0.5, k=2, values=["HIV-secret"])], sensitive=["s"])
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed
    assert "HIV-secret" not in to_json(result.manifest)
    assert not any("HIV-secret" in sql for sql in result.sql)
