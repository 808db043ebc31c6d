"""A zero byte or half a character is refused where it comes in, on every way, and told without the text around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import HierarchyError, KanonError, SpecError
from tests.conftest import Database

ROWS = [("a", "x"), ("a", "y")]
BROKEN = ("Planted\x00", "Planted\ud800")
SPEC: dict[str, Any] = {
    "version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 2}]
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a;Planted\x00;*\nb;c;*\n", 1, 2), ("a;c;*\nb\x00;Planted;*\n", 2, 1), ("a,level\n'Planted\x00',*\n", 2, 1)],
)
def test_a_zero_byte_in_a_hierarchy_file(database: Database, tmp_path: Path, text: str, line: int, column: int) -> None:
    database.table("people", ["q", "s"], ROWS)
    path = tmp_path / "q.csv"
    path.write_text(text)
    spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": {"q": {"file": str(path)}}})
    with pytest.raises(HierarchyError) as caught:
        kanon_sql.plan(database.engine, spec)
    first = caught.value.problems[0]
    assert (first.line, first.column) == (line, column)
    assert "a zero byte" in str(caught.value)
    assert "Planted" not in str(caught.value)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(
    "place",
    ["source", "query", "release", "name", "label", "value", "sql", "file", "table", "sensitive", "keep", "unit"],
)
def test_broken_text_in_a_spec(place: str, broken: str) -> None:
    of_q = {"label": {"tree": {broken: ["a"]}}, "value": {"tree": {"b": [broken]}}, "file": {"file": broken}}
    of_q |= {"sql": {"sql": [f"x || '{broken}'"]}, "table": {"table": broken}}
    changes: dict[str, Any] = {
        "query": {"source": {"query": f"SELECT '{broken}' AS q"}}, "name": {"quasi_identifiers": {broken: None}},
        "sensitive": {"sensitive": [broken]}, "keep": {"keep": [broken]},
    }.get(place, {place: broken})  # fmt: skip
    if place in of_q:
        changes = {"quasi_identifiers": {"q": of_q[place]}}
    with pytest.raises(SpecError) as caught:
        kanon_sql.Spec.from_dict({**SPEC, **changes})
    assert "zero byte" in str(caught.value) or "expected" in str(caught.value)


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_text_in_a_name_that_a_verb_is_given(database: Database, broken: str) -> None:
    """The command line turns bytes that are no UTF-8 into half characters."""
    database.table("people", ["q", "s"], ROWS)
    spec, engine = kanon_sql.Spec.from_dict(SPEC), database.engine
    for ask in (
        lambda: kanon_sql.check(engine, spec, broken),
        lambda: kanon_sql.audit(engine, spec, "people", attacks=["complementary"], earlier=[broken]),
        lambda: kanon_sql.audit(engine, spec, "people", attacks=["linking"], external=broken, on=["q"]),
        lambda: kanon_sql.hierarchy(engine, spec, [broken]),
    ):
        with pytest.raises(KanonError) as caught:
            ask()
        assert "Planted\x00" not in str(caught.value).replace("\\x00", "")
