"""What the planners of PostgreSQL, MariaDB and SQLite make of every statement of a run, and how much it reads.

``watched`` stands between an engine and its server. Each query is explained, where the server tells what it did
(``EXPLAIN ANALYZE``) with what every step had really to do, before it is sent. What is measured does not depend on
how quick a machine is: loops, rows and steps of the virtual machine.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.testing import Subject

MANY = 1_000
"""Two inputs of more rows than this are not to be compared each with each."""
PATIENCE = 30
"""Seconds for a statement that is explained, and by whose end nobody waits for it."""

_QUERY = re.compile(
    r"(?:CREATE (?:TEMPORARY |OR REPLACE )*TABLE \S+ AS|INSERT INTO \S+(?: \([^()]*\))?)?\s*"
    r"(?P<query>\(?\s*(?:SELECT|WITH)\b.*)",
    re.DOTALL | re.IGNORECASE,
)


def query_in(sql: str) -> str | None:
    """The query in a statement as it is sent; None where there is none."""
    text = re.sub(r"^\s*/\*.*?\*/\s*", "", sql).removeprefix("SET TRANSACTION READ WRITE; ").lstrip()
    text = re.sub(r"^\s*/\*.*?\*/\s*", "", text)
    found = _QUERY.fullmatch(text)
    return None if found is None else found["query"].removesuffix(" WITH NO DATA")


@dataclass
class Watch:
    """What was seen of a run.

    Attributes:
        squares: per statement whose work grows with the square of what it reads: what does.
        work: per template, how much its statements did.
    """

    squares: dict[str, str] = field(default_factory=dict)
    work: Counter[str] = field(default_factory=Counter)


Sent = Callable[[str], Any]
"""Sends a statement and returns the driver's result."""


@contextmanager
def watched(engine: Any, name: str) -> Iterator[Watch]:
    """Watch what an engine sends.

    Args:
        engine: of SQLAlchemy's.
        name: of the engine.
    """
    watch = Watch()
    plain = engine._sent
    explain = EXPLAINED[name]

    def sent(sql: str) -> Any:
        query = query_in(sql)
        if query is None:
            return plain(sql)
        last = engine.meter.last
        template = last.name if last is not None else "session"
        if template not in ("catalog", "columns", "session"):
            explain(engine, plain, watch, template, query)
        return plain(sql)

    engine._sent = sent
    try:
        yield watch
    finally:
        del engine._sent


# --- PostgreSQL ---


def _explained_by_postgres(engine: Any, plain: Sent, watch: Watch, template: str, query: str) -> None:
    open_before = engine._open_transaction()
    try:
        if open_before:
            plain("SAVEPOINT explained").close()
        plain(f"SET statement_timeout = {PATIENCE * 1000}").close()
        with plain(f"EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) {query}") as rows:
            ((answer,),) = rows.fetchall()
    except Exception as error:
        if "statement timeout" not in str(error):
            raise
        if open_before:
            plain("ROLLBACK TO SAVEPOINT explained").close()
        with plain(f"EXPLAIN (FORMAT JSON) {query}") as rows:
            ((answer,),) = rows.fetchall()
        plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
        loops = [told.get("Join Filter", "") for told in _nodes(plan) if told["Node Type"] == "Nested Loop"]
        watch.squares.setdefault(template, f"no end in {PATIENCE} s; nested loops: {loops}")
    else:
        plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
        for told in _nodes(plan):
            watch.work[template] += _done(told)
            square = _square(told)
            if square:
                watch.squares.setdefault(template, square)
    finally:
        # What the run itself sends is to end, whatever was found.
        plain("SET statement_timeout = 0").close()


def reading(plan: dict[str, Any]) -> tuple[int, str | None]:
    """How many rows all steps of a plan looked at, each as often as it did, and which of them compare each with each.

    Args:
        plan: of ``EXPLAIN (ANALYZE, FORMAT JSON)``, its root.
    """
    steps = list(_nodes(plan))
    return sum(map(_done, steps)), next(filter(None, map(_square, steps)), None)


