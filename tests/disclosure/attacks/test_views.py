"""``audit`` of several views of one private table, against every table that they could be views of."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import Spec, SpecError, audit
from kanon_sql.cli import app
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles import views as views_oracle
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import QUICK
from tests.support.strategies import examples

Rows = Sequence[Mapping[str, Any]]

YAO = [
    {"name": "George", "job": "Manager", "salary": "70K", "problem": "Cold"},
    {"name": "John", "job": "Manager", "salary": "90K", "problem": "Obesity"},
    {"name": "Bill", "job": "Lawyer", "salary": "110K", "problem": "HIV"},
]
"""Yao, Wang, Jajodia (2005), figure 1."""


def spec_of(identity: Sequence[str], attribute: str, *privacy: dict[str, Any]) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "v0", "release": "published", "quasi_identifiers": dict.fromkeys(identity),
            "sensitive": [attribute], "privacy": list(privacy) or [{"k_anonymity": 2}],
        }
    )  # fmt: skip


def publish(database: Database, rows: Rows, views: Sequence[Sequence[str]]) -> list[str]:
    """Tables ``v0``, ``v1``, ...: a projection each, repeated rows included."""
    names = [f"v{index}" for index, _ in enumerate(views)]
    for name, columns in zip(names, views, strict=True):
        database.table(name, list(columns), [[row[column] for column in columns] for row in rows])
    return names


def attacked(database: Database, spec: Spec, views: Sequence[str]) -> Attack:
    result = audit(database.engine, spec, views[0], other_views=views[1:], attacks=["views"])
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    (attack,) = result.attacks
    assert result.passed == (result.rows > 0 and attack.beyond == 0)
    assert not any("CREATE" in sql.replace("CREATE TEMP", "") for sql in result.sql)
    return attack


# --- Against brute force ------------------------------------------------------------------------

VALUES = {"a": ["1", "2", None], "b": ["x", "X"], "c": ["p", "q", "r"], "s": ["flu", "Flu", "hiv", None]}


@st.composite
def published(draw: st.DrawFn) -> tuple[Rows, list[list[str]], list[str], int]:
    """A private table, the columns of two or three views of it, the columns of an identity, and k."""
    columns = draw(st.sampled_from([["a", "b", "s"], ["a", "b", "c", "s"]]))
    row = st.fixed_dictionaries({name: st.sampled_from(VALUES[name]) for name in columns})
    rows = draw(st.lists(row, min_size=1, max_size=4))
    subset = st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True)
    views = draw(st.lists(subset, min_size=2, max_size=3))
    identity = draw(st.sampled_from([["a"], ["a", "b"], ["b"]]))
    return rows, views, identity, draw(st.integers(2, 4))


@pytest.mark.slow
@given(case=published())
@examples(12)
def test_covers_are_those_of_every_possible_world(
    shared_database: Database, case: tuple[Rows, list[list[str]], list[str], int]
) -> None:
    rows, views, identity, k = case
    known = [name for name in identity if any(name in columns for columns in views)]
    assume(known)
    assume(any("s" in columns for columns in views))
    useful = [
        columns
        for index, columns in enumerate(views)
        if {*identity, "s", *(name for other in [*views[:index], *views[index + 1 :]] for name in other)} & set(columns)
    ]
    assume(useful == views)
    given_views = [views_oracle.view(columns, rows) for columns in views]
    assume(len(views_oracle.rows_that_may_be(given_views)) <= 9)
    names = publish(shared_database, rows, views)
    attack = attacked(shared_database, spec_of(identity, "s", {"k_anonymity": k}), names)
    covers = views_oracle.smallest_covers(given_views, known, "s")
    exposed = sum(size < k for size in covers.values())
    whole = views_oracle.rows_that_may_be(given_views)
    everybody = {tuple(row[views_oracle.columns_of(given_views).index(name)] for name in known) for row in whole}
    assert (attack.examined, attack.exposed, attack.beyond) == (len(everybody), exposed, exposed)
    expected = max((Fraction(1, size) for size in covers.values()), default=None)
    assert (attack.risk is None) == (expected is None)
    if attack.risk is not None and expected is not None:
        assert isclose(attack.risk, expected, abs_tol=1e-9)


@pytest.mark.slow
def test_more_views_never_protect(shared_database: Database) -> None:
    """A third view can only rule out worlds."""
    draw = random.Random(11)
    for _ in range(6):
        rows = [{name: draw.choice(VALUES[name]) for name in ("a", "b", "s")} for _ in range(6)]
        names = publish(shared_database, rows, [["a", "b"], ["b", "s"], ["a", "s"]])
        spec = spec_of(["a"], "s")
        two, three = attacked(shared_database, spec, names[:2]), attacked(shared_database, spec, names)
        assert three.exposed >= two.exposed
        assert (three.risk or 0) >= (two.risk or 0)


# --- The paper's example ------------------------------------------------------------------------


def test_bill_is_the_only_lawyer(database: Database) -> None:
    """Figure 1: Bill has HIV; George and John have each one of two problems."""
    names = publish(database, YAO, [["name", "job"], ["job", "problem"]])
    two = attacked(database, spec_of(["name"], "problem"), names)
    assert (two.examined, two.exposed, two.beyond, two.risk) == (3, 1, 1, 1.0)
    three = attacked(database, spec_of(["name"], "problem", {"k_anonymity": 3}), names)
    assert (three.exposed, three.risk) == (3, 1.0)


def test_without_bill_two_possibilities_are_left(database: Database) -> None:
    names = publish(database, YAO[:2], [["name", "job"], ["job", "problem"]])
    attack = attacked(database, spec_of(["name"], "problem"), names)
    assert (attack.examined, attack.exposed, attack.risk) == (2, 0, 0.5)


def test_a_third_view_tells_them_apart(database: Database) -> None:
    """Salaries lead from names to problems, although jobs do not."""
    names = publish(database, YAO, [["name", "job"], ["job", "problem"], ["name", "salary"], ["salary", "problem"]])
    assert attacked(database, spec_of(["name"], "problem"), names).exposed == 3


def test_a_row_of_one_view_may_say_more_than_all_values_of_a_person(database: Database) -> None:
    """George is a manager with a cold or obesity, and a lawyer with HIV: that he has HIV is certain."""
    rows = [
        {"name": "George", "job": "Manager", "problem": "Cold"},
        {"name": "John", "job": "Manager", "problem": "Obesity"},
        {"name": "George", "job": "Lawyer", "problem": "HIV"},
    ]  # fmt: skip
    names = publish(database, rows, [["name", "job"], ["job", "problem"]])
    attack = attacked(database, spec_of(["name"], "problem"), names)
    assert (attack.examined, attack.exposed, attack.risk) == (2, 1, 1.0)


# --- What is promised, and degenerate views -----------------------------------------------------


def test_a_promise_of_values_counts_instead_of_k(database: Database) -> None:
    names = publish(database, YAO[:2], [["name", "job"], ["job", "problem"]])
    for privacy, exposed in (
        ([{"k_anonymity": 5}], 2),
        ([{"k_anonymity": 5}, {"l_diversity": {"attribute": "problem", "l": 2}}], 0),
        ([{"p_sensitive_k_anonymity": {"attribute": "problem", "p": 3, "k": 3}}], 2),
    ):
        assert attacked(database, spec_of(["name"], "problem", *privacy), names).exposed == exposed


def test_null_is_no_value_and_an_identity(database: Database) -> None:
    rows = [
        {"name": None, "job": "Manager", "problem": "Cold"}, {"name": None, "job": "Manager", "problem": None},
        {"name": "Bill", "job": "Lawyer", "problem": None},
    ]  # fmt: skip
    names = publish(database, rows, [["name", "job"], ["job", "problem"]])
    attack = attacked(database, spec_of(["name"], "problem"), names)
    assert (attack.examined, attack.exposed, attack.risk) == (2, 1, 1.0)


def test_views_without_rows_or_without_a_common_column(database: Database) -> None:
    names = publish(database, [], [["name", "job"], ["job", "problem"]])
    empty = attacked(database, spec_of(["name"], "problem"), names)
    assert (empty.examined, empty.exposed, empty.risk) == (0, 0, None)
    names = publish(database, YAO, [["name", "job"], ["salary", "problem"]])
    apart = attacked(database, spec_of(["name"], "problem"), names)
    assert (apart.examined, apart.exposed) == (3, 0)
    assert apart.risk is not None
    assert isclose(apart.risk, 1 / 3)


def test_columns_that_are_in_one_view_only_change_nothing(database: Database) -> None:
    names = publish(database, YAO, [["name", "job", "salary"], ["job", "problem"]])
    assert attacked(database, spec_of(["name"], "problem"), names).exposed == 1


@pytest.mark.parametrize(
    ("views", "options", "message"),
    [
        ([["name", "job"], ["job", "problem"]], {"other_views": []}, "needs another view"),
        ([["name", "job"], ["job", "salary"]], {}, "none of .* has a sensitive attribute"),
        ([["job", "salary"], ["job", "problem"]], {}, "none of .* has a quasi-identifier"),
        ([["name", "problem"], ["salary"]], {}, "no column in common"),
        ([["name", "job"], ["job", "problem"]], {"attacks": None}, "no column 'problem'"),
        ([["name", "job"], ["job", "problem"]], {"attacks": ["homogeneity"]}, "only the attack views"),
    ],
)
def test_what_cannot_apply_is_refused(
    database: Database, views: list[list[str]], options: dict[str, Any], message: str
) -> None:
    names = publish(database, YAO, views)
    given_options = {"other_views": names[1:], "attacks": ["views"], **options}
    with pytest.raises(kanon_sql.KanonError, match=message):
        audit(database.engine, spec_of(["name"], "problem"), "v0", **given_options)


def test_views_of_different_rows_are_refused(database: Database) -> None:
    publish(database, YAO, [["name", "job"], ["job", "problem"]])
    database.table("v1", ["job", "problem"], [("Manager", "Cold"), ("Baker", "HIV")])
    with pytest.raises(SpecError, match="1 of 3 different rows of v0 match no row") as refused:
        audit(database.engine, spec_of(["name"], "problem"), "v0", other_views=["v1"], attacks=["views"])
    assert "Lawyer" not in str(refused.value)


# --- The verb, and every engine -----------------------------------------------------------------


@pytest.mark.slow
def test_the_verb_tells_nobody_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE v1 AS SELECT 'Bill' AS name, 'Lawyer' AS job")
        connection.execute("CREATE TABLE v2 AS SELECT 'Lawyer' AS job, 'HIV' AS problem")
    (tmp_path / "spec.yml").write_text(
        "version: 1\nsource: v2\nrelease: v1\nquasi_identifiers: {name: }\nsensitive: [problem]\n"
        "privacy: [{k_anonymity: 2}]\n"
    )
    command = ["audit", "spec.yml", "-d", "clinic.duckdb", "--set", "view=v2", "--attack", "views"]
    hidden = CliRunner().invoke(app, [*command, "-o", "audit.html"])
    assert hidden.exit_code == 1, hidden.output
    page = (tmp_path / "audit.html").read_text("utf-8")
    assert "Attacks expose people" in page
    assert "views" in page
    for secret in ("Bill", "HIV", "Lawyer"):
        assert secret not in hidden.output + page
    shown = CliRunner().invoke(app, [*command, "--reveal", "1", "-o", "revealed.html"])
    assert "Bill" in shown.stdout
    assert "Bill" not in (tmp_path / "revealed.html").read_text("utf-8")
    assert json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).stdout)["attacks"][0]["name"] == "views"


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xdist_group(name), *([] if name in QUICK else [pytest.mark.slow])]


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in SUBJECTS if name != "spark"])
def test_every_engine_finds_the_same(name: str) -> None:
    draw = random.Random(3)
    rows = [
        {
            "age": draw.choice([31, 32, 45, None]), "job": draw.choice(["a", "A", "b", None]),
            "ward": draw.choice([1, 2, 3]), "problem": draw.choice(["flu", "Flu", "hiv", None]),
        }
        for _ in range(14)
    ]  # fmt: skip
    kinds = {"age": "integer", "job": "text", "ward": "integer", "problem": "text"}
    views = [["age", "job"], ["job", "ward"], ["ward", "problem"]]
    covers = views_oracle_by_join(rows, views, ["age"], "problem")
    with subject_of(name) as subject:
        for index, columns in enumerate(views):
            subject.table(f"v{index}", {column: kinds[column] for column in columns}, [
                tuple(row[column] for column in columns) for row in rows
            ])  # fmt: skip
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            (attack,) = audit(
                engine, spec_of(["age"], "problem", {"k_anonymity": 3}), "v0",
                other_views=["v1", "v2"], attacks=["views"], reveal=1,
            ).attacks  # fmt: skip
        finally:
            engine.close()
    assert (attack.examined, attack.exposed) == (len({row["age"] for row in rows}), sum(n < 3 for n in covers.values()))
    assert attack.risk is not None
    assert isclose(attack.risk, 1 / min(covers.values()), abs_tol=1e-9)


def views_oracle_by_join(
    rows: Rows, views: Sequence[Sequence[str]], identity: Sequence[str], attribute: str
) -> dict[tuple[Any, ...], int]:
    """The covers by the theorem of the module, in plain Python: worlds of so many rows cannot be counted."""
    given_views = [views_oracle.view(columns, rows) for columns in views]
    columns = views_oracle.columns_of(given_views)
    joined = [row for row in views_oracle.rows_that_may_be(given_views) if row[columns.index(attribute)] is not None]

    def behind(names: Sequence[str], row: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        places = [columns.index(name) for name in names]
        return [other for other in joined if all(other[place] == row[place] for place in places)]

    found: dict[tuple[Any, ...], int] = {}
    for row in joined:
        for names in [identity, *views]:
            rest = behind(names, row)
            people = {tuple(other[columns.index(name)] for name in identity) for other in rest}
            if len(people) == 1:
                who = people.pop()
                size = len({other[columns.index(attribute)] for other in rest})
                found[who] = min(size, found.get(who, size))
    return found
