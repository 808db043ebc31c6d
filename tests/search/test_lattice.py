"""The lattice's arithmetic against plain enumeration."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.search.lattice import Lattice, Node, generalizes


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    limits = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
    return Lattice(tuple(min(pair) for pair in limits), tuple(max(pair) for pair in limits))


def nodes_of(lattice: Lattice) -> list[Node]:
    everything = product(range(4), repeat=len(lattice.top))
    return [n for n in everything if generalizes(n, lattice.bottom) and generalizes(lattice.top, n)]


@given(lattices())
def test_nodes_size_and_membership(lattice: Lattice) -> None:
    nodes = nodes_of(lattice)
    assert list(lattice) == nodes
    assert lattice.size == len(nodes)
    assert {n for n in product(range(4), repeat=len(lattice.top)) if n in lattice} == set(nodes)


@given(lattices())
def test_heights_partition_the_nodes(lattice: Lattice) -> None:
    nodes = nodes_of(lattice)
    for height in range(-1, 14):
        expected = [node for node in nodes if sum(node) == height]
        assert list(lattice.nodes_at(height)) == expected
        assert lattice.count_at(height) == len(expected)
        assert (height in lattice.heights) == bool(expected)


@given(lattices())
def test_neighbours_are_the_covering_relation(lattice: Lattice) -> None:
    nodes = nodes_of(lattice)
    for node in nodes:
        above = {n for n in nodes if generalizes(n, node) and sum(n) == sum(node) + 1}
        below = {n for n in nodes if generalizes(node, n) and sum(n) == sum(node) - 1}
        assert set(lattice.successors(node)) == above
        assert set(lattice.predecessors(node)) == below


def test_count_does_not_enumerate() -> None:
    lattice = Lattice((0,) * 30, (1,) * 30)
    assert lattice.size == 2**30
    assert lattice.count_at(15) == 155_117_520


@pytest.mark.parametrize(("bottom", "top"), [((), ()), ((0,), (0, 0)), ((1,), (0,)), ((-1,), (0,))])
def test_impossible_limits_are_refused(bottom: Node, top: Node) -> None:
    with pytest.raises(ValueError, match="bottom"):
        Lattice(bottom, top)


def test_not_a_node() -> None:
    lattice = Lattice((0, 0), (1, 1))
    assert [0, 0] not in lattice
    assert (0,) not in lattice
    assert (0, 2) not in lattice


def test_generalizes_is_a_partial_order() -> None:
    assert generalizes((1, 0), (1, 0))
    assert generalizes((1, 1), (1, 0))
    assert not generalizes((1, 0), (0, 1))
    assert not generalizes((0, 1), (1, 0))
