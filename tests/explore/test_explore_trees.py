"""``explore``: trees of labels, certificates and pages of the documentation over HTTP, and hostile requests."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import duckdb
import pytest

import kanon_sql
from kanon_sql.explore import manual, views
from kanon_sql.explore.controls import asked_for
from kanon_sql.explore.trees import MOST_LABELS, tree_of_rows, tree_of_spec
from tests import ROOT
from tests.support.command_line import SECRET, SPEC, make_clinic
from tests.support.explorers import Somebody, explored

TREE = {"all": {"flat": ["b", "a", "10", "2"], "deep": {"deeper": ["c"], "deep": None}}, "alone": None}
TEXT = SPEC.replace("incognito", "optimal")
WITH_TREE = TEXT.replace("zip: {prefix: [4, 3, 2]}", f"zip: {{tree: {json.dumps(TREE)}}}")


@pytest.fixture(scope="module")
def clinic_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explore") / "clinic.duckdb"
    make_clinic(path)
    return path


@pytest.fixture(scope="module")
def served(clinic_file: Path) -> Iterator[Somebody]:
    with explored(partial(kanon_sql.connect, clinic_file, read_only=True), kanon_sql.Spec.parse(WITH_TREE)) as somebody:
        somebody.enter()
        yield somebody


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def nodes(text: str) -> Any:
    """What the page's script is given to draw."""
    (given,) = re.findall(r'data-nodes="([^"]*)"', text)
    return json.loads(html.unescape(given))


def labels(drawn: Any) -> list[str]:
    return [label for name, below in drawn for label in (name, *labels(below or []))]


# --- Trees ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_tree_of_the_spec_is_drawn_in_its_order(served: Somebody) -> None:
    served.open()
    drawn = nodes(served.send(served.visit + "tree?column=1").text)
    assert drawn == [
        ["all", [["flat", [["b", None], ["a", None], ["10", None], ["2", None]]],
                 ["deep", [["deeper", [["c", None]]], ["deep", None]]]]],
        ["alone", None],
    ]  # fmt: skip
    assert "Draw its tree" in served.send(served.visit).text
    assert '<option value="zip">zip' in served.send(served.visit).text
    assert '<option value="0">age' not in served.send(served.visit).text, "bands of numbers are no tree of labels"


def test_a_hierarchy_of_numbers_is_not_drawn_and_one_of_prefixes_begins_empty(clinic_file: Path) -> None:
    refused = kanon_sql.Spec.parse(TEXT)
    with pytest.raises(kanon_sql.errors.SpecError, match="its hierarchy is intervals, which is not a tree of labels"):
        tree_of_spec(refused, "age")
    drawn = tree_of_spec(refused, "zip")
    assert (list(drawn.nodes), drawn.kind, drawn.index) == ([], "prefix", 1)


def test_the_written_top_is_kept(served: Somebody) -> None:
    served.open()
    assert 'data-top=""' in served.send(served.visit + "tree?column=1").text
    served.ask("ask", {"rule.1": '{"tree": {"*": {"x": ["1"], "y": null}}}'})
    drawn = served.send(served.visit + "tree?column=1").text
    assert 'data-top="yes"' in drawn
    assert nodes(drawn) == [["x", [["1", None]]], ["y", None]]


