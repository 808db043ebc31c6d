"""An enumeration stands in the order of its type, on every engine that has one, wherever values are ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.duckdb_catalog import described_type
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.specs import QUIET

ENGINES = [
    "duckdb",
    *(
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.xdist_group(name)])
        for name in ("postgres", "mariadb", "clickhouse")
    ),
]

LABELS = ("low", "medium", "it's, (x)", "high", "a\\b", "Z")
"""In an order that is not that of their characters, with all that a type's text has to escape."""

COUNTS = {"low": 4, "medium": 3, "it's, (x)": 2, "high": 3, "Z": 5, None: 2}
"""Rows of each; one label occurs nowhere."""


@pytest.fixture(scope="module", params=ENGINES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.fixture
def severities(subject: Subject) -> Iterator[Subject]:
    """A table of severities."""
    stored(subject, "people", [value for value, count in COUNTS.items() for _ in range(count)])
    yield subject
    for name in ("people", "people_release", "scale", "others", "others_release", "learned", "kanon_sql_manifest"):
        subject.drop(name)


OPTIMAL = {"search": {"algorithm": "k_optimize"}, "suppression": {"max_rows": 2, "style": "drop"}}


def literal(subject: Subject, text: str) -> str:
    return subject.dialect.literal(text)


def type_of(subject: Subject) -> str:
    """The name of the type, which is made where it has to be."""
    listed = [literal(subject, label) for label in LABELS]
    match subject.dialect.name:
        case "postgres":
            if subject.fetch("SELECT to_regtype('severity')") != [(None,)]:
                return "severity"
            # The order of labels is not that in which they were added.
            subject.execute(f"CREATE TYPE severity AS ENUM ({', '.join([listed[0], *listed[2:]])})")
            subject.execute(f"ALTER TYPE severity ADD VALUE {listed[1]} AFTER {listed[0]}")
            return "severity"
        case "clickhouse":
            numbered = [f"{label} = {3 * place - 4}" for place, label in enumerate(listed)]
            return f"Nullable(Enum8({', '.join(reversed(numbered))}))"
    return f"ENUM({', '.join(listed)})"


def stored(subject: Subject, name: str, values: Sequence[str | None]) -> None:
    kind = "INT" if subject.dialect.name == "mariadb" else "INTEGER"
    subject.execute(subject.create(subject.dialect.quote(name), f"severity {type_of(subject)}, nr {kind}"))
    lines = [f"({'NULL' if value is None else literal(subject, value)}, {n})" for n, value in enumerate(values)]
    subject.execute(f"INSERT INTO {subject.dialect.quote(name)} VALUES {', '.join(lines)}")


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"severity": None},
            "keep": ["nr"],
            "privacy": [{"k_anonymity": 4}],
            "warnings": QUIET,
            **changes,
        }
    )


def classes(k: int) -> list[list[str | None]]:
    """Every cut at the median of the order that the type declares, where both sides have k rows; in plain Python."""
    order = [value for value in (*LABELS, None) if value in COUNTS]

    def parts(values: list[str | None]) -> list[list[str | None]]:
        total, best = sum(COUNTS[value] for value in values), None
        for place in range(1, len(values)):
            below = sum(COUNTS[value] for value in values[:place])
            if best is None or abs(2 * below - total) < abs(2 * best[1] - total):
                best = place, below
        if best is None or best[1] < k or total - best[1] < k:
            return [values]
        return parts(values[: best[0]]) + parts(values[best[0] :])

    return parts(order)


def label_of(values: list[str | None], first: bool, last: bool) -> str:
    """The label of neighbours in the order; a range that ends with the lowest or highest value is open there."""
    known = [value for value in values if value is not None]
    if len(known) == 1:
        text = known[0]
    elif first:
        text = f"<= {known[-1]}"
    elif last:
        text = f">= {known[0]}"
    else:
        text = f"[{known[0]}, {known[-1]}]"
    return text if len(known) == len(values) else f"{text} or NULL"


def expected(k: int) -> Counter[str]:
    parts = classes(k)
    assert len(parts) > 2
    return Counter(
        {
            label_of(part, place == 0, place == len(parts) - 1): sum(COUNTS[value] for value in part)
            for place, part in enumerate(parts)
        }
    )


def released(subject: Subject) -> Counter[str]:
    return Counter(label for (label,) in subject.fetch("SELECT severity FROM people_release"))


@pytest.mark.slow
def test_mondrian_cuts_in_the_order_of_the_type(severities: Subject) -> None:
    engine = severities.connect()
    try:
        result = kanon_sql.anonymize(engine, spec(recoding="mondrian"))
        assert result.passed
        assert released(severities) == expected(4) == {"low": 4, "[medium, it's, (x)]": 5, ">= high or NULL": 10}
        assert kanon_sql.check(engine, spec(recoding="mondrian")).passed
    finally:
        engine.close()


