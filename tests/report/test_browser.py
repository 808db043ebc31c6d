"""Reports and the documentation in a real browser, headless: the pictures draw, nothing overflows, the search finds.

Chromium (``chromium``, or what ``KANON_BROWSER`` names) is skipped where it is missing, unless
``KANON_REQUIRE_BROWSER`` is set, as CI does.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.report.test_report import CLOSE
from tests.support.command_line import make_clinic, run

pytestmark = pytest.mark.slow

MEASURE = """
<script>
addEventListener("load", () => {
  const box = (item) => item.getBoundingClientRect();
  const found = {
    width: document.documentElement.clientWidth,
    overflow: Math.max(...[...document.querySelectorAll(".kanon, .kanon *")]
      .filter((item) => !item.parentElement.closest(".scroll, .drawing, pre"))  // these scroll by themselves
      .map((item) => box(item).right - box(document.documentElement).right)),
    ground: getComputedStyle(document.querySelector(".kanon")).backgroundColor,
    pictures: [...document.querySelectorAll("svg.picture")].map((svg) => ({
      width: box(svg).width, height: box(svg).height,
      painted: [...svg.querySelectorAll("rect,path,circle,line")].filter((mark) => {
        const style = getComputedStyle(mark);
        return style.fill !== "none" || style.stroke !== "none";
      }).length,
      outside: [...svg.querySelectorAll("rect,path,circle,line,text")].filter((mark) => {
        const own = box(mark), whole = box(svg);
        return own.left < whole.left - 2 || own.right > whole.right + 2
          || own.top < whole.top - 2 || own.bottom > whole.bottom + 2;
      }).map((mark) => mark.outerHTML),
      text: Math.min(...[...svg.querySelectorAll("text")].map((text) => box(text).height)),
    })),
  };
  const shown = document.createElement("output");
  shown.id = "measured";
  shown.textContent = JSON.stringify(found);
  document.body.append(shown);
});
</script>
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("reports")
    make_clinic(directory / "clinic.duckdb")
    (directory / "small.yml").write_text(CLOSE)
    large = CLOSE.replace("zip: {prefix: [4, 3, 2]}", "zip: {prefix: [4, 3, 2]}\n  name: {prefix: [4, 3, 2, 1]}")
    (directory / "large.yml").write_text(
        large.replace("identifiers: [name]\n", "").replace("[5, 10, 20]", "[5, 10, 20, 40, 80, 160]")
    )
    made = {}
    assert run("anonymize", directory / "small.yml", "-d", directory / "clinic.duckdb", "-q").exit_code == 0
    for name, arguments in {
        "plan": ["plan", "small.yml"],
        "large": ["plan", "large.yml"],
        "check": ["check", "small.yml", "--table", "visits"],
        "compare": ["compare", "small.yml", "--k", "2,5,20"],
        "audit": ["audit", "small.yml"],
    }.items():
        made[name] = directory / f"{name}.html"
        verb, spec, *more = arguments
        result = run(verb, directory / spec, "-d", directory / "clinic.duckdb", *more, "-o", made[name], "-q")
        assert result.exit_code in (0, 1), result.output
    return made


def opened(
    browser: str, page: Path, profile: Path, width: int, *, dark: bool = False, query: str = "", wait: int = 0
) -> tuple[str, list[str]]:
    """The page's DOM after loading and some more milliseconds of its time, and what it wrote to the console."""
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
        f"--window-size={width},900", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        "--enable-logging=stderr", "--dump-dom", page.as_uri() + query,
    ]  # fmt: skip
    if wait:
        command.insert(1, f"--virtual-time-budget={wait}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def measured(browser: str, page: Path, tmp_path: Path, width: int, *, dark: bool = False) -> dict[str, Any]:
    """What a script finds in a copy of the page that may run one.

    No window of a desktop browser is narrower than 500 pixels: below that the page is laid out in a part of one.
    """
    copy = tmp_path / f"{page.stem}-{width}.html"
    text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text("utf-8"))
    narrow = f"<style>html {{ width: {width}px }}</style>" if width < 500 else ""
    copy.write_text(text.replace("</body>", narrow + MEASURE + "</body>"), "utf-8")
    dom, _ = opened(browser, copy, tmp_path / "profile", max(width, 500), dark=dark)
    found = re.search(r'<output id="measured">(.*?)</output>', dom, re.DOTALL)
    assert found is not None, "the page did not load"
    data: dict[str, Any] = json.loads(re.sub("&amp;", "&", re.sub("&lt;", "<", re.sub("&gt;", ">", found.group(1)))))
    return data


@pytest.mark.parametrize("name", ["plan", "large", "check", "compare", "audit"])
@pytest.mark.campaign_on("compare", "check")
def test_the_pictures_draw_and_the_console_is_clean(
    browser: str, reports: dict[str, Path], tmp_path: Path, name: str
) -> None:
    _, console = opened(browser, reports[name], tmp_path / "profile", 1280)
    assert console == []
    for width in (380, 1280):
        found = measured(browser, reports[name], tmp_path, width)
        assert found["overflow"] <= 0, "nothing is wider than the window"
        assert len(found["pictures"]) == reports[name].read_text("utf-8").count("<svg")
        for picture in found["pictures"]:
            assert picture["width"] > min(300, 0.75 * width)
            assert picture["height"] > 40
            assert picture["painted"] >= 4
            assert picture["outside"] == []
            assert picture["text"] > 8


def test_dark_is_dark(browser: str, reports: dict[str, Path], tmp_path: Path) -> None:
    for dark in (False, True):
        ground = measured(browser, reports["plan"], tmp_path, 800, dark=dark)["ground"]
        brightness = sum(map(int, re.findall(r"\d+", ground)[:3]))
        assert (brightness < 200) == dark


# --- The documentation -----------------------------------------------------------------------


@pytest.mark.xdist_group("site")
def test_the_search_of_the_documentation_works_from_disk(browser: str, site: Path, tmp_path: Path) -> None:
    words, page = "raise_for_failure", "reference/python.html"
    dom, console = opened(browser, site / "index.html", tmp_path / "profile", 1280, query=f"?q={words}", wait=20_000)
    assert console == []
    found = re.findall(r'<a href="([^"]*)" class="md-search-result__link"', dom)
    assert any((site / page).as_uri() in target for target in found), found


@pytest.mark.campaign
@pytest.mark.xdist_group("site")
def test_the_search_finds_nothing_where_there_is_nothing(browser: str, site: Path, tmp_path: Path) -> None:
    dom, _ = opened(browser, site / "index.html", tmp_path / "profile", 1280, query="?q=qwyjibo", wait=20_000)
    assert "No matching documents" in dom
    assert "md-search-result__link" not in dom
