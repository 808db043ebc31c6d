"""How the golden file of DuckDB is written: what occurs several times is written once, under a name.

A file is a list of blocks. Most are a statement under the template that it comes from:

    -- frequency/totals
    SELECT ... FROM «frequency/raw 2» ...;

A query in parentheses, or a line, that occurs several times stands before the statement that needs it first,
and has its name from there; it may hold names itself:

    -- «frequency/raw 2»
    (SELECT ...)

Numbers begin anew with every template, so that one more repetition changes few other names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

LONG = 200
"""Characters from which a repetition is named: what is shorter reads better where it stands."""
NAME = re.compile("«[^»]*»")

Block = tuple[str, str]
"""A template and the statement that it gave; or a name, with its marks, and what it stands for."""


def long_parts(sql: str, quoted: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where what is in parentheses, and each line, begins and ends; what holds others stands before them."""
    opened: list[int] = []
    parts: list[tuple[int, int]] = []
    bare = quoted.sub(lambda found: "x" * len(found.group()), sql)
    for found in re.finditer(r"[()]", bare):
        if found.group() == "(":
            opened.append(found.start())
        elif found.group() == ")" and opened:
            parts.append((opened.pop(), found.end()))
    parts += [line.span() for line in re.finditer(r"[^\n]+", bare)]
    return sorted({part for part in parts if part[1] - part[0] >= LONG}, key=lambda part: (part[0], -part[1]))


def repeated(statements: Sequence[Block], quoted: re.Pattern[str]) -> set[str]:
    """What occurs several times, and not only within something else that does."""
    times: Counter[str] = Counter()
    for _, sql in statements:
        done = 0
        for start, end in long_parts(sql, quoted):
            if start >= done:
                times[sql[start:end]] += 1
                if times[sql[start:end]] > 1:
                    done = end
    return {part for part, number in times.items() if number > 1}


def shortened(statements: Sequence[Block], quoted: re.Pattern[str]) -> list[Block]:
    """The blocks of a file, in which nothing long is said twice."""
    assert not any("«" in sql for _, sql in statements)
    several = repeated(statements, quoted)
    blocks: list[Block] = []
    names: dict[str, str] = {}
    numbers: Counter[str] = Counter()

    def named(template: str, text: str, stands_for: str | None = None) -> str:
        """A text with names in the place of the parts that occur several times; it may be what a name stands for."""
        written, done = "", 0
        for start, end in long_parts(text, quoted):
            part = text[start:end]
            if start < done or part not in several or part == stands_for:
                continue
            if part not in names:
                numbers[template] += 1
                names[part] = f"«{template} {numbers[template]}»"
                blocks.append((names[part], named(template, part, stands_for=part)))
            written += text[done:start] + names[part]
            done = end
        return written + text[done:]

    for template, sql in statements:
        blocks.append((template, named(template, sql)))
    return blocks


def as_file(blocks: Sequence[Block]) -> str:
    parts = [(title, text if NAME.fullmatch(title) else text.removesuffix(";") + ";") for title, text in blocks]
    return "\n\n".join(f"-- {title}\n{text}" for title, text in parts) + "\n"


def read(file: str) -> list[Block]:
    """The statements of a file, with every name replaced by what it stands for."""
    stands_for: dict[str, str] = {}
    statements = []
    for block in re.split(r"\n\n(?=-- )", file.removesuffix("\n")):
        title, _, text = block.removeprefix("-- ").partition("\n")
        text = NAME.sub(lambda found: stands_for[found.group()], text)
        if NAME.fullmatch(title):
            stands_for[title] = text
        else:
            statements.append((title, text.removesuffix(";")))
    return statements


def expanded(file: str) -> str:
    return as_file(read(file))
