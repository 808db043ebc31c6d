"""``explore`` over HTTP: who may ask, what is asked of the database, and what no answer holds."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pytest

import kanon_sql
from kanon_sql.explore.controls import asked_for, saved
from kanon_sql.explore.guard import LARGEST_BODY
from kanon_sql.explore.visits import MOST_VISITS
from kanon_sql.sql import Statement
from tests.servers import subject_of
from tests.servers.base import UrlSubject
from tests.support.command_line import SECRET, SPEC, make_clinic
from tests.support.explorers import Somebody, explored, make_uneven, token_of

TEXT = SPEC.replace("incognito", "optimal")


@pytest.fixture(scope="module")
def clinic_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explore") / "clinic.duckdb"
    make_clinic(path)
    return path


@pytest.fixture(scope="module")
def served(clinic_file: Path) -> Iterator[Somebody]:
    with explored(partial(kanon_sql.connect, clinic_file, read_only=True), kanon_sql.Spec.parse(TEXT)) as somebody:
        somebody.enter()
        yield somebody


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


# --- Who may ask ---------------------------------------------------------------------------


def test_the_printed_address_lets_in_and_nothing_else_does(served: Somebody) -> None:
    stranger = Somebody(served.address)
    for key in (None, "", "guessed", served.visit, token_of(served.address), served.key[:-1]):
        stranger.key = key
        for path in (served.visit, served.visit + "spec.yml", served.visit + "export.json"):
            answer = stranger.send(f"{path}?key={served.key}")
            assert (answer.status, "needs the whole address" in answer.text) == (403, True), path
        assert stranger.send("/visits", {}).status == 403
        assert stranger.send(served.visit + "ask", {"privacy.0.k": "2"}).status == 403
    stranger.key = None
    for path in ("/", "/static/explore.js", "/static/explore.css"):
        answer = stranger.send(path, Sec_Fetch_Site="cross-site" if path == "/" else "same-origin")
        assert answer.status == 200, "a link leads in"
        assert not {"visits_release", "zip", "diagnosis", "clinic"} & set(re.findall(r"\w+", answer.text))


def test_an_address_is_good_once_and_each_use_is_told(clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as first:
        for token in ("", "guessed", token_of(first.address)[:-1]):
            assert first.send("/enter", {"token": token}).status == 403
        assert first.send("/enter", {"token": token_of(first.address)}, Origin="").status == 403
        assert first.told == []
        first.enter()
        late = Somebody(first.address)
        spent = late.send("/enter", {"token": token_of(first.address)})
        assert (spent.status, "was used before" in spent.text) == (403, True)
        (told,) = first.told
        second = Somebody(told.rpartition(" ")[2])
        second.enter()
        assert len(first.told) == 2
        assert len({second.key, first.key, *map(token_of, (first.address, second.address))}) == 4
        assert second.send(second.visit).status == 200
        assert second.send(first.visit).status == 410, "a page belongs to the tab that opened it"
        assert second.send(first.visit + "ask", {"privacy.0.k": "2"}).status == 410
        assert first.ask("ask", {}).status == 200


def test_nothing_that_a_browser_sends_by_itself_lets_anybody_in(served: Somebody) -> None:
    """Cookies go to every port of a machine, credentials and what refers to a page are sent unasked."""
    stranger = Somebody(served.address)
    for headers in (
        {"Cookie": f"key={served.key}; x-kanon-key={served.key}"}, {"Authorization": f"Bearer {served.key}"},
        {"Referer": f"http://{served.host}{served.visit}"},
    ):  # fmt: skip
        assert stranger.send(served.visit, **headers).status == 403
        assert stranger.send(served.visit + "ask", {"privacy.0.k": "2"}, **headers).status == 403
    for answer in served.heard:
        assert not {"set-cookie", "www-authenticate", "location"} & answer.headers.keys()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "localhost:PORT"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
    ],
)
def test_another_name_or_another_page_is_refused_although_it_has_the_key(
    served: Somebody, headers: dict[str, str], status: int
) -> None:
    headers = {name: value.replace("PORT", str(urlsplit(served.address).port)) for name, value in headers.items()}
    for path in (served.visit, served.visit + "spec.yml", "/static/explore.js"):
        assert served.send(path, **headers).status == status
    assert served.send("/enter", {"token": token_of(served.address)}, **headers).status == status
    assert served.send(served.visit + "ask", {"privacy.0.k": "2"}, **headers).status == status


def test_a_form_must_say_that_it_is_the_servers_own(served: Somebody) -> None:
    assert served.send(served.visit + "ask", {}, Origin="").status == 403
    local = f"localhost:{urlsplit(served.address).port}"
    assert served.send(served.visit + "ask", {}, Origin=f"http://{local}").status == 403
    assert served.send(served.visit + "ask", {}, Host=local, Origin=f"http://{local}").status == 421, (
        "another user may listen at the IPv6 address of this name"
    )


def test_what_is_too_large_or_unknown_is_refused(served: Somebody) -> None:
    assert served.send(served.visit + "ask", {"limit": "1" * (LARGEST_BODY + 1)}).status == 413
    assert served.send(served.visit + "ask").status == 405
    assert served.send(served.visit + "nowhere").status == 404
    assert served.send("/static/../server.py").status == 404
    assert served.send("/static/server.py").status == 404
    gone = served.send("/someone-else/")
    assert (gone.status, "Open it again" in gone.text) == (410, True)


@pytest.mark.slow
def test_every_answer_says_what_a_browser_may_do_with_it(served: Somebody) -> None:
    for answer in served.heard:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in answer.headers if name.startswith("access-control")], "no CORS"
        assert "server" not in answer.headers
    page = served.send("/").text + served.send(served.visit).text + served.ask("ask", {}).text
    page += served.ask("more").text
    assert not re.findall(r'<style|\sstyle="|\son\w+="|javascript:|<script(?! src="/static/)', page)
    assert not re.findall(r'(?:src|href)="(?!/|#|data:,)', page), "nothing comes from elsewhere"


def test_it_listens_on_this_machine_alone(served: Somebody) -> None:
    assert urlsplit(served.address).hostname == "127.0.0.1"


# --- What it answers -----------------------------------------------------------------------


@pytest.mark.slow
def test_the_figures_are_those_of_plan_and_the_source_is_read_once(clinic_file: Path) -> None:
    spec, connect = kanon_sql.Spec.parse(TEXT), partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, spec) as somebody, connect() as engine:
        somebody.enter()
        first = somebody.ask("ask", {})
        assert "1 read of the source" in plain(first.text)
        for fields in (
            {"privacy.0.k": "9"}, {"limit": "20"}, {"privacy.1.l": "3"}, {"weight.0": "4"}, {"highest.0": "2"},
            {"highest.0": "", "lowest.1": "1"}, {"recoding": "local"}, {"recoding": "full_domain", "metric": "entropy"},
            {"add.kind": "t_closeness", "add.attribute": "diagnosis", "add.number": "0.5"}, {"privacy.2.remove": "1"},
        ):  # fmt: skip
            answer = somebody.ask("ask", fields)
            spec = asked_for(spec, fields)
            alone = kanon_sql.plan(engine, spec, compare_recoding=None)
            said = plain(answer.text)
            assert alone.message in said, fields
            for name, level in (alone.node or {}).items():
                assert f"{name} {level}" in said
            if not fields.keys() & {"add.kind", "privacy.2.remove"}:
                assert "no read of the source" in said, fields
        again = somebody.ask("again", {})
        assert again.status == 200
        assert "1 read of the source" in plain(somebody.ask("ask", {}).text)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["ask", "more"])
def test_an_answer_from_before_the_source_is_read_again_is_not_kept(
    path: str, clinic_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there when somebody asked to read again, and is fetched after that."""
    spec, connect = kanon_sql.Spec.parse(TEXT), partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, spec) as somebody:
        somebody.enter()
        monkeypatch.setattr("kanon_sql.explore.requests.WAIT_SECONDS", 0)
        fields = {} if path == "ask" else None
        begun = somebody.send(somebody.visit + path, fields)
        assert begun.status == 202
        (job,) = re.findall(r'data-job="([^"]*)"', begun.text)
        monkeypatch.setattr("kanon_sql.explore.requests.WAIT_SECONDS", 30)
        other = somebody.visit
        somebody.open()
        somebody.ask("ask", {})  # what was asked before is answered by now
        somebody.visit = other
        somebody.ask("again", {})
        assert somebody.send(somebody.visit + job).status == 200
        fresh = plain(somebody.ask("ask", {}).text) + plain(somebody.ask("more").text)
        assert "no statement, no read" not in fresh
        if path == "more":
            assert "is being counted" in fresh


