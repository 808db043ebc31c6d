"""What a ledger of several tables refuses, and how releases are entered in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.release import ledger as history
from kanon_sql.report.ledger import ledger_text
from kanon_sql.report.related_page import relational_report
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs import relational
from kanon_sql.verbs.clean import clean


def spec_of(name: str, **more: Any) -> RelationalSpec:
    """Persons and their stays, released under names that begin with a letter."""
    content: dict[str, Any] = {
        "version": 1,
        "person": {"table": "people", "name": f"{name}_people", "key": "id", "quasi_identifiers": {"sex": {}}},
        "tables": {
            f"{name}_stays": {"table": "stays", "person": "who", "quasi_identifiers": {"ward": {"prefix": [1]}}},
        },
        "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
        "recoding": "full_domain",
        "release": {"schema": "released"},
        "ledger": {"table": "ledger", "on_conflict": "refuse"},
    }
    for place, value in more.items():
        *way, last = place.replace("STAYS", f"{name}_stays").split("__")
        part = content
        for step in way:
            part = part[step]
        part[last] = value
    return RelationalSpec.from_dict(content)


def fill(subject: Subject) -> None:
    subject.table(
        "people", {"id": "integer", "sex": "text", "age": "integer"}, [(n, "FM"[n % 2], 30) for n in range(8)]
    )
    subject.table(
        "stays", {"nr": "integer", "who": "integer", "ward": "text"}, [(n, n, f"x{n // 4}") for n in range(8)]
    )
    subject.execute("CREATE SCHEMA released")


@pytest.fixture
def engine(subject: Subject) -> Iterator[Engine]:
    fill(subject)
    with subject.connect() as engine:
        yield engine


# --- What a spec with a ledger cannot have --------------------------------------------------


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"recoding": "local"}, "recoding: local chooses levels by class and row"),
        ({"ledger__on_conflict": "coarsen"}, "no coarser levels are looked for in several tables"),
        (
            {"person__sensitive": ["age"], "privacy": [{"km_anonymity": {"k": 2}}, {"coherence": {"h": 0.9}}]},
            "not yet their sensitive values",
        ),
        ({"person__shift": ["age"]}, "cannot make moved dates again"),
        ({"tables__STAYS__most_rows": 3}, "rows are left out at random"),
        ({"person__quasi_identifiers": {"sex": {"table": "sexes"}}}, "may change unnoticed between two releases"),
        (
            {"release": {"schema": "released", "keys": {"secret": "env:KEY"}}},
            "keys of a secret join releases row by row",
        ),
        ({"ledger": "people"}, "the ledger has the name of a source"),
        ({"ledger": "released.a_stays"}, "the ledger has the name of a source"),
    ],
)
def test_a_ledger_refuses_what_it_cannot_make_again(more: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        spec_of("a", **more)


def test_a_spec_with_a_ledger_reads_back() -> None:
    spec = spec_of("a")
    assert RelationalSpec.from_dict(spec.to_dict()) == spec
    assert spec.redacted()["ledger"] == {"table": "ledger", "on_conflict": "refuse"}
    assert "ledger" not in RelationalSpec.from_dict({**spec.to_dict(), "ledger": None}).to_dict()


# --- What cannot be compared ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "why"),
    [
        ("a", {}, "stays as it is, to be compared with"),
        ("b", {"tables__STAYS__quasi_identifiers": {"ward": {"prefix": [2]}}}, "has another hierarchy"),
        ("b", {"person__table": "stays", "person__key": "nr", "person__quasi_identifiers": {"ward": {}}, "tables": {}},
         "has other persons"),
        ("b", {"person__key": "age"}, "identifies its rows by another key"),
        ("b", {"tables__STAYS__person": "nr"}, "identifies its rows by another key, or has them below another"),
        ("b", {"tables__STAYS__quasi_identifiers": {}, "tables__STAYS__keep": ["ward"]}, "a quasi-identifier of both"),
        ("b", {"tables__STAYS__table": {"query": "SELECT * FROM stays"}}, "this one is a view, a query or a file"),
        ("b", {"tables__STAYS__table": "seen"}, "this one is a view, a query or a file"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_before_the_search(
    engine: Engine, subject: Subject, name: str, more: dict[str, Any], why: str
) -> None:
    subject.execute("CREATE VIEW seen AS SELECT nr, who, ward AS place, ward FROM stays")
    assert kanon_sql.anonymize(engine, spec_of("a")).passed
    with pytest.raises(SpecError, match=why):
        kanon_sql.anonymize(engine, spec_of(name, **more))
    assert len(kanon_sql.ledger(engine, "ledger").entries) == 1


@pytest.mark.slow
def test_a_release_that_is_gone(engine: Engine, subject: Subject) -> None:
    assert kanon_sql.anonymize(engine, spec_of("a")).passed
    subject.execute("DROP TABLE released.a_stays")
    with pytest.raises(SpecError, match=r"released.a_stays \(run .*\) is not in the database"):
        kanon_sql.anonymize(engine, spec_of("b"))


@pytest.mark.slow
def test_a_hierarchy_of_which_only_a_digest_is_known(engine: Engine) -> None:
    tree = {"sex": {"tree": {"all": ["F", "M"]}}}
    assert kanon_sql.anonymize(engine, spec_of("a", person__quasi_identifiers=tree)).passed
    (entry,) = kanon_sql.ledger(engine, "ledger").entries
    assert '"F"' not in json.dumps(entry.to_dict())
    with pytest.raises(SpecError, match=r"the ledger does not hold the hierarchy of person.sex in released.a_people"):
        kanon_sql.anonymize(engine, spec_of("b", person__quasi_identifiers={}))
    assert kanon_sql.anonymize(engine, spec_of("b", person__quasi_identifiers=tree)).passed


@pytest.mark.slow
def test_a_ledger_holds_one_kind_of_release(engine: Engine) -> None:
    single = {
        "version": 1, "source": "people", "release": "released.alone", "quasi_identifiers": {"sex": {}},
        "privacy": [{"k_anonymity": 2}],
    }  # fmt: skip
    assert kanon_sql.anonymize(engine, spec_of("a")).passed
    with pytest.raises(SpecError, match=r"released.a_people is a release of several tables"):
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**single, "ledger": "ledger"}))
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**single, "ledger": "other"})).passed
    with pytest.raises(SpecError, match=r"released.alone is a release of a single table"):
        kanon_sql.anonymize(engine, spec_of("b", ledger="other"))


@pytest.mark.slow
def test_a_table_has_other_names_and_columns_in_other_releases(engine: Engine, subject: Subject) -> None:
    """A table is known by its source; what only an earlier release shows is read by its rule in the ledger."""
    first = spec_of("a", person__quasi_identifiers={"sex": {}, "age": {"intervals": [10]}}, person__replace=[])
    assert kanon_sql.anonymize(engine, first).passed
    subject.execute("CREATE TABLE drugs AS SELECT nr AS who, 'd' AS drug FROM stays")
    other = {"drugs": {"table": "drugs", "person": "who", "quasi_identifiers": {"drug": {}}}}
    result = kanon_sql.anonymize(engine, spec_of("b", tables=other))
    assert result.passed, result.message
    assert result.ledger is not None
    assert (result.ledger["changed"], result.ledger["persons"], result.ledger["classes"]) == ([], 8, 2)
    third = kanon_sql.anonymize(engine, spec_of("c", tables__STAYS__table="main.stays"))
    assert third.passed, third.message
    assert third.ledger is not None
    assert third.ledger["earlier"] == ["released.a_people", "released.b_people"]


# --- What is said ---------------------------------------------------------------------------


def test_what_was_compared_is_said(engine: Engine) -> None:
    assert "the ledger was not read" in kanon_sql.plan(engine, spec_of("a")).notes[-1]
    assert "none: the first one" in str(kanon_sql.anonymize(engine, spec_of("a")))
    second = kanon_sql.anonymize(engine, spec_of("b"))
    assert "Together with earlier releases" in str(second)
    assert "released.a_people" in str(second)
    page = relational_report(second)
    assert "Together with earlier releases" in page
    assert "joint classes" in page
    assert second.manifest is not None
    assert second.manifest["release_of_tables"]["ledger"]["earlier"] == ["released.a_people"]
    listed = kanon_sql.ledger(engine, "ledger")
    console = Console(width=200)
    with console.capture() as capture:
        console.print(ledger_text(listed))
    text = capture.get()
    assert "person.sex 0, a_stays.ward 0" in text
    assert "km_anonymity (k = 2, m = 1)" in text
    (first, _) = listed.to_dict()["entries"]
    assert first["persons"] == {"source": 8, "released": 8}
    assert first["tables"][1]["columns"]["ward"]["level_name"] == "as in the source"


# --- How releases are entered ---------------------------------------------------------------


def test_a_release_that_was_entered_meanwhile_stops_this_one(
    engine: Engine, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = relational.publish_together

    def late(*args: Any, **kwargs: Any) -> None:
        monkeypatch.undo()
        with subject.connect() as other:
            assert kanon_sql.anonymize(other, spec_of("b")).passed
        publish(*args, **kwargs)

    monkeypatch.setattr(relational, "publish_together", late)
    with pytest.raises(DatabaseError, match="another run entered a release meanwhile"):
        kanon_sql.anonymize(engine, spec_of("a"))
    assert [entry.name for entry in kanon_sql.ledger(engine, "ledger").entries] == ["released.b_people"]
    assert subject.fetch("SELECT COUNT(*) FROM duckdb_tables() WHERE table_name LIKE 'a_%'") == [(0,)]


class Killed(BaseException):
    """Nothing runs afterwards."""


@pytest.mark.slow
def test_a_kill_while_tables_are_published_ends_with_clean(
    engine: Engine, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where DDL cannot be rolled back: what stands is in the ledger, and clean takes back what never stood."""
    assert kanon_sql.anonymize(engine, spec_of("a")).passed
    kind = type(engine)
    execute = kind.execute
    monkeypatch.setattr(kind, "capabilities", replace(engine.capabilities, transactional_ddl=False))
    in_steps = {"schema": "released", "publish": "in_steps"}
    for position in range(1, 30):
        left = position

        def dying(self: Any, statement: Statement) -> None:
            nonlocal left
            left -= statement.name.startswith(("release/m", "release/rename"))
            if left <= 0:
                raise Killed
            execute(self, statement)

        name = f"s{position}"
        with subject.connect() as dead, monkeypatch.context() as patch:
            patch.setattr(kind, "execute", dying)
            try:
                kanon_sql.anonymize(dead, spec_of(name, release=in_steps))
            except Killed:
                pass
            else:
                break
        with subject.connect() as other:
            clean(other, "released", drop=True)
            entered = f"released.{name}_people" in [item.name for item in kanon_sql.ledger(other, "ledger").entries]
            stands = [other.exists(("released", f"{name}_{table}")) is not None for table in ("people", "stays")]
            assert stands == [entered, entered], position
    else:
        raise AssertionError("publishing takes more than thirty statements")
    assert position > 6


@pytest.mark.slow
def test_what_fails_without_transactions_is_withdrawn(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kanon_sql.anonymize(engine, spec_of("a")).passed
    monkeypatch.setattr(type(engine), "capabilities", replace(engine.capabilities, transactional_ddl=False))
    in_steps = {"schema": "released", "publish": "in_steps"}
    with monkeypatch.context() as patch:
        patch.setattr(history.Addition, "_refuse_others", lambda *_: (_ for _ in ()).throw(DatabaseError("refused")))
        with pytest.raises(DatabaseError, match="refused"):
            kanon_sql.anonymize(engine, spec_of("b", release=in_steps))
    assert len(kanon_sql.ledger(engine, "ledger").entries) == 1
    assert engine.exists(("released", "b_people")) is None
    assert kanon_sql.anonymize(engine, spec_of("b", release=in_steps)).passed
