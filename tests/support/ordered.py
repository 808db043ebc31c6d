"""Small tables over ordered domains, every way to cut these into intervals, and what may be said of a release."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import combinations, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

import kanon_sql
from kanon_sql.evaluate import search as searching
from kanon_sql.evaluate.partitions.hierarchy import Coded
from kanon_sql.sql.statement import Statement
from tests.conftest import Database
from tests.oracles import lattice as oracle
from tests.oracles.lattice import Oracle
from tests.oracles.model import Hierarchy
from tests.support.oracle_answers import close, metrics_of
from tests.support.suppressions import suppressing

TEXTS = ["m", "Z", "a", "é", "10", "9"]
"""In a hierarchy file's order, which is no alphabet's."""
NUMBERS = [-100, -1, 0, 2, 9, 10]
DECIMALS = [Decimal(text) for text in ("-10.5", "-1.5", "0.0", "0.5", "9.5", "10.0")]
DATES = [date(999, 12, 31), date(1999, 12, 31), date(2000, 1, 1), date(2000, 2, 29), date(2010, 5, 5)]
POOLS: dict[str, Sequence[Any]] = {"INTEGER": NUMBERS, "DECIMAL(6, 1)": DECIMALS, "DATE": DATES, "VARCHAR": TEXTS}
FORMS = ("file", "tree", "table")
"""How an order of texts is given; else it is that of the values."""


@dataclass(frozen=True)
class Case:
    """A table, the ordered domain of each column, and what is asked."""

    rows: list[dict[str, Any]]
    domains: dict[str, list[Any]]
    k: int
    limit: int
    metric: str
    nulls: str = "value"
    diverse: int = 1
    weights: tuple[float, ...] = (1, 1, 1)
    style: str = "drop"
    unit: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)
    """Column -> one of FORMS; others are ordered by a rule, and their domain is what occurs."""

    def requirements(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{"k_anonymity": {"k": self.k}}]
        if self.diverse > 1:
            found.append({"l_diversity": {"attribute": "s", "l": self.diverse, "variant": "distinct"}})
        return found

    def kind(self, name: str) -> str:
        """The type of a column."""
        return next(kind for kind, pool in POOLS.items() if type(pool[0]) is type(self.domains[name][0]))

    def load(self, database: Database, folder: Path) -> kanon_sql.Spec:
        """The tables and files, and what a user would write."""
        kinds = {name: self.kind(name) for name in self.domains} | {"s": "VARCHAR", "p": "VARCHAR", "serial": "INTEGER"}
        for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
            database.connection.execute(f"DROP TABLE IF EXISTS {name}")
        lines = [{"p": None, **row, "serial": number} for number, row in enumerate(self.rows)]
        database.table("people", kinds, [[line[name] for name in kinds] for line in lines])
        quasi_identifiers: dict[str, Any] = {}
        for (name, domain), weight in zip(self.domains.items(), self.weights, strict=False):
            given = quasi_identifiers[name] = {"weight": weight}
            match self.forms.get(name):
                case "file":
                    given["file"] = str(folder / f"{name}.csv")
                    with open(given["file"], "w", encoding="utf-8", newline="") as file:
                        csv.writer(file, delimiter=";").writerows([[value] for value in domain])
                case "tree":
                    given["tree"] = {"x": domain[:1], "y": domain[1:]}
                case "table":
                    database.table(f"order_{name}", ["value"], [[value] for value in domain])
                    given["table"] = [f"order_{name}"]
        return kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "release": "people_release",
                "quasi_identifiers": quasi_identifiers,
                "sensitive": ["s"],
                "keep": ["serial"],
                "privacy": self.requirements(),
                "suppression": suppressing(self.limit, style=self.style),
                "search": {"algorithm": "k_optimize", "metric": self.metric},
                "nulls": self.nulls,
                "unit": self.unit,
            }
        )

    def oracle(self, hierarchies: Mapping[str, Hierarchy]) -> Oracle:
        return Oracle(
            rows=self.rows,
            hierarchies=hierarchies,
            requirements=self.requirements(),
            limit=self.limit,
            nulls=self.nulls,
            unit=self.unit,
            weights=dict(zip(self.domains, self.weights, strict=False)),
        )

    def has_null(self, name: str) -> bool:
        """Whether NULL is one of a column's values."""
        return self.nulls == "value" and any(row[name] is None for row in self.rows)

    def line(self, name: str) -> list[Any]:
        """A domain in order. NULL is behind the last value that occurs: a label that has both ends there."""
        domain = self.domains[name]
        if not self.has_null(name):
            return domain
        used = [place for place, value in enumerate(domain, 1) if any(row[name] == value for row in self.rows)]
        last = max(used, default=0)
        return [*domain[:last], None, *domain[last:]]

    def brute_force(self) -> float | None:
        """The lowest metric of all partitions: every way to cut every domain, or not to tell its values apart."""
        found = []
        with patch.dict(oracle.METRICS, {self.metric: oracle.METRICS[self.metric]}, clear=True):
            for chosen in product(*(list(options(self.line(name))) for name in self.domains)):
                hierarchies = {name: hierarchy for name, (hierarchy, _) in zip(self.domains, chosen, strict=True)}
                result = self.oracle(hierarchies).evaluate(tuple(level for _, level in chosen))
                if result.satisfied:
                    found.append(result.metrics[self.metric])
        return min(found, default=None)


