"""What published anonymizers leave undone in a run: its order, its traces, its verification; each is refuted here."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import HierarchyError, VerificationError
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.sql.text import Relation
from tests.conftest import Database, quoted
from tests.support.pitfalls import STYLES, checked, k, l, spec_of

# --- runs: independent, repeatable, in random order ----------------------------------------------------------


def test_pitfall_10_runs_are_independent(database: Database) -> None:
    spec = spec_of(["q"], [k(2)], keep=["n"])
    database.table("people", ["q", "n"], [("a", "first")] * 3)
    assert kanon_sql.anonymize(database.engine, spec).rows["source"] == 3
    database.table("people", ["q", "n"], [("b", "second")] * 5 + [("c", "second")] * 2)
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.rows["source"], result.classes["count"]) == (7, 2)
    assert set(database.rows("people_release")) == {("b", "second"), ("c", "second")}
    with closing(kanon_sql.connect()) as other, pytest.raises(kanon_sql.KanonError):
        kanon_sql.plan(other, spec)  # what the first database holds is not there
    assert [name for name in database.tables() if re.match(r"kanon_[0-9a-f]{8}_", name)] == []


@pytest.mark.slow
def test_pitfall_11_the_order_of_rows_never_matters(database: Database) -> None:
    """Rows that were deleted leave gaps in the numbering; the order of the rest is shuffled."""
    rows = [("a", "x"), ("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z")]
    for seed in range(6):
        shuffled = random.Random(seed).sample([*rows, *[("gone", "w")] * 5], 11)
        database.table("people", ["q", "s"], shuffled)
        database.connection.execute("DELETE FROM people WHERE q = 'gone'")
        result = checked(database, l(2), k(2))
        assert result.achieved["distinct_l_diversity(s)"]["l"] == 1
        assert result.achieved["distinct_l_diversity(s)"]["violating_rows"] == 2
        spec = spec_of(["q"], [l(2)], sensitive=["s"], suppression={"max_rows": 2})
        assert kanon_sql.anonymize(database.engine, spec).node == {"q": 0}
        assert Counter(database.rows("people_release")) == Counter(rows[2:])


def release_of_many(database: Database, **more: Any) -> list[int]:
    """The serial numbers of a release of 2,000 rows in their physical order."""
    database.connection.execute(
        "CREATE OR REPLACE TABLE people AS SELECT 'name ' || i AS name, i AS ssn, (i // 40) AS q, i AS person,"
        " i AS serial, 'secret' AS unnamed FROM range(2000) AS numbers(i)"
    )
    identifiers = ["name", "ssn"]
    spec = spec_of({"q": {"intervals": [10]}}, [k(40)], identifiers=identifiers, keep=["serial"], **more)
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.node == {"q": 0}
    assert database.columns("people_release") == ["q", "serial"]
    return [serial for _, serial in database.rows("people_release")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("more", [{}, {"unit": "person"}], ids=["rows", "persons"])
def test_pitfall_12_physical_order_is_random_and_identifiers_are_gone(database: Database, more: Any) -> None:
    first, second = release_of_many(database, **more), release_of_many(database, **more)
    assert sorted(first) == sorted(second) == list(range(2000))
    assert first != second
    for order in (first, second):
        distances = sum((place - serial) ** 2 for place, serial in enumerate(order))
        correlation = 1 - 6 * distances / (2000 * (2000**2 - 1))  # Spearman; its deviation is 0.022
        assert abs(correlation) < 0.12
        # Neither do rows of a class, or neighbours of the source, stand together.
        neighbours = sum(abs(a - b) == 1 for a, b in pairwise(order))
        same_class = sum(a // 40 == b // 40 for a, b in pairwise(order))
        assert neighbours < 20
        assert same_class < 100


def test_pitfall_12_masked_rows_do_not_stand_together(database: Database) -> None:
    database.connection.execute(
        "CREATE TABLE people AS SELECT CASE WHEN i < 1600 THEN 'most' ELSE 'v' || i END AS q, i AS serial"
        " FROM range(2000) AS numbers(i)"
    )
    spec = spec_of(["q"], [k(50)], keep=["serial"], suppression={"max_rows": 400, "style": "mask"})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.rows["masked"] == 400
    places = [place for place, (q, _) in enumerate(database.rows("people_release")) if q == "*"]
    assert len(places) == 400
    assert 850 < sum(places) / 400 < 1150


def test_pitfall_12_a_release_that_holds_an_identifier_is_refused(database: Database) -> None:
    database.table("people", ["name", "q"], [("n", "a")] * 4)
    database.table("leak", ["name", "q"], [("n", "a")] * 4)
    spec = spec_of(["q"], [k(2)], identifiers=["name"])
    result = kanon_sql.check(database.engine, spec, "leak")
    assert not result.passed
    assert "identifiers (name)" in result.message


@pytest.mark.slow
def test_pitfall_14_the_same_spec_gives_the_same_release(database: Database) -> None:
    generator = random.Random(14)
    rows = [
        (generator.choice("abcdef"), generator.randrange(60), generator.choice("xyz"), generator.randrange(80))
        for _ in range(400)
    ]
    columns = {"zip": "VARCHAR", "age": "INTEGER", "s": "VARCHAR", "person": "INTEGER"}
    quasi_identifiers = {"zip": {"tree": {"1": list("abc"), "2": list("def")}}, "age": {"intervals": [5, 10, 20]}}
    for more in ({}, {"unit": "person"}):
        seen = []
        for run in range(4):
            database.table("people", columns, random.Random(run).sample(rows, len(rows)))
            database.connection.execute(f"SET threads = {run % 2 + 1}")
            spec = spec_of(
                quasi_identifiers,
                [k(4), l(2, "entropy")],
                sensitive=["s"],
                suppression={"max_share": 0.1, "style": "mask"},
                **more,
            )
            result = kanon_sql.anonymize(database.engine, spec)
            assert result.passed
            known = {**result.to_dict(), "cost": None}
            seen.append((known, Counter(database.rows("people_release")), result.manifest["spec_hash"]))  # type: ignore[index]
        assert all(one == seen[0] for one in seen)


def test_pitfall_20_every_row_is_measured(database: Database) -> None:
    """One row in 200,000 stands alone."""
    database.connection.execute(
        "CREATE TABLE people AS SELECT CASE WHEN i = 123456 THEN 'alone' ELSE 'v' || (i % 50) END AS q"
        " FROM range(200000) AS numbers(i)"
    )
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(2)]), "people")
    assert (result.verdict, result.achieved["k_anonymity"]["k"], result.rows["source"]) == ("fail", 1, 200000)
    result = kanon_sql.anonymize(database.engine, spec_of(["q"], [k(2)], suppression={"max_rows": 1}))
    assert result.rows == {"source": 200000, "released": 199999, "suppressed": 1}


# --- what a failure leaves behind ----------------------------------------------------------------------------


def test_pitfall_24_nothing_that_is_kept_or_said_holds_a_rare_value(database: Database) -> None:
    """Results, statements, messages, the manifest: numbers only."""
    secret = "Xylophon"
    database.table("people", ["q", "s"], [(secret, f"{secret} ill"), *[("common", "flu")] * 6])
    spec = spec_of(["q"], [k(2), l(3)], sensitive=["s"], suppression={"max_rows": 1})
    checked = kanon_sql.check(database.engine, spec, "people")
    said: list[kanon_sql.results.Result] = [checked]
    said.append(kanon_sql.plan(database.engine, spec))
    said.append(kanon_sql.anonymize(database.engine, spec))
    loose = spec_of(["q"], [k(2)], sensitive=["s"], suppression={"max_rows": 1})
    said.append(kanon_sql.anonymize(database.engine, loose))
    assert [result.verdict for result in said] == ["fail", "fail", "fail", "pass"]
    text = "\n".join(json.dumps(result.to_dict()) + "\n".join(result.sql) for result in said)
    text += "\n".join(json.dumps(result.to_dict(all_minimal=True)) for result in said if result is not checked)
    text += json.dumps(said[-1].manifest)
    for hierarchy in ({"tree": {"1": ["common", "other"]}}, {"sql": ["CASE WHEN x = 'common' THEN 'c' END"]}):
        with pytest.raises(HierarchyError, match="1 distinct value ") as raised:
            kanon_sql.plan(database.engine, spec_of({"q": hierarchy}, [k(2)]))
        text += str(raised.value)
    left = [name for name in database.tables() if name != "people"]
    text += str([database.rows(name) for name in left])
    assert left == ["kanon_sql_manifest", "kanon_sql_scratch", "people_release"]
    assert secret not in text
    assert secret[:4] not in text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("style", STYLES)
def test_pitfall_25_the_written_table_is_what_is_verified(
    database: Database, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """A search that is right and a release that is written wrong: nothing is published."""
    database.table("people", ["q"], [("a",), *[("b",)] * 4])
    before = database.tables()
    spec = spec_of(["q"], [k(2)], suppression={"max_rows": 1, "style": style})

    def forgets(self: Evaluator, node: Any) -> Relation:
        target = self.workspace.table("suppressed")
        database.connection.execute(
            f"CREATE TEMPORARY TABLE {quoted(target.parts[-1])} AS SELECT 0 AS k0, 1 AS class_rows WHERE 1 = 0"
        )
        return target

    with monkeypatch.context() as patched:
        patched.setattr(Evaluator, "suppressed_classes", forgets)
        with pytest.raises(VerificationError):
            kanon_sql.anonymize(database.engine, spec)
    assert set(database.tables()) - set(before) <= {"kanon_sql_scratch"}
    assert kanon_sql.anonymize(database.engine, spec).passed


def test_pitfall_25_masked_rows_are_held_to_the_requirement_too(database: Database) -> None:
    """One suppressed row, masked, would be a class of one: it is dropped instead, and that is said."""
    database.table("people", ["q"], [("a",), *[("b",)] * 4])
    spec = spec_of(["q"], [k(2)], suppression={"max_rows": 1, "style": "mask"})
    result = kanon_sql.anonymize(database.engine, spec)
    assert Counter(database.rows("people_release")) == {("b",): 4}
    assert "masked" not in result.rows
    assert any("dropped, not masked" in note for note in result.notes)
    assert result.message.endswith("1 row suppressed, and dropped instead of masked")


def test_pitfall_25_masked_rows_join_the_rows_that_are_released_at_the_top(database: Database) -> None:
    """Masked for a NULL, they are one class with rows at the top: judged together, as they are written."""
    rows = [(None, "x", "p1"), (None, "y", "p2"), ("a", "y", "p1"), ("a", "x", "p2")]
    database.table("people", ["q", "s", "person"], rows)
    spec = spec_of(
        {"q": {"minimum_level": 1}},
        [k(2), l(2)],
        sensitive=["s"],
        unit="person",
        nulls="suppress",
        suppression={"max_rows": 2, "style": "mask"},
    )
    result = kanon_sql.anonymize(database.engine, spec)  # together everybody has x, and everybody has y
    assert Counter(database.rows("people_release")) == {("*", "y"): 1, ("*", "x"): 1}
    assert any("dropped, not masked" in note for note in result.notes)
    database.table("people", ["q", "s", "person"], [(None, "x", "p1"), ("a", "y", "p2"), ("a", "x", "p3")])
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.rows["masked"], result.achieved["k_anonymity"]["k"]) == (1, 3)
