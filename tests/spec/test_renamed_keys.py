"""Old keys of a spec: each is refused with the name of the new one."""

from __future__ import annotations

from typing import Any

import pytest

from kanon_sql.errors import SpecError
from kanon_sql.spec import CloakSpec, PerturbSpec, Spec, TableSpec
from tests.support.specs import HEAD, MINIMAL, TAIL, make, problems, schema_accepts

OLD = {
    "a share": ("suppression: {limit: 0.05}", "5:15: suppression.limit: the key has a new name; write max_share: 0.05"),
    "all rows": ("suppression: {limit: 1.0}", "5:15: suppression.limit: the key has a new name; write max_share: 1.0"),
    "rows": ("suppression: {limit: 1}", "5:15: suppression.limit: the key has a new name; write max_rows: 1"),
    "effort": (
        "recoding: {method: local, effort: best}",
        "5:27: recoding.effort: the key has a new name; write variant",
    ),
    "direction": (
        "recoding: {method: subtree, direction: up}",
        "5:29: recoding.direction: the key has a new name; wri",
    ),
    "levels": (
        "recoding: {method: cells, levels: minimum}",
        "5:27: recoding.levels: the key has a new name; write var",
    ),
    "keep": ("recoding: {method: local, keep: learned}", "5:27: recoding.keep: the key has a new name; write save_as"),
    "matrix": (
        "search: {algorithm: samarati, matrix: true}",
        "5:31: search.matrix: the key has a new name; write dist",
    ),
    "nothing_told": (
        "warnings: {nothing_told: error}",
        "5:12: warnings.nothing_told: the key has a new name; write fully_suppressed_columns",
    ),
    "withheld_column": (
        "warnings: {withheld_column: allow}",
        "5:12: warnings.withheld_column: the key has a new name; write column_fully_generalized",
    ),
    "kept_tells_quasi_identifier": (
        "warnings: {kept_tells_quasi_identifier: warn}",
        "5:12: warnings.kept_tells_quasi_identifier: the key has a new name; write kept_reveals_quasi_identifier",
    ),
    "values_alike": (
        "warnings: {values_alike: error}",
        "5:12: warnings.values_alike: the key has a new name; write inconsistent_spelling",
    ),
    "neither": ("suppression: {limit: few}", "5:15: suppression.limit: the key has a new name; write max_rows or max_"),
}


@pytest.mark.parametrize("case", OLD)
def test_an_old_key_is_refused_with_the_new_one(case: str) -> None:
    written, expected = OLD[case]
    [problem] = problems(HEAD + TAIL + written + "\n")
    assert problem.startswith(expected)


REQUIREMENTS = {
    "l_diversity: {attribute: dx, l: 3, kind: recursive, c: 2}": "4:47: privacy[0].l_diversity.kind: the key has a new",
    "beta_likeness: {attribute: dx, beta: 1, kind: basic}": "4:52: privacy[0].beta_likeness.kind: the key has a new na",
    "kk_anonymity: {k: 5, kind: global_1k}": "4:33: privacy[0].kk_anonymity.kind: the key has a new name; write var",
}


@pytest.mark.parametrize("written", REQUIREMENTS)
def test_a_variant_of_a_model_was_its_kind(written: str) -> None:
    head = HEAD + "quasi_identifiers: {age: {}}\nprivacy: [{"
    sensitive = "sensitive: [dx]\n" if "dx" in written else ""
    [problem] = problems(f"{head}{written}}}]\n{sensitive}")
    assert problem.startswith(REQUIREMENTS[written])
    assert problem.endswith("write variant")


def test_a_variant_of_noise_was_its_kind() -> None:
    with pytest.raises(SpecError) as caught:
        PerturbSpec.parse(
            "version: 1\nkind: perturbed\nsource: t\nkey: id\n"
            "perturb: {age: {noise: {share: 0.1, kind: multiplicative}}}\n",
            "s.yml",
        )
    [problem] = caught.value.problems
    assert str(problem) == "s.yml:5:37: perturb.age.noise.kind: the key has a new name; write variant"


