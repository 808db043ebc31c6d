"""A release that grows where engines differ: rights, two runs at once, and kills where nothing can be rolled back."""

from __future__ import annotations

import importlib
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine, Meter
from kanon_sql.errors import DatabaseError, KanonError, SpecError
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of
from tests.servers.mariadb import MariaDBSubject
from tests.support.refreshed import Killed, spec

pytestmark = pytest.mark.slow

COLUMNS = {"day": "integer", "zip": "text", "disease": "text"}
FIRST = [(1, f"{letter}{letter}1", "flu") for letter in "aaaabbbbcc"]
SECOND = [(2, f"{letter}{letter}1", "flu") for letter in "abbbc"]
BEFORE, AFTER = Counter({"aa*": 4, "bb*": 4}), Counter({"aa*": 4, "bb*": 7, "cc*": 3})


def begin(subject: Subject, engine: Engine) -> None:
    """A release of the first day, whose second day has come."""
    subject.drop("visits_release")
    clean(engine, states=True, drop=True)
    clean(engine, drop=True)
    subject.table("visits", COLUMNS, FIRST)
    assert kanon_sql.anonymize(engine, spec()).passed
    subject.table("visits", COLUMNS, FIRST + SECOND)


def released(subject: Subject) -> Counter[Any]:
    return Counter(zip_code for zip_code, *_ in subject.rows("visits_release"))


@pytest.fixture(scope="module")
def postgres() -> Iterator[Subject]:
    with subject_of("postgres") as made:
        yield made


def test_a_state_that_others_may_read_is_refused(postgres: Subject) -> None:
    with postgres.connect() as engine:
        begin(postgres, engine)
        postgres.execute("CREATE ROLE reader NOLOGIN")
        kanon_sql.refresh(engine, spec())
        postgres.execute("GRANT USAGE ON SCHEMA kanon_state TO reader")
        with pytest.raises(SpecError, match="1 other users or roles may read the schema 'kanon_state'"):
            kanon_sql.refresh(engine, spec())
        postgres.execute("REVOKE USAGE ON SCHEMA kanon_state FROM reader")
        postgres.execute("GRANT pg_read_all_data TO reader")  # who may read the source as well
        assert kanon_sql.refresh(engine, spec()).message == "nothing was changed: there are no new rows"


