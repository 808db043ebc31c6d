"""A verdict is about all rows: a statement that loses some on its way, or doubles them, stops the run.

Joins are made to lose the rows of a class here, on every engine and for every verb, by what is added to their
conditions when a statement is compiled. Without the comparison these runs would pass, or tell less than there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.engines import Engine, refuse_incomplete
from kanon_sql.errors import InternalError
from kanon_sql.sql import Dialect, statement
from kanon_sql.testing import Subject
from tests.servers import SUBJECTS, subject_of

# 'c' is a class of one row, of one person.
ROWS = [
    *(("a", number, "flu" if number % 2 else "ulcer", number) for number in range(4)),
    *(("b", 10 + number, "flu" if number % 2 else "cold", number) for number in range(4)),
    ("c", 20, "cold", 3),
]
COLUMNS = {"q": "text", "person": "integer", "illness": "text", "stay": "integer"}
T = {"t_closeness": {"attribute": "illness", "t": 1.0}}
L = {"l_diversity": {"attribute": "illness", "l": 1}}
STAY = {"t_closeness": {"attribute": "stay", "t": 1.0, "distance": "ordered"}}
K = {"k_anonymity": 2}
FEVER = {"tree": {"Fever": ["flu", "cold"], "Other": ["ulcer"]}}
Harm = Callable[[exp.Expr], None]


def spec(*privacy: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "quasi_identifiers": {"q": None},
            "sensitive": ["illness", "stay"], "privacy": [*(privacy or (K, L, STAY))],
            "suppression": {"max_share": 0.5}, **changes,
        }
    )  # fmt: skip


def losing(alias: str, unless: str) -> Harm:
    """Joins with a table of this alias find no row that does not satisfy a condition."""

    def harm(tree: exp.Expr) -> None:
        for join in tree.find_all(exp.Join):
            if join.alias_or_name == alias and join.args.get("on") is not None:
                join.set("on", exp.and_(join.args["on"], sqlglot.parse_one(unless, read="duckdb")))

    return harm


def doubling(alias: str) -> Harm:
    """Joins with a table of this alias find all of its rows."""

    def harm(tree: exp.Expr) -> None:
        for join in tree.find_all(exp.Join):
            if join.alias_or_name == alias:
                join.set("on", sqlglot.parse_one("1 = 1"))

    return harm


def filtering(alias: str, unless: str) -> Harm:
    """Who selects from a subquery of this alias does not see some of its rows."""

    def harm(tree: exp.Expr) -> None:
        for query in tree.find_all(exp.Select):
            start = query.find(exp.From)
            if start is not None and start.parent is query and start.this.alias == alias:
                query.where(unless, dialect="duckdb", copy=False)

    return harm


def unequal(value: str) -> Harm:
    """A value that no join finds equal to itself, but for the one where a hierarchy is looked at, which says so."""

    def harm(tree: exp.Expr) -> None:
        if any(alias.alias == "uncovered_values" for alias in tree.find_all(exp.Alias)):
            return
        for join in tree.find_all(exp.Join):
            if join.args.get("on") is not None:
                join.set("on", join.args["on"].transform(never))

    def never(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, (exp.EQ, exp.NullSafeEQ)) or isinstance(node.expression, exp.Literal):
            return node
        cast = exp.cast(node.this.copy(), "VARCHAR")
        return exp.paren(exp.and_(node, exp.NullSafeNEQ(this=cast, expression=exp.Literal.string(value))))

    return harm


@pytest.fixture
def harmed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Harm], None]:
    """From now on, what is compiled is harmed; nothing of it is remembered."""

    def start(harm: Harm) -> None:
        written = Dialect.sql

        def sql(self: Dialect, tree: exp.Expr) -> str:
            harm(tree)
            return written(self, tree)

        monkeypatch.setattr(statement, "_compiled", statement._compiled.__wrapped__)
        monkeypatch.setattr(Dialect, "sql", sql)

    return start


@pytest.fixture
def database() -> Iterator[Engine]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (q VARCHAR, person INTEGER, illness VARCHAR, stay INTEGER)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    connection.execute("CREATE TABLE later AS SELECT * FROM people")
    connection.execute("CREATE TABLE everybody AS SELECT * FROM people UNION ALL SELECT 'd', 30, 'flu', 1")
    connection.execute("CREATE TABLE areas AS SELECT q, illness FROM people")
    engine = kanon_sql.connect(connection)
    yield engine
    engine.close()
    connection.close()


Verb = Callable[[Engine], object]

LOST = filtering("base", "class_rows <> 1")
"""The class of one vanishes among the classes that are counted, before it violates anything."""
UNJUDGED = filtering("judged", "class_rows <> 1")
"""It vanishes among the classes whose values are counted."""

UNSUMMED = filtering("flagged", "1 = 0")
"""The class that a recoding begins with vanishes."""

MATCHING: Mapping[str, dict[str, Any]] = {
    "linking": {"external": "later"},
    "composition": {"earlier": ["later"]},
    "complementary": {"earlier": ["later"]},
    "consistency": {},
    "unsorted": {},
    "definetti": {},
    "minimality": {},
    "downcoding": {},
}
"""The attacks that match tables, with what each of them needs."""


def attacked(engine: Engine, attack: str, **options: Any) -> object:
    minimal = {"privacy": [{"alpha_k_anonymity": {"attribute": "illness", "alpha": 0.9, "k": 1, "values": ["flu"]}}],
               "suppression": {"max_rows": 0}, "sensitive": ["illness"]}  # fmt: skip
    asked = spec(**{"minimality": minimal, "downcoding": {"recoding": "local"}}.get(attack, {}))
    return kanon_sql.audit(engine, asked, "people", attacks=[attack], **options)


CASES: Mapping[str, tuple[Harm, Verb]] = {
    "check": (LOST, lambda db: kanon_sql.check(db, spec(), "people")),
    "check, values": (UNJUDGED, lambda db: kanon_sql.check(db, spec(), "people")),
    "check, persons": (LOST, lambda db: kanon_sql.check(db, spec(unit="person"), "people")),
    "check, doubled": (doubling("reference"), lambda db: kanon_sql.check(db, spec(K, T), "people")),
    "check, numbered": (losing("numbers", "cells.row_count <> 1"), lambda db: kanon_sql.check(db, spec(T), "people")),
    "details": (filtering("counted", "class_size <> 1"), lambda db: kanon_sql.check(db, spec(K), "people",
                                                                                    details=True)),
    "plan": (LOST, lambda db: kanon_sql.plan(db, spec())),
    "plan, persons": (LOST, lambda db: kanon_sql.plan(db, spec(unit="person"))),
    "plan, a vector": (losing("lookup0", "vectors.row_count <> 1"), lambda db: kanon_sql.plan(db, spec(K))),
    "plan, a value": (losing("sensitive", "vectors.row_count <> 1"), lambda db: kanon_sql.plan(db, spec(K, L))),
    "plan, recoded": (UNSUMMED, lambda db: kanon_sql.plan(db, spec(K, recoding="subtree"))),
    "plan, recoded by values": (UNSUMMED, lambda db: kanon_sql.plan(db, spec(K, L, recoding="subtree"))),
    "plan, sizes": (losing("sizes0", "classes.class_rows <> 1"), lambda db: kanon_sql.plan(db, three_levels())),
    "anonymize": (LOST, lambda db: kanon_sql.anonymize(db, spec())),
    "compare": (LOST, lambda db: kanon_sql.compare(db, {"one": spec(), "two": spec(suppression={"max_share": 0.6})})),
    "intervals": (
        losing("map0", "map0.atom <> 0"),
        lambda db: kanon_sql.plan(db, spec(K, search={"algorithm": "k_optimize"})),
    ),
    "population": (
        losing("lookup0", "vectors.q0 <> 'c'"),
        lambda db: kanon_sql.plan(db, spec({"k_map": {"population": "later", "k": 2}})),
    ),
    "audit, similarity": (
        losing("labels", "frequency.row_count <> 1 OR frequency.q0 <> 'c'"),
        lambda db: kanon_sql.audit(db, spec(), "people", attacks=["similarity"], hierarchies={"illness": FEVER}),
    ),
    "audit, skewness": (
        doubling("reference"),
        lambda db: kanon_sql.audit(db, spec(), "people", attacks=["skewness"]),
    ),
    "risk": (filtering("classes", "class_size <> 1"), lambda db: kanon_sql.risk(db, spec(), "people")),
    "risk, population": (
        filtering("of_population", "class_size <> 1"),
        lambda db: kanon_sql.risk(db, spec(), "people", population="later"),
    ),
    "m-invariance": (
        losing("newer", "older.class_id <> 3"),
        lambda db: kanon_sql.check(db, spec(K), "people", republication=kanon_sql.Republication("later", "person", 2)),
    ),
    "population, the release": (
        filtering("vectors", "q0 <> 'c'"),
        lambda db: kanon_sql.anonymize(db, spec({"k_map": {"population": "later", "k": 1}})),
    ),
    "check, a population": (
        unequal("c"),
        lambda db: kanon_sql.check(db, spec({"k_map": {"population": "later", "k": 1}}), "people"),
    ),
    "check, somebody of a population": (
        unequal("d"),
        lambda db: kanon_sql.check(db, spec({"k_map": {"population": "everybody", "k": 1}}), "people"),
    ),
    "check, a population's presence": (
        unequal("d"),
        lambda db: kanon_sql.check(
            db, spec({"delta_presence": {"population": "everybody", "delta_min": 0.5, "delta_max": 1.0}}), "people"
        ),
    ),
    "check, a reference": (
        losing("reference", "held.value_code <> 'cold'"),
        lambda db: kanon_sql.check(db, spec(K, T), "people"),
    ),
    **{
        f"audit, {attack}": (unequal("c"), partial(attacked, attack=attack, **options))
        for attack, options in MATCHING.items()
    },
    "audit, a value of a person": (unequal("cold"), partial(attacked, attack="composition", earlier=["later"])),
    "audit, a row of views": (
        unequal("c"), partial(attacked, attack="views", other_views=["areas"])
    ),
    "audit, positions": (
        losing("rows1", "rows0.position <> 2"), partial(attacked, attack="unsorted", earlier=["later"])
    ),
    "rows and records": (
        losing("counted", "classes.q0 <> 'c'"),
        lambda db: kanon_sql.check(db, spec({"kk_anonymity": {"k": 1}}), "people"),
    ),
    "records that no label covers": (
        losing("again0", "own.q0 <> 'c'"),
        lambda db: kanon_sql.check(db, spec({"kk_anonymity": {"k": 1}}), "people"),
    ),
    "beliefs": (
        losing("behind", "behind.v0 <> 'c'"),
        lambda db: kanon_sql.check(db, spec({"bayes_optimal": {"attribute": "illness", "epsilon": 0.1}}), "people"),
    ),
}  # fmt: skip


def three_levels() -> kanon_sql.Spec:
    tree = {"tree": {"first": {"ab": ["a", "b"]}, "second": {"cd": ["c"]}}}
    return spec(K, quasi_identifiers={"q": {**tree, "minimum_level": 1}})


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(40)
def test_a_statement_that_loses_rows_gives_no_verdict(
    database: Engine, harmed: Callable[[Harm], None], case: str
) -> None:
    harm, verb = CASES[case]
    verb(database)
    harmed(harm)
    with pytest.raises(InternalError, match="so there is no verdict") as caught:
        verb(database)
    assert int(caught.value.exit_code) == 3
    assert not any(value in str(caught.value) for value in ("'c'", "cold", "flu"))


def test_a_value_that_its_hierarchy_lost_has_no_distance(database: Engine, harmed: Callable[[Harm], None]) -> None:
    by_meaning = {"t_closeness": {**T["t_closeness"], "distance": "hierarchical", "hierarchy": FEVER}}
    assert kanon_sql.check(database, spec(by_meaning), "people").passed
    harmed(losing("lookup", "counts.value <> 'cold'"))
    result = kanon_sql.check(database, spec(by_meaning), "people")
    assert not result.passed
    (reached,) = result.achieved.values()
    assert reached["violating_rows"] == 5, "the classes b and c"


ENGINES = [
    pytest.param(name, marks=[pytest.mark.xdist_group(name), *([pytest.mark.slow] if name == "spark" else [])])
    for name in SUBJECTS
]


@pytest.fixture(params=ENGINES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table("people", COLUMNS, ROWS)
        yield made


@pytest.mark.campaign_on("spark")
@pytest.mark.slow
def test_no_engine_gives_a_verdict_on_some_rows(subject: Subject, harmed: Callable[[Harm], None]) -> None:
    """A class of one is lost in a join, and nothing else violates the requirements."""
    engine = subject.connect()
    for unit in (None, "person"):
        asked = spec(unit=unit)
        assert not kanon_sql.check(engine, asked, "people").passed
        assert kanon_sql.plan(engine, asked).passed
    harmed(LOST)
    for unit in (None, "person"):
        with pytest.raises(InternalError, match=r"evaluate/achieved: 8 rows .* 9"):
            kanon_sql.check(engine, spec(unit=unit), "people")
        with pytest.raises(InternalError, match=r"evaluate/node: 8 rows .* 9"):
            kanon_sql.plan(engine, spec(unit=unit))
    engine.close()


@pytest.mark.parametrize(("judged", "there"), [(337, 400), (401, 400), (None, 1)])
def test_a_difference_is_told_in_numbers(judged: int | None, there: int) -> None:
    with pytest.raises(
        InternalError, match=f"in some/statement: {judged or 0} rows were judged, but there are {there},"
    ):
        refuse_incomplete("some/statement", judged, there)


def test_as_many_rows_as_there_are_are_enough() -> None:
    refuse_incomplete("some/statement", 400, 400)
    refuse_incomplete("some/statement", None, 0)
    refuse_incomplete("some/statement", 401, 400, "persons", at_least=True)
    with pytest.raises(InternalError, match="399 persons"):
        refuse_incomplete("some/statement", 399, 400, "persons", at_least=True)
