"""A point as a quasi-identifier: every cell against plain Python, and what is refused so that no coordinate shows."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, KanonError, SpecError, UnsupportedError
from tests.conftest import Database
from tests.oracles.points import Points, Row, read
from tests.support.command_line import run
from tests.support.specs import refusals
from tests.support.strategies import TIMES
from tests.support.suppressions import suppressing

POINT: dict[str, Any] = {"columns": ["x", "y"], "bounds": [-2, 0, 2, 4], "depths": [3, 2, 1]}
BASE: dict[str, Any] = {
    "version": 1,
    "source": "rows",
    "release": "released",
    "quasi_identifiers": {"place": {"point": POINT}, "sort": None},
    "privacy": [{"k_anonymity": 2}],
    "search": {"metric": "height"},
}
COLUMNS = {"who": "VARCHAR", "x": "DOUBLE", "y": "DECIMAL(6,3)", "sort": "VARCHAR"}


def spec_of(point: dict[str, Any] | None = None, **changes: Any) -> kanon_sql.Spec:
    given = {**BASE, **changes}
    columns = {**given["quasi_identifiers"]}
    columns["place"] = {**columns["place"], "point": {**POINT, **(point or {})}}
    return kanon_sql.Spec.from_dict({**given, "quasi_identifiers": columns})


def stored(database: Database, rows: list[Row], name: str = "rows") -> None:
    cells = [
        (row.who, None if row.x is None else float(row.x), None if row.y is None else Decimal(float(row.y)), row.sort)
        for row in rows
    ]
    database.table(name, COLUMNS, cells)


def crowd(*places: tuple[Any, Any], each: int = 2, sort: str = "a") -> list[Row]:
    """So many people at every place."""
    return [Row(f"p{number}{who}", x, y, sort) for number, (x, y) in enumerate(places) for who in range(each)]


def released(database: Database) -> Counter[Any]:
    return Counter((read(place), None if sort == "*" else sort) for place, sort in database.rows("released"))


# --- Cells -----------------------------------------------------------------------------------------

# Edges of cells, the corners of the area, and points beside them and outside.
PLACES = st.sampled_from([*(Fraction(n, 8) for n in (-17, -16, -15, -8, -4, -1, 0, 1, 4, 7, 8, 15, 16, 31, 32)), None])


@st.composite
def questions(draw: Any) -> tuple[Points, list[Row]]:
    depths = draw(st.sampled_from([[3, 2, 1], [3, 1], [2], [1], [5, 4, 3]]))
    rows = [
        Row(f"p{who}", x, y, sort)
        for who, x, y, sort in draw(
            st.lists(st.tuples(st.integers(0, 6), PLACES, PLACES, st.sampled_from("aab")), min_size=1, max_size=24)
        )
    ]
    return (
        Points((-2, 0, 2, 4), depths, draw(st.integers(1, 3)), draw(st.sampled_from(LIMITS)), draw(st.booleans())),
        rows,
    )


LIMITS = [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]


@given(questions())
@settings(max_examples=40 * TIMES or 20)
def test_the_release_is_that_of_the_oracle(shared_database: Database, question: tuple[Points, list[Row]]) -> None:
    compare(shared_database, *question)


@pytest.mark.slow
@given(questions())
@settings(max_examples=60 * TIMES or 20)
def test_more_releases_are_those_of_the_oracle(shared_database: Database, question: tuple[Points, list[Row]]) -> None:
    compare(shared_database, *question)


def compare(database: Database, points: Points, rows: list[Row]) -> None:
    """The lowest node that satisfies, and exactly its rows."""
    stored(database, rows)
    database._connection.execute("DROP TABLE IF EXISTS released")
    spec = spec_of(
        {"depths": points.depths, "outside": "suppress"},
        nulls="suppress",
        privacy=[{"k_anonymity": points.k}],
        suppression=suppressing(float(points.limit)),
        unit="who" if points.by_person else None,
    )
    possible = {node: found for node in points.nodes() if (found := points.released(rows, node)) is not None}
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed == bool(possible)
    if possible:
        node = (result.node or {})["place"], (result.node or {})["sort"]
        assert sum(node) == min(map(sum, possible))
        assert released(database) == possible[node]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "DECIMAL(9,4)", "INTEGER"])
def test_labels_are_those_of_cloaked_positions(database: Database, kind: str) -> None:
    """Of every depth, in degrees and in whole numbers."""
    bounds = [-8, -8, 8, 8] if kind == "INTEGER" else [-2, 0, 2.096, 4.096]
    places = (
        [(n, n % 5 - 3) for n in range(-8, 8)] if kind == "INTEGER" else [(n / 16, 2 + n / 16) for n in range(-8, 8)]
    )
    database.table(
        "rows",
        {**COLUMNS, "x": kind, "y": kind},
        crowd(*places, (-8, -8) if kind == "INTEGER" else (0, 0)),
    )
    for depth in (4, 2, 1):
        own = {"bounds": bounds, "depths": [depth]}
        assert kanon_sql.anonymize(database.engine, spec_of(own, quasi_identifiers={"place": {}})).passed
        cloak = {
            "version": 1, "kind": "positions",
            "source": "rows", "release": "cloaked", "unit": "who", "k": 2,
            "position": {"columns": ["x", "y"], "bounds": bounds, "depth": depth, "coarsest": depth},
        }  # fmt: skip
        assert kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict(cloak)).passed
        cells = [f"{x} x {y}" for x, y in database.rows("cloaked")]
        assert Counter(place for (place,) in database.rows("released")) == Counter(cells)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("x", "cell"),
    [(0.9999999999999999, "[0.5, 1.0)"), (1.0, "[1.0, 1.5)"), (-1e-16, "[-0.5, 0.0)"), (0.0, "[0.0, 0.5)")],
)
def test_a_coordinate_just_below_an_edge_stays_below_it(database: Database, x: float, cell: str) -> None:
    stored(database, crowd((x, Fraction(1, 8))))
    assert kanon_sql.anonymize(database.engine, spec_of()).passed
    assert {place for place, _ in database.rows("released")} == {f"{cell} x [0.0, 0.5)"}


def test_what_is_no_number_is_outside(database: Database) -> None:
    stored(database, crowd((Fraction(1), Fraction(1))))
    database._connection.execute(
        "INSERT INTO rows VALUES ('a', 'NaN', 1, 'a'), ('b', 'Infinity', 1, 'a'), ('c', 1e300, 1, 'a')"
    )
    spec = spec_of({"outside": "suppress"}, nulls="suppress", suppression={"max_share": 0.6})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.rows == {"source": 5, "released": 2, "suppressed": 3}
    assert any("nulls: suppress" in note for note in result.notes)


def test_one_point_too_far_is_refused_by_default_and_counted_against_the_limit_else(database: Database) -> None:
    stored(
        database,
        crowd((Fraction(1), Fraction(1)), each=9) + crowd((Fraction(9, 4), Fraction(1)), (None, Fraction(1)), each=1),
    )
    for verb in (kanon_sql.plan, kanon_sql.anonymize):
        with pytest.raises(
            SpecError, match=r"quasi_identifiers.place: 2 rows have no point inside the bounds"
        ) as caught:
            verb(database.engine, spec_of())
        assert "2.25" not in str(caught.value)
    apart = {"outside": "suppress"}
    assert not kanon_sql.anonymize(
        database.engine, spec_of(apart, nulls="suppress", suppression={"max_rows": 1})
    ).passed
    assert kanon_sql.anonymize(database.engine, spec_of(apart, nulls="suppress", suppression={"max_rows": 2})).passed
    assert "released" in database.tables()


def test_steps_are_done_beside_points(database: Database) -> None:
    stored(database, crowd((Fraction(1), Fraction(1)), each=40))
    database._connection.execute("ALTER TABLE rows ADD COLUMN pay INTEGER DEFAULT 97")
    steps = {"sample": {"fraction": 0.5}, "columns": {"pay": {"top": 90}}}
    result = kanon_sql.anonymize(database.engine, spec_of(unit="who", keep=["pay"], steps=steps))
    assert 2 <= result.rows["source"] < 40
    assert set(database.rows("released")) == {("[1.0, 1.5) x [1.0, 1.5)", "a", ">= 90")}


# --- Other verbs -------------------------------------------------------------------------------------


FAR = [(Fraction(n, 2), Fraction(n % 3)) for n in range(-4, 4)]


def test_the_source_and_its_release_are_checked_alike(database: Database) -> None:
    stored(database, crowd(*FAR, each=1))
    spec = spec_of()
    assert not kanon_sql.check(database.engine, spec, "rows").passed
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert kanon_sql.check(database.engine, spec).passed
    database._connection.execute("INSERT INTO released VALUES ('[0.0, 0.5) x [0.0, 0.5)', 'a')")
    assert not kanon_sql.check(database.engine, spec).passed


@pytest.mark.slow
def test_a_table_with_a_coordinate_is_no_release(database: Database) -> None:
    stored(database, crowd(*FAR))
    spec = spec_of()
    assert kanon_sql.anonymize(database.engine, spec).passed
    database._connection.execute('CREATE TABLE shown AS SELECT *, 0.5 AS "Y" FROM released')
    result = kanon_sql.check(database.engine, spec, "shown")
    assert (result.passed, result.message) == (False, "shown: it holds identifiers (y)")
    for tables in ({"table": "shown"}, {"external": "shown"}, {"earlier": ["shown"]}):
        with pytest.raises(UnsupportedError, match="shown: it shows the coordinates Y of a point"):
            kanon_sql.audit(database.engine, spec, **tables)


@pytest.mark.slow
def test_who_knows_the_cells_is_linked_by_them(database: Database) -> None:
    """The source's own rows are matched with exactly the rows of their cells."""
    stored(database, [row for n, place in enumerate(FAR) for row in crowd(place, each=1 + n % 2)])
    assert kanon_sql.anonymize(database.engine, spec_of(privacy=[{"k_anonymity": 1}])).passed
    found = kanon_sql.audit(database.engine, spec_of(), external="rows", attacks=["linking", "consistency"])
    linking = next(item for item in found.attacks if item.name == "linking")
    assert (linking.examined, linking.exposed, linking.risk) == (12, 4, 1.0)


