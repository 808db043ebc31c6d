"""Tables of a random sample: drawn as release steps draw, judged as if the sample were everybody, and expanded."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Deadline, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import source_of
from kanon_sql.report.json import tabulation_schema
from kanon_sql.report.layout import print_text
from kanon_sql.report.tables import tabulation_text
from kanon_sql.tables import tabulated
from tests.conftest import Database
from tests.oracles import masking as oracle
from tests.oracles.tables import cells_of

COLUMNS = {"line": "INTEGER", "region": "VARCHAR", "size": "INTEGER", "firm": "INTEGER", "turnover": "BIGINT"}
DRAWN = {"fraction": 0.5, "key_variable": "KANON_TESTED"}

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_TESTED", oracle.SECRET)


def spec_of(sample: dict[str, Any] | None = None, **changes: Any) -> kanon_sql.TableSpec:
    drawn = {**DRAWN, **({} if changes.get("unit") else {"by": "line"}), **(sample or {})}
    return kanon_sql.TableSpec.from_dict(
        {
            "version": 1, "kind": "table",
            "source": "firms", "release": "firms_table", "dimensions": {"region": None, "size": None},
            "rules": {"threshold": 4}, "steps": {"sample": drawn}, **changes,
        }
    )  # fmt: skip


def firms(database: Database, count: int = 160, seed: int = 3, most: int = 3) -> list[Row]:
    """Firms with one or several rows each, NULL among the categories."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for firm in range(count):
        for _ in range(draw.randint(1, most)):
            region, size = draw.choice(["a", "b", "c", None]), draw.choice([1, 1, 1, 2, 2, 3])
            values = (len(rows), region, size, firm, draw.randint(0, 90))
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    database.table("firms", COLUMNS, [list(row.values()) for row in rows])
    return rows


def cells_expected(rows: list[Row], rules: dict[str, Any], *, unit: bool, sums: bool, count: str = "rows") -> Any:
    paths = [((row["region"],), (None if row["size"] is None else str(row["size"]),)) for row in rows]
    listed = [
        (path, row["firm"] if unit else None, row["turnover"] if sums else None)
        for path, row in zip(paths, rows, strict=True)
    ]
    return cells_of(listed, rules, totals=[True, True], sums=sums, count=count, percent=Fraction(20))


CASES: list[dict[str, Any]] = [
    {},
    {"unit": "firm", "count": "rows"},
    {"unit": "firm", "count": "persons"},
    {"measure": "turnover", "rules": {"threshold": 4, "p_percent": 15}},
    {"unit": "firm", "measure": "turnover", "rules": {"dominance": {"n": 2, "k": 60}}},
]


@pytest.mark.parametrize("fraction", [0.5, 0.2])
@pytest.mark.parametrize("changes", CASES, ids=str)
@pytest.mark.sampled(2)
def test_cells_and_what_is_sensitive_are_the_sample_s(
    database: Database, changes: dict[str, Any], fraction: float
) -> None:
    """Against plain Python over the rows that the secret draws: nothing of the others is in any cell or rule."""
    rows = firms(database, 40, most=1 if changes.get("count") == "persons" else 3)
    spec = spec_of({"fraction": fraction}, **changes)
    drawn = oracle.sampled(rows, "firm" if "unit" in changes else "line", fraction)
    assert 0 < len(drawn) < len(rows)
    engine = database.engine
    with engine.run(Deadline(None)), open_workspace(engine, source_of(engine, spec)) as workspace:
        ours = tabulated(workspace, spec)
    theirs = cells_expected(
        drawn, spec.rules.to_dict() | {"threshold": spec.rules.threshold or 0}, unit="unit" in changes,
        sums="measure" in changes, count=spec.counts,
    )  # fmt: skip
    assert ours.rows == len(drawn)
    assert [(c.key, c.value, c.sensitive, c.need) for c in ours.table.cells] == [
        (c.key, c.value, c.sensitive, c.need) for c in theirs.cells
    ]
    assert any(cell.sensitive for cell in theirs.cells)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "protection",
    [
        "suppression",
        "collapsing",
        {"method": "controlled_rounding", "base": 3},
        {"method": "conventional_rounding", "base": 5},
    ],
    ids=str,
)
def test_what_is_published_is_expanded(database: Database, protection: Any) -> None:
    """The result and the written table: one drawn row in five stands for five."""
    rows = firms(database)
    changes = {"rules": {"threshold": 6}, "protection": protection}
    result = kanon_sql.tabulate(database.engine, spec_of({"fraction": 0.2}, **changes))
    assert result.passed
    jsonschema.validate(result.to_dict(), tabulation_schema())
    drawn = oracle.sampled(rows, "line", 0.2)
    assert result.sample == {
        "fraction": 0.2, "by": "line", "repeatable": True, "rows": len(rows), "drawn": len(drawn), "expansion": 5,
    }  # fmt: skip
    assert "estimates from a random sample of one in 5" in result.message
    true: Counter[tuple[str | None, ...]] = Counter()
    for row in drawn:
        for region in (row["region"], "*"):
            for size in (str(row["size"]), "*"):
                true[region, size] += 5
    for cell in result.table:
        own = true[tuple(cell.labels)]
        if cell.interval is not None:
            assert cell.value is None
            low, high = cell.interval
            assert low <= own <= (own if high is None else high)
            assert low % 5 == 0
            assert high is None or high % 5 == 0
        elif isinstance(protection, dict):
            assert cell.value is not None
            assert cell.value % (5 * protection["base"]) == 0
            assert abs(cell.value - own) < 5 * protection["base"]
        else:
            assert cell.value == own
    written = Counter(tuple(row) for row in database.rows("firms_table"))
    assert written == Counter((*cell.labels, cell.value, int(cell.suppressed)) for cell in result.table)
    print_text(tabulation_text(result))