def options(domain: Sequence[Any]) -> Iterator[tuple[Hierarchy, int]]:
    """A domain cut in every way, and its top."""
    for count in range(len(domain)):
        for places in combinations(range(1, len(domain)), count):
            label = {value: str(sum(place <= position for place in places)) for position, value in enumerate(domain)}
            yield {value: (as_text(value), label[value], "*") for value in domain}, 1
    yield {value: (as_text(value), "all", "*") for value in domain}, 2


@st.composite
def cases(draw: st.DrawFn, columns: int = 2) -> Case:
    """A case with at most so many columns; the search takes a second for three."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    names = ["q0", "q1", "q2"][: draw(st.sampled_from([2, 1, 2, 3][: columns + 1]))]
    longest = {1: 6, 2: 4, 3: 3}[len(names)]
    domains: dict[str, list[Any]] = {}
    cells: dict[str, list[Any]] = {}
    forms: dict[str, str] = {}
    for name in names:
        pool = rng.choice(list(POOLS.values()))
        domain = rng.sample(pool, rng.randint(1, min(longest, len(pool))))
        used = rng.sample(domain, rng.randint(1, len(domain)))
        if isinstance(domain[0], str) and rng.random() < 0.8:  # some of a hierarchy's domain is in no row
            forms[name] = rng.choice(FORMS if len(domain) > 1 else ("file",))
            if forms[name] == "table":
                domain.sort()
        domains[name] = domain
        cells[name] = [*used, None] if rng.random() < 0.4 else used
    unit = rng.choice([None, None, None, "p"])
    vectors = [{name: rng.choice(values) for name, values in cells.items()} for _ in range(rng.randint(1, 8))]
    rows = [{**rng.choice(vectors), "s": rng.choice(["x", "y", "z", None])} for _ in range(rng.randint(1, 20))]
    if unit is not None:
        persons = ["u1", "u2", "u3", "u4", "u5", None]
        owned = rng.random() < 0.5  # else one person may have several vectors
        by_vector: dict[str, str] = {}
        for number, row in enumerate(rows):
            whom = rng.choice(persons)
            if owned:
                whom = by_vector.setdefault(str([row[name] for name in names]), f"u{number}")
            row["p"] = whom
    for name, domain in domains.items():
        if name not in forms:
            seen = {row[name] for row in rows} - {None}
            if not seen:
                rows[0][name] = domain[0]
                seen = {domain[0]}
            domains[name] = sorted(seen)
    return Case(
        rows=rows,
        domains=domains,
        k=rng.choice([1, 2, 2, 3, 4]),
        limit=rng.choice([0, 1, 2, 3, 5, 20]),
        metric=draw(st.sampled_from(["loss", "discernibility"])),
        nulls=rng.choice(["value", "value", "suppress"]),
        diverse=1 if unit else rng.choice([1, 1, 2]),
        weights=rng.choice([(1, 1, 1), (1, 0.5, 2)]),
        style=rng.choice(["drop", "mask"]),
        unit=unit,
        forms=forms,
    )


# --- A run, and what must be true of it ---------------------------------------------------------------


def anonymized(
    database: Database, folder: Path, case: Case
) -> tuple[kanon_sql.results.Release, dict[str, dict[Any, int]]]:
    """The result, and per column the number of the interval that the search put each value in."""
    spec = case.load(database, folder)
    partition: dict[str, dict[Any, int]] = {}
    original: Callable[..., Coded] = searching.with_codes

    def noted(workspace: Any, *given: Any) -> Coded:
        coded = original(workspace, *given)
        for lookup in coded.sets.lookups:
            sql = f"SELECT value, c1 FROM {workspace.quoted(lookup.table)}"
            partition[lookup.name] = dict(map(tuple, workspace.query(Statement("test", sql), 100)))
        return coded

    with patch.object(searching, "with_codes", noted):
        return kanon_sql.anonymize(database.engine, spec), partition


def assert_right(database: Database, folder: Path, case: Case) -> kanon_sql.results.Release:
    """The release of a case has the lowest metric of all, is measured right, and says nothing that it must not."""
    found, partition = anonymized(database, folder, case)
    expected = case.brute_force()
    assert found.search is not None
    assert found.search.proven
    assert found.passed == (expected is not None)
    if expected is None:
        return found
    assert close(found.metrics[case.metric], expected), case
    assert_measured(case, found, partition)
    columns = database.columns("people_release")
    rows = [dict(zip(columns, row, strict=True)) for row in database.rows("people_release")]
    assert len(rows) == found.rows["released"] + found.rows.get("masked", 0)
    assert_safe(case, found, rows)
    assert_labels(case, found, rows, partition)
    return found


def assert_measured(case: Case, found: kanon_sql.results.Release, partition: Mapping[str, Mapping[Any, int]]) -> None:
    """All metrics, rows and classes are the oracle's, of a hierarchy whose level 1 is the partition."""
    hierarchies = {}
    for name, domain in case.domains.items():
        places = [position for position, value in enumerate(domain) if value in partition[name]]
        numbers: dict[Any, object] = dict(partition[name])
        for position, value in enumerate(domain):  # those that no row has are in the interval around them, or in none
            below = [partition[name][domain[place]] for place in places if place <= position]
            above = [partition[name][domain[place]] for place in places if place >= position]
            inside = below and above and below[-1] == above[0]
            numbers[value] = below[-1] if inside else f"unused {position}"
        hierarchies[name] = {value: (str(value), str(numbers[value]), "*") for value in case.line(name)}
    asked = case.oracle(hierarchies)
    assert found.node is not None
    node = tuple(found.node.values())
    truth = asked.evaluate(node)
    assert truth.satisfied
    assert found.rows["suppressed"] == truth.suppressed
    for name, value in metrics_of(asked, node).items():
        assert close(found.metrics[name], value), (name, case)


