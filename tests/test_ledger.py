"""What several releases tell together: against an oracle, an attacker who tries every world, and Sweeney's examples."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import literature as lit
import pytest
from conftest import Database
from hypothesis import given
from hypothesis import strategies as st
from oracle import Hierarchy, Requirement, Row, classes, frequencies, generalize, judge, model_of, worst
from strategies import ONE_IN_FOUR, RandomProblem, examples, problems, random_rows, suppression_limits
from test_against_oracle import assert_achieved, judge_table, reached, with_persons

import kanon_sql
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.models.privacy import model_of as privacy_model
from kanon_sql.release import ledger as history
from kanon_sql.spec import parse_requirement
from kanon_sql.sql.statement import Statement
from kanon_sql.verbs import anonymize as anonymize_module

# --- releases as the oracle sees them --------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """A release to be made: its quasi-identifiers and what else it shows."""

    hierarchies: Mapping[str, Hierarchy]
    written: Mapping[str, Any]
    """Quasi-identifier -> how the spec writes it."""
    shown: Sequence[str]
    requirements: Sequence[Requirement]
    nulls: str = "value"
    limit: float | int = 0
    style: str = "drop"
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """What a release shows of every row: its labels (None: suppressed), and the shown columns."""

    vectors: Sequence[tuple[str | None, ...] | None]
    masked: bool
    shape: Shape

    def shows(self, index: int) -> bool:
        return self.masked or self.vectors[index] is not None

    def labels(self, index: int) -> tuple[str | None, ...] | None:
        vector = self.vectors[index]
        return ("*",) * len(self.shape.hierarchies) if vector is None and self.masked else vector

    def table(self, rows: Sequence[Row]) -> Counter[tuple[Any, ...]]:
        return Counter(
            (*(self.labels(index) or ()), *(row[name] for name in self.shape.shown))
            for index, row in enumerate(rows)
            if self.shows(index)
        )


def made(rows: Sequence[Row], shape: Shape, node: Sequence[int], unit: str | None, masked: bool) -> Made:
    """Generalize, and suppress the classes that violate a requirement."""
    kept = set()
    for vector, members in classes(rows, shape.hierarchies, tuple(node), shape.nulls).items():
        held = [rows[index] for index in members]
        if all(judge(item, held, original(rows, item, unit), unit)[1] for item in shape.requirements):
            kept.add(vector)
    vectors = generalize(rows, shape.hierarchies, tuple(node), shape.nulls)
    return Made([vector if vector in kept else None for vector in vectors], masked, shape)


def original(rows: Sequence[Row], requirement: Requirement, unit: str | None) -> Counter[Any] | None:
    attribute = model_of(requirement)[1].get("attribute")
    return None if attribute is None else frequencies(rows, attribute, unit)


def together(rows: Sequence[Row], releases: Sequence[Made], unit: str | None) -> dict[str, dict[str, Any]]:
    """Every requirement of every release on the joint classes."""
    quasi_identifiers = {name for item in releases for name in item.shape.hierarchies}

    def key(index: int) -> tuple[Any, ...]:
        parts: list[Any] = []
        for item in releases:
            also = [name for name in item.shape.shown if name in quasi_identifiers]
            seen = tuple(rows[index][name] for name in also) if item.shows(index) else None
            parts += [item.shows(index), item.labels(index), seen]
        return tuple(parts)

    achieved = {}
    for requirement in [item for release in releases for item in release.shape.requirements]:
        attribute = model_of(requirement)[1].get("attribute")
        found: dict[tuple[Any, ...], list[Row]] = {}
        for index, row in enumerate(rows):
            if any(item.shows(index) and attribute in (None, *item.shape.shown) for item in releases):
                found.setdefault(key(index), []).append(row)
        verdicts = [
            (*judge_table(requirement, held, original(rows, requirement, unit), unit), len(held))
            for held in found.values()
        ]
        achieved[privacy_model(parse_requirement(requirement)).label] = {
            **reached(requirement, worst(requirement, [measure for measure, _, _ in verdicts])),
            "violating_classes": sum(not enough for _, enough, _ in verdicts),
            "violating_rows": sum(size for _, enough, size in verdicts if not enough),
        }
    return achieved


# --- random pairs and triples of releases ------------------------------------------------------------


@st.composite
def shapes(draw: st.DrawFn, problem: RandomProblem, folder: Path, before: Sequence[Shape]) -> Shape:
    """A release of some of the columns. What was released by a file before must be named again."""
    hierarchies: dict[str, Hierarchy] = {}
    written: dict[str, Any] = {}
    files = {name for shape in before for name, form in shape.written.items() if "file" in form}
    kept = []
    for name, hierarchy in problem.hierarchies.items():
        form = "file" if name in files else draw(st.sampled_from(["file", "value", "file", "absent", "keep"]))
        if form == "file":
            hierarchies[name], written[name] = hierarchy, {"file": str(folder / f"{name}.csv")}
        elif form == "value":
            hierarchies[name], written[name] = {value: (value, "*") for value in hierarchy}, {}
        elif form == "keep":
            kept.append(name)
    if not hierarchies:
        name = next(iter(problem.hierarchies))
        kept = [other for other in kept if other != name]
        hierarchies[name] = {value: (value, "*") for value in problem.hierarchies[name]}
        written[name] = {}
    for name, hierarchy in hierarchies.items():
        height = len(next(iter(hierarchy.values()))) - 1
        low = draw(st.sampled_from([height, *range(height + 1)]))
        written[name] = {**written[name], "minimum_level": low}
    everything = draw(st.booleans())
    sensitive = [name for name in problem.sensitive if everything or draw(st.booleans())]
    required = [item for item in problem.requirements if model_of(item)[1].get("attribute") in (None, *sensitive)] or [
        {"k_anonymity": {"k": 2}}
    ]
    return Shape(
        hierarchies=hierarchies,
        written=written,
        shown=[*sensitive, *kept, *(["serial"] if draw(ONE_IN_FOUR) else [])],
        requirements=required,
        nulls=draw(st.sampled_from(["value", "value", "suppress"])),
        limit=draw(st.one_of(st.just(0.5), suppression_limits(len(problem.rows)))),
        style=draw(st.sampled_from(["drop", "mask"])),
        more={"sensitive": sensitive, "keep": kept},
    )


def spec_of(shape: Shape, release: str, unit: str | None, **more: Any) -> kanon_sql.Spec:
    keep = [name for name in shape.shown if name not in shape.more["sensitive"]]
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": release, "unit": unit,
            "quasi_identifiers": shape.written, "sensitive": shape.more["sensitive"], "keep": keep,
            "privacy": shape.requirements, "suppression": {"limit": shape.limit, "style": shape.style},
            "search": {"metric": "height"}, "nulls": shape.nulls, "ledger": "ledger", **more,
        }
    )  # fmt: skip


def fresh(database: Database, problem: RandomProblem, folder: Path) -> list[Row]:
    """The table and the hierarchies' files; no release yet."""
    for name in [*database.tables()]:
        database.connection.execute(f'DROP TABLE IF EXISTS "{name}"')
    rows = [{**row, "serial": number} for number, row in enumerate(problem.rows)]
    names = [*problem.hierarchies, *problem.sensitive, *([] if problem.unit is None else [problem.unit]), "serial"]
    kinds = dict.fromkeys(names, "VARCHAR") | {"serial": "INTEGER"}
    database.table("people", kinds, [[row[name] for name in names] for row in rows])
    for name, hierarchy in problem.hierarchies.items():
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL).writerows(hierarchy.values())
    return rows


