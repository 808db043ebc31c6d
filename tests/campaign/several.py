"""Three tables that are published together: persons, their stays, and drugs below these.

Twelve persons, each with two stays and a drug for each of them. Every item of a person is shared by three persons of
their sex, at all levels; nobody is left out. What a person, a stay and a drug were called is kept, so that a table of
another release is known by what it joins: new keys are the numbers from 1 on in every release, in random order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine, now, open_workspace
from kanon_sql.errors import VerificationError
from kanon_sql.relations import Placed
from kanon_sql.release import publish_together, refuse_foreign_release, staged
from kanon_sql.spec import PERSON
from kanon_sql.sql import Statement
from kanon_sql.testing import as_text
from kanon_sql.verbs.run import running
from tests.campaign.places import Place, Rows

SOURCES = {"persons": "source_persons", "stays": "source_stays", "drugs": "source_drugs"}
COLUMNS = {
    "persons": {"id": "integer", "sex": "text", "pno": "text"},
    "stays": {"sid": "integer", "id": "integer", "ward": "text", "sno": "text"},
    "drugs": {"sid": "integer", "drug": "text", "dno": "text"},
}
"""Names of the spec -> columns of the sources, and of what is released."""

SeveralNode = tuple[int, int, int]
"""Levels of sex, ward and drug."""

NODES: list[SeveralNode] = list(product(range(2), range(3), range(3)))


def sources() -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the three tables."""
    stays = [
        (100 * person + place, person, ("x" if place else "y") + ("12"[person // 2 % 2] if place else "1"))
        for person in range(12)
        for place in range(2)
    ]
    return {
        "persons": [(person, "FM"[person % 2], f"p{person}") for person in range(12)],
        "stays": [(*row, f"s{row[0]}") for row in stays],
        "drugs": [(sid, "A1" if sid % 100 else ("B1" if person < 6 else "B2"), f"d{sid}") for sid, person, _ in stays],
    }


def label(value: str, level: int) -> str:
    """A value of one letter and one digit; of one letter, it has two levels."""
    return (value, value[0] + "*", "*")[level] if len(value) > 1 else (value, "*")[level]


def written(node: SeveralNode, schema: str, tables: Sequence[str] = ("stays", "drugs")) -> RelationalSpec:
    """The spec that releases the tables at a node."""
    sex, ward, drug = ({"minimum_level": level, "maximum_level": level} for level in node)
    below = {
        "stays": {
            "table": SOURCES["stays"],
            "key": "sid",
            "person": "id",
            "quasi_identifiers": {"ward": {"prefix": [1], **ward}},
            "keep": ["sno"],
        },
        "drugs": {
            "table": SOURCES["drugs"],
            "parent": "stays",
            "by": "sid",
            "quasi_identifiers": {"drug": {"prefix": [1], **drug}},
            "keep": ["dno"],
        },
    }
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {
                "table": SOURCES["persons"],
                "name": "persons",
                "key": "id",
                "quasi_identifiers": {"sex": sex},
                "keep": ["pno"],
            },
            "tables": {name: below[name] for name in tables},
            "privacy": [{"km_anonymity": {"k": 3, "m": 1}}],
            "recoding": "full_domain",
            "release": {"schema": schema, "publish": "in_steps"},
            "warnings": {"nearly_unique_kept": "allow", "kept_reveals_quasi_identifier": "allow"},
        }
    )


def expected(node: SeveralNode) -> Rows:
    """The three tables as they join, each row with the names of those above it."""
    of_stay = {sid: (person, sno) for sid, person, _, sno in sources()["stays"]}
    found: Rows = Counter()
    for person, sex, pno in sources()["persons"]:
        found["persons", label(sex, node[0]), pno] += 1
        assert pno == f"p{person}"
    for _, person, ward, sno in sources()["stays"]:
        found["stays", label(ward, node[1]), sno, f"p{person}"] += 1
    for sid, drug, dno in sources()["drugs"]:
        person, sno = of_stay[sid]
        found["drugs", label(drug, node[2]), dno, sno, f"p{person}"] += 1
    return found


@dataclass(frozen=True)
class Standing:
    """Tables of one or of several releases.

    Attributes:
        rows: name -> the released rows of those that stand.
    """

    rows: Mapping[str, Rows]

    def joined(self) -> Rows | None:
        """As they join; None where a key refers to no row, or a table is missing."""
        if len(self.rows) < len(SOURCES):
            return None
        above: dict[str | None, tuple[str | None, ...]] = {}
        found: Rows = Counter()
        for key, sex, pno in self.rows["persons"].elements():
            above[key] = (pno,)
            found["persons", sex, pno] += 1
        stays: dict[str | None, tuple[str | None, ...]] = {}
        for sid, key, ward, sno in self.rows["stays"].elements():
            if key not in above:
                return None
            stays[sid] = (sno, *above[key])
            found["stays", ward, *stays[sid]] += 1
        for sid, drug, dno in self.rows["drugs"].elements():
            if sid not in stays:
                return None
            found["drugs", drug, dno, *stays[sid]] += 1
        return found


def fill(place: Place) -> None:
    """Make the sources anew."""
    for name, rows in sources().items():
        place.drop(SOURCES[name])
        place._subject_like().table(SOURCES[name], COLUMNS[name], rows)


def as_filled() -> dict[str, Rows]:
    """The sources as :meth:`Place.rows` gives them."""
    return {SOURCES[name]: Counter(tuple(map(as_text, row)) for row in rows) for name, rows in sources().items()}


@dataclass(frozen=True)
class Published:
    """What a run says that published tables which stood there already."""

    manifest: Mapping[str, Any]
    passed: bool = True
    message: str = ""

    def raise_for_failure(self) -> None:
        """It never failed: it would have raised."""


def released(node: SeveralNode) -> dict[str, list[tuple[Any, ...]]]:
    """The three tables as a run writes them at a node, with keys of that node's own."""
    draw = Random(str(node))
    tables = sources()
    keys = {name: draw.sample(range(1, len(tables[name]) + 1), len(tables[name])) for name in ("persons", "stays")}
    of_person = {row[0]: key for row, key in zip(tables["persons"], keys["persons"], strict=True)}
    of_stay = {row[0]: key for row, key in zip(tables["stays"], keys["stays"], strict=True)}
    return {
        "persons": [(of_person[key], label(sex, node[0]), pno) for key, sex, pno in tables["persons"]],
        "stays": [(of_stay[sid], of_person[key], label(ward, node[1]), sno) for sid, key, ward, sno in tables["stays"]],
        "drugs": [(of_stay[sid], label(drug, node[2]), dno) for sid, drug, dno in tables["drugs"]],
    }


def ready(nodes: Collection[SeveralNode]) -> Iterator[tuple[str, Mapping[str, str], list[tuple[Any, ...]]]]:
    """Tables with what is to be published at some nodes, each row with its node: name, columns, rows."""
    for name, columns in COLUMNS.items():
        rows = [(*row, shown(node)) for node in nodes for row in released(node)[name]]
        yield f"ready_{name}", {**columns, "node": "text"}, rows


def shown(node: SeveralNode) -> str:
    """A node as a text."""
    return "".join(map(str, node))


def publish_ready(engine: Engine, spec: RelationalSpec, node: SeveralNode, *, fails: bool = False) -> Published:
    """Copy tables that are ready under scratch names, and publish them as a run does that has verified them.

    Raises:
        VerificationError: it is to fail.
    """
    names = (PERSON, *spec.tables)
    run = running(engine, None, publishes=Placed(spec, PERSON))
    with run, open_workspace(engine, "") as workspace, ExitStack() as made_here:
        with engine.transaction():
            for name in names:
                refuse_foreign_release(workspace, Placed(spec, name))
        manifest = {
            "run_id": workspace.run_id,
            "published_at": now(),
            "release_of_tables": {
                "node": {"person": {"sex": node[0]}, "stays": {"ward": node[1]}, "drugs": {"drug": node[2]}}
            },
            "spec": spec.redacted(),
        }
        parts = []
        for number, name in enumerate(names):
            placed = Placed(spec, name)
            assert placed.release is not None
            target = made_here.enter_context(staged(workspace, placed.release, f"release{number}"))
            columns = ", ".join(COLUMNS[placed.release[-1]])
            query = f"SELECT {columns} FROM ready_{placed.release[-1]} WHERE node = '{shown(node)}'"
            sql = workspace.dialect.create_as(workspace.dialect.relation(target.parts), query, temporary=False)
            workspace.run(Statement("relations/release", sql))
            parts.append((placed, target, {**manifest, "release": ".".join(placed.release)}))
        if fails:
            raise VerificationError("verification: this one fails")
        publish_together(workspace, parts, in_steps=True)
        return Published(manifest)
