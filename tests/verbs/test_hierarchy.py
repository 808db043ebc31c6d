"""``hierarchy``: counts that a plain recount confirms, files that read back, and no value unless asked for."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.hierarchies.files import read_hierarchy, write_hierarchy
from kanon_sql.verbs.hierarchy.result import AttributeHierarchy
from kanon_sql.verbs.hierarchy.values import values_in_words
from tests.conftest import Database
from tests.support.literature import adult_dir, adult_hierarchy, adult_rows
from tests.support.strategies import examples

SECRET = "Qwyjibo"

TREE = {"Chronic": ["asthma", "diabetes"], "Acute": {"Infection": ["flu", "cold"], "injury": None}}


def spec_of(**quasi_identifiers: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "t",
            "quasi_identifiers": quasi_identifiers,
            "privacy": [{"k_anonymity": 2}],
        }
    )


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


# --- an oracle: labels by plain Python ------------------------------------------------------


def interval(value: int, width: int, bottom: int | None = None, top: int | None = None) -> str:
    if bottom is not None and value < bottom:
        return f"< {bottom}"
    if top is not None and value >= top:
        return f">= {top}"
    low = width * math.floor(value / width)
    high = low + width
    return f"[{low if bottom is None else max(low, bottom)}, {high if top is None else min(high, top)})"


def masked(value: str, keep: int) -> str:
    return value[:keep] + "*" * max(0, len(value) - keep)


def dated(value: date, unit: str) -> str:
    decade = value.year - value.year % 10
    return {
        "month": f"{value.year}-{value.month:02d}",
        "quarter": f"{value.year}-Q{(value.month + 2) // 3}",
        "year": str(value.year),
        "decade": f"{decade}-{decade + 9}",
    }[unit]


def recounted(paths: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Per level below the top, how many labels the rows have, and the rows of the rarest."""
    counts = [Counter(path[level] for path in paths) for level in range(len(paths[0]) - 1)]
    return [(len(found), min(found.values())) for found in counts]


def of(result: kanon_sql.results.HierarchyResult, name: str) -> AttributeHierarchy:
    (found,) = [item for item in result.hierarchies if item.name == name]
    return found


RULES = {
    "age": {"intervals": [5, 10, 20], "bottom": 0, "top": 90},
    "zip": {"prefix": [3, 1]},
    "born": {"dates": ["month", "quarter", "year", "decade"]},
    "sex": {},
    "illness": {"tree": TREE},
}


def path_of(name: str, value: Any) -> tuple[str, ...]:
    if name == "age":
        return (str(value), *(interval(value, width, 0, 90) for width in (5, 10, 20)), "*")
    if name == "zip":
        return (value, masked(value, 3), masked(value, 1), "*")
    if name == "born":
        units = ("month", "quarter", "year", "decade")
        return (value.isoformat(), *(dated(value, unit) for unit in units), "*")
    if name == "sex":
        return (value, "*")
    return {
        "asthma": ("asthma", "Chronic", "Chronic", "*"),
        "diabetes": ("diabetes", "Chronic", "Chronic", "*"),
        "flu": ("flu", "Infection", "Acute", "*"),
        "cold": ("cold", "Infection", "Acute", "*"),
        "injury": ("injury", "Acute", "Acute", "*"),
    }[value]


VALUES = {
    "age": st.integers(-5, 99),
    "zip": st.text("0123", min_size=1, max_size=5),
    "born": st.dates(date(1989, 12, 1), date(2001, 2, 1)),
    "sex": st.sampled_from(["f", "m", "x; y", 'q"', " "]),
    "illness": st.sampled_from(["asthma", "diabetes", "flu", "cold", "injury"]),
}
TYPES = {"age": "INTEGER", "zip": "VARCHAR", "born": "DATE", "sex": "VARCHAR", "illness": "VARCHAR"}


