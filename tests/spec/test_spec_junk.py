"""Whatever is given for a spec, it is read or refused with SpecError."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import SpecError
from kanon_sql.spec import Spec
from tests.support.specs import EXAMPLE, MINIMAL, column_refusals, patient, refusals
from tests.support.suppressions import suppressing

WORDS = [
    "version", "source", "release", "unit", "identifiers", "quasi_identifiers", "sensitive", "keep", "privacy",
    "suppression", "search", "nulls", "query", "file", "table", "intervals", "origin", "bottom", "top", "prefix",
    "dates", "tree", "sql", "minimum_level", "maximum_level", "weight", "k_anonymity", "l_diversity", "t_closeness",
    "k", "l", "c", "t", "kind", "variant", "attribute", "reference", "limit", "max_rows", "max_share",
    "style", "algorithm", "metric", "prefer", "seed",
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


@pytest.mark.slow
@patient
@given(junk)
def test_any_data(data: Any) -> None:
    only_spec_errors(Spec.from_dict, data)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert "expected a text key" in column_refusals(tree={10**5000: ["b"]})[0]
    assert "expected a value of the domain" in column_refusals(tree={"a": [10**5000]})[0]
    refusals(suppression={"max_rows": -(10**5000)})
    for number in (10**5000, Decimal("1e5000"), Decimal("sNaN"), float("inf")):
        [problem] = refusals(suppression=suppressing(number))[-1:]
        assert len(problem) < 150
    for number in (10**5000, Decimal("sNaN"), Decimal("1e999999999"), Decimal("1e-999999999"), float("inf")):
        column_refusals(intervals=[number])
        column_refusals(weight=number)
        refusals(sensitive=["dx"], privacy=[{"l_diversity": {"attribute": "dx", "l": number}}])


def test_data_that_contains_itself() -> None:
    loop: dict[str, Any] = dict(MINIMAL)
    loop["quasi_identifiers"] = {"a": {"tree": loop}}
    with pytest.raises(SpecError, match="deep"):
        Spec.from_dict(loop)
