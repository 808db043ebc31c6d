"""Tables of counts and sums from rows: cells and rules against plain Python, and what is published."""

from __future__ import annotations

import json
import random
import stat
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Deadline, open_workspace
from kanon_sql.errors import KanonError, SpecError, VerificationError
from kanon_sql.frequency import source_of
from kanon_sql.report.json import tabulation_schema
from kanon_sql.tables import publish as publishing
from kanon_sql.tables import tabulated
from kanon_sql.tables.structure import CellTable
from tests.conftest import Database
from tests.oracles.tables import cells_of, known, possible
from tests.support.command_line import run

COLUMNS = {"region": "VARCHAR", "size": "INTEGER", "firm": "INTEGER", "turnover": "BIGINT"}
TREE = {"tree": {"north": ["a", "b"], "south": ["c"]}}
PARENT = {"a": "north", "b": "north", "c": "south", None: None}
BASE: dict[str, Any] = {
    "version": 1,
    "kind": "table",
    "source": "firms",
    "dimensions": {"region": None, "size": None},
    "rules": {"threshold": 3},
}

Row = tuple[str | None, int | None, int, int | None]


def random_rows(draw: random.Random, *, once: bool = False) -> list[Row]:
    """Firms with one or several rows, NULL among the categories and the amounts."""
    rows: list[Row] = []
    for firm in range(draw.randint(4, 14)):
        for _ in range(1 if once else draw.randint(1, 3)):
            amount = draw.choice([None, 0, 1, 5, 5, draw.randint(1, 400)])
            rows.append((draw.choice(["a", "b", "c", None]), draw.choice([1, 2, None]), firm, amount))
    return rows


def cells(database: Database, spec: kanon_sql.TableSpec) -> CellTable:
    engine = database.engine
    with engine.run(Deadline(None)), open_workspace(engine, source_of(engine, spec)) as workspace:
        return tabulated(workspace, spec).table


def labels(row: Row, *, tree: bool) -> list[tuple[str | None, ...]]:
    size = None if row[1] is None else str(row[1])
    return [(PARENT[row[0]], row[0]) if tree else (row[0],), (size,)]


RULES = [
    {"threshold": 3},
    {"dominance": {"n": 1, "k": 60}},
    {"dominance": {"n": 3, "k": 87.5}},
    {"p_percent": 10},
    {"pq": {"p": 12.5, "q": 40}},
    {"threshold": 2, "dominance": {"n": 2, "k": 80}, "p_percent": 15.25, "pq": {"p": 20, "q": 60}},
]


def same_contributors(ours: CellTable, theirs: CellTable) -> bool:
    """Whether the same cells have the same only contributor, whatever their numbers are."""
    pairs = {(one.contributor, other.contributor) for one, other in zip(ours.cells, theirs.cells, strict=True)}
    return len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs) and (
        (0, 0) in pairs or not any(0 in pair for pair in pairs)
    )


@pytest.mark.parametrize("unit", [None, "firm"])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "+".join(rules))
@pytest.mark.sampled(12)
def test_sums_and_what_makes_them_sensitive(shared_database: Database, rules: dict[str, Any], unit: str | None) -> None:
    draw = random.Random(str((rules, unit)))
    for tree in (False, True):
        rows = random_rows(draw)
        shared_database.table("firms", COLUMNS, rows)
        dimensions: dict[str, Any] = {"region": {"total": draw.random() < 0.5}, "size": None}
        if tree:
            dimensions["region"] |= {"hierarchy": TREE, "levels": [0, 1]}
        given = {**BASE, "unit": unit, "measure": "turnover", "dimensions": dimensions, "rules": rules}
        ours = cells(shared_database, kanon_sql.TableSpec.from_dict(given))
        theirs = cells_of(
            [(labels(row, tree=tree), row[2] if unit else None, row[3]) for row in rows],
            rules,
            totals=[dimensions["region"]["total"], True],
            sums=True,
            percent=Fraction(20),
        )
        assert [(cell.key, cell.value, cell.sensitive, cell.need) for cell in ours.cells] == [
            (cell.key, cell.value, cell.sensitive, cell.need) for cell in theirs.cells
        ]
        assert same_contributors(ours, theirs)


HOLDINGS: list[dict[str, Any]] = [
    {"dominance": {"n": 1, "k": 60, "by": "holding"}},
    {"threshold": 3, "dominance": {"n": 2, "k": 80, "by": "holding"}, "p_percent": {"p": 15.25, "by": "holding"}},
    {"pq": {"p": 12.5, "q": 40, "by": "holding"}},
]


