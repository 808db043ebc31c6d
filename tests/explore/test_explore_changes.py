"""``explore`` over HTTP: steps taken back, roles, candidates, and a page that another tab goes on with."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.explore.history import changes_between
from kanon_sql.explore.roles import ROLES, change_role, listed_roles
from kanon_sql.explore.visits import LONGEST_NAME, MOST_CANDIDATES
from kanon_sql.spec import Spec
from tests.support.command_line import SPEC, make_clinic, run
from tests.support.explorers import Somebody, explored

NASTY = """<b>it's</b> "x" & co"""
TEXT = SPEC.replace("incognito", "optimal")


def make_visits(path: Path) -> None:
    """The clinic with a town, which reveals the ZIP code, a receipt of each row, and a column with a nasty name."""
    make_clinic(path)
    name = NASTY.replace('"', '""')
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE OR REPLACE TABLE visits AS SELECT *, 'town ' || zip AS town, rowid AS receipt, "
            f"CAST(rowid % 90 AS INTEGER) AS weight, 'x' || rowid % 3 AS \"{name}\" FROM visits"
        )


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("changes") / "clinic.duckdb"
    make_visits(path)
    return path


@pytest.fixture(scope="module")
def server(visits: Path) -> Iterator[Somebody]:
    with explored(partial(kanon_sql.connect, visits, read_only=True), Spec.parse(TEXT)) as somebody:
        somebody.enter()
        yield somebody


@pytest.fixture
def page(server: Somebody) -> Somebody:
    server.open()
    return server


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def saved(page: Somebody) -> Spec:
    return Spec.parse(page.send(page.visit + "spec.yml").text)


def role(page: Somebody, column: str, role: str, **more: str) -> str:
    page.ask("columns")
    answer = page.ask("role", {"column": column, "role": role, **more})
    assert answer.status == 200, answer.text
    return plain(answer.text)


# --- Undo and redo -------------------------------------------------------------------------


def test_steps_are_taken_back_and_done_again_in_words(page: Somebody) -> None:
    page.ask("ask", {"privacy.0.k": "9"})
    page.ask("ask", {"privacy.0.k": "9", "limit": "10"})
    role(page, "zip", "keep")
    steps = [
        ("undo", "Undone: role of zip: quasi-identifier → released as it is."),
        ("undo", "Undone: suppression limit: 5 % → 10 %."),
        ("redo", "Done again: suppression limit: 5 % → 10 %."),
        ("undo", "Undone: suppression limit: 5 % → 10 %."),
        ("undo", "Undone: k-anonymity: k = 5 → k = 9."),
    ]
    for way, words in steps:
        assert words in plain(page.send(page.visit + f"step/{way}", {}).text)
    assert saved(page) == Spec.parse(TEXT)
    assert "There is nothing to undo." in page.send(page.visit + "step/undo", {}).text
    assert 'value="5"' in page.send(page.visit + "controls").text
    assert "5-anonymity" in page.ask("ask", {}).text
    page.send(page.visit + "step/redo", {})
    assert saved(page).privacy[0].to_dict() == {"k_anonymity": {"k": 9}}
    page.ask("ask", {"limit": "7"})
    assert "There is nothing to redo." in page.send(page.visit + "step/redo", {}).text, "another way was taken"
    assert page.send(page.visit + "step/sideways", {}).status == 404
    assert re.findall('aria-disabled="(\\w+)"', page.send(page.visit + "history").text) == ["false", "true"]


