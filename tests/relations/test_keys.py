"""The new keys of tables that are released together: random ones, those of a secret, and values that tables share."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.relations import ENGINES

PUBLISHING = ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)]

SECRET = "a secret of 24 characters"


def people(subject: Subject, persons: int = 8) -> str:
    """Persons with contacts and orders, which repeat an e-mail address; returns the schema to release into."""
    numbers = range(persons)
    mail = lambda n: f"p{n % 5}@x"  # noqa: E731
    subject.table("people", {"pid": "integer", "age": "integer"}, [(n, 30) for n in numbers])
    subject.table("contacts", {"pid": "integer", "email": "text", "kind": "text"},
                  [(n, mail(n), "x") for n in numbers])  # fmt: skip
    subject.table("orders", {"oid": "integer", "pid": "integer", "email": "text", "what": "text"},
                  [(100 + n, n, mail(n) if n else None, "y") for n in numbers])  # fmt: skip
    return subject.schema("released")[0]


def spec_of(
    schema: str, keys: Any = "random", tables: tuple[str, ...] = ("r_contacts", "r_orders"), **more: Any
) -> Any:
    listed = {
        "r_contacts": {"table": "contacts", "person": "pid", "quasi_identifiers": {"kind": {}}, "replace": ["email"]},
        "r_orders": {
            "table": "orders",
            "key": "oid",
            "person": "pid",
            "quasi_identifiers": {"what": {}},
            "replace": ["email"],
        },
    }
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "name": "r_people", "key": "pid", "quasi_identifiers": {"age": {}}},
            "tables": {name: listed[name] for name in tables},
            "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
            "release": {"schema": schema, "keys": keys, "publish": "in_steps"},
            **more,
        }
    )


def hashed(purpose: str, text: str, secret: str = SECRET) -> str:
    key = hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


@pytest.mark.parametrize("name", PUBLISHING)
def test_keys_of_a_secret_are_the_same_in_every_release(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS", SECRET)
    with subject_of(name) as subject:
        schema = people(subject)
        spec = spec_of(schema, {"secret": "env:KEYS"})
        engine = subject.connect()
        result = kanon_sql.anonymize(engine, spec)
        assert result.passed, result.message
        assert [item.code for item in result.warnings] == ["keys_join_releases"]
        assert kanon_sql.check(engine, spec).passed
        persons = {hashed("rows of r_people by pid", str(n)) for n in range(8)}
        assert {row[0] for row in subject.fetch(f"SELECT pid FROM {schema}.r_people")} == persons
        orders = subject.fetch(f"SELECT oid, pid, email FROM {schema}.r_orders")
        assert {tuple(row) for row in orders} == {
            (
                hashed("rows of r_orders by oid", str(100 + n)),
                hashed("rows of r_people by pid", str(n)),
                hashed("values of email", f"p{n % 5}@x") if n else None,
            )
            for n in range(8)
        }
        assert "p1@x" not in str(result.sql)
        assert SECRET not in str(result.sql)
        engine.close()


def test_a_key_of_several_columns_is_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """(a, bc) and (ab, c) are two keys."""
    monkeypatch.setenv("KEYS", SECRET)
    with subject_of("duckdb") as subject:
        subject.table("people", {"a": "text", "b": "text"}, [("a", "bc"), ("ab", "c")])
        subject.execute("CREATE SCHEMA released")
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "key": ["a", "b"]},
                "items": {"i": {"column": "c", "split": ";"}},
                "privacy": [{"km_anonymity": {"k": 1, "m": 1}}],
                "release": {"schema": "released", "keys": {"secret": "env:KEYS"}},
            }
        )
        subject.execute("ALTER TABLE people ADD COLUMN c VARCHAR DEFAULT 'x'")
        assert kanon_sql.anonymize(subject.connect(), spec).passed
        purpose = "rows of people by a, b"
        expected = {hashed(purpose, hashed(purpose, a) + hashed(purpose, b)) for a, b in (("a", "bc"), ("ab", "c"))}
        assert {row[0] for row in subject.fetch("SELECT a_b FROM released.people")} == expected
        assert {row[0] for row in subject.fetch("SELECT a_b FROM released.i")} == expected


@pytest.mark.parametrize("name", PUBLISHING)
def test_a_value_that_tables_repeat_becomes_one_key(name: str) -> None:
    with subject_of(name) as subject:
        schema = people(subject)
        engine = subject.connect()
        result = kanon_sql.anonymize(engine, spec_of(schema))
        assert result.passed, result.message
        assert any("r_contacts.email, r_orders.email" in note for note in result.notes)
        contacts = dict(subject.fetch(f"SELECT pid, email FROM {schema}.r_contacts"))
        orders = dict(subject.fetch(f"SELECT pid, email FROM {schema}.r_orders"))
        assert sorted(set(contacts.values())) == [1, 2, 3, 4, 5]
        assert [orders[pid] for pid in contacts].count(None) == 1
        assert all(orders[pid] in (None, email) for pid, email in contacts.items())
        checked = kanon_sql.check(engine, spec_of(schema))
        assert not any("not counted, since the spec does not name them" in note for note in checked.notes)
        engine.close()


@pytest.mark.parametrize("name", PUBLISHING)
def test_a_key_and_a_column_of_its_name_share_new_keys(name: str) -> None:
    """Contacts are identified by their address; orders are a person's, and name an address; a person has one home."""
    with subject_of(name) as subject:
        subject.table("people", {"pid": "integer", "c": "text"}, [(n, "x") for n in range(4)])
        subject.table("contacts", {"email": "text", "pid": "integer"}, [(f"p{n}@x", n) for n in range(4)])
        subject.table("orders", {"pid": "integer", "EMAIL": "text"}, [(n, f"p{3 - n}@x") for n in range(4)])
        subject.table("homes", {"pid": "integer", "town": "text"}, [(n, "ab"[n % 2]) for n in range(4)])
        schema = subject.schema("released")
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "key": "pid"},
                "tables": {
                    "contacts": {"key": "email", "person": "pid"},
                    "orders": {"person": "pid", "replace": ["EMAIL"]},
                    "homes": {"key": "pid", "person": "pid", "quasi_identifiers": {"town": {"maximum_level": 0}}},
                },
                "items": {"i": {"column": "c", "split": ";"}},
                "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
                "release": {"schema": list(schema), "publish": "in_steps"},
            }
        )
        engine = subject.connect()
        result = kanon_sql.anonymize(engine, spec)
        assert result.passed, result.message
        owner = dict(subject.rows([*schema, "contacts"]))
        named = dict(subject.rows([*schema, "orders"]))
        homes = dict(subject.rows([*schema, "homes"]))
        assert sorted(owner) == [1, 2, 3, 4]
        assert sorted(homes) == sorted(owner.values())
        assert sorted(homes.values()) == ["a", "a", "b", "b"]
        for pid in owner.values():  # person n names the address of 3 - n, whose owner names that of n
            other = owner[named[pid]]
            assert homes[other] != homes[pid]
            assert owner[named[other]] == pid
        engine.close()


