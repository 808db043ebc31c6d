"""A spec is read from YAML 1.2, whatever else the file holds."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from kanon_sql.errors import SpecError
from kanon_sql.hierarchies.kinds.tree import TreeHierarchy
from kanon_sql.spec import Spec
from tests.support.specs import HEAD, TAIL, problems


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
        "3:1: duplicate key: 'source' is already at line 2, column 1",
        "5:22: quasi_identifiers.age: duplicate key: 'prefix' is already at line 5, column 9",
        "6:3: quasi_identifiers: duplicate key: 'age' is already at line 5, column 3",
        "7:32: privacy[0].k_anonymity: duplicate key: 'k' is already at line 7, column 26",
    ]


def test_a_duplicate_label_is_not_shown() -> None:
    text = HEAD + "quasi_identifiers: {d: {tree: {Secret: [a], Secret: [b]}}}\nprivacy: [{k_anonymity: 2}]\n"
    [problem] = problems(text)
    assert problem.startswith("3:45: quasi_identifiers.d.tree: duplicate key: a label is already at line 3")
    assert "Secret" not in problem


def test_keys_that_are_not_text_merge_keys_and_tags() -> None:
    assert problems(HEAD + TAIL + "? [a, b]\n: 1\n") == ["5:3: expected a text key, got a list or a mapping"]
    assert problems(HEAD + TAIL + "<<: {keep: [a]}\n")[0].startswith("5:1: merge keys")
    assert problems(HEAD + TAIL + "unit: !secret x\n")[0].startswith("5:7: unit: YAML tags are not supported here")


def test_anchors_work_but_not_on_themselves() -> None:
    text = HEAD + "quasi_identifiers: {a: &x {prefix: [2]}, b: *x}\nprivacy: [{k_anonymity: 2}]\n"
    assert Spec.parse(text).quasi_identifiers["b"].to_dict()["prefix"] == [2]
    assert "contains itself" in problems("a: &x [*x]\n")[0]


@pytest.mark.slow
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