def test_a_number_that_is_typed_is_one_step(page: Somebody, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in ("1", "12", "120"):
        page.send(page.visit + "ask", {"privacy.0.k": k})
    assert "k = 5 → k = 120." in plain(page.send(page.visit + "step/undo", {}).text)
    page.send(page.visit + "ask", {"privacy.0.k": "7"})
    page.send(page.visit + "ask", {"privacy.0.k": "5"})
    assert "nothing to undo" in page.send(page.visit + "step/undo", {}).text, "and so is one that is put back"
    monkeypatch.setattr("kanon_sql.explore.history.ONE_STEP_SECONDS", 0.0)
    for k in ("6", "7"):
        page.send(page.visit + "ask", {"privacy.0.k": k})
    assert "k = 6 → k = 7." in plain(page.send(page.visit + "step/undo", {}).text)


def test_every_key_of_a_spec_has_words_and_no_label_is_among_them() -> None:
    before = Spec.parse(TEXT)
    secret = TEXT.replace("{prefix: [4, 3, 2]}", "{tree: {all: {Secret: [a]}}, weight: 2, minimum_level: 1}")
    assert changes_between(before, Spec.parse(secret)) == {
        "weight of zip": "1 → 2",
        "lowest level of zip": "0 → 1",
        "hierarchy of zip": "changed",
    }
    for line, words in (
        ("nulls: suppress\n", {"the key nulls": "changed"}),
        ("recoding: local\n", {"recoding": "full_domain → local"}),
        ("unit: patient\n", {"role of patient": "not released → identifies the person"}),
        ("keep: [town]\n", {"role of town": "not released → released as it is"}),
    ):
        assert changes_between(before, Spec.parse(TEXT + line)) == words
    harder = TEXT.replace("privacy:\n", "privacy:\n  - t_closeness: {attribute: diagnosis, t: 0.5}\n")
    assert changes_between(before, Spec.parse(harder)) == {"t-closeness of diagnosis": "added (t = 0.5)"}
    assert changes_between(Spec.parse(harder), before) == {"t-closeness of diagnosis": "removed"}


# --- Roles ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_column_that_is_kept_has_the_warnings_that_its_release_would_have(page: Somebody, visits: Path) -> None:
    """Dropped from the quasi-identifiers it makes the verdict better and the release worse, which must be seen."""
    page.ask("ask", {"privacy.0.k": "30", "limit": "0"})
    effects = role(page, "town", "keep")
    assert "Every value of town is released unchanged" in effects
    first = page.ask("ask", {})
    assert "data-look" in first.text, "the page asks for them by itself"
    shown = plain(page.ask("warnings").text)
    with kanon_sql.connect(visits, read_only=True) as engine:
        planned = kanon_sql.plan(engine, saved(page), release_warnings=True, compare_recoding=None)
    warned = {item.code: html.unescape(item.message) for item in planned.warnings}
    assert "kept_reveals_quasi_identifier" in warned
    assert planned.verdict == "fail"
    told = shown + plain(first.text)
    assert all(code in told and message in told for code, message in warned.items()), told
    assert "Publishing would stop" in shown
    exported = json.loads(page.send(page.visit + "export.json").text)
    assert (exported["verdict"], warned.keys()) == ("fail", {item["code"] for item in exported["warnings"]})
    assert "kept_reveals_quasi_identifier" in page.send(page.visit + "export.html").text
    role(page, "receipt", "keep")
    page.ask("ask", {})
    assert "nearly_unique_kept" in page.ask("warnings").text
    later = page.ask("ask", {"privacy.0.k": "31"})
    assert "data-look-now" in later.text, "other settings: the rows are looked at when that is asked for"
    assert "were not looked at with these settings. With earlier ones: " in plain(later.text)
    assert "nearly_unique_kept (receipt)" in plain(later.text)


def test_what_a_role_does_is_said(page: Somebody) -> None:
    said = role(page, "zip", "keep")
    for words in (
        "zip was quasi-identifier, and is released as it is now.", "No requirement counts zip any more",
        "Classes are made by age.", "do not compare it with earlier figures",
        "An attacker who knows a person's zip can find rows within a class",
    ):  # fmt: skip
        assert words in said
    answer = plain(page.ask("ask", {}).text)
    assert "Other roles than the page began with: zip is released as it is (was quasi-identifier)." in answer
    assert "zip released as it is; was quasi-identifier" in plain(page.send(page.visit + "controls").text)
    assert "No requirement protects zip yet" in role(page, "zip", "sensitive")
    assert "No warning looks any more" not in role(page, "zip", "left_out")
    back = role(page, "zip", "quasi_identifier")
    assert '{"prefix": [4, 3, 2]} , as it was before' in back
    assert saved(page).quasi_identifiers == Spec.parse(TEXT).quasi_identifiers
    assert "Other roles" not in page.ask("ask", {}).text
    assert "No warning looks any more for released columns that reveal zip" in role(page, "zip", "left_out")
    assert "Classes count persons now" in role(page, "receipt", "unit")
    assert "receipt identified persons before" in role(page, "name", "unit")
    assert "Classes count rows now, and no longer persons" in role(page, "name", "identifier")


def test_a_new_quasi_identifier_has_the_hierarchy_that_counts_suggest(page: Somebody) -> None:
    said = role(page, "weight", "quasi_identifier")
    assert "Classes are made by weight as well" in said
    assert '{"intervals": [' in said
    assert "intervals" in saved(page).quasi_identifiers["weight"].to_dict()
    assert "weight" in plain(page.ask("ask", {}).text)
    assert "{} , as its type and counts suggest" in role(page, NASTY, "quasi_identifier")
    assert NASTY in saved(page).quasi_identifiers
    for path in ("controls", ""):
        assert NASTY not in page.send(page.visit + path).text, "it is escaped"
        assert NASTY in plain(page.send(page.visit + path).text)
    assert NASTY not in page.ask("ask", {}).text


def test_a_requirement_is_dropped_only_once_that_was_accepted(page: Somebody) -> None:
    asked = role(page, "diagnosis", "keep")
    assert "Nothing was changed yet" in asked
    assert "distinct 2-diversity of diagnosis is about diagnosis, and would be dropped." in asked
    assert saved(page) == Spec.parse(TEXT)
    done = role(page, "diagnosis", "keep", drop="1")
    assert "distinct 2-diversity of diagnosis was dropped: nothing limits any more what a class reveals" in done
    assert [item.name for item in saved(page).privacy] == ["k_anonymity"]
    undone = plain(page.send(page.visit + "step/undo", {}).text)
    assert "role of diagnosis: sensitive → released as it is; l-diversity of diagnosis: removed." in undone
    assert saved(page) == Spec.parse(TEXT)
    assert "Nothing was changed yet" in role(page, "diagnosis", "quasi_identifier")


def test_what_cannot_be_is_refused_and_changes_nothing(page: Somebody) -> None:
    role(page, "zip", "left_out")
    before = saved(page)
    for column, to, words in (
        ("age", "keep", "age: it is the only quasi-identifier"),
        ("zip", "left_out", "its role is not released already"),
    ):
        answer = page.ask("role", {"column": column, "role": to})
        assert (answer.status, words in plain(answer.text)) == (422, True), answer.text
    stale = page.ask("role", {"column": "age", "role": "keep", "was": "sensitive"})
    assert (stale.status, "was changed elsewhere" in stale.text) == (422, True)
    for fields in ({"column": "nowhere", "role": "keep"}, {"column": "age", "role": "hero"}, {}):
        assert page.ask("role", fields).status == 404
    assert saved(page) == before
    alone = Spec.parse(TEXT.replace("  - k_anonymity: {k: 5}\n", ""))
    with pytest.raises(kanon_sql.SpecError, match="is the only requirement, and is about it"):
        change_role(alone, "diagnosis", "keep", drop=True)
    grouped = TEXT.replace("{k: 5}", "{k: 5, quasi_identifiers: [zip]}")
    with pytest.raises(kanon_sql.SpecError, match="zip"):
        change_role(Spec.parse(grouped), "zip", "keep")


def test_coordinates_and_columns_that_are_not_there_keep_their_roles() -> None:
    point = "{columns: [lat, lon], bounds: [0, 0, 8, 8], depths: [3, 2]}"
    spec = Spec.parse(TEXT.replace("  zip: {prefix: [4, 3, 2]}", f"  place: {{point: {point}}}"))
    columns = [("age", "INTEGER"), ("lat", "DOUBLE"), ("lon", "DOUBLE"), ("diagnosis", "VARCHAR")]
    found = {item.name: item for item in listed_roles(spec, spec, columns)}
    assert found["lat"].roles == ("left_out",)
    assert "a coordinate of place" in found["lat"].note
    assert found["place"].roles == ("left_out", "quasi_identifier")
    assert found["name"].roles == ("identifier", "left_out")
    assert found["name"].note == "the source has no such column"
    assert found["age"].roles == tuple(ROLES)
    assert [item.place for item in found.values()] == [0, 4, 3, 5, 1, 2]


def test_a_form_from_before_a_change_of_roles_moves_no_other_column(page: Somebody) -> None:
    """Another window changed a role: the third field of its weights is another column's by now."""
    (about,) = re.findall(r'name="about" value="(\w+)"', page.send(page.visit + "controls").text)
    role(page, "age", "keep")
    answer = page.ask("ask", {"about": about, "weight.0": "9", "rule.0": "{intervals: [7]}", "limit": "3"})
    assert answer.status == 200
    assert f'data-about="{about}"' not in answer.text, "by which the page knows that its form is an old one"
    (zip_code,) = saved(page).quasi_identifiers.values()
    assert (zip_code.weight, zip_code.to_dict()["prefix"]) == (1.0, [4, 3, 2])
    refused = page.ask("preview", {"about": about, "column": "0", "values": "37"})
    assert (refused.status, "roles of columns were changed" in refused.text) == (422, True)
    for path in ("tree?name=age", "tree?name=nowhere"):
        assert "is no quasi-identifier now" in page.send(page.visit + path).text
    tree = page.ask("ask", {"tree.age": '{"tree": {"all": ["1"]}}'})
    assert (tree.status, "is no quasi-identifier now" in tree.text) == (422, True)


def test_a_form_from_before_a_step_back_does_not_do_it_again(page: Somebody) -> None:
    """The form is sent by a window that has not heard of it."""
    page.ask("ask", {"privacy.0.k": "9"})
    form = dict(re.findall(r'name="(about|revision)" value="(\w+)"', page.send(page.visit + "controls").text))
    page.send(page.visit + "step/undo", {})
    answer = page.ask("ask", {**form, "privacy.0.k": "9", "limit": "3"})
    assert "A change of a control was not taken" in answer.text
    assert saved(page) == Spec.parse(TEXT)
    assert "Done again: k-anonymity" in plain(page.send(page.visit + "step/redo", {}).text)
    form = dict(re.findall(r'name="(about|revision)" value="(\w+)"', page.send(page.visit + "controls").text))
    taken = page.ask("ask", {**form, "privacy.0.k": "9", "limit": "3"})
    assert "was not taken" not in taken.text
    assert saved(page).suppression.limit == ("max_share", 0.03)


@pytest.mark.parametrize("count", [12, 60])
def test_columns_are_searched_where_there_are_many(count: int, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "wide.duckdb")) as connection:
        columns = ", ".join(f"(i * {index + 3}) % 7 AS c{index}" for index in range(count))
        connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(300) AS t(i)")
    spec = "{version: 1, source: wide, quasi_identifiers: {c0: {}, c1: {}}, privacy: [{k_anonymity: {k: 3}}]}"
    with explored(partial(kanon_sql.connect, tmp_path / "wide.duckdb", read_only=True), Spec.parse(spec)) as somebody:
        somebody.enter()
        assert somebody.ask("columns").status == 200
        controls = somebody.send(somebody.visit + "controls").text
        assert len(re.findall("<select [^>]*data-role=", controls)) == count
        assert ("data-filter" in controls) == (count > 12)


