"""A release is recognized by more than its name: what is remade, renamed or restored under one is not replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.sql.dialects import DIALECTS
from kanon_sql.sql.dialects.base import mark_text, marked_run
from kanon_sql.testing import Subject
from tests.servers import subject_of

ENGINES = {"duckdb": [], "postgres": [], "sqlite": [], "mariadb": [], "clickhouse": [], "spark": [pytest.mark.slow]}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[*marks, pytest.mark.xdist_group(f"{name} marks")]) for name, marks in ENGINES.items()
    ],
)
def server(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table("people", {"q": "text"}, [("a",)] * 4)
        yield made


@pytest.fixture
def subject(server: Subject) -> Subject:
    """With nothing published."""
    for table in server.tables():
        if table != "people":
            server.execute(f"DROP TABLE {server.dialect.quote(table)}")
    return server


def publish(subject: Subject, release: str = "released", **changes: Any) -> kanon_sql.results.Release:
    spec = {"version": 1, "source": "people", "release": release, "quasi_identifiers": {"q": None}}
    with subject.connect() as engine:
        return kanon_sql.anonymize(
            engine, kanon_sql.Spec.from_dict({**spec, "privacy": [{"k_anonymity": 2}], **changes})
        )


def make(subject: Subject, name: str, query: str) -> None:
    subject.execute(subject.dialect.create_as(subject.dialect.quote(name), query, False))


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.campaign_on("spark")
def test_a_table_remade_by_hand_is_not_replaced(subject: Subject) -> None:
    assert publish(subject).passed
    assert publish(subject).passed, "its own release is replaced"
    subject.execute("DROP TABLE released")
    make(subject, "released", "SELECT 'precious' AS q")
    with pytest.raises(SpecError, match="created again, or has lost its mark") as refused:
        publish(subject)
    assert subject.fetch("SELECT q FROM released") == [("precious",)]
    assert "precious" not in str(refused.value)
    subject.execute("DROP TABLE released")
    assert publish(subject).passed, "what the message advises"


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.campaign_on("spark")
def test_a_release_that_was_renamed_is_not_replaced(subject: Subject) -> None:
    """The manifest has the run, and the run has the table, but it published it under another name."""
    assert publish(subject).passed
    assert publish(subject, "other").passed
    subject.execute("DROP TABLE other")
    subject.execute(subject.dialect.rename(("released",), "other"))
    with pytest.raises(SpecError, match="not the one that kanon_sql published under this name"):
        publish(subject, "other")
    assert subject.fetch("SELECT q FROM other") == [("a",)] * 4
    assert publish(subject).passed, "the name is free"


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.campaign_on("spark")
def test_a_release_that_lost_its_mark_gets_it_back_as_the_message_says(subject: Subject) -> None:
    result = publish(subject)
    assert result.manifest is not None
    make(subject, "restored", "SELECT q FROM released")  # as a dump without comments would
    subject.execute("DROP TABLE released")
    subject.execute(subject.dialect.rename(("restored",), "released"))
    with pytest.raises(SpecError, match="mark it again") as refused:
        publish(subject)
    statement = str(refused.value).partition("in place of RUN: ")[2]
    subject.execute(statement.replace("RUN", result.manifest["run_id"]))
    assert publish(subject).passed


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.campaign_on("spark")
def test_who_describes_a_release_may_keep_the_mark(subject: Subject) -> None:
    """A comment may say more than ours."""
    if subject.name == "sqlite":
        pytest.skip("an index's name is no description")
    result = publish(subject)
    assert result.manifest is not None
    mark = mark_text(result.manifest["run_id"])
    said = subject.dialect.mark(("released",), "RUN").replace(mark_text("RUN"), f"Visits for the clinic. {mark}.")
    subject.execute(said)
    assert publish(subject).passed


def test_a_table_that_cannot_be_marked_is_not_published(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(subject.dialect), "mark", lambda *_: "no such statement")
    with pytest.raises(DatabaseError, match="a release must carry the mark of its run"):
        publish(subject)
    assert "released" not in subject.tables()
    assert not [table for table in subject.tables() if table.endswith("_release")]


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_can_mark_a_table(name: str) -> None:
    sql = DIALECTS[name].mark(("clinic", 'odd "na]me`' if name not in ("bigquery",) else "odd"), "ab12cd34")
    assert marked_run(sql) == "ab12cd34"
    assert "clinic" in sql


@pytest.mark.parametrize(
    ("text", "run_id"),
    [
        (None, None), ("", None), ("anonymized by kanon_sql", None), ("anonymized by kanon_sql, run ", None),
        ("anonymized by kanon_sql, run ab12", "ab12"), ("Mine. anonymized by kanon_sql, run ab12; more", "ab12"),
        ("anonymized by kanon_sql, run AB", None),
    ],
)  # fmt: skip
def test_a_mark_is_read_back(text: str | None, run_id: str | None) -> None:
    assert marked_run(text) == run_id