@pytest.mark.slow
@examples(8)
@given(rows=st.lists(st.fixed_dictionaries({name: value | st.none() for name, value in VALUES.items()}), min_size=1))
def test_counts_labels_and_files_are_those_of_a_recount(
    shared_database: Database, tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    shared_database.table("t", TYPES, [tuple(row[name] for name in TYPES) for row in rows])
    filled = {name: [row[name] for row in rows if row[name] is not None] for name in VALUES}
    asked = [name for name in VALUES if filled[name]]
    if not asked:
        return
    folder = tmp_path_factory.mktemp("out")
    spec = spec_of(**RULES)
    result = kanon_sql.hierarchy(shared_database.engine, spec, asked, reveal=1000, export=folder)
    assert result.passed, result
    for name in asked:
        item = of(result, name)
        paths = [path_of(name, value) for value in filled[name]]
        assert [(level.labels, level.fewest_rows) for level in item.levels[:-1]] == recounted(paths)
        assert (item.values, item.null_rows, item.missing) == (len(set(filled[name])), len(rows) - len(paths), 0)
        assert dict(item.examples) == Counter(paths)
        assert sorted(read_hierarchy(folder / f"{name}.csv")) == sorted(set(paths))
    # The files, named in a spec, generalize as the rules do that they were made of.
    again = spec_of(**{name: {"file": str(folder / f"{name}.csv")} for name in asked})
    files = kanon_sql.hierarchy(shared_database.engine, again, reveal=1000)
    assert files.passed
    for name in asked:
        assert dict(of(files, name).examples) == dict(of(result, name).examples)
        assert of(files, name).unused == 0


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff\x00"), max_size=5)


@pytest.mark.slow
@given(
    paths=st.lists(st.tuples(texts, st.sampled_from(["a", "b;", "c,"])), min_size=1, unique_by=lambda row: row[0]),
    style=st.sampled_from(["arx", "csv"]),
)
def test_files_of_both_styles_read_back(
    paths: list[tuple[str, str]], style: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("file") / "h.csv"
    rows = [(*row, "*") for row in paths]
    write_hierarchy(path, rows, style)
    assert read_hierarchy(path) == rows


# --- reading files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a;A;*\nb;A;*\n", [("a", "A", "*"), ("b", "A", "*")]),
        (b"a,A,*\nb,A,*\n", [("a", "A", "*"), ("b", "A", "*")]),
        (b"a\tA\nb\tA\n", [("a", "A"), ("b", "A")]),
        (b"value,level_1\na,A\n", [("a", "A")]),
        (b"value;level_1\na;A\n", [("a", "A")]),
        (b"\xef\xbb\xbfa;A\n", [("a", "A")]),
        ("é;É\n".encode("utf-16"), [("é", "É")]),
        (b'"a;b";"A ""x"""\n\nc;A\n', [("a;b", 'A "x"'), ("c", "A")]),
        (b"1,5;1-2\n2,5;2-3\n", [("1,5", "1-2"), ("2,5", "2-3")]),
        (b"\n1,5;1-2\n2,5;2-3\n", [("1,5", "1-2"), ("2,5", "2-3")]),
        (b"a\nb\n", [("a",), ("b",)]),
        (b"a,b\nc\n", [("a,b",), ("c",)]),
        (b"value\nlevel_1\n", [("value",), ("level_1",)]),
    ],
)
def test_forms_of_files(content: bytes, rows: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    assert read_hierarchy(tmp_path / "h.csv") == rows


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a;b\n\xe9;c\n", "h.csv:2: the hierarchy file is not UTF-8; save it as UTF-8"),
        (b"value,level_1\n", "no rows; expected value;level 1"),
        (b'"a;b\n', "h.csv:1: not a valid CSV row"),
    ],
)
def test_files_that_are_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(HierarchyError) as refused:
        read_hierarchy(tmp_path / "h.csv")
    assert said in str(refused.value)


@pytest.mark.slow
def test_a_hierarchy_of_arx_comes_back_as_it_was(database: Database, tmp_path: Path) -> None:
    folder = adult_dir()
    if folder is None:
        pytest.skip("the Adult extract is not here")
    names = ["age", "education", "marital-status", "native-country"]
    rows = [tuple(row[name] for name in names) for row in adult_rows(folder)[:2000]]
    database.table("t", names, rows)
    spec = spec_of(**{name: {"file": str(folder / f"hierarchy_{name}.csv")} for name in names})
    result = kanon_sql.hierarchy(database.engine, spec, export=tmp_path / "out")
    assert result.passed
    for position, name in enumerate(names):
        known = adult_hierarchy(folder, name)
        assert set(read_hierarchy(tmp_path / "out" / f"{name}.csv")) == {known[row[position]] for row in rows}


# --- what is wrong --------------------------------------------------------------------------


def test_missing_values_are_counted_and_named_only_when_asked_for(database: Database) -> None:
    database.table("t", ["illness", "age"], [("flu", "1"), (SECRET, "1"), (SECRET, "2"), ("other", "2"), (None, "3")])
    spec = spec_of(illness={"tree": TREE})
    result = kanon_sql.hierarchy(database.engine, spec)
    (item,) = result.hierarchies
    assert not result.passed
    assert (item.values, item.missing, item.missing_rows, item.null_rows, item.unused) == (3, 2, 3, 1, 4)
    assert item.problems == [
        "quasi_identifiers.illness: 2 distinct values (3 rows) have no generalization in the hierarchy; add rows for "
        "them (kanon-sql hierarchy --reveal N shows N of them)"
    ]
    assert SECRET not in json.dumps(result.to_dict())
    assert (item.examples, item.missing_values) == ([], [])
    (item,) = kanon_sql.hierarchy(database.engine, spec, reveal=1).hierarchies
    assert item.missing_values == [SECRET], "the one that most rows have"
    assert item.examples == [(("flu", "Infection", "Acute", "*"), 1)]