# --- Candidates ----------------------------------------------------------------------------


@pytest.mark.slow
def test_candidates_are_kept_loaded_compared_and_deleted(page: Somebody) -> None:
    assert "None is kept yet" in page.send(page.visit).text
    for name, fields in (("mild", {}), (NASTY, {"privacy.0.k": "20"}), ("", {"recoding": "local"})):
        page.ask("ask", fields)
        kept = page.ask("candidates", {"name": name})
        assert (kept.status, NASTY in kept.text) == (200, False)
    role(page, "zip", "keep")
    shown = plain(page.send(page.visit).text)
    assert "mild k-anonymity k = 5; l-diversity of diagnosis l = 2; limit 5 %; full_domain" in shown
    assert f"{NASTY} k-anonymity k = 20; l-diversity of diagnosis l = 2; limit 5 %; full_domain" in shown
    assert "candidate 3 k-anonymity k = 20; l-diversity of diagnosis l = 2; limit 5 %; local" in shown
    three = page.ask("compare", {"with.1": "1", "with.2": "1", "with.3": "1", "with.now": "1"})
    assert NASTY not in three.text
    table = plain(three.text)
    for words in (
        f"the controls now mild {NASTY} candidate 3", "verdict FAIL PASS PASS PASS",
        "nothing would be published: kept_reveals_quasi_identifier is an error", "achieved: k-anonymity",
        "suppression limit 5 % 5 % 5 % 5 %", "suppressed rows", "mean loss",
        "zip , differs released as it is 0: as in the source 1: first 4 characters levels that differ by class",
        "name identifier identifier identifier identifier",
        "The quasi-identifiers differ (zip is none in the controls now)", "A lower loss or a higher k is no better",
    ):  # fmt: skip
        assert words in table, (words, table)
    same = plain(page.ask("compare", {"with.1": "1", "with.2": "1"}).text)
    assert "The quasi-identifiers differ" not in same
    loaded = page.ask("candidates/1/load", {})
    assert "The controls are those of 'mild' now." in plain(loaded.text)
    assert saved(page) == Spec.parse(TEXT)
    assert "Undone: loaded 'mild'; " in plain(page.send(page.visit + "step/undo", {}).text)
    assert "zip" in saved(page).keep
    assert "'mild' was deleted." in plain(page.ask("candidates/1/delete", {}).text)
    for path in ("candidates/1/load", "candidates/1/delete"):
        gone = page.ask(path, {})
        assert (gone.status, "there is no such candidate any more" in gone.text) == (422, True)
    for fields in ({}, {"with.2": "1"}, {"with.9": "1", "with.now": "1"}):
        few = page.ask("compare", fields)
        assert (few.status, "fewer than two candidates" in few.text) == (422, True)


