"""The spec: every way it can be wrong, and what it says when it is right."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import textwrap
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kanon_sql.spec as spec_package
from kanon_sql.errors import SpecError
from kanon_sql.spec import (
    DatesHierarchy,
    DeltaPresenceRequirement,
    FileHierarchy,
    IntervalsHierarchy,
    KAnonymityRequirement,
    KMapRequirement,
    LDiversityRequirement,
    PrefixHierarchy,
    QuasiIdentifier,
    Source,
    Spec,
    SqlHierarchy,
    Suppression,
    TableHierarchy,
    TClosenessRequirement,
    TreeHierarchy,
    ValueHierarchy,
    format_table_name,
    parse_table_name,
)
from kanon_sql.spec.redact import redact_location, redact_sql

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "spec.yml"
SCHEMA = Path(spec_package.__file__).with_name("spec.schema.json")

MINIMAL: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "quasi_identifiers": {"age": {"intervals": [5, 10]}},
    "privacy": [{"k_anonymity": {"k": 5}}],
}

patient = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""No limit on the time of one example: a busy machine is not a defect."""


def make(**changes: Any) -> Spec:
    return Spec.from_dict({**MINIMAL, **changes})


def column(**written: Any) -> QuasiIdentifier:
    return make(quasi_identifiers={"x": written}).quasi_identifiers["x"]


def problems(text: str) -> list[str]:
    """``line:column: message`` of each problem of a YAML text."""
    with pytest.raises(SpecError) as caught:
        Spec.parse(textwrap.dedent(text), "s.yml")
    assert all(problem.file == "s.yml" for problem in caught.value.problems)
    return [str(problem).removeprefix("s.yml:") for problem in caught.value.problems]


def refusals(**changes: Any) -> list[str]:
    with pytest.raises(SpecError) as caught:
        make(**changes)
    return [str(problem) for problem in caught.value.problems]


def column_refusals(**written: Any) -> list[str]:
    return refusals(quasi_identifiers={"x": written})


HEAD = "version: 1\nsource: visits\n"
TAIL = "quasi_identifiers: {age: {}}\nprivacy: [{k_anonymity: 2}]\n"


# --- The example and the schema ------------------------------------------------------------


def test_the_example_loads_completely() -> None:
    spec = Spec.load(EXAMPLE)
    assert spec.source == Source(table=("visits",))
    assert spec.release == ("visits_release",)
    assert spec.unit == "patient_id"
    assert spec.identifiers == ("name", "ssn")
    assert list(spec.quasi_identifiers) == [
        "age", "zip", "birth_date", "sex", "diagnosis_group", "ward", "visits",
    ]  # fmt: skip
    hierarchies = [quasi.hierarchy for quasi in spec.quasi_identifiers.values()]
    assert hierarchies[0] == IntervalsHierarchy(
        (Decimal(5), Decimal(10), Decimal(20)), Decimal(0), Decimal(0), Decimal(90)
    )
    assert hierarchies[1] == PrefixHierarchy((4, 3, 2))
    assert hierarchies[2] == DatesHierarchy(("month", "quarter", "year", "decade"))
    assert hierarchies[3] == FileHierarchy("hierarchies/sex.csv")
    assert isinstance(hierarchies[4], TreeHierarchy)
    assert hierarchies[5] == TableHierarchy(("ward_hierarchy",))
    assert hierarchies[6] == SqlHierarchy(("floor(x / 10) * 10", "floor(x / 50) * 50"))
    assert [quasi.height_hint for quasi in spec.quasi_identifiers.values()] == [4, 4, 5, None, 3, None, 3]
    assert spec.quasi_identifiers["ward"].maximum_level == 2
    assert spec.quasi_identifiers["birth_date"].minimum_level == 1
    assert spec.quasi_identifiers["diagnosis_group"].weight == 2.0
    assert spec.privacy == (
        KAnonymityRequirement(k=5),
        LDiversityRequirement(attribute="diagnosis", l=3, kind="distinct"),
        TClosenessRequirement(attribute="diagnosis", t=0.3),
        KMapRequirement(population=("census",), k=5),
        DeltaPresenceRequirement(population=("census",), delta_max=0.5),
    )
    assert spec.suppression == Suppression(limit=0.05, style="drop")
    assert (spec.search.algorithm, spec.search.metric) == ("samarati", "loss")
    assert spec.nulls == "value"
    assert spec.base_dir == EXAMPLE.parent
    assert spec.resolve("hierarchies/sex.csv") == EXAMPLE.parent / "hierarchies" / "sex.csv"


def test_defaults() -> None:
    spec = make()
    assert (spec.release, spec.unit, spec.identifiers, spec.sensitive, spec.keep) == (None, None, (), (), ())
    assert (spec.suppression.limit, spec.suppression.style) == (0.0, "drop")
    assert (spec.search.algorithm, spec.search.metric) == ("optimal", "loss")
    assert spec.search.prefer == "minimum_suppression"
    assert spec.nulls == "value"
    assert spec.base_dir == Path.cwd()
    # A key with nothing after it is as good as no key.
    assert make(keep=None, unit=None, suppression=None, search=None, nulls=None) == spec


def test_the_committed_schema_is_the_generated_one() -> None:
    assert json.loads(SCHEMA.read_text("utf-8")) == Spec.json_schema()
    jsonschema.Draft202012Validator.check_schema(Spec.json_schema())


def schema_accepts(data: object) -> bool:
    return bool(jsonschema.Draft202012Validator(Spec.json_schema()).is_valid(data))


def test_the_schema_accepts_what_users_write() -> None:
    from ruamel.yaml import YAML

    assert schema_accepts(YAML(typ="safe", pure=True).load(EXAMPLE.read_text("utf-8")))
    assert schema_accepts(Spec.load(EXAMPLE).to_dict())
    assert schema_accepts(make().to_dict())
    changes: dict[str, Any]
    for changes in (
        {"source": {"query": "select 1"}},
        {"source": {"file": "a.parquet"}},
        {"source": ["main", "visits"]},
        {"quasi_identifiers": {"sex": None}},
        {"quasi_identifiers": {"sex": {}}},
        {"privacy": [{"k_anonymity": 5}]},
        {"suppression": {"limit": 30}},
        {"release": None, "keep": None, "suppression": None},
        {"search": {"algorithm": "annealing", "seed": 7}},
        {"search": {"algorithm": "datafly"}},
    ):
        make(**changes)
        assert schema_accepts({**MINIMAL, **changes}), changes