@pytest.mark.slow
def test_the_order_of_a_source_that_is_read_by_a_query_is_not_compared(database: Database) -> None:
    """Such as one whose points or steps are done while it is read."""
    stored(database, crowd(*FAR, each=20))
    database._connection.execute("ALTER TABLE rows ADD COLUMN pay INTEGER DEFAULT 97")
    rounded = {"columns": {"pay": {"round": 10}}}
    for columns, steps in (({}, None), ({"sort": None}, rounded)):
        plain = {**BASE, "keep": ["pay"], "steps": steps, "quasi_identifiers": columns or BASE["quasi_identifiers"]}
        spec = kanon_sql.Spec.from_dict(plain)
        assert kanon_sql.anonymize(database.engine, spec).passed
        assert "read by a query" in kanon_sql.audit(database.engine, spec).left_out["unsorted"]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [3, 4])
def test_a_population_has_points_of_its_own(database: Database, k: int) -> None:
    """Of three in the cell one is released, whom the others stand beside; nobody stands beside who is outside."""
    here, outside = (Fraction(1), Fraction(1)), (Fraction(9), Fraction(1))
    stored(database, crowd(here, each=1))
    stored(database, crowd(here, each=3), "everybody")
    spec = spec_of(privacy=[{"k_map": {"population": "everybody", "k": k}}], quasi_identifiers={"place": {}})
    assert kanon_sql.check(database.engine, spec, "rows").passed == (k == 3)
    assert kanon_sql.plan(database.engine, spec).passed == (k == 3)
    if k == 3:
        assert kanon_sql.anonymize(database.engine, spec).passed
        assert kanon_sql.check(database.engine, spec).passed
    stored(database, crowd(here, each=3) + crowd(outside, (None, None), each=2), "everybody")
    for verb, own in ((kanon_sql.plan, ()), (kanon_sql.check, ("rows",))):
        with pytest.raises(
            SpecError, match=r"everybody: quasi_identifiers.place: 4 rows have no point inside the bounds"
        ):
            verb(database.engine, spec, *own)
    database.table("everybody", ["place"], [("[1.0, 1.5) x [1.0, 1.5)",)])
    with pytest.raises(SpecError, match="everybody: there is no column 'x'"):
        kanon_sql.plan(database.engine, spec)