def test_what_was_asked_before_is_told_without_a_statement(served: Somebody) -> None:
    served.open()
    assert served.ask("ask", {"privacy.0.k": "4"}).status == 200
    served.ask("ask", {"privacy.0.k": "6"})
    answered = served.send(served.visit + "ask", {"privacy.0.k": "4"})
    assert answered.status == 200
    assert "4-anonymity" in answered.text
    assert "given before: no statement, no read of the source" in plain(answered.text)


@pytest.mark.slow
def test_an_answer_that_is_fetched_late_is_not_taken_for_that_of_another_spec(clinic_file: Path) -> None:
    """A page asks on before it has fetched what it asked first, which is done by then."""

    over = threading.Event()

    def slow() -> kanon_sql.Engine:
        engine = kanon_sql.connect(clinic_file, read_only=True)
        fetch = engine.fetch

        def waits(statement: Any, limit: int) -> Any:
            if statement.name == "evaluate/achieved":
                time.sleep(0.4)
                over.set()
            return fetch(statement, limit)

        engine.fetch = waits  # type: ignore[method-assign]
        return engine

    with explored(slow, kanon_sql.Spec.parse(TEXT)) as somebody:
        somebody.enter()
        somebody.ask("ask", {})
        over.clear()
        first = somebody.send(somebody.visit + "ask", {"privacy.0.k": "4"})
        assert first.status == 202
        (job,) = re.findall(r'data-job="([^"]*)"', first.text)
        assert over.wait(30)
        time.sleep(0.5)
        somebody.send(somebody.visit + "ask", {"privacy.0.k": "30"})
        late = somebody.send(somebody.visit + job)
        assert (late.status, "satisfies 4-anonymity" in late.text) == (200, True)
        again = somebody.ask("ask", {"privacy.0.k": "30"})
        assert "30-anonymity" in again.text
        assert "4-anonymity" not in again.text
        somebody.ask("ask", {"privacy.0.k": "30"})
        assert json.loads(somebody.send(somebody.visit + "export.json").text)["achieved"]["k_anonymity"]["k"] >= 30