def released(database: Database, release: str, shape: Shape) -> Counter[tuple[Any, ...]]:
    names = ", ".join(f'"{name}"' for name in [*shape.hierarchies, *shape.shown])
    return Counter(database.connection.execute(f"SELECT {names} FROM {release}").fetchall())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hierarchies")


@examples(8)
@given(st.data())
def test_the_joint_classes_are_the_oracles(shared_database: Database, folder: Path, data: st.DataObject) -> None:
    problem = data.draw(problems(max_rows=16, max_columns=3, nulls=("value",)))
    if problem.unit is None and data.draw(ONE_IN_FOUR):
        problem = with_persons(problem, [f"p{number % 6}" for number in range(25)])
    rows = fresh(shared_database, problem, folder)
    releases: list[Made] = []
    drawn: list[Shape] = []
    for number in range(data.draw(st.sampled_from([2, 2, 3]))):
        shape = data.draw(shapes(problem, folder, drawn))
        if problem.unit is not None:
            k = [item for item in problem.requirements if "k_anonymity" in item]
            shape = replace(shape, requirements=[*k, *(r for r in shape.requirements if "k_anonymity" not in r)])
        result = kanon_sql.anonymize(shared_database.engine, spec_of(shape, f"r{number}", problem.unit))
        if result.node is None:
            continue
        masked = "masked" in result.rows
        release = made(rows, shape, list(result.node.values()), problem.unit, masked)
        assert result.ledger is not None
        if releases:
            expected = together(rows, [*releases, release], problem.unit)
            assert result.ledger["changed"] == []
            assert_achieved(result.ledger["achieved"], expected)
            assert result.passed is not any(item["violating_classes"] for item in expected.values())
        else:
            assert result.passed
        if result.passed:
            assert released(shared_database, f"r{number}", shape) == release.table(rows)
            releases.append(release)
            drawn.append(shape)


