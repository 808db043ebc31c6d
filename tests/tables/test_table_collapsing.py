"""Categories that are collapsed until no cell is sensitive, and cells that leave too little of their margins."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Deadline, open_workspace
from kanon_sql.errors import InternalError
from kanon_sql.frequency import source_of
from kanon_sql.release import is_perturbed
from kanon_sql.report.json import tabulation_schema
from kanon_sql.spec import Rules
from kanon_sql.tables import protected, tabulated
from kanon_sql.tables.structure import CellTable, Key
from tests.conftest import Database
from tests.oracles.tables import cells_of, margins_of

COLUMNS = {"region": "VARCHAR", "size": "INTEGER", "firm": "INTEGER", "turnover": "BIGINT"}
TREE = {"tree": {"north": ["a", "b"], "south": ["c", "d"]}}
PARENT = {"a": "north", "b": "north", "c": "south", "d": "south", None: None}
HEIGHTS = (2, 1)

Row = tuple[str | None, int | None, int, int | None]


def random_rows(draw: random.Random) -> list[Row]:
    rows: list[Row] = []
    for firm in range(draw.randint(4, 40)):
        for _ in range(draw.choice([1, 1, 2])):
            region = draw.choice(["a", "a", "b", "b", "c", "d", None])
            rows.append((region, draw.choice([1, 1, 2, None]), firm, draw.choice([None, 1, 5, draw.randint(1, 40)])))
    return rows


def paths_of(row: Row, levels: Sequence[Sequence[int]]) -> list[tuple[str | None, ...]]:
    """The labels of a row at the levels of a table, the coarsest first."""
    labels = [(row[0], PARENT[row[0]]), (None if row[1] is None else str(row[1]),)]
    return [tuple(own[level] for level in reversed(has)) for own, has in zip(labels, levels, strict=True)]


def crowded(rows: Sequence[Row], levels: Any, totals: Sequence[bool], difference: int, *, unit: bool) -> int:
    """How many cells of a table leave fewer than so many contributors of the next margin outside of them."""
    people: dict[Key, set[Any]] = defaultdict(set)
    for number, row in enumerate(rows):
        for key in margins_of(paths_of(row, levels), (True, True)):
            people[key].add(row[2] if unit else number)
    shown = [total or not has for total, has in zip(totals, levels, strict=True)]
    return sum(
        len(people[(*key[:side], key[side][:-1], *key[side + 1 :])] - inside) < difference
        for key, inside in people.items()
        if all(path or total for path, total in zip(key, shown, strict=True))
        for side in (0, 1)
        if key[side]
    )


def collapsed(
    rows: Sequence[Row], wanted: Sequence[Sequence[int]], totals: Sequence[bool], rules: dict[str, Any], **how: Any
) -> tuple[list[tuple[int, ...]], CellTable] | None:
    """The table of the fewest steps without sensitive cells, by trying all; None if there is none."""
    difference, population = rules.get("margin_difference", 0), rules.get("estimate", 0)
    others = ("margin_difference", "estimate")
    given = {name: rule for name, rule in rules.items() if name not in others} or {"threshold": 0}
    tried = []
    for finest in product(*(range(levels[0], top + 1) for levels, top in zip(wanted, HEIGHTS, strict=True))):
        levels = [
            tuple(sorted({low, *(level for level in own if level > low)})) if low < top else ()
            for low, own, top in zip(finest, wanted, HEIGHTS, strict=True)
        ]
        shown = [total or not has for total, has in zip(totals, levels, strict=True)]
        listed = [(paths_of(row, levels), row[2] if how["unit"] else None, row[3]) for row in rows]
        table = cells_of(listed, given, totals=shown, sums=how["sums"])
        known = [row for row in rows if not how["sums"] or row[3] is not None]
        if any(cell.sensitive or cell.value < population for cell in table.cells) or (
            difference and crowded(known, levels, totals, difference, unit=how["unit"])
        ):
            continue
        tried.append(((sum(finest), -len(table.cells), finest), levels, table))
    if not tried:
        return None
    _, levels, table = min(tried, key=lambda item: item[0])
    return levels, table


RULES: list[dict[str, Any]] = [
    {"threshold": 3},
    {"threshold": 6},
    {"margin_difference": 1},
    {"threshold": 2, "margin_difference": 2},
]
OF_SUMS: list[dict[str, Any]] = [
    {"dominance": {"n": 1, "k": 60}},
    {"threshold": 3, "p_percent": 15, "pq": {"p": 10, "q": 40}, "margin_difference": 1},
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [None, "firm"])
@pytest.mark.parametrize("rules", RULES + OF_SUMS, ids=lambda rules: "+".join(rules))
@pytest.mark.sampled(12)
def test_the_fewest_steps_without_a_sensitive_cell(
    shared_database: Database, rules: dict[str, Any], unit: str | None
) -> None:
    draw = random.Random(str((rules, unit)))
    seen = Counter[Any]()
    for _ in range(5):
        rows = random_rows(draw)
        shared_database.table("firms", COLUMNS, rows)
        levels, totals = draw.choice([(0,), (0, 1), (1,)]), [draw.random() < 0.6, draw.random() < 0.6]
        given = {
            "version": 1, "kind": "table", "source": "firms", "unit": unit, "rules": rules, "protection": "collapsing",
            "dimensions": {"region": {"hierarchy": TREE, "levels": levels, "total": totals[0]},
                           "size": {"total": totals[1]}},
        }  # fmt: skip
        given |= {"measure": "turnover"} if rules in OF_SUMS else {"count": "rows"}
        result = kanon_sql.tabulate(shared_database.engine, kanon_sql.TableSpec.from_dict(given))
        expected = collapsed(rows, [levels, (0,)], totals, rules, sums=rules in OF_SUMS, unit=unit)
        assert result.passed == (expected is not None)
        if expected is None:
            assert result.table == ()
            assert result.cost.rows_fetched < 60
            continue
        assert [tuple(own) for own in result.levels] == expected[0]
        seen[str(expected[0])] += 1
        assert [(cell.labels, cell.value, cell.suppressed) for cell in result.table] == [
            (tuple(path[-1] if path else "*" for path in cell.key), cell.value, False) for cell in expected[1].cells
        ]
    assert seen


@pytest.mark.sampled(2)
@pytest.mark.parametrize("unit", [None, "firm"])
@pytest.mark.slow
def test_estimates_from_a_sample(shared_database: Database, unit: str | None) -> None:
    """The threshold counts respondents, and another one looks at the estimates, which are sums of weights."""
    draw = random.Random(str(unit))
    outcomes = set()
    for population in (2, 60, 400):
        for _ in range(3):
            rows = [(*row[:3], draw.randint(1, 30)) for row in random_rows(draw)]
            shared_database.table("firms", COLUMNS, rows)
            rules = {"threshold": 3, "estimate": population}
            given = {
                "version": 1, "kind": "table", "source": "firms", "unit": unit, "weight": "turnover", "rules": rules,
                "dimensions": {"region": {"hierarchy": TREE}, "size": None}, "protection": "collapsing",
            }  # fmt: skip
            result = kanon_sql.tabulate(shared_database.engine, kanon_sql.TableSpec.from_dict(given))
            expected = collapsed(rows, [(0,), (0,)], [True, True], rules, sums=True, unit=unit)
            assert result.passed == (expected is not None)
            outcomes.add(str(result.levels))
            if expected is not None:
                assert result.measured == "estimate"
                assert [tuple(own) for own in result.levels] == expected[0]
                assert [cell.value for cell in result.table] == [cell.value for cell in expected[1].cells]
    assert len(outcomes) > 1


@pytest.mark.parametrize(("population", "levels"), [(40, [(0,)]), (41, [()]), (80, [()]), (81, None)])
@pytest.mark.sampled(2)
def test_an_estimate_may_be_exactly_the_least_one(database: Database, population: int, levels: Any) -> None:
    database.table("firms", COLUMNS, [("ab"[firm % 2], 1, firm, 10) for firm in range(8)])
    given: dict[str, Any] = {
        "version": 1, "kind": "table", "source": "firms", "weight": "turnover", "dimensions": {"region": None},
        "rules": {"threshold": 4, "estimate": population}, "protection": "collapsing",
    }  # fmt: skip
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))
    assert (result.levels if result.passed else None) == levels


@pytest.mark.parametrize("weight", [None, 0, -3])
def test_a_row_that_stands_for_nobody_is_refused(database: Database, weight: int | None) -> None:
    database.table("firms", COLUMNS, [("a", 1, firm, 5) for firm in range(5)] + [("a", 1, 9, weight)])
    given = {"version": 1, "kind": "table", "source": "firms", "weight": "turnover", "dimensions": {"region": None}}
    spec = {**given, "rules": {"threshold": 3}, "protection": "collapsing"}
    with pytest.raises(kanon_sql.errors.SpecError, match="some rows have NULL or less than 1 as 'turnover'"):
        kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protection": "suppression"}, "estimates are protected by collapsing only"),
        ({"measure": "y"}, "sums are not weighted here"),
        ({"count": "rows"}, "a table of estimates adds weights up"),
        ({"rules": {"estimate": 50}}, "a table of estimates needs a threshold"),
        ({"rules": {"threshold": 3, "p_percent": 10}}, "the rule looks at contributions to a sum"),
        ({"weight": None, "rules": {"estimate": 50}}, "the rule looks at an estimate"),
        ({"weight": "x"}, "the column is a dimension already"),
        ({"unit": "w"}, "the column is the unit already"),
    ],
)
def test_what_a_table_of_estimates_does_not_take(changes: dict[str, Any], message: str) -> None:
    given = {
        "version": 1,
        "kind": "table",
        "source": "s",
        "weight": "w",
        "dimensions": {"x": None},
        "rules": {"threshold": 3},
    }
    with pytest.raises(kanon_sql.errors.SpecError, match=message):
        kanon_sql.TableSpec.from_dict({**given, "protection": "collapsing", **changes})


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["suppression", "controlled_rounding"])
def test_no_other_method_hides_that_everybody_of_a_row_is_in_one_cell(database: Database, method: str) -> None:
    """Known answer: the row's cells are empty but for one, so the row says the category of all of its people."""
    full = [("a", size, 10 * size + firm, 1) for size in (1, 2) for firm in range(8)]
    database.table("firms", COLUMNS, [*full, *[("b", 1, 100 + firm, 1) for firm in range(8)]])
    given: dict[str, Any] = {
        "version": 1, "kind": "table",
        "source": "firms", "dimensions": {"region": None, "size": None}, "release": "firms_table",
        "rules": {"threshold": 3}, "protection": {"method": method} | ({"base": 3} if "rounding" in method else {}),
    }  # fmt: skip
    assert kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given)).passed
    database.connection.execute("DROP TABLE firms_table")
    given["rules"] = {"threshold": 3, "margin_difference": 1}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))
    assert not result.passed
    # (b, 1) is all of b; (a, 2) is all of 2.
    assert "nothing was published: 2 times nearly all contributors of a margin are in one" in result.message
    assert "firms_table" not in database.tables()
    for hidden in (True, False):
        given["dimensions"] = {"region": {"total": not hidden}, "size": {"total": not hidden}}
        given["protection"] = "collapsing"
        found = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))
        assert found.passed
        assert found.levels == [(0,), ()]
        assert [cell.value for cell in found.table if cell.labels != ("*", "*")] == [16, 8]