def test_a_tree_that_comes_back_is_a_hierarchy_and_its_order_stays() -> None:
    spec = kanon_sql.Spec.parse(TEXT)
    for rule in (
        '{"tree": {"9": ["94110", "94109"], "10": [{"2": ["1"]}, "3"], "alone": null}}',
        '{"tree": {"*": {"9": ["94110"], "10": ["1"]}}}',
    ):
        made = asked_for(spec, {"rule.1": rule})
        assert tree_of_spec(made, "zip").labels == len(labels(tree_of_spec(made, "zip").nodes))
        assert labels(tree_of_spec(made, "zip").nodes)[0] == "9"
    first = asked_for(spec, {"rule.1": '{"tree": {"9": ["94110", "94109"], "10": [{"2": ["1"]}, "3"], "x": null}}'})
    assert labels(tree_of_spec(first, "zip").nodes) == ["9", "94110", "94109", "10", "2", "1", "3", "x"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('{"tree": {"a": ["1"], "b": ["1"]}}', "this label stands under two parents"),
        ('{"tree": {"a": ["1", "1"]}}', "this label is listed twice"),
        ('{"tree": {"a": ["1"], "a": ["2"]}}', "a label occurs twice in one place"),
        ('{"tree": {"a": ["*"]}}', "'*' is the top value"),
        ('{"tree": {}}', "at least one value"),
        ('{"tree": ["1"]}', "a mapping of labels"),
        ('{"tree": ' + '{"x":' * 100 + "null" + "}" * 100 + "}", "levels deep"),
        ("[" * 100_000, "this is not YAML"),
        ('{"tree": {"a": ["\\u0000"]}}', "a zero byte"),
        ('{"tree": {"a": ["\\ud800"]}}', "a broken character"),
        ("x" * 6_000 + ": [", "of YAML, and the page reads at most"),
        ("{tree: &a {b: *a}}", "levels deep"),
    ],
)  # fmt: skip
def test_the_specs_own_checks_judge_a_tree(served: Somebody, rule: str, message: str) -> None:
    served.open()
    answer = served.ask("ask", {"rule.1": rule})
    assert answer.status == 422
    assert message in plain(answer.text), plain(answer.text)[:300]
    assert "is released" not in answer.text
    assert nodes(served.send(served.visit + "tree?column=1").text)[0][0] == "all", "the spec is as it was"


def test_labels_are_text_and_nothing_else(served: Somebody) -> None:
    served.open()
    nasty = "<img src=x onerror=alert(1)>\"'&</script><script>alert(2)</script>"
    rule = json.dumps({"tree": {nasty: ["94110"], "b": ["1"]}})
    served.ask("ask", {"rule.1": rule})
    for path in ("tree?column=1", "controls", ""):
        text = served.send(served.visit + path).text
        assert "<img" not in text
        assert "<script>" not in text
    assert nodes(served.send(served.visit + "tree?column=1").text)[0][0] == nasty


@pytest.mark.slow
def test_a_tree_of_thousands_of_labels_is_answered_at_once_and_not_drawn(served: Somebody) -> None:
    served.open()
    rule = json.dumps({"tree": {"all": [f"{number:05}" for number in range(40_000)]}})
    started = time.process_time()
    served.ask("ask", {"rule.1": rule})
    found = served.send(served.visit + "tree?column=1")
    assert "40,001 labels, and at most 400 are drawn" in plain(found.text)
    assert len(found.text) < 5_000
    assert time.process_time() - started < 20


def test_columns_that_are_not_there_have_no_tree(served: Somebody) -> None:
    for given in ("", "2", "-1", "x", "1.0", "\u0661"):
        assert served.send(served.visit + f"tree?column={quote(given)}").status == 404
    assert served.send(served.visit + "values", {"column": "9"}).status == 404
    assert served.send(served.visit + "tree?column=0").status == 422


def test_values_of_the_table_are_taken_only_where_that_was_asked_for(clinic_file: Path, served: Somebody) -> None:
    served.open()
    refused = served.ask("values", {"column": "1"})
    assert (refused.status, "only with --allow-reveal" in refused.text) == (422, True)
    assert "Take the values of the table" not in served.send(served.visit + "tree?column=1").text
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with duckdb.connect(str(clinic_file), read_only=True) as connection:
        values = {str(value) for (value,) in connection.execute("SELECT DISTINCT zip FROM visits").fetchall()}
    with explored(connect, kanon_sql.Spec.parse(TEXT), reveals=True) as somebody:
        somebody.enter()
        drawn = nodes(somebody.ask("values", {"column": "1"}).text)
    found = labels(drawn)
    assert values <= set(found)
    for value in values:  # by arithmetic on the value's characters
        for kept in (4, 3, 2):
            assert value[:kept] + "*" * (len(value) - kept) in found
    (outermost,) = {len(label) - label.count("*") for label, _ in drawn}
    assert outermost == 2


def test_values_that_the_tree_lacks_are_outermost(clinic_file: Path) -> None:
    with duckdb.connect(str(clinic_file), read_only=True) as connection:
        values = [str(v) for (v,) in connection.execute("SELECT DISTINCT zip FROM visits ORDER BY 1").fetchall()]
    text = TEXT.replace("{prefix: [4, 3, 2]}", f"{{tree: {{known: {json.dumps(values[:3])}}}}}")
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(text), reveals=True) as somebody:
        somebody.enter()
        drawn = dict(nodes(somebody.ask("values", {"column": "1"}).text))
    assert sorted(label for label, _ in drawn.pop("known")) == values[:3]
    assert drawn.keys() == set(values[3:])


