"""Where in the spec file a problem lies that was only found while running."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from kanon_sql.errors import Problem, SpecError

__all__ = ["located"]


def located(problems: Iterable[Problem], path: Path) -> list[Problem]:
    """The problems, those that name a part of the spec with its file, line and column.

    Args:
        problems: such as ``keep: charge: the source has no such column``.
        path: the spec file they are about.
    """
    from kanon_sql.spec import read_yaml

    try:
        document = read_yaml(path.read_text("utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError, SpecError):
        return list(problems)
    found = []
    for problem in problems:
        loc = _part_of(document.data, re.sub(r"^source (file|query)\b", r"source.\1:", problem.message))
        place = document.keys.get(loc) or document.values.get(loc)
        if problem.file is None and loc and place is not None:
            problem = Problem(problem.message, str(path), *place)
        found.append(problem)
    return found


def _part_of(data: object, message: str) -> tuple[str | int, ...]:
    """The longest path of keys and list items that the message begins with."""
    loc: tuple[str | int, ...] = ()
    rest = message
    while True:
        candidates: list[tuple[str | int, str]]
        if isinstance(data, Mapping):
            candidates = [(key, str(key)) for key in data]
        elif isinstance(data, list):
            candidates = [(index, item) for index, item in enumerate(data) if isinstance(item, str)]
        else:
            return loc
        # The longest name first: a column may be called like the beginning of another.
        for part, name in sorted(candidates, key=lambda item: -len(item[1])):
            if re.match(re.escape(name) + r"(: |\.)", rest):
                rest = rest[len(name) :].removeprefix(": ").removeprefix(".")
                loc, data = (*loc, part), data[part]  # type: ignore[index]
                break
        else:
            return loc
