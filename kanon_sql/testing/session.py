"""Time limits, cancelled statements, and errors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import isclose

import pytest

import kanon_sql
from kanon_sql.engines import Deadline, Engine
from kanon_sql.errors import DatabaseError, KanonError, QueryTimeout
from kanon_sql.evaluate import Evaluator
from kanon_sql.models import Metric
from kanon_sql.search import Node, Stopped, Verdict
from kanon_sql.sql import Statement
from kanon_sql.testing.clinic import SPEC
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.subject import Subject
from kanon_sql.verbs.doctor import doctor

__all__ = ["Session"]


class Session(Fixtures):
    """Time limits, cancelled statements, and errors."""

    def test_a_timeout_cancels_the_statement(self, subject: Subject, engine: Engine) -> None:
        if not subject.slow:
            pytest.skip("there is no slow query for this engine")
        with engine.run(Deadline(1.0)), pytest.raises(QueryTimeout):
            engine.fetch(Statement("slow", subject.slow), 1)
        try:
            answer = engine.fetch(Statement("after", "SELECT 1"), 1)
        except DatabaseError:  # the connection went with the statement, and said so
            return
        assert [tuple(map(int, row)) for row in answer] == [(1,)]

    @pytest.mark.parametrize("how", ["limit", "interrupt"])
    def test_a_search_whose_statement_is_cancelled_measures_its_best(
        self, with_visits: Subject, engine: Engine, how: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A cancelled statement costs neither the connection nor its temporary tables."""
        if not with_visits.slow:
            pytest.skip("there is no slow query for this engine")
        requested = threading.Event()
        found: list[Verdict] = []
        verdicts = Evaluator.verdicts

        def cancel() -> None:
            requested.set()
            engine.cancel()

        def slow_once(self: Evaluator, nodes: Sequence[Node], metric: Metric | None) -> list[Verdict]:
            """As ever, but for a slow statement once something satisfies."""
            if any(verdict.satisfied for verdict in found):
                monkeypatch.undo()
                reached = Deadline(0.5 if how == "limit" else None, lambda: Stopped("the limit"))
                timer = threading.Timer(0.5, cancel if how == "interrupt" else int)
                timer.start()
                try:
                    with engine.within(reached):
                        self.workspace.query(Statement("slow", with_visits.slow), 1)
                finally:
                    timer.join()
            found.extend(answer := verdicts(self, nodes, metric))
            return answer

        monkeypatch.setattr(Evaluator, "verdicts", slow_once)
        spec = kanon_sql.Spec.from_dict({**SPEC, "search": {"algorithm": "exhaustive"}})
        result = kanon_sql.plan(engine, spec, budget=kanon_sql.Budget(interrupted=requested.is_set))
        assert result.search is not None
        assert result.search.stopped == {"limit": "the limit", "interrupt": "the search was interrupted"}[how]
        assert not result.search.proven
        assert result.search.nodes_evaluated == len(found)
        assert result.passed
        best = min(verdict.metric for verdict in found if verdict.satisfied and verdict.metric is not None)
        assert isclose(result.metrics["loss"], best), "asked of the frequency set that was there before"
        assert kanon_sql.plan(engine, spec).passed, "the connection is as good as before"

    def test_an_error_shows_no_value(self, subject: Subject, engine: Engine) -> None:
        subject.table("planted", {"q": "text"}, [("Ada Planted",)])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "planted", "quasi_identifiers": {"q": {"sql": ["CAST(x AS BIGINT) / 0"]}},
                "privacy": [{"k_anonymity": 2}],
            }
        )  # fmt: skip
        message = ""
        try:
            kanon_sql.plan(engine, spec)
        except KanonError as error:
            message = str(error)
        assert "Planted" not in message
        subject.drop("planted")

    def test_what_does_not_exist(self, subject: Subject, engine: Engine) -> None:
        with pytest.raises(DatabaseError, match="there is no table or view 'nowhere' in "):
            kanon_sql.plan(engine, kanon_sql.Spec.from_dict({**SPEC, "source": "nowhere"}))

    def test_the_doctor(self, subject: Subject, engine: Engine) -> None:
        found = doctor(engine)
        assert found.works("check")
        assert found.works("plan")
        assert found.works("anonymize")
        assert found.version
