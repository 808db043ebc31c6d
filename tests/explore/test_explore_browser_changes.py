"""``explore`` in a real browser: roles, undo, candidates, keys, many columns, and a page that stays."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.spec import Spec
from tests.support.explored_pages import TEXT, WAIT, answered, overflow, page_of, refuse_violations
from tests.support.explorers import explored

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

NASTY = """<img src=x onerror="document.title='hers'"> & 'co'"""


@pytest.mark.campaign_on("390")
@pytest.mark.parametrize("width", [390, 1280])
def test_roles_are_changed_taken_back_and_kept_over_a_reload(chromium: Any, clinic_file: Path, width: int) -> None:
    with duckdb.connect(str(clinic_file)) as connection:
        connection.execute(
            f"ALTER TABLE visits ADD COLUMN \"{NASTY.replace(chr(34), chr(34) * 2)}\" VARCHAR DEFAULT 'a'"
        )
        connection.execute("ALTER TABLE visits ADD COLUMN town VARCHAR")
        connection.execute("UPDATE visits SET town = 'town ' || zip")
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, Spec.parse(TEXT)) as somebody, page_of(chromium, somebody.address, width) as page:
        answered(page, "5-anonymity")
        page.get_by_label("k of k-anonymity").fill("30")
        answered(page, "30-anonymity")
        page.locator("#answer").press("/")
        assert page.evaluate("() => document.activeElement.innerText").startswith("age")
        page.locator("summary", has_text="town").click()
        page.get_by_label("role of town").focus()
        for _ in range(4):  # past three other roles, none of which is given on the way
            page.keyboard.press("ArrowDown")
        page.wait_for_selector("#effects :text('Every value of town is released unchanged')")
        page.wait_for_selector("#row-warnings .problems:has-text('Publishing would stop')")
        assert "kept_reveals_quasi_identifier" in page.inner_text("#row-warnings")
        assert page.inner_text("#answer h2") == "FAIL Publishing would stop", "which the search had not known"
        assert page.text_content("#short") == "FAIL: publishing would stop"
        assert page.evaluate("() => document.activeElement.dataset.role") == "town", "the focus stays"
        assert overflow(page) <= 0
        refuse_violations(page)
        page.locator("summary", has_text="onerror").click()
        page.get_by_label("role of <img").select_option("quasi_identifier")
        page.wait_for_selector("#effects :text('as its type and counts suggest')")
        answered(page, "30-anonymity")
        page.get_by_label("role of diagnosis").evaluate("(item) => item.closest('details').setAttribute('open', '')")
        page.get_by_label("role of diagnosis").select_option("keep")
        page.get_by_role("button", name="Leave it as it is").click()
        page.wait_for_function("() => document.querySelector('[data-role=diagnosis]').value === 'sensitive'")
        page.get_by_label("Keep the controls as").fill(NASTY)
        page.get_by_role("button", name="Keep as a candidate").click()
        page.wait_for_selector("#kept li:nth-child(2)")
        page.get_by_role("button", name="Keep as a candidate").evaluate("(item) => item.focus()")
        for words in ("role of <img", "role of town: not released", "k-anonymity: k = 5"):
            page.keyboard.press("Control+z")
            page.wait_for_selector(f"#step-said:has-text('Undone: {words}')")
        answered(page, "5-anonymity")
        page.keyboard.press("Control+Shift+Z")
        page.wait_for_selector("#step-said:has-text('Done again: k-anonymity')")
        answered(page, "30-anonymity")
        page.get_by_role("button", name="Compare the selected ones").click()
        page.wait_for_selector("#candidates table")
        assert overflow(page) <= 0
        refuse_violations(page)
        page.reload()
        answered(page, "30-anonymity")
        assert page.get_by_label("k of k-anonymity").input_value() == "30"
        assert NASTY in page.inner_text("#kept")
        assert "#" not in page.url
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name=f"Load {NASTY}").click()
        page.wait_for_selector("#kept :text('The controls are those of')")
        answered(page, "town is released as it is")
        page.get_by_role("button", name=f"Delete {NASTY}").click()
        page.wait_for_selector("#kept:has-text('None is kept yet')")
        assert page.title() != "hers"


def test_a_new_tab_goes_on_with_the_page_of_the_one_before(chromium: Any, clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, Spec.parse(TEXT)) as somebody, page_of(chromium, somebody.address, 1280) as page:
        answered(page, "5-anonymity")
        page.get_by_label("k of k-anonymity").fill("8")
        answered(page, "8-anonymity")
        page.get_by_role("button", name="Keep as a candidate").click()
        page.wait_for_selector("#kept li:nth-child(2)")
        context = page.context
        empty = context.new_page()
        empty.goto(somebody.address.partition("#")[0])
        empty.wait_for_selector("[role=alert]:has-text('needs the whole address')", timeout=WAIT)
        assert context.storage_state()["origins"] == [], "nothing is in a store that other tabs, or the disk, have"
        page.close()
        other = context.new_page()
        other.set_default_timeout(WAIT)
        other.goto(somebody.told[-1].rpartition(" ")[2])
        answered(other, "5-anonymity")
        other.wait_for_selector("#earlier li:has-text('k = 8')")
        refuse_violations(other)
        other.get_by_role("button", name="Go on with it").click()
        answered(other, "8-anonymity")
        assert "candidate 1" in other.inner_text("#kept")
        assert other.locator("#earlier li").count() == 0
        other.reload()
        answered(other, "8-anonymity")


@pytest.mark.campaign_on("1440")
@pytest.mark.parametrize("width", [390, 1440])
def test_sixty_columns_are_searched(chromium: Any, tmp_path: Path, width: int) -> None:
    with duckdb.connect(str(tmp_path / "wide.duckdb")) as connection:
        columns = ", ".join(f"(i * {index + 3}) % 7 AS column_{index}" for index in range(60))
        connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(700) AS t(i)")
    connect = partial(kanon_sql.connect, tmp_path / "wide.duckdb", read_only=True)
    with explored(connect, None, table="wide") as somebody, page_of(chromium, somebody.address, width) as page:
        page.wait_for_selector("#roles table")
        page.get_by_label("Search the columns").fill("column_5")
        assert page.locator("#role-rows tr:visible").count() == 11
        page.get_by_label("column_57").select_option("quasi_identifier")
        page.get_by_label("Search the columns").fill("quasi")
        page.get_by_label("Search the columns").press("Enter")
        assert page.get_by_role("button", name="Start with these roles").is_visible(), "Enter sends no form"
        refuse_violations(page)
        assert overflow(page) <= 0
        for index in range(3, 60):  # which roles are suggested is no matter here
            page.evaluate("(index) => { document.getElementsByName('role.' + index)[0].value = 'left_out'; }", index)
        page.get_by_role("button", name="Start with these roles").click()
        answered(page, "5-anonymity")
        page.wait_for_function("() => document.querySelectorAll('#columns > details').length === 60")
        page.locator("#answer").press("/")
        page.keyboard.type("mn_57")
        assert page.locator("#columns > details:visible").count() == 1
        assert "1 of 60 columns" in page.inner_text("#column-filtered")
        page.locator("summary:visible", has_text="column_57").click()
        page.get_by_label("role of column_57").select_option("keep")
        page.wait_for_selector("#effects [data-changed]")
        answered(page, "column_57 is released as it is")
        assert page.locator("#columns > details:visible").count() == 1, "the search stays"
        assert page.get_by_label("role of column_57").input_value() == "keep"
        page.get_by_label("search the columns").fill("quasi-identifier")
        assert page.locator("#columns > details:visible").count() >= 3
        refuse_violations(page)
        assert overflow(page) <= 0
        page.get_by_label("search the columns").press("Escape")
        assert page.locator("#columns > details:visible").count() == 60


def test_keys_are_listed_and_can_be_turned_off(chromium: Any, clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, Spec.parse(TEXT)) as somebody, page_of(chromium, somebody.address) as page:
        answered(page, "5-anonymity")
        focused = "() => document.activeElement.id"
        page.locator("#answer").press("?")
        page.wait_for_selector("#keys[open]")
        refuse_violations(page)
        page.keyboard.press("Escape")
        assert page.locator("#keys[open]").count() == 0
        for key, place in (("c", "privacy.0.k"), ("a", "answer"), ("k", "candidate-name")):
            page.locator("#answer").press(key)
            assert page.evaluate(focused) == place
        page.get_by_label("Keep the controls as").fill("")
        page.keyboard.type("?a/")
        assert page.get_by_label("Keep the controls as").input_value() == "?a/", "in a field they are what one types"
        page.get_by_role("button", name="Keys (?)").click()
        page.get_by_label("single keys are on").uncheck()
        page.get_by_role("button", name="Close").click()
        page.locator("#answer").press("?")
        page.locator("#answer").press("k")
        assert page.locator("#keys[open]").count() == 0
        assert page.evaluate(focused) == "answer"
