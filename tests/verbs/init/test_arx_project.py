"""ARX projects become specs. The projects are written here, element by element as ARX writes them."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import KanonError
from kanon_sql.verbs.init import arx_project, draft_of_arx
from tests.support.arx import BORN, COLUMNS, ROLES, ZIP, config, definition, project, rows, text_of
from tests.support.command_line import refused, run


def spec_of(tmp_path: Path, change: Mapping[str, bytes | str | None] | None = None, **more: int) -> kanon_sql.Spec:
    draft = draft_of_arx(project(tmp_path / "people.deid", change=change), tmp_path, **more)
    return kanon_sql.Spec.parse(draft.text)


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_the_draft_of_a_project_gives_a_verified_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delimiter: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    project(tmp_path / "people.deid", delimiter=delimiter)
    run = CliRunner().invoke(app, ["init", "people.deid", "-o", "specs/people.yml"])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(app, ["anonymize", "specs/people.yml"])
    assert run.exit_code == 0, run.output
    with open(tmp_path / "specs" / "people_release.csv", newline="", encoding="utf-8") as file:
        released = list(csv.DictReader(file))
    assert list(released[0]) == ["born", "zip", "income", "illness", "ward"]
    labels = {label for value, more in BORN.items() for label in (value, *more)}
    assert {row["born"] for row in released} <= labels
    assert {row["zip"] for row in released} <= {"*", *ZIP, *(label for (label,) in ZIP.values())}
    assert sorted(row["income"] for row in released) == sorted(row[3] for row in rows())
    assert {row["ward"] for row in released} == {"NULL", "W;1"}


def test_what_is_written_beside_the_spec_is_private_and_never_replaced(tmp_path: Path) -> None:
    path = project(tmp_path / "people 1.deid")
    draft = draft_of_arx(path, tmp_path)
    assert draft.directory == tmp_path / "people_1"
    if os.name == "posix":
        modes = {item.stat().st_mode & 0o077 for item in (draft.directory, *draft.directory.rglob("*"))}
        assert modes == {0}
    with pytest.raises(KanonError, match="people_1 already, which is not replaced"):
        draft_of_arx(path, tmp_path)


def test_roles_levels_and_weights_are_those_of_the_project(tmp_path: Path) -> None:
    more = {"born": "<ref>hierarchies/born.csv</ref><min>1</min><max>2</max>"}
    weights = {"born": 0.25, "zip": 0.75, "income": 1.0}
    change = {
        "input/definition.xml": definition(more),
        "input/config.xml": config("4-anonymity", weights=weights, limit="0.025", metric="Loss (0.25/1.0/0.5)"),
    }
    spec = spec_of(tmp_path, change)
    assert spec.identifiers == ("name",)
    assert spec.sensitive == ("income", "illness")
    assert spec.keep == ("ward",)
    born, zips = (spec.quasi_identifiers[name] for name in ("born", "zip"))
    assert (born.minimum_level, born.maximum_level, round(born.weight, 9)) == (1, 2, round(1 / 3, 9))
    assert (zips.minimum_level, zips.maximum_level, zips.weight) == (0, 1, 1.0)
    assert spec.suppression.limit == ("max_share", 0.025)
    assert (spec.suppression.style, spec.search.metric, spec.search.gs_factor) == ("mask", "loss", 0.25)


@pytest.mark.parametrize(
    ("criterion", "written"),
    [
        ("7-anonymity", {"k_anonymity": {"k": 7}}),
        ("distinct-2-diversity for attribute 'illness'", {"l_diversity": {"attribute": "illness", "l": 2}}),
        ("shannon-entropy-1.5-diversity for attribute 'illness'",
         {"l_diversity": {"attribute": "illness", "l": 1.5, "variant": "entropy"}}),
        ("entropy-1.5-diversity for attribute 'illness'",
         {"l_diversity": {"attribute": "illness", "l": 1.5, "variant": "entropy"}}),
        ("grassberger-entropy-1.5-diversity for attribute 'illness'",
         {"l_diversity": {"attribute": "illness", "l": 1.5, "variant": "entropy", "estimator": "grassberger"}}),
        ("recursive-(4.0,2)-diversity for attribute 'illness'",
         {"l_diversity": {"attribute": "illness", "l": 2, "c": 4, "variant": "recursive"}}),
        ("0.2-closeness with equal ground-distance for attribute 'illness'",
         {"t_closeness": {"attribute": "illness", "t": 0.2}}),
        ("0.2-closeness with ordered distance for attribute 'income'",
         {"t_closeness": {"attribute": "income", "t": 0.2, "distance": "ordered"}}),
        ("0.2-closeness with hierarchical ground-distance for attribute 'illness'",
         {"t_closeness": {"attribute": "illness", "t": 0.2, "distance": "hierarchical",
                          "hierarchy": {"file": "people/hierarchies/illness.csv"}}}),
        ("1.5-disclosure privacy for attribute 'illness'",
         {"delta_disclosure": {"attribute": "illness", "delta": 1.5}}),
        ("basic-1.0-likeness for attribute 'illness'",
         {"beta_likeness": {"attribute": "illness", "beta": 1, "variant": "basic"}}),
        ("enhanced-1.0-likeness for attribute 'illness'",
         {"beta_likeness": {"attribute": "illness", "beta": 1, "variant": "enhanced"}}),
        ("(0.05)-avg-reidentification-risk", {"risk": {"average": 0.05}}),
        ("(0.05, 0.25 (0.2), 1.0E-4)-avg-reidentification-risk",
         {"risk": {"average": 0.05, "highest": 0.2, "records_at_risk": 0.0001}}),
        ("(0.01)-sample-uniqueness", {"risk": {"highest": 0.5, "records_at_risk": 0.01}}),
        ("profitability (prosecutor)[benefit=1200.0, loss=300.0, gain=300.0, cost=4.0]",
         {"profitability": {"benefit": 1200, "loss": 300, "gain": 300, "cost": 4}}),
        ("no-attack-profitability (prosecutor)[benefit=1200.0, loss=300.0, gain=300.0, cost=4.0]",
         {"no_attack": {"gain": 300, "cost": 4}}),
    ],
)  # fmt: skip
def test_a_criterion_becomes_the_same_requirement(
    tmp_path: Path, criterion: str, written: dict[str, dict[str, object]]
) -> None:
    spec = spec_of(tmp_path, {"input/config.xml": config(criterion)})
    base = {"version": 1, "source": "x", "quasi_identifiers": {"born": None}, "sensitive": ["income", "illness"]}
    expected = kanon_sql.Spec.from_dict({**base, "privacy": [written]})
    assert spec.to_dict()["privacy"] == expected.to_dict()["privacy"]


@pytest.mark.parametrize(
    ("criterion", "why"),
    [
        ("Inclusion", "research subset"),
        ("(0.1,0.5)-presence", "research subset"),
        ("(5)-map", "research subset"),
        ("(5)-map estimated as (unknown)-anonymity (Poisson)", "sampling fraction"),
        ("(1.0E-4)-population-uniqueness (dankar)", "use it in check"),
        ("(2.0,1.0E-6)-DP", "differential-privacy.md"),
        ("profitability (journalist)[benefit=1.0, loss=1.0, gain=1.0, cost=1.0]", "table of the population"),
        ("distinct-2-diversity for attribute 'ward'", "'ward' is not sensitive"),
        ("0.2-closeness with ordered distance for attribute 'illness'", "'illness' is text"),
        ("0.2-closeness with hierarchical ground-distance for attribute 'income'", "'income' has no hierarchy"),
        ("k-novelty\nprivacy: []", "not known here"),
    ],
)
def test_a_criterion_without_a_like_is_named_and_never_dropped_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, criterion: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path / "people.deid", change={"input/config.xml": config("5-anonymity", criterion)})
    run = CliRunner().invoke(app, ["init", "people.deid"])
    assert run.exit_code == 0, run.output
    named = f"input/config.xml, criterion {' '.join(criterion.split())}: "
    assert named in run.stderr
    assert why in run.stderr.partition(named)[2]
    assert f"# - {named}" in run.stdout
    assert [item.name for item in kanon_sql.Spec.parse(run.stdout).privacy] == ["k_anonymity"]


def test_a_project_whose_requirements_have_no_like_needs_k(tmp_path: Path) -> None:
    change = {"input/config.xml": config("Inclusion")}
    with pytest.raises(KanonError, match=r"people.deid: input/config.xml:7: element <criteria>.* --k"):
        spec_of(tmp_path, change)
    assert not (tmp_path / "people").exists()
    assert spec_of(tmp_path, change, k=9).privacy[0].k == 9


@pytest.mark.parametrize(
    ("metric", "keys"),
    [
        ("Height", {"metric": "height"}),
        ("Monotonic precision", {"metric": "precision", "monotone": True}),
        ("Non-uniform entropy", {"metric": "entropy", "monotone": True}),
        ("Average equivalence class size", {"metric": "average_class_size"}),
        ("Monotonic discernability (DM*)", {"metric": "discernibility", "monotone": True}),
        ("Ambiguity", {"metric": "ambiguity"}),
        ("Classification accuracy", {"metric": "classification", "classify": "illness"}),
        ("KL-Divergence", {"metric": "loss"}),
    ],
)
def test_the_metric_is_that_of_the_project_or_loss(tmp_path: Path, metric: str, keys: dict[str, object]) -> None:
    more = {"illness": "<response>true</response><ref>hierarchies/illness.csv</ref><min>All</min><max>All</max>"}
    change = {"input/config.xml": config("2-anonymity", metric=metric), "input/definition.xml": definition(more)}
    draft = draft_of_arx(project(tmp_path / "people.deid", change=change), tmp_path)
    search = kanon_sql.Spec.parse(draft.text).search
    assert {key: getattr(search, key) for key in keys} == keys
    assert any("metric KL-Divergence" in line for line in draft.left) == (metric == "KL-Divergence")


def test_suppressed_rows_are_left_out_where_arx_masks_more_than_quasi_identifiers(tmp_path: Path) -> None:
    suppressed = ("QUASI_IDENTIFYING", "SENSITIVE")
    change = {"input/config.xml": config("2-anonymity", suppressed=suppressed)}
    draft = draft_of_arx(project(tmp_path / "people.deid", change=change), tmp_path)
    assert kanon_sql.Spec.parse(draft.text).suppression.style == "drop"
    assert any("suppressedAttributeTypes" in line for line in draft.left)


def test_a_lattice_that_is_too_large_is_searched_by_a_heuristic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kanon_sql.verbs.init import arx

    assert spec_of(tmp_path).search.algorithm == "optimal"
    monkeypatch.setattr(arx, "MAX_NODES", 4 * 2 - 1)
    draft = draft_of_arx(project(tmp_path / "b.deid"), tmp_path)
    assert kanon_sql.Spec.parse(draft.text).search.algorithm == "greedy"
    assert any("8 nodes" in line for line in draft.left)


def test_an_input_that_is_not_utf8_is_read_as_latin_1(tmp_path: Path) -> None:
    table = [COLUMNS, *rows()]
    table[1][5] = "M\u00fcnchen"
    draft = draft_of_arx(project(tmp_path / "people.deid", change={
        "data/input.csv": text_of(table, ";").encode("latin-1")}), tmp_path)  # fmt: skip
    spec = kanon_sql.Spec.parse(draft.text)
    assert spec.source.csv is not None
    assert spec.source.csv.encoding == "latin-1"
    assert any("not UTF-8" in line for line in draft.left)


ENTITIES = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><definition>&b;</definition>'
OUTSIDE = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/hostname">]><definition>&a;</definition>'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"input/definition.xml": ENTITIES}, "input/definition.xml:1: it has a document type"),
        ({"input/definition.xml": OUTSIDE}, "input/definition.xml:1: it has a document type"),
        ({"input/definition.xml": "<definition>\n<assigment>\n"}, "input/definition.xml:3: it is no XML"),
        ({"input/definition.xml": "<a>" * 30 + "</a>" * 30}, "nested more than 20 deep"),
        ({"input/definition.xml": "<config/>"}, "expected the element <definition>, got <config>"),
        ({"input/definition.xml": definition(roles={**ROLES, "zip": "ODD"})}, "element <type> of 'zip': expected one"),
        ({"input/definition.xml": definition(roles=dict.fromkeys(COLUMNS, "SENSITIVE"))}, "no attribute is quasi-"),
        ({"input/definition.xml": definition({"zip": "<ref>hierarchies/zip.csv</ref><min>2</min><max>All</max>"})},
         "element <min> of 'zip': expected All, or a level from 0 to 1"),
        ({"input/definition.xml": definition({"zip": "<ref>../../data/input.csv</ref>"})},
         "input/../../data/input.csv: the project has no such entry"),
        ({"input/config.xml": config("2-anonymity", limit="1.5")}, "element <relativeMaxOutliers>: expected a number"),
        ({"input/config.xml": config("0-anonymity")}, "a spec cannot hold it; change it in ARX: "),
        ({"input/hierarchies/born.csv": "a;b\nc\n"}, "born.csv: the hierarchy of 'born' has rows of 1 and of 2 cells"),
        ({"input/hierarchies/born.csv": 'a;"b\n'}, "input/hierarchies/born.csv:1: it is no CSV"),
        ({"input/hierarchies/zip.csv": None}, "input/hierarchies/zip.csv: the project has no such entry"),
        ({"data/input.csv": "name;other\n1;2\n"}, "are not the columns of data/input.csv; differing: 'other'"),
        ({"project.xml": "<project><separator>x</separator></project>"}, "project.xml:1: element <separator>"),
        ({"metadata.xml": None}, "metadata.xml: the project has no such entry"),
    ],
)  # fmt: skip
def test_a_project_that_is_wrong_is_refused_with_the_entry_and_the_element(
    tmp_path: Path, change: dict[str, str], said: str
) -> None:
    with pytest.raises(KanonError) as caught:
        spec_of(tmp_path, change)
    assert str(caught.value).startswith(str(tmp_path / "people.deid"))
    assert said in str(caught.value)
    assert [item.name for item in tmp_path.iterdir()] == ["people.deid"], "nothing is left beside it"


def test_no_name_in_a_project_becomes_a_path(tmp_path: Path) -> None:
    """The columns and entries of the project name files above its directory."""
    evil = "../../evil"
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    swapped = definition().replace("<name>zip</name>", f"<name>{evil}</name>").replace("hierarchies/zip.csv", evil)
    table = [[evil if name == "zip" else name for name in COLUMNS], *rows()]
    change = {
        "input/definition.xml": swapped,
        "data/input.csv": text_of(table, ";"),
        f"input/{evil}": text_of([[value, *labels] for value, labels in ZIP.items()], ";"),
        "../../outside.csv": "x",
    }
    draft = draft_of_arx(project(inside / "..deid", change=change), inside)
    assert kanon_sql.Spec.parse(draft.text).quasi_identifiers[evil].maximum_level == 1
    assert {path.parent for path in tmp_path.rglob("*.csv")} == {draft.directory, draft.directory / "hierarchies"}


def test_bombs_and_damage_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arx_project, "MOST_HIERARCHY", 50_000)
    with pytest.raises(KanonError, match=r"data/input.csv: it would grow from"):
        spec_of(tmp_path, {"data/input.csv": "name;" * 1_000_000})
    with pytest.raises(KanonError, match=r"input/hierarchies/zip.csv: it has 60,000 bytes; at most 50,000"):
        spec_of(tmp_path, {"input/hierarchies/zip.csv": "1;2\n" * 15_000})
    path = project(tmp_path / "people.deid")
    content = path.read_bytes()
    start = content.index(b"data/input.csv") + 40
    path.write_bytes(content[:start] + bytes(200) + content[start + 200 :])
    with pytest.raises(KanonError, match=r"data/input.csv: it is damaged"):
        draft_of_arx(path, tmp_path)
    for broken in (content[: len(content) // 2], b"no zip at all"):
        path.write_bytes(broken)
        with pytest.raises(KanonError, match="it is no ARX project"):
            draft_of_arx(path, tmp_path)


def test_an_entry_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = project(tmp_path / "people.deid")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("input/config.xml", config("2-anonymity"))
    with pytest.raises(KanonError, match=r"input/config.xml: the project has this entry twice"):
        draft_of_arx(path, tmp_path)


def test_options_that_are_for_tables_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path / "people.deid")
    run = CliRunner().invoke(app, ["init", "people.deid", "--unit", "name", "--set", "combinations=1"])
    assert run.exit_code == 2
    assert "--unit, --set combinations: with an ARX project only --k can be set" in run.stderr


def test_a_project_that_is_not_there_is_no_missing_table(tmp_path: Path) -> None:
    path = str(tmp_path / "nosuch.deid")
    assert f"{path}: there is no such file; expected a project" in refused(run("init", path), 2)
