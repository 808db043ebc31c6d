"""A role that may only read: what still works, what is refused, and that nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from kanon_sql.testing.reference import Reference, same
from kanon_sql.verbs.doctor import doctor
from tests.servers import subject_of

COLUMNS = {"q": "text", "s": "text", "n": "integer", "m": "text"}
ROWS = [
    ("a1", "x", 1, "f"), ("a1", "y", 5, "f"), ("a2", "x", 2, "f"), ("a3", "x", 9, None), ("b1", "y", 1, "f"),
    ("b1", "x", 2, "g"),
]  # fmt: skip
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "quasi_identifiers": {"q": {"prefix": [1]}},
    "sensitive": ["s"],
    "privacy": [{"k_anonymity": 2}],
}


def postgres_reader(subject: Any) -> str:
    """The URL of a role with SELECT on one table and nothing else, temporary tables included."""
    import sqlalchemy

    url = sqlalchemy.make_url(subject.url)
    subject.execute("CREATE ROLE reader LOGIN PASSWORD 'hidden'")
    subject.execute(f'REVOKE TEMPORARY ON DATABASE "{url.database}" FROM PUBLIC')
    subject.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    subject.execute("GRANT SELECT ON people TO reader")
    return url.set(username="reader", password="hidden").render_as_string(hide_password=False)


def mariadb_reader(subject: Any) -> str:
    """The URL of a user with SELECT on one table and nothing else, temporary tables included."""
    subject.execute("CREATE USER reader@localhost IDENTIFIED BY 'hidden'")
    subject.execute("GRANT SELECT ON people TO reader@localhost")
    return str(subject.server.url("reader", "hidden"))


def revoke_postgres(subject: Any) -> None:
    subject.execute("REVOKE ALL ON SCHEMA public FROM reader")
    subject.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")


def revoke_mariadb(subject: Any) -> None:
    subject.execute("REVOKE ALL PRIVILEGES, GRANT OPTION FROM reader@localhost")
    subject.execute("GRANT SELECT ON people TO reader@localhost")


REVOKES: dict[str, Callable[[Any], None]] = {"postgres": revoke_postgres, "mariadb": revoke_mariadb}
READERS: dict[str, Callable[[Any], str]] = {"postgres": postgres_reader, "mariadb": mariadb_reader}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.xdist_group(f"{name} rights")) for name in READERS]
)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Subject, str]]:
    with subject_of(request.param) as subject:
        subject.table("people", COLUMNS, ROWS)
        yield subject, READERS[request.param](subject)


@contextmanager
def reading(url: str, **options: Any) -> Iterator[Engine]:
    engine = kanon_sql.connect(url, **options)
    try:
        yield engine
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_check_and_plan_need_select_only_and_write_nothing(server: tuple[Subject, str]) -> None:
    subject, url = server
    spec = kanon_sql.Spec.from_dict(SPEC)
    with reading(url) as engine:
        assert engine.scratch.mode == "inline"
        assert "refused" in engine.scratch.reason
        checked = kanon_sql.check(engine, spec, "people")
        assert not checked.passed
        assert checked.classes["count"] == 4
        planned = kanon_sql.plan(engine, spec)
        assert planned.passed
        assert planned.node == {"q": 1}
        assert planned.classes["smallest"] == 2
    assert subject.tables() == ["people"]


TREE = {"tree": {"one": {"of one": ["x"]}, "other": {"of other": ["y"]}}}
EVERY_KIND: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 3, "quasi_identifiers": ["q"]}},
    {"k_map": {"population": "people", "k": 2}},
    {"delta_presence": {"population": "people", "delta_max": 0.5}},
    {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.5, "k": 2, "values": ["x"]}},
    {"p_sensitive_k_anonymity": {"attribute": "s", "p": 2, "k": 2}},
    {"beta_likeness": {"attribute": "s", "beta": 1}},
    {"delta_disclosure": {"attribute": "s", "delta": 1}},
    {"bayes_optimal": {"attribute": "s", "theta": 0.5}},
    {"kk_anonymity": {"k": 2, "variant": "global_1k"}},
    {"l_diversity": {"attribute": "s", "l": 2}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "recursive", "c": 2, "quasi_identifiers": ["q"]}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "npd_recursive", "c": 2, "allow_positive": ["x"]}},
    {"t_closeness": {"attribute": "s", "t": 0.5}},
    {"t_closeness": {"attribute": "n", "t": 0.5, "distance": "ordered"}},
    {"t_closeness": {"attribute": "n", "t": 0.5, "distance": "ordered", "reference": "release"}},
    {"t_closeness": {"attribute": "s", "t": 0.5, "distance": "hierarchical", "hierarchy": TREE}},
    {"t_closeness": {"attribute": "s", "t": 0.5, "others_as_quasi_identifiers": True}},
]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.sampled(9)
def test_a_reader_checks_whatever_is_required(server: tuple[Subject, str], part: int) -> None:
    """With DuckDB's answers; the table is its own source and its own population."""
    subject, url = server
    quasi = {"q": None, "m": None}
    privacy = [{"k_anonymity": 1}, *EVERY_KIND[part::4]]
    asked = {**SPEC, "quasi_identifiers": quasi, "sensitive": ["s", "n"], "privacy": privacy}
    spec = kanon_sql.Spec.from_dict(asked)
    reference = Reference()
    reference.table("people", COLUMNS, ROWS)
    with reading(url) as engine:
        found = kanon_sql.check(engine, spec, "people", details=True, reveal=3)
    same(found, kanon_sql.check(reference.engine, spec, "people"))
    assert not any("CREATE" in sql.upper().replace("CREATE TEMP", "") for sql in found.sql)
    assert subject.tables() == ["people"]


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_a_reader_asks_for_risks_attacks_hierarchies_and_comparisons(server: tuple[Subject, str]) -> None:
    subject, url = server
    spec = kanon_sql.Spec.from_dict(SPEC)
    with reading(url) as engine:
        assert kanon_sql.risk(engine, spec, population="people", sampling_fraction=0.5).to_dict()["classes"]
        assert kanon_sql.audit(engine, spec, "people", external="people", on=["q"], earlier=["people"]).attacks
        assert [item.name for item in kanon_sql.hierarchy(engine, spec).hierarchies] == ["q"]
        assert len(kanon_sql.compare(engine, {"spec": spec}, [2, 3]).runs) == 2
    assert subject.tables() == ["people"]