def test_names_of_candidates_are_few_short_and_different(page: Somebody) -> None:
    assert page.ask("candidates", {"name": "A"}).status == 200
    for name, words in (("a", "there is a candidate"), ("x" * (LONGEST_NAME + 1), "at most"), ("a\x07b", "printed")):
        refused = page.ask("candidates", {"name": name})
        assert (refused.status, words in refused.text) == (422, True), name
    for _ in range(MOST_CANDIDATES - 1):
        assert page.ask("candidates", {"name": ""}).status == 200
    assert "which is the most" in page.ask("candidates", {"name": "one more"}).text


@pytest.mark.slow
def test_a_candidate_without_an_answer_leaves_the_others_theirs(page: Somebody) -> None:
    page.ask("candidates", {"name": "fine"})
    page.ask("ask", {"privacy.0.k": "700", "limit": "0"})
    page.ask("candidates", {"name": "much"})
    page.ask("ask", {"recoding": "mondrian", "privacy.0.k": "5", "rule.0": "{intervals: [7]}"})
    found = page.ask("compare", {"with.1": "1", "with.2": "1", "with.now": "1"})
    table = plain(found.text)
    assert found.status == 200
    assert "verdict" in table
    assert " PASS FAIL" in table
    assert "1 (0.1664 %)" in table