@pytest.mark.parametrize("rules", HOLDINGS, ids=lambda rules: "+".join(rules))
@pytest.mark.sampled(3)
def test_the_firms_of_a_holding_are_one_contributor(shared_database: Database, rules: dict[str, Any]) -> None:
    """Their sums are judged and known as one; the threshold counts firms; a firm in no holding stands alone."""
    draw = random.Random(str(rules))
    stricter = 0
    for _ in range(3):
        rows = random_rows(draw)
        holdings = {firm: draw.choice([None, "A", "A", "B", "C"]) for firm in range(14)}
        named = {**COLUMNS, "holding": "VARCHAR"}
        shared_database.table("firms", named, [(*row, holdings[row[2]]) for row in rows])
        ours = cells(
            shared_database,
            kanon_sql.TableSpec.from_dict({**BASE, "unit": "firm", "measure": "turnover", "rules": rules}),
        )
        listed = [(labels(row, tree=False), row[2], row[3]) for row in rows]
        theirs, apart = (
            cells_of(listed, rules, totals=[True, True], sums=True, holdings=known) for known in (holdings, None)
        )
        assert [(cell.key, cell.value, cell.sensitive, cell.need) for cell in ours.cells] == [
            (cell.key, cell.value, cell.sensitive, cell.need) for cell in theirs.cells
        ]
        assert same_contributors(ours, theirs)
        assert all(one.sensitive or not other.sensitive for one, other in zip(theirs.cells, apart.cells, strict=True))
        stricter += sum(cell.sensitive for cell in theirs.cells) - sum(cell.sensitive for cell in apart.cells)
    assert stricter > 0


@pytest.mark.parametrize("group", ["B", None])
def test_a_firm_of_two_holdings_is_refused(database: Database, group: str | None) -> None:
    database.table(
        "firms", {**COLUMNS, "holding": "VARCHAR"}, [("a", 1, 1, 5, "A"), ("a", 2, 1, 5, group), ("b", 1, 2, 5, "A")]
    )
    rules = {"p_percent": {"p": 10, "by": "holding"}}
    given = {**BASE, "unit": "firm", "measure": "turnover", "rules": rules}
    with pytest.raises(SpecError, match=r"rules\.p_percent\.by: 1 contributor has several values of 'holding'"):
        kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": None}, "name these by the column 'unit'"),
        ({"rules": {"dominance": {"n": 1, "k": 60, "by": "region"}}}, "the column has another role already"),
        ({"rules": {"dominance": {"n": 1, "k": 60, "by": "holding"}, "p_percent": 10}}, "write the same 'by' in each"),
        ({"rules": {"p_percent": {"by": "holding"}}}, "missing 'p'"),
    ],
)
def test_what_a_rule_by_holding_needs(changes: dict[str, Any], message: str) -> None:
    rules = {"dominance": {"n": 1, "k": 60, "by": "holding"}}
    with pytest.raises(SpecError, match=message):
        kanon_sql.TableSpec.from_dict({**BASE, "unit": "firm", "measure": "turnover", "rules": rules, **changes})


def test_rules_read_back() -> None:
    for rules in RULES + HOLDINGS:
        spec = kanon_sql.TableSpec.from_dict({**BASE, "unit": "firm", "measure": "turnover", "rules": rules})
        assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
        jsonschema.Draft202012Validator(kanon_sql.TableSpec.json_schema()).validate(spec.to_dict())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [None, "rows", "persons"])
def test_counts(shared_database: Database, count: str | None) -> None:
    draw = random.Random(str(count))
    for _ in range(3):
        rows = random_rows(draw, once=count == "persons")
        shared_database.table("firms", COLUMNS, rows)
        spec = kanon_sql.TableSpec.from_dict({**BASE, "unit": count and "firm", "count": count})
        ours = cells(shared_database, spec)
        listed = [(labels(row, tree=False), row[2] if count else None, None) for row in rows]
        theirs = cells_of(listed, {"threshold": 3}, totals=[True, True], sums=False, count=count or "rows")
        assert ours == theirs


