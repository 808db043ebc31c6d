"""An attack that is not the package's: one class and one template, registered, run, reported, and taken out again."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from kanon_sql import Spec, audit
from kanon_sql.cli import app
from kanon_sql.disclosure.attacks import (
    AN_EXTERNAL_TABLE,
    ATTACKS,
    COSTLY_ESTIMATE,
    ON_REQUEST,
    Attack,
    AttackMethod,
    AttributeAttack,
    AuditInput,
    Cases,
    Need,
    Scene,
    Unmeasured,
    class_keys,
    class_values,
    label_of,
    methods,
    needed,
    register,
    result_names,
    unregister,
)
from kanon_sql.errors import SpecError, TemplateError, UnsupportedError
from kanon_sql.registers import declared_names
from kanon_sql.report.audit import audit_text
from kanon_sql.report.html import html_report
from kanon_sql.report.json import audit_schema
from kanon_sql.report.layout import print_text
from kanon_sql.sql import add_template_directory, remove_template_directory, render
from tests import ROOT
from tests.conftest import Database
from tests.disclosure.attacks.test_audit import engine_marks
from tests.oracles.audit import Found, classes_of, highest
from tests.servers import SUBJECTS, subject_of
from tests.support.strategies import examples

PACKAGE = ROOT / "kanon_sql"

TELLING = """\
{# Values by the number of classes that have them. #}
SELECT
  {% for key in keys %}{{ key | name }}, {% endfor %}value_code,
  held AS people,
  1.0 / class_count AS risk,
  CASE WHEN class_count < {{ fewest | literal }} THEN 1 ELSE 0 END AS exposed,
  CASE WHEN class_count < {{ fewest | literal }} THEN 1 ELSE 0 END AS beyond
FROM (
  SELECT
    {% for key in keys %}{{ key | name }}, {% endfor %}value_code, held,
    COUNT(*) OVER (PARTITION BY value_code) AS class_count
  FROM {{ values }}
  WHERE value_code IS NOT NULL
) AS spread
"""


class Telling(AttributeAttack):
    """Whoever learns a value that one class alone has knows the quasi-identifiers of its people."""

    name: ClassVar[str] = "telling"

    def __init__(self, fewest: int = 2) -> None:
        self.fewest = fewest

    def run(self, scene: Scene) -> Sequence[Cases | Attack | Unmeasured]:
        """Count the classes of each value."""
        keys = class_keys(scene)
        values = class_values(scene, scene.attribute)
        return [
            Cases(
                name=self.name,
                about=scene.attribute,
                query=render("own/telling", keys=list(keys), values=values, fewest=self.fewest),
                keys={**keys, "value_code": scene.attribute},
                measure="one over the classes that have a value",
            )
        ]


def by_hand(release: Sequence[Mapping[str, Any]], quasi: Sequence[str], attribute: str, fewest: int = 2) -> Found:
    classes = [{row[attribute] for row in members} for members in classes_of(release, quasi)]
    rows = [row[attribute] for row in release if row[attribute] is not None]
    having = {value: sum(value in values for values in classes) for value in rows}
    exposed = sum(having[value] < fewest for value in rows)
    return Found(len(rows), exposed, exposed, highest(Fraction(1, having[value]) for value in rows))


@contextmanager
def looked_into(folder: Path) -> Iterator[Path]:
    """A directory with the toy's template, which is looked for templates in."""
    (folder / "own").mkdir()
    (folder / "own" / "telling.sql.j2").write_text(TELLING)
    add_template_directory(folder)
    try:
        yield folder
    finally:
        remove_template_directory(folder)


@pytest.fixture
def templates(tmp_path: Path) -> Iterator[Path]:
    with looked_into(tmp_path) as folder:
        yield folder


@pytest.fixture
def registered() -> Iterator[list[AttackMethod]]:
    """The attacks that were there before; what a test registers is taken out again."""
    before = methods()
    yield before
    for method in methods():
        if method not in before:
            unregister(method.name)
    assert methods() == before


@pytest.fixture
def telling(templates: Path, registered: list[AttackMethod]) -> Telling:
    method = Telling()
    register(method)
    return method


ROWS = [("a", "flu"), ("a", "hiv"), ("a", "cold"), ("b", "flu"), ("b", "cold"), ("b", "cold"), ("b", None)]
"""Nobody but somebody of class a has hiv."""


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": {"q": None}, "sensitive": ["d"],
            "privacy": [{"k_anonymity": 2}], **changes,
        }
    )  # fmt: skip


