"""Path codes: generalized values have the same code exactly when they have the same label, and no code overflows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import VerificationError
from kanon_sql.hierarchies import codes as module
from kanon_sql.hierarchies.codes import Codes, Widest
from kanon_sql.sql.dialects import DIALECTS, PORTABLE
from kanon_sql.sql.dialects.base import WORD
from tests.support.strategies import examples

Paths = list[tuple[int, ...]]
"""Per value of a hierarchy, its labels from level 0 to the one below the top."""


@st.composite
def hierarchies(draw: st.DrawFn) -> Paths:
    """A random hierarchy without its top; labels nest, and some hierarchies are the top alone."""
    paths: Paths = [()]
    for _ in range(draw(st.integers(0, 4))):
        fans = draw(st.lists(st.integers(1, 5), min_size=len(paths), max_size=len(paths)))
        labels = iter(draw(st.permutations(range(sum(fans)))))
        paths = [(next(labels), *path) for path, fan in zip(paths, fans, strict=True) for _ in range(fan)][:7]
    return paths


def lookup_rows(paths: Paths) -> list[dict[str, int]]:
    """The numbers of every value's labels, as a lookup table has them."""
    rows = []
    for path in paths:
        row = {}
        for level, label in enumerate(path):
            everywhere = sorted({other[level] for other in paths})
            siblings = sorted({other[level] for other in paths if other[level + 1 :] == path[level + 1 :]})
            row[f"c{level}"] = everywhere.index(label) + 1
            if level + 1 < len(path):
                row[f"d{level}"] = siblings.index(label)
        rows.append(row)
    return rows


def widest(rows: list[dict[str, int]]) -> list[Widest]:
    levels = sum(name.startswith("c") for name in rows[0])
    return [
        Widest(max(row[f"c{level}"] for row in rows), max(row.get(f"d{level}", 99) for row in rows))
        for level in range(levels)
    ]


def value(text: str, names: Mapping[str, int]) -> int:
    """What an expression of the portable subset is, given its columns."""
    found = eval(re.sub(r'"(\w+)"(?:\."(\w+)")?', lambda m: f"names['{'.'.join(filter(None, m.groups()))}']", text))
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("word", [5, 9, WORD])
@given(st.lists(hierarchies(), min_size=1, max_size=3), st.data())
@examples(40)
def test_codes_are_the_same_exactly_when_the_labels_are(
    word: int, given_paths: list[Paths], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WORD", word)
        tables = [lookup_rows(paths) for paths in given_paths]
        codes = Codes([widest(rows) for rows in tables])
    node = tuple(data.draw(st.integers(0, len(paths[0]))) for paths in given_paths)
    below = tuple(data.draw(st.integers(0, level)) for level in node)
    codes.refuse_uncovered(below, [node])
    texts = codes.vectors(PORTABLE, lambda index: f"lookup{index}")
    keys, lookup_keys = codes.keys(node, PORTABLE), codes.from_lookups(node, PORTABLE, lambda index: f"lookup{index}")
    assert len(texts) == codes.words
    seen: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = {}
    for chosen in product(*(range(len(paths)) for paths in given_paths)):
        columns = {
            f"lookup{index}.{name}": number
            for index, row in enumerate(chosen)
            for name, number in tables[index][row].items()
        }
        vector = {f"code{index}": value(text, columns) for index, text in enumerate(texts)}
        assert all(0 <= number < 2**word for number in vector.values())
        key = tuple(value(text, vector) for text in keys)
        assert key == tuple(value(text, columns) for text in lookup_keys)
        labels = tuple(
            given_paths[index][row][level:] for index, (row, level) in enumerate(zip(chosen, node, strict=True))
        )
        assert seen.setdefault(key, labels) == labels
        for index, level in enumerate(node):
            if level < len(given_paths[index][0]):
                assert value(codes.code(index, level, PORTABLE), vector) == value(
                    codes.from_lookup(index, level, PORTABLE, f"lookup{index}"), columns
                )
        rolled_up = {f"code{place}": vector[f"code{place}"] & bits for place, bits in enumerate(codes.held(below))}
        assert tuple(value(text, rolled_up) for text in keys) == key, "the set of a specialization answers the node"
    assert len(seen) == len(set(seen.values()))
    assert codes.keyed(node) == [place for place, mask in enumerate(codes.masks(node)) if mask]


def test_a_path_too_long_for_a_word_begins_anew_with_the_number_of_a_label_among_all() -> None:
    codes = Codes([[Widest(2**30, 2**29), Widest(2**29, 2**28), Widest(2**28)], [Widest(3)]])
    # 29 + 29 bits for the upper levels; 30 more for the values would be too many, and 31 tell all of them apart.
    first = f'"t"."c2" * {2**29} + "t"."d1" + "t"."c0" * {2**58}'
    assert codes.vectors(PORTABLE, lambda index: "t") == [first, '"t"."c0"']
    assert codes.masks((1, 1)) == [2**58 - 1, 0]
    assert codes.masks((0, 0)) == [3 * 2**58, 2**31 - 1]


def test_a_level_with_too_many_labels_is_refused() -> None:
    Codes([[Widest(2**62 - 1)]])
    with pytest.raises(ValueError, match="does not fit into 62 bits"):
        Codes([[Widest(2**62)]])


def test_a_set_that_lacks_bits_of_a_node_does_not_answer_it() -> None:
    codes = Codes([[Widest(9, 4), Widest(3)], [Widest(5)]])
    codes.refuse_uncovered((0, 0), [(0, 0), (1, 1), (2, 1)])
    for below, node in (((1, 0), (0, 0)), ((0, 1), (1, 0)), ((2, 1), (1, 1))):
        with pytest.raises(VerificationError, match="does not hold what node"):
            codes.refuse_uncovered(below, [(2, 1), node])


@pytest.mark.parametrize("name", DIALECTS)
def test_a_mask_is_written_as_a_template_would_be(name: str) -> None:
    dialect = DIALECTS[name]
    tree = sqlglot.parse_one("SELECT (code0 & 12) AS masked", read="duckdb")
    filled = dialect.masked("CODE", "12")
    written = dialect.sql(tree).replace(dialect.quote("code0"), "CODE").replace("code0", "CODE")
    assert filled.strip("()") in written or filled in written
    assert sqlglot.parse_one(f"SELECT {filled} AS masked", read=dialect.sqlglot).named_selects == ["masked"]