def test_rows_become_a_tree() -> None:
    rows = [
        ("Paris", "Paris", "France"),
        ("Lyon", "Rhone", "France"),
        ("Oslo", "Oslo", "Oslo"),
        ("Nice", "Nice", "South"),
    ]
    assert tree_of_rows(rows) == {
        "France": {"Paris": {}, "Rhone": {"Lyon": {}}}, "Oslo": {}, "South": {"Nice": {}}
    }  # fmt: skip
    assert tree_of_rows([("France", "France"), ("Paris", "France")]) == {"France": {"France": {}, "Paris": {}}}
    assert tree_of_rows([]) == {}


def test_a_table_with_too_many_values_is_not_drawn(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "many.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE visits AS SELECT 'v' || range AS zip, range % 9 AS age FROM range({MOST_LABELS + 50})"
        )
    text = "version: 1\nsource: visits\nquasi_identifiers: {zip: {}, age: {}}\nprivacy: [{k_anonymity: {k: 2}}]\n"
    with explored(
        partial(kanon_sql.connect, tmp_path / "many.duckdb", read_only=True), kanon_sql.Spec.parse(text), reveals=True
    ) as somebody:
        somebody.enter()
        found = somebody.ask("values", {"column": "0"}).text
    assert nodes(found) == []
    assert f"{MOST_LABELS + 50} labels, and at most" in plain(found)