@pytest.mark.slow
def test_what_one_does_not_wait_for_comes_after_it(tmp_path: Path) -> None:
    """That suppression is uneven takes a statement to tell: it comes with all the rest, and is in what is exported."""
    text = make_uneven(tmp_path / "clinic.duckdb")
    connect = partial(kanon_sql.connect, tmp_path / "clinic.duckdb", read_only=True)
    with connect() as engine:
        whole = kanon_sql.plan(engine, kanon_sql.Spec.parse(text), compare_recoding=None)
        brief = kanon_sql.plan(engine, kanon_sql.Spec.parse(text), compare_recoding=None, brief=True)
        error = kanon_sql.Spec.parse(text + "warnings: {uneven_suppression: error}\n")
        assert kanon_sql.plan(engine, error, brief=True).verdict == "fail", "the verdict depends on it"
        assert kanon_sql.plan(engine, kanon_sql.Spec.parse(text), brief=True, fail_on_warning=True).verdict == "fail"
    assert "uneven_suppression" in {item.code for item in whole.warnings}
    assert "uneven_suppression" not in {item.code for item in brief.warnings}
    assert (brief.node, brief.rows, brief.message) == (whole.node, whole.rows, whole.message)
    assert brief.metrics == {"loss": whole.metrics["loss"]}
    assert brief.cost.statements < whole.cost.statements
    with explored(connect, kanon_sql.Spec.parse(text)) as somebody:
        somebody.enter()
        first = somebody.ask("ask", {})
        assert "is being counted" in first.text
        assert "uneven_suppression" not in first.text
        exported = json.loads(somebody.send(somebody.visit + "export.json").text)
        assert "uneven_suppression" in {item["code"] for item in exported["warnings"]}
        assert exported["metrics"].keys() == whole.metrics.keys()
        more = somebody.ask("more")
        assert "data-warnings" in more.text
        assert "uneven_suppression" in more.text
        again = somebody.ask("ask", {})
        assert "uneven_suppression" in again.text
        assert "is being counted" not in again.text