# --- an attacker who tries every world ------------------------------------------------------------------


def possible_secrets(rows: Sequence[Row], releases: Sequence[Made]) -> list[set[Any]]:
    """Per person, the secrets that they have in some world in which every release would look as it does.

    The attacker knows everybody's quasi-identifiers, the hierarchies and levels, which classes are suppressed,
    and the releases; not who has which secret.
    """
    secrets = [row["secret"] for row in rows]
    seen = [release.table(rows) for release in releases]
    found: list[set[Any]] = [set() for _ in rows]
    for world in set(permutations(secrets)):
        people = [{**row, "secret": secret} for row, secret in zip(rows, world, strict=True)]
        if [release.table(people) for release in releases] == seen:
            for index, secret in enumerate(world):
                found[index].add(secret)
    return found


QUASI: dict[str, Hierarchy] = {
    "zip": {"10": ("10", "1*", "*"), "11": ("11", "1*", "*"), "20": ("20", "2*", "*"), "21": ("21", "2*", "*")},
    "sex": {"M": ("M", "*"), "F": ("F", "*")},
}
WRITTEN = {"zip": {"prefix": [1]}, "sex": {}}


@st.composite
def attacks(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Shape], bool]:
    """A table of a few people and two releases of it; whether every secret is another one."""
    different = draw(st.booleans())
    people = draw(st.lists(st.tuples(st.sampled_from([*QUASI["zip"]]), st.sampled_from("MF")), min_size=4, max_size=6))
    rows = [
        {"zip": code, "sex": sex, "secret": str(number if different else draw(st.integers(0, 2)))}
        for number, (code, sex) in enumerate(people)
    ]
    privacy: list[Requirement] = [{"l_diversity": {"attribute": "secret", "l": 2, "kind": "distinct"}}]
    if different:
        privacy = [{"k_anonymity": {"k": 2}}]
    both = []
    for _ in range(2):
        names = draw(st.sampled_from([["zip", "sex"], ["zip"], ["sex"], ["zip", "sex"]]))
        levels = {name: draw(st.integers(0, len(QUASI[name][next(iter(QUASI[name]))]) - 1)) for name in names}
        written = {n: {**WRITTEN[n], "minimum_level": v, "maximum_level": v} for n, v in levels.items()}
        both.append(
            Shape({n: QUASI[n] for n in names}, written, ["secret"], privacy, limit=0.6, more={"sensitive": ["secret"]})
        )
    return rows, both, different


@examples(8)
@given(attacks())
def test_an_attacker_who_tries_every_world(
    shared_database: Database, attack: tuple[list[dict[str, Any]], list[Shape], bool]
) -> None:
    """What passes leaves everybody two possible secrets; where secrets link all rows, what is refused does not."""
    rows, both, different = attack
    for name in [*shared_database.tables()]:
        shared_database.connection.execute(f'DROP TABLE IF EXISTS "{name}"')
    shared_database.table("people", ["zip", "sex", "secret"], [list(row.values()) for row in rows])
    results = [
        kanon_sql.anonymize(shared_database.engine, spec_of(shape, f"r{number}", None))
        for number, shape in enumerate(both)
    ]
    if any(result.node is None for result in results):
        return
    releases = [
        made(rows, shape, list((result.node or {}).values()), None, masked=False)
        for shape, result in zip(both, results, strict=True)
    ]
    possible = possible_secrets(rows, releases)
    exposed = [
        index
        for index, _ in enumerate(rows)
        if any(release.shows(index) for release in releases) and len(possible[index]) < 2
    ]
    if results[1].passed:
        assert not exposed
    elif different:
        assert exposed, "a refusal that nobody needed, although every row can be linked"


# --- Sweeney 2002 ----------------------------------------------------------------------------------------


def sweeney(database: Database) -> None:
    """PT as GT1 and as GT3 show it: cells are generalized one by one, so each table's labels are columns."""
    names = lit.SWEENEY_QUASI_IDENTIFIERS
    columns = [*(f"{name}1" for name in names), *(f"{name}3" for name in names), "problem"]
    lines = [
        [*(one[name] for name in names), *(three[name] for name in names), one["problem"]]
        for one, three in zip(lit.SWEENEY_GT1, lit.SWEENEY_GT3, strict=True)
    ]
    database.table("pt", columns, lines)


def sweeney_release(version: int, release: str, **more: Any) -> kanon_sql.Spec:
    columns = [f"{name}{version}" for name in lit.SWEENEY_QUASI_IDENTIFIERS]
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "pt", "release": release, "sensitive": ["problem"],
            "quasi_identifiers": {name: {"maximum_level": 0} for name in columns},
            "privacy": [{"k_anonymity": 2}], "ledger": "ledger", **more,
        }
    )  # fmt: skip