def values_of(label: str) -> list[str | None]:
    """What a label says, by the order that the type declares."""
    order = [value for value in LABELS if value in COUNTS]
    text, null = label.removesuffix(" or NULL"), [None] if label.endswith(" or NULL") else []
    meanings: dict[str, list[str]] = {value: [value] for value in order} | {"*": order, "not NULL": order}
    for low, first in enumerate(order):
        meanings |= {f"<= {first}": order[: low + 1], f"< {first}": order[:low]}
        meanings |= {f">= {first}": order[low:], f"> {first}": order[low + 1 :]}
        for high, last in list(enumerate(order))[low + 1 :]:
            for begins, skipped in (("[", 0), ("(", 1)):
                meanings[f"{begins}{first}, {last}]"] = order[low + skipped : high + 1]
                meanings[f"{begins}{first}, {last})"] = order[low + skipped : high]
    return [*meanings[text], *null, *([None] if text == "*" else [])]


def distance(rows: Sequence[str], of: Sequence[str], order: Sequence[str]) -> float:
    """The ordered distance of Li, Li and Venkatasubramanian: differences of cumulative shares, over m - 1."""
    values = [value for value in order if value in of]
    moved, sofar = 0.0, 0.0
    for value in values:
        sofar += rows.count(value) / len(rows) - of.count(value) / len(of)
        moved += abs(sofar)
    return moved / (len(values) - 1)


@pytest.mark.slow
def test_ordered_t_closeness_ranks_in_the_order_of_the_type(subject: Subject) -> None:
    """Looked at in the search, the verification, a check and an audit of SQLMesh; bounds on both sides of the truth."""
    parts = [["low", "low", "medium", "high", "high"], ["Z", "Z", "it's, (x)", "a\\b", "high"], ["medium"] * 5]
    values = [value for part in parts for value in part]
    truth = max(distance(part, values, LABELS) for part in parts)
    assert abs(truth - max(distance(part, values, sorted(LABELS)) for part in parts)) > 0.01
    stored(subject, "people", values)
    grouped = {"nr": {"intervals": [5], "minimum_level": 1, "maximum_level": 1}}

    def asked(t: float) -> kanon_sql.Spec:
        closeness = {"t_closeness": {"attribute": "severity", "t": t, "distance": "ordered"}}
        return spec(quasi_identifiers=grouped, keep=[], sensitive=["severity"], privacy=[closeness])

    engine = subject.connect()
    try:
        if subject.dialect.name == "mariadb":
            with pytest.raises(SpecError, match=r"convert them to numbers in a source query \(severity \+ 0\)"):
                kanon_sql.anonymize(engine, asked(1.0))
            return
        assert not kanon_sql.plan(engine, asked(truth - 0.001)).passed
        for found in (kanon_sql.anonymize(engine, asked(truth + 0.001)), kanon_sql.check(engine, asked(1.0))):
            (achieved,) = found.achieved.values()
            assert achieved["t"] == pytest.approx(truth)
    finally:
        engine.close()
        for name in ("people", "people_release", "kanon_sql_manifest"):
            subject.drop(name)


def test_what_ranks_are_compared_with_has_the_same_labels(database: Database) -> None:
    for name, labels in (("people", "'b', 'a'"), ("other", "'a', 'b'")):
        database.connection.execute(f"CREATE TABLE {name} (nr INTEGER, severity ENUM({labels}))")
        database.connection.execute(f"INSERT INTO {name} VALUES (1, 'a'), (1, 'b')")
    closeness = {"t_closeness": {"attribute": "severity", "t": 0.5, "distance": "ordered"}}
    asked = spec(quasi_identifiers={"nr": None}, keep=[], sensitive=["severity"], privacy=[closeness])
    assert kanon_sql.check(database.engine, asked, "people").passed
    with pytest.raises(SpecError, match="lists other labels, or lists them in another order"):
        kanon_sql.check(database.engine, asked, "other")


@pytest.mark.slow
def test_labels_of_ranges_are_true_of_their_rows(severities: Subject) -> None:
    engine = severities.connect()
    try:
        for changes in ({"recoding": "mondrian"}, {"recoding": {"method": "local", "ranges": ["severity"]}},
                        OPTIMAL):  # fmt: skip
            kanon_sql.anonymize(engine, spec(**changes)).raise_for_failure()
            values = dict(severities.fetch("SELECT nr, severity FROM people"))
            labels = severities.fetch("SELECT nr, severity FROM people_release")
            assert len(labels) >= 17, changes
            assert len({label for _, label in labels}) > 1, changes
            for number, label in labels:
                assert values[number] in values_of(label), (changes, values[number], label)
    finally:
        engine.close()


@pytest.mark.slow
def test_an_attack_reads_ranges_in_the_order_of_the_type(severities: Subject) -> None:
    """Each row is one of those of its range: as many matches as the rows of its values."""
    engine = severities.connect()
    try:
        kanon_sql.anonymize(engine, spec(recoding="mondrian")).raise_for_failure()
        asked = spec(recoding="mondrian")
        found = kanon_sql.audit(
            engine, asked, "people_release", external="people", on=["severity"], attacks=["linking"]
        )
        for attack in found.attacks:
            assert attack.examined == sum(COUNTS.values())
            assert "19 of 19 match anything" in attack.notes
            assert attack.exposed == 0
        assert found.attacks[0].risk == 1 / min(expected(4).values())
    finally:
        engine.close()