@pytest.mark.parametrize(
    "changes",
    [
        {"versoin": 1},
        {"version": 2},
        {"source": {"query": "select 1", "file": "x"}},
        {"source": {}},
        {"quasi_identifiers": {}},
        {"quasi_identifiers": {"a": {"prefix": [1], "dates": ["day"]}}},
        {"quasi_identifiers": {"a": {"top": 9}}},
        {"quasi_identifiers": {"a": {"dates": ["week"]}}},
        {"quasi_identifiers": {"a": {"intervals": None}}},
        {"privacy": []},
        {"privacy": [{"k_anonymity": 0}]},
        {"privacy": [{"k_anonymity": 5, "t_closeness": {}}]},
        {"suppression": {"limit": -1}},
        {"suppression": {"limit": 2.5}},
        {"suppression": {"style": "hide"}},
        {"search": {"algorithm": "genetic", "seed": -1}},
    ],
)
def test_the_schema_and_the_models_refuse_alike(changes: dict[str, Any]) -> None:
    assert not schema_accepts({**MINIMAL, **changes})
    refusals(**changes)


# --- Reading YAML --------------------------------------------------------------------------


def test_a_missing_file(tmp_path: Path) -> None:
    missing = tmp_path / "none.yml"
    with pytest.raises(SpecError, match=r"none\.yml: cannot read the spec: No such file"):
        Spec.load(missing)
    with pytest.raises(SpecError, match="cannot read the spec"):
        Spec.load(tmp_path)
    with pytest.raises(SpecError, match="cannot read the spec"):
        Spec.load("a\0b")


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "s.yml"
    path.write_bytes(b"version: 1\nsource: caf\xe9\n")
    with pytest.raises(SpecError, match=r"s\.yml:2: not UTF-8"):
        Spec.load(path)


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "s.yml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + TAIL).encode())
    assert Spec.load(str(path)).base_dir == tmp_path


def test_a_relative_path_gives_an_absolute_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.yml").write_text(HEAD + TAIL)
    spec = Spec.load("s.yml")
    monkeypatch.chdir("/")
    assert spec.resolve("a.csv") == tmp_path / "a.csv"
    assert spec.resolve("/b.csv") == Path("/b.csv")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n..."])
def test_an_empty_spec(text: str) -> None:
    [problem] = problems(text)
    assert "empty" in problem or "got nothing" in problem


@pytest.mark.parametrize(
    ("text", "found"),
    [("- a\n- b\n", "a list"), ("visits", "text"), ("5", "a whole number"), ("~", "nothing")],
)
def test_a_top_level_that_is_no_mapping(text: str, found: str) -> None:
    [problem] = problems(text)
    assert problem.startswith("1:1: expected a mapping with version, source")
    assert problem.endswith(f"got {found}")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("version: 1\nsource: [a\n", "3:1"),
        ("version: 1\n\tsource: a\n", "2:1"),
        ("version: 1\nsource: a: b\n", "2:10"),
        ("version: 1\nsource: *nothing\n", "2:9"),
        ("version: 1\n---\nversion: 1\n", "2:1"),
        ("version: 1\nsource: \x07\n", "2:9"),
        ('version: 1\nsource: "open\n', "3:1"),
    ],
)
def test_yaml_syntax_errors(text: str, place: str) -> None:
    [problem] = problems(text)
    assert problem.startswith(f"{place}: not valid YAML")
    assert "\n" not in problem


def test_duplicate_keys_at_every_depth() -> None:
    text = """\
        version: 1
        source: visits
        source: other
        quasi_identifiers:
          age: {prefix: [2], prefix: [1]}
          age: {}
        privacy: [{k_anonymity: {k: 2, k: 3}}]
        """
    assert problems(text) == [
        "3:1: duplicate key: 'source' stands at line 2, column 1 already",
        "5:22: quasi_identifiers.age: duplicate key: 'prefix' stands at line 5, column 9 already",
        "6:3: quasi_identifiers: duplicate key: 'age' stands at line 5, column 3 already",
        "7:32: privacy[0].k_anonymity: duplicate key: 'k' stands at line 7, column 26 already",
    ]


def test_a_duplicate_label_is_not_shown() -> None:
    text = HEAD + "quasi_identifiers: {d: {tree: {Secret: [a], Secret: [b]}}}\nprivacy: [{k_anonymity: 2}]\n"
    [problem] = problems(text)
    assert problem.startswith("3:45: quasi_identifiers.d.tree: duplicate key: a label stands at line 3")
    assert "Secret" not in problem


def test_keys_that_are_not_text_merge_keys_and_tags() -> None:
    assert problems(HEAD + TAIL + "? [a, b]\n: 1\n") == ["5:3: expected a key that is text, got a list or a mapping"]
    assert problems(HEAD + TAIL + "<<: {keep: [a]}\n")[0].startswith("5:1: merge keys")
    assert problems(HEAD + TAIL + "unit: !secret x\n")[0].startswith("5:7: unit: a YAML tag")


def test_anchors_work_but_not_on_themselves() -> None:
    text = HEAD + "quasi_identifiers: {a: &x {prefix: [2]}, b: *x}\nprivacy: [{k_anonymity: 2}]\n"
    assert Spec.parse(text).quasi_identifiers["b"].prefix == (2,)
    assert "contains itself" in problems("a: &x [*x]\n")[0]


def test_exploding_and_bottomless_yaml() -> None:
    bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    assert "more than 200,000 values" in problems(bomb)[0]
    assert "deep" in problems("[" * 70 + "]" * 70)[0]
    assert "deep" in problems("[" * 1_000)[0]


def test_no_is_text_in_yaml_1_2() -> None:
    text = """\
        version: 1
        source: no
        identifiers: [no, yes, on, off, y, n]
        quasi_identifiers:
          NO: {tree: {Nordic: [NO, SE], off: [true, 1, 2020-01-01, 1.50, 0x1F, "007"]}}
          1: {}
          null: {}
        privacy: [{k_anonymity: 2}]
        """
    with pytest.raises(SpecError):  # NO and no are one column to most databases
        Spec.parse(textwrap.dedent(text))
    spec = Spec.parse(textwrap.dedent(text).replace("[no, yes", "[yes"))
    assert spec.source.table == ("no",)
    assert spec.identifiers == ("yes", "on", "off", "y", "n")
    assert list(spec.quasi_identifiers) == ["NO", "1", "null"]
    tree = spec.quasi_identifiers["NO"].hierarchy
    assert isinstance(tree, TreeHierarchy)
    assert tree.rows() == [
        ("NO", "Nordic"), ("SE", "Nordic"),
        ("true", "off"), ("1", "off"), ("2020-01-01", "off"), ("1.50", "off"), ("31", "off"), ("007", "off"),
    ]  # fmt: skip


def test_yaml_1_1_by_directive_does_not_bring_the_norway_problem_back() -> None:
    assert Spec.parse("%YAML 1.1\n---\n" + HEAD + TAIL + "keep: [no, yes]\n").keep == ("no", "yes")


# --- Places and suggestions ----------------------------------------------------------------


