"""Sets of nodes as bits, against sets of nodes; and the additive model, against its definition."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.search.additive import Additive, _solved
from kanon_sql.search.boxes import Boxes
from kanon_sql.search.lattice import Lattice, generalizes


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    limits = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
    return Lattice(tuple(min(pair) for pair in limits), tuple(max(pair) for pair in limits))


@given(lattice=lattices(), seed=st.integers(0, 2**32))
def test_boxes_are_sets_of_nodes(lattice: Lattice, seed: int) -> None:
    rng = random.Random(seed)
    boxes, nodes = Boxes(lattice), list(lattice)
    assert list(boxes.members(boxes.all)) == list(range(lattice.size))
    for number, node in enumerate(nodes):
        assert (boxes.number(node), boxes.node(number)) == (number, node)
        assert {boxes.node(other) for other in boxes.members(boxes.below(number))} == {
            other for other in nodes if generalizes(node, other)
        }
        assert {boxes.node(other) for other in boxes.members(boxes.above(number))} == {
            other for other in nodes if generalizes(other, node)
        }
        assert {boxes.node(other) for other in boxes.successors(number)} == set(lattice.successors(node))
    chosen = sorted(rng.sample(range(lattice.size), rng.randint(0, lattice.size)))
    several = boxes.of(chosen)
    assert list(boxes.members(several)) == chosen
    marks = boxes.marks(several)
    assert [number for number in range(lattice.size) if marks[number >> 3] >> (number & 7) & 1] == chosen
    picked = {nodes[number] for number in chosen}
    assert {boxes.node(number) for number in boxes.members(boxes.lowest(several))} == {
        node for node in picked if not picked & set(lattice.predecessors(node))
    }


@given(lattice=lattices(), seed=st.integers(0, 2**32))
def test_a_grown_box_is_itself_and_itself_shifted(lattice: Lattice, seed: int) -> None:
    boxes = Boxes(lattice)
    number = random.Random(seed).randrange(lattice.size)
    for stride, span, step in zip(boxes.strides, boxes.spans, boxes.steps(number), strict=True):
        if step < span - 1:
            assert boxes.below(number + stride) == boxes.below(number) | boxes.below(number) << stride
        if step:
            assert boxes.above(number - stride) == boxes.above(number) | boxes.above(number) >> stride


@given(size=st.integers(1, 8), seed=st.integers(0, 2**32))
def test_systems_are_solved(size: int, seed: int) -> None:
    rng = random.Random(seed)
    root = [[rng.uniform(-1, 1) for _ in range(size)] for _ in range(size)]
    matrix = [
        [sum(root[k][i] * root[k][j] for k in range(size)) + (0.5 if i == j else 0.0) for j in range(size)]
        for i in range(size)
    ]
    wanted = [rng.uniform(-5, 5) for _ in range(size)]
    vector = [sum(a * b for a, b in zip(row, wanted, strict=True)) for row in matrix]
    assert _solved(matrix, vector) == pytest.approx(wanted, abs=1e-6)


def test_a_sum_of_terms_is_learned() -> None:
    """Terms far from the guess, but additive: nodes never seen are foretold, much better than by the guess."""
    rng = random.Random(5)
    spans = (4, 3, 5, 2)
    terms = [[rng.uniform(-3, 3) for _ in range(span)] for span in spans]
    guess = [[float(span - step) for step in range(span)] for span in spans]
    every = list(Lattice((0,) * len(spans), tuple(span - 1 for span in spans)))
    rng.shuffle(every)
    model = Additive(guess, 0.5, 0.0)

    def error() -> float:
        return sum(
            abs(model.expected(node) - sum(own[step] for own, step in zip(terms, node, strict=True)))
            for node in every[60:]
        ) / len(every[60:])

    before = error()
    for node in every[:60]:
        model.learn(node, sum(own[step] for own, step in zip(terms, node, strict=True)))
    model.fit()
    assert error() < 0.1 < before


def test_weight_decides_between_contradictions() -> None:
    model = Additive([[0.0, 0.0]], 1.0, 0.0)
    for _ in range(10):
        model.learn((1,), 4.0, 1.0)
        model.learn((1,), 0.0, 0.01)
    model.fit()
    assert 3.5 < model.expected((1,)) < 4.0
