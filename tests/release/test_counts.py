"""Rows that stand for several persons: all that is said of them is said of a table with a row for each person."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.testing import as_text
from kanon_sql.verbs.certify import certify
from kanon_sql.verbs.dbt import dbt
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support import recodings
from tests.support.strategies import examples

TYPES = {"age": "integer", "job": "text", "ill": "text", "n": "integer"}
REQUIREMENTS: list[list[dict[str, Any]]] = [
    [{"k_anonymity": {"k": 3}}],
    [{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}],
    [{"l_diversity": {"attribute": "ill", "l": 1.5, "variant": "entropy"}}],
    [{"l_diversity": {"attribute": "ill", "l": 2, "c": 2, "variant": "recursive"}}],
    [{"t_closeness": {"attribute": "ill", "t": 0.4}}],
    [{"t_closeness": {"attribute": "ill", "t": 0.4, "reference": "release"}}],
    [{"alpha_k_anonymity": {"attribute": "ill", "alpha": 0.7, "k": 2}}],
    [{"p_sensitive_k_anonymity": {"attribute": "ill", "p": 2, "k": 3}}],
    [{"beta_likeness": {"attribute": "ill", "beta": 1.5}}],
    [{"delta_disclosure": {"attribute": "ill", "delta": 1.5}}],
    [{"lkc_privacy": {"attribute": "ill", "l": 1, "k": 3, "c": 0.8}}],
]


def spec_of(source: str, **changes: Any) -> kanon_sql.Spec:
    counted = {"count": "n", "keep": ["n"]} if source == "cells" else {}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": source,
            "release": f"{source}_release",
            "quasi_identifiers": {"age": {"intervals": [5, 10]}, "job": None},
            "sensitive": ["ill"],
            "privacy": REQUIREMENTS[1],
            "suppression": {"max_share": 0.3},
            # That n is kept is said of it, and of no column where each person has a row.
            "warnings": dict.fromkeys(
                ("nearly_unique_kept", "kept_reveals_quasi_identifier", "kept_links_rows"), "allow"
            ),
            **counted,
            **changes,
        }
    )


def told(result: Any) -> list[Any]:
    """What a run says, but for the column of counts."""
    return [
        result.passed,
        result.rows,
        result.node,
        result.metrics,
        result.achieved,
        result.classes,
        result.class_sizes,
    ]


def of_table(judged: Any) -> list[Any]:
    return [
        judged.verdict,
        judged.rows,
        judged.achieved,
        judged.classes,
        judged.class_sizes,
        _histograms(judged.details),
    ]


def _histograms(details: Any) -> Any:
    return None if details is None else [item.model_dump() for item in details.tables]


def of_risk(measured: Any) -> list[Any]:
    return [
        measured.rows, measured.records, measured.classes, measured.prosecutor, measured.marketer, measured.uniqueness,
        measured.combinations, measured.k_map_estimate,
    ]  # fmt: skip


def released(rows: list[tuple[Any, ...]], *, counted: bool) -> Counter[Any]:
    """The persons by what is released of them; the last column is for how many a row stands."""
    found: Counter[Any] = Counter()
    for row in rows:
        *shown, n = row if counted else (*row, 1)
        found[tuple(map(as_text, shown))] += int(n)
    return found


def outcomes(engine: Any, fetch: Any, **changes: Any) -> list[Any]:
    """What is found of a table of counts, and of the same persons with a row each."""
    found = []
    for source in ("cells", "persons"):
        spec = spec_of(source, **changes)
        result = kanon_sql.anonymize(engine, spec, details=True)
        own: list[Any] = told(result)
        own.append(_histograms(result.details))
        own.append(of_table(kanon_sql.check(engine, spec, source, details=True)))
        own.append(of_risk(kanon_sql.risk(engine, spec, source, sampling_fraction=0.1)))
        if result.passed:
            more = ", n" if source == "cells" else ""
            own.append(released(fetch(f"SELECT age, job, ill{more} FROM {source}_release"), counted=bool(more)))
            own.append(of_table(kanon_sql.check(engine, spec, details=True)))
            own.append(of_risk(kanon_sql.risk(engine, spec)))
        found.append(plain(own))
    return found


def plain(value: Any) -> Any:
    """Fractions to nine digits: a sum of 5 is another one than of five times 1 in the last of sixteen."""
    if isinstance(value, float):
        return round(value, 9)
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


CELLS = [
    (31, "cook", "flu", 3), (31, "cook", "cold", 1), (34, "cook", None, 2), (38, "nurse", "flu", 1),
    (39, "nurse", "cold", 7), (52, None, "flu", 5), (52, "cook", "hiv", 1), (None, "nurse", "flu", 2),
    (58, "cook", "flu", 2), (58, "cook", "cold", 2), (61, "king", "gout", 1),
]  # fmt: skip


def expanded(cells: Any) -> list[tuple[Any, ...]]:
    return [row[:-1] for row in cells for _ in range(row[-1])]


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_on_every_engine(name: str) -> None:
    with subject_of(name) as subject:
        subject.table("cells", TYPES, CELLS)
        subject.table("persons", {key: TYPES[key] for key in ("age", "job", "ill")}, expanded(CELLS))
        engine = subject.connect()
        for changes in (
            {},
            {"privacy": REQUIREMENTS[4], "recoding": "local", "nulls": "suppress"},
            {"privacy": REQUIREMENTS[0], "suppression": {"max_share": 0.3, "style": "mask"}},
        ):
            for source in ("cells", "persons"):
                subject.drop(f"{source}_release")
            ours, theirs = outcomes(engine, subject.fetch, **changes)
            assert ours == theirs, changes


rows = st.lists(
    st.tuples(
        st.sampled_from([20, 21, 27, 34, None]),
        st.sampled_from(["cook", "nurse", "king"]),
        st.sampled_from(["flu", "cold", "hiv", None]),
        st.sampled_from([1, 1, 1, 2, 3, 5]),
    ),
    min_size=1,
    max_size=14,
)


@pytest.mark.slow
@given(
    rows, st.sampled_from(REQUIREMENTS), st.sampled_from(["full_domain", "local", "subtree"]), st.booleans(), st.data()
)
@examples(100)
def test_random_tables(
    shared_database: Database, cells: Any, privacy: Any, recoding: str, masks: bool, data: st.DataObject
) -> None:
    types = {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR"}
    for source in ("cells", "persons"):
        shared_database._connection.execute(f"DROP TABLE IF EXISTS {source}_release")
    shared_database.table(
        "cells",
        {**types, "n": data.draw(st.sampled_from(["INTEGER", "DECIMAL(9, 2)", "DOUBLE"]))},
        [list(row) for row in cells],
    )
    shared_database.table("persons", types, [list(row) for row in expanded(cells)])
    whole = "lkc_privacy" in privacy[0] or "reference" in str(privacy)  # which is about all classes together
    ours, theirs = outcomes(
        shared_database.engine,
        lambda sql: shared_database._connection.execute(sql).fetchall(),
        privacy=privacy,
        recoding="full_domain" if whole else recoding,
        suppression={"max_share": 0.0 if whole else 0.4, "style": "mask" if masks else "drop"},
    )
    assert ours == theirs


_NOT_OF_SIZE: dict[str, Any] = {
    "sensitive": ["illness"],
    "keep": [],
    "privacy": [{"k_anonymity": 2}, {"l_diversity": {"attribute": "illness", "l": 1, "variant": "distinct"}}],
}
"""Where size is all that is asked, microaggregation divides rows that are alike, which no row of counts is."""


@pytest.mark.slow
@pytest.mark.parametrize("name", recodings.RECODINGS)
def test_every_recoding(database: Database, name: str) -> None:
    """It takes counts as if each person had a row, or says that it cannot."""
    draw = random.Random(name)
    table = [
        (
            draw.randrange(20, 40),
            draw.randrange(9),
            draw.choice(["111", "112", "121"]),
            *draw.choices("yn", k=3),
            "flu",
            n,
        )
        for n in draw.choices([1, 1, 2, 4], k=30)
    ]
    types = {column: "VARCHAR" if kind == "text" else "INTEGER" for column, kind in recodings.COLUMNS.items()}
    database.table("cells", {**types, "n": "INTEGER"}, [list(row) for row in table])
    database.table("persons", types, [list(row) for row in expanded(table)])
    found = []
    for source, more in (("cells", {"count": "n", "keep": ["n"]}), ("persons", {})):
        try:
            asked = recodings.spec(name, **_NOT_OF_SIZE) if name.startswith("micro") else recodings.spec(name)
            written = {**asked.to_dict(), "source": source, "release": f"{source}_release", **more}
            result = kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict(written))
        except (SpecError, UnsupportedError) as error:
            found.append(str(error))
            break
        names = [column for column in recodings.COLUMNS if column in written["quasi_identifiers"]]
        shown = ", ".join([*names, *(["n"] if more else [])])
        rows_of = database._connection.execute(f"SELECT {shown} FROM {source}_release").fetchall()
        found.append(plain([told(result), released(rows_of, counted=bool(more))]))
    if name in ("kk", "kk, global", "mondrian, relaxed", "forest", "cover", "matching"):
        assert "count" in found[0]
    else:
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([None, 1], "1 row has NULL as 'n'"),
        ([0, -3], "2 rows have a count below 1 as 'n'"),
        ([1.5, 2], "1 row has a count that is not whole as 'n'"),
        ([2e12, 2], "1 row has a count above 1,000,000,000,000 as 'n'"),
    ],
)
def test_counts_that_are_none(database: Database, counts: list[Any], said: str) -> None:
    database.table(
        "cells",
        {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR", "n": "DOUBLE"},
        [[30, "a", "b", n] for n in counts],
    )
    for verb in (
        kanon_sql.plan,
        kanon_sql.anonymize,
        lambda engine, spec: kanon_sql.check(engine, spec, "cells"),
        kanon_sql.risk,
    ):
        with pytest.raises(SpecError, match=said):
            verb(database.engine, spec_of("cells"))


def test_a_release_without_its_counts(database: Database) -> None:
    """Its rows would be taken for persons."""
    database.table("cells_release", {"age": "VARCHAR", "job": "VARCHAR", "ill": "VARCHAR"}, [["a", "b", "flu"]] * 3)
    database.table(
        "cells", {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR", "n": "VARCHAR"}, [[1, "b", "flu", "2"]]
    )
    for verb in (kanon_sql.check, kanon_sql.risk):
        with pytest.raises(SpecError, match=r"count: .*cells_release has no column 'n'"):
            verb(database.engine, spec_of("cells"))
    with pytest.raises(SpecError, match="'n' is VARCHAR, and a count is a number"):
        kanon_sql.plan(database.engine, spec_of("cells"))


def _without(value: Any, *keys: str) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, *keys) for key, item in value.items() if key not in keys}
    return [_without(item, *keys) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.slow
def test_other_verbs_that_take_counts(database: Database) -> None:
    types = {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR"}
    database.table("cells", {**types, "n": "INTEGER"}, [list(row) for row in CELLS])
    database.table("persons", types, [list(row) for row in expanded(CELLS)])
    found = []
    for source in ("cells", "persons"):
        spec = spec_of(source, release="out")
        other = spec.changed({**spec.to_dict(), "recoding": "local"})
        results = (
            kanon_sql.compare(database.engine, {"one": spec, "two": other}),
            kanon_sql.plan(database.engine, spec, all_minimal=True, release_warnings=True),
            kanon_sql.hierarchy(database.engine, spec),
        )
        found.append(
            [plain(_without(result.to_dict(), "cost", "notes", "spec", "source", "message")) for result in results]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("style", ["drop", "mask"])
def test_rows_that_are_released_alike_are_one(database: Database, style: str) -> None:
    """Apart, they would tell which persons of a class share their exact values, and n would find who is alone there."""
    types = {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR"}
    alike = [(30, "cook", "flu", 4), (31, "cook", "Flu", 1), (32, "cook", "flu", 1), (30, "cook", "cold", 3)]
    database.table("cells", {**types, "n": "DOUBLE"}, [list(row) for row in [*alike, (77, "king", "gout", 1)]])
    database.table("apart", {**types, "age": "VARCHAR", "n": "INTEGER"}, [["[30, 35)", *row[1:]] for row in alike])
    bands = {"age": {"intervals": [5, 10], "minimum_level": 1}, "job": None}
    limit = {"max_share": 0.5, "style": style}
    spec = spec_of("cells", warnings={}, suppression=limit, quasi_identifiers=bands)
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed
    assert not any("n" in warned.columns for warned in result.warnings)
    found = database._connection.execute("SELECT ill, n FROM cells_release ORDER BY n, ill").fetchall()
    assert found == [("Flu", 1), ("cold", 3), ("flu", 5)]
    assert not any("n" in warned.columns for warned in kanon_sql.check(database.engine, spec).warnings)
    checked = kanon_sql.check(database.engine, spec, "apart")
    assert ["n"] in [list(warned.columns) for warned in checked.warnings], "4 and 1 tell two rows with flu apart"


def test_rows_that_cannot_be_compared_are_not_made_one(database: Database) -> None:
    types = {"age": "INTEGER", "job": "VARCHAR", "ill": "JSON", "n": "INTEGER"}
    database.table("cells", types, [[30, "cook", "{}", 2]])
    with pytest.raises(SpecError, match="rows that are alike are released as one, and 'ill' is JSON"):
        kanon_sql.anonymize(
            database.engine, spec_of("cells", privacy=[{"k_anonymity": 1}], sensitive=[], keep=["n", "ill"])
        )


def test_rare_categories_count_persons(database: Database) -> None:
    """A row of one king stands for one person, and those of nurses for ten, who are the next fewest."""
    types = {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR"}
    database.table("cells", {**types, "n": "INTEGER"}, [list(row) for row in CELLS])
    rare = {"job": {"rare": {"other": "Rest", "below": 2}, "minimum_level": 1, "maximum_level": 1}}
    spec = spec_of("cells", quasi_identifiers=rare, privacy=[{"k_anonymity": 1}], nulls="suppress")
    assert kanon_sql.anonymize(database.engine, spec).passed
    labels = database._connection.execute("SELECT job, SUM(n) FROM cells_release GROUP BY job ORDER BY job").fetchall()
    assert labels == [("Rest", 11), ("cook", 11)]


def test_verbs_that_read_rows_refuse(database: Database, tmp_path: Path) -> None:
    types = {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR", "n": "INTEGER"}
    database.table("cells", types, [list(row) for row in CELLS])
    spec, engine = spec_of("cells"), database.engine
    assert kanon_sql.anonymize(engine, spec).passed
    for verb in (
        lambda: kanon_sql.audit(engine, spec),
        lambda: certify(engine, spec, tmp_path / "certificate"),
        lambda: dbt(engine, spec, tmp_path),
        lambda: kanon_sql.render(spec),
        lambda: kanon_sql.evidence(engine, spec),
        lambda: kanon_sql.apply(engine, spec, "kept", source="cells", release="again"),
        lambda: kanon_sql.risk(engine, spec, population="cells"),
        lambda: kanon_sql.risk(engine, spec, special_uniques=2),
        lambda: kanon_sql.risk(engine, spec, weight="n"),
        lambda: kanon_sql.check(engine, spec, republication=kanon_sql.Republication("cells", "job", 2)),
    ):
        with pytest.raises(UnsupportedError, match="here a row stands for several"):
            verb()


@pytest.mark.parametrize(
    "changes",
    [
        {"keep": []},
        {"unit": "job"},
        {"ledger": {"table": "l"}},
        {"privacy": [{"k_map": {"population": "everybody", "k": 2}}]},
        {"recoding": {"save_as": "kept"}},
        {"release": {"view": "v", "accept_sequence_risk": True}},
        {"steps": {"columns": {"n": {"round": 5}}}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_a_spec_cannot_say(changes: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="count"):
        spec_of("cells", **changes)