def test_a_hierarchy_table_is_in_the_order_of_its_first_columns_type(severities: Subject) -> None:
    quoted = severities.dialect.quote("scale")
    severities.execute(severities.create(quoted, f"label {type_of(severities)}"))
    values = ", ".join(f"({literal(severities, label)})" for label in sorted(set(LABELS) & set(COUNTS)))
    severities.execute(f"INSERT INTO {quoted} VALUES {values}")
    engine = severities.connect()
    try:
        listed = spec(quasi_identifiers={"severity": {"table": "scale"}}, recoding="mondrian")
        kanon_sql.anonymize(engine, listed).raise_for_failure()
        assert released(severities) == {"low": 4, "medium..it's, (x)": 5, "high..Z or NULL": 10}
    finally:
        engine.close()


@pytest.mark.slow
def test_kept_cuts_divide_new_rows_in_the_order_of_the_type(severities: Subject) -> None:
    """A label that no row had belongs where the type has it: a\\b is above high, and below it by its characters."""
    keep = spec(recoding={"method": "mondrian", "save_as": "learned"})
    engine = severities.connect()
    try:
        if severities.dialect.name == "mariadb":
            with pytest.raises(SpecError, match=r"recoding\.save_as: severity is ENUM, and the database does not say"):
                kanon_sql.anonymize(engine, keep)
            return
        kanon_sql.anonymize(engine, keep).raise_for_failure()
    finally:
        engine.close()
    stored(severities, "others", ["medium"] * 5 + ["low"] * 2 + ["high"] * 6 + ["a\\b"] * 7)
    engine = severities.connect()
    try:
        new = kanon_sql.apply(engine, keep, "learned", source="others", release="others_release")
        assert new.passed
        found = Counter(label for (label,) in severities.fetch("SELECT severity FROM others_release"))
        assert found == {"<= medium": 7, ">= high": 13}
    finally:
        engine.close()


@pytest.mark.slow
def test_kept_cuts_are_of_labels_in_their_places(database: Database) -> None:
    """With a label more in between the places are others."""
    keep = spec(recoding={"method": "mondrian", "save_as": "learned"}, keep=[], privacy=[{"k_anonymity": 2}])
    for name, labels in (("people", ["b", "a"]), ("others", ["b", "a"]), ("more", ["b", "c", "a"])):
        listed = ", ".join(f"'{label}'" for label in labels)
        database.connection.execute(f"CREATE TABLE {name} (severity ENUM({listed}))")
        database.connection.execute(f"INSERT INTO {name} VALUES ('a'), ('a'), ('b'), ('b')")
    kanon_sql.anonymize(database.engine, keep).raise_for_failure()
    assert kanon_sql.apply(database.engine, keep, "learned", source="others", release="others_release").passed
    with pytest.raises(SpecError, match=r"learned with values of the kind labels of an enumeration \(\w{8}\)"):
        kanon_sql.apply(database.engine, keep, "learned", source="more", release="more_release")


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (("b", "a"), "ENUM('b', 'a')"),
        (("it's", "a, b", "", " x ", "back\\slash", "(", "NULL"), None),
        (None, "VARCHAR"),
        (None, "ENUM('a')[]"),
    ],
)
def test_labels_of_a_types_text(database: Database, labels: tuple[str, ...] | None, text: str | None) -> None:
    if text is None:
        quoted = ", ".join("'" + label.replace("'", "''") + "'" for label in labels or ())
        database.connection.execute(f"CREATE TABLE listed (e ENUM({quoted}))")
        (column,) = database.engine.columns("listed")
        assert column.labels == labels
        assert column.kind == "text"
    else:
        assert described_type(text)[2] == labels


@pytest.mark.slow
def test_a_certificate_ranks_in_the_order_of_the_type(database: Database, tmp_path: Path) -> None:
    """By their characters the two classes would be farther from the whole than the spec allows."""
    parts = [["b", "a", "a"], ["b", "c", "c"]]
    values = [value for part in parts for value in part]
    truth = max(distance(part, values, ("a", "b", "c")) for part in parts)
    other = max(distance(part, values, ("b", "a", "c")) for part in parts)
    assert other + 0.1 < truth
    database.connection.execute("CREATE TABLE people (nr INTEGER, severity ENUM('b', 'a', 'c'))")
    database.connection.executemany("INSERT INTO people VALUES (?, ?)", list(enumerate(values)))
    closeness = {"t_closeness": {"attribute": "severity", "t": other + 0.01, "distance": "ordered"}}
    grouped = {"nr": {"intervals": [3], "minimum_level": 1, "maximum_level": 1}}
    asked = spec(quasi_identifiers=grouped, keep=[], sensitive=["severity"], privacy=[closeness])
    assert kanon_sql.anonymize(database.engine, asked).passed
    found = kanon_sql.certify(database.engine, asked, tmp_path / "certificate")
    assert found.passed, found.problems
    assert not found.not_certified
