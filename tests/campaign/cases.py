"""What is running when a fault comes, and by brute force what it may publish.

The source has 24 rows: classes of 8, 8, 6 and 2 by sex and decade. Labels are made here by arithmetic, and classes are
counted here: nothing of kanon_sql's is asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing import as_text
from tests.campaign import several
from tests.campaign.places import SOURCE, Place, Rows
from tests.campaign.several import SeveralNode

RELEASE = "people_release"
LEDGER = "people_ledger"
TOP = "*"
Row = tuple[str, str, int, str]
Node = tuple[int, int]
"""Levels of sex and age."""

_SIZES = {("F", 20): 8, ("M", 20): 8, ("F", 30): 6, ("M", 30): 2}


def people(times: int = 1) -> list[Row]:
    """The source, each row so many times; the first four persons have two rows each."""
    cells = [(sex, decade + i) for (sex, decade), size in _SIZES.items() for i in range(size)]
    return [(f"Planted {i % 20}", sex, age, f"d{i % 3}") for i, (sex, age) in enumerate(cells)] * times


def _sex(value: str, level: int) -> str:
    return TOP if level else value


def _age(value: int, level: int) -> str:
    if level in (1, 2):
        width = 10 * level
        start = value // width * width
        return f"[{start}, {start + width})"
    return str(value) if level == 0 else TOP


HELD: tuple[Node, ...] = ((1, 1), (0, 1), (1, 2), (1, 3))
"""What runs publish that are held while others go on; the earlier release is at another node."""

NODES = list(product(range(2), range(4)))


def _covered(row: Row, released: tuple[str | None, ...]) -> bool:
    """Whether released labels are true of a row, and its sensitive value is its own."""
    sexes, ages = ({_sex(row[1], level) for level in range(2)}, {_age(row[2], level) for level in range(4)})
    return released[0] in sexes and released[1] in ages and released[2] == row[3]


@dataclass(frozen=True)
class Case:
    """A run, and what it may publish.

    Attributes:
        name: in tables of figures.
        asks: changes to the spec.
        k: what the requirement asks for.
        before: the specs that are published beforehand, in order.
        oldest: the age below which its source query leaves rows in.
        persons: classes count persons.
        scratch: its scratch tables outlive the session.
        times: how often the source holds each row.
        local: labels differ by row: nothing says beforehand which.
    """

    name: str
    asks: Mapping[str, Any] = field(default_factory=dict)
    k: int = 2
    before: tuple[Mapping[str, Any], ...] = ()
    oldest: int | None = None
    persons: bool = False
    scratch: bool = False
    times: int = 1
    local: bool = False

    @property
    def source(self) -> Counter[Row]:
        """The source's rows."""
        return Counter(people(self.times))

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it publishes to."""
        return (str(self.asks.get("release", RELEASE)),)

    def spec_at(self, place: Place, node: Node | None = None) -> kanon_sql.Spec | kanon_sql.RelationalSpec:
        """What it runs; at other levels, if any are given."""
        at = {} if node is None else levels(*node)
        return spec_of(**{"privacy": [{"k_anonymity": self.k}], **self.asks, **at})

    def first(self, names: Sequence[str]) -> int:
        """The first statement of a run, by their names, at which faults are tried; from 1."""
        return 1

    def publish(self, engine: Engine, place: Place, spec: Any = None, **given: Any) -> Any:
        """Run it, or another spec in its place."""
        return kanon_sql.anonymize(engine, self.spec_at(place) if spec is None else spec, **given)

    def earlier(self, place: Place) -> list[kanon_sql.Spec | kanon_sql.RelationalSpec]:
        """What is published beforehand, in order."""
        return [spec_of(**changes) for changes in self.before]

    def fill(self, place: Place) -> None:
        """Make the source anew."""
        place.fill(people(self.times))

    def is_source_intact(self, place: Place) -> bool:
        """Whether nobody wrote to the source."""
        return place.rows(SOURCE) == as_source(self)

    def read(self, place: Place) -> Rows | None:
        """What stands under the names that it publishes to; None where nothing does."""
        return place.rows(*self.names)

    def state(self, place: Place, before: Rows | None, aside: Sequence[str]) -> tuple[str, list[str]]:
        """What has become of the earlier release, and what is wrong with that.

        Args:
            place: where.
            before: what stood there before.
            aside: the scratch tables that are recorded and hold an earlier release.
        """
        now = self.read(place)
        if now == before:
            return "intact", []
        if now is None and aside and place.rows(aside[0]) == before:
            return "aside", []
        return "new", ["the earlier release is gone"] if now is None else []

    @property
    def has_ledger(self) -> bool:
        return "ledger" in self.asks

    def options(self, place: Place) -> dict[str, Any]:
        """For :func:`kanon_sql.connect`."""
        return {"scratch": f"schema:{SCHEMAS[place.name]}"} if self.scratch else {}

    def at(self, node: Node) -> Rows | None:
        """The release at a node; None when that would break a promise."""
        classes: dict[tuple[str, str], Counter[Row]] = defaultdict(Counter)
        source = {row: n for row, n in self.source.items() if self.oldest is None or row[2] < self.oldest}
        for row, n in source.items():
            classes[_sex(row[1], node[0]), _age(row[2], node[1])][row] += n
        allowed = self.asks.get("suppression", {})
        lost = sum(rows.total() for rows in classes.values() if self._size(rows) < self.k)
        if lost > allowed.get("max_share", 0) * sum(source.values()):
            return None
        found: Rows = Counter()
        for labels, rows in classes.items():
            small = self._size(rows) < self.k
            if small and allowed.get("style") != "mask":
                continue
            for row, n in rows.items():
                found[(TOP, TOP, row[3]) if small else (*labels, row[3])] += n
        return found

    def _size(self, rows: Counter[Row]) -> int:
        return len({row[0] for row in rows}) if self.persons else rows.total()

    def runs_on(self, place: Place) -> bool:
        """Whether the engine does it in seconds; a recoding in rounds takes Spark a minute."""
        return not self.local or place.name != "spark"

    def after_clean(self, place: Place, aside: Sequence[str]) -> Rows | None:
        """What is to stand once what killed runs left is cleaned up; None where that is not known."""
        return self.read(place) or (place.rows(aside[0]) if aside else None)

    def gives(self, release: Rows) -> bool:
        """Whether the source can give this very release, in classes as large as asked for."""
        if not self.local:
            return self.node_of(release) is not None
        sizes: Counter[tuple[str | None, ...]] = Counter()
        for row, n in release.items():
            sizes[row[:2]] += n
        return min(sizes.values(), default=0) >= self.k and self._covers(release)

    def _covers(self, release: Rows) -> bool:
        """Whether each row of the source can be one released row whose labels cover it (Kuhn's matching)."""
        released = list(release.elements())
        of: dict[int, Row] = {}

        def placed(row: Row, tried: set[int]) -> bool:
            for i, labels in enumerate(released):
                if i not in tried and _covered(row, labels):
                    tried.add(i)
                    if i not in of or placed(of[i], tried):
                        of[i] = row
                        return True
            return False

        source = list(self.source.elements())
        return len(source) == len(released) and all(placed(row, set()) for row in source)

    def node_of(self, release: Rows) -> Node | SeveralNode | None:
        """The node at which the source gives this very release; None when there is none."""
        return next((node for node in NODES if self.at(node) == release), None)

    def manifest_wrong(self, told: Mapping[str, Any], release: Rows) -> str | None:
        """What a manifest says of a whole release that is not so."""
        if not self.local and self.node_in(told) != self.node_of(release):
            return f"the release is at {self.node_of(release)}, and the manifest says {self.node_in(told)}"
        return None if told["rows"]["released"] == self._unmasked(release) else "the manifest counts other rows"

    @staticmethod
    def node_in(told: Mapping[str, Any]) -> Node | SeveralNode:
        """The levels that a manifest names."""
        return told["node"]["sex"], told["node"]["age"]

    def _unmasked(self, rows: Rows) -> int:
        masked = self.asks.get("suppression", {}).get("style") == "mask"
        return sum(count for row, count in rows.items() if not masked or row[:2] != (TOP, TOP))

    def too_small(self, release: Rows) -> list[str]:
        """Classes of a release below what was asked for, by brute force."""
        sizes: Counter[tuple[str | None, ...]] = Counter()
        for row, count in release.items():
            sizes[row[:2]] += count
        return [f"a class of {size} in a release for k = {self.k}" for size in sizes.values() if size < self.k]


@dataclass(frozen=True)
class Several(Case):
    """A run that publishes three tables together, at a node; before it, others may have been published.

    Attributes:
        node: its levels.
        nodes_before: those of what is published beforehand, with the tables below persons that it has.
    """

    k: int = 3
    node: SeveralNode = (0, 1, 0)
    nodes_before: tuple[tuple[SeveralNode, tuple[str, ...]], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(several.SOURCES)

    def spec_at(self, place: Place, node: Node | None = None) -> kanon_sql.RelationalSpec:
        """Levels are those of the sex and of the ward."""
        at = self.node if node is None else (node[0], min(node[1], 2), 0)
        return several.written(at, SCHEMAS[place.name])

    def first(self, names: Sequence[str]) -> int:
        """From where the tables are written: what is before only reads."""
        return names.index("relations/release") + 1

    def earlier(self, place: Place) -> list[kanon_sql.Spec | kanon_sql.RelationalSpec]:
        return [several.written(node, SCHEMAS[place.name], tables) for node, tables in self.nodes_before]

    def fill(self, place: Place) -> None:
        several.fill(place)

    def is_source_intact(self, place: Place) -> bool:
        return all(place.rows(name) == rows for name, rows in several.as_filled().items())

    def runs_on(self, place: Place) -> bool:
        """Spark would take minutes for each."""
        return place.name != "spark"

    def read(self, place: Place) -> Rows | None:
        """Each row after the name of its table."""
        found = {name: rows for name in self.names if (rows := place.rows(name)) is not None}
        return tagged(found) if found else None

    def state(self, place: Place, before: Rows | None, aside: Sequence[str]) -> tuple[str, list[str]]:
        """Where tables get their names one after another, some may be missing; never do two releases stand together."""
        now, old = self.read(place), self._put_aside(place, aside)
        if now == before:
            return "intact", []
        if now is not None and several.Standing(untagged(now)).joined() is not None:
            return "new", []
        kept = untagged(before or Counter())
        stands = untagged(now or Counter())
        left = {name for name, rows in kept.items() if stands.get(name) == rows}
        lost = [name for name in kept.keys() - left if old.get(name) != kept[name]]
        problems = [f"{name} of the earlier release is gone" for name in lost]
        if left and stands.keys() - left:
            problems.append("tables of two releases stand together")
        if place.name != "clickhouse":
            problems.append("some tables are missing")
        return "aside", problems

    def after_clean(self, place: Place, aside: Sequence[str]) -> Rows | None:
        now, old = untagged(self.read(place) or Counter()), self._put_aside(place, aside)
        if several.Standing(now).joined() is not None:
            return tagged(now)
        if any(now.keys() == {"persons", *tables} for _, tables in self.nodes_before):
            old = {**now, **old}
        return tagged(old)

    def _put_aside(self, place: Place, aside: Sequence[str]) -> dict[str, Rows]:
        found = {name: place.rows(table) for table in aside for name in (self.names[int(table[-1])],)}
        return {name: rows for name, rows in found.items() if rows is not None}

    def gives(self, release: Rows) -> bool:
        return self.node_of(release) is not None

    def node_of(self, release: Rows) -> Node | SeveralNode | None:
        joined = several.Standing(untagged(release)).joined()
        return next((node for node in several.NODES if several.expected(node) == joined), None)

    def manifest_wrong(self, told: Mapping[str, Any], release: Rows) -> str | None:
        node = self.node_of(release)
        return None if self.node_in(told) == node else f"the tables are at {node}, and the manifest says otherwise"

    @staticmethod
    def node_in(told: Mapping[str, Any]) -> Node | SeveralNode:
        node = told["release_of_tables"]["node"]
        return node["person"]["sex"], node["stays"]["ward"], node["drugs"]["drug"]

    def too_small(self, release: Rows) -> list[str]:
        return []  # all nodes are safe, by the sources: what is not at one of them is not whole


@dataclass(frozen=True)
class Ready(Several):
    """Tables that are ready are published, without a search: many faults in little time."""

    def fill(self, place: Place) -> None:
        several.fill(place)
        held = {(sex, min(ward, 2), 0) for sex, ward in HELD}
        nodes = sorted({self.node, *(node for node, _ in self.nodes_before), *held})
        for name, columns, rows in several.ready(nodes):
            place.drop(name)
            place._subject_like().table(name, columns, rows)

    def publish(self, engine: Engine, place: Place, spec: Any = None, **given: Any) -> Any:
        spec = self.spec_at(place) if spec is None else spec
        sex = spec.person.quasi_identifiers["sex"].minimum_level
        levels_of = {
            column: item.minimum_level
            for table in spec.tables.values()
            for column, item in table.quasi_identifiers.items()
        }
        return several.publish_ready(engine, spec, (sex, levels_of["ward"], levels_of.get("drug", 0)))


def tagged(tables: Mapping[str, Rows]) -> Rows:
    """Rows of several tables, each after the name of its table."""
    return Counter({(name, *row): count for name, rows in tables.items() for row, count in rows.items()})


def untagged(rows: Rows) -> dict[str, Rows]:
    """The tables again."""
    found: dict[str, Rows] = defaultdict(Counter)
    for (name, *row), count in rows.items():
        found[str(name)][tuple(row)] = count
    return found


def as_source(case: Case) -> Rows:
    """The source as :meth:`Place.rows` gives it."""
    return Counter(tuple(map(as_text, row)) for row in people(case.times))


def spec_of(**changes: Any) -> kanon_sql.Spec:
    """A spec for the source."""
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": SOURCE, "release": RELEASE, "identifiers": ["name"], **levels(1, 1),
            "sensitive": ["dx"], "privacy": [{"k_anonymity": 2}], "suppression": {"max_rows": 0}, **changes,
        }
    )  # fmt: skip