def test_the_least_estimate_of_a_cell_was_its_population() -> None:
    text = "version: 1\nkind: table\nsource: t\nweight: w\ndimensions: {zip: null}\n"
    text += "rules: {threshold: 5, population: 50}\n"
    with pytest.raises(SpecError) as caught:
        TableSpec.parse(text, "s.yml")
    [problem] = caught.value.problems
    assert str(problem) == "s.yml:6:23: rules.population: the key has a new name; write estimate"


OF_KINDS: dict[str, tuple[Any, str, str]] = {
    "table": (TableSpec, "dimensions: {zip: null}\nrules: {threshold: 5}\n", "kanon-sql publish table"),
    "positions": (
        CloakSpec,
        "unit: p\nposition: {columns: [x, y], bounds: [0, 0, 4, 4], depth: 2}\nk: 2\n",
        "kanon-sql publish positions",
    ),
    "perturbed": (PerturbSpec, "key: id\nperturb: {age: {noise: 0.1}}\n", "kanon-sql publish perturbed"),
    "release": (Spec, TAIL, "kanon-sql anonymize"),
}


@pytest.mark.parametrize("kind", OF_KINDS)
def test_a_spec_of_another_kind_names_the_verb_that_reads_it(kind: str) -> None:
    model, rest, verb = OF_KINDS[kind]
    text = f"version: 1\nkind: {kind}\nsource: visits\n{rest}"
    assert model.parse(text).to_dict()["kind"] == kind
    for other, (reader, _, _) in OF_KINDS.items():
        if other != kind:
            with pytest.raises(SpecError) as caught:
                reader.parse(text, "s.yml")
            [problem] = caught.value.problems
            assert str(problem) == f"s.yml:2:7: kind: expected {other}, got {kind}; run this spec with {verb}"


@pytest.mark.parametrize(
    ("kind", "reader"), [("table", Spec), ("positions", Spec), ("release", TableSpec), ("release", CloakSpec)]
)
def test_its_keys_name_the_kind_and_the_verb_too(kind: str, reader: type[Spec | TableSpec | CloakSpec]) -> None:
    _, rest, verb = OF_KINDS[kind]
    with pytest.raises(
        SpecError, match=f"this key belongs in a spec of kind: {kind}, for {verb}; leave it out, or move it there"
    ):
        reader.parse(HEAD + rest)


@pytest.mark.parametrize("kind", [["table"], {"table": 1}, 3, True])
def test_a_kind_that_is_no_word_is_refused_like_any_other_value(kind: object) -> None:
    with pytest.raises(SpecError) as caught:
        make(kind=kind)
    assert str(caught.value).startswith("kind: expected kind of spec: one of release, table, positions, perturbed, got")


def test_a_spec_is_called_by_its_kind() -> None:
    for kind, (model, _, _) in OF_KINDS.items():
        with pytest.raises(SpecError) as caught:
            model.load("missing.yml")
        called = {"release": "spec", "table": "table spec", "perturbed": "perturbation spec"}.get(kind, f"{kind} spec")
        assert f"cannot read the {called}: " in str(caught.value)


def test_a_spec_without_a_kind_is_one_of_a_release() -> None:
    assert Spec.parse(HEAD + TAIL).kind == "release"
    for kind, (model, rest, _) in OF_KINDS.items():
        if kind != "release":
            with pytest.raises(SpecError) as caught:
                model.parse(HEAD + rest, "s.yml")
            [problem] = caught.value.problems
            assert problem.message == f"missing 'kind': the kind of spec; write kind: {kind}"
    assert problems(f"version: 1\nkind: tabel\nsource: visits\n{TAIL}") == [
        "2:7: kind: unknown kind of spec; did you mean 'table'?"
    ]


def test_the_schema_has_no_old_key() -> None:
    for old in ({"suppression": {"limit": 1}}, {"recoding": {"keep": "learned"}}, {"kind": "table"}):
        assert not schema_accepts({**MINIMAL, **old})


def test_a_value_that_is_no_number_is_not_repeated() -> None:
    with pytest.raises(SpecError) as caught:
        make(suppression={"limit": "Heidi"})
    assert "Heidi" not in str(caught.value)