def test_sweeney_complementary_release(database: Database) -> None:
    """GT1 and GT3 are 2-anonymous; linked on Problem they give LT, in which two people are alone (section 4.2)."""
    sweeney(database)
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1")).passed
    result = kanon_sql.anonymize(database.engine, sweeney_release(3, "gt3"))
    assert not result.passed
    assert result.achieved["k_anonymity"]["k"] == 2, "alone it would do"
    lt = Counter(tuple(row[name] for name in lit.SWEENEY_QUASI_IDENTIFIERS) for row in lit.SWEENEY_LT)
    alone = [vector for vector, count in lt.items() if count == 1]
    assert result.ledger is not None
    assert result.ledger["achieved"] == {
        "2-anonymity": {
            "requirement": "2-anonymity", "k": 1,
            "violating_classes": len(alone), "violating_rows": len(alone),
        }
    }  # fmt: skip
    assert result.ledger["classes"]["count"] == len(lt)
    assert "together with gt1, 2 joint classes (2 rows) violate 2-anonymity" in result.message
    assert "gt3" not in database.tables()
    assert [entry["release"] for entry in entries(database)] == [["gt1"]]
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1_again")).passed


def test_sweeney_temporal_attack(database: Database) -> None:
    """Two people are added after GT1 (section 4.3): GT3 with them is refused, GT1 with them, the remedy, is not."""
    sweeney(database)
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1")).passed
    for problem in ("headache", "rash"):
        row = ["black", "1965", "male", "02139", "black", "1965", "male", "02139", problem]
        database.connection.execute("INSERT INTO pt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    later = kanon_sql.anonymize(database.engine, sweeney_release(3, "gt_later"))
    assert not later.passed
    assert later.ledger is not None
    assert later.ledger["achieved"]["2-anonymity"]["violating_rows"] == 2
    assert "gt_later" not in database.tables()
    remedy = kanon_sql.anonymize(database.engine, sweeney_release(1, "remedy"))
    assert (remedy.verdict, remedy.rows["released"]) == ("pass", 14)


def test_one_person_more_in_a_class_that_is_out(database: Database) -> None:
    """Whoever joins a released class is the difference between two releases."""
    sweeney(database)
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1")).passed
    database.connection.execute("INSERT INTO pt SELECT * REPLACE ('rash' AS problem) FROM pt WHERE problem = 'fever'")
    for version in (1, 3):
        result = kanon_sql.anonymize(database.engine, sweeney_release(version, "gt_later"))
        assert (result.verdict, result.ledger and result.ledger["changed"]) == ("fail", ["gt1"])
        assert "the source no longer gives gt1" in result.message


def test_one_person_more_in_a_class_that_was_not_shown(database: Database) -> None:
    """Their class is new to gt1 and joins another in the new release: less the old rows, that is one person."""
    people(database, "10 M a", "10 M b", "20 M c", "20 M d")
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 0)).passed
    database.connection.execute("INSERT INTO people VALUES ('21', 'M', 'e')")
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0))
    assert not result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"] == {
        "requirement": "2-anonymity", "k": 1, "violating_classes": 1, "violating_rows": 1,
    }  # fmt: skip


# --- rows that one release suppresses -----------------------------------------------------------------------


def entries(database: Database) -> list[dict[str, Any]]:
    found = database.connection.execute("SELECT manifest FROM ledger WHERE run_id <> 'turn'").fetchall()
    return [json.loads(text) for (text,) in found]


def people(database: Database, *lines: str) -> None:
    """``zip sex dx`` per line."""
    database.table("people", ["zip", "sex", "dx"], [line.split() for line in lines])


def asked(release: str, zip_level: int | None = None, sex_level: int | None = None, **more: Any) -> kanon_sql.Spec:
    def at(level: int | None) -> dict[str, Any]:
        return {} if level is None else {"minimum_level": level, "maximum_level": level}

    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": release, "sensitive": ["dx"],
            "quasi_identifiers": {"zip": {"prefix": [1], **at(zip_level)}, "sex": at(sex_level)},
            "privacy": [{"k_anonymity": 2}], "ledger": "ledger", **more,
        }
    )  # fmt: skip


SQUARE = [f"{code} {sex} d{number}" for number, (code, sex) in enumerate(
    (code, sex) for code in ("10", "11", "20", "21") for sex in "MF"
)]  # fmt: skip


def test_a_suppressed_row_is_what_is_left_of_its_class(database: Database) -> None:
    """r1 leaves out the one person of zip 21; r2 shows the class 2*, which less the rows of r1 is that person."""
    people(database, "10 M a", "10 M b", "20 M c", "20 M d", "21 M e")
    some = {"suppression": {"limit": 1}}
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 0, **some)).rows["suppressed"] == 1
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0))
    assert not result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == 1
    assert kanon_sql.anonymize(database.engine, asked("r3", 0, 1, **some)).passed, "suppressed in both"


