"""Packed keys: different exactly when the codes are, and never too large."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.evaluate.partitions.packing import LARGEST, Packing


def packed(packing: Packing, codes: tuple[int, ...], attributes: list[int]) -> tuple[int, ...]:
    keys = packing.keys(attributes, lambda index: str(codes[index] * packing.places[index].stride))
    return tuple(eval(key) for key in keys)


@pytest.mark.slow
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_keys_differ_exactly_when_the_codes_do(radixes: list[int], data: st.DataObject) -> None:
    packing = Packing(radixes)
    attributes = data.draw(st.lists(st.sampled_from(range(len(radixes))), unique=True))
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for codes in product(*(range(radix) for radix in radixes)):
        key = packed(packing, codes, attributes)
        chosen = tuple(codes[attribute] for attribute in attributes)
        assert found.setdefault(key, chosen) == chosen
    assert len(found) == len({tuple(c[a] for a in attributes) for c in product(*(range(r) for r in radixes))})


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=30))
def test_no_key_overflows(radixes: list[int]) -> None:
    packing = Packing(radixes)
    keys = packed(packing, tuple(radix - 1 for radix in radixes), list(range(len(radixes))))
    assert max(keys) < LARGEST < 2**63
    assert len(keys) == len({place.word for place in packing.places})


def test_what_does_not_fit_into_one_number_goes_on_in_another() -> None:
    packing = Packing([2**40, 2**22, 2, 10])
    assert [place.word for place in packing.places] == [0, 0, 1, 1]
    assert packing.keys([0, 2, 3], lambda index: f"c{index}") == ["c0", "c2 + c3"]
    assert packing.keys([], str) == []


@pytest.mark.parametrize("radix", [0, -1, 2**62 + 1])
def test_an_impossible_radix_is_refused(radix: int) -> None:
    with pytest.raises(ValueError, match="no place"):
        Packing([radix])
