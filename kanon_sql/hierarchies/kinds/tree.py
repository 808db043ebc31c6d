"""A value generalization hierarchy written as a nested mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import Field

from kanon_sql.hierarchies.kind import Kind, clipped
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import Origin, label_text, sha256
from kanon_sql.spec.checks import Check, Faults, Loc, fail, kind

__all__ = ["TreeHierarchy"]

Tree = Mapping[str, "Tree"]
"""Label -> what it generalizes; a value of the domain generalizes nothing (an empty mapping)."""

_MAX_DEPTH = 60

_TOP = "*"
"""Above every tree, written or not."""


LABELS = 3
"""This many labels of a tree name a level."""


def _rows(tree: Tree) -> list[tuple[str, ...]]:
    """One row per value of the domain: the value, its parent, and so on, without ``*``.

    All rows have the same length: a shorter branch repeats its topmost ancestor (a value
    directly under ``*`` repeats itself).
    """
    found = [tuple(reversed(path)) for path in _paths(tree.get(_TOP, tree), ())]
    longest = max(map(len, found))
    return [path + (path[-1],) * (longest - len(path)) for path in found]


def _paths(tree: Tree, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for label, below in tree.items():
        if below:
            yield from _paths(below, (*above, label))
        else:
            yield (*above, label)


def _written(tree: Tree) -> dict[str, Any] | list[str] | None:
    if not tree:
        return None
    if not any(tree.values()):
        return list(tree)
    return {label: _written(below) for label, below in tree.items()}


def _parsed(value: object) -> Tree:
    """Check a nested mapping and bring it into one form.

    Args:
        value: label -> what is below it: a mapping, a list of values (or mappings), one
            value, or nothing. A single outermost label ``*`` is the top, and adds no level.

    Raises:
        ValidationError: it is not such a mapping, or a label has two parents.
    """
    if not isinstance(value, Mapping):
        fail(f"expected a tree: a mapping of labels to lists of values, got {kind(value)}")
    if not value:
        fail("expected a tree with at least one value, got an empty mapping")
    parser = _Parser()
    top: Loc = ()
    if list(value) == [_TOP] and isinstance(value[_TOP], Mapping | list) and value[_TOP]:
        value, top = value[_TOP], (_TOP,)
    tree = parser.below(value, top, None)
    if not parser.faults:
        parser.check_levels(tree)
    parser.faults.finish()
    return {_TOP: tree} if top else tree


class _Parser:
    """Walks a written tree, keeping where each label stands."""

    def __init__(self) -> None:
        self.faults = Faults()
        self._parent: dict[str, str | None] = {}
        self._place: dict[tuple[str, ...], tuple[Loc, bool]] = {}

    def below(self, value: object, loc: Loc, above: str | None, path: tuple[str, ...] = ()) -> dict[str, Tree]:
        """The labels below ``above``, which stand at ``loc``."""
        if len(path) > _MAX_DEPTH:
            self.faults.add(loc, f"the tree is more than {_MAX_DEPTH} levels deep")
            return {}
        found: dict[str, Tree] = {}
        if value is None:
            return found
        if isinstance(value, Mapping):
            for key, inner in value.items():
                self._enter(key, inner, (*loc, key), True, above, path, found)
        elif isinstance(value, list | tuple):
            for position, item in enumerate(value):
                here = (*loc, position)
                if isinstance(item, Mapping):
                    for key, inner in item.items():
                        self._enter(key, inner, (*here, key), True, above, path, found)
                else:
                    self._enter(item, None, here, False, above, path, found)
        else:
            self._enter(value, None, loc, False, above, path, found)
        return found

    def _enter(
        self,
        written: Any,
        inner: object,
        loc: Loc,
        at_key: bool,
        above: str | None,
        path: tuple[str, ...],
        found: dict[str, Tree],
    ) -> None:
        label = label_text(written)
        if label is None:
            self.faults.add(loc, f"expected a value of the domain, got {kind(written)}", at_key)
        elif label == _TOP:
            self.faults.add(loc, "'*' is the top value; it stands above the tree and not inside it", at_key)
        elif "\x00" in label or any("\ud800" <= ch <= "\udfff" for ch in label):
            self.faults.add(loc, "a label with a zero byte or a broken character", at_key)
        elif label in found:
            self.faults.add(loc, "this label is listed twice under the same parent", at_key)
        elif label in self._parent and label != above:
            # A label directly below itself is fine: 'France: {France: [...]}' pads by hand.
            self.faults.add(loc, "this label stands under two parents; each label has one", at_key)
        else:
            self._parent.setdefault(label, above)
            inside = (*path, label)
            self._place[inside] = (loc, at_key)
            found[label] = self.below(inner, loc, label, inside)

    def check_levels(self, tree: Tree) -> None:
        """Every label of a level has one parent at the next, padding included."""
        paths = list(_paths(tree, ()))
        rows: Sequence[tuple[str, ...]] = _rows(tree)
        parents: dict[tuple[int, str], str] = {}
        for path, row in zip(paths, rows, strict=True):
            for level, (label, parent) in enumerate(pairwise(row)):
                if parents.setdefault((level, label), parent) != parent:
                    loc, at_key = self._place[path]
                    self.faults.add(loc, f"a label of level {level} gets two parents on this branch", at_key)
                    break


@HIERARCHIES.declare
class TreeHierarchy(Kind):
    """A nested mapping, the most general labels outermost, where it is written below the top ``*``."""

    name: ClassVar[str] = "tree"
    place: ClassVar[int] = 5
    drawn: ClassVar[bool] = True
    lists_values: ClassVar[bool] = True
    fixed_height: ClassVar[bool] = True
    holds_labels: ClassVar[bool] = True
    in_spec: ClassVar[bool] = True

    tree: Annotated[Mapping[str, Any], Check(_parsed, {"type": "object", "minProperties": 1})] = Field(
        description="A nested mapping, the most general labels outermost."
    )

    @property
    def height(self) -> int:
        """The levels that are written: a single outermost label is one less where it turns out to be the top."""
        return len(_rows(self.tree)[0])

    def rows(self) -> list[tuple[str, ...]]:
        """One row per value: the value, its parent, and so on, all of one length, without ``*``."""
        return _rows(self.tree)

    def listed_rows(self, spec: Origin, *, several: bool = False) -> Sequence[tuple[str, ...]]:
        """The rows, with ``*`` where it is written: a label that all rows share is below it then, and not the top."""
        return [(*row, _TOP) if _TOP in self.tree else row for row in self.rows()]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: mappings, with a list where there are only domain values."""
        return {"tree": {label: _written(below) for label, below in self.tree.items()}}

    def redacted(self) -> dict[str, Any]:
        """A digest, and how many levels and values there are."""
        rows = self.rows()
        return {"tree": {"sha256": sha256(self.to_dict()["tree"]), "levels": len(rows[0]), "values": len(rows)}}

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The first labels that are no values, unless these are the same one level below."""
        labels, below = (list(self._above_values(at)) for at in (level, level - 1))
        if below[:LABELS] == labels[:LABELS]:
            return f"level {level} of the tree"
        shown = ", ".join(map(clipped, labels[:LABELS]))
        return f"{shown}, ..." if len(labels) > LABELS else shown

    def labels_in_spec(self, level: int) -> tuple[str, ...]:
        """The labels of a level that are no values."""
        return () if level == 0 else tuple(self._above_values(level))

    def _above_values(self, level: int) -> dict[str, None]:
        rows = self.rows()
        values = {row[0] for row in rows}
        return dict.fromkeys(row[level] for row in rows if row[level] not in values)