def test_no_seed_of_a_session_decides_keys_or_the_order_of_rows() -> None:
    with subject_of("duckdb") as subject:
        people(subject, 40)
        subject.execute("CREATE TABLE numbered AS SELECT *, pid AS old FROM people")
        spec = spec_of("released", person={"table": "numbered", "name": "r_people", "key": "pid", "keep": ["old"]})
        engine, seen = subject.connect(), []
        for _ in range(2):
            subject.execute("SELECT SETSEED(0.5)")
            assert kanon_sql.anonymize(engine, spec).passed
            rows = subject.fetch("SELECT pid, old FROM released.r_people")
            seen.append((dict(rows), [old for _, old in rows]))
        (first, order), (second, other) = seen
        assert first != second
        assert order != other
        assert order != sorted(order)
        assert "RANDOM" not in str(kanon_sql.anonymize(engine, spec).sql).upper()


# --- What is refused, and what is warned of ---------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES if name != "spark")]
)
def test_a_schema_that_is_missing_is_said_before_anything_is_read(name: str) -> None:
    with subject_of(name) as subject:
        people(subject)
        engine = subject.connect()
        with pytest.raises(SpecError) as error:
            kanon_sql.anonymize(engine, spec_of("nosuch"))
        assert str(error.value) == "release.schema: there is no schema 'nosuch'; create it first, or name another one"
        assert not [item for item in engine.meter.log if item.name.startswith("relations/")]
        assert engine.meter.source_scans == 0
        engine.close()


