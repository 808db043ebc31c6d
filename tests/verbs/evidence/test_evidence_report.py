"""Evidence as a page, as Markdown and as JSON, and on the command line: what it says, and what it may never say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.disclosure.attacks import AttributeAttack, Cases, class_keys, class_values, register, unregister
from kanon_sql.report.evidence import FORMS
from kanon_sql.report.json import evidence_schema
from kanon_sql.sql import add_template_directory, remove_template_directory, render
from tests.report.test_report import Page
from tests.support.command_line import SECRET, SPEC, make_clinic, refused, run, tables

pytestmark = pytest.mark.xdist_group("evidence")  # one clinic for all of them

VALIDATOR = jsonschema.Draft202012Validator(evidence_schema())


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clinic and its release."""
    directory = tmp_path_factory.mktemp("evidence")
    make_clinic(directory / "clinic.duckdb")
    (directory / "spec.yml").write_text(SPEC)
    result = run("anonymize", directory / "spec.yml", "-d", directory / "clinic.duckdb", "--manifest", "none")
    assert result.exit_code == 0, result.output
    return directory


def asked(clinic: Path, *more: Any) -> Any:
    return run("release", "evidence", clinic / "spec.yml", "-d", clinic / "clinic.duckdb", *more)


@pytest.fixture(scope="module")
def forms(clinic: Path) -> dict[str, str]:
    with kanon_sql.connect(clinic / "clinic.duckdb", read_only=True) as engine:
        found = kanon_sql.evidence(engine, kanon_sql.Spec.load(clinic / "spec.yml"))
    return {form: kanon_sql.evidence_report(found, form) for form in FORMS}  # type: ignore[arg-type]


