"""Rare categories: which values are merged, against the definition in plain Python, and what refuses such labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, KanonError, SpecError, UnsupportedError
from kanon_sql.verbs.certify import certify
from kanon_sql.verbs.dbt import dbt
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.strategies import VALUES, examples

TYPES = {"job": "text", "age": "integer", "who": "text"}


def merged(rows: list[tuple[Any, ...]], place: int, below: int, by_person: bool) -> set[str]:
    """By definition: the values of fewer rows or persons, and then the next ones until all of them have enough."""
    holders: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        if row[place] is not None:
            holders.setdefault(str(row[place]), []).append(row[2] if by_person else number)
    held = {value: {who for who in those if who is not None} for value, those in holders.items()}
    in_order = sorted(held, key=lambda value: (len(held[value]), value))
    found = [value for value in in_order if len(held[value]) < below]
    rest = in_order[len(found) :]
    while found and rest and len(set().union(*(held[value] for value in found))) < below:
        found.append(rest.pop(0))
    return set(found)


def spec_of(below: int | None = None, k: int = 3, **changes: Any) -> kanon_sql.Spec:
    rare = {"other": "Rest", **({} if below is None else {"below": below})}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"job": {"rare": rare, "minimum_level": 1, "maximum_level": 1}},
            "privacy": [{"k_anonymity": {"k": k}}],
            "suppression": {"max_share": 1.0},
            "recoding": "full_domain",
            **changes,
        }
    )


def labels_of(engine: kanon_sql.Engine, fetch: Any, spec: kanon_sql.Spec) -> Counter[Any]:
    result = kanon_sql.anonymize(engine, spec)
    assert result.passed, result.message
    return Counter(row[0] for row in fetch("SELECT job FROM people_release"))


ROWS: list[tuple[Any, ...]] = [
    *[("cook", 30, f"p{n}") for n in range(6)],
    *[("nurse", 40, f"p{n % 2}") for n in range(4)],
    ("Nurse", 40, "p9"),
    ("king", 40, "p8"),
    ("pope", 40, "p8"),
    ("", 40, "p7"),
    (None, 40, "p6"),
    (None, 40, "p5"),
    (None, 40, "p4"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_on_every_engine(name: str) -> None:
    with subject_of(name) as subject:
        subject.table("people", TYPES, ROWS)
        engine = subject.connect()
        for by_person, k in ((False, 3), (False, 4), (True, 3), (True, 4)):
            subject.drop("people_release")
            spec = spec_of(k=k, privacy=[{"k_anonymity": {"k": 1}}], **({"unit": "who"} if by_person else {}))
            with pytest.raises(SpecError, match="no requirement asks for a size"):
                kanon_sql.plan(engine, spec)
            spec = spec_of(k, k=1, **({"unit": "who"} if by_person else {}))
            rare = merged(ROWS, 0, k, by_person)
            wanted = Counter("Rest" if row[0] in rare else row[0] for row in ROWS)
            assert labels_of(engine, subject.fetch, spec) == wanted, (by_person, k)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*VALUES, None]), st.integers(0, 6), st.sampled_from(["p", "q", "r", "s", "t", None])
        ),
        min_size=1,
        max_size=24,
    ),
    st.integers(2, 5),
    st.booleans(),
    st.sampled_from(["job", "age"]),
)
@example([("a", 1, "p"), ("a", 2, "p"), ("b", 1, "q"), ("b", 1, "r"), ("c", 1, "q"), ("c", 1, "r")], 2, True, "job")
@example([("a", 1, "p"), ("b", 1, "p"), ("c", 1, "q"), ("c", 1, "r")], 2, True, "job")
@examples(160)
def test_random_tables(
    shared_database: Database, rows: list[tuple[Any, ...]], below: int, by_person: bool, column: str
) -> None:
    types = {"job": "VARCHAR", "age": "INTEGER", "who": "VARCHAR"}
    shared_database._connection.execute("DROP TABLE IF EXISTS people_release")
    shared_database.table("people", types, [list(row) for row in rows])
    hierarchy = {"rare": {"other": "Rest", "below": below}, "minimum_level": 1, "maximum_level": 1}
    # The other one is withheld; by it a person has several vectors with one value.
    withheld = {"minimum_level": 1, "maximum_level": 1}
    both = {name: hierarchy if name == column else withheld for name in ("job", "age")}
    spec = spec_of(quasi_identifiers=both, k=1, **({"unit": "who"} if by_person else {}))
    place = list(types).index(column)
    rare = merged(rows, place, below, by_person)
    result = kanon_sql.anonymize(shared_database.engine, spec)
    if not result.passed:
        assert by_person, "a class without persons is the only one that is not 1-anonymous"
        return
    found = Counter(row[place] for row in shared_database.rows("people_release"))
    kept = [row for row in rows if not by_person or _has_person(rows, row, place, rare)]
    wanted = Counter(
        None if row[place] is None else "Rest" if str(row[place]) in rare else str(row[place]) for row in kept
    )
    assert found == wanted


def _has_person(rows: list[tuple[Any, ...]], row: tuple[Any, ...], place: int, rare: set[str]) -> bool:
    """Whether a row's class holds a person: those without one are suppressed."""

    def label(own: tuple[Any, ...]) -> Any:
        return own[place] if own[place] is None or str(own[place]) not in rare else ...

    return any(other[2] is not None and label(other) == label(row) for other in rows)


