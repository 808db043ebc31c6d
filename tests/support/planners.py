"""What the planners of PostgreSQL, MariaDB and SQLite make of every statement of a run, and how much it reads.

``watched`` stands between an engine and its server. Each query is explained, where the server tells what it did
(``EXPLAIN ANALYZE``) with what every step had really to do, before it is sent. What is measured does not depend on
how quick a machine is: loops, rows and steps of the virtual machine.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MANY = 1_000
"""Two inputs of more rows than this are not to be compared each with each."""
GROWTH = 6
"""Over four times the rows a statement may do so many times as much: sorts take a little more than four."""
LITTLE = 4 * MANY
"""Thousands of steps of SQLite's that are not worth a look: two inputs of so many rows take ten times as many."""
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
        largest: per template, how much the one of its statements did that did most. A recoding takes more rounds over
            more rows, so that only this shows what a statement itself does.
    """

    squares: dict[str, str] = field(default_factory=dict)
    work: Counter[str] = field(default_factory=Counter)
    largest: Counter[str] = field(default_factory=Counter)


Sent = Callable[[str], Any]
"""Sends a statement and returns the driver's result."""


def grown(small: Watch, large: Watch, times: int = GROWTH) -> dict[str, str]:
    """Templates, and a run, of which a statement does far more than four times as much over four times the rows."""
    compared = {name: (small.largest[name], work) for name, work in large.largest.items()}
    compared["run"] = (small.work.total(), large.work.total())
    return {
        name: f"{before} grew to {after}"
        for name, (before, after) in compared.items()
        if after > max(times * before, LITTLE)
    }


@contextmanager
def watched(engine: Any, name: str) -> Iterator[Watch]:
    """Watch what an engine sends.

    Args:
        engine: of SQLAlchemy's.
        name: of the engine.
    """
    watch = Watch()
    plain = engine._sent
    look = EXPLAINED[name](plain, watch, engine._open_transaction, engine.driver_connection)

    def sent(sql: str) -> Any:
        query = query_in(sql)
        if query is None:
            return plain(sql)
        last = engine.meter.last
        template = last.name if last is not None else "session"
        if template not in ("catalog", "columns", "session"):
            look(template, query)
        return plain(sql)

    engine._sent = sent
    try:
        yield watch
    finally:
        del engine._sent


class Session:
    """A session that was told nothing, whose queries are looked at before they are sent.

    It has the methods of a cursor that the verifier of a certificate is given.
    """

    def __init__(self, name: str, connection: Any) -> None:
        self.watch = Watch()
        driver = connection.connection.driver_connection
        self._cursor = driver.cursor()
        self._look = EXPLAINED[name](connection.exec_driver_sql, self.watch, lambda: False, driver)

    def execute(self, sql: str, name: str | None = None) -> None:
        """Look at a query, under a name if there is one, and send it."""
        query = query_in(sql)
        if query is not None:
            self._look(name or query[:300], query)
        self._cursor.execute(sql)

    def fetchall(self) -> Sequence[Any]:
        """The rows of the last query."""
        return self._cursor.fetchall()  # type: ignore[no-any-return]

    @property
    def description(self) -> Any:
        """The columns of the last query."""
        return self._cursor.description


@contextmanager
def session_of(subject: Any) -> Iterator[Session]:
    """A new session of a database behind SQLAlchemy, which takes its temporary tables with it."""
    with subject._engine.connect() as connection:
        yield Session(subject.name, connection.execution_options(isolation_level="AUTOCOMMIT", no_parameters=True))


# --- PostgreSQL ---


Look = Callable[[str, str], None]
"""Looks at a query of a template."""


def _by_postgres(plain: Sent, watch: Watch, in_transaction: Callable[[], bool], _driver: Any) -> Look:
    return lambda template, query: _explained_by_postgres(plain, watch, template, query, in_transaction())


def _explained_by_postgres(plain: Sent, watch: Watch, template: str, query: str, open_before: bool) -> None:
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


def _by_mariadb(plain: Sent, watch: Watch, _in_transaction: Callable[[], bool], _driver: Any) -> Look:
    return lambda template, query: _explained_by_mariadb(plain, watch, template, query)


def _explained_by_mariadb(plain: Sent, watch: Watch, template: str, query: str) -> None:
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


def looked_at_in(plan: str) -> list[float]:
    """Of ``ANALYZE FORMAT=JSON``: how many rows each step that ran for several rows before it looked at each time."""
    told = list(_tables(json.loads(plan)))
    blocks = [inner for outer, inner in _blocks(json.loads(plan)) if outer > 1]
    return blocks + [float(table.get("r_rows") or 0) for table in told if (table.get("r_loops") or 0) > 1]


def _blocks(plan: Any, outer: float = 0) -> Iterator[tuple[float, float]]:
    """Joins by blocks: rows of the tables before, and of the joined one."""
    if isinstance(plan, list):
        rows = outer
        for below in plan:
            if isinstance(below, dict) and "table" in below:
                table = below["table"]
                share = float(table.get("r_filtered", 100) or 0) / 100  # what is left of them for the next table
                rows = max(rows, 1) * float(table.get("r_rows") or 0) * share
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


def _by_sqlite(_plain: Sent, watch: Watch, _in_transaction: Callable[[], bool], driver: Any) -> Look:
    """Its virtual machine's steps, in thousands, which include every row that a loop looks at.

    What it plans it tells without numbers: which steps grow with a square is seen at two sizes, see :func:`grown`.
    """

    def look(template: str, _query: str) -> None:
        done = 0

        def step() -> int:
            nonlocal done
            done += 1
            watch.work[template] += 1
            watch.largest[template] = max(watch.largest[template], done)
            return 0

        driver.set_progress_handler(step, 1_000)

    return look


EXPLAINED: dict[str, Callable[[Sent, Watch, Callable[[], bool], Any], Look]] = {
    "postgres": _by_postgres,
    "mariadb": _by_mariadb,
    "sqlite": _by_sqlite,
}
"""What looks at queries: of how they are sent, where what is seen is written, whether a transaction is open, and the
driver's connection."""