@pytest.mark.slow
def test_a_suppressed_cell_is_open_in_the_sample_s_units(database: Database) -> None:
    """A width of 3 respondents is 15 of the estimate; it would be one respondent's noise otherwise."""
    firms(database, 100)
    changes = {"rules": {"threshold": 4}, "protection": {"method": "suppression", "width": 3}}
    result = kanon_sql.tabulate(database.engine, spec_of({"fraction": 0.2}, **changes))
    intervals = [cell.interval for cell in result.table if cell.interval is not None]
    assert intervals
    assert max(15 if high is None else high - low for low, high in intervals) >= 15


def test_a_cell_of_few_respondents_is_sensitive_however_many_rows_the_table_has(database: Database) -> None:
    """The threshold is the sample's, although its estimate is far above: nobody relies on the sample being unknown."""
    database.table("firms", COLUMNS, [[n, "a" if n % 2 else "b", 1, n, 1] for n in range(400)])
    spec = spec_of({"fraction": 0.02}, dimensions={"region": None}, rules={"threshold": 8})
    rows = [{"line": n, "region": "a" if n % 2 else "b"} for n in range(400)]
    drawn = Counter(row["region"] for row in oracle.sampled(rows, "line", 0.02))
    assert 0 < min(drawn.values()) < 8
    assert min(drawn.values()) * 50 > 8
    result = kanon_sql.tabulate(database.engine, spec)
    assert result.cells["sensitive"] > 0 or not result.passed


def test_the_manifest_has_the_sample_and_no_number_of_rows(database: Database) -> None:
    """How many there are and were drawn is the grand total, which a table may suppress."""
    rows = firms(database)
    result = kanon_sql.tabulate(database.engine, spec_of({"fraction": 0.25}, rules={"threshold": 4}))
    assert result.passed
    ((manifest,),) = database._connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    found = json.loads(manifest)
    assert found["table"]["sample"] == {"fraction": 0.25, "by": "line", "expansion": 4}
    assert found["spec"]["steps"]["sample"]["key_variable"] == "KANON_TESTED"
    assert oracle.SECRET not in manifest
    assert str(len(rows)) not in json.dumps(found["table"])


def test_the_secret_is_in_no_statement(database: Database) -> None:
    firms(database)
    result = kanon_sql.tabulate(database.engine, spec_of())
    assert result.sql
    assert not any(oracle.SECRET in statement for statement in result.sql)


@pytest.mark.slow
def test_without_a_secret_a_sample_is_drawn_for_the_run(database: Database) -> None:
    firms(database)
    samples = [
        kanon_sql.tabulate(database.engine, spec_of({"key_variable": None, "by": "line"}), preview=True).sample
        for _ in range(3)
    ]
    assert all(sample is not None and not sample["repeatable"] for sample in samples)
    assert len({sample["drawn"] for sample in samples if sample is not None}) > 1
    twice = [kanon_sql.tabulate(database.engine, spec_of()).to_dict()["table"] for _ in range(2)]
    assert twice[0] == twice[1], "a secret draws the same rows again"


def test_a_sample_of_nobody_is_no_table(database: Database) -> None:
    database.table("firms", COLUMNS, [[1, "a", 1, 1, 1]])
    spec = spec_of({"fraction": 0.0001})
    assert not oracle.sampled([{"line": 1}], "line", 0.0001)
    result = kanon_sql.tabulate(database.engine, spec)
    assert result.verdict == "fail"
    assert "the sample is empty" in result.message
    assert "firms_table" not in database.tables()


def test_a_table_of_all_rows_says_nothing_of_a_sample(database: Database) -> None:
    firms(database)
    result = kanon_sql.tabulate(database.engine, spec_of(steps=None))
    assert result.sample is None
    assert not any("sample" in note for note in result.notes)
    ((manifest,),) = database._connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    assert "sample" not in json.loads(manifest)["table"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"steps": {"sample": {"fraction": 0.5}}}, "missing 'by'"),
        ({"unit": "firm", "steps": {"sample": {"fraction": 0.5, "by": "line"}}}, "leave 'by' out"),
        ({"steps": {"sample": {"fraction": 0.3, "by": "line"}}}, "expected 1 over a whole number up to 10,000"),
        ({"steps": {"sample": {"fraction": 0.00005, "by": "line"}}}, "expected 1 over a whole number up to 10,000"),
        ({"steps": {"columns": {"turnover": {"round": 5}}}}, "no coded or rounded columns"),
        ({"weight": "turnover", "protection": "collapsing"}, "a sample that was drawn already"),
        ({"steps": {}}, "expected a sample"),
    ],
)
def test_what_a_sample_cannot_be_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError) as raised:
        spec_of(**changes)
    assert why in str(raised.value)


def test_a_sample_by_a_column_that_is_not_there_is_refused(database: Database) -> None:
    firms(database)
    with pytest.raises(SpecError, match="the source has no such column"):
        kanon_sql.tabulate(database.engine, spec_of({"by": "lines"}))


def test_a_spec_with_a_sample_reads_back() -> None:
    spec = spec_of({"fraction": 0.05})
    again = kanon_sql.TableSpec.from_dict(spec.to_dict())
    assert (again, again.expansion) == (spec, 20)
    assert spec.hash != spec_of().hash