@pytest.fixture
def clinic(database: Database) -> Database:
    for name in ("s", "r"):
        database.table(name, ["q", "d"], ROWS)
    return database


# --- What it finds -------------------------------------------------------------------------------

cells = st.tuples(st.sampled_from(["a", "b", "B", None]), st.sampled_from(["x", "X", "y", "z", None]))


@given(rows=st.lists(cells, max_size=8), fewest=st.integers(1, 4))
@examples(25)
def test_it_finds_what_the_oracle_finds(
    shared_database: Database, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, Any]], fewest: int
) -> None:
    for name in ("s", "r"):
        shared_database.table(name, ["q", "d"], rows)
    with looked_into(tmp_path_factory.mktemp("templates")):
        register(Telling(fewest))
        try:
            result = audit(shared_database.engine, spec_of(), attacks=["telling"])
        finally:
            unregister("telling")
    (attack,) = result.attacks
    expected = by_hand([{"q": q, "d": d} for q, d in rows], ["q"], "d", fewest)
    assert (attack.examined, attack.exposed, attack.beyond) == (expected.examined, expected.exposed, expected.beyond)
    assert (attack.risk is None) == (expected.risk is None)
    assert expected.risk is None or isclose(attack.risk or 0, expected.risk, abs_tol=1e-9)
    assert result.passed == (bool(rows) and not expected.beyond)


@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS])
@pytest.mark.campaign_on("spark")
def test_its_template_is_translated_for_every_engine(name: str, telling: Telling) -> None:
    columns = {"q": "text", "d": "text"}
    with subject_of(name) as subject:
        for table in ("own_s", "own_r"):
            subject.table(table, columns, ROWS)
        engine = subject.connect()
        try:
            result = audit(engine, spec_of(source="own_s", release="own_r"), attacks=["telling"])
        finally:
            engine.close()
    assert [(item.examined, item.exposed, item.beyond, item.risk) for item in result.attacks] == [(6, 1, 1, 1.0)]


# --- Where it shows ------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_runs_by_default_and_its_failing_fails_the_audit(
    clinic: Database, telling: Telling, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec_of(privacy=[{"k_anonymity": 1}])
    unregister("telling")
    before = audit(clinic.engine, spec)
    register(telling)
    result = audit(clinic.engine, spec, reveal=3)
    assert [attack.name for attack in result.attacks] == [*(attack.name for attack in before.attacks), "telling"]
    attack = result.attacks[-1]
    assert attack.label == "telling of d"
    assert attack.failed
    assert (before.verdict, result.verdict) == ("pass", "fail")
    assert result.message == "r: telling of d exposes 1 of 6"
    assert attack.revealed == [{"values": {"q": "a", "d": "hiv"}, "people": 1}]
    data = json.loads(json.dumps(result.to_dict()))
    jsonschema.Draft202012Validator(audit_schema()).validate(data)
    print_text(audit_text(result))
    printed = capsys.readouterr().out
    assert "telling of d exposes 1 of 6" in printed
    assert "one over the classes that have a value" in printed
    page = html_report(result)
    assert "telling of d" in page
    assert "one over the classes that have a value" in page


def test_it_passes_where_it_exposes_nobody(clinic: Database, telling: Telling) -> None:
    clinic.table("r", ["q", "d"], [("a", "flu"), ("b", "flu")])
    result = audit(clinic.engine, spec_of(), attacks=["telling"])
    assert result.passed
    assert [(item.examined, item.exposed, item.risk) for item in result.attacks] == [(2, 0, 0.5)]
    assert not any("CREATE" in sql.replace("CREATE TEMP", "") for sql in result.sql)