@pytest.mark.slow
def test_p_percent_is_pq_with_nothing_known_and_weaker_than_a_dominance_rule(shared_database: Database) -> None:
    """Known relations (WP 22, chapter IV): p% is pq with q = 100, and implies (2, 100 / (1 + p/100)) dominance."""
    draw = random.Random(5)
    found = 0
    for _ in range(6):
        shared_database.table("firms", COLUMNS, random_rows(draw))
        given = {**BASE, "unit": "firm", "measure": "turnover"}
        by = [
            cells(shared_database, kanon_sql.TableSpec.from_dict({**given, "rules": rules}))
            for rules in ({"p_percent": 25}, {"pq": {"p": 25, "q": 100}}, {"dominance": {"n": 2, "k": 80}})
        ]
        assert by[0] == by[1]
        for narrow, wide in zip(by[0].cells, by[2].cells, strict=True):
            assert wide.sensitive or not narrow.sensitive
            found += narrow.sensitive
    assert found


# --- What is published ---------------------------------------------------------------------


def published(database: Database, **changes: Any) -> kanon_sql.results.Tabulation:
    spec = kanon_sql.TableSpec.from_dict({**BASE, "release": "firms_table", **changes})
    return kanon_sql.tabulate(database.engine, spec)


@pytest.fixture
def firms(database: Database) -> Database:
    rows = [(region, size, 100 * number + firm, 10 + firm)
            for number, (region, size, firms) in enumerate(
                [("a", 1, 2), ("a", 2, 9), ("b", 1, 8), ("b", 2, 7), ("c", 1, 6), ("c", 2, 5)])
            for firm in range(firms)]  # fmt: skip
    database.table("firms", COLUMNS, rows)
    return database


def test_a_published_table_has_no_suppressed_value_anywhere(firms: Database) -> None:
    result = published(firms)
    assert result.passed
    assert result.release == "firms_table"
    assert firms.columns("firms_table") == ["region", "size", "value", "suppressed"]
    rows = firms.rows("firms_table")
    assert all((row[2] is None) == (row[3] == 1) for row in rows)
    assert ("a", "1", None, 1) in rows
    assert ("*", "*", 37, 0) in rows
    assert Counter(row[:3] for row in rows) == Counter((*cell.labels, cell.value) for cell in result.table)
    assert "kanon_sql_manifest" in firms.tables()
    ((manifest,),) = firms.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    assert json.loads(manifest)["table"]["cells"] == {"total": 12, "suppressed": result.cells["suppressed"]}
    assert not [name for name in firms.tables() if name.startswith("kanon_") and "sql" not in name]
    assert result.cost.source_scans == 1


def test_every_table_that_agrees_with_what_is_published_leaves_the_sensitive_cell_open(firms: Database) -> None:
    result = published(firms)
    table = cells(firms, kanon_sql.TableSpec.from_dict(BASE))
    left_out = {index for index, cell in enumerate(result.table) if cell.suppressed}
    values = {found[1] for found in _values(table, left_out, "a")}
    assert len(values) >= 3
    assert max(values) >= 3
    (cell,) = (cell for cell in result.table if cell.labels == ("a", "1"))
    assert cell.interval == (min(values), max(values))


def _values(table: CellTable, left_out: set[int], region: str) -> set[tuple[str, int]]:
    place = table.position[((region,), ("1",))]
    return {(region, found[place]) for found in possible(table, *known(table, left_out), most=40)}


@pytest.mark.slow
def test_a_table_replaces_its_own_and_nothing_else(firms: Database) -> None:
    assert published(firms).passed
    assert published(firms, protection={"method": "controlled_rounding", "base": 3}).passed
    assert all(row[2] % 3 == 0 for row in firms.rows("firms_table"))
    firms.connection.execute("DROP TABLE firms_table")
    firms.connection.execute("CREATE TABLE firms_table AS SELECT 1 AS x")
    with pytest.raises(SpecError, match="not the one that kanon_sql published"):
        published(firms)
    with pytest.raises(SpecError, match="the release has the source's name"):
        published(firms, release="firms")


def test_several_levels_have_a_column_of_their_own(firms: Database) -> None:
    result = published(firms, dimensions={"region": {"hierarchy": TREE, "levels": [0, 1]}, "size": {"total": False}})
    assert firms.columns("firms_table") == ["region", "region_level", "size", "value", "suppressed"]
    found = {row[:4] for row in firms.rows("firms_table")}
    assert ("north", 1, "2", 16) in found
    assert ("*", None, "2", 21) in found
    assert {cell.levels for cell in result.table} == {(None, 0), (1, 0), (0, 0)}