@pytest.mark.slow
def test_k_is_the_threshold_and_recodings_have_the_labels(database: Database) -> None:
    database.table("people", {"job": "VARCHAR", "age": "INTEGER", "who": "VARCHAR"}, [list(row) for row in ROWS])
    free = {"job": {"rare": {"other": "Rest"}}}
    for recoding in ("full_domain", "local", "subtree"):
        spec = spec_of(k=3, quasi_identifiers=free, recoding=recoding)
        result = kanon_sql.anonymize(database.engine, spec)
        assert result.passed
        shown = {row[0] for row in database.rows("people_release")}
        assert shown == {"cook", "nurse", "Rest", None}, recoding
        assert kanon_sql.check(database.engine, spec).passed
        database._connection.execute("DROP TABLE people_release")


def test_the_labels_as_a_file(database: Database, tmp_path: Path) -> None:
    """What a ledger, a state, dbt and certificates take instead."""
    database.table("people", {"job": "VARCHAR", "age": "INTEGER", "who": "VARCHAR"}, [list(row) for row in ROWS])
    written = kanon_sql.hierarchy(database.engine, spec_of(k=3, unit="who"), ["job"], export=tmp_path)
    file = written.hierarchies[0].file
    assert file is not None
    by_file = spec_of(
        quasi_identifiers={"job": {"file": str(file), "minimum_level": 1, "maximum_level": 1}}, unit="who"
    )
    found = labels_of(database.engine, lambda _: database.rows("people_release"), by_file)
    database._connection.execute("DROP TABLE people_release")
    assert found == labels_of(database.engine, lambda _: database.rows("people_release"), spec_of(unit="who"))


def test_a_value_that_is_called_like_the_others(database: Database) -> None:
    database.table("people", {"job": "VARCHAR"}, [["Rest"], *[["cook"]] * 3])
    with pytest.raises(HierarchyError, match="a value is called like the label of the merged values"):
        kanon_sql.plan(database.engine, spec_of())
    database.table("people", {"job": "VARCHAR"}, [*[["Rest"]] * 3, *[["cook"]] * 3])
    assert kanon_sql.plan(database.engine, spec_of()).node == {"job": 1}, "nothing is merged, so the label is a value"


@pytest.mark.parametrize(
    "changes",
    [
        {"ledger": {"table": "l"}},
        {"state": {"schema": "s"}},
        {"recoding": {"save_as": "kept"}},
        {"release": {"view": "v", "accept_sequence_risk": True}},
        {"privacy": [{"k_map": {"population": "everybody", "k": 3}}]},
        {"privacy": [{"differential_privacy": {"epsilon": 1, "delta": 1e-6, "generalization": {"job": 1}}}]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_refused_where_other_rows_are_labelled(changes: dict[str, Any]) -> None:
    with pytest.raises(
        SpecError, match=r"which values are rare depends on the rows of one moment.*kanon-sql hierarchy"
    ):
        spec_of(**changes)


def test_refused_by_verbs_that_count_nothing(database: Database, tmp_path: Path) -> None:
    database.table("people", {"job": "VARCHAR", "age": "INTEGER", "who": "VARCHAR"}, [list(row) for row in ROWS])
    spec = spec_of()
    with pytest.raises(KanonError, match="which values are rare"):
        kanon_sql.render(spec)
    with pytest.raises(KanonError, match="to tell which values are rare"):
        dbt(database.engine, spec, tmp_path)
    spec = spec_of(sensitive=["age"])
    assert kanon_sql.anonymize(database.engine, spec).passed
    with pytest.raises(UnsupportedError, match="no certificate counts"):
        certify(database.engine, spec, tmp_path / "certificate")
    audited = kanon_sql.audit(database.engine, spec)
    assert any("were rare in the source" in why for why in audited.left_out.values())
