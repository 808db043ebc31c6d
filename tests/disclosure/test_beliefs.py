"""Bayes-optimal privacy: the theorem against all possible worlds, ``check`` against the oracle, and what is refused."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.report.json import result_schema
from kanon_sql.spec import Spec
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.oracles import beliefs as beliefs_oracle
from tests.oracles.beliefs import by_theorem, by_worlds, cells_of, judge, of_known_people, prior
from tests.oracles.model import Hierarchy, generalize, height_of
from tests.servers import subject_of
from tests.support.strategies import examples, hierarchies

# --- The theorem ----------------------------------------------------------------------------------

Weighed = dict[tuple[tuple[Any, ...], Any], Fraction]


@st.composite
def backgrounds(draw: st.DrawFn, vectors: Sequence[tuple[Any, ...]], values: Sequence[Any]) -> Weighed:
    weights = st.sampled_from([0, 1, 2, 3, 7])
    return {(vector, value): Fraction(draw(weights)) for vector in vectors for value in values}


@examples(40)
@given(st.data())
def test_the_theorem_counts_worlds(data: st.DataObject) -> None:
    """Classes of up to seven rows; the others' quasi-identifiers are unknown, and the theorem is exact."""
    vectors = [("a",), ("b",), ("c",)][: data.draw(st.integers(1, 3))]
    values = ["x", "y", None][: data.draw(st.integers(2, 3))]
    background = data.draw(backgrounds(vectors, values))
    known = [value for (_, value), weight in background.items() if weight]
    assume(known)
    most = {2: 7, 3: 6, 4: 6, 6: 4}.get(len(vectors) * len(values), 3)
    released = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=most))
    for person in vectors:
        assert by_theorem(background, person, set(vectors), released) == by_worlds(
            background, person, set(vectors), released
        )


@examples(40)
@given(st.data())
def test_who_knows_the_others_too_believes_the_same_where_all_are_alike(data: st.DataObject) -> None:
    """All of the class have one f(s | q): then it does not matter whether one knows who they are."""
    values = ["x", "y", "z"]
    weights = {value: Fraction(data.draw(st.sampled_from([1, 2, 5]))) for value in values}
    background = {
        ((who,), value): weight * scale for who, scale in (("a", 1), ("b", 3)) for value, weight in weights.items()
    }
    released = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=6))
    people = [("a",), *[(data.draw(st.sampled_from(["a", "b"])),) for _ in released[1:]]]
    assert by_theorem(background, ("a",), {("a",), ("b",)}, released) == of_known_people(background, people, released)


def test_who_knows_the_others_too_may_believe_something_else() -> None:
    """Rows of a and c: Don's c is 0.54 by the theorem, and 7/12 to who knows that Ann is the other."""
    known = of_known_people(DON, [("don",), ("ann",)], ["a", "c"])
    assert known is not None
    assert known["c"] == Fraction(7, 12)
    assert round(float(believed_of("don", ["a", "c"])["c"]), 2) == 0.54


# --- Don ------------------------------------------------------------------------------------------
# Only the numbers are those of a published example: before the release, the attacker believes 0.4, 0.04 and 0.56 of
# Don's three possible values, and after it 0.46, 0 and 0.54. The table is the smallest that gives them: a class of two
# rows with the first and the third value, and a second person who may be in it.

DON: Weighed = {
    (("don",), "a"): Fraction(40),
    (("don",), "b"): Fraction(4),
    (("don",), "c"): Fraction(56),
    (("ann",), "a"): Fraction(44),
    (("ann",), "b"): Fraction(12),
    (("ann",), "c"): Fraction(44),
}


def believed_of(who: str, released: Sequence[str]) -> beliefs_oracle.Posterior:
    found = by_worlds(DON, (who,), {("don",), ("ann",)}, released)
    assert found is not None
    return found


def test_don_by_counting() -> None:
    before = prior(DON, ("don",))
    assert before is not None
    assert [float(before[value]) for value in "abc"] == [0.4, 0.04, 0.56]
    for released in (["a", "c"], ["a", "c", "a", "c"]):
        assert [round(float(believed_of("don", released)[value]), 2) for value in "abc"] == [0.46, 0, 0.54]