def test_a_suppressed_row_is_not_one_whose_labels_are_null(database: Database) -> None:
    """r1 shows two people without a zip code and leaves out one with; r2 shows all three alike."""
    database.table("people", ["zip", "sex", "dx"], [(None, "M", "a"), (None, "M", "b"), ("21", "M", "c")])
    by_zip = {"quasi_identifiers": {"zip": None}}
    first = kanon_sql.anonymize(database.engine, asked("r1", **by_zip, suppression={"limit": 1}))
    assert (first.node, first.rows["suppressed"]) == ({"zip": 0}, 1)
    result = kanon_sql.anonymize(database.engine, asked("r2", **by_zip))
    assert (result.verdict, result.node) == ("fail", {"zip": 1})
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == 1


@pytest.mark.parametrize("alone", [1, 2])
def test_masked_rows_are_a_class_of_their_own(database: Database, alone: int) -> None:
    """r1 masks whoever is alone in their zip code; r2 shows them in 2*: those masked there are a joint class."""
    codes = [["20"], ["20", "21"]][alone - 1]
    people(database, "10 M a", "10 M b", "22 M c", "22 M d", *(f"{code} M e" for code in codes), "30 F f")
    first = kanon_sql.anonymize(database.engine, asked("r1", 0, 0, suppression={"limit": 3, "style": "mask"}))
    assert first.rows.get("masked") == alone + 1
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0, suppression={"limit": 1}))
    assert result.ledger is not None
    assert result.ledger["changed"] == []
    left_out_by_r2 = 1  # of zip 30: masked in r1, so in a joint class too
    violating = left_out_by_r2 + (alone if alone < 2 else 0)
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == violating
    assert not result.passed


def test_what_one_release_generalizes_and_another_shows_as_it_is(database: Database) -> None:
    """r2 keeps the zip code, which r1 calls a quasi-identifier: who knows it finds eight people alone."""
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    by_sex = {"quasi_identifiers": {"sex": {"maximum_level": 0}}, "keep": ["zip"]}
    result = kanon_sql.anonymize(database.engine, asked("r2", **by_sex))
    assert result.achieved["k_anonymity"]["k"] == 4
    assert not result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == 8


def test_a_requirement_is_about_the_rows_that_show_its_attribute(database: Database) -> None:
    """r2 has no illness: the people of zip 2*, whom r1 leaves out, need no diversity of it; what r1 promised holds."""
    people(database, "10 M a", "10 M b", "20 M c", "20 M c")
    diverse = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "dx", "l": 2}}]
    first = kanon_sql.anonymize(database.engine, asked("r1", 1, 0, privacy=diverse, suppression={"limit": 2}))
    assert first.rows["suppressed"] == 2
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0, sensitive=[]))
    assert result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["distinct 2-diversity of dx"]["l"] == 2


def test_what_each_release_promised_is_asked_for_itself(database: Database) -> None:
    """r1 promised 2-anonymity, r2 has to be 3-anonymous: the joint classes of two people break the latter alone."""
    people(database, *["10 M a", "10 M b", "20 M c", "20 M d"], *["10 F e", "10 F f", "20 F g", "20 F h"])
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 1)).passed
    result = kanon_sql.anonymize(database.engine, asked("r2", 2, 0, privacy=[{"k_anonymity": 3}]))
    assert result.achieved["k_anonymity"]["k"] == 4
    assert not result.passed
    assert result.ledger is not None
    found = {label: item["violating_rows"] for label, item in result.ledger["achieved"].items()}
    assert found == {"3-anonymity": 8, "2-anonymity": 0}