@pytest.mark.sampled(2)
def test_anonymize_is_refused(server: tuple[Subject, str]) -> None:
    subject, url = server
    with reading(url) as engine:
        with pytest.raises(DatabaseError, match="denied") as refused:
            kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))
        assert "hidden" not in str(refused.value)
        assert "a1" not in str(refused.value)
        assert kanon_sql.check(engine, kanon_sql.Spec.from_dict(SPEC), "people").rows["source"] == 6, "still usable"
    assert subject.tables() == ["people"]


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_the_grants_that_anonymize_names_are_enough(server: tuple[Any, str]) -> None:
    """Another role has published here, so the manifest and the record are its own; the messages lead the way."""
    subject, url = server
    try:
        with subject.connect() as owner:
            assert kanon_sql.anonymize(owner, kanon_sql.Spec.from_dict(SPEC)).passed
        asked = kanon_sql.Spec.from_dict({**SPEC, "release": "of_the_reader"})
        for _ in range(6):
            with reading(url) as engine:
                doctor(engine)  # which does not stumble over what belongs to another role
                try:
                    assert kanon_sql.anonymize(engine, asked).passed
                    break
                except DatabaseError as refused:
                    said = str(refused)
            assert "GRANT" in said
            subject.execute("GRANT" + said.rpartition("GRANT")[2])
        else:
            raise AssertionError("six grants do not lead to a release")
    finally:
        for table in subject.tables():
            if table != "people":
                subject.execute(f"DROP TABLE {subject.dialect.quote(table)}")
        REVOKES[subject.name](subject)