def test_what_was_collapsed_is_published_with_its_levels(database: Database) -> None:
    rows = [
        ("a", 1, 1, 1),
        *[("b", 1, 10 + firm, 1) for firm in range(4)],
        *[("c", 2, 20 + firm, 1) for firm in range(4)],
    ]
    database.table("firms", COLUMNS, rows)
    given = {
        "version": 1, "kind": "table", "source": "firms", "release": "firms_table",
        "rules": {"threshold": 3}, "protection": "collapsing",
        "dimensions": {"region": {"hierarchy": TREE, "levels": [0, 1]}, "size": None},
    }  # fmt: skip
    spec = kanon_sql.TableSpec.from_dict(given)
    result = kanon_sql.tabulate(database.engine, spec)
    assert result.levels == [(1,), (0,)]
    assert database.columns("firms_table") == ["region", "size", "value", "suppressed"]
    assert ("north", "1", 5, 0) in database.rows("firms_table")
    assert "collapsed until none was sensitive" in result.message
    ((manifest,),) = database.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    assert '"levels": [[1], [0]]' in manifest.replace('"levels":[[1],[0]]', '"levels": [[1], [0]]')
    assert spec.hash in manifest
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec


def test_a_collapsed_table_with_a_sensitive_cell_is_never_shown() -> None:
    spec = kanon_sql.TableSpec.from_dict(
        {
            "version": 1,
            "kind": "table",
            "source": "s",
            "dimensions": {"x": None},
            "rules": {"threshold": 3},
            "protection": "collapsing",
        }
    )
    table = cells_of([([("a",)], None, None)], {"threshold": 3}, totals=[True], sums=False)
    with pytest.raises(InternalError, match="a collapsed table has a sensitive cell"):
        protected(spec, table)


