"""``explore`` in a real browser: trees of labels, by mouse, finger and keyboard."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.support.explored_pages import TEXT, answered, overflow, page_of, refuse_violations
from tests.support.explorers import explored

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


playwright = pytest.importorskip("playwright.sync_api") if not os.environ.get("KANON_REQUIRE_BROWSER") else None


COUNTRIES = (
    "tree: {Europe: {West: [France, Spain], North: [Sweden, Norway]}, Asia: [Japan, India], '10': null, '2': null}"
)


@pytest.fixture
def countries(clinic_file: Path) -> tuple[Path, kanon_sql.Spec]:
    """The clinic with a column of countries, and a tree of them; two are called by numbers, which no order may move."""
    with duckdb.connect(str(clinic_file)) as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN country TEXT")
        connection.execute(
            "UPDATE visits SET country = "
            "['France', 'Spain', 'Sweden', 'Norway', 'Japan', 'India', '10', '2'][1 + rowid % 8]"
        )
    text = TEXT.replace("zip: {prefix: [4, 3, 2]}", f"country: {{{COUNTRIES}}}")
    return clinic_file, kanon_sql.Spec.parse(text)


def tree_in_use(page: Any) -> Any:
    """The hierarchy that the saved spec has."""
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save the spec").click()
    return kanon_sql.Spec.parse(Path(saving.value.path()).read_text()).to_dict()["quasi_identifiers"]["country"]["tree"]


def drawn_tree(page: Any) -> None:
    page.get_by_role("button", name="Draw its tree").click()
    page.wait_for_selector("[role=tree] li")


def label(page: Any, name: str) -> Any:
    """The row of a label; a group is found by its name and what is in it."""
    return page.get_by_role("treeitem", name=re.compile(f"^{name}(, group of .*)?$")).locator("> .row > .label")


@pytest.mark.campaign
def test_labels_are_dragged_to_another_group(chromium: Any, countries: tuple[Path, kanon_sql.Spec]) -> None:
    path, spec = countries
    connect = partial(kanon_sql.connect, path, read_only=True)
    with explored(connect, spec) as somebody, page_of(chromium, somebody.address) as page:
        answered(page, "5-anonymity")
        drawn_tree(page)
        page.locator("[role=tree]").scroll_into_view_if_needed()

        def drag(name: str, to: Any) -> None:
            start, end = label(page, name).bounding_box(), to.bounding_box()
            page.mouse.move(start["x"] + 4, start["y"] + 4)
            page.mouse.down()
            page.mouse.move(start["x"] + 30, start["y"] + 9, steps=3)
            assert page.locator(".ghost").inner_text() == name
            page.mouse.move(end["x"] + 4, end["y"] + end["height"] / 2, steps=5)
            page.mouse.up()

        drag("Sweden", label(page, "West"))
        assert page.inner_text("#tree-said") == "Moved Sweden to West."
        drag("Norway", label(page, "India"))  # onto a value: into its group
        assert page.inner_text("#tree-said") == "Moved Norway to Asia."
        drag("Europe", label(page, "France"))
        assert "into itself" in page.inner_text("#tree-said")
        page.get_by_role("button", name="Use this tree").click()
        page.wait_for_function("() => document.querySelector('#tree-said').innerText.includes('North is empty')")
        label(page, "Europe").click()  # was selected by dragging; now it is not
        label(page, "North").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        page.get_by_role("button", name="Use this tree").click()
        answered(page, "1 read of the source")
        page.wait_for_function("() => document.querySelector('#tree-said').innerText.includes('is in use')")
        assert page.inner_text("#tree-problems") == ""
        assert tree_in_use(page) == {
            "Europe": {"West": ["France", "Spain", "Sweden"]},
            "Asia": ["Japan", "India", "Norway"],
            "10": None,
            "2": None,
        }
        assert list(tree_in_use(page)) == ["Europe", "Asia", "10", "2"], "in their order"
        assert page.input_value("#rule\\.1").startswith('{"tree": {"Europe"'), "the controls show it"
        drawn_tree(page)
        refuse_violations(page)


def test_a_tree_is_built_by_the_keyboard_alone(chromium: Any, countries: tuple[Path, kanon_sql.Spec]) -> None:
    path, spec = countries
    connect = partial(kanon_sql.connect, path, read_only=True)
    with explored(connect, spec) as somebody, page_of(chromium, somebody.address) as page:
        answered(page, "5-anonymity")
        page.get_by_role("button", name="Draw its tree").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=tree] li")

        def focused() -> str:
            return str(
                page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.id")
            )

        def tab_until(what: str) -> None:
            for _ in range(12):
                page.keyboard.press("Tab")
                if focused().startswith(what):
                    return
            raise AssertionError(f"no Tab leads to {what}")

        def press(*keys: str) -> None:
            for key in keys:
                page.keyboard.press(key)

        tab_until("Europe")
        ring = "() => getComputedStyle(document.activeElement.querySelector('.row')).outlineStyle"
        assert page.evaluate(ring) == "solid"
        press("ArrowDown", "ArrowDown", "ArrowDown")
        assert focused() == "Spain"
        press("Space", "ArrowUp", "Space")  # France, too
        assert page.inner_text("#tree-chosen") == "2 labels selected"
        press("F2")
        assert focused() == "tree-label"
        page.keyboard.type("South")
        press("Enter")
        assert page.inner_text("#tree-said") == "Made South of 2 labels."
        tab_until("South")
        press("ArrowLeft")
        assert page.get_by_role("treeitem", name="South, group of 2").get_attribute("aria-expanded") == "false"
        press("ArrowRight", "Space", "F2")
        assert page.input_value("#tree-label") == "South"
        page.keyboard.press("Control+a")
        page.keyboard.type("Asia")
        press("Enter")
        assert "There is Asia already" in page.inner_text("#tree-said")
        page.keyboard.press("Control+a")
        page.keyboard.type("Latin")
        press("Enter")
        assert page.inner_text("#tree-said") == "South is Latin now."
        tab_until("Latin")
        press("Space", "End", "Space")
        assert page.inner_text("#tree-chosen") == "Selected: 2"
        press("ArrowUp", "Space", "Enter")
        assert focused() == "tree-target"
        page.keyboard.type("Asia")
        press("Tab", "Enter")
        assert page.inner_text("#tree-said") == "Moved 2 labels to Asia."
        tab_until("10")
        press("Delete")
        assert page.inner_text("#tree-said") == "Removed 10."
        page.get_by_role("button", name="Undo the last change of the tree").focus()
        press("Enter")
        assert label(page, "10").count() == 1
        for _ in range(12):
            press("Tab")
            if page.evaluate("() => document.activeElement.textContent") == "Use this tree":
                break
        press("Enter")
        answered(page, "1 read of the source")
        assert tree_in_use(page) == {
            "Europe": {"West": {"Latin": ["France", "Spain"]}, "North": ["Sweden", "Norway"]},
            "Asia": ["Japan", "India", "10", "2"],
        }


BY_FINGER = """() => {
  const all = () => [...document.querySelectorAll('[role=treeitem]')];
  const item = (name) => all().find((own) => own.ariaLabel.split(',')[0] === name);
  const at = (own) => {
    const box = own.getBoundingClientRect();
    return { clientX: box.x + 4, clientY: box.y + box.height / 2, bubbles: true, pointerType: 'touch' };
  };
  window.drag = (from, part, to) => {
    const start = item(from).querySelector(part), end = item(to).querySelector('.label');
    end.scrollIntoView({ block: 'center' });
    start.dispatchEvent(new PointerEvent('pointerdown', at(start)));
    window.dispatchEvent(new PointerEvent('pointermove', at(end)));
    window.dispatchEvent(new PointerEvent('pointerup', at(end)));
  };
}"""
"""A finger on a part of a label, moved to another one: Playwright taps, and does not drag by touch."""


@pytest.mark.campaign
def test_a_tree_that_is_wrong_is_said_beside_it_and_nothing_is_lost(
    chromium: Any, countries: tuple[Path, kanon_sql.Spec]
) -> None:
    path, spec = countries
    connect = partial(kanon_sql.connect, path, read_only=True)
    with explored(connect, spec) as somebody, page_of(chromium, somebody.address, 380, has_touch=True) as page:
        answered(page, "5-anonymity")
        drawn_tree(page)
        page.locator("summary", has_text="Add values").click()
        page.get_by_label("values of the column, one per line").fill("West\n<b>Peru</b>\nFrance\n")
        page.get_by_role("button", name="Add them").click()
        assert page.inner_text("#tree-said") == "Added 2 labels to the outermost ones."
        assert page.locator("[role=tree] b").count() == 0, "labels are text"
        size = label(page, "Spain").locator("..").bounding_box()
        assert size["height"] >= 40, "large enough for a finger"
        page.evaluate(BY_FINGER)
        page.evaluate("drag('Japan', '.label', 'North')")  # which scrolls
        assert label(page, "Asia").locator("..").inner_text().split()[-1] == "2"
        page.evaluate("drag('Japan', '.grip', 'North')")
        assert page.inner_text("#tree-said") == "Moved Japan to North."
        page.get_by_role("button", name="Undo the last change of the tree").click()
        label(page, "Spain").tap()
        assert page.inner_text("#tree-chosen") == "Selected: Spain"
        page.get_by_role("button", name="Use this tree").click()
        page.wait_for_selector("#tree-problems li")
        assert "this label stands under two parents" in page.inner_text("#tree-problems")
        assert page.inner_text("#tree-chosen") == "Selected: Spain", "what was built is still there"
        page.get_by_label("k of k-anonymity").fill("6")
        answered(page, "6-anonymity")  # the controls were not touched by it
        refuse_violations(page)
        assert overflow(page) <= 0