Fetch = Callable[[str], Sequence[Any]]


def work_in(fetch: Fetch, query: str) -> int:
    """How many rows all steps of a query looked at in PostgreSQL, each as often as it did."""
    return reading(_analyzed(fetch, query))[0]


def sorted_in(fetch: Fetch, query: str) -> int:
    """The most rows that a query sorted in PostgreSQL."""
    steps = [told for told in _nodes(_analyzed(fetch, query)) if "Sort" in told["Node Type"]]
    return max((int(told["Actual Rows"]) for told in steps), default=0)


def _analyzed(fetch: Fetch, query: str) -> dict[str, Any]:
    ((answer,),) = fetch(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}")
    found: dict[str, Any] = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
    return found


def squares_in(fetch: Callable[[str], Sequence[Any]], query: str) -> list[str]:
    """What of a query grows with a square in PostgreSQL, as a session of its reader plans it."""
    ((answer,),) = fetch(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}")
    plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
    return [square for told in _nodes(plan) if (square := _square(told))]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from _nodes(below)


def _each(told: dict[str, Any]) -> float:
    """Rows that a step looked at in one loop."""
    removed = sum(float(told.get(f"Rows Removed by {what}", 0)) for what in ("Filter", "Join Filter", "Index Recheck"))
    return float(told["Actual Rows"]) + removed


def _done(told: dict[str, Any]) -> int:
    return int(_each(told) * told["Actual Loops"])


def _square(told: dict[str, Any]) -> str | None:
    inside = told.get("Parent Relationship") in ("Inner", "SubPlan")
    if not inside or told["Actual Loops"] <= MANY or "Index" in told["Node Type"]:
        return None
    each = _each(told)
    if each * told["Actual Loops"] > MANY * MANY:
        return f"{told['Node Type']} of {each:.0f} rows read {told['Actual Loops']} times"
    return None


# --- MariaDB ---

_READ = "SHOW SESSION STATUS LIKE 'Handler_read%'"


def _explained_by_mariadb(engine: Any, plain: Sent, watch: Watch, template: str, query: str) -> None:
    before = _read_by_mariadb(plain)
    plain(f"SET max_statement_time = {PATIENCE}").close()
    try:
        with plain(f"ANALYZE FORMAT=JSON {query}") as rows:
            answer = rows.fetchall()[0][0]
    except Exception as error:
        if "max_statement_time" not in str(error):
            raise
        with plain(f"EXPLAIN FORMAT=JSON {query}") as rows:
            answer = rows.fetchall()[0][0]
        tables = [table for table in _tables(json.loads(answer)) if table["access_type"] == "ALL"]
        watch.squares.setdefault(template, "no end; " + ", ".join(f"{t['table_name']} {t.get('rows')}" for t in tables))
        plain("SET max_statement_time = 90").close()
        return
    plain("SET max_statement_time = 90").close()
    watch.work[template] += _read_by_mariadb(plain) - before
    for told in _tables(json.loads(answer)):
        loops, each = told.get("r_loops") or 0, told.get("r_rows") or 0
        if loops > MANY and each * loops > MANY * MANY:
            watch.squares.setdefault(
                template, f"{told['table_name']}: {told['access_type']} of {each:.0f} rows {loops} times"
            )
    for outer, inner in _blocks(json.loads(answer)):
        if outer > MANY and inner > MANY:
            watch.squares.setdefault(template, f"block of {outer:.0f} rows beside {inner:.0f}")


def _read_by_mariadb(plain: Sent) -> int:
    """Rows that the session has read so far, those that a window function looked at again among them."""
    with plain(_READ) as rows:
        return sum(int(count) for _, count in rows.fetchall())