def test_did_you_mean_at_every_depth() -> None:
    text = """\
        version: 1
        source: visits
        supression: {limit: 1}
        quasi_identifiers:
          age: {interval: [5]}
        privacy:
          - l_diversity: {atribute: d, l: 2}
          - k_anonimity: 3
        search: {algoritm: samarati}
        """
    assert problems(text) == [
        "3:1: supression: unknown key; did you mean 'suppression'?",
        "5:9: quasi_identifiers.age.interval: unknown key; did you mean 'intervals'?",
        "7:5: privacy[0].l_diversity: missing 'attribute': the sensitive attribute that it protects",
        "7:19: privacy[0].l_diversity.atribute: unknown key; did you mean 'attribute'?",
        "8:5: privacy[1].k_anonimity: unknown requirement; did you mean 'k_anonymity'?",
        "9:10: search.algoritm: unknown key; did you mean 'algorithm'?",
    ]


def test_without_a_near_name_the_allowed_keys_are_listed() -> None:
    assert problems(HEAD + TAIL + "search: {zzz: 1}\n") == [
        "5:10: search.zzz: unknown key; expected one of algorithm, metric, prefer, variant, matrix, seed, cuts"
    ]


def test_only_random_algorithms_take_a_seed() -> None:
    for written, options in (("{algorithm: genetic, seed: 7}", {"seed": 7}), ("{algorithm: annealing}", {"seed": 0})):
        spec = Spec.parse(HEAD + TAIL + f"search: {written}\n")
        assert spec.search.options == options
        assert spec.to_dict()["search"].items() >= options.items()
        assert Spec.from_dict(spec.to_dict()) == spec
    assert make().search.options == {}
    assert "seed" not in make().to_dict()["search"]
    assert make(search={"algorithm": "genetic"}) == make(search={"algorithm": "genetic", "seed": 0})
    assert make(search={"algorithm": "genetic"}) != make(search={"algorithm": "genetic", "seed": 1})
    for written in ("{seed: 1}", "{algorithm: optimal, seed: 0}", "{algorithm: greedy, seed: x}"):
        assert any(
            "does not take it, only genetic and annealing" in problem
            for problem in problems(HEAD + TAIL + f"search: {written}\n")
        )
    assert problems(HEAD + TAIL + "search: {algorithm: genetik, seed: 1}\n") == [
        "5:21: search.algorithm: unknown search algorithm; did you mean 'genetic'?"
    ]
    assert problems(HEAD + TAIL + "search: {algorithm: genetic, seed: 1.5}\n") == [
        "5:36: search.seed: expected a seed, a whole number of at least 0, got a number"
    ]


def test_did_you_mean_for_values() -> None:
    assert problems(HEAD + TAIL + "search: {algorithm: Samarati, metric: lost}\nnulls: values\n") == [
        "5:21: search.algorithm: unknown search algorithm; did you mean 'samarati'?",
        "5:39: search.metric: unknown quality metric; did you mean 'loss'?",
        "6:8: nulls: unknown treatment of NULL; did you mean 'value'?",
    ]


def test_missing_keys() -> None:
    assert problems("release: r\n") == [
        "1:1: missing 'version': the version of this format, 1",
        "1:1: missing 'source': the table or view to anonymize, {query: ...} or {file: ...}",
        "1:1: missing 'quasi_identifiers': the columns to generalize, each with its hierarchy",
        "1:1: missing 'privacy': the requirements, such as '- k_anonymity: {k: 5}'",
    ]
    assert problems("version: 1\nsource:\n" + TAIL)[0].startswith("2:1: source: missing 'source'")


# name -> (lines after HEAD and TAIL, or a whole text), expected problem
SINGLE = {
    "version 2": ("version: 2\nsource: v\n" + TAIL, "1:10: version: this version of kanon_sql reads"),
    "version true": (
        "version: true\nsource: v\n" + TAIL,
        "1:10: version: expected version 1, got true or false",
    ),
    "version text": ("version: '1'\nsource: v\n" + TAIL, "1:10: version: expected version 1, got text"),
    "source number": ("version: 1\nsource: 5\n" + TAIL, "2:9: source: expected a table name, {query"),
    "two sources": (
        "version: 1\nsource: {query: q, file: f}\n" + TAIL,
        "2:20: source.file: one source is allowed, and 'query' is given already",
    ),
    "no source": ("version: 1\nsource: {}\n" + TAIL, "2:9: source: expected a table name, {query"),
    "empty source": (
        "version: 1\nsource: ' '\n" + TAIL,
        "2:9: source.table: expected a table name, got empty",
    ),
    "release mapping": (
        HEAD + TAIL + "release: {a: b}\n",
        "5:10: release: expected a table name, got a mapping",
    ),
    "release is source": (
        HEAD + TAIL + "release: VISITS\n",
        "5:10: release: the release has the source's name",
    ),
    "identifiers text": (
        HEAD + TAIL + "identifiers: name\n",
        "5:14: identifiers: expected a list of column names, got text",
    ),
    "a number as a column": (
        HEAD + TAIL + "keep:\n  - a\n  - 7\n",
        "7:5: keep[1]: expected a column name, got a whole number; write it in quotes",
    ),
    "no quasi-identifiers": (
        HEAD + "quasi_identifiers: {}\nprivacy: [{k_anonymity: 2}]\n",
        "3:20: quasi_identifiers: expected at least one quasi-identifier",
    ),
    "quasi-identifiers list": (
        HEAD + "quasi_identifiers: [age]\nprivacy: [{k_anonymity: 2}]\n",
        "3:20: quasi_identifiers: expected a mapping of column names to hierarchies, got a list",
    ),
    "no privacy": (
        HEAD + "quasi_identifiers: {a: {}}\nprivacy: []\n",
        "4:10: privacy: expected a list of at least 1 requirements, got 0",
    ),
    "privacy mapping": (
        HEAD + "quasi_identifiers: {a: {}}\nprivacy: {k_anonymity: 2}\n",
        "4:10: privacy: expected a list of requirements, got a mapping",
    ),
    "limit true": (HEAD + TAIL + "suppression: {limit: true}\n", "5:22: suppression.limit: expected a share"),
    "limit 1.5": (
        HEAD + TAIL + "suppression: {limit: 1.5}\n",
        "5:22: suppression.limit: expected a share of the rows between 0 and 1, got 1.5",
    ),
    "limit -1": (HEAD + TAIL + "suppression: {limit: -1}\n", "5:22: suppression.limit: expected a row count"),
    "limit nan": (HEAD + TAIL + "suppression: {limit: .nan}\n", "5:22: suppression.limit: expected a share"),
    "limit text": (HEAD + TAIL + "suppression: {limit: 5%}\n", "5:22: suppression.limit: expected a share"),
    "style": (
        HEAD + TAIL + "suppression: {style: msk}\n",
        "5:22: suppression.style: unknown suppression style; ",
    ),
}


@pytest.mark.parametrize("name", SINGLE)
def test_one_problem_and_its_place(name: str) -> None:
    text, expected = SINGLE[name]
    [problem] = problems(text)
    assert problem.startswith(expected)


