"""Render the SQL templates, and refuse anything unsafe in them.

Templates live in ``sql_templates/<room>/``, as :mod:`kanon_sql.sql.template_files` finds them; those of attacks from
outside in directories that were added. A ``{{ value }}`` must have gone through a filter
(``name``, ``literal``, ``relation``) or be SQL already, so that no text is ever spliced.
What a template, a macro or a ``set`` block writes is SQL, since all that is in it was checked.

Lists are joined, not looped over: ``names | of("t") | list`` is ``t.a, t.b``, and
``keys | of("t") | same(keys | of("u")) | all`` compares them, NULL being equal to NULL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateNotFound
from jinja2 import TemplateError as JinjaError

from kanon_sql.errors import TemplateError
from kanon_sql.sql.python_deadline import checkpoint
from kanon_sql.sql.template_files import SUFFIX, TemplateBytecodeCache, TemplateLoader, names_in, template_directory
from kanon_sql.sql.text import (
    Relation,
    Sql,
    all_of,
    any_of,
    called,
    grouped,
    identifier,
    identifiers,
    its_column,
    literal,
    missing,
    of_table,
    present,
    relation,
    same,
    same_each,
    slot,
    sql_list,
    words,
)

__all__ = ["add_template_directory", "remove_template_directory", "render"]

_ADDED: list[Path] = []
"""Directories besides the package's own."""


def add_template_directory(path: str | Path) -> None:
    """Look for templates in another directory too, after the package's own: for an attack that is not part of it.

    They are held to the same rules: no value without a filter, and one statement that every dialect has. Adding a
    directory again does nothing.

    Args:
        path: the directory; ``own/rare.sql.j2`` in it is the template ``own/rare``.

    Raises:
        TemplateError: it has no templates, or one by a name that there is already, or that is not looked for there.
    """
    root = Path(path).resolve()
    if root in _ADDED:
        return
    names = names_in(root)
    if not names:
        raise TemplateError(f"{path}: there is no template in it; expected files that end in {SUFFIX}")
    known = {name for directory in (template_directory(), *_ADDED) for name in names_in(directory)}
    taken = [name for name in names if name in known]
    if taken:
        raise TemplateError(f"{path}: there is already a template {', '.join(map(repr, taken))}; rename yours")
    _ADDED.append(root)
    _environment.cache_clear()


def remove_template_directory(path: str | Path) -> None:
    """Look no longer for templates in a directory that was added.

    Raises:
        TemplateError: it was not added.
    """
    root = Path(path).resolve()
    if root not in _ADDED:
        raise TemplateError(f"{path}: this directory of templates was not added")
    _ADDED.remove(root)
    _environment.cache_clear()


def _only_sql(value: object) -> str:
    if isinstance(value, Sql):
        return str(value)
    raise TemplateError(
        f"a template printed a {type(value).__name__} that went through no filter (name, literal, relation)"
    )


class _Environment(Environment):
    @staticmethod
    def concat(parts: Iterable[str]) -> Sql:
        """The pieces that a template, a macro or a block wrote, each of them checked."""
        return Sql("".join(parts))


@cache
def _environment() -> Environment:
    environment = _Environment(
        loader=TemplateLoader([template_directory(), *_ADDED]),
        undefined=StrictUndefined,
        finalize=_only_sql,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        bytecode_cache=TemplateBytecodeCache(),
        auto_reload=False,  # or every use would ask the disk whether the file is still the same
    )
    length, attributes = environment.filters["length"], environment.filters["map"]
    environment.filters.clear()
    environment.filters.update(
        length=length,
        map=attributes,
        name=identifier,
        literal=literal,
        relation=relation,
        slot=slot,
        list=sql_list,
        names=identifiers,
        words=words,
        numbered=lambda numbers, prefix: [identifier(column(prefix, number)) for number in numbers],
        of=of_table,
        its=its_column,
        missing=missing,
        present=present,
        grouped=grouped,
        called=called,
        same=same_each,
        all=all_of,
        any=any_of,
    )
    environment.globals.clear()
    environment.globals.update(
        range=range,
        same=same,
        column=lambda prefix, *numbers: identifier(column(prefix, *numbers)),
        row_persons=None,  # for how many persons a row stands, where a column says it
        columns=lambda prefix, of: [identifier(column(prefix, index)) for index, _ in enumerate(of)],
    )
    return environment


def column(prefix: str, *numbers: int) -> str:
    """The name of one of our own columns, such as ``c3_1``."""
    return prefix + "_".join(str(number) for number in numbers)


def render(name: str, /, **context: Any) -> Sql:
    """Render a template into DuckDB's dialect.

    Args:
        name: room and name, such as ``evaluate/node``.
        context: the template's values; a missing one is an error.

    Raises:
        TemplateError: the template is missing, fails, or prints an unfiltered value.
    """
    checkpoint()
    environment = _environment()
    try:
        key = (name, _frozen(context))
    except _Unknown:
        return _rendered(environment, name, context)
    return _remembered(environment, _Request(key, context))


class _Unknown(Exception):
    """A value of which it is not known whether it prints the same as an equal one."""


_PLAIN = frozenset((str, Sql, int, bool, type(None)))
"""Types whose equal values print alike, next to the type: 1 is no ``True``, and a text is no SQL."""


def _frozen(value: object) -> tuple[object, ...]:
    """All that a template can see of a value, to be looked up by. Raises _Unknown for types not listed here."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is float or kind is Decimal:  # 0.0 is -0.0, and prints differently; so do 1.0 and 1.00
        return kind, str(value)
    if kind is list or kind is tuple or kind is Relation:
        assert isinstance(value, list | tuple)
        return kind, *_frozen_items(value)
    if kind is dict:
        assert isinstance(value, dict)
        return kind, *_frozen_items(value.keys()), *_frozen_items(value.values())
    raise _Unknown


def _frozen_items(values: Collection[object]) -> tuple[tuple[type, ...], tuple[object, ...]]:
    """The types of some values, and all that a template can see of them. Most are plain, and looked at together."""
    kinds = tuple(map(type, values))
    if _PLAIN.issuperset(kinds):
        return kinds, tuple(values)
    return kinds, tuple(value if kind in _PLAIN else _frozen(value) for kind, value in zip(kinds, values, strict=True))


class _Request:
    """A template and its values, equal to another where all that the template can see is."""

    __slots__ = ("context", "key")

    def __init__(self, key: tuple[object, ...], context: dict[str, Any]) -> None:
        self.key = key
        self.context = context

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Request) and self.key == other.key


@lru_cache(maxsize=1_000)
def _remembered(environment: Environment, asked: _Request) -> Sql:
    """Rendering takes longer than looking up; the same values come back with every run of a process."""
    return _rendered(environment, str(asked.key[0]), asked.context)


def _rendered(environment: Environment, name: str, context: dict[str, Any]) -> Sql:
    try:
        text = environment.get_template(name).render(**context)
    except TemplateNotFound as error:
        raise TemplateError(f"there is no SQL template {name!r}") from error
    except JinjaError as error:
        raise TemplateError(f"SQL template {name!r}: {error}") from error
    return Sql(text.strip())