def test_hierarchies_of_cells_are_described(database: Database) -> None:
    stored(database, crowd(*FAR))
    found = kanon_sql.hierarchy(database.engine, spec_of(), ["place"], reveal=99).hierarchies[0]
    assert [level.by for level in found.levels] == [
        "cells of depth 3",
        "cells of depth 2",
        "cells of depth 1",
        "withheld",
    ]
    assert ("[1.0, 1.5) x [2.0, 2.5)", "[1.0, 2.0) x [2.0, 3.0)", "[0.0, 2.0) x [2.0, 4.0)", "*") in [
        labels for labels, _ in found.examples
    ]
    with pytest.raises(UnsupportedError, match="two columns of the source"):
        kanon_sql.hierarchy(database.engine, spec_of(), ["place"], values={"place": ["a"]})


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "text", ["*", "[0.0, 1.0) x [0.0, 1.0)", "[0.0, 0.5) x [0.0, 0.6)", "[0.25, 0.75) x [0.0, 0.5)", "somewhere"]
)
def test_texts_that_are_no_finest_cells_are_refused_and_not_shown(database: Database, text: str) -> None:
    stored(database, crowd(*FAR))
    assert kanon_sql.anonymize(database.engine, spec_of()).passed
    known = "[0.0, 0.5) x [0.0, 0.5)"
    database.table("known", ["place"], [(known,), (None,)])
    assert kanon_sql.audit(database.engine, spec_of(), external="known", attacks=["linking"]).attacks
    database.table("known", ["place"], [(known,), (text,)])
    with pytest.raises(HierarchyError, match="1 distinct values are not cells of depth 3") as caught:
        kanon_sql.audit(database.engine, spec_of(), external="known", attacks=["linking"])
    assert text == "*" or text not in str(caught.value)


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("recoding", ["local", "cells", "subtree", "forest", "kk"])
def test_labels_that_differ_by_class_are_cells_too(database: Database, recoding: str) -> None:
    stored(database, crowd(*FAR, each=1) + crowd((Fraction(1), Fraction(1)), each=5))
    privacy = [{"kk_anonymity": 2}] if recoding == "kk" else [{"k_anonymity": 2}]
    asked = {"recoding": recoding, "privacy": privacy, "search": None, "suppression": {"max_share": 0.1}}
    spec = spec_of(**asked)
    assert kanon_sql.anonymize(database.engine, spec).passed
    cells = {place for place, _ in released(database)}
    assert all(cell is None or cell[1] - cell[0] in (Fraction(1, 2), 1, 2) for cell in cells)
    assert len(cells) > 1
    assert kanon_sql.check(database.engine, spec).passed


