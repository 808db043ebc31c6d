"""Results as Altair charts: every picture has one, from the same numbers; and results in a notebook."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.report.charts import charts_of, charts_of_run
from kanon_sql.report.html import html_fragment, run_report
from kanon_sql.report.pictures import pictures_of
from kanon_sql.report.run import read_run
from tests import ROOT
from tests.conftest import Database
from tests.report.test_browser import opened
from tests.report.test_report import CLOSE, Page
from tests.support.command_line import make_clinic, refused, run


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> kanon_sql.results.Plan:
    directory = tmp_path_factory.mktemp("charts")
    make_clinic(directory / "clinic.duckdb")
    spec = kanon_sql.Spec.parse(CLOSE + "utility: {classify: diagnosis}\n", "spec.yml")
    with kanon_sql.connect(str(directory / "clinic.duckdb")) as db:
        return kanon_sql.plan(db, spec, distributions=True)


def values(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return chart["data"]["values"]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_every_picture_is_a_chart_with_the_same_numbers(planned: kanon_sql.results.Plan) -> None:
    charts, pictures = charts_of(planned), pictures_of(read_run(planned.to_dict(), "here"))
    assert set(charts) == set(pictures)
    details = planned.details
    assert details is not None
    sizes = {(item["table"], item["size"]): item["records"] for item in values(charts["class-sizes"])}
    assert sum(rows for (table, _), rows in sizes.items() if table == "release") == planned.rows["released"]
    for row in pictures["class-sizes"].rows:
        assert [f"{sizes[table, row[0]]:,}" for table in ("source", "release")] == [row[2], row[4]]
    assert [item["share"] for item in values(charts["loss"])] == [item.loss for item in details.attributes]
    (known,) = [item for item in values(charts["lattice"]) if item["also"].startswith("chosen")]
    assert known["levels"] == ", ".join(f"{name} {level}" for name, level in (planned.node or {}).items())
    assert len(values(charts["lattice"])) == len((details.lattice and details.lattice.nodes) or ())
    assert len(values(charts["frontier"])) == len(details.solutions)
    accuracy = (planned.utility or {})["accuracy"]
    assert sorted(item["share"] for item in values(charts["utility"])) == sorted(accuracy.values())
    for item in details.distributions:
        told = [(one["label"], one["rows"]) for one in values(charts[f"distribution-{item.name}"])]
        assert [rows for _, rows in told] == [cell.released for cell in item.cells]
        assert min(rows for _, rows in told) >= item.least
    for table, own in ((table, table.distances[0]) for table in details.tables):
        drawn = [one["classes"] for one in values(charts["distances-1"]) if one["table"] == table.name]
        assert drawn == [one.classes for one in own.ranges if one.high is not None]


@pytest.mark.slow
def test_a_large_lattice_is_a_chart_by_height(planned: kanon_sql.results.Plan) -> None:
    data = planned.to_dict()
    data["details"]["lattice"]["nodes"] = None
    found = values(charts_of_run(read_run(data, "here"))["lattice"])
    heights = data["details"]["lattice"]["heights"]
    assert sum(item["nodes"] for item in found) == sum(item["nodes"] for item in heights)
    for item in heights:
        item["known"] = None
    assert [one["nodes"] for one in values(charts_of_run(read_run(data, "here"))["lattice"])] == [
        item["nodes"] for item in heights
    ]


@pytest.mark.slow
def test_altair_takes_them_and_draws_them(planned: kanon_sql.results.Plan) -> None:
    altair, convert = pytest.importorskip("altair"), pytest.importorskip("vl_convert")
    for name in charts_of(planned):
        chart = planned.chart(name)
        assert isinstance(chart, altair.TopLevelMixin)
        drawn = convert.vegalite_to_svg(chart.properties(title="Mine").to_dict())
        assert "Mine" in drawn
        assert "NaN" not in drawn
        assert len(re.findall(r"<path|<line", drawn)) > 5


@pytest.mark.slow
def test_charts_of_a_comparison(database: Database) -> None:
    pytest.importorskip("altair")
    database.table("people", ["zip"], [(f"{n % 7}{n % 3}",) for n in range(40)])
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"zip": {"prefix": [1]}},
            "privacy": [{"k_anonymity": 2}],
        }
    )
    found = kanon_sql.compare(database.engine, {"people": spec}, [1, 3, 30])
    chart = found.chart("frontier").to_dict()
    told = {item["k"]: item["value"] for item in next(iter(chart["datasets"].values()))}
    assert told == {run.k: run.result.metrics["loss"] for run in found.runs if run.result is not None}
    assert set(charts_of(found)) == {"frontier", "suppression"}
    assert "Comparison" in found._repr_html_()
    one = kanon_sql.compare(database.engine, {"people": spec, "the same": spec}, [3])
    with pytest.raises(SpecError, match="has no charts; compare two values of k"):
        one.chart("frontier")


def test_an_unknown_name_lists_what_there_is(planned: kanon_sql.results.Plan) -> None:
    with pytest.raises(SpecError, match=r"chart 'pie': .*there are loss, class-sizes, .*frontier, utility$"):
        planned.chart("pie")


def test_without_altair(planned: kanon_sql.results.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(UnsupportedError, match=r'pip install ".\[charts\]"'):
        planned.chart("loss")


# --- The page with a script ------------------------------------------------------------------


@pytest.mark.slow
def test_an_interactive_page_has_its_script_and_its_pictures(planned: kanon_sql.results.Plan, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    still = kanon_sql.html_report(planned)
    page = kanon_sql.html_report(planned, interactive=True)
    assert len(still) < 150_000, "no megabytes unless they are asked for"
    assert 800_000 < len(page) - len(still) < 1_200_000
    assert "<script" not in still
    assert "data-chart" not in still
    assert page.count("<script>") == 1
    assert page.count("</script>") == 1
    body = page.partition("<script>")[0]
    assert body.count("<svg") == still.count("<svg") == len(charts_of(planned))
    assert "default-src 'none'" in body, "nothing is fetched"
    (tmp_path / "run.json").write_text(json.dumps(planned.to_dict()))
    done = run("report", tmp_path / "run.json", "--interactive-charts", "-q", "-o", tmp_path / "out.html")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out.html").read_text("utf-8").rstrip("\n") == page.rstrip("\n")


@pytest.mark.slow
def test_names_in_an_interactive_page_cannot_end_its_script(planned: kanon_sql.results.Plan) -> None:
    pytest.importorskip("vl_convert")
    data = planned.to_dict()
    data["details"]["attributes"][0]["name"] = "</script><script>alert(1)</script>"
    page = run_report(read_run(data, "here"), interactive=True)
    assert page.count("<script>") == 1
    assert "\\u003c/script>" in page


def test_an_interactive_page_without_its_package(
    planned: kanon_sql.results.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(planned.to_dict()))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert 'pip install ".[report]"' in refused(run("report", tmp_path / "run.json", "--interactive-charts"), 2)
    only = run("report", tmp_path / "run.json", "--interactive-charts", "--pictures", tmp_path / "x")
    assert "--interactive-charts needs a page" in refused(only, 2)


@pytest.mark.slow
def test_a_run_without_numbers_has_no_interactive_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(CLOSE)
    assert run("anonymize", "spec.yml", "-d", "clinic.duckdb", "-q").exit_code == 0
    (manifest,) = tmp_path.glob("*.manifest.json")
    counted = json.loads(manifest.read_text())
    del counted["details"], counted["class_sizes"]  # as a run in Python leaves it
    manifest.write_text(json.dumps(counted))
    assert "no figures to draw" in refused(run("report", manifest, "--interactive-charts", "-o", "page.html"), 2)
    assert not Path("page.html").exists()


@pytest.mark.slow
def test_distributions_are_for_something_that_shows_them(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(CLOSE)
    arguments = ["plan", tmp_path / "spec.yml", "-d", tmp_path / "clinic.duckdb", "--show", "distributions", "-q"]
    assert "--show distributions needs --output PATH.html or --format json" in refused(run(*arguments), 2)
    result = run(*arguments, "--format", "json", "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert [item["name"] for item in json.loads(result.stdout)["details"]["distributions"]] == [
        "age", "zip", "diagnosis"
    ]  # fmt: skip
    page = (tmp_path / "r.html").read_text()
    Page(page)
    assert "Rows by label</h2>" in page


# --- Notebooks -------------------------------------------------------------------------------


def test_specs_and_results_show_themselves(database: Database) -> None:
    database.table("people", ["zip"], [("11",), ("11",), ("12",), ("12",)])
    written = {
        "version": 1, "source": {"query": "SELECT zip FROM people WHERE zip <> 'Hidden'"},
        "quasi_identifiers": {"zip": {"tree": {"all": ["11", "12"]}}}, "privacy": [{"k_anonymity": 2}],
    }  # fmt: skip
    spec = kanon_sql.Spec.from_dict(written)
    shown = html_fragment(spec)
    Page(shown)
    assert shown == spec._repr_html_()
    assert "Quasi-identifiers</h2>" in shown
    assert "Hidden" not in shown, "as manifests have it"
    assert "sha256" not in re.sub(r"<pre.*</pre>", "", shown, flags=re.DOTALL)
    for result in (
        kanon_sql.risk(database.engine, spec, "people"),
        kanon_sql.audit(database.engine, spec, "people"),
        kanon_sql.plan(database.engine, spec),
    ):
        fragment = result._repr_html_()
        Page(fragment)
        assert fragment.startswith("<style>")
    assert "<svg" in kanon_sql.plan(database.engine, spec)._repr_html_(), "without a flag"


MEASURE = """
<script>
addEventListener("load", () => setTimeout(() => {
  const box = (item) => item.getBoundingClientRect();
  const found = {
    theme: document.body.dataset.jpThemeLight,
    grounds: [...document.querySelectorAll(".kanon")].map((item) => getComputedStyle(item).backgroundColor),
    tiles: [...document.querySelectorAll(".kanon .tiles div")].map((tile) => ({
      above: box(tile.querySelector("dt")).bottom <= box(tile.querySelector("dd")).top + 1,
      lines: box(tile.querySelector("dt")).height / parseFloat(getComputedStyle(tile.querySelector("dt")).lineHeight),
      bold: getComputedStyle(tile.querySelector("dt")).fontWeight,
    })),
    facts: [...document.querySelectorAll(".kanon .facts dt")].map((item) => box(item).width),
    heads: [...document.querySelectorAll(".kanon th:not(.number)")].map((item) => getComputedStyle(item).textAlign),
    stripes: [...document.querySelectorAll(".kanon tbody tr")].map((row) => getComputedStyle(row).backgroundColor),
    wide: [...document.querySelectorAll(".kanon")].map((item) =>
      Math.max(...[...item.querySelectorAll("*")]
        .filter((inner) => !inner.parentElement.closest(".scroll, .drawing, pre"))
        .map((inner) => box(inner).right)) - box(item).right),
  };
  const shown = document.createElement("output");
  shown.id = "measured";
  shown.textContent = JSON.stringify(found);
  document.body.append(shown);
}, 0));
</script>
"""


@pytest.mark.campaign
@pytest.mark.slow
def test_the_example_notebook_in_jupyterlabs_clothes(browser: str, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    book = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "it is kept without what it shows"
    NotebookClient(book, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    charts = [
        output for cell in book.cells for output in cell.get("outputs", ()) if "altair-viz" in str(output.get("data"))
    ]
    assert len(charts) == 3
    for theme in ("light", "dark"):
        text, _ = HTMLExporter(template_name="lab", theme=theme).from_notebook_node(book)
        text = re.sub(r'<script[^>]*src="https?://[^>]*></script>', "", text)  # nothing is fetched for a test
        page = tmp_path / f"{theme}.html"
        page.write_text(text.replace("</body>", MEASURE + "</body>"), "utf-8")
        # The theme is the notebook's, whatever the system's is.
        dom, _ = opened(browser, page, tmp_path / "profile", 1100, dark=theme == "light", wait=10_000)
        found = json.loads(re.findall(r'<output id="measured">(.*?)</output>', dom, re.DOTALL)[-1])
        assert len(found["grounds"]) == 5
        assert len(found["tiles"]) > 8
        for tile in found["tiles"]:
            assert tile["above"]
            assert tile["lines"] < 2.5
            assert tile["bold"] == "400"
        assert min(found["facts"]) > 80
        assert set(found["heads"]) == {"left"}
        assert set(found["stripes"]) == {"rgba(0, 0, 0, 0)"}
        assert max(found["wide"]) <= 1
        for ground in found["grounds"]:
            assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (theme == "dark")


@pytest.mark.slow
def test_an_interactive_page_draws_in_the_browser(
    browser: str,
    planned: kanon_sql.results.Plan,
    tmp_path: Path,
) -> None:
    pytest.importorskip("vl_convert")
    page = tmp_path / "page.html"
    page.write_text(kanon_sql.html_report(planned, interactive=True), "utf-8")
    dom, console = opened(browser, page, tmp_path / "profile", 1100, wait=10_000)
    assert [line for line in console if "fit-y" not in line] == []  # Vega-Lite says that heights by step stay
    charts = len(charts_of(planned))
    assert dom.count('class="vega-embed') == charts
    assert dom.count('class="picture"') == 0, "each stands where its picture was"
    assert len(re.findall(r'class="marks"', dom)) == charts


@pytest.mark.slow
def test_the_text_of_a_result_in_a_notebook_is_text_alone(tmp_path: Path) -> None:
    """No second output beside what is printed, and no colours in what ``str`` returns."""
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    from nbclient import NotebookClient

    shown = [
        "import duckdb, kanon_sql; c = duckdb.connect('t.duckdb')",
        "c.execute('CREATE TABLE t AS SELECT 1 AS age FROM range(9)'); c.close(); db = kanon_sql.connect('t.duckdb')",
        "found = kanon_sql.check(db, 't', quasi_identifiers=['age'], k=5); print(found)",
        "found",
        "str(found)",
        "kanon_sql.plan(db, 't', quasi_identifiers=['age'], k=5, report=kanon_sql.Progress()); None",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in shown])
    NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed, displayed, text, worked = (cell.outputs for cell in book.cells[2:])
    assert [item.output_type for item in printed] == ["stream"]
    assert printed[0].text.startswith("PASS  t: the only class satisfies 5-anonymity")
    assert set(displayed[0].data) == {"text/html", "text/plain"}
    assert len(displayed) == 1
    assert "\\x1b" not in text[0].data["text/plain"]
    (line,) = worked  # one, however many stages there were
    assert re.fullmatch(r"done in \d+\.\d s", line.data["text/plain"])