# the value of a quasi-identifier, at line 3, column 24
HIERARCHIES = {
    "{intervals: [5, 12]}": "3:40 .x.intervals[1]: the levels do not nest: width 12 is not a "
    "multiple of 5, the one before",
    "{intervals: [10, 5]}": "3:41 .x.intervals[1]: widths must increase: 5 comes after 10",
    "{intervals: [5, 5]}": "3:40 .x.intervals[1]: widths must increase: 5 comes after 5",
    "{intervals: [0, 5]}": "3:37 .x.intervals[0]: expected a width above 0, got 0",
    "{intervals: []}": "3:36 .x.intervals: expected a list of at least 1 interval widths",
    "{intervals: 5}": "3:36 .x.intervals: expected a list of interval widths, got a whole number",
    "{intervals: [a]}": "3:37 .x.intervals[0]: expected an interval width, a number, got text",
    "{intervals: [true]}": "3:37 .x.intervals[0]: expected an interval width, a number, got true",
    "{intervals: [.inf]}": "3:37 .x.intervals[0]: expected an interval width, a number, got one",
    "{intervals: [1e-400]}": "3:37 .x.intervals[0]: expected an interval width, a number, got one",
    "{intervals: }": "3:25 .x.intervals: expected a list of interval widths, got nothing",
    "{intervals: [5], bottom: 9, top: 9}": "3:49 .x.bottom: bottom 9 is not below top 9",
    "{prefix: [3], top: 9}": "3:38 .x.top: 'top' belongs to 'intervals'",
    "{origin: 3}": "3:25 .x.origin: 'origin' belongs to 'intervals'",
    "{prefix: [3, 4]}": "3:37 .x.prefix[1]: prefixes must get shorter: 4 comes after 3",
    "{prefix: [0]}": "3:34 .x.prefix[0]: expected a prefix length, a whole number of at least 1",
    "{prefix: [2.5]}": "3:34 .x.prefix[0]: expected a prefix length, a whole number",
    "{dates: [year, month]}": "3:39 .x.dates[1]: units must get coarser: month comes after year",
    "{dates: [year, year]}": "3:39 .x.dates[1]: units must get coarser: year comes after year",
    "{dates: [months]}": "3:33 .x.dates[0]: unknown date unit; did you mean 'month'?",
    "{dates: [week]}": "3:33 .x.dates[0]: unknown date unit; expected one of day, month",
    "{file: 5}": "3:31 .x.file: expected a file name, got a whole number",
    "{table: [a, b, c, d]}": "3:32 .x.table: expected a table name of one to three parts, got 4",
    "{sql: floor(x)}": "3:30 .x.sql: expected a list of SQL expressions, got text",
    "{sql: ['']}": "3:31 .x.sql[0]: expected an SQL expression, got empty text",
    "{prefix: [2], dates: [day]}": "3:38 .x.dates: one kind of hierarchy is allowed, and 'prefix'",
    "{minimum_level: 1, maximum_level: 0}": "3:40 .x.minimum_level: minimum_level 1 is above max",
    "{maximum_level: 2}": "3:40 .x.maximum_level: maximum_level 2 is above the top, which is level 1",
    "{prefix: [1], minimum_level: 3}": "3:53 .x.minimum_level: minimum_level 3 is above the top",
    "{minimum_level: -1}": "3:40 .x.minimum_level: expected a level, a whole number of at least 0",
    "{weight: -1}": "3:33 .x.weight: expected a weight of at least 0, got -1",
    "{weight: 0}": "3:1 : every weight is 0",
    "{weight: .nan}": "3:33 .x.weight: expected a weight",
    "[5]": "3:24 .x: expected a quasi-identifier, such as {intervals: [5, 10]}, got a list",
    "{tree: [a]}": "3:31 .x.tree: expected a tree: a mapping of labels to lists of values, got a list",
    "{tree: {}}": "3:31 .x.tree: expected a tree with at least one value",
    "{tree: {a: [p], b: [p]}}": "3:44 .x.tree: this label stands under two parents",
    "{tree: {a: {m: [p]}, b: {m: [q]}}}": "3:49 .x.tree: this label stands under two parents",
    "{tree: {a: [p, p]}}": "3:39 .x.tree: this label is listed twice under the same parent",
    "{tree: {a: [p, [q]]}}": "3:39 .x.tree: expected a value of the domain, got a list",
    "{tree: {a: [p, ~]}}": "3:39 .x.tree: expected a value of the domain, got nothing",
    "{tree: {a: ['*']}}": "3:36 .x.tree: '*' is the top value",
    "{tree: {t: {r: [y, {r: [x]}]}}}": "3:48 .x.tree: a label of level 1 gets two parents",
}


@pytest.mark.parametrize("written", HIERARCHIES)
def test_one_hierarchy_problem_and_its_place(written: str) -> None:
    [problem] = problems(HEAD + f"quasi_identifiers: {{x: {written}}}\nprivacy: [{{k_anonymity: 2}}]\n")
    place, said = HIERARCHIES[written].split(" ", 1)
    assert problem.startswith(f"{place}: quasi_identifiers{said}")


# the value of privacy[0], at line 5, column 5; 'dx' and 'ward' are sensitive
REQUIREMENTS = {
    "k_anonymity: {k: 0}": "5:22 .k_anonymity.k: expected k, a whole number of at least 1, got 0",
    "k_anonymity: 0": "5:18 .k_anonymity.k: expected k, a whole number of at least 1, got 0",
    "k_anonymity: true": "5:18 .k_anonymity: expected {k: 5} or a whole number, got true or false",
    "k_anonymity: {k: 2.5}": "5:22 .k_anonymity.k: expected k, a whole number of at least 1, got a number",
    "k_anonymity: {k: 99999999999999999}": "5:22 .k_anonymity.k: expected k",
    "k_anonymity:": "5:5 .k_anonymity: expected {k: 5} or a whole number, got nothing",
    "k_anonymity: {}": "5:5 .k_anonymity: missing 'k': the size of the smallest equivalence class",
    "k_anonymity": "5:5 : expected a requirement such as {k_anonymity: {k: 5}}, got text",
    "{}": "5:5 : expected one requirement per list item, got 0",
    "{k_anonymity: 2, t_closeness: {attribute: dx, t: 0}}": "5:5 : expected one requirement per list item",
    "l_diversity: {attribute: dxx, l: 2}": "5:30 .l_diversity.attribute: 'dxx' is not listed under sensitive; "
    "did you mean 'dx'?",
    "l_diversity: {attribute: 1, l: 2}": "5:30 .l_diversity.attribute: expected the name of a sensitive",
    "l_diversity: {attribute: dx}": "5:5 .l_diversity: missing 'l': how many well-represented",
    "l_diversity: {attribute: dx, l: 0}": "5:37 .l_diversity.l: expected l, a number of at least 1, got 0",
    "l_diversity: {attribute: dx, l: 2.5}": "5:37 .l_diversity.l: expected l, a whole number for kind: dist",
    "l_diversity: {attribute: dx, l: true}": "5:37 .l_diversity.l: expected l, at least 1, a number, got tr",
    "l_diversity: {attribute: dx, l: 2, kind: distinkt}": "5:46 .l_diversity.kind: unknown kind of "
    "l-diversity; did you mean 'distinct'?",
    "l_diversity: {attribute: dx, l: 2, kind: recursive}": "5:5 .l_diversity: missing 'c': recursive",
    "l_diversity: {attribute: dx, l: 2, kind: recursive, c: 0}": "5:60 .l_diversity.c: expected c, above 0",
    "l_diversity: {attribute: dx, l: 2, c: 3}": "5:40 .l_diversity.c: 'c' belongs to kind: recursive",
    "t_closeness: {attribute: dx, t: 1.1}": "5:37 .t_closeness.t: expected t between 0 and 1, got 1.1",
    "t_closeness: {attribute: dx, t: -1}": "5:37 .t_closeness.t: expected t between 0 and 1, got -1",
    "t_closeness: {attribute: dx, t: .2, reference: table}": "5:52 .t_closeness.reference: unknown ref",
}