def _tables(plan: Any) -> Iterator[dict[str, Any]]:
    if isinstance(plan, dict):
        if "access_type" in plan and "table_name" in plan:
            yield plan
        for below in plan.values():
            yield from _tables(below)
    elif isinstance(plan, list):
        for below in plan:
            yield from _tables(below)


def _blocks(plan: Any, outer: float = 0) -> Iterator[tuple[float, float]]:
    """Joins by blocks: rows of the tables before, and of the joined one."""
    if isinstance(plan, list):
        rows = outer
        for below in plan:
            if isinstance(below, dict) and "table" in below:
                table = below["table"]
                rows = max(rows, 1) * float(table.get("r_rows") or 0)
                yield from _blocks(table)
            elif isinstance(below, dict) and "block-nl-join" in below:
                block = below["block-nl-join"]
                if not block.get("join_type", "").startswith("BNLH"):
                    yield rows, float(block["table"].get("r_rows") or 0)
                rows = max(rows, float(block["table"].get("r_rows") or 0))
                yield from _blocks(block["table"])
            else:
                yield from _blocks(below)
    elif isinstance(plan, dict):
        for below in plan.values():
            yield from _blocks(below)


# --- SQLite ---


def _steps_of_sqlite(engine: Any, plain: Sent, watch: Watch, template: str, query: str) -> None:
    """Its virtual machine's steps, in thousands, which include every row that a loop looks at."""

    def step() -> int:
        watch.work[template] += 1
        return 0

    engine.driver_connection.set_progress_handler(step, 1_000)


EXPLAINED: dict[str, Callable[[Any, Sent, Watch, str, str], None]] = {
    "postgres": _explained_by_postgres,
    "mariadb": _explained_by_mariadb,
    "sqlite": _steps_of_sqlite,
}


# --- Tables and specs ---

KINDS = {
    "person": "INTEGER", "birth": "INTEGER", "zip": "VARCHAR(5)", "sex": "VARCHAR(1)",
    "diagnosis": "VARCHAR(9)", "detail": "VARCHAR(9)", "amount": "INTEGER", "wish": "INTEGER",
}  # fmt: skip


