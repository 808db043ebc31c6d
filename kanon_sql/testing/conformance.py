"""What an engine must do to be accepted; see :mod:`kanon_sql.testing`."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from math import isclose
from typing import Any, TypeVar
from uuid import UUID

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.errors import DatabaseError, KanonError, QueryTimeout, SpecError
from kanon_sql.evaluate import Evaluator
from kanon_sql.lattice import Node
from kanon_sql.pipeline.clean import clean
from kanon_sql.pipeline.doctor import doctor
from kanon_sql.pipeline.init import write_spec
from kanon_sql.pipeline.result import Result
from kanon_sql.quality import Metric
from kanon_sql.search import Stopped, Verdict
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.sql.statement import Statement
from kanon_sql.testing.subject import TYPES, Subject, as_text

__all__ = ["Conformance", "Reference"]

T = TypeVar("T")

NASTY = [
    "a", "A", "a ", " a", "á", "a\u0301", "ä", "ß", "ss", "", " ", "'", '"', "''", "\\", "\\'", "\\n", "%", "%s", "%%",
    "_", ":x", ":1", "?", "$1", "{0}", "{{ x }}", "#", "--", "/* x */", ";", "\n", "\r\n", "\t", "`", "[a]", "NULL",
    "null", "*", "0", "00", "0.0", "1e3", "-0", "İ", "ı", "i", "I", "🙂", "🙂🙂", "ﬁ", "fi", "Ａ", "\u200b", "\u00a0",
    "x" * 10_000, "x" * 9_999 + "y", None,
]  # fmt: skip
"""Texts that engines like to merge, to cut, to unquote, or to take for SQL. All are different."""

NAMES = [
    "Select", "order", "marital-status", 'a"b', "a`b", "a b", "x; drop table y", "naïve", "名", "100%", "a:b", "a'b",
    "value", "row_count", "q0", "kanon_source", "CamelCase",
]  # fmt: skip
"""Names that need quoting, or that our own SQL uses."""

_FLAGS: Mapping[str | None, str] = {"true": "1", "false": "0"}
"""Engines without a boolean type have 1 and 0."""

VISITS = {
    "person": "integer",
    "name": "text",
    "age": "integer",
    "zip": "text",
    "born": "date",
    "sex": "text",
    "weight": "decimal",
    "illness": "text",
    "charge": "integer",
}


def visits(seed: int = 7, persons: int = 90) -> list[tuple[Any, ...]]:
    """A small clinic: one or two visits per person, with NULLs."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        of_person = (
            f"n{person}",
            draw.randint(-5, 90),
            draw.choice(["94130", "94131", "9423", "94230", "x"]),
            date(draw.randint(1940, 1999), draw.randint(1, 12), draw.randint(1, 28)),
            draw.choice(["M", "F", "m"]),
            Decimal(draw.randint(300, 990)) / 10,
        )
        for _ in range(draw.randint(1, 2)):
            rows.append((person, *of_person, draw.choice(["flu", "Flu", "ulcer", "asthma", None]), draw.randint(1, 99)))
    return rows


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"intervals": [20], "bottom": 0, "top": 80},
        "zip": {"prefix": [3]},
        "born": {"dates": ["quarter", "decade"]},
        "sex": {"tree": {"x": ["M", "m"], "y": ["F"]}},
    },
    "sensitive": ["illness"],
    "keep": ["charge"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"limit": 0.2},
}

FEW = {name: SPEC["quasi_identifiers"][name] for name in ("age", "sex")}
"""Where the lattice is not what is tried, a small one will do."""

L_AND_T = [
    {"k_anonymity": 2},
    {"l_diversity": {"attribute": "illness", "l": 2}},
    {"l_diversity": {"attribute": "illness", "l": 1.5, "kind": "entropy"}},
    {"l_diversity": {"attribute": "illness", "l": 2, "kind": "recursive", "c": 3}},
    {"t_closeness": {"attribute": "illness", "t": 0.6}},
]

SETS = [
    {"k_anonymity": 3},
    {"k_anonymity": {"k": 12, "quasi_identifiers": ["sex"]}},
    {"k_anonymity": {"k": 8, "quasi_identifiers": ["age", "sex"]}},
]