def test_what_was_written_is_compared_with_the_proof(firms: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is written although it is suppressed, and a proof that does not hold, stop the run."""
    original = publishing._write

    def leaking(workspace: Any, spec: Any, rows: Any, target: Any) -> None:
        original(workspace, spec, [(*row[:2], 2, 0) if row[2] is None else row for row in rows], target)

    monkeypatch.setattr(publishing, "_write", leaking)
    with pytest.raises(VerificationError, match="not the one that was protected"):
        published(firms)
    monkeypatch.setattr(publishing, "_write", original)
    monkeypatch.setattr("kanon_sql.tables.protect.suppression", _primary_only)
    with pytest.raises(VerificationError, match="1 sensitive cells are not protected"):
        published(firms)
    assert "firms_table" not in firms.tables()


def _primary_only(table: CellTable, width: int) -> Any:
    """Primary suppression alone, and a claim that it is enough."""
    from kanon_sql.tables.proof import Proof
    from kanon_sql.tables.suppress import Pattern

    sensitive = frozenset(index for index, cell in enumerate(table.cells) if cell.sensitive)
    return Pattern(table, sensitive, {(index, ()): Proof({}, {index: Fraction(9)}) for index in sensitive}, frozenset())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measure": "star"}, "only numbers add up"),
        ({"measure": "nothing"}, "no column 'nothing', which the spec names"),
        ({"dimensions": {"regio": None}}, "did you mean 'region'"),
        ({"unit": "size"}, "1 row has NULL as 'size'"),
        ({"measure": "loss"}, "negative"),
        ({"unit": "region", "dimensions": {"size": None}}, "persons count in several cells"),
        ({"dimensions": {"star": None}}, "called '\\*'"),
        ({"dimensions": {"region": {"hierarchy": {"tree": {"x": ["a"]}}}}}, "no generalization in the hierarchy"),
    ],
)
def test_what_cannot_be_tabulated_is_refused(database: Database, changes: dict[str, Any], message: str) -> None:
    database.table(
        "firms",
        {**COLUMNS, "loss": "BIGINT", "star": "VARCHAR"},
        [("a", 1, 1, 5, -1, "*"), ("a", 2, 2, 6, 0, "b"), ("b", None, 3, 7, 1, "c")],
    )
    given = {**BASE, "dimensions": {"region": None}, **changes}
    with pytest.raises(KanonError, match=message):
        kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))


def test_a_category_is_never_taken_for_a_total(database: Database) -> None:
    """Known answer: `*` and Total are categories like others; totals have a label of their own, or nothing is made."""
    rows = [("*", 1, n, 1) for n in range(5)] + [("Total", 1, 5 + n, 1) for n in range(6)] + [("a", 1, 11, 1)] * 4
    database.table("firms", COLUMNS, rows)
    for label, message in [("*", "called '\\*', as totals are"), ("TOTAL", "called 'TOTAL', as totals are")]:
        with pytest.raises(SpecError, match=message):
            published(database, total_label=label, dimensions={"region": None})
    result = published(database, total_label="All", dimensions={"region": None})
    assert sorted(database.rows("firms_table")) == [("*", 5, 0), ("All", 15, 0), ("Total", 6, 0), ("a", 4, 0)]
    assert {cell.labels: cell.value for cell in result.table}["All",] == 15
    assert any("dimensions.region: a category is named like a total" in note for note in result.notes)
    with pytest.raises(SpecError, match="without blanks at its ends"):
        kanon_sql.TableSpec.from_dict({**BASE, "total_label": " All"})


def test_too_many_cells_are_refused_before_they_are_fetched(database: Database) -> None:
    database.connection.execute("CREATE TABLE firms AS SELECT i AS region, i % 2 AS size FROM range(6000) AS t(i)")
    with pytest.raises(SpecError, match=r"has 12,003 cells, and at most 5,000"):
        kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(BASE))


def test_of_an_empty_source_nothing_is_published(database: Database) -> None:
    database.table("firms", COLUMNS, [])
    result = published(database)
    assert not result.passed
    assert result.message == "nothing was published: the source has no rows, so there are no cells"
    assert "firms_table" not in database.tables()


def test_a_table_that_is_rounded_away_is_not_published(database: Database) -> None:
    database.table("firms", COLUMNS, [("a", 1, 1, 1)])
    result = published(database, protection={"method": "conventional_rounding", "base": 50})
    assert not result.passed
    assert "every cell is rounded to 0" in result.message


def test_nothing_is_published_when_a_rounded_table_gives_a_cell_away(database: Database) -> None:
    """Base 2 moves an odd count by one; the margin tells which way."""
    database.table("firms", COLUMNS, [("a", 1, 1, 1), *[("b", 1, firm, 1) for firm in range(2, 7)]])
    spec = {"dimensions": {"region": None}, "protection": {"method": "conventional_rounding", "base": 2}}
    result = published(database, **spec)
    if not result.passed:
        assert "firms_table" not in database.tables()
        assert result.table == ()


# --- The command line ----------------------------------------------------------------------


@pytest.fixture
def folder_of_firms(tmp_path: Path, firms: Database) -> Path:
    with duckdb.connect(str(tmp_path / "firms.duckdb")) as connection:
        connection.execute("CREATE TABLE firms (region VARCHAR, size INTEGER, firm INTEGER, turnover BIGINT)")
        connection.executemany("INSERT INTO firms VALUES (?, ?, ?, ?)", firms.rows("firms"))
    (tmp_path / "table.yml").write_text(
        "version: 1\nkind: table\nsource: firms\nrelease: firms_table\n"
        "dimensions:\n  region:\n  size:\nrules: {threshold: 3}\n"
    )  # fmt: skip
    return tmp_path


@pytest.mark.slow
def test_the_verb_prints_what_everybody_may_see(folder_of_firms: Path) -> None:
    shown = run("publish", "table", folder_of_firms / "table.yml", "-d", folder_of_firms / "firms.duckdb")
    assert shown.exit_code == 0, shown.output
    assert "published as  firms_table" in shown.stdout
    assert "x [1, " in shown.stdout
    printed = run("publish", "table", folder_of_firms / "table.yml", "-d", folder_of_firms / "firms.duckdb",
                  "--preview", "--format", "json", "-q")  # fmt: skip
    found = json.loads(printed.stdout)
    jsonschema.Draft202012Validator(tabulation_schema()).validate(found)
    assert found["release"] is None
    assert next(cell for cell in found["table"] if cell["labels"] == ["a", "1"])["value"] is None


def test_the_verb_refuses_in_words(folder_of_firms: Path) -> None:
    (folder_of_firms / "bad.yml").write_text(
        "version: 1\nkind: table\nsource: firms\ndimensions: {region: }\nrules: {treshold: 3}\n"
    )
    found = run("publish", "table", folder_of_firms / "bad.yml", "-d", folder_of_firms / "firms.duckdb")
    assert found.exit_code == 2
    assert "bad.yml:5:9: rules.treshold: unknown key; did you mean 'threshold'?" in found.stderr
    memory = run("publish", "table", folder_of_firms / "table.yml")
    assert memory.exit_code == 2
    assert "a release in :memory: is lost when this process" in memory.stderr


@pytest.mark.slow
def test_no_value_of_a_suppressed_cell_is_logged(folder_of_firms: Path) -> None:
    """The statements that -v shows hold no values, and the database file keeps no scratch table."""
    found = run("publish", "table", folder_of_firms / "table.yml", "-d", folder_of_firms / "firms.duckdb", "-v")
    assert "/* 12 rows */" in found.stderr
    assert "'a'" not in found.stderr
    assert stat.S_ISREG((folder_of_firms / "firms.duckdb").stat().st_mode)


def test_a_file_of_cells_is_an_output_and_no_release(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="for a file leave 'release' out, and run the command with -o cells"):
        kanon_sql.TableSpec.from_dict({**BASE, "release": {"file": "cells.csv"}})
    with pytest.raises(SpecError, match="expected a table name, got a mapping"):
        kanon_sql.TableSpec.from_dict({**BASE, "release": {"view": "cells"}})
    (tmp_path / "firms.csv").write_text("region,size\n" + "a,1\nb,2\n" * 4, encoding="utf-8")
    written = {**BASE, "source": {"file": str(tmp_path / "firms.csv")}, "release": "cells"}
    (tmp_path / "table.yml").write_text(json.dumps(written), encoding="utf-8")
    (tmp_path / "shown.yml").write_text(json.dumps({**written, "release": None}), encoding="utf-8")
    cells = str(tmp_path / "cells.csv")
    lost = run("publish", "table", str(tmp_path / "table.yml"), "-o", cells)
    assert lost.exit_code == 2
    assert "or leave 'release' out of the spec, and write the cells with -o cells.csv" in " ".join(lost.output.split())
    assert run("publish", "table", str(tmp_path / "shown.yml"), "-o", cells).exit_code == 0
    assert "a,1,4,0" in Path(cells).read_text(encoding="utf-8")