def rows_of(count: int, seed: int = 1) -> list[tuple[Any, ...]]:
    """Visits of which nine tenths differ in their quasi-identifiers; each person has about four."""
    draw = random.Random(seed)
    people = [(draw.randrange(20_000), f"{draw.randrange(90_000) + 10_000}", draw.choice("FM")) for _ in range(count)]
    return [
        (draw.randrange(count // 4), *draw.choice(people[index // 2 * 2 :][:1] if index % 10 == 0 else [people[index]]),
         f"d{draw.randrange(20)}", f"e{draw.randrange(count)}", draw.randrange(1000), draw.choice((2, 3, 5)))
        for index in range(count)
    ]  # fmt: skip


def fill(subject: Subject, name: str, rows: list[tuple[Any, ...]]) -> None:
    columns = ", ".join(f"{subject.dialect.quote(column)} {kind}" for column, kind in KINDS.items())
    subject.execute(subject.create(subject.dialect.quote(name), columns))
    for start in range(0, len(rows), 1000):
        values = ", ".join(
            "(" + ", ".join(str(cell) if isinstance(cell, int) else f"'{cell}'" for cell in row) + ")"
            for row in rows[start : start + 1000]
        )
        subject.execute(f"INSERT INTO {subject.dialect.quote(name)} VALUES {values}")


QUASI = {
    "birth": {"intervals": [10, 100, 1000, 10000]},
    "zip": {"prefix": [4, 3, 2, 1]},
    "sex": None,
}
FEW_LABELS = {"birth": {"intervals": [100, 1000, 10000]}, "zip": {"prefix": [2, 1]}, "sex": None}
"""Of which a step a round can be taken."""
K = {"k_anonymity": {"k": 5}}
L = {"l_diversity": {"attribute": "diagnosis", "l": 3}}
WIDE = {"l_diversity": {"attribute": "detail", "l": 3}}


def spec_dict(**changes: Any) -> dict[str, Any]:
    return {
        "version": 1, "source": "visits", "release": "visits_release", "quasi_identifiers": QUASI,
        "sensitive": ["diagnosis"], "keep": ["amount"], "privacy": [K], "suppression": {"limit": 0.05},
        "warnings": {"rows_not_persons": "allow"}, **changes,
    }  # fmt: skip


DX = {"tree": {f"g{g}": [f"d{n}" for n in range(20) if n % 4 == g] for g in range(4)}}
MODELS: dict[str, dict[str, Any]] = {
    "k": {},
    "l": {"privacy": [K, L]},
    "l entropy": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "kind": "entropy"}}]},
    "l recursive": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "kind": "recursive", "c": 3}}]},
    "l npd": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "kind": "npd_recursive", "c": 3, "allow_positive": ["d1"]}}]},  # noqa: E501
    "l estimate": {"privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "kind": "entropy", "estimator": "grassberger"}}]},  # noqa: E501
    "t": {"privacy": [K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}]},
    "t ordered": {"sensitive": ["amount"], "keep": [], "privacy": [K, {"t_closeness": {"attribute": "amount", "t": 0.3, "distance": "ordered"}}]},  # noqa: E501
    "t hierarchical": {"privacy": [K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6, "distance": "hierarchical", "hierarchy": DX}}]},  # noqa: E501
    "alpha": {"privacy": [{"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.5, "k": 5}}]},
    "p": {"privacy": [{"p_sensitive_k_anonymity": {"attribute": "diagnosis", "p": 2, "k": 5}}]},
    "beta": {"privacy": [K, {"beta_likeness": {"attribute": "diagnosis", "beta": 9, "kind": "enhanced"}}]},
    "delta": {"privacy": [{"delta_disclosure": {"attribute": "diagnosis", "delta": 2}}]},
    "ck 0": {"privacy": [{"ck_safety": {"attribute": "diagnosis", "c": 0.9, "k": 0}}]},
    "ck 1": {"privacy": [{"ck_safety": {"attribute": "diagnosis", "c": 0.9, "k": 1}}]},
    "skyline": {"privacy": [{"privacy_skyline": {"attribute": "diagnosis", "l": 1, "k": 1, "m": 1, "c": 0.9}}]},
    "epsilon": {"privacy": [{"epsilon_privacy": {"attribute": "diagnosis", "epsilon": 3, "stubbornness": 10}}]},
    "k map": {"privacy": [{"k_map": {"population": "census", "k": 5}}]},
    "presence": {"privacy": [K, {"delta_presence": {"population": "census", "delta_max": 0.9}}]},
    "presence persons": {"unit": "person", "privacy": [K, {"delta_presence": {"population": "census", "person": "person", "delta_max": 0.9}}]},  # noqa: E501
    "risk": {"privacy": [{"risk": {"average": 0.05, "highest": 0.2, "records_at_risk": 0.01}}]},
    "risk population": {"privacy": [{"risk": {"attacker": "journalist", "population": "census", "average": 0.05, "highest": 0.2}}]},  # noqa: E501
    "k wished": {"sensitive": ["wish"], "keep": [], "privacy": [{"k_anonymity": {"column": "wish", "default": 5}}]},
    "no attack": {"privacy": [{"no_attack": {"gain": 9, "cost": 2}}]},
    "sets": {"privacy": [K, {"k_anonymity": {"k": 9, "quasi_identifiers": ["zip", "sex"]}}]},
    "two": {"sensitive": ["diagnosis", "detail"], "keep": [], "privacy": [K, L, WIDE]},
    "k persons": {"unit": "person"},
    "l persons": {"unit": "person", "privacy": [K, L]},
    "t persons": {"unit": "person", "privacy": [K, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}]},
    "l entropy persons": {"unit": "person", "privacy": [K, {"l_diversity": {"attribute": "diagnosis", "l": 3, "kind": "entropy"}}]},  # noqa: E501
    "wide": {"sensitive": ["detail"], "privacy": [K, WIDE]},
    "wide t": {"sensitive": ["detail"], "privacy": [K, {"t_closeness": {"attribute": "detail", "t": 0.99}}]},
    "wide persons": {"sensitive": ["detail"], "unit": "person", "privacy": [K, WIDE]},
    "wide recursive persons": {"sensitive": ["detail"], "unit": "person", "privacy": [K, {"l_diversity": {"attribute": "detail", "l": 3, "kind": "recursive", "c": 3}}]},  # noqa: E501
    "wide beta": {"sensitive": ["detail"], "privacy": [K, {"beta_likeness": {"attribute": "detail", "beta": 9000, "kind": "basic"}}]},  # noqa: E501
    "wide alpha": {"sensitive": ["detail"], "privacy": [{"alpha_k_anonymity": {"attribute": "detail", "alpha": 0.5, "k": 5}}]},  # noqa: E501
    "wide ck 0": {"sensitive": ["detail"], "privacy": [{"ck_safety": {"attribute": "detail", "c": 0.9, "k": 0}}]},
    "wide ck 1": {"sensitive": ["detail"], "privacy": [{"ck_safety": {"attribute": "detail", "c": 0.9, "k": 1}}]},
    "wide epsilon": {"sensitive": ["detail"], "privacy": [{"epsilon_privacy": {"attribute": "detail", "epsilon": 3, "stubbornness": 10}}]},  # noqa: E501
}  # fmt: skip
RECODINGS: dict[str, dict[str, Any]] = {
    "local": {"recoding": "local"},
    "local best": {"recoding": {"method": "local", "effort": "best"}},
    "local ranges": {"recoding": {"method": "local", "ranges": ["birth"]}, "keep": []},
    "local l": {"recoding": "local", "privacy": [K, L]},
    "local l persons": {"recoding": "local", "unit": "person", "privacy": [K, L]},
    "local wide": {"recoding": "local", "sensitive": ["detail"], "privacy": [K, WIDE]},
    "mondrian": {"recoding": "mondrian"},
    "mondrian relaxed": {"recoding": {"method": "mondrian", "variant": "relaxed"}},
    "mondrian l": {"recoding": "mondrian", "privacy": [K, L]},
    "mondrian l persons": {"recoding": "mondrian", "unit": "person", "privacy": [K, L]},
    "cells": {"recoding": "cells"},
    "cells l": {"recoding": "cells", "privacy": [K, L]},
    "subtree": {"recoding": "subtree", "quasi_identifiers": FEW_LABELS},
    "subtree l persons": {"recoding": "subtree", "quasi_identifiers": FEW_LABELS, "unit": "person", "privacy": [K, L]},
    "subtree bottom": {"recoding": {"method": "subtree", "direction": "bottom_up"}, "quasi_identifiers": FEW_LABELS},
    "subtree ranges": {"recoding": {"method": "subtree", "ranges": ["birth"]}, "quasi_identifiers": FEW_LABELS, "keep": []},  # noqa: E501
    "kk": {"recoding": "kk", "sensitive": [], "privacy": [{"kk_anonymity": {"k": 5, "kind": "kk"}}]},
    "micro": {"recoding": {"method": "microaggregation", "columns": {"birth": "mean"}}, "keep": []},
}  # fmt: skip
SEARCHES: dict[str, dict[str, Any]] = {
    name: {"search": {"algorithm": name}}
    for name in ("samarati", "incognito", "exhaustive", "datafly", "bottom_up", "top_down", "greedy", "annealing", "genetic")  # noqa: E501
} | {
    "k_optimize": {"search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 9}},
    "entropy": {"search": {"metric": "entropy"}},
    "masked": {"suppression": {"limit": 0.05, "style": "mask"}, "privacy": [K, L]},
}  # fmt: skip