@pytest.mark.parametrize(
    "requirement",
    [
        {"t_closeness": {"attribute": "pay", "t": 0.3, "distance": "ordered"}},
        {"p_sensitive_k_anonymity": {"attribute": "dx", "p": 2, "k": 2}},
        {"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.6, "k": 2}},
        {"beta_likeness": {"attribute": "pay", "beta": 1, "kind": "basic"}},
        {"beta_likeness": {"attribute": "dx", "beta": 1}},
        {"delta_disclosure": {"attribute": "dx", "delta": 1.5}},
    ],
    ids=lambda requirement: "-".join(map(str, model_of(requirement)[1].values())),
)
def test_every_model_is_asked_of_the_joint_classes(database: Database, requirement: Requirement) -> None:
    """One release shows the zip code and promises the model, the other shows the sex: against the oracle."""
    zips = {code: (code, code[0], "*") for code in ("10", "20", "21")}
    sexes = {sex: (sex, "*") for sex in "MF"}
    shown: dict[str, Any] = {"sensitive": ["dx", "pay"]}
    broken = 0
    for seed in range(4):
        cells: dict[str, list[Any]] = {"dx": ["a", "b", "c"], "pay": [1, 2, 3, 10]}
        rows = random_rows({"zip": [*zips], "sex": [*sexes]}, cells, 30, seed)
        database.connection.execute("DROP TABLE IF EXISTS people")
        kinds = {"zip": "VARCHAR", "sex": "VARCHAR", "dx": "VARCHAR", "pay": "INTEGER"}
        database.table("people", kinds, [[row[name] for name in kinds] for row in rows])
        levels = {"zip": {"prefix": [1], "maximum_level": 0}}, {"sex": {"maximum_level": 0}}
        shapes = (
            Shape({"zip": zips}, levels[0], ["dx", "pay"], [requirement], limit=1.0, more=shown),
            Shape({"sex": sexes}, levels[1], ["dx", "pay"], [{"k_anonymity": {"k": 1}}], more=shown),
        )
        results = [
            kanon_sql.anonymize(database.engine, spec_of(shape, f"r{seed}{number}", None, ledger=f"ledger{seed}"))
            for number, shape in enumerate(shapes)
        ]
        if results[0].node is None:  # nothing to release
            continue
        releases = [made(rows, shape, (0,), None, masked=False) for shape in shapes]
        expected = together(rows, releases, None)
        assert results[1].ledger is not None
        assert_achieved(results[1].ledger["achieved"], expected)
        broken += not results[1].passed
    assert broken


def test_a_finer_release_after_a_coarser_one_and_a_coarser_after_a_finer(database: Database) -> None:
    people(database, *SQUARE, *SQUARE)
    for number, (of_zip, of_sex) in enumerate([(1, 1), (1, 0), (0, 0), (2, 1), (1, 0)]):
        result = kanon_sql.anonymize(database.engine, asked(f"r{number}", of_zip, of_sex))
        assert result.passed, result.message
        assert result.cost.source_scans == (3 if number else 2)
    assert len(entries(database)) == 5


def test_coarsen_keeps_to_the_levels_that_are_out(database: Database) -> None:
    """Alone the search would take zip 1, sex 0; with zip 0 out, sex must go to its top."""
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 1)).passed
    free = kanon_sql.anonymize(database.engine, asked("r2"))
    assert (free.verdict, free.node) == ("fail", {"zip": 1, "sex": 0})
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    held = kanon_sql.anonymize(database.engine, asked("r2", ledger=ledger))
    assert (held.verdict, held.node) == ("pass", {"zip": 0, "sex": 1})
    assert held.ledger is not None
    assert held.ledger["coarsened"] is True


def test_coarsen_keeps_to_the_limits_of_the_spec(database: Database) -> None:
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    with pytest.raises(SpecError, match=r"zip.maximum_level: on_conflict: coarsen needs level 1, .* allowed is 0"):
        kanon_sql.anonymize(database.engine, asked("r2", 0, ledger=ledger))


# --- what cannot be compared ----------------------------------------------------------------------------------