def dons(database: Database) -> None:
    """The source, the release and the background of the example."""
    database.table("source", ["who", "s"], [("don", "c"), ("ann", "a")])
    database.table("released", ["who", "s"], [("*", "c"), ("*", "a")])
    rows = [(who, value, float(weight) / 200) for ((who,), value), weight in DON.items()]
    database.table("background", {"who": "VARCHAR", "s": "VARCHAR", "w": "DOUBLE"}, rows)


def don(database: Database, **asked: float) -> Mapping[str, Any]:
    result = check(database, {"background": "background", "weight": "w", **asked})
    (achieved,) = result.achieved.values()
    assert result.passed is (achieved["violating_classes"] == 0)
    return achieved


def spec_of(asked: Mapping[str, Any], **more: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "released", "quasi_identifiers": {"who": None},
            "sensitive": ["s"], "privacy": [{"bayes_optimal": {"attribute": "s", **asked}}], **more,
        }
    )  # fmt: skip


def check(database: Database, asked: Mapping[str, Any], **more: Any) -> kanon_sql.results.Check:
    return kanon_sql.check(database.engine, spec_of(asked, **more))


@pytest.mark.slow
def test_don_in_check(database: Database) -> None:
    """Don's beliefs move by 0.06, Ann's by 0.12, since b is ruled out, which she had with 0.12."""
    moved = max(abs(believed_of("don", "ac")[value] - belief) for value, belief in (prior(DON, ("don",)) or {}).items())
    assert round(float(moved), 2) == 0.06
    dons(database)
    found = don(database, theta=0.1)
    assert found["theta"] == pytest.approx(0.12)
    assert (found["violating_classes"], found["violating_rows"], found["exposed_persons"]) == (1, 2, 1)
    assert don(database, theta=0.05)["exposed_persons"] == 2
    assert don(database, theta=0.12)["exposed_persons"] == 0, "up to the tolerance"
    assert don(database, epsilon=0.03)["exposed_persons"] == 2, "b was possible, and is ruled out"
    assert don(database, epsilon=0.05)["exposed_persons"] == 1, "of Don it was below 0.05 before"
    assert don(database, delta=0.45)["exposed_persons"] == 0, "Don's c was above 0.55 before"
    assert don(database, delta=0.5)["exposed_persons"] == 1, "Ann's a was not: 0.44, and now 0.54"


# --- check against the oracle -----------------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    rng = random.Random(draw(st.integers(0, 10_000)))
    tables = {f"q{index}": draw(hierarchies()) for index in range(draw(st.integers(1, 2)))}
    nulls = [None] if draw(st.booleans()) else []
    values = ["x", "X", "x ", *nulls]

    def vector() -> dict[str, Any]:
        return {column: rng.choice([*table, *nulls]) for column, table in tables.items()}

    vectors = [vector() for _ in range(draw(st.integers(1, 6)))]
    source = [{**rng.choice(vectors), "s": rng.choice(values)} for _ in range(draw(st.sampled_from([9, 14, 5, 2, 0])))]
    node = tuple(rng.randint(0, height_of(table)) for table in tables.values())
    labels = generalize(source, tables, node)
    rows = [
        {**dict(zip(tables, vector or (), strict=True)), "s": row["s"]}
        for row, vector in zip(source, labels, strict=True)
    ]
    kept = [row for row in rows if rng.random() < draw(st.sampled_from([1.0, 1.0, 0.7]))]
    background: Weighed = {}
    for item in [*vectors, *([vector()] if draw(st.booleans()) else [])]:
        for value in [*values, "never"]:
            weight = rng.choice([0, 1, 2, 3, 5] if rng.random() < 0.5 else [1, 2, 3, 5, 20])
            background[tuple(item.values()), value] = Fraction(weight)
    if rng.random() < 0.2 and len(vectors) > 1:  # nobody like this is known
        background = {key: weight for key, weight in background.items() if key[0] != tuple(vectors[0].values())}
    return {"tables": tables, "source": source, "released": kept, "background": background}


def stored(database: Database, tables: Mapping[str, Hierarchy]) -> dict[str, Any]:
    for column, table in tables.items():
        lines = list(table.values())
        database.table(f"h_{column}", [f"level {n}" for n in range(len(lines[0]))], lines)
    return {column: {"table": f"h_{column}"} for column in tables}