@pytest.mark.parametrize("name", PUBLISHING)
def test_tables_of_an_earlier_release_are_named(name: str) -> None:
    with subject_of(name) as subject:
        schema = people(subject)
        engine = subject.connect()
        assert not kanon_sql.anonymize(engine, spec_of(schema)).warnings
        fewer = spec_of(schema, tables=("r_contacts",))
        for _ in range(2):  # said as long as it stands
            (warned,) = kanon_sql.anonymize(engine, fewer).warnings
            assert (warned.code, list(warned.columns)) == ("earlier_table_stands", ["r_orders"])
            assert f"{schema}.r_orders" in warned.message
        strict = spec_of(schema, tables=("r_contacts",), warnings={"earlier_table_stands": "error"})
        refused = kanon_sql.anonymize(engine, strict)
        assert not refused.passed
        assert "earlier_table_stands is an error" in refused.message
        subject.table([schema, "r_orders"], {"another": "integer"}, [(1,)])
        assert not kanon_sql.anonymize(engine, fewer).warnings
        engine.close()


def test_a_secret_that_is_missing_is_said_before_the_first_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEYS", raising=False)
    with subject_of("duckdb") as subject:
        people(subject)
        engine = subject.connect()
        with pytest.raises(
            SpecError, match=r"release.keys.secret: the environment variable 'KEYS' does not hold a key"
        ):
            kanon_sql.anonymize(engine, spec_of("released", {"secret": "env:KEYS"}))
        assert not engine.meter.log
        assert kanon_sql.plan(engine, spec_of("released", {"secret": "env:KEYS"})).passed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"release": {"schema": "r", "keys": "secret"}}, "unknown kind of keys"),
        ({"release": {"schema": "r", "keys": {"secret": "hunter2hunter2hunter2"}}}, "never written into a spec"),
        ({"release": {"schema": "r", "keys": {"secret": "env:"}}}, "never written into a spec"),
        ({"person": {"table": "people", "key": "id", "replace": ["ID"]}}, "the column is also part of a key"),
        ({"tables": {"v": {"key": "mail", "person": "p"}, "w": {"key": "mail", "person": "p"},
                     "x": {"person": "p", "replace": ["mail"]}}}, "the name of the keys of v and of w"),
        ({"warnings": {"keys_join_release": "error"}}, "did you mean 'keys_join_releases'"),
    ],
)  # fmt: skip
def test_specs_that_cannot_be(changed: dict[str, Any], message: str) -> None:
    written = {
        "version": 1,
        "person": {"table": "people", "key": "id", "quasi_identifiers": {"age": {}}},
        "privacy": [{"km_anonymity": {"k": 2}}],
        **changed,
    }
    with pytest.raises(SpecError) as error:
        RelationalSpec.from_dict(written)
    assert message in str(error.value)
    assert "hunter2" not in str(error.value)


def test_columns_whose_values_cannot_have_the_same_keys_are_refused() -> None:
    with subject_of("duckdb") as subject:
        people(subject)
        subject.execute("ALTER TABLE orders ALTER email TYPE INTEGER USING 5")
        with pytest.raises(SpecError, match="'email' is integer and text in different tables"):
            kanon_sql.anonymize(subject.connect(), spec_of("released"))


def test_keys_whose_text_differs_between_engines_are_not_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS", SECRET)
    with subject_of("duckdb") as subject:
        people(subject)
        for table in ("people", "contacts", "orders"):
            subject.execute(f"ALTER TABLE {table} ALTER pid TYPE DOUBLE")
        assert kanon_sql.anonymize(subject.connect(), spec_of("released")).passed
        with pytest.raises(SpecError, match="'pid' is DOUBLE, whose text depends on the database"):
            kanon_sql.anonymize(subject.connect(), spec_of("released", {"secret": "env:KEYS"}))


def test_a_spec_with_a_secret_reads_back() -> None:
    spec = spec_of("out", {"secret": "env:KEYS"})
    assert RelationalSpec.parse(spec.to_yaml()) == spec
    assert "env:KEYS" in str(spec.redacted())
    allowed = spec_of("out", warnings={"keys_join_releases": "allow"})
    assert RelationalSpec.from_dict(allowed.to_dict()) == allowed