@pytest.fixture
def published(database: Database) -> Database:
    people(database, *SQUARE, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    return database


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "the same name": ({"release": "R1"}, "publish under another name"),
    "another unit": ({"unit": "dx", "sensitive": []}, "protects rows, and this spec dx"),
    "a missing column": (
        {"source": {"query": "SELECT zip, dx, sex AS s FROM people"}, "quasi_identifiers": {"zip": None}},
        "no column 'sex', which r1 shows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_before_the_search(published: Database, case: str) -> None:
    changes, why = REFUSED[case]
    with pytest.raises(SpecError, match=why):
        kanon_sql.anonymize(published.engine, kanon_sql.Spec.from_dict({**asked("r2").to_dict(), **changes}))
    assert len(entries(published)) == 1


def test_a_release_that_is_gone_or_altered(published: Database) -> None:
    published.connection.execute("UPDATE r1 SET dx = 'other' WHERE rowid = 0")
    assert "no longer gives r1" in kanon_sql.anonymize(published.engine, asked("r2", 1, 0)).message
    published.connection.execute("ALTER TABLE r1 DROP COLUMN dx")
    assert "no longer gives r1" in kanon_sql.anonymize(published.engine, asked("r2", 1, 0)).message
    published.connection.execute("DROP TABLE r1")
    with pytest.raises(SpecError, match=r"the release r1 .* is not in the database"):
        kanon_sql.anonymize(published.engine, asked("r2", 1, 0))


@pytest.mark.parametrize("altered", [
    "zip = NULL, sex = NULL WHERE zip = '*'", "zip = '?' WHERE zip = '*'", "zip = '1*' WHERE zip = '10'",
    "zip = NULL WHERE zip = '10'",
])  # fmt: skip
def test_a_release_whose_classes_were_altered(database: Database, altered: str) -> None:
    """Two classes and three masked rows; what a cell says is compared, be it a label, a mask or neither."""
    people(database, "10 M a", "10 M a", "22 M c", "22 M c", "20 M a", "21 M a", "30 F a")
    first = kanon_sql.anonymize(database.engine, asked("r1", 0, 0, suppression={"limit": 3, "style": "mask"}))
    assert first.rows.get("masked") == 3
    again = asked("r2", 0, 0, suppression={"limit": 3, "style": "mask"})
    same = kanon_sql.anonymize(database.engine, again)
    assert same.ledger is not None
    assert same.ledger["changed"] == []
    database.connection.execute(f"UPDATE r1 SET {altered}")
    result = kanon_sql.anonymize(database.engine, asked("r3", 0, 0, suppression={"limit": 3, "style": "mask"}))
    assert (result.verdict, result.ledger and result.ledger["changed"]) == ("fail", ["r1"])


def test_the_joint_table_is_made_without_labels(published: Database) -> None:
    """Planners misjudge joins by many texts, and a wrong guess costs minutes: rows find their classes by numbers."""
    result = kanon_sql.anonymize(published.engine, asked("r2", 1, 0))
    (joint,) = [sql for sql in result.sql if re.search(r'CREATE TEMPORARY TABLE "?kanon_\w+_joint"? ', sql)]
    assert "people" in joint
    assert not re.search(r"\bl\d+\b", joint)


@pytest.mark.parametrize("change", [
    "DELETE FROM people WHERE rowid = 0", "INSERT INTO people SELECT * FROM people LIMIT 1",
    "UPDATE people SET zip = '20' WHERE rowid = 0", "UPDATE people SET dx = 'new' WHERE rowid = 0",
])  # fmt: skip
def test_a_source_that_changed(published: Database, change: str) -> None:
    published.connection.execute(change)
    result = kanon_sql.anonymize(published.engine, asked("r2", 2, 1))
    assert (result.verdict, result.ledger and result.ledger["changed"]) == ("fail", ["r1"])


def test_a_hierarchy_of_which_only_a_digest_is_known(database: Database, tmp_path: Path) -> None:
    people(database, *SQUARE, *SQUARE)
    file = tmp_path / "zip.csv"
    file.write_text("10;a\n11;a\n20;b\n21;b\n", encoding="utf-8")
    by_file = {"zip": {"file": str(file)}, "sex": None}
    assert kanon_sql.anonymize(database.engine, asked("r1", quasi_identifiers=by_file)).passed
    assert '"10"' not in json.dumps(entries(database))
    for others in ({"sex": None}, {"zip": {"prefix": [1]}, "sex": None}):
        with pytest.raises(SpecError, match="the hierarchy of zip in r1 is not known any more"):
            kanon_sql.anonymize(database.engine, asked("r2", quasi_identifiers=others))
    as_tree = {"zip": {"tree": {"a": ["10", "11"], "b": ["20", "21"]}}, "sex": None}
    assert kanon_sql.anonymize(database.engine, asked("r2", quasi_identifiers=as_tree)).passed, "the same rows"
    file.write_text("10;a\n11;b\n20;b\n21;b\n", encoding="utf-8")
    with pytest.raises(SpecError, match="not known any more"):
        kanon_sql.anonymize(database.engine, asked("r3", quasi_identifiers=by_file))


def test_a_table_that_is_no_ledger(published: Database) -> None:
    with pytest.raises(SpecError, match="'r1' is a table, but no ledger"):
        kanon_sql.anonymize(published.engine, asked("r2", ledger="r1"))
    published.connection.execute("UPDATE ledger SET manifest = '[]' WHERE run_id <> 'turn'")
    with pytest.raises(SpecError, match="holds a row that no version known here has written"):
        kanon_sql.anonymize(published.engine, asked("r2"))


def test_what_a_spec_with_a_ledger_cannot_have(database: Database) -> None:
    for changes, why in (
        ({"ledger": "People"}, "ledger: the ledger has the source's name"),
        ({"ledger": "r1"}, "ledger: the ledger has the release's name"),
        ({"quasi_identifiers": {"zip": {"table": "h"}}}, "a hierarchy table may change"),
        (
            {"privacy": [{"t_closeness": {"attribute": "dx", "t": 0.5, "reference": "release"}}]},
            "use reference: original",
        ),
        (
            {"privacy": [{"beta_likeness": {"attribute": "dx", "beta": 1, "reference": "release"}}]},
            "use reference: original",
        ),
        (
            {"privacy": [{"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.5, "k": 2, "values": ["flu"]}}]},
            "values: a ledger holds no values",
        ),
        (
            {
                "privacy": [
                    {
                        "t_closeness": {
                            "attribute": "dx", "t": 0.5, "distance": "hierarchical", "hierarchy": {"prefix": [1]},
                        }
                    }
                ]
            },
            "hierarchy: a ledger holds no values",
        ),
        (
            {"privacy": [{"k_map": {"population": "everybody", "k": 2}}]},
            "population: with a ledger, releases are judged by their joint classes",
        ),
        (
            {"privacy": [{"delta_presence": {"population": "everybody", "delta_max": 0.5}}]},
            "population: with a ledger, releases are judged by their joint classes",
        ),
        (
            {"search": {"algorithm": "k_optimize"}},
            "k_optimize makes intervals of the values at hand, which a ledger cannot make again",
        ),
    ):  # fmt: skip
        with pytest.raises(SpecError, match=why):
            asked("r1", **changes)
    people(database, *SQUARE)
    with pytest.raises(UnsupportedError, match="scratch mode 'inline' has none"):
        kanon_sql.anonymize(kanon_sql.connect(database.connection, scratch="inline"), asked("r1"))


# --- publishing ---------------------------------------------------------------------------------------------


def test_two_releases_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was entered since the ledger was read was not compared with: nothing is published."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        database = Database(connection)
        people(database, *SQUARE, *SQUARE)
        assert kanon_sql.anonymize(database.engine, asked("r0", 1, 0)).passed

        def overtaken(release: str) -> None:
            other = kanon_sql.connect(connection.cursor())
            assert kanon_sql.anonymize(other, asked(release, 2, 0)).passed

        publish, create = anonymize_module.publish, history.Addition.create

        def after_reading(*given: Any) -> None:
            monkeypatch.undo()
            overtaken("r2")
            publish(*given)

        def inside_the_transaction(self: history.Addition, workspace: Any) -> None:
            monkeypatch.undo()
            create(self, workspace)
            overtaken("r3")

        for owner, name, late, why in (
            (anonymize_module, "publish", after_reading, "another release was entered meanwhile"),
            (history.Addition, "create", inside_the_transaction, "."),
        ):
            monkeypatch.setattr(owner, name, late)
            with pytest.raises(DatabaseError, match=why):
                kanon_sql.anonymize(database.engine, asked("r1", 1, 0))
            assert "r1" not in database.tables()
        assert sorted(entry["release"] for entry in entries(database)) == [["r0"], ["r2"], ["r3"]]
        assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed


def test_a_failure_at_any_statement_publishes_both_or_neither(
    published: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry and the release are one transaction."""
    kind = type(published.engine)
    execute = kind.execute
    for position in range(40):
        left = position

        def failing(self: Any, statement: Statement) -> None:
            nonlocal left
            if statement.name.startswith(("manifest/", "release/ledger/turn", "release/rename", "transaction")):
                left -= 1
                if left == -1:
                    raise DatabaseError("refused by the test")
            execute(self, statement)

        with monkeypatch.context() as patch:
            patch.setattr(kind, "execute", failing)
            try:
                kanon_sql.anonymize(published.engine, asked(f"s{position}", 1, 0))
            except DatabaseError:
                pass
            else:
                assert left >= 0
                break
        there = f"s{position}" in published.tables()
        assert there is ([f"s{position}"] in [entry["release"] for entry in entries(published)])
    else:
        raise AssertionError("publishing takes more than forty statements")
    assert f"s{position}" in published.tables()


def test_plan_and_render_say_that_they_do_not_compare(published: Database) -> None:
    assert "the ledger was not read" in kanon_sql.plan(published.engine, asked("r2", 0, 0)).notes[-1]
    assert "The ledger's statements are left out" in kanon_sql.render(asked("r2")).text


def test_the_list_of_releases(published: Database) -> None:
    found = kanon_sql.ledger(published.engine, "ledger")
    assert found.to_dict()["entries"] == entries(published)
    (entry,) = found.entries
    assert (entry.name, entry.quasi_identifiers["zip"].level, entry.rows["released"]) == ("r1", 1, 16)
    published.connection.execute("DELETE FROM ledger")
    assert kanon_sql.ledger(published.engine, "ledger").entries == ()
    with pytest.raises(SpecError, match="there is no ledger 'other'"):
        kanon_sql.ledger(published.engine, "other")


def test_an_entry_holds_no_value(published: Database) -> None:
    people(published, *SQUARE, *SQUARE)
    query = {"query": "SELECT * FROM people WHERE dx <> 'Ada Planted'"}
    assert kanon_sql.anonymize(published.engine, asked("r2", 1, 0, source=query)).passed
    text = json.dumps(entries(published))
    assert "Planted" not in text
    assert not any(f'"d{number}"' in text for number in range(8))