# --- What stays ----------------------------------------------------------------------------


@pytest.mark.slow
def test_another_tab_goes_on_with_a_page_and_the_first_one_ends(visits: Path) -> None:
    connect = partial(kanon_sql.connect, visits, read_only=True)
    with explored(connect, Spec.parse(TEXT)) as first:
        first.enter()
        assert first.send("/earlier").text.strip() == "", "its own page is none of another tab"
        first.ask("ask", {"privacy.0.k": "8"})
        first.ask("candidates", {"name": "eight"})
        stranger = Somebody(first.address)
        for path, fields in (("/earlier", None), ("/go-on", {"page": first.visit.strip("/")})):
            assert stranger.send(path, fields).status == 403, "without a key"
        second = Somebody(first.told[0].rpartition(" ")[2])
        second.enter()
        assert second.send(first.visit).status == 410, "it is not this tab's yet"
        assert second.send(first.visit + "ask", {}).status == 410
        assert "5-anonymity" in second.ask("ask", {}).text, "a new page is as the spec is"
        listed = plain(second.send("/earlier").text)
        assert "k-anonymity k = 8; l-diversity of diagnosis l = 2; limit 5 %; full_domain; 1 candidate;" in listed
        assert second.send("/go-on", {"page": "nowhere"}).status == 410
        new = second.visit
        second.visit = second.send("/go-on", {"page": first.visit.strip("/")}).text
        assert second.visit == first.visit
        assert second.send(new).status == 410, "the page that it had is gone"
        assert "8-anonymity" in second.ask("ask", {}).text
        assert "eight" in second.send(second.visit).text
        assert "Undone: k-anonymity" in plain(second.send(second.visit + "step/undo", {}).text)
        for path, fields in (("", None), ("ask", {}), ("candidates", {"name": "x"}), ("step/undo", {})):
            ended = first.send(first.visit + path, fields)
            assert (ended.status, "another tab went on with it" in ended.text) == (410, True)