def test_what_it_needs_is_said_where_it_is_missing(
    clinic: Database, telling: Telling, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec_of(sensitive=[], keep=["d"])
    result = audit(clinic.engine, spec)
    assert result.left_out["telling"] == "the spec lists no sensitive attribute"
    print_text(audit_text(result))
    assert "telling" in capsys.readouterr().out
    with pytest.raises(UnsupportedError, match=r"^attack telling: the spec lists no sensitive attribute$"):
        audit(clinic.engine, spec, attacks=["telling"])


class Asking(AttackMethod):
    """Needs a table, and something of its own; has two results; counts by itself."""

    name: ClassVar[str] = "asking"
    results: ClassVar[tuple[str, ...]] = ("asking once", "asking twice")
    needs: ClassVar[tuple[Need, ...]] = (
        AN_EXTERNAL_TABLE, needed("it needs two columns", lambda given: len(given.release.columns) > 1),
    )  # fmt: skip
    about_tables: ClassVar[bool] = True

    def subjects(self, given: AuditInput) -> Sequence[str | None]:
        """The external table."""
        return [] if given.external is None else [given.external.shown]

    def run(self, scene: Scene) -> Sequence[Cases | Attack | Unmeasured]:
        """Expose nobody."""
        return [
            Attack(self.results[0], scene.about, 1, 0, 0, None, "nothing"),
            Unmeasured(self.results[1], "once is enough"),
        ]


@pytest.mark.slow
def test_options_belong_to_whoever_declares_them(clinic: Database, registered: list[AttackMethod]) -> None:
    register(Asking())
    with pytest.raises(
        SpecError, match="external: only the attack linking or mapping or asking uses it; add --attack, or leave it out"
    ):
        audit(clinic.engine, spec_of(), external="s", attacks=["homogeneity"])
    result = audit(clinic.engine, spec_of(), external="s")
    assert "asking once with s" in [attack.label for attack in result.attacks]
    assert result.left_out["asking twice"] == "once is enough"
    assert "telling" not in result.left_out
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert audit(clinic.engine, spec_of()).left_out["asking"] == "it needs an external table (--external)"
    with pytest.raises(UnsupportedError, match="attack asking twice: once is enough"):
        audit(clinic.engine, spec_of(), external="s", attacks=["asking"])
    clinic.table("r", ["q"], [("a",)])
    narrow = audit(clinic.engine, spec_of(sensitive=[]), external="s")
    assert narrow.left_out["asking"] == "it needs two columns"


class Costly(Telling):
    """The same on request."""

    name: ClassVar[str] = "costly"
    on_request: ClassVar[str | None] = COSTLY_ESTIMATE


def test_on_request_is_left_out_unless_it_is_named(
    clinic: Database, templates: Path, registered: list[AttackMethod]
) -> None:
    register(Costly())
    assert {*ON_REQUEST} == {
        "correspondence", "correspondence_backward", "mapping", "minimality", "downcoding", "refinement",
        "definetti", "costly",
    }  # fmt: skip
    assert audit(clinic.engine, spec_of()).left_out["costly"] == COSTLY_ESTIMATE
    assert [attack.name for attack in audit(clinic.engine, spec_of(), attacks=["costly"]).attacks] == ["costly"]


def test_a_name_that_nobody_has_is_compared_with_its_name(clinic: Database, telling: Telling) -> None:
    with pytest.raises(SpecError, match="there is no 'teling'; did you mean 'telling'"):
        audit(clinic.engine, spec_of(), attacks=["teling"])


# --- The registries ------------------------------------------------------------------------------


class Disguised(Telling):
    """One of its results is called as another attack's."""

    name: ClassVar[str] = "disguised"
    results: ClassVar[tuple[str, ...]] = ("disguised", "linking, reversed")


def test_a_name_is_given_once(telling: Telling) -> None:
    with pytest.raises(UnsupportedError, match="there is already an attack or a result called telling"):
        register(Telling(3))
    with pytest.raises(UnsupportedError, match="there is already an attack or a result called linking, reversed"):
        register(Disguised())
    unregister("telling")
    with pytest.raises(UnsupportedError, match="attack telling: there is no such attack; expected one of linking, "):
        unregister("telling")
    assert "telling" not in ATTACKS
    assert label_of("telling", "d") == "telling of d"


def test_templates_may_not_hide_one_another(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    add_template_directory(str(templates))  # again: nothing happens
    for name in ("own/telling", "frequency/raw"):
        other = tmp_path_factory.mktemp("other")
        file = other / f"{name}.sql.j2"
        file.parent.mkdir()
        file.write_text("SELECT 1")
        with pytest.raises(TemplateError, match=f"there is already a template '{name}'"):
            add_template_directory(other)
    empty = tmp_path_factory.mktemp("empty")
    for missing in (empty, empty / "nowhere"):
        with pytest.raises(TemplateError, match="there is no template in it"):
            add_template_directory(missing)
    with pytest.raises(TemplateError, match="was not added"):
        remove_template_directory(empty)


def test_a_template_of_somebody_else_is_held_to_the_same_rules(templates: Path) -> None:
    (templates / "own" / "spliced.sql.j2").write_text("SELECT {{ value }}")
    with pytest.raises(TemplateError, match="went through no filter"):
        render("own/spliced", value="1; DROP TABLE x")


def test_a_directory_that_was_removed_is_looked_at_no_more(tmp_path: Path) -> None:
    with looked_into(tmp_path) as folder:
        (folder / "own" / "one.sql.j2").write_text("SELECT 1")
        assert render("own/one") == "SELECT 1"
    with pytest.raises(TemplateError, match="there is no SQL template 'own/one'"):
        render("own/one")


# --- One list of attacks -------------------------------------------------------------------------


def test_what_is_written_out_elsewhere_is_what_is_registered() -> None:
    assert declared_names("kanon_sql.disclosure.attacks") == sorted(ATTACKS)
    assert audit_schema()["$defs"]["Attack"]["properties"]["name"]["enum"] == result_names()


def test_no_result_of_ours_has_the_name_of_another() -> None:
    names = [name for method in methods() for name in {method.name, *method.results}]
    assert sorted(names) == sorted(set(names))


def test_the_help_lists_every_attack_and_says_which_are_left_out() -> None:
    shown = " ".join(CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "200"}).output.split())
    assert (
        f"{', '.join(sorted(ATTACKS))}. If not given, all that apply, except those that run only if you name them."
        in shown
    )
    assert tuple(ATTACKS)[-7:] == tuple(ON_REQUEST)