@pytest.mark.parametrize("written", REQUIREMENTS)
def test_one_requirement_problem_and_its_place(written: str) -> None:
    text = f"{HEAD}quasi_identifiers: {{a: }}\nprivacy:\n  - {written}\nsensitive: [dx, ward]\n"
    [problem] = problems(text)
    place, said = REQUIREMENTS[written].split(" ", 1)
    assert problem.startswith(f"{place}: privacy[0]{said}")


def test_all_problems_at_once() -> None:
    text = """\
        version: 2
        sauce: visits
        release: "out"
        quasi_identifiers:
          age: {intervals: [5, 12]}
          zip: {prefix: [3, 4], weight: heavy}
          sex:
        sensitive: [age]
        keep: [zip, 3]
        privacy:
          - k_anonymity: 0
          - t_closeness: {attribute: aged, t: 3}
        suppression: {limit: 2.0, style: hide}
        """
    found = problems(text)
    places = [re.match(r"\d+:\d+", problem) for problem in found]
    assert [place.group() for place in places if place] == [
        "1:1", "1:10", "2:1", "5:24", "6:21", "6:33", "8:13", "9:8", "9:13",
        "11:18", "12:39", "13:22", "13:34",
    ]  # fmt: skip
    with pytest.raises(SpecError) as caught:
        Spec.parse(textwrap.dedent(text), "s.yml")
    assert str(caught.value).count("\n") == len(found) - 1


def test_messages_tell_kinds_and_not_values() -> None:
    text = (
        HEAD
        + """quasi_identifiers:
  x: {intervals: [Alice], tree: {Bob: [Carol], Dave: [Carol, Dave, [Erin]]}, weight: Frank}
privacy: [{k_anonymity: Grace}]
suppression: {limit: Heidi, style: Ivan}
unit: [Judy]
"""
    )
    said = "\n".join(problems(text))
    assert not re.search("Alice|Bob|Carol|Dave|Erin|Frank|Grace|Heidi|Ivan|Judy", said)


def test_an_unknown_key_cannot_break_the_line() -> None:
    [problem] = problems(HEAD + TAIL + '"a\\nb\\e": 1\n')
    assert "\n" not in problem
    assert "\x1b" not in problem


# --- Roles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["identifiers", "quasi_identifiers", "sensitive", "keep"])
@pytest.mark.parametrize("second", ["identifiers", "quasi_identifiers", "sensitive", "keep"])
def test_a_column_has_one_role(first: str, second: str) -> None:
    roles: dict[str, Any] = {"identifiers": [], "quasi_identifiers": {"q": {}}, "sensitive": [], "keep": []}
    for role, name in ((first, "zip"), (second, "Zip")):
        if role == "quasi_identifiers":
            roles[role][name] = {}
        else:
            roles[role].append(name)
    [said] = refusals(**roles)
    assert "'Zip'" in said or "'zip'" in said
    assert "listed twice" in said if first == second else "one role" in said


def test_the_same_name_in_two_roles_is_placed() -> None:
    assert problems(HEAD + TAIL + "sensitive: [dx]\nkeep: [dx, age]\n") == [
        "6:8: keep[0]: column 'dx' is also under sensitive; a column has one role",
        "6:12: keep[1]: column 'age' is also under quasi_identifiers; a column has one role",
    ]


def test_the_unit_is_never_released() -> None:
    assert make(unit="pid", identifiers=["pid"]).unit == "pid"
    role: dict[str, Any]
    for role in ({"sensitive": ["pid"]}, {"keep": ["PID"]}, {"quasi_identifiers": {"pid": {}}}):
        [said] = refusals(unit="pid", **role)
        assert "would be released" in said


def test_the_release_is_not_the_source() -> None:
    refusals(source="main.Visits", release='"MAIN".visits')
    refusals(source=["main", "visits"], release="Main.Visits")
    refusals(source={"table": "visits"}, release="Visits")
    assert make(source="raw.visits", release="visits").release == ("visits",)
    assert make(source={"query": "select * from visits"}, release="visits").release == ("visits",)


def test_the_same_requirement_twice() -> None:
    diverse = {"attribute": "dx", "l": 2}
    make(
        sensitive=["dx", "dy"],
        privacy=[
            {"k_anonymity": 2},
            {"l_diversity": diverse},
            {"l_diversity": {**diverse, "kind": "entropy"}},
            {"l_diversity": {**diverse, "attribute": "dy"}},
        ],
    )
    assert refusals(privacy=[{"k_anonymity": 2}, {"k_anonymity": {"k": 3}}]) == [
        "privacy[1].k_anonymity: the same requirement as item 1; keep the stricter one"
    ]
    assert (
        len(refusals(sensitive=["dx"], privacy=[{"l_diversity": diverse}, {"l_diversity": {**diverse, "l": 3}}])) == 1
    )


def test_all_quasi_identifiers_are_no_set_of_their_own() -> None:
    [said] = refusals(privacy=[{"k_anonymity": 2}, {"k_anonymity": {"k": 3, "quasi_identifiers": ["age"]}}])
    assert said == "privacy[1].k_anonymity: the same requirement as item 1; keep the stricter one"


def test_requirements_of_one_attribute_list_the_same_values() -> None:
    """What a value is, is looked up once: one requirement would be judged by the list of the other."""
    disclosed = {"attribute": "dx", "l": 2, "kind": "npd_recursive", "c": 2, "allow_positive": ["flu", "cold"]}
    listed = {**disclosed, "allow_positive": ["cold", "flu"], "others_as_quasi_identifiers": True}
    tree = {"a": ["flu", "cold"], "b": ["hiv"]}
    close = {"attribute": "dx", "t": 0.2, "distance": "hierarchical", "hierarchy": {"tree": tree}}
    others = {**close, "others_as_quasi_identifiers": True}
    both: dict[str, Any] = {"sensitive": ["dx", "dy"]}
    make(
        **both,
        privacy=[{"l_diversity": disclosed}, {"l_diversity": listed}, {"l_diversity": {"attribute": "dx", "l": 2}}],
    )
    make(**both, privacy=[{"t_closeness": close}, {"t_closeness": others}])
    assert refusals(
        **both, privacy=[{"l_diversity": disclosed}, {"l_diversity": {**listed, "allow_positive": ["flu"]}}]
    ) == ["privacy[1].l_diversity.allow_positive: another requirement of 'dx' has another one; use one for both"]
    assert refusals(
        **both, privacy=[{"t_closeness": close}, {"t_closeness": {**others, "hierarchy": {"tree": {"a": ["flu"]}}}}]
    ) == ["privacy[1].t_closeness.hierarchy: another requirement of 'dx' has another one; use one for both"]


