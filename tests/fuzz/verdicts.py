"""Random tables that anybody may have made, what a check says of them, and what plain Python counts.

Columns have collations in which other texts are equal, and texts differ in case, in forms of Unicode, in blanks and
zero characters at their ends. Nothing here shares a line with the package; a refusal is no find.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.errors import InternalError, KanonError
from kanon_sql.testing import Subject

Row = Sequence[Any]

TYPES: Mapping[str, Sequence[str]] = {
    "duckdb": ("VARCHAR", "VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT"),
    "sqlite": ("TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM"),
    "postgres": ("TEXT", "VARCHAR(9)", 'TEXT COLLATE "C"'),
    "mariadb": tuple(
        f"VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_{name}" for name in ("general_ci", "bin", "nopad_bin")
    ),
}
"""How an engine declares a column of texts."""

TEXTS = ("a", "A", "a ", " a", "", "\u00e1", "a\u0301", "\u00df", "ss", "*", "NULL", "\U0001f600", "\U0001f601")
ZEROS = ("a", "a\0", "a\0\0", "", "\0", "a\0b")
"""PostgreSQL has no zero characters."""


def texts_for(engine: str, draw: random.Random) -> list[str | None]:
    """A few values of a column."""
    if engine != "postgres" and draw.random() < 0.3:
        return list(draw.choice((ZEROS[:3], ZEROS[:2], ZEROS[3:5], ZEROS)))
    return [*draw.sample(TEXTS, draw.randint(1, 4)), *([None] if draw.random() < 0.4 else [])]


def written(value: Any, engine: str) -> str:
    """A literal, which says each byte where a text has a zero."""
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    if "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    if engine == "duckdb":
        return " || ".join(f"chr({ord(letter)})" for letter in value)
    code = value.encode().hex()
    return f"CAST(x'{code}' AS TEXT)" if engine == "sqlite" else f"CONVERT(x'{code}' USING utf8mb4)"


def make(subject: Subject, name: str, columns: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Create a table again."""
    subject.execute(f"DROP TABLE IF EXISTS {name}")
    subject.execute(f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in columns.items())})")
    lines = ["(" + ", ".join(written(value, subject.name) for value in row) + ")" for row in rows]
    if lines:
        subject.execute(f"INSERT INTO {name} VALUES {', '.join(lines)}")


# --- One table -----------------------------------------------------------------------------


def one_table(subject: Subject, engine: Engine, seed: int) -> Iterator[str]:
    """A table of texts; yields where a check found more than there is, or what came of it."""
    draw = random.Random(seed)
    pools = {name: texts_for(subject.name, draw) for name in ("q", "s", "u")}
    rows = [tuple(map(draw.choice, pools.values())) for _ in range(draw.choice((0, 3, 12, 40)))]
    if draw.random() < 0.5:
        rows = [(q, s, f"p{number}") for number, (q, s, _) in enumerate(rows)]
    make(subject, "given", {name: draw.choice(TYPES[subject.name]) for name in pools}, rows)
    unit = draw.choice((None, "u"))
    spec = {
        "version": 1, "source": "given", "quasi_identifiers": {"q": {}}, "sensitive": ["s"], "unit": unit,
        "privacy": [{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "s", "l": 2}}],
        "warnings": {"rows_not_persons": "allow"},
    }  # fmt: skip
    try:
        found = kanon_sql.check(engine, kanon_sql.Spec.from_dict(spec), "given")
    except KanonError as error:
        yield "refused" if not isinstance(error, InternalError) else "an internal error"
        return
    classes: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        classes[row[0]].append(row)
    k = min((len({u for _, _, u in own} - {None}) if unit else len(own) for own in classes.values()), default=None)
    diversity = min((values_of(own, by_person=unit is not None) for own in classes.values()), default=None)
    reached = (found.achieved["k_anonymity"]["k"], found.achieved["distinct_l_diversity(s)"]["l"])
    if reached != (k, diversity):
        yield f"found {reached} and not {(k, diversity)}"
    if found.passed != bool(rows and k is not None and k >= 2 and diversity is not None and diversity >= 2):
        yield f"the verdict is {found.verdict}"
    yield found.verdict


def values_of(rows: Sequence[Row], *, by_person: bool) -> int:
    """How many values a class has; one, if each of its persons has the same one, whatever others they have."""
    if not by_person:
        return len({s for _, s, _ in rows} - {None})
    persons = {u for *_, u in rows} - {None}
    holders: dict[Any, set[Any]] = defaultdict(set)
    for _, s, u in rows:
        if s is not None and u is not None:
            holders[s].add(u)
    return 1 if any(own == persons for own in holders.values()) else len(holders)


# --- Several tables ------------------------------------------------------------------------


