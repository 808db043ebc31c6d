"""What PostgreSQL is told of memory and order, so that grouping is hashing, and never in the order of hashes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.backends.postgres import ROOM
from kanon_sql.engines.relational import RelationalEngine
from kanon_sql.evaluate import evaluator
from kanon_sql.frequency import FrequencySets
from kanon_sql.testing import Subject
from tests.servers import subject_of

pytestmark = pytest.mark.xdist_group("postgres")

SETTINGS = "SELECT current_setting('work_mem'), current_setting('enable_sort')"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Subject]:
    with subject_of("postgres") as made:
        drawn = random.Random(5)
        rows = [tuple(str(drawn.randrange(most)) for most in (20, 12, 9, 5)) for _ in range(400)]
        made.table("people", dict.fromkeys("abcs", "text"), rows)
        yield made


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"a": {"prefix": [1]}, "b": {"prefix": [1]}, "c": None},
            "privacy": [{"k_anonymity": 3}],
            "suppression": {"max_share": 0.2},
            **changes,
        }
    )


def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is sent to the server from here on."""
    texts: list[str] = []
    send = RelationalEngine._sent

    def noted(self: RelationalEngine, sql: str) -> Any:
        texts.append(sql)
        return send(self, sql)

    monkeypatch.setattr(RelationalEngine, "_sent", noted)
    return texts


def room_at(texts: list[str]) -> list[tuple[str, int, str]]:
    """Each statement that reads or makes a table, with the room and the sorting that it was sent under."""
    found, room, sorts = [], 4096, "on"
    for text in texts:
        if told := re.fullmatch(r"SET work_mem = (\d+); SET enable_sort = (on|off)", text):
            room, sorts = int(told[1]), told[2]
        elif " SELECT " in text and text.startswith("/*"):
            found.append((text, room, sorts))
    return found


@pytest.mark.slow
def test_a_statement_has_the_room_and_its_branches_share_it(postgres: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = sent(monkeypatch)
    with postgres.connect() as engine:
        assert kanon_sql.plan(engine, spec()).passed
        seen = room_at(texts)
    alone = [text for text, room, sorts in seen if "UNION ALL" not in text and (room, sorts) == (ROOM, "off")]
    assert any('_raw" AS SELECT' in text for text in alone), "the pass over the source has all of it"
    shared = [(text.count("UNION ALL") + 1, room, sorts) for text, room, sorts in seen if "UNION ALL" in text]
    assert len({branches for branches, _, _ in shared}) > 1
    for branches, room, sorts in shared:
        assert room == 4096 or room * branches <= ROOM, "all branches together have no more, or what the server gives"
        assert room * branches * 4 > ROOM, "and not much less"
        assert sorts == "off"


@pytest.mark.parametrize("chosen", ["SET work_mem = '5MB'", "ALTER ROLE CURRENT_USER SET work_mem = '5MB'"])
def test_what_somebody_chose_stays(postgres: Any, monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    import sqlalchemy

    made = sqlalchemy.create_engine(postgres.url, poolclass=sqlalchemy.NullPool)
    try:
        with made.connect() as first:
            first.exec_driver_sql(chosen)
            first.commit()
            with made.connect() if "ROLE" in chosen else first as connection:
                texts = sent(monkeypatch)
                ours = kanon_sql.connect(connection)
                assert kanon_sql.plan(ours, spec()).passed
                assert not any("SET work_mem" in text for text in texts)
                ours.close()
                assert connection.exec_driver_sql(SETTINGS).one() == ("5MB", "on")
    finally:
        postgres.execute("ALTER ROLE CURRENT_USER RESET work_mem")
        made.dispose()


def test_an_open_connection_gets_its_room_back(postgres: Any) -> None:
    import sqlalchemy

    made = sqlalchemy.create_engine(postgres.url)
    with made.connect() as connection:
        before = connection.exec_driver_sql(SETTINGS).one()
        connection.commit()
        for time in ("first", "second"):
            ours = kanon_sql.connect(connection)
            assert kanon_sql.plan(ours, spec()).passed
            ((room, _),) = ours._rows(SETTINGS, 1)
            assert room != before[0], f"it was changed meanwhile, the {time} time"
            ours.close()
            assert connection.exec_driver_sql(SETTINGS).one() == before
            connection.commit()
    made.dispose()


def test_frequency_sets_lie_in_the_order_of_codes(postgres: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never in that of hashes, which PostgreSQL may take quadratic time to group again."""
    monkeypatch.setattr("kanon_sql.evaluate.rollup.BUILD_COST", 0)
    monkeypatch.setattr("kanon_sql.evaluate.rollup.SMALL", 0)
    monkeypatch.setattr("kanon_sql.evaluate.rollup_sets.RolledUp._drop", lambda *_: None)
    orders, asked = [], []
    execute = RelationalEngine.execute

    def noted(self: RelationalEngine, statement: Any) -> None:
        execute(self, statement)
        if statement.name in ("frequency/encode", "evaluate/rollup"):
            asked.append(statement.name)
            orders.append([code for (code,) in self._rows(f"SELECT code0 FROM {statement.creates.table}", 1000)])

    monkeypatch.setattr(RelationalEngine, "execute", noted)
    with postgres.connect() as engine:
        assert kanon_sql.plan(engine, spec()).passed
    assert {*asked} == {"frequency/encode", "evaluate/rollup"}
    assert all(codes == sorted(codes) for codes in orders)
    assert max(map(len, orders)) > 100


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("sizes", "narrow"),
    [({"rows": 2**31 - 1}, True), ({"rows": 2**31}, False), ({"population_rows": 2**31}, False)],
)
def test_rows_are_added_up_in_32_bits_where_all_of_them_fit(
    postgres: Subject, monkeypatch: pytest.MonkeyPatch, sizes: dict[str, int], narrow: bool
) -> None:
    made = evaluator.NodeStatements.__init__

    def larger(self: Any, workspace: Any, sets: FrequencySets, *args: Any) -> None:
        made(self, workspace, replace(sets, **sizes), *args)

    monkeypatch.setattr(evaluator.NodeStatements, "__init__", larger)
    asked = spec(
        privacy=[{"k_anonymity": 3}, {"l_diversity": {"attribute": "s", "l": 2, "variant": "distinct"}}],
        sensitive=["s"],
    )
    texts = sent(monkeypatch)
    with postgres.connect() as engine:
        assert kanon_sql.plan(engine, asked).passed
    nodes = [text for text in texts if "AS judged_rows" in text and "suppressed_monotone" in text]
    assert nodes
    assert all(("CAST(row_count AS INT)" in text) is narrow for text in nodes)
    assert all(("AS INT) AS value_count" in text) is narrow for text in nodes)
    assert all(("SUM(row_count)" in text) is not narrow for text in nodes)