def test_requirement_values() -> None:
    spec = make(
        sensitive=["dx"],
        privacy=[
            {"k_anonymity": 1},
            {"l_diversity": {"attribute": "dx", "l": 2.5, "kind": "entropy"}},
            {"l_diversity": {"attribute": "dx", "l": 2, "kind": "recursive", "c": 3}},
            {"t_closeness": {"attribute": "dx", "t": 1, "reference": "release"}},
        ],
    )
    k, entropy, recursive, close = spec.privacy
    assert isinstance(k, KAnonymityRequirement)
    assert (k.k, k.attribute) == (1, None)
    assert isinstance(entropy, LDiversityRequirement)
    assert entropy.l == 2.5
    assert isinstance(recursive, LDiversityRequirement)
    assert (recursive.l, recursive.c) == (2, 3.0)
    assert isinstance(close, TClosenessRequirement)
    assert (close.t, close.reference) == (1.0, "release")


# --- Names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("visits", ("visits",)),
        ("main.visits", ("main", "visits")),
        ("db.main.visits", ("db", "main", "visits")),
        ('"odd.name"', ("odd.name",)),
        ('main."odd.name"', ("main", "odd.name")),
        ('"a""b".c', ('a"b', "c")),
        ('a"b', ('a"b',)),
        ("x; drop table y", ("x; drop table y",)),
        ("a.b.c.d", ("a.b.c.d",)),
        ("a..b", ("a..b",)),
        (".a", (".a",)),
        ('"', ('"',)),
        ('""', ('""',)),
        ('"open.name', ('"open.name',)),
        ("Select", ("Select",)),
        ("marital-status", ("marital-status",)),
        ("病歴.naïve", ("病歴", "naïve")),
        ("a\nb.c", ("a\nb", "c")),
        ("x" * 70, ("x" * 70,)),
    ],
)
def test_table_names(text: str, parts: tuple[str, ...]) -> None:
    assert parse_table_name(text) == parts
    assert parse_table_name(format_table_name(parts)) == parts
    assert make(source=text).source.table == parts
    assert Spec.from_dict(make(source=text).to_dict()).source.table == parts


@patient
@given(st.lists(st.text(min_size=1).filter(lambda part: "\0" not in part), min_size=1, max_size=3))
def test_every_table_name_can_be_written(parts: list[str]) -> None:
    assert parse_table_name(format_table_name(parts)) == tuple(parts)


def test_a_list_is_a_name_taken_literally() -> None:
    assert make(source=["main", "odd.name"]).source.table == ("main", "odd.name")
    assert make(release=['"a"']).release == ('"a"',)


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_names_no_database_can_hold(text: str) -> None:
    with pytest.raises(SpecError):
        parse_table_name(text)
    refusals(source=text)
    refusals(keep=[text])
    refusals(quasi_identifiers={text: {}})


def test_hostile_column_names_are_just_names() -> None:
    names = [
        "Select",
        "marital-status",
        'a"b',
        "x; drop table y",
        "c" * 70,
        "naïve 病",
        "{message}",
        "a.b[0]",
    ]
    spec = make(quasi_identifiers=dict.fromkeys(names), keep=["'; --"])
    assert list(spec.quasi_identifiers) == names
    assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert "{message}" in refusals(quasi_identifiers={"{message}": {"oops": 1}})[0]


# --- Hierarchies ---------------------------------------------------------------------------


def test_no_kind_means_value_then_star() -> None:
    for written in (None, {}, {"weight": 2}):
        quasi = make(quasi_identifiers={"sex": written}).quasi_identifiers["sex"]
        assert quasi.hierarchy == ValueHierarchy()
        assert quasi.height_hint == 1


def test_interval_numbers_are_exact() -> None:
    quasi = column(intervals=[0.1, 0.3, 0.6], origin=-0.05, top=1e3)
    assert quasi.hierarchy == IntervalsHierarchy(
        (Decimal("0.1"), Decimal("0.3"), Decimal("0.6")), Decimal("-0.05"), None, Decimal(1000)
    )
    text = HEAD + "quasi_identifiers: {a: {intervals: [0.10, 5.0], top: 1e2}}\nprivacy: [{k_anonymity: 2}]\n"
    parsed = Spec.parse(text).quasi_identifiers["a"]
    assert [str(width) for width in parsed.intervals or ()] == ["0.1", "5"]
    assert str(parsed.top) == "100"
    assert "do not nest" in column_refusals(intervals=[0.1, 0.25])[0]
    # far apart, where plain decimal division gives up
    assert column(intervals=[1e-300, 1]).height_hint == 3
    assert column(intervals=[5, 10], bottom=3, top=88).height_hint == 3  # coding need not align


def test_tree_rows_are_padded_with_the_topmost_ancestor() -> None:
    tree = {
        "North": {"Coast": ["a", "b"], "Hills": "c"},
        "South": ["d", {"Plain": ["e"]}],
        "Sea": None,
        "Sky": [],
        "Abroad": "f",
    }
    hierarchy = column(tree=tree).hierarchy
    assert isinstance(hierarchy, TreeHierarchy)
    assert hierarchy.rows() == [
        ("a", "Coast", "North"),
        ("b", "Coast", "North"),
        ("c", "Hills", "North"),
        ("d", "South", "South"),
        ("e", "Plain", "South"),
        ("Sea", "Sea", "Sea"),
        ("Sky", "Sky", "Sky"),
        ("f", "Abroad", "Abroad"),
    ]
    assert column(tree=tree).height_hint == 3


def test_tree_tops_and_hand_made_padding() -> None:
    assert column(tree={"*": {"a": ["x"], "b": ["y"]}}) == column(tree={"a": ["x"], "b": ["y"]})
    assert column(tree={"*": ["x", "y"]}) == column(tree={"x": None, "y": None})
    padded = column(tree={"France": {"France": ["Lyon"]}, "Spain": {"North": ["Bilbao"]}}).hierarchy
    assert isinstance(padded, TreeHierarchy)
    assert padded.rows()[0] == ("Lyon", "France", "France")