def test_a_margin_difference_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="1"):
        Rules.model_validate({"margin_difference": 0})
    given = {"version": 1, "kind": "table", "source": "s", "dimensions": {"x": None}, "rules": {"threshold": 3}}
    with pytest.raises(kanon_sql.errors.SpecError, match="collapsing does not use this option; leave it"):
        kanon_sql.TableSpec.from_dict({**given, "protection": {"method": "collapsing", "base": 3}})


# --- The example of sdcTable ---------------------------------------------------------------

EXAMPLE = {
    ("A", "male"): (18, 178, 18, 15), ("A", "female"): (2, 20, 11, 9), ("B", "male"): (14, 140, 15, 14),
    ("B", "female"): (19, 204, 18, 16), ("C", "male"): (12, 118, 18, 12), ("C", "female"): (10, 106, 19, 12),
    ("D", "male"): (11, 366, 280, 11), ("D", "female"): (14, 152, 18, 16),
}  # fmt: skip
"""``microdata1`` of the R package sdcTable 0.34: persons, the sum of ``val``, and its two largest values, by cell."""


def example_rows() -> list[tuple[str, str, int]]:
    """Rows with these figures; the third and further values, which no rule looks at one by one, are about equal."""
    rows = []
    for (region, gender), (count, total, first, second) in EXAMPLE.items():
        rest = [(total - first - second + place) // (count - 2) for place in range(count - 2)]
        assert all(value <= second for value in rest)
        assert sum(rest) + first + second == total
        rows += [(region, gender, value) for value in (first, second, *rest)]
    return rows


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("rules", "measure", "sensitive"),
    [
        ({"threshold": 3}, None, {("A", "female")}),
        ({"p_percent": 30}, "val", {("A", "female"), ("D", "male")}),
    ],
)
def test_the_example_of_sdctable(
    database: Database, rules: dict[str, Any], measure: str | None, sensitive: set[tuple[str, str]]
) -> None:
    """Known answer: the cells that ``?primarySuppression`` prints as "u", for maxN = 2 and for p = 30."""
    database.table("people", {"region": "VARCHAR", "gender": "VARCHAR", "val": "INTEGER"}, example_rows())
    given: dict[str, Any] = {"version": 1, "kind": "table", "source": "people", "measure": measure, "rules": rules}
    spec = kanon_sql.TableSpec.from_dict({**given, "dimensions": {"region": None, "gender": None}})
    engine = database.engine
    with engine.run(Deadline(None)), open_workspace(engine, source_of(engine, spec)) as workspace:
        table = tabulated(workspace, spec).table
    assert len(table.cells) == 15
    found = {tuple(path[0] if path else "*" for path in cell.key) for cell in table.cells if cell.sensitive}
    assert found == sensitive
    result = kanon_sql.tabulate(engine, spec)
    assert result.passed
    # Two cells in each row and column that has one, so four at the least.
    assert 4 <= result.cells["suppressed"] <= (4 if len(sensitive) == 1 else 6)
    assert sensitive <= {cell.labels for cell in result.table if cell.suppressed}