SINGLE_VALUES = [
    {"t_closeness": {"attribute": "charge", "t": 0.5, "distance": "ordered"}},
    {
        "t_closeness": {
            "attribute": "illness",
            "t": 0.5,
            "distance": "hierarchical",
            "hierarchy": {
                "tree": {"inside": {"gut": ["ulcer"], "lungs": ["asthma"]}, "outside": {"nose": ["flu", "Flu"]}}
            },
        }
    },
    {"alpha_k_anonymity": {"attribute": "illness", "alpha": 0.7, "k": 2, "values": ["Flu"]}},
    {"p_sensitive_k_anonymity": {"attribute": "illness", "p": 2, "k": 2}},
    {"beta_likeness": {"attribute": "illness", "beta": 4, "kind": "basic"}},
    {"beta_likeness": {"attribute": "charge", "beta": 90, "kind": "enhanced"}},
    {"delta_disclosure": {"attribute": "illness", "delta": 5}},
    {
        "l_diversity": {
            "attribute": "illness",
            "kind": "npd_recursive",
            "l": 2,
            "c": 4,
            "c2": 0.01,
            "allow_positive": ["flu"],
            "forbid_negative": ["ulcer"],
        }
    },
]

CASES: dict[str, dict[str, Any]] = {
    "loss": {},
    "height": {"search": {"metric": "height"}},
    "precision": {"search": {"metric": "precision", "algorithm": "samarati"}},
    "discernibility": {"search": {"metric": "discernibility", "algorithm": "incognito"}},
    "average_class_size": {"search": {"metric": "average_class_size"}},
    "super-roots": {"search": {"algorithm": "incognito", "variant": "super_roots"}},
    "cube": {"search": {"algorithm": "incognito", "variant": "cube"}},
    "matrix": {"search": {"algorithm": "samarati", "matrix": True}, "unit": "person"},
    "entropy": {"search": {"metric": "entropy"}},
    "ambiguity": {"search": {"metric": "ambiguity"}},
    "l and t": {"privacy": L_AND_T, "suppression": {"limit": 0.4}},
    "masked": {"suppression": {"limit": 0.4, "style": "mask"}, "privacy": [{"k_anonymity": 4}]},
    "models of single values, distances": {
        "sensitive": ["illness", "charge"],
        "keep": [],
        "quasi_identifiers": FEW,
        "privacy": SINGLE_VALUES,
        "suppression": {"limit": 0.9},
    },
    "sets": {"privacy": SETS, "suppression": {"limit": 0.4}, "search": {"metric": "entropy"}},
    "sets, persons, l and t, masked": {
        "unit": "person",
        "privacy": [*L_AND_T, *SETS[1:]],
        "suppression": {"limit": 0.5, "style": "mask"},
    },
    "persons": {"unit": "person"},
    "persons, l and t, masked": {
        "unit": "person",
        "privacy": L_AND_T,
        "suppression": {"limit": 0.5, "style": "mask"},
    },
    "expressions": {
        "quasi_identifiers": {
            "age": {"sql": ["floor(x / 10) * 10", "CASE WHEN x < 40 THEN 'young' ELSE 'old' END"]},
            "zip": {"sql": ["substring(x, 1, 2)"]},
        }
    },
    "intervals": {
        "quasi_identifiers": {"zip": None, "sex": {"tree": {"x": ["M", "m"], "y": ["F", "none"]}}},
        "search": {"algorithm": "k_optimize"},
    },
    "intervals of dates and numbers, limited, l": {
        "quasi_identifiers": {"born": None, "weight": None},
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "illness", "l": 2}}],
        "search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 4},
    },
    "intervals, persons, NULL": {
        "unit": "person",
        "quasi_identifiers": {"sex": None, "illness": None},
        "sensitive": [],
        "search": {"algorithm": "k_optimize"},
    },
    "intervals, NULLs suppressed, masked": {
        "quasi_identifiers": {"weight": None, "illness": {"tree": {"x": ["flu", "Flu"], "y": ["asthma", "ulcer"]}}},
        "sensitive": [],
        "nulls": "suppress",
        "suppression": {"limit": 0.6, "style": "mask"},
        "search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 4},
    },
    "query": {"source": {"query": "SELECT * FROM visits WHERE charge > 20"}},
    "decimals and NULLs": {
        "quasi_identifiers": {"weight": {"intervals": [2.5, 10]}, "illness": None},
        "sensitive": [],
        "nulls": "suppress",
        "suppression": {"limit": 0.6},
    },
}


class Reference:
    """DuckDB with the same tables, whose answers the engine's must equal."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.engine = kanon_sql.connect(self.connection)
        self._dialect = dialect_named("duckdb")
        self._answers: dict[Hashable, Any] = {}

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Create the same table as the subject's."""
        listed = ", ".join(f"{self._dialect.quote(column)} {TYPES[kind]}" for column, kind in columns.items())
        self.connection.execute(f"CREATE OR REPLACE TABLE {self._dialect.quote(name)} ({listed})")
        marks = ", ".join("?" * len(columns))
        if rows:
            self.connection.executemany(f"INSERT INTO {self._dialect.quote(name)} VALUES ({marks})", rows)

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """All rows of a table."""
        return self.connection.execute(f"SELECT * FROM {self._dialect.quote(name)}").fetchall()

    def drop(self, name: str) -> None:
        """Drop a table, if it is there."""
        self.connection.execute(f"DROP TABLE IF EXISTS {self._dialect.quote(name)}")

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """What is answered alike whichever engine is compared with it, worked out once."""
        if question not in self._answers:
            self._answers[question] = answer()
        return self._answers[question]  # type: ignore[no-any-return]


