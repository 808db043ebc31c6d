"""The columns of a spec: their roles, their names and their hierarchies."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import SpecError
from kanon_sql.hierarchies.kinds.intervals import IntervalsHierarchy
from kanon_sql.hierarchies.kinds.tree import TreeHierarchy
from kanon_sql.hierarchies.kinds.value import ValueHierarchy
from kanon_sql.models.privacy.l_diversity import LDiversityRequirement
from kanon_sql.models.privacy.t_closeness import TClosenessRequirement
from kanon_sql.spec import (
    KAnonymityRequirement,
    Spec,
    format_table_name,
    parse_table_name,
)
from tests.support.specs import HEAD, TAIL, column, column_refusals, make, patient, problems, refusals

# --- Roles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["identifiers", "quasi_identifiers", "sensitive", "keep"])
@pytest.mark.parametrize("second", ["identifiers", "quasi_identifiers", "sensitive", "keep"])
def test_a_column_has_one_role(first: str, second: str) -> None:
    roles: dict[str, Any] = {"identifiers": [], "quasi_identifiers": {"q": {}}, "sensitive": [], "keep": []}
    for role, name in ((first, "zip"), (second, "Zip")):
        if role == "quasi_identifiers":
            roles[role][name] = {}
        else:
            roles[role].append(name)
    [said] = refusals(**roles)
    assert "'Zip'" in said or "'zip'" in said
    assert "listed twice" in said if first == second else "one role" in said


def test_the_same_name_in_two_roles_is_placed() -> None:
    assert problems(HEAD + TAIL + "sensitive: [dx]\nkeep: [dx, age]\n") == [
        "6:8: keep[0]: column 'dx' is also under sensitive; give each column one role",
        "6:12: keep[1]: column 'age' is also under quasi_identifiers; give each column one role",
    ]


def test_the_unit_is_never_released() -> None:
    assert make(unit="pid", identifiers=["pid"]).unit == "pid"
    role: dict[str, Any]
    for role in ({"sensitive": ["pid"]}, {"keep": ["PID"]}, {"quasi_identifiers": {"pid": {}}}):
        [said] = refusals(unit="pid", **role)
        assert "would be released" in said


def test_the_release_is_not_the_source() -> None:
    refusals(source="main.Visits", release='"MAIN".visits')
    refusals(source=["main", "visits"], release="Main.Visits")
    refusals(source={"table": "visits"}, release="Visits")
    assert make(source="raw.visits", release="visits").release == ("visits",)
    assert make(source={"query": "select * from visits"}, release="visits").release == ("visits",)


def test_the_same_requirement_twice() -> None:
    diverse = {"attribute": "dx", "l": 2}
    make(
        sensitive=["dx", "dy"],
        privacy=[
            {"k_anonymity": 2},
            {"l_diversity": diverse},
            {"l_diversity": {**diverse, "variant": "entropy"}},
            {"l_diversity": {**diverse, "attribute": "dy"}},
        ],
    )
    assert refusals(privacy=[{"k_anonymity": 2}, {"k_anonymity": {"k": 3}}]) == [
        "privacy[1].k_anonymity: the same requirement as item 1; keep the stricter one"
    ]
    assert (
        len(refusals(sensitive=["dx"], privacy=[{"l_diversity": diverse}, {"l_diversity": {**diverse, "l": 3}}])) == 1
    )


def test_all_quasi_identifiers_are_no_set_of_their_own() -> None:
    [said] = refusals(privacy=[{"k_anonymity": 2}, {"k_anonymity": {"k": 3, "quasi_identifiers": ["age"]}}])
    assert said == "privacy[1].k_anonymity: the same requirement as item 1; keep the stricter one"


def test_requirements_of_one_attribute_list_the_same_values() -> None:
    """What a value is, is looked up once: one requirement would be judged by the list of the other."""
    disclosed = {"attribute": "dx", "l": 2, "variant": "npd_recursive", "c": 2, "allow_positive": ["flu", "cold"]}
    listed = {**disclosed, "allow_positive": ["cold", "flu"], "others_as_quasi_identifiers": True}
    tree = {"a": ["flu", "cold"], "b": ["hiv"]}
    close = {"attribute": "dx", "t": 0.2, "distance": "hierarchical", "hierarchy": {"tree": tree}}
    others = {**close, "others_as_quasi_identifiers": True}
    both: dict[str, Any] = {"sensitive": ["dx", "dy"]}
    make(
        **both,
        privacy=[{"l_diversity": disclosed}, {"l_diversity": listed}, {"l_diversity": {"attribute": "dx", "l": 2}}],
    )
    make(**both, privacy=[{"t_closeness": close}, {"t_closeness": others}])
    assert refusals(
        **both, privacy=[{"l_diversity": disclosed}, {"l_diversity": {**listed, "allow_positive": ["flu"]}}]
    ) == [
        "privacy[1].l_diversity.allow_positive: another requirement of 'dx' has a different value; use the same "
        "for both"
    ]
    assert refusals(
        **both, privacy=[{"t_closeness": close}, {"t_closeness": {**others, "hierarchy": {"tree": {"a": ["flu"]}}}}]
    ) == ["privacy[1].t_closeness.hierarchy: another requirement of 'dx' has a different value; use the same for both"]


def test_requirement_values() -> None:
    spec = make(
        sensitive=["dx"],
        privacy=[
            {"k_anonymity": 1},
            {"l_diversity": {"attribute": "dx", "l": 2.5, "variant": "entropy"}},
            {"l_diversity": {"attribute": "dx", "l": 2, "variant": "recursive", "c": 3}},
            {"t_closeness": {"attribute": "dx", "t": 1, "reference": "release"}},
        ],
    )
    k, entropy, recursive, close = spec.privacy
    assert isinstance(k, KAnonymityRequirement)
    assert (k.k, k.attribute) == (1, None)
    assert isinstance(entropy, LDiversityRequirement)
    assert entropy.l == 2.5
    assert isinstance(recursive, LDiversityRequirement)
    assert (recursive.l, recursive.c) == (2, 3.0)
    assert isinstance(close, TClosenessRequirement)
    assert (close.t, close.reference) == (1.0, "release")


# --- Names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("visits", ("visits",)),
        ("main.visits", ("main", "visits")),
        ("db.main.visits", ("db", "main", "visits")),
        ('"odd.name"', ("odd.name",)),
        ('main."odd.name"', ("main", "odd.name")),
        ('"a""b".c', ('a"b', "c")),
        ('a"b', ('a"b',)),
        ("x; drop table y", ("x; drop table y",)),
        ("a.b.c.d", ("a.b.c.d",)),
        ("a..b", ("a..b",)),
        (".a", (".a",)),
        ('"', ('"',)),
        ('""', ('""',)),
        ('"open.name', ('"open.name',)),
        ("Select", ("Select",)),
        ("marital-status", ("marital-status",)),
        ("病歴.naïve", ("病歴", "naïve")),
        ("a\nb.c", ("a\nb", "c")),
        ("x" * 70, ("x" * 70,)),
    ],
)
def test_table_names(text: str, parts: tuple[str, ...]) -> None:
    assert parse_table_name(text) == parts
    assert parse_table_name(format_table_name(parts)) == parts
    assert make(source=text).source.table == parts
    assert Spec.from_dict(make(source=text).to_dict()).source.table == parts


@pytest.mark.slow
@patient
@given(st.lists(st.text(min_size=1).filter(lambda part: "\0" not in part), min_size=1, max_size=3))
def test_every_table_name_can_be_written(parts: list[str]) -> None:
    assert parse_table_name(format_table_name(parts)) == tuple(parts)


def test_a_list_is_a_name_taken_literally() -> None:
    assert make(source=["main", "odd.name"]).source.table == ("main", "odd.name")
    assert make(release=['"a"']).release == ('"a"',)


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_names_no_database_can_hold(text: str) -> None:
    with pytest.raises(SpecError):
        parse_table_name(text)
    refusals(source=text)
    refusals(keep=[text])
    refusals(quasi_identifiers={text: {}})


def test_hostile_column_names_are_just_names() -> None:
    names = [
        "Select",
        "marital-status",
        'a"b',
        "x; drop table y",
        "c" * 70,
        "naïve 病",
        "{message}",
        "a.b[0]",
    ]
    spec = make(quasi_identifiers=dict.fromkeys(names), keep=["'; --"])
    assert list(spec.quasi_identifiers) == names
    assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert "{message}" in refusals(quasi_identifiers={"{message}": {"oops": 1}})[0]


# --- Hierarchies ---------------------------------------------------------------------------


def test_no_kind_means_value_then_star() -> None:
    for written in (None, {}, {"weight": 2}):
        quasi = make(quasi_identifiers={"sex": written}).quasi_identifiers["sex"]
        assert quasi.hierarchy == ValueHierarchy()
        assert quasi.height_hint == 1


def test_interval_numbers_are_exact() -> None:
    quasi = column(intervals=[0.1, 0.3, 0.6], origin=-0.05, top=1e3)
    assert quasi.hierarchy == IntervalsHierarchy(
        intervals=(Decimal("0.1"), Decimal("0.3"), Decimal("0.6")), origin=Decimal("-0.05"), top=Decimal(1000)
    )
    text = HEAD + "quasi_identifiers: {a: {intervals: [0.10, 5.0], top: 1e2}}\nprivacy: [{k_anonymity: 2}]\n"
    parsed = Spec.parse(text).quasi_identifiers["a"].hierarchy
    assert isinstance(parsed, IntervalsHierarchy)
    assert [str(width) for width in parsed.intervals] == ["0.1", "5"]
    assert str(parsed.top) == "100"
    assert "do not nest" in column_refusals(intervals=[0.1, 0.25])[0]
    # far apart, where plain decimal division gives up
    assert column(intervals=[1e-10, 3000]).height_hint == 3
    assert "have 11 digits after the point" in column_refusals(intervals=[1e-11, 1])[0]
    assert "more digits than databases compute with" in column_refusals(intervals=[1e-10, 1e9])[0]
    assert "more digits than databases compute with" in column_refusals(intervals=[0.001], top=1e15)[0]
    assert column(intervals=[5, 10], bottom=3, top=88).height_hint == 3  # coding need not align


def test_tree_rows_are_padded_with_the_topmost_ancestor() -> None:
    tree = {
        "North": {"Coast": ["a", "b"], "Hills": "c"},
        "South": ["d", {"Plain": ["e"]}],
        "Sea": None,
        "Sky": [],
        "Abroad": "f",
    }
    hierarchy = column(tree=tree).hierarchy
    assert isinstance(hierarchy, TreeHierarchy)
    assert hierarchy.rows() == [
        ("a", "Coast", "North"),
        ("b", "Coast", "North"),
        ("c", "Hills", "North"),
        ("d", "South", "South"),
        ("e", "Plain", "South"),
        ("Sea", "Sea", "Sea"),
        ("Sky", "Sky", "Sky"),
        ("f", "Abroad", "Abroad"),
    ]
    assert column(tree=tree).height_hint == 3


@pytest.mark.parametrize("below", [{"a": ["x"], "b": ["y"]}, ["x", "y"]])
def test_a_written_top_of_a_tree_is_kept_and_adds_no_level(below: Any) -> None:
    bare = below if isinstance(below, dict) else {"x": None, "y": None}
    written, plain = column(tree={"*": below}), column(tree=bare)
    assert isinstance(written.hierarchy, TreeHierarchy)
    assert isinstance(plain.hierarchy, TreeHierarchy)
    assert written.hierarchy.rows() == plain.hierarchy.rows()
    spec = make(quasi_identifiers={"sex": None})
    assert written.hierarchy.listed_rows(spec) == [(*row, "*") for row in plain.hierarchy.listed_rows(spec)]
    assert written.height_hint == plain.height_hint
    assert written.to_dict()["tree"] == {"*": below}
    assert column(tree=written.to_dict()["tree"]) == written


def test_tree_padding_by_hand() -> None:
    padded = column(tree={"France": {"France": ["Lyon"]}, "Spain": {"North": ["Bilbao"]}}).hierarchy
    assert isinstance(padded, TreeHierarchy)
    assert padded.rows()[0] == ("Lyon", "France", "France")


def test_tree_values_become_text() -> None:
    import datetime

    hierarchy = column(tree={"a": [1, True, 1.5, datetime.date(2020, 1, 2)], 7: [8], False: None}).hierarchy
    assert isinstance(hierarchy, TreeHierarchy)
    assert hierarchy.rows() == [
        ("1", "a"), ("true", "a"), ("1.5", "a"), ("2020-01-02", "a"), ("8", "7"), ("false", "false"),
    ]  # fmt: skip
    assert "two parents" in column_refusals(tree={"a": [1], "b": ["1"]})[0]


labels = st.text("abcdef", min_size=1, max_size=3)
trees = st.dictionaries(
    labels,
    st.recursive(st.none() | st.lists(labels, max_size=3), lambda inner: st.dictionaries(labels, inner, max_size=3)),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@patient
@given(trees)
def test_an_accepted_tree_nests(tree: dict[str, Any]) -> None:
    try:
        hierarchy = column(tree=tree).hierarchy
    except SpecError:
        return
    assert isinstance(hierarchy, TreeHierarchy)
    rows = hierarchy.rows()
    assert len({len(row) for row in rows}) == 1
    assert len({row[0] for row in rows}) == len(rows)
    for level in range(len(rows[0]) - 1):
        assert len({row[level : level + 2] for row in rows}) == len({row[level] for row in rows})
    assert column(**hierarchy.to_dict()) == column(tree=tree)