def test_levels_that_do_not_nest(database: Database, tmp_path: Path) -> None:
    database.table("t", {"x": "INTEGER"}, [(value,) for value in range(12)])
    spec = spec_of(x={"sql": ["floor(x / 2)", "floor(x / 3)"]})
    result = kanon_sql.hierarchy(database.engine, spec, export=tmp_path / "out")
    (item,) = result.hierarchies
    # 2-3 and 8-9 lie in two groups of three each.
    assert item.problems == [
        "quasi_identifiers.x: 2 labels of level 1 have more than one parent at level 2: levels must nest"
    ]
    assert item.file is None
    assert not (tmp_path / "out").exists()


def test_null_where_it_is_an_error(database: Database) -> None:
    database.table("t", ["x"], [("a",), (None,)])
    spec = spec_of(x=None).model_copy(update={"nulls": "error"})
    (problem,) = kanon_sql.hierarchy(database.engine, spec).hierarchies[0].problems
    assert "1 row has NULL" in problem


def test_a_sensitive_attribute_with_a_hierarchy(database: Database) -> None:
    database.table("t", ["x", "illness"], [("a", "flu"), ("b", "asthma")])
    data = {
        "version": 1,
        "source": "t",
        "quasi_identifiers": {"x": None},
        "sensitive": ["illness"],
        "privacy": [
            {"t_closeness": {"attribute": "illness", "t": 0.5, "distance": "hierarchical", "hierarchy": {"tree": TREE}}}
        ],
    }
    result = kanon_sql.hierarchy(database.engine, kanon_sql.Spec.from_dict(data))
    assert [(item.name, item.role) for item in result.hierarchies] == [
        ("x", "quasi-identifier"), ("illness", "sensitive attribute"),
    ]  # fmt: skip
    assert of(result, "illness").levels[1].in_spec == ("Chronic", "Infection", "Acute")


def test_degenerate_tables(database: Database, tmp_path: Path) -> None:
    spec = spec_of(x={"prefix": [1]})
    database.table("t", ["x"], [])
    (item,) = kanon_sql.hierarchy(database.engine, spec).hierarchies
    assert [(level.labels, level.fewest_rows) for level in item.levels] == [(0, None), (0, None), (0, None)]
    database.table("t", ["x"], [(None,), (None,)])
    (item,) = kanon_sql.hierarchy(database.engine, spec).hierarchies
    assert (item.values, item.null_rows) == (0, 2)
    with pytest.raises(HierarchyError, match="select other columns with --attribute"):
        kanon_sql.hierarchy(database.engine, spec, export=tmp_path / "out")


def test_one_scan_and_only_of_what_is_asked_for(database: Database) -> None:
    database.table("t", ["x", "y"], [("a", "b")] * 3)
    result = kanon_sql.hierarchy(database.engine, spec_of(x=None, y=None), ["y"])
    assert [item.name for item in result.hierarchies] == ["y"]
    assert result.cost.source_scans == 1
    with pytest.raises(SpecError, match="'z' has no hierarchy in the spec; expected one of x, y"):
        kanon_sql.hierarchy(database.engine, spec_of(x=None, y=None), ["z"])


# --- without a database ---------------------------------------------------------------------


def built(name: str, rule: Any, values: Any, folder: Path) -> list[tuple[str, ...]]:
    result = kanon_sql.hierarchy(
        kanon_sql.connect(), spec_of(**{name: rule}), values={name: values}, export=folder / "out"
    )
    assert result.passed
    assert result.cost.source_scans == 0
    return read_hierarchy(folder / "out" / f"{name}.csv")


@pytest.mark.parametrize("name", ["age", "zip", "born", "illness"])
def test_rules_without_a_database(name: str, tmp_path: Path) -> None:
    given_as = {
        "age": "age=-3..101",
        "zip": "zip=00501..00599",
        "born": "born=1999-11-30..2000-03-01",
        "illness": "illness",
    }
    values: dict[str, list[Any]] = {
        "age": list(range(-3, 102)),
        "zip": [f"{number:05d}" for number in range(501, 600)],
        "born": [date(1999, 11, 30) + timedelta(days=day) for day in range(93)],
        "illness": ["asthma", "diabetes", "flu", "cold", "injury"],
    }
    asked, texts_ = values_in_words(given_as[name])
    assert asked == name
    rows = built(name, RULES[name], texts_, tmp_path)
    assert sorted(rows) == sorted(path_of(name, value) for value in values[name])