def multiset(rows: Sequence[Sequence[Any]]) -> Counter[tuple[str | None, ...]]:
    """Rows without order, every cell as text."""
    return Counter(tuple(map(as_text, row)) for row in rows)


Made = tuple[Result, Counter[tuple[str | None, ...]]]
"""What was said of a release, and its rows."""


def made(where: Reference | Subject, engine: Engine, spec: kanon_sql.Spec) -> Made:
    """Make a release, in the place of the last one."""
    where.drop("visits_release")
    result = kanon_sql.anonymize(engine, spec)
    assert result.passed, "the case must be one that can be released"
    return result, multiset(where.rows("visits_release"))


def same(ours: Result, theirs: Result) -> None:
    """Two engines said the same."""
    assert (ours.verdict, ours.node, ours.rows, ours.classes) == (
        theirs.verdict, theirs.node, theirs.rows, theirs.classes,
    )  # fmt: skip
    assert ours.metrics.keys() == theirs.metrics.keys()
    for name, value in theirs.metrics.items():
        assert isclose(ours.metrics[name], value, rel_tol=1e-9, abs_tol=1e-9), name
    assert ours.achieved.keys() == theirs.achieved.keys()
    for label, achieved in theirs.achieved.items():
        for what, value in achieved.items():
            found = ours.achieved[label][what]
            if isinstance(value, float) and isinstance(found, float):
                assert isclose(found, value, rel_tol=1e-9, abs_tol=1e-9), (label, what)
            else:
                assert found == value, (label, what)


def alike(ours: Any, theirs: Any) -> None:
    """Two engines' JSON is the same, but for the last digits of fractions."""
    if isinstance(theirs, float) and isinstance(ours, float):
        assert isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            alike(ours[key], value)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            alike(one, other)
    else:
        assert ours == theirs