def assert_safe(case: Case, found: kanon_sql.results.Release, rows: Sequence[Mapping[str, Any]]) -> None:
    """The classes of the written table are large and diverse enough, counted from the source's own cells."""
    members: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        members.setdefault(tuple(row[name] for name in case.domains), []).append(case.rows[row["serial"]])
    for of_class in members.values():
        size = len({row["p"] for row in of_class} - {None}) if case.unit else len(of_class)
        assert size >= case.k
        assert case.diverse == 1 or len({row["s"] for row in of_class} - {None}) >= case.diverse


def assert_labels(
    case: Case,
    found: kanon_sql.results.Release,
    rows: Sequence[Mapping[str, Any]],
    partition: Mapping[str, Mapping[Any, int]],
) -> None:
    """A label is true of every row under it and of no row under another, and names only what released rows have."""
    assert found.node is not None
    assert found.intervals is not None
    suppressed = found.rows["suppressed"]
    for name, domain in case.domains.items():
        level = found.node[name]
        pairs = [(row[name], case.rows[row["serial"]][name]) for row in rows]
        if found.rows.get("masked"):  # which are masked is not said: a masked cell has nothing to say either
            pairs = [pair for pair in pairs if pair[0] != "*"]
        if level == 2:
            assert {label for label, _ in pairs} <= {"*"}
            continue
        held = Counter(value for _, value in pairs)
        alone = {label for label, value in pairs if value is None}
        assert all(label is not None for label, value in pairs if value is not None)
        if level == 0:
            assert alone <= {None}
        for label in {label for label, _ in pairs} - {None}:
            assert label.endswith(OR_NULL) == (label in alone), (label, case)
        pairs = [(label, value) for label, value in pairs if value is not None]
        texts = {as_text(value): value for value in held if value is not None}
        if level == 0:
            assert all(label == as_text(value) for label, value in pairs)
            continue
        intervals = {partition[name][value] for _, value in pairs}
        assert found.intervals[name] == len({label for label, _ in pairs}) == len(intervals)
        is_open = name not in case.forms
        lowest, highest = domain[0], domain[-1]
        for label in {label for label, _ in pairs}:
            ends = ends_of(label, is_open)
            assert {end for end in ends if end is not None} <= texts.keys(), (label, case)
            for other, value in pairs:
                assert contains(label, is_open, domain, texts, value) == (other == label), (label, value, case)
            if is_open and len(ends) == 2:  # the extremes of the source: not named, or somebody's label anyway
                for extreme in {as_text(lowest), as_text(highest)} & set(ends):
                    assert extreme in {said for said, _ in pairs} or suppressed, (label, case)
    if not found.rows.get("masked"):
        assert_rare_ends_are_told(case, found, rows)