def test_tree_values_become_text() -> None:
    import datetime

    hierarchy = column(tree={"a": [1, True, 1.5, datetime.date(2020, 1, 2)], 7: [8], False: None}).hierarchy
    assert isinstance(hierarchy, TreeHierarchy)
    assert hierarchy.rows() == [
        ("1", "a"), ("true", "a"), ("1.5", "a"), ("2020-01-02", "a"), ("8", "7"), ("false", "false"),
    ]  # fmt: skip
    assert "two parents" in column_refusals(tree={"a": [1], "b": ["1"]})[0]


labels = st.text("abcdef", min_size=1, max_size=3)
trees = st.dictionaries(
    labels,
    st.recursive(st.none() | st.lists(labels, max_size=3), lambda inner: st.dictionaries(labels, inner, max_size=3)),
    min_size=1,
    max_size=4,
)


@patient
@given(trees)
def test_an_accepted_tree_nests(tree: dict[str, Any]) -> None:
    try:
        hierarchy = column(tree=tree).hierarchy
    except SpecError:
        return
    assert isinstance(hierarchy, TreeHierarchy)
    rows = hierarchy.rows()
    assert len({len(row) for row in rows}) == 1
    assert len({row[0] for row in rows}) == len(rows)
    for level in range(len(rows[0]) - 1):
        assert len({row[level : level + 2] for row in rows}) == len({row[level] for row in rows})
    assert column(tree=hierarchy.written()) == column(tree=tree)


# --- Suppression ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "rows", "most"),
    [
        (0.29, 100, 29),
        (0.57, 100, 57),
        (0.1, 30, 3),
        (0.05, 30_162, 1508),
        (1.0, 7, 7),
        (0.0, 7, 0),
        (1, 7, 1),
        (0, 7, 0),
        (25, 1000, 25),
        (0.3, 0, 0),
        (1e-05, 10**12, 10**7),
    ],
)
def test_the_most_rows_that_may_be_suppressed(limit: float, rows: int, most: int) -> None:
    suppression = make(suppression={"limit": limit}).suppression
    assert suppression.max_rows(rows) == most
    assert type(suppression.limit) is type(limit)


def test_one_row_and_all_rows_differ() -> None:
    whole = Spec.parse(HEAD + TAIL + "suppression: {limit: 1}\n")
    share = Spec.parse(HEAD + TAIL + "suppression: {limit: 1.0}\n")
    assert (whole.suppression.max_rows(50), share.suppression.max_rows(50)) == (1, 50)
    assert whole.hash != share.hash
    assert Spec.from_dict(json.loads(json.dumps(share.to_dict()))).suppression.max_rows(50) == 50


# --- Ways out ------------------------------------------------------------------------------


def test_round_trip_through_json() -> None:
    spec = Spec.load(EXAMPLE)
    again = Spec.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert again == spec
    assert again.to_dict() == spec.to_dict()
    assert (again.hash, hash(again)) == (spec.hash, hash(spec))
    assert spec != make()
    for source in ({"query": "select 1"}, {"file": "a.csv"}):
        assert make(source=source).to_dict()["source"] == source


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def test_the_hash_is_stable_under_key_order_and_defaults() -> None:
    spec = Spec.load(EXAMPLE)
    for seed in range(5):
        assert Spec.from_dict(shuffled(spec.to_dict(), random.Random(seed))).hash == spec.hash
    assert re.fullmatch("[0-9a-f]{64}", spec.hash)
    assert make(nulls="value", suppression={"limit": 0.0}).hash == make().hash
    assert make(privacy=[{"k_anonymity": 5}]).hash == make().hash
    assert make(privacy=[{"k_anonymity": 6}]).hash != make().hash


def test_the_hash_is_the_same_in_every_process() -> None:
    code = f"from kanon_sql.spec import Spec; print(Spec.load({str(EXAMPLE)!r}).hash)"
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == Spec.load(EXAMPLE).hash


@pytest.mark.parametrize(
    ("sql", "redacted"),
    [
        ("floor(x / 10) * 10", "floor(x / ?) * ?"),
        ("SELECT * FROM visits WHERE name = 'O''Brien' AND age > 1.5e-3",
         "SELECT * FROM visits WHERE name = ? AND age > ?"),
        ("case when x like '%x%' then .5 else 0x1F end", "case when x like ? then ? else ? end"),
        ("col1 + t2.c3 - 4", "col1 + t2.c3 - ?"),
        ("date '2020-01-01' + interval 5 day", "date ? + interval ? day"),
        ('x = "Alice"', "x = ?"),
        ("`weird 'name` = 'Alice'", "`weird 'name` = ?"),
        ("N'Alice' || x'AB' || U&'d'", "? || ? || ?"),
        ("x -- patient 123\n + 1", "x  \n + ?"),
        ("x /* patient 123 */ + 1", "x   + ?"),
        ("x // 10", "x // ?"),
        ("list_contains(['a', 'b'], x)", "list_contains([?, ?], x)"),
        # where a literal ends depends on the dialect: everything goes
        (r"x = 'it\'s Alice'", "?"),
        ("x = $$Alice$$", "?"),
        ("x = $t$Alice$t$", "?"),
        ("x = q'[it's Alice]'", "?"),
        ("x = '''it's Alice'''", "?"),
        ("x = 'Alice", "?"),
        ("x -- it's\n = 'Alice' -- it's", "?"),
        ("x // it's\n = 'Alice' // it's", "?"),
        ("[it's] = 'Alice' or [it's] = 'Bob'", "?"),
        ("x /* a /* b */ Alice */", "?"),
        ("x /* Alice", "?"),
        ("x = 'a' # Alice", "?"),
    ],
)  # fmt: skip
def test_redacted_sql(sql: str, redacted: str) -> None:
    assert redact_sql(sql) == redacted
    assert redact_sql(redacted) == redacted


@patient
@given(
    st.lists(
        st.sampled_from([" x ", "=", "||", "(", ")", ",", "t.c1", "[", "]", "`b`", "\n", " -- note\n", "/* n */"])
        | st.text("ab' \"", max_size=6).map(lambda inner: "'" + "Alice" + inner.replace("'", "''") + "'")
        | st.integers(0).map(lambda value: f" {value + 1000} ")
        | st.floats(0, allow_infinity=False, allow_nan=False).map(lambda value: f" {value + 1000!r} "),
        max_size=12,
    )
)
def test_redaction_leaves_no_literal(pieces: list[str]) -> None:
    redacted = redact_sql("".join(pieces))
    assert "Alice" not in redacted
    assert "'" not in redacted
    assert not re.search(r"(?<![\w])\d", redacted)


@patient
@given(st.text())
def test_redaction_never_fails_and_never_leaves_a_quote_or_number(sql: str) -> None:
    redacted = re.sub("`[^`]*`", "", redact_sql(sql))
    assert not re.search("['\"]", redacted)
    assert not re.search(r"(?<!\w)\d", redacted)