@pytest.mark.slow
def test_persons_are_released_again_by_cells(database: Database) -> None:
    """m-invariance, which reads the source in its own way."""
    rows = [Row(f"p{n}", Fraction(n % 4, 2), Fraction(1), f"s{n % 3}") for n in range(24)]
    stored(database, rows)
    asked = {
        "quasi_identifiers": {"place": {}}, "sensitive": ["sort"], "unit": "who", "search": None,
        "privacy": [{"m_invariance": {"attribute": "sort", "m": 2, "history": "history"}}],
    }  # fmt: skip
    assert kanon_sql.anonymize(database.engine, spec_of(**asked)).passed
    place = database.columns("released").index("place")
    assert all(read(row[place]) is None or " x " in row[place] for row in database.rows("released"))
    stored(database, [*rows, Row("far", Fraction(99), Fraction(1), "s1")])
    with pytest.raises(SpecError, match="1 rows have no point inside the bounds"):
        kanon_sql.anonymize(database.engine, spec_of(**asked))


@pytest.mark.slow
def test_earlier_releases_are_compared_where_their_cells_are_the_same(database: Database) -> None:
    stored(database, crowd(*FAR))
    asked: dict[str, Any] = {"ledger": "ledger", "search": None}
    assert kanon_sql.anonymize(database.engine, spec_of(**asked, release="first")).passed
    assert kanon_sql.anonymize(database.engine, spec_of(**asked, release="second")).passed
    with pytest.raises(SpecError, match="the ledger does not hold the hierarchy of place in first"):
        kanon_sql.anonymize(database.engine, spec_of({"depths": [2, 1]}, **asked, release="third"))


@pytest.mark.slow
def test_a_recoding_is_kept_for_the_same_cells_alone(database: Database) -> None:
    stored(database, crowd(*FAR))
    spec = spec_of(recoding={"method": "local", "save_as": "learned"}, search=None)
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert kanon_sql.apply(database.engine, spec, "learned", release="again").passed
    other = spec_of({"bounds": [-2, 0, 2, 8]}, recoding={"method": "local", "save_as": "learned"}, search=None)
    with pytest.raises(KanonError, match=r"place.*is not the one that learned was learned with"):
        kanon_sql.apply(database.engine, other, "learned", release="again")