def assert_rare_ends_are_told(case: Case, found: kanon_sql.results.Release, rows: Sequence[Mapping[str, Any]]) -> None:
    few = max(2, case.k)
    expected = {}
    for name in found.intervals or {}:
        holders: dict[str, set[Any]] = {}
        for row in rows:
            source = case.rows[row["serial"]]
            if source[name] is not None:
                whom = source["p"] if case.unit else row["serial"]
                holders.setdefault(as_text(source[name]), set()).add(whom)
        labels = {row[name] for row in rows} - {None}
        rare = [
            label
            for label in labels
            if len(ends := ends_of(label, name not in case.forms)) == 2
            and any(end is not None and len(holders[end] - {None}) < few for end in ends)
        ]
        if rare:
            expected[name] = (
                f"{name}: {len(rare)} of {len(labels)} interval labels end at a value that fewer than {few}"
            )
    told = [note for note in found.notes if "interval labels" in note]
    assert len(told) == len(expected)
    assert all(any(note.startswith(text) for note in told) for text in expected.values()), (told, expected, case)


OR_NULL = " or NULL"
OPEN = re.compile(r"(?P<compare>[<>]=?) (?P<one>.*)|(?P<low>[\[(])(?P<from>.*), (?P<to>.*)(?P<high>[\])])", re.DOTALL)


def ends_of(label: str, is_open: bool) -> tuple[str | None, ...]:
    """The values that a label names: one if it is a value's own, else its lower and upper end."""
    label = label.removesuffix(OR_NULL)
    if not is_open:
        low, dots, high = label.partition("..")
        return (low, high) if dots else (low,)
    if label == "not NULL":
        return (None, None)
    if (match := OPEN.fullmatch(label)) is None:
        return (label,)
    if match["compare"]:
        return (match["one"], None) if match["compare"][0] == ">" else (None, match["one"])
    return match["from"], match["to"]


def contains(label: str, is_open: bool, domain: Sequence[Any], texts: Mapping[str, Any], value: Any) -> bool:
    """Whether a label, as somebody would read it who knows the order, is true of a value."""
    ends = ends_of(label, is_open)
    if len(ends) == 1:
        return as_text(value) == ends[0]
    label = label.removesuffix(OR_NULL)
    low, high = (None if end is None else domain.index(texts[end]) for end in ends)
    place = domain.index(value)
    low_in = label[0] not in "(" and not label.startswith("> ") if is_open else True
    high_in = label[-1] != ")" and not label.startswith("< ") if is_open else True
    above = low is None or (place >= low if low_in else place > low)
    below = high is None or (place <= high if high_in else place < high)
    return above and below


def as_text(value: Any) -> str | None:
    """How level 0 writes a value."""
    if value is None:
        return None
    return f"{value:.1f}" if isinstance(value, Decimal) else str(value)


def everything_said(database: Database, result: kanon_sql.results.Release) -> str:
    """All that a run leaves behind: the result, the manifest, the statements, and every table but the source."""
    tables = [name for name in database.tables() if name not in ("people",) and not name.startswith("order_")]
    left = {name: [[str(cell) for cell in row] for row in database.rows(name)] for name in tables}
    said = [result.to_dict(), dict(result.manifest or {}), list(result.sql), left]
    return json.dumps(said, default=str, ensure_ascii=False)


# --- Tables made by hand -------------------------------------------------------------------------------


def planned(quasi_identifiers: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "quasi_identifiers": quasi_identifiers,
            "privacy": [{"k_anonymity": 2}], "search": {"algorithm": "k_optimize"},
        }
        | changes
    )  # fmt: skip


def released(database: Database, spec: kanon_sql.Spec) -> list[Any]:
    database.connection.execute("DROP TABLE IF EXISTS people_release")
    database.connection.execute("DROP TABLE IF EXISTS kanon_sql_manifest")
    kanon_sql.anonymize(database.engine, spec)
    return sorted({row[0] for row in database.rows("people_release")}, key=str)