@examples(8)
@given(
    problems(),
    st.sampled_from([None, "background", "rows"]),
    st.sampled_from([None, 0.5, 0.25, 0.05]),
    st.sampled_from([None, 0.1, 0.3]),
    st.sampled_from([None, 0.0, 0.1, 0.3]),
)
def test_check_against_the_oracle(
    shared_database: Database, given: dict[str, Any], of: str | None, delta: float | None, epsilon: float | None,
    theta: float | None,
) -> None:  # fmt: skip
    """Weights, rows that are counted, or the source itself as the background; NULLs, suppressed rows, strangers."""
    assume((delta, epsilon, theta) != (None, None, None))
    tables, background = given["tables"], given["background"]
    columns = [*tables, "s"]
    for name in ("source", "released"):
        shared_database.table(name, columns, [[row[column] for column in columns] for row in given[name]])
    written = [(*vector, value, weight) for (vector, value), weight in background.items()]
    if of == "background":
        rows = [(*cells, float(weight) / 8) for *cells, weight in written]
        assume(any(row[-1] for row in rows))
        shared_database.table(of, {**dict.fromkeys(columns, "VARCHAR"), "w": "DOUBLE"}, rows)
    elif of == "rows":
        shared_database.table(of, columns, [cells for *cells, weight in written for _ in range(int(weight))])
    else:
        background = Counter((tuple(row[column] for column in tables), row["s"]) for row in given["source"])
        background = {key: Fraction(count) for key, count in background.items()}
    thresholds = {"delta": delta, "epsilon": epsilon, "theta": theta}
    asked = {name: value for name, value in thresholds.items() if value is not None}
    spec = spec_of(
        {"background": of, **({"weight": "w"} if of == "background" else {}), **asked},
        quasi_identifiers=stored(shared_database, tables),
    )
    exactly = {name: Fraction(str(value)) for name, value in asked.items()}
    judged = judge(given["source"], given["released"], background, tables, "s", **exactly)
    result = kanon_sql.check(shared_database.engine, spec)
    ((key, found),) = result.achieved.items()
    assert key == f'bayes_optimal(s, "{of or "the source"}")'
    bad = [item for item in judged if item.violates]
    assert found["violating_classes"] == len(bad)
    assert found["violating_rows"] == sum(item.rows for item in bad)
    assert found["exposed_persons"] == sum(item.exposed for item in judged)
    assert shown_cells(found) == cells_of(judged, 5)
    changes = [item.change for item in judged]
    if not judged or any(change is None for change in changes):
        assert found["theta"] is None
    else:
        assert found["theta"] == pytest.approx(float(max(changes)), abs=1e-9)
    assert result.passed is (not bad and result.rows["source"] > 0)


def shown_cells(found: Mapping[str, Any]) -> tuple[list[tuple[int, int, int]], int]:
    """The beliefs of a result, as the oracle counts them."""
    cells = [
        (round(10 * cell["prior_from"]), round(10 * cell["posterior_from"]), cell["persons"])
        for cell in found["beliefs"]
    ]
    return cells, found["beliefs_not_shown"]


@pytest.mark.slow
def test_beliefs_are_shown_by_tenths_and_never_of_few(database: Database) -> None:
    """40 of 100 have a, in a class of 2 alone; beliefs of fewer persons than a class may have are one number."""
    rows = [("p", "a")] * 12 + [("p", "b")] * 8 + [("q", "a")] * 3 + [("q", "b")] * 17
    columns = {"zip": "VARCHAR", "s": "VARCHAR"}
    database.table("source", columns, rows)
    shown = [("*", value) for _, value in rows]
    database.table("released", columns, shown)

    def cells(*more: dict[str, Any]) -> tuple[list[tuple[int, int, int]], int]:
        spec = spec_of({"theta": 0.5}, quasi_identifiers={"zip": None})
        extra = [kanon_sql.spec.parse_requirement(item) for item in more]
        spec = spec.model_copy(update={"privacy": (*spec.privacy, *extra)})
        return shown_cells(next(iter(kanon_sql.check(database.engine, spec).achieved.values())))

    # Without a requirement on sizes: at least 5. The three of q with a are joined by the smallest other cell.
    assert cells() == ([(6, 6, 12), (8, 8, 17)], 11)
    assert cells({"k_anonymity": 3}) == ([(1, 1, 3), (4, 4, 8), (6, 6, 12), (8, 8, 17)], 0)
    assert cells({"k_anonymity": 10}) == ([(6, 6, 12), (8, 8, 17)], 11)
    assert cells({"k_anonymity": 18}) == ([], 40)


# --- What follows, and what does not ----------------------------------------------------------------


