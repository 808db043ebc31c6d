"""Downcoding (Cohen 2022): what is certain of more detailed labels, against every table that the release allows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.errors import UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles.downcoding import Hierarchy, Labels, Value, certain, is_lowest, is_minimal, lowest, worlds
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks
from tests.support.strategies import examples

TREE = {"A": ["a1", "a2", "a3"], "B": ["B", "b2"], "C": ["c1"]}
FLAT = ["x", "y", "z"]


def deep() -> dict[Value, tuple[Value, ...]]:
    paths: dict[Value, tuple[Value, ...]] = {
        value: (value, group, "*") for group, values in TREE.items() for value in values
    }
    return {**paths, None: (None, None, "*")}


def flat() -> dict[Value, tuple[Value, ...]]:
    return {value: (value, "*") for value in [*FLAT, None]}


def spec_of(k: int = 2, recoding: str = "local", *, columns: int = 2, **changes: Any) -> Spec:
    columns_of = dict(list({"q": {"tree": TREE}, "p": None}.items())[:columns])
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": columns_of, "sensitive": ["d"],
            "privacy": [{"k_anonymity": k}], "recoding": recoding, **changes,
        }
    )  # fmt: skip


def put(database: Database, rows: Sequence[Labels], release: Sequence[Labels]) -> None:
    names = ["q", "p"][: len(rows[0])]
    database.table("s", dict.fromkeys([*names, "d"], "VARCHAR"), [(*row, "flu") for row in rows])
    database.table("r", dict.fromkeys([*names, "d"], "VARCHAR"), [(*row, "flu") for row in release])


def attacked(database: Database, spec: Spec) -> dict[str, Attack]:
    result = audit(database.engine, spec, attacks=["downcoding"])
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed, "an estimate decides no verdict"
    assert not any(word in " ".join(result.sql).replace("CREATE TEMP", "") for word in ("'a1'", "CREATE"))
    for attack in result.attacks:
        assert attack.estimate
        assert attack.beyond == 0
        assert any("not measured" in note for note in attack.notes)
    return {attack.label: attack for attack in result.attacks}


def occurring(hierarchy: Hierarchy, rows: Sequence[Labels], place: int) -> dict[Value, tuple[Value, ...]]:
    return {value: hierarchy[value] for value in dict.fromkeys(row[place] for row in rows)}


@st.composite
def released(draw: st.DrawFn, domains: Sequence[Hierarchy], most: int, least: int) -> tuple[list[Labels], list[Labels]]:
    """A table, and a release of it: groups of at least so many rows, each with the lowest labels in common."""
    vectors = st.tuples(*(st.sampled_from(sorted(domain, key=str)) for domain in domains))
    rows = draw(st.lists(vectors, min_size=least, max_size=most))
    count = draw(st.integers(1, len(rows) // least))
    groups = [rows[number::count] for number in range(count)]
    found = [occurring(domain, rows, place) for place, domain in enumerate(domains)]
    release = [
        tuple(lowest([row[place] for row in group], own) for place, own in enumerate(found))
        for group in groups for _ in group
    ]  # fmt: skip
    return rows, release


def classes_of(release: Sequence[Labels]) -> Mapping[Labels, int]:
    return Counter(release)


# --- Against every world ----------------------------------------------------------------------------


@pytest.mark.slow
@given(released([deep(), flat()], 4, 1))
@examples(6)
def test_lowest_labels_tell_what_all_worlds_have_in_common(
    shared_database: Database, case: tuple[list[Labels], list[Labels]]
) -> None:
    rows, release = case
    put(shared_database, rows, release)
    hierarchies = [occurring(domain, rows, place) for place, domain in enumerate([deep(), flat()])]
    possible = [world for world in worlds(classes_of(release), hierarchies) if is_lowest(world, hierarchies)]
    assert possible, "the source is one"
    expected = [sum(own.values()) for own in certain(possible, hierarchies)]
    attacks = attacked(shared_database, spec_of())
    assert [attacks["downcoding of q"].exposed, attacks["downcoding of p"].exposed] == expected
    event(f"{sum(expected) > 0}")
    assert {attacks[f"downcoding of {name}"].examined for name in "qp"} == {len(rows)}


@pytest.mark.slow
@given(released([deep()], 6, 2), st.integers(2, 3))
@examples(15)
def test_what_a_minimal_release_tells_is_true_in_all_worlds(
    shared_database: Database, case: tuple[list[Labels], list[Labels]], k: int
) -> None:
    rows, release = case
    assume(min(classes_of(release).values()) >= k)
    assert_minimal_is_sound(shared_database, rows, release, [deep()], k)


@pytest.mark.slow
@given(released([flat(), flat()], 4, 2))
@examples(6)
def test_two_columns_of_a_minimal_release(shared_database: Database, case: tuple[list[Labels], list[Labels]]) -> None:
    rows, release = case
    assert_minimal_is_sound(shared_database, rows, release, [flat(), flat()], 2)


def assert_minimal_is_sound(
    database: Database, rows: list[Labels], release: list[Labels], domains: Sequence[Hierarchy], k: int
) -> None:
    """No more is concluded than holds in every world in which the release is minimal."""
    put(database, rows, release)
    hierarchies = [occurring(domain, rows, place) for place, domain in enumerate(domains)]
    possible = [world for world in worlds(classes_of(release), hierarchies) if is_minimal(world, hierarchies, k)]
    quasi = {"q": {"tree": TREE} if len(domains) == 1 else None, "p": None}
    spec = spec_of(k, "full_domain", columns=1, quasi_identifiers=dict(list(quasi.items())[: len(domains)]))
    attacks = [attack for attack in attacked(database, spec).values() if attack.name == "downcoding, minimal"]
    assert len(attacks) == len(domains)
    contradicted = any("contradict" in note for attack in attacks for note in attack.notes)
    if not possible:
        return
    assert not contradicted
    true = any(Counter(chain(*world.values())) == Counter(rows) for world in possible)  # else the source refutes some
    for attack, own in zip(attacks, certain(possible, hierarchies), strict=True):
        assert attack.exposed <= sum(own.values())
        if len(domains) == 1 and true:
            assert attack.exposed == sum(own.values()), "one column tells all that there is"


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("k", "values", "labels", "known"),
    [
        (2, ["a1", "a2"], "AA", 2),  # of two rows that are not alike, one is a1 and one a2
        (2, ["a1", "a2", "a2"], "AAA", 2),
        (3, ["a1", "a1", "a2", "a2", "a3", "a3"], "AAAAAA", 6),  # 2k rows: no part has k of them
        (2, ["a1", "a1", "a2", "a3", "a3"], ["A", "A", "A", "a3", "a3"], 2),  # who is a3 would stand with the others
        (2, ["a1", "a2", "a3"], "AAA", 0),
        (2, ["B", "b2"], "BB", 1),  # two of the value B might have the same text: only that not both are b2 is known
    ],
)
def test_what_is_known_of_one_class(
    database: Database, k: int, values: list[str], labels: Sequence[str], known: int
) -> None:
    rows: list[Labels] = [(value,) for value in values]
    put(database, rows, [(label,) for label in labels])
    found = attacked(database, spec_of(k, "full_domain", columns=1))["downcoding, minimal of q"]
    assert (found.examined, found.exposed) == (len(rows), known)
    assert found.risk == pytest.approx(known / list(labels).count(labels[0]))
    assert_minimal_is_sound(database, rows, [(label,) for label in labels], [deep()], k)


# --- Against the source -----------------------------------------------------------------------------


def test_a_conclusion_that_the_source_refutes_is_not_counted(database: Database) -> None:
    """Who takes this for minimal gives two of six rows each of a1, a2 and a3, and there is no a3 among them."""
    rows: list[Labels] = [*[("a1", "x")] * 4, *[("a2", "x")] * 2, *[("a3", "y")] * 3]
    release: list[Labels] = [*[("A", "x")] * 6, *[("A", "y")] * 3]
    put(database, rows, release)
    found = attacked(database, spec_of(3, "full_domain"))["downcoding, minimal of q"]
    assert (found.examined, found.exposed) == (9, 4)
    assert any(note.startswith("of 2 more rows the conclusion is wrong") for note in found.notes)


def test_a_release_that_is_not_minimal_says_so(database: Database) -> None:
    rows: list[Labels] = [("a1",)] * 2 + [("a2",)] * 2
    put(database, rows, [("A",)] * 4)
    found = attacked(database, spec_of(2, "full_domain", columns=1))["downcoding, minimal of q"]
    assert found.exposed == 0
    assert any(note.startswith("1 of 1 classes contradict that") for note in found.notes)


def test_labels_that_nobody_has_are_said_to_be_left_out(database: Database) -> None:
    put(database, [("a1",), ("a2",), ("a2",)], [("A",), ("A",), ("elsewhere",)])
    found = attacked(database, spec_of(columns=1))["downcoding of q"]
    assert (found.examined, found.exposed) == (3, 2)
    assert any(note.startswith("1 rows have a label here that no value of the source has") for note in found.notes)


def test_other_requirements_tell_something_else(database: Database) -> None:
    put(database, [("a1",), ("a2",)], [("A",), ("A",)])
    privacy = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "d", "l": 1}}]
    (found,) = attacked(database, spec_of(columns=1, privacy=privacy)).values()
    assert (found.name, found.exposed) == ("downcoding", 2)
    assert any("not measured: what a minimal release reveals" in note for note in found.notes)
    with pytest.raises(UnsupportedError, match="does not promise the lowest labels"):
        audit(database.engine, spec_of(2, "full_domain", columns=1, privacy=privacy), attacks=["downcoding"])


def test_levels_that_are_not_released_tell_nothing(database: Database) -> None:
    """With a minimum level of 1 the label A is as detailed as can be."""
    put(database, [("a1",), ("a2",)], [("A",), ("A",)])
    spec = spec_of(quasi_identifiers={"q": {"tree": TREE, "minimum_level": 1}})
    assert {attack.exposed for attack in attacked(database, spec).values()} == {0}


# --- Engines ----------------------------------------------------------------------------------------


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str, database: Database) -> None:
    draw = random.Random(3)
    pairs = [["a1", "a2"], ["B", "b2"], ["a1", "a2", "a3"], ["c1", None]]
    groups = [[(draw.choice(pair), p) for _ in range(3)] for p in ("x", "X", "y", None) for pair in pairs]
    rows: list[Labels] = [row for group in groups for row in group]
    domains = [occurring(deep(), rows, 0), {p: (p, "*") for p in ("x", "X", "y", None)}]
    release: list[Labels] = [
        tuple(lowest([row[place] for row in group], own) for place, own in enumerate(domains))
        for group in groups for _ in group
    ]  # fmt: skip
    put(database, rows, release)
    attacks = attacked(database, spec_of())
    assert len(attacks) == 4
    assert any(attack.exposed for attack in attacks.values())
    with subject_of(name) as subject:
        subject.table("s", {"q": "text", "p": "text", "d": "text"}, [(*row, "flu") for row in rows])
        subject.table("r", {"q": "text", "p": "text", "d": "text"}, [(*row, "flu") for row in release])
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            ours = audit(engine, spec_of(), attacks=["downcoding"])
        finally:
            engine.close()
    for attack in ours.attacks:
        expected = attacks[attack.label]
        assert (attack.examined, attack.exposed, attack.notes) == (expected.examined, expected.exposed, expected.notes)
        assert attack.risk == pytest.approx(expected.risk)


@pytest.mark.slow
def test_statements_depend_on_the_columns_alone(database: Database) -> None:
    """No value and no row is fetched: a few counts per column."""
    costs = []
    for times in (1, 8):
        rows: list[Labels] = [("a1", "x"), ("a2", "x"), ("a3", "y")] * times
        put(database, rows, [("A", "x"), ("A", "x"), ("A", "y")] * times)
        costs.append(audit(database.engine, spec_of(), attacks=["downcoding"]).cost)
    assert costs[0].statements == costs[1].statements
    assert costs[0].rows_fetched == costs[1].rows_fetched