def levels(sex: int | None, age: int | None) -> dict[str, Any]:
    """The quasi-identifiers, held at a level each or free."""

    def at(level: int | None) -> dict[str, int]:
        return {} if level is None else {"minimum_level": level, "maximum_level": level}

    return {"quasi_identifiers": {"sex": at(sex), "age": {"intervals": [10, 20], **at(age)}}}


SCHEMAS = {
    "duckdb": "main", "sqlite": "main", "postgres": "public", "mariadb": "kanon", "clickhouse": "default",
    "spark": "default",
}  # fmt: skip
"""Where what outlives a session may be made."""

_EARLIER = (levels(0, 2),)
_SECOND = {"release": "second_release"}

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("first"),
        Case("again", before=_EARLIER),
        Case(
            "suppressed",
            {**levels(0, 1), "suppression": {"max_share": 0.1}},
            k=5,
            before=_EARLIER,
        ),
        Case(
            "masked",
            {**levels(0, 1), "suppression": {"max_share": 0.4, "style": "mask"}},
            k=7,
            before=_EARLIER,
        ),
        Case("persons", {**levels(1, 1), "unit": "name", "identifiers": []}, before=_EARLIER, persons=True),
        Case(
            "query",
            {"source": {"query": f"SELECT * FROM {SOURCE} WHERE age < 35"}},
            before=_EARLIER,
            oldest=35,
        ),
        Case("large", before=_EARLIER, times=500),
        Case("scratch schema", before=_EARLIER, scratch=True),
        Case("local", {**levels(None, None), "recoding": {"method": "local"}}, k=3, before=_EARLIER, local=True),
        Case("joint", {**_SECOND, "ledger": LEDGER}, k=5),
        Case("ledger", {**_SECOND, "ledger": LEDGER}, before=({**levels(0, 2), "ledger": LEDGER},)),
        Case(
            "coarsen",
            {**_SECOND, **levels(None, None), "ledger": {"table": LEDGER, "on_conflict": "coarsen"}},
            k=5,
            before=({**levels(1, 1), "ledger": LEDGER},),
        ),
        Several("several first"),
        Several("several", nodes_before=(((1, 0, 1), ("stays", "drugs")),)),
        Several("several more", nodes_before=(((1, 0, 1), ("stays",)),)),
        Ready("ready first"),
        Ready("ready", nodes_before=(((1, 0, 1), ("stays", "drugs")),)),
        Ready("ready more", nodes_before=(((1, 0, 0), ("stays",)),)),
    )
}


def prepare(place: Place, case: Case) -> None:
    """Make the place as it is before the case runs, and keep it."""
    for name in place.tables():
        place.drop(name)
    case.fill(place)
    place.detach()
    for spec in case.earlier(place):
        with place.connect(**case.options(place)) as engine:
            case.publish(engine, place, spec).raise_for_failure()
    place.keep(case.name)


SEVERAL = tuple(name for name, case in CASES.items() if isinstance(case, Several))
"""Those that publish several tables."""