@examples(25)
@given(st.data())
def test_who_knows_the_table_learns_nothing(data: st.DataObject) -> None:
    """The background is the distribution of the rows of every class: no belief changes, however small the classes."""
    cells = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["x", "y", "z"]))
    rows = data.draw(st.lists(cells, min_size=1, max_size=9))
    background = {((who,), value): Fraction(count) for (who, value), count in Counter(rows).items()}
    for who in {who for who, _ in rows}:
        after = by_theorem(background, (who,), {(name,) for name, _ in rows}, [value for _, value in rows])
        assert after == prior(background, (who,))


def test_a_pass_that_says_nothing_is_noted(database: Database) -> None:
    database.table("source", ["who", "s"], [("don", "c"), ("ann", "a")])
    database.table("released", ["who", "s"], [("*", "c"), ("*", "a")])
    result = check(database, {"theta": 0.01, "delta": 0.01})
    assert result.passed
    assert any("passing says nothing" in note for note in result.notes)
    assert not any("passing says nothing" in note for note in check_don(database).notes)


def check_don(database: Database) -> kanon_sql.results.Check:
    dons(database)
    return check(database, {"background": "background", "weight": "w", "theta": 0.5})


@examples(40)
@given(st.data())
def test_monotone_for_who_cannot_tell_people_apart(data: st.DataObject) -> None:
    """All have one f(s | q): a posterior is the value's share of the class, and merged shares lie between."""
    weights = {value: Fraction(data.draw(st.sampled_from([1, 2, 5]))) for value in "xyz"}
    background = {((who,), value): weight for who in "ab" for value, weight in weights.items()}
    before = prior(background, ("a",)) or {}
    parts = {who: data.draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=6)) for who in "ab"}

    def change(members: set[tuple[Any, ...]], released: Sequence[str]) -> Fraction:
        after = by_theorem(background, ("a",), members, released) or {}
        assert after == {value: Fraction(released.count(value), len(released)) for value in before}
        return max(abs(after[value] - before[value]) for value in before)

    merged = change({("a",), ("b",)}, parts["a"] + parts["b"])
    assert merged <= max(change({(who,)}, released) for who, released in parts.items())


def test_not_monotone_in_general(database: Database) -> None:
    """Apart, the classes of a and b show what was believed of each; merged, they show more.

    The background has five times as many b as the table, so that a merged class of few b changes what is believed of a.
    """
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("b", "y"), ("b", "y")]
    weights = {("a", "x"): 1, ("a", "y"): 1, ("b", "x"): 1, ("b", "y"): 3}
    counts = {"a": ["x", "y"], "b": ["x", "y", "y", "y"]}
    background = {((who,), value): Fraction(weight) for (who, value), weight in weights.items()}
    for who, released in counts.items():
        assert by_theorem(background, (who,), {(who,)}, released) == prior(background, (who,))
    scaled = {key: weight * (5 if key[0] == ("b",) else 1) for key, weight in background.items()}
    after = by_theorem(scaled, ("a",), {("a",), ("b",)}, [value for _, value in rows])
    assert after != prior(scaled, ("a",))
    database.table("source", ["who", "s"], rows)
    database.table("apart", ["who", "s"], rows)
    database.table("merged", ["who", "s"], [("*", value) for _, value in rows])
    written = [(*vector, value, float(weight)) for (vector, value), weight in scaled.items()]
    database.table("background", {"who": "VARCHAR", "s": "VARCHAR", "w": "DOUBLE"}, written)
    spec = spec_of({"background": "background", "weight": "w", "theta": 0.0})
    assert kanon_sql.check(database.engine, spec, "apart").passed
    assert not kanon_sql.check(database.engine, spec, "merged").passed


# --- Degenerate tables --------------------------------------------------------------------------------


def plain(database: Database, source: Sequence[Any], released: Sequence[Any], background: Sequence[Any]) -> Any:
    for name, rows in (("source", source), ("released", released), ("background", background)):
        database.table(name, ["who", "s"], rows)
    result = check(database, {"background": "background", "theta": 0.9, "delta": 0.01})
    (found,) = result.achieved.values()
    return result, found


def test_a_table_without_rows_exposes_nobody(database: Database) -> None:
    for source in ([], [("a", "x")]):
        result, found = plain(database, source, [], [("a", "x")])
        assert result.message == "released has no rows, so that nothing was checked"
        assert (found["theta"], found["exposed_persons"]) == (None, 0)


