"""(1,k)-, (k,1)-, (k,k)- and global (1,k)-anonymity as requirements: ``check`` against every assignment."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.evaluate.test_consistency import HALVES, problems, stored, told
from tests.oracles.consistency import Consistent, Edges, consistent, edges_of
from tests.servers import subject_of
from tests.support.strategies import examples

KINDS = ("kk", "1k", "k1", "global_1k")
LABELS = {"kk": "({k},{k})", "1k": "(1,{k})", "k1": "({k},1)", "global_1k": "global (1,{k})"}


def asked(kind: str, k: int) -> dict[str, Any]:
    return {"kk_anonymity": {"k": k, "variant": kind}}


def spec_of(columns: Mapping[str, Any], kind: str, k: int, **changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1,
            "source": "source",
            "release": "release",
            "quasi_identifiers": columns,
            "privacy": [asked(kind, k)],
            **changes,
        }
    )


def fill(database: Database, problem: Mapping[str, Any]) -> dict[str, Any]:
    tables = problem["tables"]
    for name in ("source", "release"):
        database.table(name, list(tables), [[row[column] for column in tables] for row in problem[name]])
    return stored(database, tables)


def measured(edges: Edges, found: Consistent, kind: str) -> list[int]:
    """Per row of the release, what its class is measured by: the fewest on either side, as the paper counts them."""
    by_records = {"1k": found.of_records, "kk": found.of_records, "global_1k": found.matches}.get(kind)
    measures = []
    for row, own in zip(found.of_rows, edges, strict=True):
        counts = [row] if kind in ("kk", "k1") else []
        if by_records is not None:
            counts += [by_records[record] for record in own if by_records[record]] or [0]
        measures.append(min(counts))
    return measures


def is_foreign(problem: Mapping[str, Any], edges: Edges, found: Consistent, kind: str) -> bool:
    """Whether the release shows that it was not made of the source: too many records left out, or no assignment."""
    left_out = found.of_records.count(0)
    if left_out > max(0, len(problem["source"]) - len(problem["release"])):
        return True
    return kind == "global_1k" and (found.matches is None or not all(edges))


@pytest.mark.slow
@examples(40)
@given(problems(), st.integers(1, 4), st.sampled_from(KINDS))
def test_check_against_every_assignment(shared_database: Database, given: dict[str, Any], k: int, kind: str) -> None:
    spec = spec_of(fill(shared_database, given), kind, k)
    edges = edges_of(given["source"], given["release"], given["tables"])
    found = consistent(edges, len(given["source"]))
    if is_foreign(given, edges, found, kind):
        with pytest.raises(UnsupportedError, match=r"made of|assigned"):
            kanon_sql.check(shared_database.engine, spec)
        return
    result = kanon_sql.check(shared_database.engine, spec)
    measures = measured(edges, found, kind)
    (achieved,) = result.achieved.values()
    assert achieved["k"] == min(measures, default=None)
    assert achieved["violating_rows"] == sum(measure < k for measure in measures)
    assert result.passed == (all(measure >= k for measure in measures) and result.rows["source"] > 0)
    assert LABELS[kind].format(k=k) in result.message or not given["release"]


@pytest.mark.slow
def test_what_implies_what(database: Database) -> None:
    """The paper's point: rows that are (2,2)-anonymous, and of which a record has one match all the same."""
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("p", "v"), ("w", "v"), ("w", "v")),
        "release": told(("*", "u"), ("*", "u"), ("p", "*"), ("*", "v"), ("w", "*")),
    }
    columns = fill(database, problem)
    verdicts = {kind: kanon_sql.check(database.engine, spec_of(columns, kind, 2)) for kind in KINDS}
    assert {kind: result.verdict for kind, result in verdicts.items()} == {
        "kk": "pass", "1k": "pass", "k1": "pass", "global_1k": "fail",
    }  # fmt: skip
    assert not kanon_sql.check(database.engine, spec_of(columns, "kk", 2, privacy=[{"k_anonymity": 2}])).passed


@pytest.mark.slow
def test_both_sides_are_asked_for(database: Database) -> None:
    """A row of its own values beside rows that hide everything: all records see three rows, the row sees one record."""
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("w", "v")),
        "release": told(("p", "u"), ("*", "*"), ("*", "*")),
    }
    columns = fill(database, problem)
    verdicts = {kind: kanon_sql.check(database.engine, spec_of(columns, kind, 2)).verdict for kind in KINDS}
    assert verdicts == {"kk": "fail", "1k": "pass", "k1": "fail", "global_1k": "fail"}
    crowd = {**problem, "release": told(("*", "u"), ("*", "u"), ("w", "v"))}
    columns = fill(database, {**crowd, "source": told(("p", "u"), ("q", "u"), ("w", "v"), ("w", "v"))})
    verdicts = {kind: kanon_sql.check(database.engine, spec_of(columns, kind, 2)).verdict for kind in KINDS}
    assert verdicts == {"kk": "fail", "1k": "fail", "k1": "pass", "global_1k": "fail"}


def test_several_kinds_in_one_spec(database: Database) -> None:
    problem = {"tables": HALVES, "source": told(("p", "u"), ("p", "v")), "release": told(("p", "*"), ("p", "*"))}
    spec = spec_of(fill(database, problem), "kk", 2, privacy=[asked(kind, 2) for kind in KINDS])
    result = kanon_sql.check(database.engine, spec)
    assert result.passed
    assert {key: item["k"] for key, item in result.achieved.items()} == {
        "kk_anonymity": 2, "kk_anonymity[1k]": 2, "kk_anonymity[k1]": 2, "kk_anonymity[global_1k]": 2,
    }  # fmt: skip
    assert Spec.from_dict(spec.to_dict()).privacy == spec.privacy