@pytest.mark.slow
def test_all_the_rest_shows_the_lattice_the_hardest_hit_and_each_column(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:  # a group whose rows all say the same
        connection.execute("DELETE FROM visits WHERE zip NOT LIKE '94%'")  # or a small count would follow
        connection.execute(
            "INSERT INTO visits BY NAME SELECT 'somebody' AS name, 20 AS age, 90000 AS zip, 'flu' AS diagnosis "
            "FROM range(60)"
        )
    connect = partial(kanon_sql.connect, tmp_path / "clinic.duckdb", read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody:
        somebody.enter()
        somebody.ask("ask", {"privacy.0.k": "12", "limit": "20"})
        full = somebody.ask("more")
        said = plain(full.text)
        for title in ("The lattice", "Classes and risk", "Rows by label", "Quality"):
            assert title in said, title
        (hit,) = re.findall("share of suppressed rows</h2>(.*?)</section>", full.text, re.DOTALL)
        assert "zip 9000* 60 100 %" in plain(hit)
        assert "suppressed, metric" in full.text, "the hover tells rows and metric"
        assert "it would suppress more than the limit" in full.text, "and why a node is ruled out"
        found = [int(height) for height in re.findall(r'<option value="(\d+)">\d+ \(\d+ nodes\)', full.text)]
        assert found == sorted(found, reverse=True)
        nodes = [plain(somebody.send(somebody.visit + f"nodes?height={height}").text) for height in found]
        assert sum("chosen" in text for text in nodes) == 1
        assert any("zip: first 3 characters" in text for text in nodes)
        assert somebody.send(somebody.visit + "nodes?height=x").status == 404


def test_controls_are_checked_by_the_specs_own_checks(served: Somebody) -> None:
    served.open()
    for fields, message in (
        ({"privacy.0.k": "0"}, "privacy[0].k_anonymity.k"),
        ({"privacy.0.k": "many"}, "privacy[0].k_anonymity.k"),
        ({"limit": "101"}, "suppression.max_share"),
        ({"limit": "-1 rows"}, "suppression.max_rows"),
        ({"weight.0": "-1"}, "quasi_identifiers.age.weight"),
        ({"lowest.0": "9"}, "quasi_identifiers.age.minimum_level"),
        ({"rule.0": "{interval: [5]}"}, "quasi_identifiers.age"),
        ({"rule.0": "{intervals: [5"}, "this is not YAML"),
        ({"rule.0": "[5]"}, "expected a hierarchy"),
        ({"recoding": "nonsense"}, "recoding"),
        ({"algorithm": "nonsense"}, "search.algorithm"),
        ({"privacy.0.remove": "1", "privacy.1.remove": "1"}, "privacy"),
        ({"add.kind": "t_closeness", "add.attribute": "nobody", "add.number": "2"}, "privacy[2]"),
    ):
        answer = served.ask("ask", fields)
        assert answer.status == 422, fields
        assert message in plain(answer.text).replace("&#39;", "'"), (fields, answer.text)
    unknown = {"privacy.9.k": "1", "privacy.x.remove": "1", "privacy.0.nothing": "1", "weight.9": "1", "else": "1"}
    assert served.ask("ask", unknown).status == 200, "what no control is called changes nothing"


def test_a_form_that_is_sent_twice_takes_a_requirement_away_once(served: Somebody) -> None:
    served.open()
    (about,) = re.findall(r'name="about" value="(\w+)"', served.send(served.visit + "controls").text)
    for _ in range(2):
        said = plain(served.ask("ask", {"about": about, "privacy.1.remove": "1", "privacy.0.k": "5"}).text)
        assert "5-anonymity" in said
        assert "diversity" not in said
    said = plain(served.ask("ask", {"about": about, "privacy.0.remove": "1"}).text)
    assert "5-anonymity" in said, "the form was about two requirements, and there is one"


@pytest.mark.slow
def test_nothing_is_lost_on_the_way_through_the_file_that_is_saved(served: Somebody) -> None:
    served.open()
    served.ask("ask", {"privacy.0.k": "7", "weight.1": "2.5", "limit": "7 rows", "recoding": "local:best"})
    file = served.send(served.visit + "spec.yml")
    assert file.headers["content-disposition"] == 'attachment; filename="visits_release.yml"'
    asked = asked_for(
        kanon_sql.Spec.parse(TEXT),
        {"privacy.0.k": "7", "weight.1": "2.5", "limit": "7 rows", "recoding": "local:best"},
    )
    assert kanon_sql.Spec.parse(file.text) == asked
    for text in (
        TEXT, TEXT + "nulls: suppress\n",
        TEXT + "utility: {classify: diagnosis}\nwarnings: {column_fully_generalized: error}\n",
        TEXT.replace("{prefix: [4, 3, 2]}", "{tree: {all: {a: ['1', '2'], b: ['3']}}, maximum_level: 1}"),
    ):  # fmt: skip
        assert kanon_sql.Spec.parse(saved(kanon_sql.Spec.parse(text))) == kanon_sql.Spec.parse(text)


@pytest.mark.slow
def test_reports_are_exported_as_the_command_line_writes_them(served: Somebody) -> None:
    served.open()
    assert served.send(served.visit + "export.html").status == 404, "nothing was asked yet"
    served.ask("ask", {})
    served.ask("more")
    page = served.send(served.visit + "export.html")
    assert page.text.startswith("<!DOCTYPE html>")
    result = json.loads(served.send(served.visit + "export.json").text)
    assert (result["verb"], result["verdict"]) == ("plan", "pass")


@pytest.mark.slow
def test_the_curve_is_that_of_compare(served: Somebody) -> None:
    served.open()
    assert "Loss for each k" in plain(served.ask("curve", {}).text)


def test_risk_has_estimates_where_the_share_of_the_population_is_known(served: Somebody) -> None:
    served.open()
    assert "prosecutor" in plain(served.ask("risk", {"threshold": "0.2"}).text)
    found = plain(served.ask("risk", {"threshold": "0.2", "fraction": "0.1"}).text)
    assert "population" in found
    assert served.ask("risk", {"threshold": "much"}).status == 422
    assert served.ask("risk", {"of": "release"}).status == 422, "there is none"
    assert served.ask("risk", {"threshold": "2"}).status == 422


def test_a_preview_takes_values_that_are_typed_and_shows_none_of_the_table(served: Somebody) -> None:
    served.open()
    shown = plain(served.ask("preview", {"column": "0", "values": "37, 52"}).text)
    assert "[35, 40)" in shown.replace("&#39;", "'")
    assert "[40, 60)" in shown
    other = plain(served.ask("preview", {"column": "0", "values": "37", "rule.0": "{intervals: [7]}"}).text)
    assert "[35, 42)" in other
    refused = served.ask("preview", {"column": "0", "values": " , "})
    assert (refused.status, "--allow-reveal" in refused.text) == (422, True)
    assert served.send(served.visit + "preview", {"column": "7", "values": "1"}).status == 404


def test_values_of_the_table_are_previewed_where_that_was_asked_for(clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT), reveals=True) as somebody:
        somebody.enter()
        assert len(re.findall("<tr>", somebody.ask("preview", {"column": "0", "values": ""}).text)) == 13


# --- Nothing is written, nothing small is told ---------------------------------------------


def test_nothing_is_published_unless_that_was_allowed(served: Somebody, clinic_file: Path) -> None:
    served.open()
    refused = served.ask("publish", {})
    assert (refused.status, "--allow-publish" in refused.text) == (422, True)
    assert "Publish the release" not in served.send(served.visit).text


@pytest.mark.slow
def test_what_is_published_is_what_the_page_shows(tmp_path: Path) -> None:
    """Another tab of the same address moved a control: the first one still shows the answer of before."""
    make_clinic(tmp_path / "clinic.duckdb")
    with explored(
        partial(kanon_sql.connect, tmp_path / "clinic.duckdb"), kanon_sql.Spec.parse(TEXT), may_publish=True
    ) as somebody:
        somebody.enter()
        asked = [
            re.findall('data-asked="([0-9a-f]{64})"', somebody.ask("ask", {"privacy.0.k": k}).text) for k in ("8", "2")
        ]
        (strict,), (lax,) = asked
        for button, fields in (("publish", {}), ("certify", {"directory": "certificate"})):
            for seen in (strict, "nothing", ""):
                refused = somebody.ask(button, {**fields, "asked": seen})
                assert (refused.status, "this page shows the answer for other settings" in refused.text) == (422, True)
        assert somebody.ask("attacks", {}).status == 422, "there is no release yet"
        assert "Published: the release meets" in plain(somebody.ask("publish", {"asked": lax}).text)


@pytest.mark.slow
def test_publishing_is_what_anonymize_does(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    with explored(
        partial(kanon_sql.connect, tmp_path / "clinic.duckdb"), kanon_sql.Spec.parse(TEXT), may_publish=True
    ) as somebody:
        somebody.enter()
        somebody.ask("ask", {"privacy.0.k": "8"})
        assert somebody.ask("attacks", {}).status == 422, "there is no release yet"
        assert "Published: the release meets every requirement" in plain(somebody.ask("publish", {}).text)
        assert "homogeneity" in plain(somebody.ask("attacks", {}).text)
        assert "visits_release: an attacker who knows" in plain(somebody.ask("risk", {"of": "release"}).text)
        assert "no read of the source" in plain(somebody.ask("ask", {"privacy.0.k": "9"}).text), "its sets are kept"
    with duckdb.connect(str(tmp_path / "clinic.duckdb"), read_only=True) as connection:
        ((smallest,),) = connection.execute(
            "SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM visits_release GROUP BY age, zip)"
        ).fetchall()
        left = connection.sql("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'kanon_%'").fetchall()
    assert smallest >= 8
    assert sorted(name for (name,) in left) == ["kanon_sql_manifest", "kanon_sql_scratch"]


@pytest.mark.slow
def test_no_answer_of_a_whole_walk_holds_what_few_rows_have(tmp_path: Path) -> None:
    """A planted name, diagnosis, age and ZIP code, each of one row, from the unknown table to the published release."""
    make_clinic(tmp_path / "clinic.duckdb")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            f"INSERT INTO visits BY NAME SELECT '{SECRET}name' AS name, 86753 AS age, '{SECRET}' AS zip, "
            f"'{SECRET}itis' AS diagnosis"
        )
    planted = (SECRET, r"\b86753\b")
    with explored(partial(kanon_sql.connect, tmp_path / "clinic.duckdb"), None, may_publish=True) as somebody:
        somebody.enter()
        assert "Which table?" in somebody.send(somebody.visit).text
        assert somebody.ask("profile", {"table": "nowhere"}).status == 422
        assert somebody.ask("profile", {"table": ""}).status == 422
        roles = somebody.ask("profile", {"table": "visits"}).text
        names = re.findall(r'id="column-(\d+)">(\w+)<', roles)
        asked = {"name": "identifier", "age": "quasi_identifier", "zip": "quasi_identifier", "diagnosis": "sensitive"}
        fields = {f"role.{index}": asked[name] for index, name in names}
        assert somebody.ask("roles", {**fields, "k": "none"}).status == 422
        assert somebody.ask("roles", {**fields, "k": "4"}).status == 200
        assert somebody.send(somebody.visit).status == 200
        for change in (
            {}, {"privacy.0.k": "6"}, {"limit": "10"}, {"rule.0": "{intervals: [5, 10, 20, 40], top: 90}"},
            {"recoding": "local"}, {"recoding": "mondrian"}, {"recoding": "full_domain"}, {"metric": "discernibility"},
            {"lowest.0": "1"}, {"rule.1": "{tree: {all: [1, 2]}}"},
            {"rule.1": "{prefix: [3, 2]}", "rule.0": "{prefix: [1]}"},
            {"rule.0": "{intervals: [10, 20], top: 90}", "limit": "10"},
        ):  # fmt: skip
            somebody.ask("ask", change)
            full = somebody.ask("more")
            for height in re.findall(r'<option value="(\d+)">\d+ \(', full.text):
                somebody.send(somebody.visit + f"nodes?height={height}")
            for path in ("", "controls", "spec.yml", "export.html", "export.json", "history", "columns"):
                somebody.send(somebody.visit + path)
            somebody.ask("candidates", {"name": ""})
        somebody.ask("compare", {f"with.{number}": "1" for number in range(1, 12)})
        for column, role in (("zip", "keep"), ("name", "sensitive"), ("diagnosis", "quasi_identifier")):
            assert somebody.ask("role", {"column": column, "role": role, "drop": "1"}).status == 200
            somebody.ask("ask", {})
            somebody.ask("warnings")
        for _ in range(3):
            somebody.ask("step/undo", {})
        for button in ("curve", "publish", "attacks", "again"):
            somebody.ask(button, {})
        somebody.ask("risk", {"fraction": "0.1"})
        somebody.ask("preview", {"column": "0", "values": "37"})
        somebody.ask("preview", {"column": "0", "values": ""})
        assert len(somebody.heard) > 100
        for answer in somebody.heard:
            said = re.sub(r"-?[\d,.]*\d(?:,\d{3})+|\d+\.\d+", "", answer.text)  # alone, not a part of a number
            for value in planted:
                found = re.search(value, said)
                assert not found, said[max(0, found.start() - 200) : found.end() + 50] if found else ""
        assert any("Published" in answer.text for answer in somebody.heard), [
            plain(answer.text)[:300] for answer in somebody.heard[-12:]
        ]


# --- Many pages, and ends ------------------------------------------------------------------


def test_two_pages_do_not_move_each_others_controls(served: Somebody) -> None:
    served.open()
    first = served.visit
    served.ask("ask", {"privacy.0.k": "12"})
    served.open()
    assert "5-anonymity" in served.ask("ask", {}).text
    served.visit = first
    assert "12-anonymity" in served.ask("ask", {}).text


@pytest.mark.slow
def test_so_many_pages_are_open_and_the_oldest_goes(clinic_file: Path) -> None:
    connect = partial(kanon_sql.connect, clinic_file, read_only=True)
    with explored(connect, kanon_sql.Spec.parse(TEXT)) as somebody:
        somebody.enter()
        first = somebody.visit
        assert somebody.ask("ask", {}).status == 200
        for _ in range(MOST_VISITS):
            somebody.open()
        assert somebody.send(first).status == 410
        assert somebody.ask("ask", {}).status == 200


@pytest.mark.slow
def test_a_question_that_nobody_waits_for_any_more_is_stopped(clinic_file: Path) -> None:
    """Controls that are moved on and on: the last answer comes, and those before it are not worked on to their end."""
    stopped = []

    def slow() -> kanon_sql.Engine:
        engine = kanon_sql.connect(clinic_file, read_only=True)
        fetch, cancel = engine.fetch, engine.cancel

        def waits(statement: Any, limit: int) -> Any:
            if statement.name == "evaluate/node":
                time.sleep(0.3)
            return fetch(statement, limit)

        engine.fetch = waits  # type: ignore[method-assign]
        engine.cancel = lambda: (stopped.append(1), cancel())  # type: ignore[method-assign]
        return engine

    with explored(slow, kanon_sql.Spec.parse(TEXT.replace("optimal", "bottom_up"))) as somebody:
        somebody.enter()
        somebody.ask("ask", {})
        for k in range(6, 12):
            assert somebody.send(somebody.visit + "ask", {"privacy.0.k": str(k)}).status in (200, 202)
        answer = somebody.ask("ask", {"privacy.0.k": "12"})
        assert "12-anonymity" in answer.text
        assert "this is the best so far" not in answer.text
        assert len(stopped) >= 2  # those that had begun; others are skipped in the line


@pytest.mark.slow
def test_a_search_that_was_stopped_is_begun_again_when_it_is_asked_for(clinic_file: Path) -> None:
    def slow() -> kanon_sql.Engine:
        engine = kanon_sql.connect(clinic_file, read_only=True)
        fetch = engine.fetch

        def waits(statement: Any, limit: int) -> Any:
            if statement.name == "evaluate/node":
                time.sleep(0.5)
            return fetch(statement, limit)

        engine.fetch = waits  # type: ignore[method-assign]
        return engine

    with explored(slow, kanon_sql.Spec.parse(TEXT.replace("optimal", "bottom_up"))) as somebody:
        somebody.enter()
        waiting = somebody.send(somebody.visit + "ask", {})
        (job,) = re.findall(r'data-job="([^"]*)"', waiting.text)
        while "searching the lattice" not in waiting.text:
            assert waiting.status == 202
            waiting = somebody.send(somebody.visit + job)
        assert "take the best so far" in waiting.text
        somebody.send(somebody.visit + job + "/stop", {})
        while (found := somebody.send(somebody.visit + job)).status == 202:
            time.sleep(0.05)
        assert found.status == 200
        assert "this is the best so far" in found.text or "was interrupted before it found" in found.text
        assert "data-more" not in found.text, "all the rest is not searched for unasked"
        assert "this is the best so far" not in somebody.ask("ask", {}).text


@pytest.mark.slow
def test_what_reads_the_source_can_be_stopped_as_well(clinic_file: Path) -> None:
    begun = threading.Event()

    def endless() -> kanon_sql.Engine:
        engine = kanon_sql.connect(clinic_file, read_only=True)
        execute = engine.execute

        def asks(statement: Any) -> None:
            if statement.name == "frequency/raw" and not begun.is_set():
                begun.set()
                sums = "SELECT SUM(a.range * b.range) FROM range(9999999) AS a, range(9999999) AS b"
                engine.fetch(Statement("endless", sums), 1)
            execute(statement)

        engine.execute = asks  # type: ignore[method-assign]
        return engine

    with explored(endless, kanon_sql.Spec.parse(TEXT)) as somebody:
        somebody.enter()
        waiting = somebody.send(somebody.visit + "ask", {})
        assert begun.wait(30)
        (job,) = re.findall(r'data-job="([^"]*)"', waiting.text)
        assert somebody.send(somebody.visit + job + "/stop", {}).status == 200
        while (found := somebody.send(somebody.visit + job)).status == 202:
            time.sleep(0.05)
        assert (found.status, "stopped before it had an answer" in found.text) == (422, True)
        assert somebody.ask("ask", {}).status == 200, "the next question is answered"


@pytest.mark.slow
def test_a_database_that_goes_away_is_said_and_found_again() -> None:
    """The server ends the session: the page says so, and the next question connects anew and reads the source again."""
    with subject_of("postgres") as subject:
        assert isinstance(subject, UrlSubject)
        password = "Sesame-open"
        subject.execute("CREATE TABLE visits (name TEXT, age INTEGER, zip TEXT, diagnosis TEXT)")
        subject.execute(
            "INSERT INTO visits SELECT 'n' || i, 20 + i % 60, CAST(94100 + i % 40 AS TEXT), "
            "CASE i % 3 WHEN 0 THEN 'flu' WHEN 1 THEN 'cold' ELSE 'angina' END FROM generate_series(1, 600) AS t(i)"
        )
        subject.execute(f"CREATE ROLE explorer LOGIN PASSWORD '{password}'")
        subject.execute("GRANT SELECT ON visits TO explorer")
        subject.execute("GRANT USAGE ON SCHEMA public TO explorer")
        parts = urlsplit(subject.url)
        url = parts._replace(netloc=f"explorer:{password}@{parts.netloc.rpartition('@')[2]}").geturl()
        connect = partial(kanon_sql.connect, url, read_only=True)
        with connect() as engine:
            label = engine.label
        with explored(connect, kanon_sql.Spec.parse(TEXT), database=label) as somebody:
            somebody.enter()
            somebody.send(somebody.visit)
            assert "1 read of the source" in plain(somebody.ask("ask", {}).text)
            assert "no read of the source" in plain(somebody.ask("ask", {"privacy.0.k": "6"}).text)
            subject.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'explorer'")
            gone = somebody.ask("ask", {"privacy.0.k": "7"})
            assert gone.status == 422
            assert "1 read of the source" in plain(somebody.ask("ask", {"privacy.0.k": "8"}).text)
            for answer in somebody.heard:
                assert password not in answer.text
                assert password not in str(answer.headers)
        subject.execute("DROP TABLE visits")
        subject.execute("REVOKE ALL ON SCHEMA public FROM explorer")
        subject.execute("DROP ROLE explorer")
