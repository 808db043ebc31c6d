"""What is read, what is published, and what a run leaves behind."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.sql import Statement
from kanon_sql.testing.cases import L_AND_T
from kanon_sql.testing.clinic import SPEC, VISITS, visits
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, multiset, same
from kanon_sql.testing.subject import Subject
from kanon_sql.verbs.clean import clean

__all__ = ["Tables"]


class Tables(Fixtures):
    """What is read, what is published, and what a run leaves behind."""

    def test_a_view_a_schema_and_a_query(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        there = with_visits.schema("kanon_other")
        shown = ".".join(there)
        with_visits.table((*there, "visits"), VISITS, visits(8))
        with_visits.drop((*there, "released"))
        reference.connection.execute("CREATE SCHEMA IF NOT EXISTS kanon_other")
        reference.table("other_visits", VISITS, visits(8))
        with_visits.drop((*there, "some_view"), "VIEW")
        table = with_visits.dialect.relation((*there, "visits"))
        view = with_visits.dialect.relation((*there, "some_view"))
        with_visits.execute(f"CREATE VIEW {view} AS SELECT * FROM {table} WHERE charge > 30")
        where = {"query": "SELECT * FROM other_visits WHERE charge > 30"}
        theirs = kanon_sql.anonymize(reference.engine, kanon_sql.Spec.from_dict({**SPEC, "source": where}))
        spec = kanon_sql.Spec.from_dict({**SPEC, "source": f"{shown}.some_view", "release": f"{shown}.released"})
        same(kanon_sql.anonymize(engine, spec), theirs)
        assert multiset(with_visits.rows((*there, "released"))) == multiset(reference.rows("visits_release"))
        assert kanon_sql.anonymize(engine, spec).passed, "it replaces its own"
        assert kanon_sql.check(engine, spec).passed
        full = engine.full_name((*there, "some_view"))
        assert full is not None
        qualified = ".".join('"' + part.replace('"', '""') + '"' for part in full)
        same(
            kanon_sql.plan(engine, kanon_sql.Spec.from_dict({**SPEC, "source": qualified})),
            kanon_sql.plan(reference.engine, kanon_sql.Spec.from_dict({**SPEC, "source": where})),
        )
        with_visits.drop((*there, "some_view"), "VIEW")
        with_visits.drop((*there, "released"))

    def test_no_rows_and_too_few(self, subject: Subject, engine: Engine) -> None:
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "few", "release": "visits_release", "quasi_identifiers": {"q": None},
                "privacy": [{"k_anonymity": 3}],
            }
        )  # fmt: skip
        for rows in ([], [("a",), ("b",)]):
            subject.table("few", {"q": "text"}, rows)
            result = kanon_sql.anonymize(engine, spec)
            assert not result.passed
            assert "visits_release" not in subject.tables()
        subject.drop("few")

    @pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
    def test_a_distribution_that_counts_no_person(self, subject: Subject, engine: Engine, distance: str) -> None:
        """No row of the source is any person's: there is no distribution to be close to."""
        columns = {"q": "text", "s": "integer", "u": "text"}
        closeness: dict[str, Any] = {"attribute": "s", "t": 0.9, "distance": distance}
        if distance == "hierarchical":
            closeness["hierarchy"] = {"intervals": [2, 4]}
        subject.table("nobodys", columns, [("a", 1, None), ("a", 2, None), ("b", None, None)])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nobodys", "release": "visits_release", "unit": "u", "sensitive": ["s"],
                "quasi_identifiers": {"q": None}, "privacy": [{"t_closeness": closeness}],
                "suppression": {"max_rows": 1},
            }
        )  # fmt: skip
        for verb in (kanon_sql.plan, kanon_sql.anonymize):
            assert not verb(engine, spec).passed
        assert "visits_release" not in subject.tables()
        subject.table("somebodys", columns, [("a", 1, "x"), ("a", 2, "y")])
        result = kanon_sql.check(engine, spec, "somebodys")
        assert not result.passed
        assert [item["violating_classes"] for item in result.achieved.values()] == [1]
        subject.drop("nobodys")
        subject.drop("somebodys")

    def test_a_release_replaces_its_own_and_nothing_else(self, with_visits: Subject, engine: Engine) -> None:
        spec = kanon_sql.Spec.from_dict(SPEC)
        first = kanon_sql.anonymize(engine, spec)
        again = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": 5}]}))
        assert first.passed
        assert again.passed
        assert len(with_visits.rows("visits_release")) == again.rows["released"]
        with_visits.table("mine", {"q": "text"}, [("a",)])
        with pytest.raises(SpecError, match="did not publish"):
            kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**SPEC, "release": "mine"}))
        assert with_visits.rows("mine") == [("a",)]
        with_visits.drop("mine")
        left = [name for name in with_visits.tables() if re.match(r"kanon_[0-9a-f]{8}_", name)]
        assert left == []
        assert clean(engine, drop=False).objects == ()

    def test_a_table_that_another_session_makes_during_the_run_stays(
        self, subject: Subject, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The release's name was free when the run began."""
        subject.table("few", {"q": "text"}, [(value,) for value in "aaabbb"])
        execute = type(engine).execute

        def meanwhile(self: Any, statement: Statement) -> None:
            execute(self, statement)
            if statement.name == "engines/scratch/record":
                subject.table("few_release", {"mine": "text"}, [("precious",)])

        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "few", "release": "few_release", "quasi_identifiers": {"q": None},
                "privacy": [{"k_anonymity": 2}],
            }
        )  # fmt: skip
        with monkeypatch.context() as patched:
            patched.setattr(type(engine), "execute", meanwhile)
            with pytest.raises(SpecError, match="did not publish"):
                kanon_sql.anonymize(engine, spec)
        assert subject.rows("few_release") == [("precious",)]
        assert not [name for name in subject.tables() if re.match(r"kanon_[0-9a-f]{8}_", name)]
        assert clean(engine, drop=False).objects == ()
        subject.drop("few_release")
        assert kanon_sql.anonymize(engine, spec).passed
        subject.drop("few_release")
        subject.drop("few")

    @pytest.mark.parametrize("first", [True, False], ids=["first", "replacing"])
    def test_an_error_while_publishing_leaves_the_old_release_or_the_new(
        self, subject: Subject, engine: Engine, monkeypatch: pytest.MonkeyPatch, first: bool
    ) -> None:
        """Whichever statement fails, what stands under the release's name is whole and verified."""
        subject.table("few", {"q": "text"}, [(value,) for value in "aaabbbc"])
        asked: dict[str, Any] = {
            "version": 1, "source": "few", "release": "visits_release", "quasi_identifiers": {"q": None},
            "privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 0.2},
        }  # fmt: skip
        new = Counter([("a",)] * 3 + [("b",)] * 3)
        old = Counter([("*",)] * 7)
        execute = type(engine).execute
        publishing = ("release/", "engines/scratch/", "transaction")
        for position in range(40):
            stands = Counter(subject.rows("visits_release")) if "visits_release" in subject.tables() else None
            if first or stands != old:
                subject.drop("visits_release")
            if not first and stands != old:
                at_top = {**asked, "quasi_identifiers": {"q": {"minimum_level": 1}}}
                assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(at_top)).passed
            left = position

            def failing(self: Any, statement: Statement) -> None:
                nonlocal left
                if statement.name.startswith(publishing):
                    left -= 1
                    if left == -1:
                        raise DatabaseError("refused by the test")
                execute(self, statement)

            with monkeypatch.context() as patched:
                patched.setattr(type(engine), "execute", failing)
                try:
                    kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked))
                except DatabaseError as error:
                    refused = str(error)
                else:
                    refused = ""
            there = "visits_release" in subject.tables()
            if there:
                assert Counter(subject.rows("visits_release")) in ([new] if first else [old, new]), position
            else:
                assert first or not engine.capabilities.atomic_replace, position
            clean(engine, drop=True)
            assert not [name for name in subject.tables() if re.match(r"kanon_[0-9a-f]{8}_", name)], position
            if left >= 0:
                assert not refused
                break
        else:
            raise AssertionError("publishing takes more than forty statements")
        subject.drop("few")

    def test_releases_are_compared_with_earlier_ones(
        self, with_visits: Subject, reference: Reference, engine: Engine
    ) -> None:
        """The joint classes are DuckDB's, and what is refused is in neither the database nor the ledger."""
        names = ("together", "apart", "masked", "kanon_ledger")
        for name in names:
            with_visits.drop(name)
            reference.drop(name)
        asked = {**SPEC, "suppression": {"max_share": 0.3}, "ledger": "kanon_ledger", "privacy": L_AND_T[:2]}
        twenties = {"age": {"intervals": [20], "minimum_level": 1}, "sex": {"minimum_level": 1}}
        releases: dict[str, dict[str, Any]] = {
            "together": {"quasi_identifiers": twenties, "nulls": "suppress"},
            "apart": {"quasi_identifiers": {"age": {"intervals": [7]}, "zip": {"prefix": [3]}}},
            "masked": {"quasi_identifiers": twenties, "suppression": {"max_share": 0.3, "style": "mask"}},
        }
        verdicts = []
        for name, changes in releases.items():
            spec = kanon_sql.Spec.from_dict({**asked, **changes, "release": name})
            ours, theirs = kanon_sql.anonymize(engine, spec), kanon_sql.anonymize(reference.engine, spec)
            same(ours, theirs)
            assert ours.ledger == theirs.ledger is not None
            verdicts.append(ours.passed)
            assert (name in with_visits.tables()) is ours.passed
        assert verdicts == [True, False, True]
        found = kanon_sql.ledger(engine, "kanon_ledger").entries
        assert sorted(entry.name for entry in found) == ["masked", "together"]
        assert clean(engine, drop=False).objects == ()
        for name in names:
            with_visits.drop(name)

    def test_republishing(self, subject: Subject, engine: Engine) -> None:
        """m-invariance, with texts that a careless comparison takes for the same."""
        columns = {"person": "text", "q": "text", "s": "text"}
        subject.table("before", columns, [("a", "x", "flu"), ("A", "x", "Flu"), ("b", "X", "flu"), ("c", "X", "cold")])
        subject.table("now", columns, [("a", "y", "flu"), (None, "y", "Flu"), ("b", "x", "flu"), ("d", "x", "Flu")])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nowhere", "quasi_identifiers": {"q": None}, "sensitive": ["s"],
                "privacy": [{"k_anonymity": 1}],
            }
        )  # fmt: skip
        for m, classes, rows in ((2, 0, 0), (3, 4, 8)):
            again = kanon_sql.Republication("before", "person", m)
            (achieved,) = list(kanon_sql.check(engine, spec, "now", republication=again).achieved.values())[1:]
            assert (achieved["violating_classes"], achieved["violating_rows"]) == (classes, rows)
            assert (achieved["changed_persons"], achieved["m"]) == (1, None)
        subject.drop("before")
        subject.drop("now")

    def test_what_a_killed_run_left_is_found_and_dropped(self, with_visits: Subject, engine: Engine) -> None:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))
        left = "kanon_0123abcd_release"
        with_visits.table(left, {"q": "text"}, [("a",)])
        record = with_visits.dialect.quote("kanon_sql_scratch")
        name = with_visits.dialect.literal(f'["{left}"]')
        with_visits.execute(f"INSERT INTO {record} VALUES ('0123abcd', {name}, '2001-01-01T00:00:00+00:00')")
        assert [item.state for item in clean(engine, drop=False).objects] == ["left over"]
        assert [item.state for item in clean(engine, drop=True).objects] == ["dropped"]
        assert clean(engine, drop=False).objects == ()
        assert left not in with_visits.tables()

    def test_no_row_of_the_source_is_fetched(self, subject: Subject, engine: Engine) -> None:
        """The egress does not grow with the table."""
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "growing", "release": "visits_release", "unit": "p",
                "quasi_identifiers": {"q": None, "r": {"prefix": [1]}}, "privacy": [{"k_anonymity": 2}],
                "suppression": {"max_share": 0.5},
            }
        )  # fmt: skip
        fetched = []
        for size in (100, 1000):
            rows = [(number, f"q{number % 4}", f"{number % 7}{number % 3}") for number in range(size)]
            subject.table("growing", {"p": "integer", "q": "text", "r": "text"}, rows)
            cost = kanon_sql.anonymize(engine, spec).cost
            assert cost.source_scans <= 2 or engine.scratch.mode == "inline"
            fetched.append(cost.rows_fetched)
        assert max(fetched) < 100, "a tenth of the rows"
        subject.drop("growing")