class Conformance:
    """Subclass it with a fixture ``subject``; pytest collects the tests below."""

    @pytest.fixture(autouse=True)
    def _applies(self, request: pytest.FixtureRequest, subject: Subject) -> None:
        why = subject.lacks.get(request.function.__name__)
        if why is not None:
            pytest.skip(why)

    @pytest.fixture(scope="class")
    @classmethod
    def reference(cls) -> Iterator[Reference]:
        """DuckDB with the visits."""
        made = Reference()
        made.table("visits", VISITS, visits())
        yield made
        made.connection.close()

    @pytest.fixture(scope="class")
    @classmethod
    def with_visits(cls, subject: Subject) -> Subject:
        """The subject, with the visits in it."""
        subject.table("visits", VISITS, visits())
        return subject

    @pytest.fixture
    def engine(self, subject: Subject) -> Iterator[Engine]:
        """A connection of kanon_sql's own; releases are gone before and after."""
        subject.drop("visits_release")
        opened = subject.connect()
        yield opened
        opened.close()
        subject.drop("visits_release")

    # --- The same answers as DuckDB ---

    @pytest.mark.parametrize("case", CASES)
    def test_the_same_release_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, case: str
    ) -> None:
        spec = kanon_sql.Spec.from_dict({**SPEC, **CASES[case]})

        def answered(where: Reference | Subject, own: Engine) -> tuple[Made, Result, Result]:
            release = made(where, own, spec)
            by_rows = spec.unit is not None
            return release, kanon_sql.check(own, spec, count_rows=by_rows), kanon_sql.check(own, spec, "visits")

        (theirs, rows), of_release, of_source = reference.once(case, lambda: answered(reference, reference.engine))
        (ours, found), checked, source = answered(with_visits, engine)
        same(ours, theirs)
        assert found == rows
        assert ours.cost.source_scans <= 2, "once where the release can be written from the frequency set"
        same(checked, of_release)
        same(source, of_source)

    @pytest.mark.parametrize("unit", [None, "person"])
    def test_the_same_details_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, unit: str | None
    ) -> None:
        """What a report shows: histograms of classes, losses, the lattice."""
        spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": L_AND_T, "suppression": {"limit": 1.0}})
        ours, theirs = (kanon_sql.plan(used, spec, details=True).details for used in (engine, reference.engine))
        assert ours is not None
        assert theirs is not None
        assert ours.tables == theirs.tables
        assert ours.lattice == theirs.lattice
        for mine, yours in zip(ours.attributes, theirs.attributes, strict=True):
            assert isclose(mine.loss, yours.loss, rel_tol=1e-9, abs_tol=1e-9)

    @pytest.mark.parametrize("mode", ["temp", "inline", "schema"])
    def test_every_scratch_mode_gives_the_same_and_leaves_nothing(
        self, with_visits: Subject, reference: Reference, mode: str
    ) -> None:
        if mode in with_visits.lacks:
            pytest.skip(with_visits.lacks[mode])
        spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": FEW, "search": {"metric": "height"}})
        scratch = mode
        if mode == "schema":
            scratch = f"schema:{'.'.join(with_visits.schema('kanon_scratch'))}"
        with_visits.drop("visits_release")
        engine = with_visits.connect(scratch=scratch)
        try:
            before = set(with_visits.tables())
            same(kanon_sql.plan(engine, spec), kanon_sql.plan(reference.engine, spec))
            assert set(with_visits.tables()) == before, "plan writes nothing"
            ours = kanon_sql.anonymize(engine, spec)
            assert set(with_visits.tables()) - before <= {"visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}
            assert engine.scratch.mode == mode
            assert ours.cost.source_scans <= 2 or mode == "inline"
            assert clean(engine, drop=False).objects == ()
        finally:
            engine.close()
            with_visits.drop("visits_release")

    # --- Attacks ---

    def test_the_same_audit_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        spec = kanon_sql.Spec.from_dict({**SPEC, "suppression": {"limit": 0.2, "style": "mask"}})
        reference.drop("visits_release")
        meanings = {"illness": {"tree": {"Infection": ["flu", "Flu"], "Other": ["ulcer", "asthma"]}}}
        before, audits = set(with_visits.tables()), []
        for own in (reference.engine, engine):
            assert kanon_sql.anonymize(own, spec).passed
            audits.append(
                kanon_sql.audit(
                    own, spec, external="visits", on=["age", "zip", "charge"], earlier=["visits_release"],
                    hierarchies=meanings, negations=2,
                )
            )  # fmt: skip
        assert set(with_visits.tables()) - before <= {"visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}
        theirs, ours = audits
        assert ours.verdict == theirs.verdict == "fail"
        assert not any("CREATE" in sql for sql in ours.sql)
        expected = {attack.label: attack for attack in theirs.attacks if attack.name != "unsorted"}
        found = {attack.label: attack for attack in ours.attacks if attack.name != "unsorted"}
        assert found.keys() == expected.keys()
        for label, attack in expected.items():
            same_one = found[label]
            assert (same_one.examined, same_one.exposed, same_one.beyond) == (
                attack.examined, attack.exposed, attack.beyond,
            ), label  # fmt: skip
            assert attack.risk is not None
            assert same_one.risk is not None
            assert isclose(same_one.risk, attack.risk, abs_tol=1e-9), label

    def test_a_text_is_linked_with_itself_alone(self, subject: Subject, engine: Engine) -> None:
        """Merging two of them would hide a unique match."""
        values = [value for value in NASTY if value != "*"]  # which would be the label of any value
        subject.table("nasty", {"q": "text", "s": "text"}, [(value, value) for value in values])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nasty", "release": "visits_release", "quasi_identifiers": {"q": None},
                "keep": ["s"], "privacy": [{"k_anonymity": 2}],
            }
        )  # fmt: skip
        for on in (["q"], ["s"], ["q", "s"]):
            result = kanon_sql.audit(engine, spec, "nasty", external="nasty", on=on, attacks=["linking"])
            assert [attack.exposed for attack in result.attacks] == [len(values), len(values)]
        subject.drop("nasty")

    # --- Values ---

    def test_different_texts_are_different(self, subject: Subject, engine: Engine) -> None:
        """Every nasty text is a class of its own; merging two would make a class look larger than it is."""
        counts = {value: 1 + position % 3 for position, value in enumerate(NASTY)}
        rows = [(value,) for value, count in counts.items() for _ in range(count)]
        subject.table("nasty", {"q": "text"}, rows)
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nasty", "release": "visits_release",
                "quasi_identifiers": {"q": {"maximum_level": 0}},
                "privacy": [{"k_anonymity": 2}], "suppression": {"limit": 0.9},
            }
        )  # fmt: skip
        checked = kanon_sql.check(engine, spec, "nasty")
        assert checked.classes["count"] == len(NASTY)
        (achieved,) = checked.achieved.values()
        assert achieved["violating_classes"] == sum(count < 2 for count in counts.values())
        result = kanon_sql.anonymize(engine, spec)
        expected = Counter({(value,): count for value, count in counts.items() if count >= 2})
        assert Counter(subject.rows("visits_release")) == expected
        assert result.rows["suppressed"] == sum(count for count in counts.values() if count < 2)
        subject.drop("nasty")

    def test_different_texts_are_different_sensitive_values(self, subject: Subject, engine: Engine) -> None:
        values = [value for value in NASTY if value is not None]
        subject.table("nasty", {"q": "text", "s": "text"}, [("same", value) for value in values])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nasty", "quasi_identifiers": {"q": None}, "sensitive": ["s"],
                "privacy": [{"l_diversity": {"attribute": "s", "l": 2}}],
            }
        )  # fmt: skip
        (achieved,) = kanon_sql.check(engine, spec, "nasty").achieved.values()
        assert achieved["l"] == len(values)
        subject.drop("nasty")

    def test_numbers_and_dates(self, subject: Subject, reference: Reference, engine: Engine) -> None:
        columns = {"n": "bigint", "d": "decimal", "b": "date", "x": "double"}
        numbers = [-(2**53) - 1, -(2**53), 2**53, 2**53 + 1, -1, 0, 1, 9]
        decimals = [Decimal(text) for text in ("-10.01", "-10.00", "-0.01", "0", "0.01", "9.99", "10", "10.01")]
        dates = [date(1, 1, 1), date(999, 12, 31), date(1000, 1, 1), date(1899, 12, 31), date(1900, 1, 1),
                 date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29)]  # fmt: skip
        doubles = [-1e15, -2.5, -0.5, 0.0, 0.5, 2.5, 1024.0, 1e15]
        listed = zip(numbers, decimals, dates, doubles, strict=True)
        rows: list[tuple[Any, ...]] = [row for row in listed for _ in range(2)]
        rows += [(None, None, None, None)] * 3
        subject.table("numbers", columns, rows)
        reference.table("numbers", columns, rows)
        quasi: dict[str, Any] = {
            "n": {"maximum_level": 0},
            "d": {"intervals": [0.5, 10], "minimum_level": 1, "maximum_level": 1},
            "b": {"dates": ["month", "decade", "century"], "minimum_level": 2, "maximum_level": 2},
            "x": {"maximum_level": 0},
        }
        for name, minimum in (("d", 0), ("d", 1), ("d", 2), ("b", 0), ("b", 1), ("b", 2), ("b", 3), ("n", 0), ("x", 0)):
            levels = {**quasi[name], "minimum_level": minimum, "maximum_level": minimum}
            spec = kanon_sql.Spec.from_dict(
                {
                    "version": 1, "source": "numbers", "release": "visits_release",
                    "quasi_identifiers": {name: levels}, "privacy": [{"k_anonymity": 2}],
                }
            )  # fmt: skip
            question = ("numbers", name, minimum)
            theirs, expected = reference.once(question, partial(made, reference, reference.engine, spec))
            ours, found = made(subject, engine, spec)
            same(ours, theirs)
            assert found == expected, (name, minimum)
        subject.drop("numbers")

    def test_fractions(self, subject: Subject, engine: Engine) -> None:
        """Labels have the fewest digits that read back as the number, and no number shares another's."""
        plain = [0.1 + 0.2, 0.3, 1 / 3, 12345678.9, 0.0005, 123456789012345.67, -0.00014781864062369965]
        in_powers = [1.5e300, 1e22, 1e-5]  # written in several ways
        subject.table("fractions", {"q": "double"}, [(value,) for value in [*plain, *in_powers] for _ in range(2)])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "fractions", "release": "visits_release",
                "quasi_identifiers": {"q": {"maximum_level": 0}}, "privacy": [{"k_anonymity": 2}],
            }
        )  # fmt: skip
        assert kanon_sql.anonymize(engine, spec).passed
        labels = Counter(label for (label,) in subject.rows("visits_release"))
        assert {repr(value): 2 for value in plain}.items() <= labels.items()
        assert sorted(map(float, labels)) == sorted([*plain, *in_powers])
        subject.drop("fractions")

    def test_decimals_divided(self, subject: Subject, engine: Engine) -> None:
        """A quotient is a binary fraction on every engine, not a decimal of a few digits."""
        values = [Decimal(text) for text in ("0.05", "1.25", "12345678.90", "10.00")]
        subject.table("fractions", {"q": "decimal"}, [(value,) for value in values for _ in range(2)])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "fractions", "release": "visits_release", "privacy": [{"k_anonymity": 2}],
                "quasi_identifiers": {"q": {"sql": ["x / 3"], "minimum_level": 1, "maximum_level": 1}},
            }
        )  # fmt: skip
        assert kanon_sql.anonymize(engine, spec).passed
        found = Counter(label for (label,) in subject.rows("visits_release"))
        assert found == {repr(float(value) / 3): 2 for value in values}
        subject.drop("fractions")

    def test_times_flags_and_identifiers(self, subject: Subject, reference: Reference, engine: Engine) -> None:
        times = [datetime(1900, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 500_000), datetime(1970, 1, 1),
                 datetime(2020, 2, 29, 10, 20, 30, 123_456), datetime(2020, 2, 29, 10, 20, 30, 123_457)]  # fmt: skip
        uuids = [UUID(int=number) for number in (0, 1, 2**64, 2**127, 2**128 - 1)]
        listed = list(zip(times, [True, False, None, False, True], uuids, strict=True))
        rows = [row for row in listed for _ in range(2)] + [(None, None, None)] * 3
        columns = {"t": "timestamp", "f": "boolean", "u": "uuid"}
        subject.table("times", columns, rows)
        reference.table("times", columns, rows)
        expected = Counter({"1900-01-01 00:00:00": 2, "1969-12-31 23:59:59.5": 2, "1970-01-01 00:00:00": 2,
                            "2020-02-29 10:20:30.123456": 2, "2020-02-29 10:20:30.123457": 2, None: 3})  # fmt: skip
        spec: dict[str, Any] = {
            "version": 1, "source": "times", "release": "visits_release", "privacy": [{"k_anonymity": 2}],
        }  # fmt: skip
        as_it_is = {"minimum_level": 0, "maximum_level": 0}
        for name in columns:
            of_one = kanon_sql.Spec.from_dict({**spec, "quasi_identifiers": {name: as_it_is}})
            same(kanon_sql.anonymize(engine, of_one), kanon_sql.anonymize(reference.engine, of_one))
            found = Counter(_FLAGS.get(label, label) for (label,) in subject.rows("visits_release"))
            assert found == Counter(_FLAGS.get(label, label) for (label,) in reference.rows("visits_release")), name
            assert name != "t" or found == expected
        months = {"t": {"dates": ["month", "decade"], "minimum_level": 1, "maximum_level": 1}}
        of_time = kanon_sql.Spec.from_dict({**spec, "quasi_identifiers": months})
        same(kanon_sql.anonymize(engine, of_time), kanon_sql.anonymize(reference.engine, of_time))
        assert multiset(subject.rows("visits_release")) == multiset(reference.rows("visits_release"))
        subject.drop("times")

    def test_moments(self, subject: Subject, reference: Reference, engine: Engine) -> None:
        """Points in time are compared and written in UTC: clocks that go back show one hour twice."""
        moments = [datetime(2020, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1)]
        moments.append(datetime(1990, 1, 31, 23, 30, 0, 250_000, tzinfo=UTC))
        rows = [(moment,) for moment in moments for _ in range(2)] + [(None,)] * 3
        subject.table("moments", {"m": "moment"}, rows)
        reference.table("moments", {"m": "moment"}, rows)
        reference.connection.execute("SET TimeZone = 'Europe/Berlin'")
        spec: dict[str, Any] = {
            "version": 1, "source": "moments", "release": "visits_release",
            "quasi_identifiers": {"m": {"minimum_level": 0, "maximum_level": 0}}, "privacy": [{"k_anonymity": 2}],
        }  # fmt: skip
        parsed = kanon_sql.Spec.from_dict(spec)
        same(kanon_sql.anonymize(engine, parsed), kanon_sql.anonymize(reference.engine, parsed))
        expected = {"2020-10-25 00:30:00+00": 2, "2020-10-25 01:30:00+00": 2, "1990-01-31 23:30:00.25+00": 2, None: 3}
        for found in (subject.rows("visits_release"), reference.rows("visits_release")):
            assert Counter(label for (label,) in found) == Counter(expected)
        dates = kanon_sql.Spec.from_dict({**spec, "quasi_identifiers": {"m": {"dates": ["month"]}}})
        with pytest.raises(SpecError, match="without time zone"):
            kanon_sql.plan(engine, dates)
        reference.connection.execute("RESET TimeZone")
        subject.drop("moments")

    # --- Names ---

    @pytest.mark.parametrize("name", NAMES)
    def test_names_that_need_quoting(self, subject: Subject, engine: Engine, name: str) -> None:
        if name in subject.lacks:
            pytest.skip(subject.lacks[name])
        subject.table(name, {name: "text", f"{name}2": "text"}, [("a", "x"), ("a", "y"), ("b", "x")])
        quoted = '"' + name.replace('"', '""') + '"'
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": quoted, "release": "visits_release", "quasi_identifiers": {name: None},
                "sensitive": [f"{name}2"], "privacy": [{"k_anonymity": 2}], "suppression": {"limit": 0.5},
            }
        )  # fmt: skip
        assert kanon_sql.anonymize(engine, spec).passed
        assert Counter(subject.rows("visits_release")) == Counter([("a", "x"), ("a", "y")])
        subject.drop(name)

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

    # --- Degenerate tables ---

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
    def test_a_distribution_that_counts_nobody(self, subject: Subject, engine: Engine, distance: str) -> None:
        """No row of the source is anybody's: there is no distribution to be close to."""
        columns = {"q": "text", "s": "integer", "u": "text"}
        closeness: dict[str, Any] = {"attribute": "s", "t": 0.9, "distance": distance}
        if distance == "hierarchical":
            closeness["hierarchy"] = {"intervals": [2, 4]}
        subject.table("nobodys", columns, [("a", 1, None), ("a", 2, None), ("b", None, None)])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nobodys", "release": "visits_release", "unit": "u", "sensitive": ["s"],
                "quasi_identifiers": {"q": None}, "privacy": [{"t_closeness": closeness}], "suppression": {"limit": 1},
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

    # --- Publishing ---

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

    @pytest.mark.parametrize("first", [True, False], ids=["first", "replacing"])
    def test_an_error_while_publishing_leaves_the_old_release_or_the_new(
        self, subject: Subject, engine: Engine, monkeypatch: pytest.MonkeyPatch, first: bool
    ) -> None:
        """Whichever statement fails, what stands under the release's name is whole and verified."""
        subject.table("few", {"q": "text"}, [(value,) for value in "aaabbbc"])
        asked: dict[str, Any] = {
            "version": 1, "source": "few", "release": "visits_release", "quasi_identifiers": {"q": None},
            "privacy": [{"k_anonymity": 2}], "suppression": {"limit": 0.2},
        }  # fmt: skip
        new = Counter([("a",)] * 3 + [("b",)] * 3)
        old = Counter([("*",)] * 7)
        execute = type(engine).execute
        publishing = ("release/", "manifest/", "scratch/", "transaction")
        for position in range(40):
            subject.drop("visits_release")
            if not first:
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
        asked = {**SPEC, "suppression": {"limit": 0.3}, "ledger": "kanon_ledger", "privacy": L_AND_T[:2]}
        twenties = {"age": {"intervals": [20], "minimum_level": 1}, "sex": {"minimum_level": 1}}
        releases: dict[str, dict[str, Any]] = {
            "together": {"quasi_identifiers": twenties, "nulls": "suppress"},
            "apart": {"quasi_identifiers": {"age": {"intervals": [7]}, "zip": {"prefix": [3]}}},
            "masked": {"quasi_identifiers": twenties, "suppression": {"limit": 0.3, "style": "mask"}},
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

    # --- The session ---

    def test_no_row_of_the_source_is_fetched(self, subject: Subject, engine: Engine) -> None:
        """The egress does not grow with the table."""
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "grown", "release": "visits_release", "unit": "p",
                "quasi_identifiers": {"q": None, "r": {"prefix": [1]}}, "privacy": [{"k_anonymity": 2}],
                "suppression": {"limit": 0.5},
            }
        )  # fmt: skip
        fetched = []
        for size in (100, 1000):
            rows = [(number, f"q{number % 4}", f"{number % 7}{number % 3}") for number in range(size)]
            subject.table("grown", {"p": "integer", "q": "text", "r": "text"}, rows)
            cost = kanon_sql.anonymize(engine, spec).cost
            assert cost.source_scans <= 2 or engine.scratch.mode == "inline"
            fetched.append(cost.rows_fetched)
        assert max(fetched) < 100, "a tenth of the rows"
        subject.drop("grown")

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
        wished = threading.Event()
        found: list[Verdict] = []
        verdicts = Evaluator.verdicts

        def cancel() -> None:
            wished.set()
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
        result = kanon_sql.plan(engine, spec, budget=kanon_sql.Budget(interrupted=wished.is_set))
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

    def test_init_suggests_the_same_spec(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        def without_comments(text: str) -> list[str]:
            return [line.split("  #")[0] for line in text.splitlines() if not line.lstrip().startswith("#")]

        ours = write_spec(engine, "visits")
        kanon_sql.Spec.parse(ours)
        assert without_comments(ours) == without_comments(write_spec(reference.engine, "visits"))

    @pytest.mark.parametrize("unit", [None, "person"])
    def test_a_population_protects_alike(
        self, with_visits: Subject, reference: Reference, engine: Engine, unit: str | None
    ) -> None:
        """k-map and delta-presence while searching, in the release, and in check, where labels find their people."""
        census = [row[2:6] for row in [*visits(), *visits(9), *visits(10)]]
        columns = {name: kind for name, kind in VISITS.items() if name in ("age", "zip", "born", "sex")}
        with_visits.table("census", columns, census)
        reference.table("census", columns, census)
        asked = [
            {"k_map": {"population": "census", "k": 4}},
            {"delta_presence": {"population": "census", "delta_max": 0.6}},
        ]
        spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": asked})
        reference.drop("visits_release")
        theirs = kanon_sql.anonymize(reference.engine, spec)
        assert theirs.passed
        same(kanon_sql.anonymize(engine, spec), theirs)
        assert multiset(with_visits.rows("visits_release")) == multiset(reference.rows("visits_release"))
        for table in ("visits_release", "visits"):
            same(
                kanon_sql.check(engine, spec, table, count_rows=True),
                kanon_sql.check(reference.engine, spec, table, count_rows=True),
            )
        with_visits.drop("census")

    def test_the_same_beliefs_and_consistency_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine
    ) -> None:
        """A release and a source judged against a weighted background; rows that several classes may be behind."""
        draw = random.Random(5)
        columns = {name: VISITS[name] for name in ("age", "zip", "born", "sex", "illness")} | {"share": "double"}
        values = ("flu", "Flu", "ulcer", "asthma", None)
        survey = [(*row[2:6], value, draw.randint(1, 9) / 4) for row in visits() for value in values]
        for database in (with_visits, reference):
            database.table("survey", columns, survey)
        believed = {"attribute": "illness", "background": "survey", "weight": "share", "theta": 0.3, "epsilon": 0.01}
        spec = kanon_sql.Spec.from_dict(SPEC)
        reference.drop("visits_release")
        for item in (reference.engine, engine):
            assert kanon_sql.anonymize(item, spec).passed
        labels = dict.fromkeys(("age", "zip", "born", "sex", "illness"), "text")
        released = sorted(reference.rows("visits_release"), key=str)
        masked = [(*(["*"] * 4 if draw.random() < 0.3 else row[:4]), row[4]) for row in released]
        for database in (with_visits, reference):
            database.table("masked", labels, masked)
        judged = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"bayes_optimal": believed}]})
        same(kanon_sql.check(engine, judged), kanon_sql.check(reference.engine, judged))
        for table in ("visits_release", "masked"):
            ours, theirs = (
                kanon_sql.audit(item, spec, table, attacks=["consistency"]).to_dict()
                for item in (engine, reference.engine)
            )
            assert len(theirs["attacks"]) == 3
            alike(ours["attacks"], theirs["attacks"])
        with_visits.drop("survey")
        with_visits.drop("masked")

    def test_the_same_hierarchies_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """Rules and a tree that lacks a value; nothing but SELECT and temporary tables."""
        tree = {"tree": {"chronic": ["asthma", "ulcer"], "acute": ["flu"]}}
        hierarchies = {"age": {"intervals": [5, 20], "top": 60}, "zip": {"prefix": [3, 1]}, "illness": tree}
        spec = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": hierarchies, "sensitive": []})
        before = set(with_visits.tables())
        ours, theirs = (kanon_sql.hierarchy(item, spec, reveal=500).to_dict() for item in (engine, reference.engine))
        assert set(with_visits.tables()) == before
        assert ours["cost"]["source_scans"] == 1 or engine.scratch.mode == "inline"
        for found in (ours, theirs):
            del found["cost"]
            for item in found["hierarchies"]:  # equally frequent values come in the engine's own order
                item["examples"].sort(key=str)
                item["missing_values"].sort()
        alike(ours, theirs)

    @pytest.mark.parametrize("unit", [None, "person"])
    def test_the_same_risk_as_duckdb(
        self, with_visits: Subject, reference: Reference, engine: Engine, unit: str | None
    ) -> None:
        """Two tables, NULL among the values, combinations of columns; nothing but SELECT."""
        everybody = [*visits(), *visits(9)]
        with_visits.table("everybody", VISITS, everybody)
        reference.table("everybody", VISITS, everybody)
        spec = kanon_sql.Spec.from_dict(
            {**SPEC, "unit": unit, "quasi_identifiers": {"age": {"intervals": [20]}, "sex": None, "illness": None},
             "sensitive": []}
        )  # fmt: skip
        before = set(with_visits.tables())
        ours, theirs = (
            kanon_sql.risk(item, spec, population="everybody", sampling_fraction=0.5).to_dict()
            for item in (engine, reference.engine)
        )
        assert set(with_visits.tables()) == before
        del ours["cost"], theirs["cost"]
        alike(ours, theirs)
        with_visits.drop("everybody")

    def test_the_doctor(self, subject: Subject, engine: Engine) -> None:
        found = doctor(engine)
        assert found.works("check")
        assert found.works("plan")
        assert found.works("anonymize")
        assert found.version