@pytest.mark.slow
def test_no_value_of_the_data_is_anywhere(clinic: Path, forms: dict[str, str]) -> None:
    with duckdb.connect(str(clinic / "clinic.duckdb"), read_only=True) as connection:
        rows = connection.execute("SELECT DISTINCT zip, diagnosis, name FROM visits").fetchall()
        rows += connection.execute("SELECT DISTINCT zip, diagnosis, '[' || age || ')' FROM visits_release").fetchall()
        rows += connection.execute("SELECT DISTINCT age, age, age FROM visits_release WHERE age LIKE '[%'").fetchall()
    values = {str(value) for row in rows for value in row}
    assert SECRET in values
    for text in forms.values():
        shown = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
        assert not [value for value in values if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", shown)]


@pytest.mark.slow
def test_no_password_and_no_literal_of_sql(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    query = "SELECT * FROM visits WHERE name <> 'Hidden One'"
    (tmp_path / "spec.yml").write_text(SPEC.replace("source: visits", f'source: {{query: "{query}"}}'))
    assert run("anonymize", tmp_path / "spec.yml", "-d", tmp_path / "clinic.duckdb").exit_code == 0
    with kanon_sql.connect(tmp_path / "clinic.duckdb", read_only=True) as engine:
        found = kanon_sql.evidence(engine, kanon_sql.Spec.load(tmp_path / "spec.yml"))
    assert not any("Hidden" in kanon_sql.evidence_report(found, form) for form in FORMS)  # type: ignore[arg-type]
    assert not any("Hidden" in text for text in found.sql)
    elsewhere = kanon_sql.Spec.from_dict(
        {"version": 1, "source": {"file": "s3://user:hunter2@bucket/x.parquet?token=hunter2"},
         "quasi_identifiers": {"a": {}}, "privacy": [{"k_anonymity": 2}]}
    )  # fmt: skip
    assert "hunter2" not in json.dumps(elsewhere.redacted())


@pytest.mark.slow
def test_the_page_stands_by_itself_and_reads_in_order(forms: dict[str, str]) -> None:
    page = Page(forms["html"])
    assert not [tag for tag, _ in page.tags if tag in ("script", "img", "iframe")]
    assert not [value for name in ("src", "href") for value in page.values(name) if value != "data:,"]
    assert "http://" not in forms["html"].replace("http://www.w3.org", "")
    assert "https://" not in forms["html"]
    headings = [tag for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert set(page.values("aria-labelledby")) <= set(ids)
    assert all(attributes.get("scope") for tag, attributes in page.tags if tag == "th")
    assert "@page{size:A4" in forms["html"]


SECTIONS = [
    "Scope of this document", "The release", "Verdict", "What the requirements mean", "Data dictionary",
    "Residual risk: singling out (WP216)", "Residual risk: linkability (WP216)", "Residual risk: inference (WP216)",
    "Identifiers of HIPAA's Safe Harbor", "Risk tables: EMA policy 0070", "Attack modelling: ISO/IEC 27559", "Warnings",
    "Not measured", "Notes", "Method", "Signature",
]  # fmt: skip


def test_all_sections_are_there_in_every_form_for_people(forms: dict[str, str]) -> None:
    shown = re.findall(r"<h2 [^>]*>(.*?)</h2>", forms["html"])
    assert [item.replace("&#39;", "'") for item in shown] == SECTIONS
    assert re.findall(r"^## (.*)$", forms["markdown"], re.MULTILINE) == SECTIONS
    for text in (forms["html"], forms["markdown"]):
        for said in ("Context, harms and governance are not measured", "not legal advice", "Decision", "Function"):
            assert said in text


def test_it_names_the_run_the_spec_and_the_time(clinic: Path, forms: dict[str, str]) -> None:
    data = json.loads(forms["json"])
    spec = kanon_sql.Spec.load(clinic / "spec.yml")
    assert data["made"]["spec_hash"] == data["run"]["spec_hash"] == spec.hash
    assert data["made"]["version"] == kanon_sql.__version__
    assert data["run"]["same_spec"] is data["run"]["unchanged"] is True
    for text in (forms["html"], forms["markdown"].replace("\\", "")):
        assert spec.hash in text
        assert data["run"]["run_id"] in text
        assert kanon_sql.__version__ in text
        assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", text)


def test_the_json_follows_its_schema_which_leaves_nothing_open(forms: dict[str, str]) -> None:
    jsonschema.Draft202012Validator.check_schema(evidence_schema())
    data = json.loads(forms["json"])
    VALIDATOR.validate(data)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({**data, "more": 1})
    assert set(evidence_schema()["required"]) == set(data)
    assert json.loads(run("pipeline", "schema", "evidence").stdout) == evidence_schema()


@pytest.mark.slow
def test_names_that_are_markup_stay_text(tmp_path: Path) -> None:
    evil = "<script>x|y</script>"
    with duckdb.connect(str(tmp_path / "evil.duckdb")) as connection:
        for table in ("people", "released"):
            connection.execute(f"CREATE TABLE {table} AS SELECT 'a' AS \"{evil}\" FROM range(4)")
    spec = kanon_sql.Spec.from_dict(
        {"version": 1, "source": "people", "release": "released", "quasi_identifiers": {evil: {}},
         "privacy": [{"k_anonymity": 2}]}
    )  # fmt: skip
    with kanon_sql.connect(tmp_path / "evil.duckdb", read_only=True) as engine:
        found = kanon_sql.evidence(engine, spec)
    page = kanon_sql.evidence_report(found)
    Page(page)
    assert "<script" not in page
    markdown = kanon_sql.evidence_report(found, "markdown")
    prose = [line for line in markdown.splitlines() if not line.startswith("    ")]  # what is indented is code
    assert not re.search(r"(?<!\\)<script", "\n".join(prose))
    assert r"\<script\>x\|y" in markdown


@pytest.mark.slow
def test_an_attack_that_somebody_adds_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "telling.sql.j2").write_text(
        "SELECT {% for key in keys %}{{ key | name }}, {% endfor %}value_code, held AS people, 0.5 AS risk, "
        "1 AS exposed, 0 AS beyond FROM {{ values }}"
    )

    class Telling(AttributeAttack):
        name = "telling"

        def run(self, scene: Any) -> list[Cases]:
            keys = class_keys(scene)
            query = render("own/telling", keys=list(keys), values=class_values(scene, scene.attribute))
            return [
                Cases(name=self.name, about=scene.attribute, query=query, keys={**keys, "value_code": scene.attribute},
                      measure="a half")
            ]  # fmt: skip

    make_clinic(tmp_path / "clinic.duckdb")
    add_template_directory(tmp_path)
    register(Telling())
    try:
        with kanon_sql.connect(tmp_path / "clinic.duckdb") as engine:
            assert kanon_sql.anonymize(engine, kanon_sql.Spec.parse(SPEC)).passed
            found = kanon_sql.evidence(engine, kanon_sql.Spec.parse(SPEC))
    finally:
        unregister("telling")
        remove_template_directory(tmp_path)
    (others,) = (part for part in found.wp216 if part.threat == "other")
    assert [item.measured_by for item in others.findings] == ["audit: telling of diagnosis"]
    assert "Residual risk: other attacks" in kanon_sql.evidence_report(found)


# --- The command line -------------------------------------------------------------------------


@pytest.mark.slow
def test_it_is_written_into_a_file_and_the_exit_code_is_the_verdict(clinic: Path, tmp_path: Path) -> None:
    before = tables(clinic / "clinic.duckdb")
    result = asked(clinic, "-o", tmp_path / "evidence.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"report: {tmp_path / 'evidence.html'}" in result.stderr
    assert (tmp_path / "evidence.html").read_text().startswith("<!DOCTYPE html>")
    assert tables(clinic / "clinic.duckdb") == before
    strict = tmp_path / "spec.yml"
    strict.write_text(SPEC.replace("k: 5", "k: 50"))
    result = run("release", "evidence", strict, "-d", clinic / "clinic.duckdb", "--format", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    VALIDATOR.validate(data)
    assert data["verdict"] == "fail"
    assert "violate 50-anonymity" in data["message"]
    assert "the table was published with another spec than this one" in data["notes"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--attack", "linking"], "'linking' is not an attack that runs on request"),
        (["--set", "external_is_sample=true"], "external_is_sample: "),
        (["--set", "zip_people=n"], "zip_people: "),
        (["-o", "nowhere/evidence.html"], "expected a file in an existing directory"),
    ],
)
def test_options_that_do_not_fit_are_refused(clinic: Path, options: list[str], said: str) -> None:
    assert said in refused(asked(clinic, *options), 2)


@pytest.mark.parametrize(
    "option",
    [["--table", "t"], ["--external-is-sample"], ["--attack", "mapping"], ["--earlier", "t"], ["--format", "html"],
     ["--zip-population", "t"], ["--evidence"]],
)  # fmt: skip
def test_the_report_names_the_verb_that_has_them(tmp_path: Path, option: list[str]) -> None:
    (tmp_path / "run.json").write_text("{}")
    said = " ".join(refused(run("report", tmp_path / "run.json", *option, env={"COLUMNS": "200"}), 2).split())
    assert f"{option[0]} has moved; " in said
    assert "kanon-sql release evidence SPEC" in said


@pytest.mark.slow
def test_all_its_options_reach_it(clinic: Path) -> None:
    with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
        connection.execute("CREATE OR REPLACE TABLE voters AS SELECT age, zip FROM visits LIMIT 50")
        connection.execute("CREATE OR REPLACE TABLE copy AS FROM visits_release")
        connection.execute("CREATE OR REPLACE TABLE everybody AS FROM visits_release")
        connection.execute("CREATE OR REPLACE TABLE census AS SELECT zip, 50000 AS n FROM visits GROUP BY zip")
        connection.execute("DELETE FROM census WHERE length(zip) <> 5")
    try:
        result = asked(
            clinic, "--table", "copy", "--external", "voters", "--set", "external_is_sample=true", "--on", "age,zip",
            "--earlier", "visits_release", "--attack", "mapping", "--population", "everybody", "--sampling-fraction",
            "0.5", "--set", "zip_population=census,zip_people=n,timeout=100", "--format", "json",
        )  # fmt: skip
    finally:
        with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
            for name in ("voters", "copy", "everybody", "census"):
                connection.execute(f"DROP TABLE {name}")
    data = json.loads(result.stdout)
    VALIDATOR.validate(data)
    assert data["release"] == "copy"
    assert data["run"] is None
    findings = {item["measured_by"]: item for part in data["wp216"] for item in part["findings"]}
    assert findings["audit: linking with voters"]["interval"]["level"] == 0.95
    assert {"audit: complementary with visits_release", "audit: mapping with voters"} <= set(findings)
    assert data["journalist"]["population"] == "everybody"
    assert data["population_uniques"]
    assert data["zip_codes"][0]["population"] == "census"