def test_what_a_manifest_may_hold() -> None:
    spec = make(
        source={"query": "select * from v where ssn <> '123-45-6789'"},
        quasi_identifiers={
            "dx": {"tree": {"Mental": ["Anxiety", "Depression"], "Physical": ["Asthma"]}},
            "age": {"sql": ["case when x > 89 then 'Methuselah' else 'other' end"]},
            "sex": {"file": "https://ann:secret@example.org/sex.csv?sig=abc"},
        },
    )
    shown = spec.redacted()
    assert shown["source"] == {"query": "select * from v where ssn <> ?"}
    assert shown["quasi_identifiers"]["age"]["sql"] == ["case when x > ? then ? else ? end"]
    assert shown["quasi_identifiers"]["sex"]["file"] == "https://example.org/sex.csv"
    tree = shown["quasi_identifiers"]["dx"]["tree"]
    assert (tree["levels"], tree["values"]) == (2, 3)
    assert re.fullmatch("[0-9a-f]{64}", tree["sha256"])
    assert not re.search("123-45|Methuselah|Anxiety|Mental|secret|abc\\b|89", json.dumps({**shown, "x": ""})
                         .replace(tree["sha256"], ""))  # fmt: skip
    assert spec.to_dict()["source"]["query"].endswith("'123-45-6789'")
    assert make(source={"file": "s3://key:word@bucket/a b.parquet"}).redacted()["source"] == {
        "file": "s3://bucket/a b.parquet"
    }
    assert redact_location("data/a?b.csv") == "data/a?b.csv"


def test_models_are_frozen_and_the_exports_exact() -> None:
    spec = make()
    for model, name in (
        (spec, "unit"),
        (spec.suppression, "limit"),
        (spec.quasi_identifiers["age"], "weight"),
    ):
        with pytest.raises(ValueError, match="frozen"):
            setattr(model, name, None)
    assert spec_package.__all__ == sorted(spec_package.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(spec_package, name) for name in spec_package.__all__)


def test_yaml_is_imported_only_to_read_yaml() -> None:
    code = "import sys, kanon_sql.spec as s; s.Spec; print('ruamel.yaml' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- Nothing but SpecError -----------------------------------------------------------------

WORDS = [
    "version", "source", "release", "unit", "identifiers", "quasi_identifiers", "sensitive", "keep", "privacy",
    "suppression", "search", "nulls", "query", "file", "table", "intervals", "origin", "bottom", "top", "prefix",
    "dates", "tree", "sql", "minimum_level", "maximum_level", "weight", "k_anonymity", "l_diversity", "t_closeness",
    "k", "l", "c", "t", "kind", "attribute", "reference", "limit", "style", "algorithm", "metric", "prefer", "seed",
    "day", "month", "recursive", "entropy", "*", "<<", "age", "diagnosis",
]  # fmt: skip
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, 0, 1, 5])
    | st.floats()
    | st.decimals(allow_nan=False)
    | st.just(Decimal("NaN"))
    | st.text()
    | st.text(st.characters(categories=["Cs", "Cc", "L"]))
    | st.sampled_from(WORDS)
    | st.dates()
    | st.binary()
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(st.integers())
        | st.dictionaries(st.sampled_from(WORDS) | scalars, inner, max_size=5)
    ),
    max_leaves=12,
)


def only_spec_errors(read: Any, data: Any) -> None:
    try:
        spec = read(data)
    except SpecError as error:
        str(error).encode("utf-8")
        return
    assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert spec.hash
    json.dumps(spec.redacted())


@patient
@given(junk)
def test_any_data(data: Any) -> None:
    only_spec_errors(Spec.from_dict, data)


@patient
@given(st.dictionaries(st.sampled_from(WORDS[:12]), junk))
def test_any_mapping_over_a_valid_spec(changes: dict[str, Any]) -> None:
    only_spec_errors(Spec.from_dict, {**MINIMAL, **changes})


def mutate(data: Any, draw: Any) -> Any:
    """A copy of a valid spec with one part replaced, removed or renamed."""
    if isinstance(data, dict) and data and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(list(data)))
        return {**data, key: mutate(data[key], draw)}
    if isinstance(data, list) and data and draw(st.integers(0, 4)):
        position = draw(st.integers(0, len(data) - 1))
        return [*data[:position], mutate(data[position], draw), *data[position + 1 :]]
    if isinstance(data, dict) and data and draw(st.booleans()):
        key = draw(st.sampled_from(list(data)))
        rest = {name: value for name, value in data.items() if name != key}
        return {**rest, draw(st.sampled_from(WORDS) | scalars): data[key]} if draw(st.booleans()) else rest
    return draw(junk)


@patient
@given(st.data())
def test_a_valid_spec_with_something_changed(data: st.DataObject) -> None:
    spec = Spec.load(EXAMPLE).to_dict()
    for _ in range(data.draw(st.integers(1, 3))):
        spec = mutate(spec, data.draw)
    only_spec_errors(Spec.from_dict, spec)


@patient
@given(st.text())
def test_any_text(text: str) -> None:
    only_spec_errors(Spec.parse, text)


@patient
@given(st.lists(st.sampled_from([*"{}[]:,-?!&*#|>'\"%@` \n\t\\0eE.+~=<", "a", "---\n", "...\n", ": ", "%YAML 1.1\n",
                                 "!!int ", "!!float ", "!!bool ", "!!set ", "&a ", "*a ", "2020-01-01", "0x", "1_0"])
                | st.sampled_from(WORDS), max_size=30))  # fmt: skip
def test_any_yaml_like_text(pieces: list[str]) -> None:
    only_spec_errors(Spec.parse, "".join(pieces))


@patient
@given(st.data())
def test_the_example_with_characters_changed(data: st.DataObject) -> None:
    text = EXAMPLE.read_text("utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 8))
        text = (
            text[:start]
            + data.draw(st.sampled_from(["", " ", "\n", ":", "- ", "{", "]", "'", "&a ", "*a ", "1", "\t"]))
            + text[end:]
        )
    only_spec_errors(Spec.parse, text)


def test_numbers_too_long_to_print() -> None:
    for place in ("version", "source", "keep", "suppression", "nulls"):
        refusals(**{place: 10**5000})
    assert "at least 1, got one that is too large" in refusals(privacy=[{"k_anonymity": 10**5000}])[0]
    assert "expected a key" in column_refusals(tree={10**5000: ["b"]})[0]
    assert "expected a value of the domain" in column_refusals(tree={"a": [10**5000]})[0]
    refusals(suppression={"limit": -(10**5000)})
    for number in (10**5000, Decimal("sNaN"), Decimal("1e999999999"), Decimal("1e-999999999"), float("inf")):
        column_refusals(intervals=[number])
        column_refusals(weight=number)
        refusals(sensitive=["dx"], privacy=[{"l_diversity": {"attribute": "dx", "l": number}}])


def test_data_that_contains_itself() -> None:
    loop: dict[str, Any] = dict(MINIMAL)
    loop["quasi_identifiers"] = {"a": {"tree": loop}}
    with pytest.raises(SpecError, match="deep"):
        Spec.from_dict(loop)
