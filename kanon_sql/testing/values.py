"""Values and names that engines like to merge, to cut, or to write in their own way."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import groupby
from math import floor, inf, nextafter
from typing import Any
from uuid import UUID

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.testing.clinic import NAMES, NASTY
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, made, multiset, same
from kanon_sql.testing.subject import Subject

__all__ = ["Values"]

_FLAGS: Mapping[str | None, str] = {"true": "1", "false": "0"}
"""Engines without a boolean type have 1 and 0."""


_STRANGE: dict[str, Any] = {"version": 1, "source": "strange", "unit": "person"}


_INTERVALS: Sequence[Mapping[str, Any]] = (
    {"intervals": [1]},
    {"intervals": [1000], "origin": 7},
    {"intervals": [0.01]},
    {"intervals": [0.25], "origin": 0.005},
    {"intervals": [0.001], "bottom": -70.0005, "top": 9_000.5},
    {"intervals": [30], "bottom": -0.3, "top": 250_000.7},
    {"intervals": [0.000001]},
    {"intervals": [1e-10]},
)
"""Widths of many sizes; the finest digit says how large a number may be."""


def _ends(given: Mapping[str, Any]) -> tuple[Fraction, Fraction, int]:
    """The width and the origin of intervals, and the digits after the point that their ends have."""
    ends = [Decimal(repr(value)) for value in (*given["intervals"], *(v for k, v in given.items() if k != "intervals"))]
    digits = next(count for count in range(11) if all(end * 10**count % 1 == 0 for end in ends))
    return Fraction(ends[0]), Fraction(repr(given.get("origin", 0))), digits


def _fractions(draw: random.Random, kind: str, given: Mapping[str, Any], count: int) -> list[float]:
    """Binary fractions of every size that the intervals take, at their ends and as close to these as there are."""
    width, origin, digits = _ends(given)
    largest = 10 ** (15 - digits)
    found: list[float] = []
    while len(found) < count:
        size = 10 ** draw.uniform(-digits - 2, 15 - digits)
        end = origin + width * draw.randint(-int(size / width) - 2, int(size / width) + 2)
        values = [draw.uniform(-size, size), float(end), round(draw.uniform(-size, size), draw.randint(0, digits + 1))]
        values += [nextafter(float(end), inf), nextafter(float(end), -inf), draw.choice([5e-324, -1e-300, 0.0, -0.0])]
        value = draw.choice(values)
        if kind == "single":
            (value,) = struct.unpack("f", struct.pack("f", value))
        if abs(value) < largest:
            found.append(value)
    return found


def _interval(value: float, given: Mapping[str, Any]) -> tuple[str, Fraction | None, Fraction | None]:
    """The label and its ends by fractions, of which none is rounded."""
    width, origin, digits = _ends(given)
    number = Fraction(repr(value))
    low = origin + (number - origin) // width * width
    high = low + width
    bottom, top = (None if name not in given else Fraction(repr(given[name])) for name in ("bottom", "top"))

    def text(end: Fraction) -> str:
        units = int(end * 10**digits)
        whole, rest = divmod(abs(units), 10**digits)
        return f"{'-' * (units < 0)}{whole}" + (f".{rest:0{digits}d}" if digits else "")

    if bottom is not None and number < bottom:
        return f"< {text(bottom)}", None, bottom
    if top is not None and number >= top:
        return f">= {text(top)}", top, None
    low = low if bottom is None else max(low, bottom)
    high = high if top is None else min(high, top)
    return f"[{text(low)}, {text(high)})", low, high


_STEPS: Sequence[Mapping[str, Any]] = (
    {"round": 0.01},
    {"round": 0.5},
    {"round": 7},
    {"round": 250},
    {"round": 0.000001},
    {"round": 5, "bottom": -20, "top": 40},
    {"round": 0.2, "bottom": 0.6, "top": 1.4},
    {"round": 0.1, "bottom": 0.3, "top": 0.7},
)


def _halves(step: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"intervals": [step["round"] / 2]}


def _stepped(value: float, step: Mapping[str, Any]) -> float | str:
    base = Fraction(repr(step["round"]))
    number = floor(Fraction(repr(value)) / base + Fraction(1, 2)) * base
    if "bottom" in step and number <= Fraction(repr(step["bottom"])):
        return f"<= {step['bottom']}"
    if "top" in step and number >= Fraction(repr(step["top"])):
        return f">= {step['top']}"
    made = float(number)
    if "bottom" not in step:
        return made
    return str(int(made)) if made == int(made) else repr(made)


def _several(attribute: str, distance: str) -> list[dict[str, Any]]:
    """Requirements that are measured apart, and joined."""
    return [
        {"k_anonymity": 2},
        {"t_closeness": {"attribute": attribute, "t": 0.9, "distance": distance}},
        {"l_diversity": {"attribute": attribute, "l": 1}},
    ]


class Values(Fixtures):
    """Values and names that engines like to merge, to cut, or to write in their own way."""

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

    def test_numbers_of_classes_have_the_types_of_their_columns(
        self, subject: Subject, reference: Reference, engine: Engine
    ) -> None:
        """Small and negative ones, decimals, binary fractions of both widths, days and times around 1970, and NULLs."""
        draw = random.Random(19)
        kinds = dict(
            zip("nidfxbt", ("small", "integer", "decimal", "single", "double", "date", "timestamp"), strict=True)
        )
        functions: dict[str, Any] = dict.fromkeys(kinds, "mean") | {"i": "mode", "x": "median"}
        for name in ("f", "x"):
            functions[name] = {"aggregate": functions[name], "digits": 2}
        rows: list[tuple[Any, ...]] = [
            (
                draw.randint(-99, 99),
                draw.randint(-3, 3) * 1_000_000,
                Decimal(draw.randint(-9_999, 9_999)) / 100,
                draw.randint(-999, 999) / 8,
                draw.randint(-99_999, 99_999) / 1_000,
                date(draw.choice([1900, 1968, 1970, 2000, 2096]), draw.choice([1, 2, 3, 12]), draw.randint(1, 28)),
                datetime(
                    draw.choice([1969, 1972]), draw.choice([2, 12]), 28, draw.randint(0, 23), 59, draw.randint(0, 59)
                ),
            )
            for _ in range(64)
        ]
        rows += [(None, *row[1:5], None, row[6]) for row in rows[:5]]
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "numbers", "release": "visits_release",
                "quasi_identifiers": dict.fromkeys(kinds), "privacy": [{"k_anonymity": 4}],
                "recoding": {"method": "microaggregation", "columns": functions},
            }
        )  # fmt: skip
        found = []
        for where, own in ((reference, reference.engine), (subject, engine)):
            where.drop("visits_release")
            where.table("numbers", kinds, rows)
            assert kanon_sql.anonymize(own, spec).passed
            released, source = (
                {column.name: column.type for column in own.columns(own.dialect.relation([name]))}
                for name in ("visits_release", "numbers")
            )
            assert released == source or not own.dialect.typed
            written = [
                tuple(round(cell, 4) if isinstance(cell, float) else cell for cell in row)  # of single width, too
                for row in where.rows("visits_release")
            ]
            found.append(multiset(written))
            for name in ("visits_release", "numbers"):
                where.drop(name)
        theirs, ours = found
        assert ours == theirs
        assert len(ours) > 10

    @pytest.mark.parametrize("kind", ["single", "double"])
    def test_intervals_hold_the_binary_fractions_in_their_labels(
        self, subject: Subject, engine: Engine, kind: str
    ) -> None:
        """A fraction of four bytes is the number that it holds: 0.7 is 0.699999988, and in no interval from 0.7 on.

        One of eight bytes is the number that it is written as: 0.29 is in [0.29, 0.30), though it is a little less.
        """
        draw = random.Random(kind)
        listed = list(zip(*(_fractions(draw, kind, given, 1_250) for given in _INTERVALS), strict=True))
        columns = [f"x{place}" for place, _ in enumerate(_INTERVALS)]
        rows = [(str(place), *row) for place, row in enumerate(listed)]
        subject.table("fractions", {"name": "text", **dict.fromkeys(columns, kind)}, rows)
        quoted = ", ".join(map(subject.dialect.quote, ("name", *columns)))
        if kind == "double":  # some engines read a literal to the last digit but one
            stored = {name: row for name, *row in subject.fetch(f"SELECT {quoted} FROM fractions")}
            listed = [tuple(stored[name]) for name, *_ in rows]
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "fractions", "release": "visits_release", "keep": ["name"],
                "quasi_identifiers": {
                    name: {**given, "as": "midpoint" if place % 2 else "bounds", "minimum_level": 1, "maximum_level": 1}
                    for place, (name, given) in enumerate(zip(columns, _INTERVALS, strict=True))
                },
                "privacy": [{"k_anonymity": 1}],
            }
        )  # fmt: skip
        kanon_sql.anonymize(engine, spec)
        neighbours = [
            f"{name}_{part}" for place, name in enumerate(columns) for part in (("from", "to"), ("mid",))[place % 2]
        ]
        quoted = ", ".join(map(subject.dialect.quote, ("name", *columns, *neighbours)))
        released = subject.fetch(f"SELECT {quoted} FROM {subject.dialect.relation(['visits_release'])}")
        assert len(released) == len(rows)
        for name, *cells in released:
            labels, numbers = cells[: len(columns)], iter(cells[len(columns) :])
            for place, (value, label, given) in enumerate(zip(listed[int(name)], labels, _INTERVALS, strict=True)):
                shown, low, high = _interval(value, given)
                assert label == shown, (value, given)
                if place % 2:
                    low = high = None if low is None or high is None else (low + high) / 2
                for end in (low,) if place % 2 else (low, high):
                    assert next(numbers) == (None if end is None else float(end)), (value, given, label)
        subject.drop("fractions")

    @pytest.mark.parametrize("kind", ["single", "double"])
    def test_binary_fractions_are_rounded_and_coded_exactly(self, subject: Subject, engine: Engine, kind: str) -> None:
        """To the nearest multiple as a fraction, the higher one of two, and coded as they are rounded."""
        draw = random.Random(kind)
        names = [f"x{place}" for place, _ in enumerate(_STEPS)]
        # Ends of intervals of half a base are where rounding changes.
        listed = list(zip(*(_fractions(draw, kind, _halves(step), 300) for step in _STEPS), strict=True))
        rows = [(str(place), "a", *row) for place, row in enumerate(listed)]
        subject.table("fractions", {"name": "text", "q": "text", **dict.fromkeys(names, kind)}, rows)
        quoted = ", ".join(map(subject.dialect.quote, ("name", *names)))
        if kind == "double":
            stored = {name: row for name, *row in subject.fetch(f"SELECT {quoted} FROM fractions")}
            listed = [tuple(stored[name]) for name, *_ in rows]
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "fractions", "release": "visits_release", "keep": ["name", *names],
                "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 1}],
                "steps": {"columns": dict(zip(names, _STEPS, strict=True))},
            }
        )  # fmt: skip
        kanon_sql.anonymize(engine, spec)
        released = subject.fetch(f"SELECT {quoted} FROM {subject.dialect.relation(['visits_release'])}")
        assert len(released) == len(rows)
        for name, *cells in released:
            for value, found, step in zip(listed[int(name)], cells, _STEPS, strict=True):
                assert _stepped(value, step) == (found if isinstance(found, str) else float(found)), (value, step)
        subject.drop("fractions")

    def test_conditions_are_words(self, subject: Subject, engine: Engine) -> None:
        """As text a condition is 1 or 0 on some engines, true or false on others: one spec has one release."""
        subject.table("flags", {"q": "integer"}, [(number,) for number in range(4)])
        words: Mapping[str, Sequence[str]] = {
            "x > 1": ["false", "false", "true", "true"],
            "NOT (x = 2 OR x IS NULL)": ["true", "true", "false", "true"],
            "CASE WHEN x < 3 THEN x IN (0, 1) ELSE x = 3 END": ["true", "true", "false", "true"],
            "IF(x > 1, x > 2, x BETWEEN 0 AND 0)": ["true", "false", "false", "true"],
            "COALESCE(NULLIF(x, 3) > 1, x = 3)": ["false", "false", "true", "true"],
            "'is ' || (x > 1)": ["is false", "is false", "is true", "is true"],
            "CAST(x > 1 AS VARCHAR)": ["false", "false", "true", "true"],
        }
        for expression, labels in words.items():
            spec = kanon_sql.Spec.from_dict(
                {
                    "version": 1, "source": "flags", "release": "visits_release", "privacy": [{"k_anonymity": 1}],
                    "quasi_identifiers": {"q": {"sql": [expression], "minimum_level": 1, "maximum_level": 1}},
                }
            )  # fmt: skip
            kanon_sql.anonymize(engine, spec)
            assert Counter(subject.rows("visits_release")) == Counter((label,) for label in labels), expression
        subject.drop("flags")

    def test_different_texts_are_different(self, subject: Subject, engine: Engine) -> None:
        """Every nasty text is a class of its own; merging two would make a class look larger than it is."""
        counts = {value: 1 + position % 3 for position, value in enumerate(NASTY)}
        rows = [(value,) for value, count in counts.items() for _ in range(count)]
        subject.table("nasty", {"q": "text"}, rows)
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "nasty", "release": "visits_release",
                "quasi_identifiers": {"q": {"maximum_level": 0}},
                "privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 0.9},
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
        with pytest.raises(SpecError, match="depend on a time zone"):
            kanon_sql.plan(engine, dates)
        reference.connection.execute("RESET TimeZone")
        subject.drop("moments")

    def test_every_value_is_judged(self, subject: Subject, engine: Engine) -> None:
        """Strange values of the engine's own types: each is a class of its own, or refused; none is lost in a join."""
        for type_name, literals in subject.strange.items():
            counts = {literal: 1 + position % 3 for position, literal in enumerate([*literals, "NULL"])}
            rows = [literal for literal, count in counts.items() for _ in range(count)]
            name = subject.dialect.relation(["strange"])
            subject.execute(f"DROP TABLE IF EXISTS {name}")
            columns = f"q {type_name}, person {subject.types['integer']}, s {subject.types['integer']}"
            subject.execute(subject.create(name, columns))
            lines = [(literal, f"({literal}, {person}, {person % 2})") for person, literal in enumerate(rows)]
            for _, copies in groupby(lines, lambda line: line[0]):  # different ones would get a type that holds both
                subject.execute(f"INSERT INTO {name} VALUES {', '.join(line for _, line in copies)}")
            for grouped, about, distance in (("q", "s", "ordered"), ("s", "q", "equal"), ("s", "q", "ordered")):
                asked = {"quasi_identifiers": {grouped: None}, "sensitive": [about]}
                spec = {**_STRANGE, **asked, "privacy": _several(about, distance)}
                try:
                    found = kanon_sql.check(engine, kanon_sql.Spec.from_dict(spec), "strange")
                except (SpecError, UnsupportedError, DatabaseError):
                    continue  # said, and not passed over
                assert found.rows["source"] == len(rows), (type_name, grouped)
                assert found.classes["count"] == (len(counts) if grouped == "q" else 2), (type_name, grouped)
            subject.execute(f"DROP TABLE {name}")

    @pytest.mark.parametrize("name", NAMES)
    def test_names_that_need_quoting(self, subject: Subject, engine: Engine, name: str) -> None:
        if name in subject.lacks:
            pytest.skip(subject.lacks[name])
        subject.table(name, {name: "text", f"{name}2": "text"}, [("a", "x"), ("a", "y"), ("b", "x")])
        quoted = '"' + name.replace('"', '""') + '"'
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": quoted, "release": "visits_release", "quasi_identifiers": {name: None},
                "sensitive": [f"{name}2"], "privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 0.5},
            }
        )  # fmt: skip
        assert kanon_sql.anonymize(engine, spec).passed
        assert Counter(subject.rows("visits_release")) == Counter([("a", "x"), ("a", "y")])
        subject.drop(name)