def test_a_sample_with_differential_privacy_has_cells(database: Database) -> None:
    stored(database, crowd((Fraction(1), Fraction(1)), each=200) + crowd((Fraction(9), Fraction(1)), each=1))
    privacy = [
        {
            "differential_privacy": {
                "epsilon": 1,
                "delta": 0.01,
                "generalization": {"place": 1},
                "total": {"epsilon": 1, "delta": 0.01},
            }
        }
    ]
    asked = {
        "privacy": privacy,
        "search": None,
        "ledger": "spent",
        "nulls": "suppress",
        "quasi_identifiers": {"place": {}},
    }
    assert kanon_sql.anonymize(database.engine, spec_of({"outside": "suppress"}, **asked)).passed
    assert set(database.rows("released")) == {("[1.0, 2.0) x [1.0, 2.0)",)}
    with pytest.raises(SpecError, match="reveals that there is one; use outside: suppress"):
        spec_of(**asked)


# --- Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["keep", "sensitive", "identifiers"])
@pytest.mark.parametrize("column", ["x", "Y"])
def test_a_coordinate_has_no_other_role(role: str, column: str) -> None:
    for written in ("x", "X"):
        with pytest.raises(SpecError, match=f"is also under {role}; a coordinate must have"):
            spec_of({"columns": [written, "y"]}, **{role: [column]})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"unit": "x"}, "is also the unit; a coordinate must have"),
        ({"quasi_identifiers": {"place": {}, "x": {"intervals": [1]}}}, "is also under quasi_identifiers"),
        (
            {"quasi_identifiers": {"place": {}, "home": {"point": {**POINT, "columns": ["y", "z"]}}}},
            "a coordinate of 'home'",
        ),
        (
            {"recoding": "mondrian", "search": None},
            "mondrian releases ranges of values, but the cells of 'place' have no",
        ),
        ({"recoding": {"method": "local", "ranges": ["place"]}, "search": None}, "ranges need ordered values"),
        (
            {"recoding": {"method": "microaggregation", "columns": {"place": "mean"}}, "search": None},
            "aggregates need numbers",
        ),
        ({"search": {"algorithm": "k_optimize"}}, "k_optimize cuts columns between values"),
    ],
    ids=str,
)
def test_what_cannot_go_with_a_point_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        spec_of(**changes)


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ({"columns": ["x"]}, "expected the names of two columns"),
        ({"columns": ["x", "x"]}, "expected the names of two columns"),
        ({"bounds": [0, 0, 1]}, "got 3 numbers"),
        ({"bounds": [0, 0, 0, 1]}, "with each end above its beginning"),
        ({"bounds": [0, 0, 0.1, 0.1], "depths": [20]}, "halving the sides 20 times"),
        ({"depths": []}, "expected a list of at least 1 depths"),
        ({"depths": [3, 3]}, "expected depths from fine to coarse"),
        ({"depths": [1, 2]}, "expected depths from fine to coarse"),
        ({"depths": [21]}, "from 1 to 20, got 21"),
        ({"depths": [2, 0]}, "expected a depth"),
        ({"outside": "keep"}, "outside"),
        ({"outside": "suppress"}, "outside: suppress needs nulls: suppress"),
        ({"neighbours": True}, "unknown key"),
    ],
    ids=str,
)
def test_a_point_that_is_wrong_is_refused(point: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        spec_of(point)


def test_a_point_is_a_kind_of_hierarchy_with_levels_of_its_own() -> None:
    one = {"point": POINT, "prefix": [2]}
    assert "one kind of hierarchy" in refusals(quasi_identifiers={"place": one})[0]
    assert (
        "is above the top, which is level 3"
        in refusals(quasi_identifiers={"p": {"point": POINT, "minimum_level": 4}})[0]
    )
    assert "expected {columns: [lon, lat]" in refusals(quasi_identifiers={"place": {"point": None}})[0]
    assert "give the quasi-identifier another name" in refusals(quasi_identifiers={"X": {"point": POINT}})[0]


@pytest.mark.parametrize(
    ("columns", "point", "words"),
    [
        ({"x": "INTEGER"}, {}, "quasi_identifiers.place.point: there is no column 'y'"),
        ({"x": "INTEGER", "y": "VARCHAR"}, {}, "'y' is VARCHAR, and a coordinate is a number"),
        ({"x": "INTEGER", "y": "INTEGER", "Place": "INTEGER"}, {}, "the source has a column of this name"),
    ],
    ids=str,
)
def test_a_source_without_the_point_is_refused(
    database: Database, columns: dict[str, str], point: dict[str, Any], words: str
) -> None:
    database.table("rows", {**columns, "sort": "VARCHAR"}, [])
    for verb in (kanon_sql.plan, kanon_sql.anonymize, kanon_sql.estimate, kanon_sql.hierarchy):
        with pytest.raises(SpecError, match=words):
            verb(database.engine, spec_of(point))


def test_the_column_of_cells_hides_none_of_the_source(database: Database) -> None:
    """Where names that differ in case are one, two columns would have one name."""
    database.table("rows", {"x": "INTEGER", "y": "INTEGER", "place": "INTEGER"}, [])
    spec = kanon_sql.Spec.from_dict({**BASE, "quasi_identifiers": {"Place": {"point": POINT}}})
    with pytest.raises(SpecError, match="the source has a column of this name"):
        kanon_sql.plan(database.engine, spec)


def test_where_sql_is_run_elsewhere_points_are_refused(database: Database, tmp_path: Path) -> None:
    from kanon_sql.verbs.dbt import dbt
    from kanon_sql.verbs.sqlmesh import audits

    stored(database, crowd(*FAR))
    spec, words = spec_of(), "cannot compute the cells of a point"
    with pytest.raises(UnsupportedError, match=words):
        kanon_sql.render(spec, "postgres", {"place": 1, "sort": 0})
    with pytest.raises(UnsupportedError, match=words):
        audits(database.engine, spec, "released")
    with pytest.raises(UnsupportedError, match=words):
        dbt(database.engine, spec, tmp_path)
    with duckdb.connect() as other:
        engines = [database.engine, kanon_sql.connect(other)]
        with pytest.raises(UnsupportedError, match="parties cannot compute the cells of a point"):
            kanon_sql.anonymize_parties(engines, spec_of(search={"metric": "precision"}))


def test_a_sensitive_attribute_or_a_dimension_is_no_point(database: Database) -> None:
    closeness = {"attribute": "sort", "t": 0.5, "distance": "hierarchical", "hierarchy": {"point": POINT}}
    with pytest.raises(SpecError, match="a point needs two columns"):
        spec_of(sensitive=["sort"], privacy=[{"t_closeness": closeness}], quasi_identifiers={"place": {}})
    with pytest.raises(SpecError, match="a point is two columns, and a dimension is one"):
        kanon_sql.TableSpec.from_dict(
            {
                "version": 1,
                "kind": "table",
                "source": "rows",
                "dimensions": {"place": {"hierarchy": {"point": POINT}}},
                "rules": {"threshold": 3},
            }
        )
    spec = spec_of(sensitive=["sort"], quasi_identifiers={"place": {}})
    with pytest.raises(SpecError, match=r"hierarchies.sort: a point needs two columns"):
        kanon_sql.audit(database.engine, spec, hierarchies={"sort": {"point": POINT}})


# --- What is written and said ---------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_that_is_written_or_said_holds_a_coordinate(database: Database) -> None:
    stored(database, crowd((Fraction(1234567, 1000000), Fraction(2345, 1000)), each=3))
    result = kanon_sql.anonymize(database.engine, spec_of(), details=True)
    assert database.columns("released") == ["place", "sort"]
    said = json.dumps(result.to_dict()) + json.dumps(result.manifest)
    for verb in (kanon_sql.plan, kanon_sql.check, kanon_sql.audit, kanon_sql.risk):
        said += json.dumps(verb(database.engine, spec_of()).to_dict())
    assert "1.23" not in said
    assert "2.345" not in said
    assert (result.manifest or {})["spec"]["quasi_identifiers"]["place"]["point"]["columns"] == ["x", "y"]


@pytest.mark.slow
def test_a_spec_reads_back() -> None:
    spec = spec_of({"bounds": [-2, 0, 2.5, 4.5]})
    written = spec.to_dict()
    assert written["quasi_identifiers"]["place"]["point"] == {
        "columns": ["x", "y"], "bounds": [-2, 0, 2.5, 4.5], "depths": [3, 2, 1], "outside": "refuse",
    }  # fmt: skip
    assert kanon_sql.Spec.from_dict(written) == spec
    assert spec_of({"depths": [3, 2]}).hash != spec.hash
    schema = kanon_sql.Spec.json_schema()
    jsonschema.validate(written, schema)
    for wrong in (None, {"columns": ["x", "y"]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**BASE, "quasi_identifiers": {"place": {"point": wrong}}}, schema)


def test_the_program_publishes_cells(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "city.duckdb") as connection:
        stored(Database(connection), crowd(*FAR))
    (tmp_path / "city.yml").write_text(json.dumps(BASE))
    done = run("anonymize", tmp_path / "city.yml", "-d", tmp_path / "city.duckdb")
    assert done.exit_code == 0, done.output
    assert "place" in done.output
