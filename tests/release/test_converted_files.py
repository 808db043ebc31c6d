"""Releases for Excel, Stata and SPSS: every value comes back, or the file is refused."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, UnsupportedError, VerificationError
from kanon_sql.release import converted_file
from kanon_sql.spec import Spec

ENDINGS = [
    pytest.param(
        ending,
        marks=[
            pytest.mark.skipif(form.missing is not None, reason="not installed"),
            *([] if ending == ".xlsx" else [pytest.mark.slow]),
        ],
    )
    for ending, form in converted_file.CONVERTED.items()
]
"""Excel every time, since values of all formats are tried one by one below."""

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "quasi_identifiers": {"age": {"intervals": [10, 20]}, "zip": {"prefix": [2]}},
    "sensitive": ["dx"],
    "keep": ["cost", "price", "visits", "seen", "since"],
    "privacy": [{"k_anonymity": 2}],
    "suppression": {"max_share": 1.0},
    "warnings": dict.fromkeys(["nearly_unique_kept", "kept_reveals_quasi_identifier"], "allow"),
}
DIAGNOSES = ["flu", "=1+1", None, 'ulcer, "old"', "#N/A", "a\nb"]


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people (age INT, zip VARCHAR, dx VARCHAR, cost DOUBLE, price DECIMAL(9, 2), visits BIGINT, "
        "seen DATE, since TIMESTAMP)"
    )
    rows = [
        (20 + i % 30, f"0{i % 3}12", DIAGNOSES[i % 6], i / 3 if i % 9 else None, f"{i}.05",
         2**53 - i if i % 8 else None, date(1980, 2, 1 + i % 9) if i % 5 else None,
         datetime(2020, 1, 2, 3, 4, i % 60) if i % 7 else None)
        for i in range(90)
    ]  # fmt: skip
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, round(?, 6), ?, ?, ?, ?)", rows)
    yield kanon_sql.connect(connection)
    connection.close()


def read_xlsx(path: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    first, *rows = import_module("openpyxl").load_workbook(path).active.iter_rows(values_only=True)
    return list(first), rows


def read_dta(path: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    frame = import_module("pandas").read_stata(path)
    return list(frame.columns), list(frame.itertuples(index=False, name=None))


def read_sav(path: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    frame, _ = import_module("pyreadstat").read_sav(path)
    return list(frame.columns), list(frame.itertuples(index=False, name=None))


READ: dict[str, Callable[[str], tuple[list[str], list[tuple[Any, ...]]]]] = {
    ".xlsx": read_xlsx,
    ".dta": read_dta,
    ".sav": read_sav,
}


def plain(value: Any) -> Any:
    """A value as a program that reads the file shows it, so that kinds of dates and numbers are one."""
    if value is None or value != value or value == "":
        return None
    if isinstance(value, datetime | date):
        shown = value.isoformat()[:19].replace("T00:00:00", "")
        return shown
    return value if isinstance(value, str) else float(value)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_file_holds_what_the_table_would(db: Any, ending: str) -> None:
    table = Spec.from_dict({**SPEC, "release": "released"})
    kanon_sql.anonymize(db, table).raise_for_failure()
    expected = db.connection.execute("SELECT * FROM released").fetchall()
    spec = Spec.from_dict({**SPEC, "release": {"file": f"out{ending}"}})
    kanon_sql.anonymize(db, spec).raise_for_failure()
    names, rows = READ[ending](f"out{ending}")
    assert names == [item[0] for item in db.connection.execute("DESCRIBE released").fetchall()]
    assert Counter(tuple(map(plain, row)) for row in rows) == Counter(tuple(map(plain, row)) for row in expected)
    assert sorted(path.name for path in Path.cwd().iterdir()) == [f"out{ending}", f"out{ending}.manifest.json"]
    assert kanon_sql.check(db, spec).passed
    kanon_sql.anonymize(db, spec).raise_for_failure()  # it is known for its own, and replaced
    Path(f"out{ending}.manifest.json").unlink()
    with pytest.raises(DatabaseError, match="types of its columns are not known"):
        kanon_sql.check(db, spec)


FAULTS: list[tuple[str, str, Any, str]] = [
    (".xlsx", "BIGINT", 2**53 + 1, "whole numbers beyond"),
    (".dta", "BIGINT", -(2**53) - 1, "whole numbers beyond"),
    (".sav", "UBIGINT", 2**63, "whole numbers beyond"),
    (".xlsx", "VARCHAR", '""', "empty texts"),
    (".dta", "VARCHAR", '""', "empty texts"),
    (".sav", "VARCHAR", '""', "empty texts"),
    (".dta", "DOUBLE", "nan", "infinite or none"),
    (".xlsx", "DOUBLE", "inf", "infinite or none"),
    (".xlsx", "DECIMAL(38,2)", "12345678901234567.25", "decimal numbers of more than 15 digits"),
    (".xlsx", "DOUBLE", repr(0.1 + 0.2), "numbers of 17 digits"),
    (".xlsx", "DATE", "1899-12-31", "dates before March 1900"),
    (".xlsx", "VARCHAR", "\x07", "control characters"),
    (".xlsx", "VARCHAR", "a" * 32_768, "more than 32,767 characters"),
    (".dta", "VARCHAR", "a" * 2_046, "more than 2,045 bytes"),
    (".dta", "VARCHAR", "\u00e9" * 1_023, "more than 2,045 bytes"),
    (".dta", "TIMESTAMP", "2020-01-01 00:00:00.000001", "finer than milliseconds"),
    (".dta", "DOUBLE", "1.5e308", "missing values there"),
    (".sav", "VARCHAR", '"zq "', "end with a space"),
    (".sav", "TIMESTAMP", "2020-01-01 00:00:00.5", "finer than seconds"),
    (".sav", "VARCHAR", "\u00e9" * 16_384, "more than 32,767 bytes"),
    (".dta", "INTERVAL", "1 day", "a column of the type INTERVAL"),
    (".xlsx", "INTEGER[]", "[1]", r"a column of the type INTEGER\[\]"),
]


def csv_of(path: Path, name: str, cells: list[Any]) -> Path:
    path.write_text(f'"{name}"\n' + "".join(f"{cell}\n" for cell in cells), encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(("ending", "kind", "cell", "said"), FAULTS)
def test_what_a_format_would_change_is_refused_with_its_column(
    tmp_path: Path, ending: str, kind: str, cell: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_file, "find_spec", lambda name: name)
    source, target = csv_of(tmp_path / "a.csv", "x", [cell]), tmp_path / f"out{ending}"
    with pytest.raises(UnsupportedError, match=f"'x': .*{said}") as caught:
        converted_file.convert(source, target, {"x": kind})
    assert str(cell).strip('"') not in str(caught.value) or len(str(cell)) < 4
    assert not target.exists()


WIDEST: list[tuple[str, str, list[Any]]] = [
    ("BIGINT", ".xlsx .dta .sav", [2**53, -(2**53), ""]),
    ("INTEGER", ".dta", [2_147_483_620, -2_147_483_647]),
    ("INTEGER", ".dta", [2_147_483_621, -2_147_483_648]),
    ("VARCHAR", ".dta", ["a" * 2_045, ""]),
    ("VARCHAR", ".xlsx", ["a" * 32_767, "", '" b "', '"_x0041_"', "'=1", "@x", "\u00e9\U0001f600"]),
    ("VARCHAR", ".sav", ["a" * 32_767, "", '" b"']),
    ("VARCHAR", ".dta .sav", ['" b"', "=1", '"a\nb"', "\u00e9\U0001f600"]),
    ("VARCHAR", ".xlsx .dta .sav", ["", ""]),
    ("DATE", ".xlsx", ["1900-03-01", "9999-12-31", ""]),
    ("DATE", ".dta .sav", ["1583-01-01", "2400-02-29", ""]),
    ("TIMESTAMP", ".xlsx .dta .sav", ["2020-01-01 00:00:00", "1960-01-01 23:59:59", ""]),
    ("DOUBLE", ".dta .sav", [repr(0.1 + 0.2), "-0.0", "1e300", "5e-324", ""]),
    ("DOUBLE", ".xlsx", ["0.1", "1e+300", "3.0", ""]),
    ("DECIMAL(18,4)", ".xlsx .dta .sav", ["12345678901.2500", "0.0001", ""]),
    ("FLOAT", ".dta .sav", ["0.1", "16777216"]),
    ("BOOLEAN", ".xlsx .dta .sav", ["true", "false", ""]),
    ("BOOLEAN", ".xlsx .dta .sav", ["true", "true"]),
    ("BOOLEAN", ".xlsx .dta .sav", ["", ""]),
]


@pytest.mark.parametrize(
    ("kind", "ending", "cells"),
    [
        pytest.param(kind, ending, cells, marks=pytest.mark.skipif(
            converted_file.CONVERTED[ending].missing is not None, reason="not installed"))
        for kind, endings, cells in WIDEST for ending in endings.split()
    ],
)  # fmt: skip
def test_what_is_not_refused_comes_back(tmp_path: Path, kind: str, ending: str, cells: list[Any]) -> None:
    source, target = csv_of(tmp_path / "a.csv", "x", cells), tmp_path / f"out{ending}"
    converted_file.convert(source, target, {"x": kind})
    converted_file.convert_back(target, tmp_path / "back.csv", {"x": kind})
    form = f"header = true, auto_detect = false, quote = '\"', escape = '\"', columns = {{'x': '{kind}'}}"
    paths = source, tmp_path / "back.csv"
    before, after = (duckdb.sql(f"SELECT x FROM read_csv('{path}', delim = ',', {form})").fetchall() for path in paths)
    assert before == after
    assert len(before) == len(cells)


@pytest.mark.parametrize("ending", ENDINGS)
def test_truth_values_are_cells_of_excel_and_labelled_numbers_elsewhere(tmp_path: Path, ending: str) -> None:
    source, target = csv_of(tmp_path / "a.csv", "x", ["true", "", "false"]), tmp_path / f"out{ending}"
    converted_file.convert(source, target, {"x": "BOOLEAN"})
    cells: list[Any]
    if ending == ".xlsx":
        cells = [cell.value for cell in import_module("openpyxl").load_workbook(target).active["A"]][1:]
        assert [type(cell) for cell in cells] == [bool, type(None), bool]
    elif ending == ".dta":
        cells = list(import_module("pandas").read_stata(target)["x"])
    else:
        cells = list(import_module("pyreadstat").read_sav(str(target), apply_value_formats=True)[0]["x"])
    assert [str(cell).lower() for cell in cells[::2]] == ["true", "false"]
    assert cells[1] is None or cells[1] != cells[1]


@pytest.mark.parametrize(
    ("name", "ending", "said"),
    [
        ("a b", ".dta", "Stata's names"), ("a" * 33, ".dta", "Stata's names"), ("str5", ".dta", "reserves"),
        ("if", ".dta", "reserves"), ("1a", ".sav", "SPSS's names"), ("with", ".sav", "reserves"),
    ],
)  # fmt: skip
def test_a_name_that_a_format_does_not_have_is_found_before_the_first_statement(
    db: Any, name: str, ending: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_file, "find_spec", lambda name: name)
    db.connection.execute(f'ALTER TABLE people RENAME COLUMN dx TO "{name}"')
    spec = Spec.from_dict({**SPEC, "sensitive": [name], "release": {"file": f"out{ending}"}})
    with pytest.raises(UnsupportedError, match=said):
        kanon_sql.anonymize(db, spec)


def test_a_package_that_is_missing_is_named_before_the_first_statement(
    db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_file, "find_spec", lambda name: None)
    for ending, extra in ((".xlsx", "excel"), (".dta", "stata"), (".sav", "spss")):
        spec = Spec.from_dict({**SPEC, "release": {"file": f"out{ending}"}})
        with pytest.raises(UnsupportedError, match=rf"not installed.*\[{extra}\]"):
            kanon_sql.anonymize(db, spec)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_library_that_changes_a_value_publishes_nothing(
    db: Any, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = converted_file.CONVERTED[ending]

    def wrong(path: Path, columns: Any) -> None:
        form.write(path, {**columns, "visits": [None, *columns["visits"][1:-1], 7]})

    changed = converted_file.FileFormat(
        form.name, form.packages, form.extra, wrong, form.read, form.name_fault, form.value_fault
    )
    monkeypatch.setattr(converted_file, "CONVERTED", {ending: changed})
    with pytest.raises(VerificationError, match="differ from the release"):
        kanon_sql.anonymize(db, Spec.from_dict({**SPEC, "release": {"file": f"out{ending}"}}))
    assert list(Path.cwd().iterdir()) == []


def test_a_text_in_excel_is_never_a_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["=x"], ["=1+1"], ["@a"]])
    converted_file.convert(tmp_path / "a.csv", tmp_path / "a.xlsx", {"=x": "VARCHAR"})
    cells = [cell for row in openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows() for cell in row]
    assert [(cell.value, cell.data_type) for cell in cells] == [("=x", "s"), ("=1+1", "s"), ("@a", "s")]
