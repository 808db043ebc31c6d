"""CSV files as they come: other encodings, delimiters, decimal commas and dates, and files that are not whole."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import KanonError

ROWS = [(f"Z\u00fcrich {index % 3}", 20 + index % 7, index % 13 + 0.5) for index in range(60)]
HEAD = "place,age,cost"


def lines(delimiter: str = ",", decimal: str = ".") -> list[str]:
    shown = [(place, str(age), f"{cost:.2f}".replace(".", decimal)) for place, age, cost in ROWS]
    return [HEAD.replace(",", delimiter), *(delimiter.join(row) for row in shown)]


def spec_of(file: Path, **csv: str) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": {"file": str(file), **({"csv": csv} if csv else {})},
            "release": "copy", "quasi_identifiers": {"place": None, "age": None, "cost": None},
            "privacy": [{"k_anonymity": {"k": 2}}], "suppression": {"max_share": 1.0},
        }
    )  # fmt: skip


def values_read(file: Path, **csv: str) -> list[tuple[Any, ...]]:
    """The rows as the engine reads them."""
    from kanon_sql.spec import CsvFormat

    with kanon_sql.connect(":memory:") as engine:
        relation = engine.relation(table=None, query=None, file=str(file), csv=CsvFormat(**csv) if csv else None)
        engine.columns(relation)
        return engine.connection.execute(f"SELECT * FROM {relation}").fetchall()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8"])
@pytest.mark.parametrize(("delimiter", "named"), [(",", ","), (";", ";"), ("|", "|"), ("\t", "tab")])
def test_a_file_is_read_as_it_is_written(tmp_path: Path, encoding: str, delimiter: str, named: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes("\n".join(lines(delimiter)).encode(encoding))
    assert values_read(file, encoding=encoding, delimiter=named) == ROWS


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines(";", ",")), encoding="utf-8")
    assert values_read(file, decimal="comma") == ROWS
    assert all(isinstance(row[2], str) for row in values_read(file))


@pytest.mark.parametrize(("form", "read"), [("%d/%m/%Y", (4, 3)), ("%m/%d/%Y", (3, 4))])
def test_dates_are_read_in_the_form_that_the_spec_names(tmp_path: Path, form: str, read: tuple[int, int]) -> None:
    file = tmp_path / "a.csv"
    file.write_text("day\n4/3/2024\n", encoding="utf-8")
    ((day,),) = values_read(file, dates=form)
    assert day == datetime.date(2024, read[1], read[0])


def test_columns_named_as_text_keep_every_character(tmp_path: Path) -> None:
    from kanon_sql.spec import CsvFormat

    file = tmp_path / "a.csv"
    file.write_text("zip,born,it's\n0012,04.03.2020,1.50\n0130,05.03.2020,2.00\n", encoding="utf-8")
    csv = CsvFormat.model_validate({"text": ["zip", "born", "it's"]})
    with kanon_sql.connect(":memory:") as engine:
        relation = engine.relation(table=None, query=None, file=str(file), csv=csv)
        assert {column.kind for column in engine.columns(relation)} == {"text"}
        read = engine.connection.execute(f"SELECT * FROM {relation}").fetchall()
    assert read == [("0012", "04.03.2020", "1.50"), ("0130", "05.03.2020", "2.00")]
    assert values_read(file)[0][2] == 1.5
    assert csv.to_dict() == {"text": ["zip", "born", "it's"]}


def test_words_for_true_and_false_stay_as_they_are(tmp_path: Path) -> None:
    """DuckDB reads yes, t and true as one BOOLEAN, and would release yes as true."""
    file = tmp_path / "a.csv"
    columns = ["married,new,old,day,at,hours,none"]
    cells = [
        "yes,t,TRUE,2024-03-04,2024-03-04 10:30:00+02,10:30,",
        "no,f,False,2024-03-05,2024-03-05 10:30:00+02,9:15,",
    ]
    file.write_text("\n".join(columns + cells), encoding="utf-8")
    assert [row[:3] for row in values_read(file)] == [("yes", "t", "TRUE"), ("no", "f", "False")]
    with kanon_sql.connect(":memory:") as engine:
        relation = engine.relation(table=None, query=None, file=str(file))
        found = {column.name: column.type for column in engine.columns(relation)}
        own = dict(row[:2] for row in engine.connection.execute(f"DESCRIBE FROM read_csv('{file}')").fetchall())
    assert {name: kind for name, kind in found.items() if found[name] != own[name]} == dict.fromkeys(
        ("married", "new", "old"), "VARCHAR"
    )


def test_a_script_reads_a_file_as_a_run_does(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines()), encoding="utf-8")
    (tmp_path / "spec.yml").write_text(
        "version: 1\nsource: {file: a.csv}\nrelease: copy\nquasi_identifiers: {age: }\nprivacy: [k_anonymity: 2]\n"
        "search: {algorithm: datafly}\nsuppression: {max_share: 1}\n",
        encoding="utf-8",
    )
    run = CliRunner().invoke(app, ["pipeline", "render", str(tmp_path / "spec.yml"), "--dialect", "duckdb"])
    assert run.exit_code == 0, run.output
    assert "auto_type_candidates" in run.output


def test_a_format_stands_in_results_and_hashes(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines(";")), encoding="utf-8")
    plain, said = spec_of(file), spec_of(file, delimiter=";")
    assert said.to_dict()["source"]["csv"] == {"delimiter": ";"}
    assert plain.hash != said.hash
    assert kanon_sql.Spec.from_dict(said.to_dict()) == said
    assert said.redacted()["source"]["csv"] == {"delimiter": ";"}


FAULTS = {
    "latin-1": ("\n".join(lines()).encode("latin-1"), "line 2 is not UTF-8", "encoding: latin-1"),
    "utf-16": ("\n".join(lines()).encode("utf-16"), "UTF-16", "encoding: utf-16"),
    "utf-16 without a mark": ("\n".join(lines()).encode("utf-16-le"), "UTF-16", "encoding: utf-16"),
    "mixed ends": (
        "".join(line + ("\r\n" if number % 3 else "\n") for number, line in enumerate(lines())).encode(),
        "lines end differently, 40 in CR LF, 21 in LF", "dos2unix",
    ),
    "other mixed ends": (
        "".join(line + ("\r" if number % 3 else "\n") for number, line in enumerate(lines())).encode(),
        "lines end differently, 21 in LF, 40 in CR", "mac2unix",
    ),
    "a short line": ("\n".join([HEAD, "a note", *lines()[1:]]).encode(), "line 2 has 1", "3 cells"),
    "a long first line": ("\n".join(["age,cost", *lines()[1:]]).encode(), "line 2 has 3", "a name is missing"),
    "nothing": (b"", "empty", "names of the columns"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_file_that_is_not_whole_is_refused_with_its_name_the_cause_and_what_to_do(tmp_path: Path, name: str) -> None:
    content, cause, advice = FAULTS[name]
    file = tmp_path / "odd.csv"
    file.write_bytes(content)
    with kanon_sql.connect(":memory:") as engine, pytest.raises(KanonError) as caught:
        kanon_sql.plan(engine, spec_of(file))
    said = str(caught.value)
    assert "odd.csv" in said
    assert cause in said
    assert advice in said
    assert "rich" not in said  # no value of the file


@pytest.mark.parametrize(
    ("written", "asked", "cause"),
    [
        ("utf-8", "utf-16", "its text is not UTF-16"),
        ("latin-1", "utf-16", "its text is not UTF-16"),
        ("utf-16", "latin-1", "encoding: utf-16"),
        ("utf-16-be", "latin-1", "encoding: utf-16"),
        ("utf-16-be", "utf-16", "no text in this encoding"),
    ],
)
@pytest.mark.parametrize("odd", [False, True])
def test_a_file_that_is_read_in_another_encoding_shows_nothing_of_its_rows(
    tmp_path: Path, written: str, asked: str, cause: str, odd: bool
) -> None:
    """All of it became the name of one column, which the error about a missing column listed."""
    file = tmp_path / "odd.csv"
    content = "\n".join([*lines(), "x" * odd]).encode(written)
    file.write_bytes(content)
    with kanon_sql.connect(":memory:") as engine:
        asked_for = {"quasi_identifiers": ["age"], "k": 2, "csv": {"encoding": asked}}
        for verb, given, named in (
            (kanon_sql.plan, spec_of(file, encoding=asked), {}),
            (kanon_sql.anonymize, spec_of(file, encoding=asked), {}),
            (kanon_sql.check, str(file), asked_for),
        ):
            with pytest.raises(KanonError) as caught:
                verb(engine, given, **named)
            assert cause in str(caught.value) or (verb is kanon_sql.check and "its text is not" in str(caught.value))
            assert str(caught.value).isascii()
            assert "rich" not in str(caught.value)


def test_a_compressed_file_is_looked_into(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv.gz"
    file.write_bytes(gzip.compress("\n".join([HEAD, "a note", *lines()[1:]]).encode()))
    with kanon_sql.connect(":memory:") as engine, pytest.raises(KanonError, match="line 2 has 1"):
        kanon_sql.plan(engine, spec_of(file))


def test_one_column_is_one_column(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("age\n" + "\n".join(str(20 + index % 5) for index in range(50)), encoding="utf-8")
    assert len(values_read(file)) == 50


def test_the_form_in_which_dates_were_read_is_told_where_it_was_guessed(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("day\n" + "\n".join(f"{index % 28 + 1}/{index % 12 + 1}/2024" for index in range(60)), "utf-8")
    spec: dict[str, Any] = {
        "version": 1, "source": {"file": str(file)}, "release": "copy",
        "quasi_identifiers": {"day": {"dates": ["month"]}}, "privacy": [{"k_anonymity": {"k": 2}}],
        "suppression": {"max_share": 1.0},
    }  # fmt: skip
    with kanon_sql.connect(":memory:") as engine:
        notes = kanon_sql.plan(engine, kanon_sql.Spec.from_dict(spec)).notes
        assert [note for note in notes if "dates were read as %d/%m/%Y" in note]
        spec["source"]["csv"] = {"dates": "%d/%m/%Y"}
        notes = kanon_sql.plan(engine, kanon_sql.Spec.from_dict(spec)).notes
        assert not [note for note in notes if "dates were read" in note]
    file.write_text("day\n" + "\n".join(f"2024-{index % 12 + 1:02}-11" for index in range(60)), "utf-8")
    del spec["source"]["csv"]
    with kanon_sql.connect(":memory:") as engine:
        notes = kanon_sql.plan(engine, kanon_sql.Spec.from_dict(spec)).notes
        assert not [note for note in notes if "dates were read" in note]


def drafted(file: Path, **csv: str) -> str:
    with kanon_sql.connect(":memory:") as engine:
        return kanon_sql.init(engine, str(file), csv=csv or None)


def test_a_draft_says_which_values_are_in_doubt(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = [
        f"{index % 12 + 1}/{index % 11 + 1}/{40 + index % 30},941{index % 10:02},{index % 9};".strip(";")
        for index in range(90)
    ]
    file.write_text("\n".join(["birth_date,zip,diagnosis", *rows]), encoding="utf-8")
    text = drafted(file)
    assert "birth_date: none of 90 dates has a day above 12" in text
    future = sum(1 for index in range(90) if 40 + index % 30 <= 68)  # 69 to 99 are of the 20th century
    assert f"birth_date: {future} of 90 dates are in the future" in text
    told = drafted(file, dates="%d/%m/%y")
    assert "above 12" not in told
    assert 'csv: {dates: "%d/%m/%y"}' in told
    assert kanon_sql.Spec.parse(told).source.csv is not None


@pytest.mark.slow
def test_a_draft_says_that_numbers_have_a_decimal_comma(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines(";", ",")), encoding="utf-8")
    assert "cost: all values are numbers with a comma" in drafted(file)
    assert "numbers with a comma" not in drafted(file, decimal="comma")


@pytest.mark.parametrize(
    ("csv", "said"),
    [
        ({"encoding": "latin1"}, "encoding: unknown encoding; did you mean 'latin-1'?"),
        ({"dates": "day first"}, "dates: expected a date format"),
        ({"decimal": ","}, "decimal: unknown decimal mark"),
        ({"delimiter": ":"}, "delimiter: unknown delimiter"),
    ],
)
def test_a_format_that_is_none_is_refused(tmp_path: Path, csv: dict[str, str], said: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines()), encoding="utf-8")
    with pytest.raises(KanonError) as caught:
        drafted(file, **csv)
    assert said in str(caught.value)
    with pytest.raises(KanonError) as caught:
        spec_of(file, **csv)
    assert said.partition(": ")[2] in str(caught.value)


def test_a_format_is_for_csv_files_alone() -> None:
    for place in ({"table": "visits"}, {"file": "a.parquet"}):
        written = {**place, "csv": {"decimal": "comma"}}
        with pytest.raises(KanonError, match="this is for a CSV file"):
            kanon_sql.Spec.from_dict({"version": 1, "source": written, "quasi_identifiers": {"age": None}})


def test_the_command_line_takes_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_bytes("\n".join(lines(";", ",")).encode("latin-1"))
    result = CliRunner().invoke(app, ["init", "a.csv", "--set", "encoding=latin-1,decimal=comma"])
    assert result.exit_code == 0, result.output
    assert "source: {file: a.csv, csv: {encoding: latin-1, decimal: comma}}" in result.output
    missing = CliRunner().invoke(app, ["init", "nosuch.csv"])
    assert missing.exit_code != 0
    assert "there is no file 'nosuch.csv'" in missing.output