def test_a_page_on_another_origin_moves_no_step(page: Somebody) -> None:
    for path, fields in (
        ("step/undo", {}), ("role", {"column": "zip", "role": "keep"}), ("candidates", {"name": "x"}), ("compare", {}),
    ):  # fmt: skip
        assert page.send(page.visit + path, fields, Origin="http://evil.example").status == 403
        assert page.send(page.visit + path, fields, Origin="").status == 403
    assert page.send("/go-on", {"page": page.visit.strip("/")}, Origin="http://evil.example").status == 403
    assert page.send("/earlier", Sec_Fetch_Site="cross-site").status == 403


def test_what_is_read_again_is_looked_at_again(page: Somebody) -> None:
    page.ask("ask", {})
    page.ask("warnings")
    assert "data-look" not in page.ask("ask", {}).text
    page.ask("again", {})
    assert "data-look>" in page.ask("ask", {}).text


# --- Several specs -------------------------------------------------------------------------


def test_several_specs_are_candidates_by_the_names_of_their_files(
    visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: dict[str, Any] = {}
    monkeypatch.setattr("kanon_sql.explore.serve", lambda _, spec, *__, **more: served.update(more, spec=spec))
    (tmp_path / "other").mkdir()
    paths = [tmp_path / "strict.yml", tmp_path / "lax.yml", tmp_path / "other" / "lax.yml"]
    for path, k in zip(paths, (20, 3, 2), strict=True):
        path.write_text(TEXT.replace("k: 5", f"k: {k}"))
    done = run("explore", *paths, "-d", visits, "--no-browser")
    assert done.exit_code == 0, done.output
    assert list(served["candidates"]) == ["strict", "lax", "lax (3)"]
    assert served["spec"] == served["candidates"]["strict"] == Spec.load(paths[0])
    assert run("explore", paths[0], "-d", visits).exit_code == 0
    assert served["candidates"] is None
    many = run("explore", *[paths[0]] * (MOST_CANDIDATES + 1), "-d", visits)
    assert (many.exit_code, "compares at most" in many.output) == (2, True)
    assert run("explore", paths[0], "--table", "visits", "-d", visits).exit_code == 2
    with explored(partial(kanon_sql.connect, visits, read_only=True), Spec.load(paths[0]),
                  candidates={"strict": Spec.load(paths[0]), "lax": Spec.load(paths[1])}) as somebody:  # fmt: skip
        somebody.enter()
        shown = plain(somebody.ask("compare", {"with.1": "1", "with.2": "1"}).text)
        assert "strict lax" in shown
        assert "requirements , differs k-anonymity k = 20; l-diversity of diagnosis l = 2 k-anonymity k = 3" in shown


@pytest.mark.slow
def test_a_candidate_of_another_table_has_the_columns_of_that_table(tmp_path: Path) -> None:
    make_visits(tmp_path / "clinic.duckdb")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE stays AS SELECT age, diagnosis, zip AS area FROM visits")
    other = TEXT.replace("source: visits", "source: stays").replace("zip: {prefix: [4, 3, 2]}", "area: {}")
    specs = {"visits": Spec.parse(TEXT), "stays": Spec.parse(other.replace("identifiers: [name]\n", ""))}
    connect = partial(kanon_sql.connect, tmp_path / "clinic.duckdb", read_only=True)
    with explored(connect, specs["visits"], candidates=specs) as somebody:
        somebody.enter()
        somebody.ask("columns")
        assert "receipt" in somebody.send(somebody.visit + "controls").text
        somebody.ask("candidates/2/load", {})
        assert somebody.ask("columns").text != ""
        controls = plain(somebody.send(somebody.visit + "controls").text)
        assert "receipt" not in controls
        assert "area quasi-identifier" in controls
        assert "The sources differ" in somebody.ask("compare", {"with.1": "1", "with.2": "1"}).text


# --- Several tables ------------------------------------------------------------------------

RELATED = """
version: 1
person: {table: people, key: id, quasi_identifiers: {town: {maximum_level: 0}}}
tables:
  stays: {key: nr, person: who, quasi_identifiers: {ward: {maximum_level: 0}}}
privacy:
- km_anonymity: {k: 3, m: 1}
"""


def make_related(folder: Path) -> tuple[Path, Path]:
    """A database of two tables, and the spec of both."""
    with duckdb.connect(str(folder / "related.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, 'zq' || i % 2 AS town FROM range(12) AS t(i)")
        connection.execute(
            "CREATE TABLE stays AS SELECT i AS nr, i % 12 AS who, 'wx' || i % 2 AS ward FROM range(24) AS t(i)"
        )
    (folder / "tables.yml").write_text(RELATED)
    return folder / "related.duckdb", folder / "tables.yml"


@pytest.mark.slow
def test_a_spec_of_several_tables_has_a_page_without_controls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database, path = make_related(tmp_path)
    served: list[Any] = []
    monkeypatch.setattr("kanon_sql.explore.serve", lambda *given, **more: served.append((*given, more)))
    assert run("explore", path, "-d", database, "--no-browser").exit_code == 0
    ((connect, spec, settings, more),) = served
    assert (spec, more["candidates"]) == (None, None)
    with explored(connect, None, several=settings.several) as somebody:
        somebody.enter()
        page = somebody.send(somebody.visit).text
        assert "There are no controls" in page
        assert "data-now" in page
        assert not re.findall("step-undo|data-role|Publish the", page)
        assert somebody.send(somebody.visit + "export.html").status == 404, "it is not planned yet"
        found = somebody.ask("together", {})
        with kanon_sql.connect(database, read_only=True) as engine:
            alone = kanon_sql.plan(engine, kanon_sql.RelationalSpec.parse(RELATED))
        assert alone.message in plain(found.text)
        assert "<svg" in found.text
        assert not re.findall(r"zq[01]|wx[01]|\sstyle=|<style", found.text)
        assert json.loads(somebody.send(somebody.visit + "export.json").text)["persons"] == 12
        assert "Several tables" not in somebody.send(somebody.visit + "export.html").text
        path.write_text(RELATED.replace("k: 3", "k: 700"))
        assert "FAIL" in somebody.ask("together", {}).text, "the file is read again"
        path.write_text("person: {")
        broken = somebody.ask("together", {})
        assert (broken.status, "tables.yml" in broken.text) == (422, True)
        for what, fields in (("ask", {}), ("role", {"column": "town", "role": "keep"}), ("candidates", {"name": "x"})):
            assert somebody.ask(what, fields).status == 404
    with explored(partial(kanon_sql.connect, database, read_only=True), None) as somebody:
        somebody.enter()
        assert somebody.ask("together", {}).status == 404
