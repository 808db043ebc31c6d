"""What is running when a fault comes, and by brute force what it may publish.

The source has 24 rows: classes of 8, 8, 6 and 2 by sex and decade. Labels are made here by arithmetic, and classes are
counted here: nothing of kanon_sql's is asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import kanon_sql
from tests.campaign.places import SOURCE, Place, Rows

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
    def spec(self) -> kanon_sql.Spec:
        return spec_of(**{"privacy": [{"k_anonymity": self.k}], **self.asks})

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

    def node_of(self, release: Rows) -> Node | None:
        """The node at which the source gives this very release; None when there is none."""
        return next((node for node in NODES if self.at(node) == release), None)


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
    )
}


def prepare(place: Place, case: Case) -> None:
    """Make the place as it is before the case runs, and keep it."""
    for name in place.tables():
        place.drop(name)
    place.fill(people(case.times))
    place.detach()
    for changes in case.before:
        with place.connect(**case.options(place)) as engine:
            kanon_sql.anonymize(engine, spec_of(**changes)).raise_for_failure()
    place.keep(case.name)