@pytest.mark.sampled(2)
def test_a_reader_of_a_release_alone_learns_that_it_is_untrue(server: tuple[Any, str]) -> None:
    """Without the right to the manifest: the mark of the table itself says so."""
    subject, url = server
    subject.table("numbered", {"i": "integer", "n": "integer"}, [(number, 100 * number) for number in range(30)])
    masking = {
        "version": 1,
        "kind": "perturbed",
        "source": "numbered",
        "release": "masked",
        "key": "i",
        "perturb": {"n": {"noise": 0.5}},
    }
    spec = kanon_sql.Spec.from_dict(SPEC)
    by_number = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": {"n": None}, "sensitive": []})
    try:
        with subject.connect() as owner:
            assert kanon_sql.anonymize(owner, spec).passed
            assert kanon_sql.perturb(owner, kanon_sql.PerturbSpec.from_dict(masking)).verdict == "perturbed"
        reader = "reader" if subject.name == "postgres" else "reader@localhost"
        for table in ("released", "masked"):
            subject.execute(f"GRANT SELECT ON {table} TO {reader}")
        with reading(url) as engine:
            assert kanon_sql.check(engine, spec, "released").passed
            with pytest.raises(SpecError, match="its values are perturbed and its"):
                kanon_sql.check(engine, by_number, "masked")
    finally:
        for table in subject.tables():
            if table != "people":
                subject.execute(f"DROP TABLE {subject.dialect.quote(table)}")
        REVOKES[subject.name](subject)


def test_the_doctor_says_that_the_record_is_another_roles(server: tuple[Any, str]) -> None:
    subject, url = server
    if subject.name != "postgres":
        pytest.skip("MariaDB does not show a table to who may not read it")
    try:
        with subject.connect() as owner:
            assert kanon_sql.anonymize(owner, kanon_sql.Spec.from_dict(SPEC)).passed
        subject.execute("GRANT CREATE ON SCHEMA public TO reader")
        with reading(url) as engine:
            found = doctor(engine)
        said = found.to_dict()["checks"]["no_leftovers"]
        assert not said["ok"]
        assert "cannot be read" in said["detail"]
        assert "GRANT SELECT, INSERT, DELETE" in said["detail"]
        assert found.works("check")
        assert not found.works("anonymize")
        for table in ("kanon_sql_scratch", "kanon_sql_manifest"):
            subject.execute(f"GRANT SELECT, INSERT, DELETE ON {table} TO reader")
        with reading(url) as engine, pytest.raises(DatabaseError, match='ALTER TABLE "released" OWNER TO "reader"'):
            kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))
    finally:
        for table in ("released", "kanon_sql_manifest", "kanon_sql_scratch"):
            subject.execute(f"DROP TABLE IF EXISTS {table}")
        REVOKES[subject.name](subject)


def test_asking_for_temporary_tables_is_refused_and_says_so(server: tuple[Subject, str]) -> None:
    subject, url = server
    with reading(url, scratch="temp") as engine, pytest.raises(DatabaseError, match="denied"):
        kanon_sql.plan(engine, kanon_sql.Spec.from_dict(SPEC))
    assert subject.tables() == ["people"]


def test_the_doctor_says_what_works(server: tuple[Subject, str]) -> None:
    _, url = server
    with reading(url) as engine:
        found = doctor(engine)
    assert found.works("check")
    assert found.works("plan")
    assert not found.works("anonymize")


def test_a_read_only_connection_of_one_who_may_write(server: tuple[Any, str]) -> None:
    """Inline, it cannot even make a temporary table; the server itself refuses."""
    subject, _ = server
    with reading(subject.url, read_only=True, scratch="inline") as engine:
        assert kanon_sql.plan(engine, kanon_sql.Spec.from_dict(SPEC)).passed
        with pytest.raises(DatabaseError, match=r"(?i)read.only"):
            engine.execute(Statement("write", "CREATE TABLE written (a INTEGER)"))
    assert subject.tables() == ["people"]