# --- Certificates --------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_certified_is_verified_by_the_command_that_is_shown(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    with explored(
        partial(kanon_sql.connect, tmp_path / "clinic.duckdb"), kanon_sql.Spec.parse(TEXT), may_publish=True,
        directory=tmp_path,
    ) as somebody:  # fmt: skip
        somebody.enter()
        early = somebody.ask("certify", {"directory": "certificate"})
        assert early.status == 422, "nothing is published yet"
        assert somebody.ask("publish", {}).status == 200
        found = somebody.ask("certify", {"directory": "some/where", "by": "<b>The office</b>"})
        assert found.status == 200
        said = plain(found.text)
        assert "PASS certified visits_release by" in said
        for words in (
            "5-anonymity: every class has at least 5",
            "every cell of a quasi-identifier",
            "no node that sat",
        ):
            assert words in said
        (command,) = re.findall(r"python (\S+) (\S+) -d DATABASE", said)
        content = json.loads((tmp_path / "some/where/certificate.json").read_text())
        assert content["made"]["by"] == "<b>The office</b>"
        somebody.ask("ask", {"privacy.0.k": "9"})
        other = somebody.ask("certify", {"directory": "other"})
        assert (other.status, "was published by another spec" in other.text) == (422, True)
    ended = subprocess.run(
        [sys.executable, *command, "-d", "clinic.duckdb"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (ended.returncode, "all claims hold" in ended.stdout) == (0, True), ended.stdout + ended.stderr
    assert not (tmp_path / "other").exists()


def test_nothing_is_certified_unless_writing_was_allowed(clinic_file: Path, served: Somebody) -> None:
    served.open()
    refused = served.ask("certify", {"directory": "certificate"})
    assert (refused.status, "--allow-publish" in refused.text) == (422, True)
    assert "Certify the release" not in served.send(served.visit).text


@pytest.mark.slow
def test_nothing_is_written_outside_of_where_the_server_was_started(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    start, outside = tmp_path / "start", tmp_path / "outside"
    for folder in (start, outside, start / "full"):
        folder.mkdir()
    (start / "full" / "mine.txt").write_text("mine")
    (start / "file").write_text("mine")
    (start / "link").symlink_to(outside)
    (start / "loop").symlink_to(start / "loop")
    before = sorted(str(path) for path in tmp_path.rglob("*") if "duckdb" not in path.name)
    with explored(
        partial(kanon_sql.connect, tmp_path / "clinic.duckdb"), kanon_sql.Spec.parse(TEXT), may_publish=True,
        directory=start,
    ) as somebody:  # fmt: skip
        somebody.enter()
        assert somebody.ask("publish", {}).status == 200
        for given in (
            "", "  ", ".", "..", "../outside", "a/../..", "a/../../outside/x", str(outside), "/", "/etc/kanon", "link",
            "link/inside", "loop", "loop/x", "full", "file", "file/inside", "x\0y", "a\nb", "n" * 300,
            "~/../../outside", "../start/../outside", str(start), "\u202egnp",
        ):  # fmt: skip
            answer = somebody.ask("certify", {"directory": given} if given else {})
            assert answer.status == 422, (given, answer.text)
            assert "directory" in answer.text or "certificate cannot be written" in answer.text, answer.text
    assert sorted(str(path) for path in tmp_path.rglob("*") if "duckdb" not in path.name) == before
    assert not list(outside.iterdir())


@pytest.mark.slow
def test_a_certificate_that_is_being_made_is_stopped(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    slow = False

    def connect() -> kanon_sql.Engine:
        engine = kanon_sql.connect(tmp_path / "clinic.duckdb")
        fetch = engine.fetch

        def waits(statement: Any, limit: int) -> Any:
            if slow:
                time.sleep(0.4)
            return fetch(statement, limit)

        engine.fetch = waits  # type: ignore[method-assign]
        return engine

    with explored(connect, kanon_sql.Spec.parse(TEXT), may_publish=True, directory=tmp_path) as somebody:
        somebody.enter()
        somebody.ask("publish", {})
        slow = True
        waiting = somebody.send(somebody.visit + "certify", {"directory": "certificate"})
        assert waiting.status == 202
        (job,) = re.findall(r'data-job="([^"]*)"', waiting.text)
        somebody.send(somebody.visit + job + "/stop", {})
        while (found := somebody.send(somebody.visit + job)).status == 202:
            time.sleep(0.05)
        slow = False
        assert (found.status, "stopped before it had an answer" in found.text) == (422, True)
        assert not (tmp_path / "certificate").exists()
        assert somebody.ask("certify", {"directory": "certificate"}).status == 200, "the next question is answered"


# --- Who may ask ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
     {"Sec_Fetch_Site": "same-site"}, {"X_Kanon_Key": ""}],
)  # fmt: skip
def test_no_other_page_reaches_the_new_addresses(served: Somebody, headers: dict[str, str]) -> None:
    for path in ("tree?column=1", "/docs/reference/warnings", "/static/tree.js", "/static/lattice.js"):
        address = path if path.startswith("/") else served.visit + path
        holds_nothing = path.startswith("/") and "X_Kanon_Key" in headers  # a file of the program
        assert served.send(address, **headers).status in ((200,) if holds_nothing else (403, 421))
    for path in ("certify", "values"):
        assert served.send(served.visit + path, {"directory": "x", "column": "1"}, **headers).status in (403, 421)
        assert served.send(served.visit + path, {"directory": "x"}, Origin="").status == 403


def test_a_link_or_a_picture_of_another_page_writes_nothing(served: Somebody) -> None:
    for path in ("certify?directory=x", "values?column=1"):
        assert served.send(served.visit + path).status == 405, "only a form of the page itself"


# --- The documentation ---------------------------------------------------------------------


def test_each_warning_leads_to_its_section(served: Somebody) -> None:
    from kanon_sql.spec import Spec
    from kanon_sql.verbs.result import Warned

    page = served.send("/docs/reference/warnings")
    assert page.status == 200
    written = (ROOT / "docs" / "reference" / "warnings.md").read_text("utf-8")
    codes = re.findall(r"^## (\w+)$", written, re.MULTILINE)
    assert set(type(Spec.parse(TEXT).warnings).model_fields) <= set(codes)
    for code in codes:
        address = manual.address(Warned(code, "", []).page)
        assert address == f"/docs/reference/warnings#{code}"
        assert page.text.count(f' id="{code}"') == 1
    anchors = re.findall(r'href="#([^"]*)"', page.text)
    assert anchors
    for anchor in anchors:
        assert f' id="{anchor}"' in page.text
    assert not re.findall(r'(?:src|href)="(?!/|#|data:)', page.text), "nothing comes from elsewhere"
    assert not re.findall(r"<!--|<style|\son\w+=", page.text)
    assert "of a table that has the column" in plain(page.text)
    for name in ("models", "..%2f..%2fpyproject", "warnings.md", "%2e%2e"):
        assert served.send(f"/docs/reference/{name}").status == 404


def test_a_page_that_is_not_here_is_no_link() -> None:
    for named in ("docs/reference/models.md", "docs/choosing.md#x", "docs/reference/warnings.md#a b", "/etc/passwd"):
        assert manual.address(named) is None
    assert manual.page("../../etc/passwd") is None


def test_a_page_shows_no_comment_no_tag_and_no_link_that_leads_away() -> None:
    page = manual.rendered(
        "# A b\n\n<!-- not run -->\n[x](models.md) [y](#a-b) <b>z</b>\n\n```sql\nSELECT '<i>'\n```\n"
    )
    assert (page.title, '<h1 id="a-b">' in page.html) == ("A b", True)
    assert "not run" not in page.html
    assert re.findall(r"<a [^>]*>", page.html) == ['<a href="#a-b">']
    assert "x " in page.html
    assert "<b>" not in page.html
    assert "<i>" not in page.html


def test_what_a_certificate_says_is_text(tmp_path: Path) -> None:
    found: Any = SimpleNamespace(
        passed=False, message="<b>m</b>", directory=tmp_path.resolve() / "<b>d</b>", sha256="<b>s</b>", claims=[],
        problems=["<b>p</b>"], not_certified=[{"what": "<b>w</b>", "why": "<b>y</b>"}],
        content={"release": "<b>r</b>", "optimality": None},
    )  # fmt: skip
    said = views.certified(found, tmp_path)
    assert "<b>" not in said
    for letter in "mdspwyr":
        assert f"&lt;b&gt;{letter}&lt;/b&gt;" in said
    assert "What does not hold" in said


def test_a_warning_of_an_answer_is_a_link(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    text = TEXT.replace("zip: {prefix: [4, 3, 2]}", "zip: {minimum_level: 1}")
    connect = partial(kanon_sql.connect, tmp_path / "clinic.duckdb", read_only=True)
    with explored(connect, kanon_sql.Spec.parse(text)) as somebody:
        somebody.enter()
        answer = somebody.ask("ask", {}).text
    assert 'href="/docs/reference/warnings#column_fully_generalized"' in answer


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_holds_the_page(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(tmp_path / "inside")], check=True)
    asked = "from kanon_sql.explore import manual; print(manual.page('warnings').title, manual.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "inside")}
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert said.stdout.startswith(f"Warnings {tmp_path}"), said.stderr


@pytest.mark.slow
def test_no_answer_holds_what_few_rows_have(tmp_path: Path) -> None:
    """A planted ZIP code and name of one row: on every new address, before and after the release, and when refused."""
    make_clinic(tmp_path / "clinic.duckdb")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            f"INSERT INTO visits BY NAME SELECT '{SECRET}name' AS name, 86753 AS age, '{SECRET}' AS zip, "
            f"'{SECRET}itis' AS diagnosis"
        )
    with explored(
        partial(kanon_sql.connect, tmp_path / "clinic.duckdb"), kanon_sql.Spec.parse(TEXT), may_publish=True,
        directory=tmp_path,
    ) as somebody:  # fmt: skip
        somebody.enter()
        somebody.ask("ask", {})
        for rule in ("{prefix: [4, 3, 2]}", "{}", '{"tree": {"9": ["94110"], "x": ["1"]}}', "{prefix: [2]}"):
            somebody.ask("ask", {"rule.1": rule})
            for column in ("0", "1", "2"):
                somebody.send(somebody.visit + f"tree?column={column}")
                somebody.ask("values", {"column": column})
        somebody.ask("publish", {})
        for directory in ("certificate", "../x", "certificate"):
            somebody.ask("certify", {"directory": directory})
        somebody.send("/docs/reference/warnings")
        for answer in somebody.heard:
            assert SECRET not in answer.text
            assert not re.search(r"\b86753\b", answer.text)
        assert any("PASS certified" in plain(answer.text) for answer in somebody.heard)
    for path in (tmp_path / "certificate").rglob("*"):
        assert path.is_dir() or SECRET not in path.read_text("utf-8")