def test_one_value_that_everybody_knew(database: Database) -> None:
    result, found = plain(database, [("a", "x")], [("*", "x")], [("a", "x")])
    assert result.passed
    assert found["theta"] == 0


def test_a_certainty_that_was_none_before(database: Database) -> None:
    background = [("a", "x"), ("a", "y")]
    result, found = plain(database, [("a", "x")], [("*", "x")], background)
    assert not result.passed
    assert (found["theta"], found["exposed_persons"]) == (0.5, 1)


def test_a_false_certainty_is_no_positive_disclosure(database: Database) -> None:
    """The class holds x alone, and the source has y: the attacker is sure, and wrong."""
    background = [("a", "x"), ("a", "y")]
    result, found = plain(database, [("a", "y")], [("*", "x")], background)
    assert result.passed
    assert (found["theta"], found["exposed_persons"]) == (0.5, 0)


def test_a_false_exclusion_is_no_negative_disclosure(database: Database) -> None:
    """The class shows y alone, and whoever looks like a has x: the attacker rules x out, and is wrong."""
    for others, exposed in (([], 0), ([("a", "y")], 2)):
        database.table("source", ["who", "s"], [("a", "x"), *others])
        database.table("released", ["who", "s"], [("*", "y")])
        database.table("background", ["who", "s"], [("a", "x"), ("a", "y")])
        (found,) = check(database, {"background": "background", "epsilon": 0.1}).achieved.values()
        assert (found["theta"], found["exposed_persons"]) == (0.5, exposed)


def test_whoever_is_not_in_the_source_is_not_judged(database: Database) -> None:
    """Of b the attacker would learn something, if b were there."""
    result, found = plain(database, [("a", "x")], [("*", "x")], [("a", "x"), ("b", "x"), ("b", "y")])
    assert result.passed
    assert (found["theta"], found["exposed_persons"]) == (0, 0)


def test_an_impossible_value_violates(database: Database) -> None:
    result, found = plain(database, [("a", "x"), ("a", "y")], [("*", "x"), ("*", "y")], [("a", "x")])
    assert not result.passed
    assert (found["theta"], found["exposed_persons"]) == (None, 2)
    assert any("1 classes hold a value that background calls impossible" in note for note in result.notes)


def test_somebody_whom_the_background_does_not_know_violates(database: Database) -> None:
    result, found = plain(database, [("a", "x"), ("b", "x")], [("*", "x"), ("*", "x")], [("a", "x")])
    assert not result.passed
    assert (found["theta"], found["exposed_persons"]) == (None, 1)
    assert any("1 rows of the source" in note for note in result.notes)


def test_a_class_of_nobody_violates(database: Database) -> None:
    result, found = plain(database, [("a", "x")], [("a", "x"), ("b", "x")], [("a", "x"), ("b", "x")])
    assert not result.passed
    assert (found["theta"], found["violating_rows"], found["exposed_persons"]) == (None, 1, 0)
    assert any("1 classes stand for no person in the source" in note for note in result.notes)


