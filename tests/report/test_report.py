"""The HTML report: what it says, what it may never say, and that it stands by itself."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.report.html import html_style, run_report
from kanon_sql.report.html.blocks import Cells, Facts, Prose, generic
from kanon_sql.report.layout import columns, plain
from kanon_sql.report.pictures import pictures_of
from kanon_sql.report.pictures.colours import DARK, LIGHT, MARKS
from kanon_sql.report.pictures.lattice import KINDS
from kanon_sql.report.pictures.svg import Scale, clipped, ticks
from kanon_sql.report.recoding import column_cells
from kanon_sql.report.run import read_run
from kanon_sql.report.words import metric
from kanon_sql.search.explain import Known
from tests.support.command_line import SECRET, SPEC, make_clinic, refused, run

VOID = {"meta", "link", "br", "img", "hr", "input"}

CLOSE = SPEC.replace("suppression:", "  - t_closeness: {attribute: diagnosis, t: 0.6}\nsuppression:")


class Page(HTMLParser):
    """An HTML page: well nested, with its headings, ids, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(attribute)) is not None]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clinic, its release, and the reports of every verb."""
    directory = tmp_path_factory.mktemp("reported")
    make_clinic(directory / "clinic.duckdb")
    (directory / "spec.yml").write_text(CLOSE)
    for verb, more in (("plan", []), ("anonymize", []), ("check", ["--table", "visits"])):
        arguments = [directory / "spec.yml", "-d", directory / "clinic.duckdb", "--format", "json", *more]
        result = run(verb, *arguments, "-o", directory / f"{verb}.html")
        assert result.exit_code in (0, 1), result.output
        assert f"report: {directory / verb}.html" in result.stderr
        (directory / f"{verb}.json").write_text(result.stdout)
    return directory


def pages(directory: Path) -> list[str]:
    return [(directory / f"{verb}.html").read_text("utf-8") for verb in ("plan", "anonymize", "check")]


# --- What may never be in it -----------------------------------------------------------------


def test_no_value_of_a_small_class_is_anywhere(reported: Path) -> None:
    with duckdb.connect(str(reported / "clinic.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT DISTINCT zip, diagnosis, name FROM visits").fetchall()
    values = {value for row in rows for value in row}
    assert SECRET in values
    for text in [*pages(reported), *((reported / f"{verb}.json").read_text() for verb in ("plan", "check"))]:
        words = set(re.findall(r"\w+", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)))
        assert not words & values, "neither the planted value nor any other of the data"


@pytest.mark.slow
def test_no_password_and_no_literal_of_the_users_sql(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    query = "SELECT * FROM visits WHERE name <> 'Hidden One'"
    (tmp_path / "spec.yml").write_text(SPEC.replace("source: visits", f'source: {{query: "{query}"}}'))
    result = run("plan", tmp_path / "spec.yml", "-d", tmp_path / "clinic.duckdb", "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text()
    assert "Hidden" not in page
    assert "SELECT * FROM visits WHERE name &lt;&gt; ?" in page


def test_names_that_are_markup_stay_text() -> None:
    evil = "<script>alert(1)</script>"
    data: dict[str, Any] = {
        "verb": "plan", "verdict": "pass", "message": evil, "release": evil, "node": {evil: 1, "a\x1b[31m": 0},
        "notes": [evil], "achieved": {evil: {"requirement": evil, "k": 2}}, evil: {evil: [{evil: evil}]},
        "search": {"algorithm": evil, "runners_up": [{"node": {evil: 1}, evil: 3}]},
    }  # fmt: skip
    page = run_report(read_run(data, "here"))
    Page(page)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


# --- It stands by itself ---------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", ["plan", "anonymize", "check"])
def test_a_page_needs_nothing_else(reported: Path, verb: str) -> None:
    page = Page((reported / f"{verb}.html").read_text("utf-8"))
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "iframe", "object", "embed", "base", "form"}
    assert page.values("src") == []
    assert page.values("href") == ["data:,"]
    assert not re.search(r"url\(|@import|https?://", (reported / f"{verb}.html").read_text("utf-8"))


@pytest.mark.parametrize("verb", ["plan", "anonymize", "check"])
def test_a_page_is_accessible(reported: Path, verb: str) -> None:
    page = Page((reported / f"{verb}.html").read_text("utf-8"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert ("html", {"lang": "en"}) in page.tags
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for names in page.values("aria-labelledby"):
        assert set(names.split()) <= set(ids)
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes["role"] == "img"
        if tag == "th":
            assert attributes["scope"] in ("row", "col")


def contrast(first: str, second: str) -> float:
    """WCAG 2.2: the ratio of relative luminances."""

    def luminance(colour: str) -> float:
        parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_have_contrast(colours: dict[str, str]) -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    for ground in ("paper", "panel"):
        for name in ("ink", "muted", "accent"):
            assert contrast(colours[name], colours[ground]) >= 4.5, name
    for name in ("good", "bad"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, "badges and limits are text"
    assert contrast(colours["before"], colours["paper"]) >= 3
    assert colours.keys() == LIGHT.keys()
    assert set(re.findall(r"var\(--(\w+)\)", MARKS)) <= colours.keys()


# --- What it says ----------------------------------------------------------------------------


def test_the_verdict_comes_first(reported: Path) -> None:
    plan, anonymize, check = pages(reported)
    assert re.search(r"<h1><span class=\"badge pass\">PASS</span> A release can meet every requirement</h1>", plan)
    assert "Published: the release meets every requirement" in anonymize
    assert re.search(r"<h1><span class=\"badge fail\">FAIL</span> The table does not meet the requirements", check)
    for page in (plan, anonymize, check):
        assert page.index("<h1>") < page.index("<h2")
    titles = re.findall(r"<h2[^>]*>([^<]*)", anonymize)
    assert titles == [
        "Requirements", "Generalization", "Classes and risk", "Sensitive values", "Quality", "Search",
        "Run", "Spec",
    ]  # fmt: skip


def test_every_picture_is_there_with_its_numbers(reported: Path) -> None:
    found = read_run(json.loads((reported / "anonymize.json").read_text()), "here")
    drawn = pictures_of(found)
    assert list(drawn) == ["loss", "class-sizes", "risk", "distances-1", "lattice", "frontier"]
    for picture in drawn.values():
        ElementTree.fromstring(picture.standalone())
        assert picture.description.endswith(".")
        assert all(len(row) == len(picture.heads) for row in picture.rows)
        assert "nan" not in picture.marks
        assert "var(" not in picture.standalone()
        kinds = set(re.findall(r'class="([\w-]+)"', picture.marks))
        assert kinds <= set(re.findall(r"\.([\w-]+)", MARKS)), "every mark has a colour"
    assert set(KINDS) == set(Known.__args__)
    sizes = drawn["class-sizes"]
    assert found.details is not None
    told = [sum(int(row[column].replace(",", "")) for row in sizes.rows) for column in (2, 4)]
    assert told == [table.records for table in found.details.tables]


def test_a_large_lattice_is_drawn_by_height(reported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads((reported / "anonymize.json").read_text())
    small = pictures_of(read_run(data, "here"))["lattice"]
    data["details"]["lattice"]["nodes"] = None
    large = pictures_of(read_run(data, "here"))["lattice"]
    assert large.rows == small.rows
    for item in data["details"]["lattice"]["heights"]:
        item["known"] = None
    assert [row[:2] for row in pictures_of(read_run(data, "here"))["lattice"].rows] == [row[:2] for row in small.rows]


def test_a_run_without_details_has_the_sizes_of_its_classes(reported: Path) -> None:
    data = json.loads((reported / "plan.json").read_text())
    (sizes,) = pictures_of(read_run({**data, "details": None}, "here")).values()
    assert sizes.name == "class-sizes"
    assert sum(int(row[2].replace(",", "")) for row in sizes.rows) == data["rows"]["released"]
    data["details"], data["class_sizes"] = None, []
    page = run_report(read_run(data, "here"))
    Page(page)
    assert "<svg" not in page
    assert "quasi-identifier" in page
    result = run("report", "-q", write(reported / "bare.json", data), "--pictures", reported / "none")
    assert "no figures to draw" in refused(result, 2)


def test_what_it_does_not_know_becomes_tables() -> None:
    data = {"verb": "attack", "model_risk": {"a": {"risk": 0.25, "at": 3}, "b": {"risk": 1.0, "at": None}}, "seed": 5}
    page = run_report(read_run(data, "here"))
    Page(page)
    assert "<h1>Result of attack</h1>" in page
    assert "Model risk</h2>" in page
    assert '<th scope="row">a</th>' in page
    assert generic({"x": 1, "y": [{"z": True}]}) == [
        Facts([("x", "1")]), Prose("y:"), Cells(["z"], [["yes"]])
    ]  # fmt: skip


def write(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path


# --- The verb --------------------------------------------------------------------------------


def test_report_from_a_result_a_manifest_and_a_run_id(reported: Path, tmp_path: Path) -> None:
    manifest = json.loads((reported / "visits_release.manifest.json").read_text())
    for arguments in (
        [reported / "anonymize.json"],
        [reported / "visits_release.manifest.json"],
        [manifest["run_id"], "-d", reported / "clinic.duckdb"],
    ):
        result = run("report", *arguments, "-q")
        assert result.exit_code == 0, result.output
        Page(result.stdout)
        assert "Published: the release meets every requirement" in result.stdout
        assert result.stdout.count("<svg") == 6
    page = (reported / "anonymize.html").read_text("utf-8")
    assert run("report", reported / "anonymize.json", "-q").stdout == page, "the JSON holds all of it"
    assert run("report", reported / "plan.json", "-o", tmp_path / "out.html").stdout == ""
    assert Page((tmp_path / "out.html").read_text())


def test_a_release_that_no_report_was_asked_of_has_the_numbers_of_one(tmp_path: Path) -> None:
    """Its manifest holds them, for one statement and no read of the source; that of a file counts no source rows."""
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(CLOSE + "utility: {classify: diagnosis}\n")
    on = ("-d", tmp_path / "clinic.duckdb", "--format", "json", "-q")
    for _ in range(2):  # the second one replaces a release, as the next does
        found = run("anonymize", tmp_path / "spec.yml", *on)
    with kanon_sql.connect(str(tmp_path / "clinic.duckdb")) as engine:
        bare = kanon_sql.anonymize(engine, kanon_sql.Spec.load(tmp_path / "spec.yml"))
    cost = json.loads(found.stdout)["cost"]
    assert (cost["statements"], cost["source_scans"]) == (bare.cost.statements + 1, bare.cost.source_scans)
    text = (tmp_path / "visits_release.manifest.json").read_text()
    assert SECRET not in text
    manifest = json.loads(text)
    drawn = pictures_of(read_run(manifest, "here"))
    assert [*drawn] == ["loss", "class-sizes", "risk", "distances-1", "lattice", "frontier", "utility"]
    page = run("report", tmp_path / "visits_release.manifest.json").stdout
    assert page.count("<svg") == len(drawn)
    assert page.count(manifest["run_id"]) == 1
    assert manifest["mean_loss"] == bare.mean_loss
    assert bare.mean_loss is not None
    assert f"{metric(100 * bare.mean_loss)} %" in page

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(f"COPY visits TO '{tmp_path / 'visits.csv'}'")
    spec = CLOSE.replace("source: visits", f"source: {{file: {tmp_path / 'visits.csv'}}}")
    (tmp_path / "file.yml").write_text(spec.replace("visits_release", f"{{file: {tmp_path / 'out.csv'}}}"))
    found = run("anonymize", tmp_path / "file.yml", "--show", "distributions", "-o", tmp_path / "out.html")
    assert found.exit_code == 0, found.output
    assert "Rows by label" in (tmp_path / "out.html").read_text()
    beside = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert [table["name"] for table in beside["details"]["tables"]] == ["release"]
    assert beside["details"]["distributions"] == []
    assert len(pictures_of(read_run(beside, "here"))) == len(drawn) - 1, "all but utility"


def test_pictures_as_files(reported: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    for form, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        result = run("report", reported / "anonymize.json", "--pictures", tmp_path / form, "--picture-format", form)
        assert result.exit_code == 0, result.output
        files = sorted((tmp_path / form).iterdir())
        assert [path.name for path in files] == [
            f"{name}.{form}" for name in ("class-sizes", "distances-1", "frontier", "lattice", "loss", "risk")
        ]
        assert all(path.read_bytes().startswith(start) for path in files)


def test_png_without_its_package(reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    arguments = ["report", reported / "anonymize.json", "--pictures", tmp_path, "--picture-format", "png"]
    assert 'pip install ".[report]"' in refused(run(*arguments), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json"], "no such file"),
        (["0badc0de"], "also give the database"),
        (["broken.json"], "not a readable JSON file"),
        (["list.json"], "expected the JSON of a result"),
        (["damaged.json"], "damaged at node.age"),
        (["good.json", "--picture-format", "png"], "--picture-format needs --pictures"),
        (["good.json", "--pictures", "x", "--picture-format", "gif"], "expected svg or png"),
        (["good.json", "-o", "nowhere/x.html"], "existing directory"),
        (["0badc0de", "-d", "clinic.duckdb"], "no release of the run 0badc0de"),
        (["it's; DROP", "-d", "clinic.duckdb"], "neither a file nor the id of a run"),
    ],
)
def test_report_refuses(
    reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    (tmp_path / "clinic.duckdb").write_bytes((reported / "clinic.duckdb").read_bytes())
    (tmp_path / "broken.json").write_text("{")
    write(tmp_path / "list.json", [1])
    good = json.loads((reported / "plan.json").read_text())
    write(tmp_path / "good.json", good)
    write(tmp_path / "damaged.json", {**good, "node": {"age": "x"}})
    monkeypatch.chdir(tmp_path)
    assert message in refused(run("report", *arguments), 2)


def test_a_report_path_is_refused_before_the_run(reported: Path) -> None:
    spec = reported / "spec.yml"
    for verb in ("plan", "anonymize", "check"):
        result = run(verb, spec, "-d", reported / "clinic.duckdb", "-o", reported / "no" / "x.html")
        assert "existing directory" in refused(result, 2)
    result = run("pipeline", "estimate", spec, "-d", reported / "clinic.duckdb", "-o", reported / "x.html")
    assert "this command writes no HTML report" in refused(result, 2)


def test_a_notebook_shows_a_fragment(database: Any) -> None:
    database.table("people", ["zip"], [("11",), ("11",), ("12",)])
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"zip": {"prefix": [1]}},
            "privacy": [{"k_anonymity": 2}],
        }
    )
    shown = kanon_sql.plan(database.engine, spec)._repr_html_()
    Page(shown)
    assert shown.startswith("<style>")
    assert "<html" not in shown
    assert "body{" not in shown, "its rules are for what is inside it alone"
    failed = kanon_sql.check(database.engine, spec, "people", details=True)
    assert 'class="badge fail"' in failed._repr_html_()
    with pytest.raises(SpecError):
        read_run({}, "here")


# --- Drawing ---------------------------------------------------------------------------------


def test_ticks_and_scales() -> None:
    assert ticks(100) == [0, 20, 40, 60, 80, 100]
    assert ticks(0.07, 4) == [0, 0.02, 0.04, 0.06, 0.08]
    assert ticks(0) == [0, 1]
    assert Scale(0, 0, 5, 9)(3) == 5
    assert Scale(0, 4, 10, 30)(1) == 15
    assert clipped("a" * 50, 60) == "a" * 7 + "…"


# --- Words ------------------------------------------------------------------------------------


def test_tables_break_no_word_that_has_room() -> None:
    """Rich narrows the widest column first, which is the one of the names."""
    name = "a_rather_long_column_name"
    table = columns([("quasi-identifier", False), *((f"k = {k}", False) for k in (2, 5, 10))])
    table.add_row(name, *["0: as in the source"] * 3)
    lines = plain(table).splitlines()
    assert lines[1].startswith(name)
    assert max(map(len, lines)) <= 80
    table = columns([(name, False), (name * 4, False)])
    table.add_row("a", "b")
    shown = "".join(plain(table).split())
    assert sorted(shown) == sorted(name * 5 + "ab"), "nothing is cut off where there is no room"


def test_rows_of_null_are_no_rows_of_a_level() -> None:
    recoding = {"columns": {"birth": {"mean_loss": 0.2, "levels": {
        "0": {"labels": 1, "rows": 30, "nulls": 30}, "2": {"labels": 4, "rows": 70}}}}}  # fmt: skip
    ((*_, shares),) = column_cells(recoding, {"birth": ["as in the source", "year", "decade"]})
    assert shares == "2 (decade): 70 %, NULL: 30 %"


def test_a_fragment_follows_the_theme_of_its_page() -> None:
    """As JupyterLab, VS Code, marimo and Colab mark it, whatever the system prefers."""
    style = html_style()
    system = style.index("@media (prefers-color-scheme:dark)")
    for theme, marks in {
        "light": ("[data-jp-theme-light=true]", ".vscode-light", ".light-theme", "[theme=light]"),
        "dark": ("[data-jp-theme-light=false]", ".vscode-dark", ".dark-theme", "[theme=dark]"),
    }.items():
        assert style.index(f":is({','.join(marks)}) .kanon.kanon{{color-scheme:{theme};") > system