def places() -> list[Path]:
    """Everything above the attacks but what has to load nothing, and the suite for engines, which runs some by name."""
    rooms = [PACKAGE / room for room in ("verbs", "report", "cli")]
    return [path for room in rooms for path in sorted(room.rglob("*.py")) if path != PACKAGE / "cli" / "complete.py"]


@pytest.mark.slow
def test_nobody_asks_which_attack_it_is() -> None:
    """What differs between attacks, they declare: their names are no strings and no identifiers above them."""
    names = {*ATTACKS, *result_names()}
    classes = {type(method).__name__ for method in methods()}
    for path in places():
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            where = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Constant):
                assert node.value not in names, f"{where} says {node.value}"
            elif isinstance(node, ast.ImportFrom) and node.module == "kanon_sql.disclosure.attacks":
                assert not classes & {alias.name for alias in node.names}, where


@pytest.mark.slow
def test_the_door_of_the_attacks_hands_out_nothing_that_nobody_takes() -> None:
    from kanon_sql.disclosure import attacks

    taken = set()
    inside = PACKAGE / "disclosure" / "attacks"
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        if not path.is_relative_to(inside) and "attacks" in (text := path.read_text()):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.module == "kanon_sql.disclosure.attacks":
                    taken |= {alias.name for alias in node.names}
    documented = (PACKAGE.parent / "docs" / "reference" / "attacks.md").read_text()
    assert {name for name in set(attacks.__all__) - taken if name not in documented} == set()