def test_revealed_classes_are_those_that_expose(database: Database) -> None:
    rows = [("a", "x"), ("b", "x"), ("b", "y")]
    database.table("source", ["who", "s"], rows)
    database.table("background", ["who", "s"], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
    spec = spec_of({"background": "background", "theta": 0.1})
    result = kanon_sql.check(database.engine, spec, "source", reveal=5)
    assert result.revealed is not None
    assert [item["values"] for item in result.revealed] == [{"who": "a"}]
    hidden = kanon_sql.check(database.engine, spec, "source")
    assert hidden.revealed is None


@pytest.mark.slow
def test_beside_other_requirements_and_backgrounds(database: Database) -> None:
    """Several in one statement: none takes another's lookups, frames or figures."""
    dons(database)
    database.table("sure", ["who", "s"], [("don", "c"), ("ann", "a"), ("ann", "c"), ("don", "a")])
    privacy = [
        {"k_anonymity": 2},
        {"k_map": {"population": "source", "k": 2}},
        {"bayes_optimal": {"attribute": "s", "background": "background", "weight": "w", "theta": 0.1}},
        {"t_closeness": {"attribute": "s", "t": 0.5}},
        {"bayes_optimal": {"attribute": "s", "background": "sure", "theta": 0.1}},
        {"bayes_optimal": {"attribute": "s", "theta": 0.1}},
    ]
    spec = Spec.from_dict({**spec_of({"theta": 0.5}).to_dict(), "privacy": privacy})
    result = kanon_sql.check(database.engine, spec, details=True)
    k, k_map, given_weights, closeness, given_rows, given_source = result.achieved.values()
    assert (k["k"], k_map["k"], closeness["t"]) == (2, 2, 0)
    assert given_weights["theta"] == pytest.approx(0.12)
    assert (given_rows["theta"], given_source["theta"]) == (0, 0)
    assert [item["violating_classes"] for item in result.achieved.values()] == [0, 0, 1, 0, 0, 0]


# --- What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "missing a threshold"),
        ({"weight": "w", "theta": 0.1}, "'weight' is a column of the 'background'"),
        ({"delta": 1}, "delta, above 0 and below 1"),
        ({"epsilon": 0}, "epsilon, above 0 and below 1"),
        ({"theta": 1.5}, "theta between 0 and 1"),
        ({"theta": 0.1, "background": ""}, "background"),
        ({"theta": 0.1, "rho": 1}, "unknown key"),
    ],
)
def test_a_requirement_that_cannot_be(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec_of(asked)


def test_it_is_about_rows() -> None:
    with pytest.raises(SpecError, match="bayes_optimal is defined for rows"):
        spec_of({"theta": 0.1}, unit="person")


def test_the_same_background_twice() -> None:
    one = {"bayes_optimal": {"attribute": "s", "background": "b", "theta": 0.1}}
    with pytest.raises(SpecError, match="the same requirement as item 1"):
        Spec.from_dict({**spec_of({"theta": 0.1}).to_dict(), "privacy": [one, one]})


@pytest.mark.parametrize("verb", [kanon_sql.plan, kanon_sql.anonymize])
def test_a_search_says_why_not(database: Database, verb: Any) -> None:
    dons(database)
    spec = Spec.from_dict({**spec_of({"theta": 0.1}).to_dict(), "release": "other"})
    with pytest.raises(UnsupportedError, match=r"bayes_optimal: .*use this one with check"):
        verb(database.engine, spec)
    assert "other" not in database.tables()


@pytest.mark.parametrize(
    ("background", "message"),
    [
        ({"who": "VARCHAR", "w": "DOUBLE"}, "there is no column 's'"),
        ({"who": "INTEGER", "s": "VARCHAR", "w": "DOUBLE"}, "'who' is INTEGER, and in the source VARCHAR"),
        ({"who": "VARCHAR", "s": "VARCHAR", "w": "VARCHAR"}, "the weight 'w' is VARCHAR; expected a number"),
        ({"who": "VARCHAR", "s": "VARCHAR"}, "there is no column 'w' of weights"),
        ({"who": "VARCHAR", "s": "VARCHAR", "w": "DOUBLE"}, "no weight .* is above 0"),
    ],
)
def test_a_background_that_does_not_fit(database: Database, background: dict[str, str], message: str) -> None:
    dons(database)
    database.table("background", background, [])
    with pytest.raises(SpecError, match=message):
        check(database, {"background": "background", "weight": "w", "theta": 0.1})


@pytest.mark.parametrize("weight", [None, -1.0, float("inf"), float("nan")])
def test_a_weight_that_is_none(database: Database, weight: float | None) -> None:
    dons(database)
    rows = [("don", "a", 1.0), ("don", "b", weight)]
    database.table("background", {"who": "VARCHAR", "s": "VARCHAR", "w": "DOUBLE"}, rows)
    with pytest.raises(SpecError, match=r"1 weights \(w\) are missing, negative or not finite"):
        check(database, {"background": "background", "weight": "w", "theta": 0.1})


@pytest.mark.parametrize("value", ["any", "group"])
def test_a_value_of_the_source_is_no_label(database: Database, value: str) -> None:
    """In the source a cell is the value that it is; in a table made of it, a label of others, which is refused."""
    database.table("h", ["l0", "l1", "l2"], [("b", "group", "any"), ("c", "group", "any"), (value, "other", "any")])
    rows = [("b", "x"), ("c", "y"), (value, "y")]
    database.table("source", ["who", "s"], rows)
    database.table("released", ["who", "s"], rows)
    spec = spec_of({"theta": 0.1}, quasi_identifiers={"who": {"table": "h"}})
    found = kanon_sql.check(database.engine, spec, "source")
    assert found.passed
    assert found.classes["count"] == 3
    with pytest.raises(UnsupportedError, match="stand for different values at different levels"):
        kanon_sql.check(database.engine, spec)


def test_masked_rows_are_refused(database: Database) -> None:
    database.table("source", ["who", "s"], [("a", "x"), ("b", "y")])
    database.table("released", ["who", "s"], [("a", "x"), ("*", "y")])
    with pytest.raises(UnsupportedError, match="several classes stand for one person"):
        check(database, {"theta": 0.1})


def test_a_value_without_a_hierarchy_is_refused(database: Database) -> None:
    dons(database)
    database.table("background", ["who", "s"], [("eve", "a")])
    asked = {"background": "background", "theta": 0.1}
    with pytest.raises(HierarchyError):
        check(database, asked, quasi_identifiers={"who": {"tree": {"all": ["don", "ann"]}}})


# --- On the command line ------------------------------------------------------------------------------


@pytest.mark.slow
def test_check_on_the_command_line(tmp_path: Any) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        dons(Database(connection))
    (tmp_path / "s.yml").write_text(
        "version: 1\nsource: source\nrelease: released\nquasi_identifiers: {who: }\nsensitive: [s]\n"
        "privacy:\n  - bayes_optimal: {attribute: s, background: background, weight: w, theta: 0.1}\n"
    )
    run = ["check", str(tmp_path / "s.yml")]
    found = CliRunner().invoke(app, [*run, "-d", str(tmp_path / "d.duckdb")], env={"COLUMNS": "200"})
    assert found.exit_code == 1
    assert "Bayes-optimal privacy (theta 0.1) of s given background" in " ".join(found.stdout.split())
    assert "theta = 0.12, persons exposed = 1" in " ".join(found.stdout.split())
    assert "don" not in found.stdout
    assert "in cells of too few" in found.stdout
    assert "believed before" in found.stdout
    again = CliRunner().invoke(app, [*run, "-d", str(tmp_path / "d.duckdb"), "--format", "json"])
    jsonschema.Draft202012Validator(result_schema()).validate(json.loads(again.stdout))


# --- On other engines ---------------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=["postgres", "sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mariadb", "clickhouse"))],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_the_same_on_other_engines(subject: Subject) -> None:
    """A random table with NULLs and texts that collations merge: what the oracle says."""
    engine = subject.connect()
    draw = random.Random(5)
    cells = (["11", "12", "21", None], [0, 1, 2, 3], ["x", "X", "á", None])
    source = [tuple(map(draw.choice, cells)) for _ in range(30)]
    columns = {"zip": "text", "age": "integer", "s": "text"}
    weights: dict[tuple[Any, ...], int] = {}
    for zip_code, age, _ in source:
        for value in ("x", "X", "á", None, "ä"):
            weights[zip_code, age, value] = draw.choice([1, 2, 5, 9])
    subject.table("source", columns, source)
    shown = [(None if a is None else f"{a[0]}*", "[0, 2)" if b < 2 else "[2, 4)", c) for a, b, c in source]
    subject.table("released", {"zip": "text", "age": "text", "s": "text"}, shown)
    subject.table("background", {**columns, "w": "double"}, [(*key, weight / 4) for key, weight in weights.items()])
    tables: dict[str, Hierarchy] = {
        "zip": {code: (code, f"{code[0]}*", "*") for code in ("11", "12", "21")},
        "age": {n: (str(n), "[0, 2)" if n < 2 else "[2, 4)", "*") for n in range(4)},
    }
    named = [dict(zip(columns, row, strict=True)) for row in source]
    released = [dict(zip(columns, row, strict=True)) for row in shown]
    background = {(key[:2], key[2]): Fraction(weight) for key, weight in weights.items()}
    judged = judge(named, released, background, tables, "s", theta=Fraction("0.2"), epsilon=Fraction("0.02"))
    spec = spec_of(
        {"background": "background", "weight": "w", "theta": 0.2, "epsilon": 0.02},
        quasi_identifiers={"zip": {"prefix": [1]}, "age": {"intervals": [2]}},
    )
    (found,) = kanon_sql.check(engine, spec).achieved.values()
    assert found["theta"] == pytest.approx(float(max(item.change or 0 for item in judged)), abs=1e-9)
    assert found["violating_classes"] == sum(item.violates for item in judged)
    assert found["exposed_persons"] == sum(item.exposed for item in judged)
    assert shown_cells(found) == cells_of(judged, 5)
    engine.close()