def test_fractions_and_a_file_of_values(tmp_path: Path) -> None:
    (tmp_path / "weights.txt").write_text("0.5\n\n12\n-7.25\n12\n")
    name, values = values_in_words(f"w={tmp_path / 'weights.txt'}")
    rows = built(name, {"intervals": [10]}, values, tmp_path)
    assert rows == [("-7.25", "[-10, 0)", "*"), ("0.5", "[0, 10)", "*"), ("12", "[10, 20)", "*")]


@pytest.mark.parametrize(
    ("given_as", "said"),
    [
        ("=1..2", "expected NAME=FIRST..LAST"),
        ("x=", "expected NAME=FIRST..LAST"),
        ("x=2..1", "the range is empty"),
        ("x=0..1000000", "more than the limit of 100,000"),
        ("x=a..b", "a range of whole numbers or dates"),
        ("x=2000-01-01..2000-02-31", "a range of whole numbers or dates"),
        ("x=nowhere.txt", "cannot read nowhere.txt"),
    ],
)
def test_values_that_are_refused(given_as: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        values_in_words(given_as)


@pytest.mark.parametrize(
    ("rule", "values", "error", "said"),
    [
        ({"intervals": [5]}, [SECRET, "1", "nan"], SpecError, "2 of the 3 values given are not numbers"),
        ({"dates": ["year"]}, [SECRET, "2000-02-30", "2000-02-01"], SpecError, "2 of the 3 values given are not dates"),
        ({"prefix": [1]}, None, SpecError, "a rule has no values"),
        ({"sql": ["x"]}, ["1"], UnsupportedError, "depends on the column's type"),
        ({"table": "h"}, None, UnsupportedError, "its rows are in the database"),
    ],
)
def test_hierarchies_that_need_more(rule: Any, values: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as refused:
        kanon_sql.hierarchy(kanon_sql.connect(), spec_of(x=rule), values={"x": values})
    assert SECRET not in str(refused.value)


# --- the command line -----------------------------------------------------------------------


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import duckdb

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 7 AS age, 'z' || (i % 3) AS zip FROM range(30) AS numbers(i)")
        connection.execute("INSERT INTO t VALUES (8, ?)", [SECRET])
    (tmp_path / "spec.yml").write_text(
        "version: 1\nsource: t\nquasi_identifiers: {age: {intervals: [5]}, zip: {prefix: [1]}}\n"
        "privacy: [k_anonymity: {k: 2}]\n"
    )
    return tmp_path


@pytest.mark.slow
def test_nothing_but_counts_is_shown(clinic: Path) -> None:
    for output in ("text", "json"):
        result = run("hierarchy", "spec.yml", "-d", "clinic.duckdb", "--format", output, "-v")
        assert result.exit_code == 0, result.output
        assert SECRET not in result.output
    text = run("hierarchy", "spec.yml", "-d", "clinic.duckdb").stdout
    assert text.startswith("PASS  2 hierarchies")
    assert "first character" in text


def test_values_are_shown_with_a_warning(clinic: Path) -> None:
    result = run("hierarchy", "spec.yml", "-d", "clinic.duckdb", "--attribute", "zip", "--reveal", "9")
    assert "warning: --reveal shows values of the data below;" in result.stderr
    assert f"{SECRET} -> Q****** -> *" in result.stdout


def test_export_warns_and_never_replaces(clinic: Path) -> None:
    command = ("hierarchy", "spec.yml", "-d", "clinic.duckdb", "-o", "out", "--output-format", "csv")
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert "these files hold all values of the data" in result.stderr
    assert (clinic / "out" / "age.csv").read_text().splitlines()[:2] == ["value,level_1,level_2", '0,"[0, 5)",*']
    again = run(*command)
    assert again.exit_code == 2
    assert "out/age.csv: the file exists" in again.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--output-format", "csv"), "--output-format needs --output"),
        (("--values", "age=0..9", "-d", "clinic.duckdb"), "leave -d out"),
        (("--values", "age=0..9", "--attribute", "zip"), "leave --attribute out"),
        (("-d", "clinic.duckdb", "-o", "spec.yml"), "expected a directory"),
        (("-d", "nowhere.duckdb"), "there is no database file"),
    ],
)
def test_options_that_do_not_fit(clinic: Path, options: tuple[str, ...], said: str) -> None:
    result = run("hierarchy", "spec.yml", *options)
    assert result.exit_code in (2, 3)
    assert said in result.stderr


def test_names_of_files(database: Database, tmp_path: Path) -> None:
    names = ["a/b", "a:b", "A_B", "größe"]
    database.table("t", names, [("1", "2", "3", "4")])
    result = kanon_sql.hierarchy(database.engine, spec_of(**dict.fromkeys(names)), export=tmp_path)
    files = [item.file for item in result.hierarchies]
    assert [file.name for file in files if file is not None] == ["a_b.csv", "a_b_2.csv", "A_B_3.csv", "größe.csv"]
