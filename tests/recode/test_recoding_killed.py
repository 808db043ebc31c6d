"""A process killed before any statement of a recoding: what stands is the earlier release or the new one.

DuckDB's file is copied before each statement, as the operating system would show it to the next process: so one run
shows what every kill leaves. PostgreSQL's session is ended there, and rolls back by itself.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.campaign.wire import Point, Wire
from tests.servers import subject_of
from tests.servers.embedded import DuckDBSubject
from tests.support.recodings import RECODINGS, RELEASE, SOURCE, earlier, fill, spec

WORKSHOP = "workshop"
"""The schema of scratch tables, which outlive the connection, so that a killed run leaves them."""

SCRATCH = f"schema:{WORKSHOP}"
KEPT = {SOURCE, RELEASE, "kanon_sql_manifest", "kanon_sql_scratch"}
Rows = Counter[tuple[Any, ...]]


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


class FileSubject(DuckDBSubject):
    """A DuckDB file, looked at by one connection and written by others."""

    def __init__(self, file: Path) -> None:
        self.connection = duckdb.connect(str(file))
        self.file = file

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(str(self.file), **options)


def places(subject: Subject) -> list[tuple[str, str]]:
    """Where tables stand, and their names."""
    return [
        (str(schema), str(name))
        for schema, name in subject.fetch("SELECT table_schema, table_name FROM information_schema.tables")
        if schema in ("main", "public", WORKSHOP)
    ]


def tables(subject: Subject) -> set[str]:
    return {name for _, name in places(subject)}


def recorded(subject: Subject) -> set[str]:
    """The scratch tables that are recorded, beside the release or in the schema of scratch tables."""
    records = [schema for schema, name in places(subject) if name == "kanon_sql_scratch"]
    rows = [row for schema in records for row in subject.fetch(f"SELECT object_name FROM {schema}.kanon_sql_scratch")]
    return {json.loads(name)[-1] for (name,) in rows}


def assert_promises(subject: Subject, before: Rows, new: Rows, place: str) -> bool:
    """What must hold after a kill; returns whether the new release stands."""
    there = Counter(subject.rows(RELEASE))
    assert there in (before, new), place
    others = tables(subject) - KEPT
    assert all(re.fullmatch(r"kanon_[0-9a-f]{8}_\w+", name) for name in others), place
    # The record is written before the table: a table that nothing records would never be found.
    assert others <= recorded(subject), place
    with subject.connect(scratch=SCRATCH) as engine:
        for schema in (None, WORKSHOP):
            clean(engine, schema, drop=True)
    assert tables(subject) <= KEPT, place
    assert recorded(subject) == set(), place
    assert Counter(subject.rows(RELEASE)) == there, place
    claimed = {row[0] for row in subject.fetch("SELECT published_at FROM kanon_sql_manifest")}
    assert "pending" not in claimed, place
    return there == new


def killed_at(subject: Subject, asked: kanon_sql.Spec, place: int) -> list[str]:
    """Anonymize until the session ends before a statement, 0 for never; returns the statements."""
    names: list[str] = []

    def act(point: Point) -> None:
        if point.when == "before":
            names.append(point.name)
        if place and len(names) >= place:
            raise Killed

    engine = subject.connect(scratch=SCRATCH)
    Wire(engine, act)
    try:
        kanon_sql.anonymize(engine, asked).raise_for_failure()
    except Killed:
        pass
    finally:
        engine.close()
    return names


def prepared(subject: Subject, name: str) -> tuple[Rows, Rows, list[str]]:
    """Make the source, the new release, and then the earlier one in its place.

    Returns:
        The rows of the earlier one and of the new one, and the statements that make the one of the other.
    """
    subject.schema(WORKSHOP)
    fill(subject)
    killed_at(subject, earlier(), 0)
    names = killed_at(subject, spec(name), 0)
    new = Counter(subject.rows(RELEASE))
    assert holds(subject, name, new), "what the runs publish is what was asked for"
    killed_at(subject, earlier(), 0)
    before = Counter(subject.rows(RELEASE))
    assert new != before
    return before, new, names


def holds(subject: Subject, name: str, released: Rows) -> bool:
    """Whether every class has two rows; of (k,k)-anonymous rows, whose classes may be smaller, what ``check`` says."""
    if name.startswith("kk"):
        with subject.connect(scratch=SCRATCH) as engine:
            return kanon_sql.check(engine, spec(name)).passed
    columns = len(spec(name).quasi_identifiers)
    sizes: Rows = Counter()
    for row, times in released.items():
        sizes[row[:columns]] += times
    return min(sizes.values()) >= 2


def chosen(names: list[str], name: str, step: int) -> set[int]:
    """Statements to be killed before: one in so many, others for each recoding, and all that publish.

    With a long step, as every time, of those that publish the ones beside the commit alone.
    """
    publishing, inserted = names.index("release/write") + 1, names.index("release/manifest/insert") + 1
    if step > 20:
        publishing = inserted + 1
    return {*range(1 + list(RECODINGS).index(name) % step, len(names) + 1, step), *range(publishing, inserted + 3)}


def kill_everywhere(directory: Path, name: str, step: int) -> None:
    """Copy the file before each statement of a run, and see what each copy holds."""
    subject = FileSubject(directory / "clinic.duckdb")
    before, new, names = prepared(subject, name)
    wanted, seen = chosen(names, name, step), 0
    with subject.connect(scratch=SCRATCH) as engine:

        def copied(point: Point) -> None:
            nonlocal seen
            seen += point.when == "before"
            if point.when == "before" and seen in wanted:
                for file in directory.glob("clinic.duckdb*"):
                    shutil.copyfile(file, directory / f"{seen}.{file.name}")

        Wire(engine, copied)
        kanon_sql.anonymize(engine, spec(name)).raise_for_failure()
    assert Counter(subject.rows(RELEASE)) == new
    assert seen == len(names)
    subject.close()
    stood = Counter[bool]()
    for place in sorted(wanted):
        killed = FileSubject(directory / f"{place}.clinic.duckdb")
        stood[assert_promises(killed, before, new, f"before statement {place}, {names[place - 1]}")] += 1
        killed.close()
        for file in directory.glob(f"{place}.clinic.duckdb*"):
            file.unlink()
    assert stood[True]
    assert stood[False]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", "microaggregation"])
def test_a_kill_leaves_the_earlier_release_or_the_new(tmp_path: Path, name: str) -> None:
    kill_everywhere(tmp_path, name, 50)


@pytest.mark.campaign_on(
    "cells",
    "kk",
    "kk, global",
    "local",
    "subtree",
    "local, best",
    "local, ranges",
    "microaggregation",
    "subtree, bottom up",
)
@pytest.mark.parametrize("name", RECODINGS)
@pytest.mark.parametrize(
    "step", [pytest.param(24, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.campaign)]
)
@pytest.mark.sampled(6)
def test_a_kill_before_any_statement(tmp_path: Path, name: str, step: int) -> None:
    """One in so many, and all of them: each is cleaned up after, which takes longer than the run up to there."""
    kill_everywhere(tmp_path, name, step)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Subject]:
    with subject_of("postgres") as made:
        yield made


@pytest.mark.campaign_on("mondrian", "subtree")
@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("local", 60),
        *(pytest.param(name, 20, marks=pytest.mark.slow) for name in ("mondrian", "subtree")),
        *(pytest.param(name, 1, marks=pytest.mark.campaign) for name in RECODINGS),
    ],
)
@pytest.mark.slow
def test_an_ended_session_leaves_the_earlier_release_or_the_new(postgres: Subject, name: str, step: int) -> None:
    before, new, names = prepared(postgres, name)
    asked = spec(name)
    stood = Counter[bool]()
    for place in sorted(chosen(names, name, step)):
        if Counter(postgres.rows(RELEASE)) != before:
            killed_at(postgres, earlier(), 0)
        assert len(killed_at(postgres, asked, place)) >= place
        stood[assert_promises(postgres, before, new, f"before statement {place}, {names[place - 1]}")] += 1
    assert stood[True]
    assert stood[False]
    assert killed_at(postgres, asked, 0)
    assert Counter(postgres.rows(RELEASE)) == new, "the next run needs no help"