def test_who_comes_second_waits_and_is_refused(postgres: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("kanon_sql.release.grow")
    change, errors = module._change_in_place, []

    def second() -> None:
        try:
            with postgres.connect() as other:
                kanon_sql.refresh(other, spec())
        except DatabaseError as error:
            errors.append(str(error))

    thread = threading.Thread(target=second)

    def meanwhile(workspace: Any, growing: Any) -> None:
        if not thread.ident:
            thread.start()
            thread.join(3)  # it has read the state, and waits for this transaction
        change(workspace, growing)

    with postgres.connect() as engine:
        begin(postgres, engine)
        monkeypatch.setattr(module, "_change_in_place", meanwhile)
        kanon_sql.refresh(engine, spec())
        thread.join()
    assert released(postgres) == AFTER
    assert len(errors) == 1
    assert "another run has changed it" in errors[0]


RIGHTS = {
    "all of it": "GRANT SELECT ON kanon_state.* TO reader@localhost",
    "what is named like it": "GRANT SELECT ON `kanon\\_%`.* TO reader@localhost",
    "any one character": "GRANT SELECT ON `kanon_state`.* TO reader@localhost",
    "to move tables": "GRANT ALTER, DROP ON kanon_state.* TO reader@localhost",
    "one table": "GRANT SELECT ON kanon_state.kanon_sql_state TO reader@localhost",
    "one column": "GRANT SELECT (manifest) ON kanon_state.kanon_sql_state TO reader@localhost",
    "by a role": "GRANT SELECT ON kanon_state.* TO readers",
    "from another host": "GRANT SELECT ON kanon_state.* TO root@elsewhere",
    "everybody": "GRANT SELECT ON kanon_state.* TO PUBLIC",
}


def test_mariadb_tells_who_may_read_a_schema() -> None:
    with subject_of("mariadb") as subject, subject.connect() as engine:
        for statement in ("USER reader@localhost", "ROLE readers", "USER root@elsewhere"):
            subject.execute(f"CREATE {statement}")
        begin(subject, engine)
        subject.execute("GRANT SELECT ON `kanon\\_other`.* TO reader@localhost")  # another schema
        subject.execute("GRANT SELECT ON *.* TO reader@localhost")  # who may read the source as well
        kanon_sql.refresh(engine, spec())
        assert released(subject) == AFTER
        for what, grant in RIGHTS.items():
            subject.execute(grant)
            with pytest.raises(SpecError, match="1 other users or roles may read the schema 'kanon_state'"):
                kanon_sql.refresh(engine, spec())
            head, _, grantee = grant.rpartition(" TO ")
            subject.execute(f"{head.replace('GRANT', 'REVOKE', 1)} FROM {grantee}")
            assert kanon_sql.refresh(engine, spec()).message.startswith("nothing was changed"), what


def test_who_sees_no_rights_in_mariadb_keeps_no_state() -> None:
    with subject_of("mariadb") as subject:
        assert isinstance(subject, MariaDBSubject)
        subject.table("visits", COLUMNS, FIRST)
        subject.execute("CREATE USER keeper@localhost")
        database = subject.fetch("SELECT DATABASE()")[0][0]
        for schema in (database, "kanon_state"):
            subject.execute(f"GRANT ALL ON `{schema}`.* TO keeper@localhost")
        with kanon_sql.connect(subject.server.url("keeper")) as engine:
            with pytest.raises(SpecError, match="this user cannot see who else may read 'kanon_state'"):
                kanon_sql.anonymize(engine, spec())
            assert "visits_release" not in subject.tables()
            for table in ("db", "tables_priv", "columns_priv"):
                subject.execute(f"GRANT SELECT ON mysql.{table} TO keeper@localhost")
            assert kanon_sql.anonymize(engine, spec()).passed
            subject.table("visits", COLUMNS, FIRST + SECOND)
            assert kanon_sql.refresh(engine, spec()).refresh["added"] == 6  # type: ignore[index]


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.parametrize("engine", ["duckdb", "postgres", "sqlite", "mariadb", "clickhouse"])
@pytest.mark.sampled(4)
def test_watermarks_of_every_kind(engine: str) -> None:
    """What is above the last one is taken, to the last digit, and nothing twice."""
    days = {
        "date": (date(2026, 1, 1), date(2026, 1, 2)),
        "timestamp": (datetime(2026, 1, 1, 12, 0, 0, 1000), datetime(2026, 1, 1, 12, 0, 0, 2000)),
        "decimal": (Decimal("9.50"), Decimal("10.25")),
        "bigint": (2**53, 2**53 + 1),
    }
    with subject_of(engine) as subject, subject.connect() as opened:
        schema = "main" if engine == "sqlite" else "kanon_state"
        for kind, (first, second) in days.items():
            rows = [(first, *rest) for _, *rest in FIRST]
            subject.drop("visits_release")
            clean(opened, schema, states=True, drop=True)
            subject.table("visits", {**COLUMNS, "day": kind}, rows)
            growing = spec(state=schema)
            assert kanon_sql.anonymize(opened, growing).passed
            assert kanon_sql.refresh(opened, growing).message == "nothing was changed: there are no new rows", kind
            subject.table("visits", {**COLUMNS, "day": kind}, [*rows, *((second, *rest) for _, *rest in SECOND)])
            assert kanon_sql.refresh(opened, growing).refresh["taken"] == 5, kind  # type: ignore[index]
            assert released(subject) == AFTER
            assert kanon_sql.refresh(opened, growing).message == "nothing was changed: there are no new rows", kind


@pytest.mark.campaign_on("spark")
@pytest.mark.parametrize("engine", ["duckdb", "postgres", "sqlite", "mariadb", "clickhouse", "spark"])
def test_rows_leave_in_classes_of_k(engine: str) -> None:
    """One of eight goes with two others; one that waits goes alone; a changed row goes, and comes."""
    with subject_of(engine) as subject, subject.connect() as opened:
        schema = "main" if engine == "sqlite" else "kanon_state"
        growing = spec(state=schema)
        subject.table("visits", COLUMNS, [(1, f"{letter}{letter}1", "flu") for letter in "aaaaaaaabbbc"])
        assert kanon_sql.anonymize(opened, growing).passed
        for name, letters in (("gone", "ac"), ("changed", "b"), ("new", "aaa")):
            subject.table(name, COLUMNS, [(1, f"{letter}{letter}1", "flu") for letter in letters])
        first = kanon_sql.refresh(opened, growing, deleted="gone", batch="first").refresh
        assert first is not None
        assert (first["removed"], first["waiting"], first["retired"]) == (3, 0, 2)
        assert released(subject) == Counter({"aa*": 5, "bb*": 3})
        second = kanon_sql.refresh(opened, growing, deleted="changed", inserted="new", batch="second", verify_all=True)
        assert released(subject) == Counter({"aa*": 8})
        assert second.rows == {"source": 12, "released": 8, "suppressed": 4}


def test_rights_by_the_beginning_of_a_name_count_on_clickhouse() -> None:
    """Users are not made there, so the catalog is: what it lists, and how many others may read the schema."""
    listed = [
        ("reader", "SELECT", "kanon_state", 1),
        ("reader", "SELECT", "kanon_", 1),  # kanon_*
        ("reader", "ALL", "", 1),  # *
        ("reader", "SELECT", "kanon_other", 0),
        ("reader", "INSERT", "kanon_state", 0),
        ("default", "SELECT", "kanon_state", 0),
    ]
    with subject_of("clickhouse") as subject:
        asked = subject.dialect.readers(("kanon_state",))
        assert asked is not None
        for user, access, database, readers in listed:
            grants = f"SELECT '{user}' AS user_name, '{access}' AS access_type, '{database}' AS database"
            grants += ", 0 AS is_partial_revoke"
            users = "SELECT '' AS name, '' AS storage"
            query = asked.replace("system.grants", f"({grants})").replace("system.users", f"({users})")
            assert subject.fetch(query) == [(readers,)], (user, access, database)


@pytest.mark.campaign
@pytest.mark.parametrize("server", ["clickhouse", "mariadb"])
def test_a_kill_leaves_the_earlier_release_or_the_new(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is rolled back there: the state is that of the run whose mark the release has."""
    counted = Meter.count
    names: list[str] = []

    def killed(subject: Subject, at: int) -> None:
        def count(self: Meter, statement: Any, *given: Any) -> Any:
            names.append(statement.name)
            if at and len(names) >= at:
                raise Killed
            return counted(self, statement, *given)

        names.clear()
        engine = subject.connect()
        with monkeypatch.context() as patching:
            patching.setattr(Meter, "count", count)
            try:
                kanon_sql.refresh(engine, spec())
            except Killed:
                pass
            finally:
                engine.close()

    with subject_of(server) as subject:
        with subject.connect() as engine:
            begin(subject, engine)
        killed(subject, 0)
        assert released(subject) == AFTER
        total, first = len(names), names.index("release/manifest/insert") - 2
        stood = Counter[bool]()
        for at in [*range(5, first, 25), *range(first, total + 1, 2)]:
            with subject.connect() as engine:
                begin(subject, engine)
            killed(subject, at)
            found = released(subject)
            assert found in (BEFORE, AFTER), f"before statement {at}"
            stood[found == AFTER] += 1
            with subject.connect() as engine:
                again = kanon_sql.refresh(engine, spec())
                assert released(subject) == AFTER, f"before statement {at}"
                assert again.message.startswith("nothing" if found == AFTER else "added")
                kanon_sql.refresh(engine, spec(), inserted="SELECT 1 AS day, 'aa1' AS zip, 'flu' AS disease", batch="x")
                states = clean(engine, states=True, drop=False).objects
                assert [item.state for item in states] == ["state of a release"], "the next run drops what was left"
        assert stood[True]
        assert stood[False]


def test_who_publishes_at_the_same_moment_on_clickhouse_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be locked there: after the name was looked at, and before the exchange, another run publishes."""
    with subject_of("clickhouse") as subject, subject.connect() as engine, subject.connect() as other:
        begin(subject, engine)
        module = importlib.import_module("kanon_sql.release.publish")
        looked, done = module.replaced_run, []

        def looks(*given: Any) -> Any:
            found = looked(*given)
            if not done:
                done.append(True)
                late = "SELECT 1 AS day, 'dd1' AS zip, 'flu' AS disease FROM numbers(4)"
                assert kanon_sql.refresh(other, spec(), inserted=late, batch="late").refresh["added"] == 4  # type: ignore[index]
            return found

        with monkeypatch.context() as patch:
            patch.setattr(module, "replaced_run", looks)
            with pytest.raises(DatabaseError, match="that release is back under its name"):
                kanon_sql.refresh(engine, spec())
        assert released(subject) == BEFORE + Counter({"dd*": 4})
        assert len(clean(engine, states=True, drop=False).objects) == 1
        assert kanon_sql.refresh(engine, spec()).refresh["added"] == 6  # type: ignore[index]
        assert released(subject) == AFTER + Counter({"dd*": 4})


def test_an_error_on_clickhouse_leaves_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    with subject_of("clickhouse") as subject, subject.connect() as engine:
        begin(subject, engine)
        module = importlib.import_module("kanon_sql.release.grow")

        def refused(*_: Any, **__: Any) -> None:
            raise DatabaseError("on purpose")

        with monkeypatch.context() as patch:
            patch.setattr(module, "publish", refused)
            with pytest.raises(KanonError, match="on purpose"):
                kanon_sql.refresh(engine, spec())
        assert released(subject) == BEFORE
        assert len(clean(engine, states=True, drop=False).objects) == 1