@pytest.mark.slow
def test_the_source_itself(database: Database) -> None:
    """Raw values cover themselves alone, so that all notions are k-anonymity."""
    source = told(("p", "u"), ("p", "u"), ("w", "v"))
    columns = fill(database, {"tables": HALVES, "source": source, "release": source})
    for kind in KINDS:
        (achieved,) = kanon_sql.check(database.engine, spec_of(columns, kind, 2), "source").achieved.values()
        assert (achieved["k"], achieved["violating_rows"]) == (1, 1)


# --- What is refused ---------------------------------------------------------------------------------------


def test_a_release_of_others_is_no_pass(database: Database) -> None:
    problem = {"tables": HALVES, "source": told(("p", "u"), ("p", "u")), "release": told(("q", "u"), ("q", "u"))}
    for kind in KINDS:
        with pytest.raises(UnsupportedError, match="2 records of the source are consistent with no row"):
            kanon_sql.check(database.engine, spec_of(fill(database, problem), kind, 2))


def test_too_much_to_compare_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("p", "v"), ("w", "v"), ("w", "v")),
        "release": told(("*", "u"), ("*", "u"), ("p", "*"), ("*", "v"), ("w", "*")),
    }
    columns = fill(database, problem)
    module = sys.modules["kanon_sql.evaluate.consistency"]
    monkeypatch.setattr(module, "MOST_EDGES", 5)
    with pytest.raises(UnsupportedError, match="more than 5 edges, too many to look for all assignments"):
        kanon_sql.check(database.engine, spec_of(columns, "global_1k", 2))
    assert kanon_sql.check(database.engine, spec_of(columns, "kk", 2)).passed
    monkeypatch.setattr(module, "MOST_PAIRS", 15)
    with pytest.raises(UnsupportedError, match="4 different records would be compared with 4 different rows"):
        kanon_sql.check(database.engine, spec_of(columns, "kk", 2))


def test_a_label_of_two_meanings_is_refused(database: Database) -> None:
    """York is a city and a county of two: whoever reads the row as the county would count two records."""
    tables = {"a": {"York": ("York", "York", "*"), "Selby": ("Selby", "York", "*"), "Hull": ("Hull", "Hull", "*")}}
    rows = [{"a": "York"}, {"a": "Selby"}]
    columns = fill(database, {"tables": tables, "source": rows, "release": [{"a": "York"}, {"a": "York"}]})
    with pytest.raises(UnsupportedError, match="stand for different values at different levels"):
        kanon_sql.check(database.engine, spec_of(columns, "kk", 2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "person"}, "compares records with rows, but a person with several rows has several records"),
        ({"privacy": [{"kk_anonymity": {"k": 2, "variant": "k_k"}}]}, "unknown variant of kk_anonymity"),
        ({"privacy": [{"kk_anonymity": {"k": 0}}]}, "a whole number of at least 1"),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec_of({"a": None, "b": None}, "kk", 2, **changes)


def test_a_search_of_the_lattice_refuses_it(database: Database) -> None:
    columns = fill(database, {"tables": HALVES, "source": told(("p", "u")), "release": told(("p", "u"))})
    for recoding in ("full_domain", "local"):
        with pytest.raises(UnsupportedError, match="use k_anonymity, which implies it, or recoding: kk"):
            kanon_sql.plan(database.engine, spec_of(columns, "kk", 2, recoding=recoding))


def test_labels_of_no_hierarchy_are_refused(database: Database) -> None:
    columns = fill(database, {"tables": HALVES, "source": told(("p", "u")), "release": told(("p", "u"))})
    with pytest.raises(UnsupportedError, match="ranges are not labels of a hierarchy"):
        kanon_sql.check(database.engine, spec_of(columns, "kk", 2, recoding="mondrian"))


# --- Values that engines like to merge -----------------------------------------------------------------------


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
    """Texts that collations merge, and NULL: what the oracle counts."""
    tables: dict[str, Any] = {
        "zip": {code: (code, f"{code[0]}*", "*") for code in ("aa", "ab", "Aa", "áa")},
        "age": {n: (str(n), "[0, 2)" if n < 2 else "[2, 4)", "*") for n in range(4)},
    }
    source: Sequence[dict[str, Any]] = [
        {"zip": "aa", "age": 0}, {"zip": "aa", "age": 1}, {"zip": "Aa", "age": 1}, {"zip": "áa", "age": 3},
        {"zip": None, "age": 3}, {"zip": None, "age": 2}, {"zip": "ab", "age": 2},
    ]  # fmt: skip
    release: Sequence[dict[str, Any]] = [
        {"zip": "a*", "age": "[0, 2)"}, {"zip": "aa", "age": "*"}, {"zip": "*", "age": "1"}, {"zip": "*", "age": "3"},
        {"zip": "*", "age": "[2, 4)"}, {"zip": None, "age": "[2, 4)"}, {"zip": "*", "age": "2"},
    ]  # fmt: skip
    subject.table("source", {"zip": "text", "age": "integer"}, [tuple(row.values()) for row in source])
    subject.table("release", {"zip": "text", "age": "text"}, [tuple(row.values()) for row in release])
    edges = edges_of(source, release, tables)
    found = consistent(edges, len(source))
    engine = subject.connect()
    for kind in KINDS:
        spec = spec_of({"zip": {"prefix": [1]}, "age": {"intervals": [2]}}, kind, 2)
        (achieved,) = kanon_sql.check(engine, spec).achieved.values()
        measures = measured(edges, found, kind)
        assert (achieved["k"], achieved["violating_rows"]) == (min(measures), sum(m < 2 for m in measures)), kind
    engine.close()