# --- A source that was perturbed -----------------------------------------------------------


@pytest.mark.slow
def test_a_table_of_exchanged_records_is_untrue(database: Database) -> None:
    """The confidentiality edit: the table of what must agree stays, another changes; result and manifest say so."""
    draw = random.Random(4)
    rows = [(number, draw.choice("abc"), draw.choice([1, 2]), draw.choice("xy")) for number in range(160)]
    columns = {"id": "INTEGER", "region": "VARCHAR", "size": "INTEGER", "kind": "VARCHAR"}
    database.table("people", columns, rows)
    edit = {
        "version": 1, "kind": "perturbed",
        "source": "people", "release": "edited", "key": "id", "keep": ["size", "kind"],
        "perturb": {"region": {"swap": {"share": 0.9, "within": ["size"]}}},
    }  # fmt: skip
    assert kanon_sql.perturb(database.engine, kanon_sql.PerturbSpec.from_dict(edit)).verdict == "perturbed"

    def tabulated_by(source: str, column: str) -> kanon_sql.results.Tabulation:
        given = {
            "version": 1, "kind": "table", "source": source, "release": f"{source}_by_{column}",
            "dimensions": {"region": None, column: None}, "rules": {"threshold": 3},
        }  # fmt: skip
        return kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))

    for column in ("size", "kind"):
        true, result = tabulated_by("people", column), tabulated_by("edited", column)
        assert true.truthful
        assert "untrue" not in true.message
        assert result.passed
        assert not result.truthful
        assert result.message.endswith("the values of the source are perturbed, so no cell is true")
        same = [cell.value for cell in result.table] == [cell.value for cell in true.table]
        assert same or column == "kind"  # which rows are exchanged is drawn anew each time
        jsonschema.Draft202012Validator(tabulation_schema()).validate(result.to_dict())
    with database.engine.run(Deadline(None)), open_workspace(database.engine, "", inline=True):
        assert is_perturbed(database.engine, ("edited_by_kind",))
        assert not is_perturbed(database.engine, ("people_by_kind",))