def several_tables(subject: Subject, engine: Engine, seed: int) -> Iterator[str]:
    """Tables that refer to each other, now and then by keys that are NULL, twice there, or of no row."""
    draw = random.Random(seed)
    keys: dict[str, list[Any]] = {"person": list(range(1, 1 + draw.choice((0, 1, 4, 8, 12))))}
    if draw.random() < 0.5:
        keys["person"] = ["1", "01", "a", "A", "b", "B", "c", "\u00e9", "e", "E", "d", "D"][: len(keys["person"])]
    pairs = [
        (draw.choice(texts_for(subject.name, draw)), draw.choice(("x", "y", None))) for _ in range(draw.randint(1, 3))
    ]
    tables: dict[str, tuple[str, list[Row]]] = {"person": ("", [(key, *draw.choice(pairs)) for key in keys["person"]])}
    for name in ("stays", "drugs")[: draw.randint(0, 2)]:
        above = draw.choice(list(tables))
        items = [
            (draw.choice(texts_for(subject.name, draw)), draw.choice(("x", "y", None)))
            for _ in range(draw.randint(1, 2))
        ]
        rows: list[Row] = []
        for number in range(draw.randint(0, 16) if keys[above] else 0):
            refers = keys[above][number % len(keys[above])]
            lost = draw.random() < 0.01
            rows.append((0 if draw.random() < 0.01 else number, None if lost else refers, *draw.choice(items)))
        tables[name], keys[name] = (above, rows), [row[0] for row in rows]
    spec = spec_of(tables, draw)
    for name, (above, rows) in tables.items():
        own = TYPES[subject.name]
        kinds = {key: "INTEGER" if not any(isinstance(value, str) for value in keys[key]) else own[0] for key in tables}
        columns = {"id": kinds[name], **({"up": kinds[above]} if above else {}), "v": draw.choice(own), "s": own[0]}
        make(subject, f"r_{name}", columns, rows)
    m = spec["privacy"][0]["km_anonymity"]["m"]
    spec["release"] = {"schema": {"postgres": "public", "mariadb": "kanon"}.get(subject.name, "main")}
    wanted = counted(tables, m)
    try:
        found = kanon_sql.check(engine, kanon_sql.RelationalSpec.from_dict(spec))
    except KanonError as error:
        yield "refused" if not isinstance(error, InternalError) else "an internal error"
        return
    if wanted is None:
        if found.passed:
            yield "tables whose keys are wrong, or without persons, passed"
        return
    k, h, diversity = wanted
    for asked, item in zip(spec["privacy"], found.requirements, strict=True):
        ((name, own_limits),) = asked.items()
        holds = {
            "km_anonymity": k >= own_limits.get("k", 0),
            "coherence": h <= own_limits.get("h", 0),
            "l_diversity": diversity >= own_limits.get("l", 0),
        }[name]
        if item["holds"] != holds:
            yield f"{name}: {item['holds']} and not {holds}"
    yield found.verdict


def spec_of(tables: Mapping[str, tuple[str, Sequence[Row]]], draw: random.Random) -> dict[str, Any]:
    """What is asked of tables."""
    m = draw.choice((0, 1, 2, "all")) if len(tables) > 1 else 0
    privacy: list[dict[str, Any]] = [{"km_anonymity": {"k": draw.choice((2, 3)), "m": m}}]
    coherent = m in (0, 1) and draw.random() < 0.6
    if coherent:
        privacy.append({"coherence": {"h": 0.5, "m": m}})
    if draw.random() < 0.5:
        privacy.append({"l_diversity": {"attribute": "s", "l": 2}})
    below = {
        f"r_{name}": {
            "table": f"source_{name}", "key": "id", "quasi_identifiers": {"v": {}},
            **({"person": "up"} if above == "person" else {"parent": f"r_{above}", "by": "up"}),
            "sensitive": ["s"] if coherent else [],
        }
        for name, (above, _) in tables.items()
        if above
    }  # fmt: skip
    return {
        "version": 1,
        "person": {
            "table": "source_person", "name": "r_person", "key": "id", "quasi_identifiers": {"v": {}},
            "sensitive": ["s"] if len(privacy) > 1 else [],
        },
        "tables": below,
        "privacy": privacy,
        "recoding": "full_domain",
    }  # fmt: skip


def counted(tables: Mapping[str, tuple[str, Sequence[Row]]], m: Any) -> tuple[int, float, int] | None:
    """The fewest who share what is known, the largest share of a value, and the fewest values of a class.

    None where keys are not unique, or refer to no row, or there is no person.
    """
    said: dict[str, dict[Any, tuple[Any, Row]]] = {}
    classes: dict[Any, Any] = {}
    own: dict[Any, Any] = {}
    items: dict[Any, set[Any]] = defaultdict(set)
    held: dict[Any, set[Any]] = defaultdict(set)
    for name, (above, rows) in tables.items():
        said[name], seen = {}, Counter[Any]()
        for key, *rest in rows:
            if key is None or key in said[name] or (above and rest[0] not in said[above]):
                return None
            person, before = (key, ()) if not above else said[above][rest[0]]
            label, value = rest[-2:]
            said[name][key] = (person, (*before, name, label) if above else ())
            held[person] |= {(name, value)} if value is not None else set()
            if not above:
                classes[key], own[key] = label, value
                continue
            what = said[name][key][1]
            seen[person, what] += 1
            items[person].add((what, seen[person, what]))
    if not classes:
        return None
    known = {
        person: {frozenset(items[person])}
        if m == "all"
        else {frozenset(some) for size in range(m + 1) for some in combinations(items[person], size)}
        for person in classes
    }
    sharing: dict[Any, list[Any]] = defaultdict(list)
    for person, sets in known.items():
        for some in {frozenset[Any](), *sets} if m != "all" else sets:
            sharing[classes[person], some].append(person)
    most = 0.0
    for group in sharing.values():
        holding = Counter(value for person in group for value in held[person])
        most = max(most, *(count / len(group) for count in holding.values()), 0.0)
    fewest = min(map(len, sharing.values()))
    if m == "all":
        fewest = min(fewest, *Counter(classes.values()).values())
    values = [
        {own[person] for person in classes if classes[person] == label} - {None} for label in set(classes.values())
    ]
    return fewest, most, min(map(len, values))


FUZZERS = {"one table": one_table, "several tables": several_tables}


def tried(subject: Subject, name: str, seeds: range) -> Counter[str]:
    """How often each thing was said; what is no verdict and no refusal is a find, with its seed."""
    said: Counter[str] = Counter()
    engine = subject.connect()
    try:
        for seed in seeds:
            for what in FUZZERS[name](subject, engine, seed):
                said[what if what in ("pass", "fail", "refused") else f"{name}, seed {seed}: {what}"] += 1
    finally:
        engine.close()
    return said
