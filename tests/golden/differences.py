"""How the file of a dialect is written that says what it writes otherwise than DuckDB.

``duckdb.sql`` holds every statement in full. The files of the other dialects hold the differences, each once,
and a digest of every statement, so that no character of any statement changes unseen:

    # called: avg, cast, coalesce          every function that the dialect's statements call
    # order: 9a8b7c6d                      a digest of the order of the templates
    # names: `x`                           how names are quoted; below, all are written "x"
    # in quotes: value, row_count          words that DuckDB writes bare and this dialect in quotes
    # words: TEXT → STRING                 words that nearly always are one other; below, they are not shown
    # fewer: release/blocks 5              how many statements of a template less than DuckDB there are
    # more: release/hold 1                 and how many more

    -- frequency/totals 1f2e3d4c 99aa88bb          a template, and a digest of each of its statements
    … SUM(x) AS «→CAST(»y …                what the dialect writes; in the marks, DuckDB's words before the arrow
    + SELECT …                             a statement that is like none of DuckDB's

A difference stands under the first template that has it, with a few words around it. Those that are the same but
for names and numbers (``q0`` and ``q1``) are shown once. A dialect without temporary tables has queries with names
(``WITH``) in their place: these are compared with DuckDB's tables. A line break in a statement is written ⏎.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from functools import cache

from tests.golden.files import Block

MOST_SHOWN = 60
"""Lines of a difference that a failing test prints."""
AROUND = 4
"""Words and signs shown before and after a difference."""
TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[A-Za-z_]\w*\]|\w+|\s+|.", re.DOTALL)
QUOTED = re.compile(r"\"((?:[^\"]|\"\")*)\"|`([^`]*)`|\[([A-Za-z_]\w*)\]")
CLAUSES = re.compile(r"SELECT|FROM|WHERE|GROUP|HAVING|JOIN|LEFT|CROSS|ON|UNION|AND|OR|WHEN|THEN|ELSE|WITH|ORDER")
NAME = re.compile(r"\"?[a-z_][a-z_0-9]*\"?|\d+", re.ASCII)
LITERAL_NAME = re.compile(r"kanon_[a-z_0-9]+")
WITH_TABLES = re.compile(r'WITH "kanon_run_\w+" AS \(')
NEXT_TABLE = re.compile(r'\),\n(?="kanon_run_\w+" AS \()')
CREATED = re.compile(r'CREATE TEMPORARY TABLE ("kanon_run_\w+") AS ')
LIKE = 0.2
"""How many of the names of two statements have to be the same for one to be compared with the other."""
Tokens = tuple[str, ...]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def tokens_of(sql: str) -> Tokens:
    """A statement's words and signs, with names in double quotes."""
    return tuple(
        f'"{found.group(found.lastindex)}"' if (found := QUOTED.fullmatch(token)) and found.lastindex else token
        for token in TOKEN.findall(sql)
    )


def quotes_of(statements: Sequence[Block]) -> list[str]:
    """How the most names are quoted."""
    signs = Counter(token[0] for _, sql in statements for token in TOKEN.findall(sql) if QUOTED.fullmatch(token))
    return [{'"': '"x"', "`": "`x`", "[": "[x]"}[sign] for sign, _ in signs.most_common(1)]


def clauses_of(tokens: Tokens) -> list[Tokens]:
    """The tokens in short runs, so that long statements are compared fast: first by runs, then by token."""
    runs: list[Tokens] = []
    start = 0
    for position, token in enumerate(tokens):
        if position > start and CLAUSES.fullmatch(token):
            runs.append(tokens[start:position])
            start = position
        if token == ",":
            runs.append(tokens[start : position + 1])
            start = position + 1
    return [*runs, tokens[start:]]


def changes(old: Sequence[object], new: Sequence[object]) -> list[tuple[int, int, int, int]]:
    found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(i, j, k, m) for kind, i, j, k, m in found if kind != "equal"]


@cache
def changed_tokens(old: Tokens, new: Tokens) -> list[tuple[int, int, int, int]]:
    return changes(old, new)


def hunks(old: Tokens, new: Tokens) -> Iterator[tuple[int, int, int, int]]:
    """Where the tokens differ; differences with hardly anything between them are one."""
    before, after = clauses_of(old), clauses_of(new)
    old_starts, new_starts = [0], [0]
    for starts, runs in ((old_starts, before), (new_starts, after)):
        for run in runs:
            starts.append(starts[-1] + len(run))
    last: tuple[int, int, int, int] | None = None
    for i, j, k, m in changes(before, after):
        of_old, of_new = old[old_starts[i] : old_starts[j]], new[new_starts[k] : new_starts[m]]
        for a, b, c, d in changed_tokens(of_old, of_new):
            this = (a + old_starts[i], b + old_starts[i], c + new_starts[k], d + new_starts[k])
            if last and sum(not token.isspace() for token in old[last[1] : this[0]]) < 2:
                last = (last[0], this[1], last[2], this[3])
                continue
            if last:
                yield last
            last = this
    if last:
        yield last


def shown(text: Sequence[str]) -> str:
    return "".join(text).replace("\n", "⏎")


def kind_of(old: Sequence[str], new: Sequence[str]) -> str:
    """What differences have in common that are shown once: all but the names in them, and the numbers."""
    return LITERAL_NAME.sub("x", "".join(("x" if NAME.fullmatch(token) else token) for token in (*old, "→", *new)))


def lines(old: Tokens, new: Tokens, seen: set[str]) -> Iterator[str]:
    """Each difference that was not seen with what stands around it; near ones share a line."""
    written: list[str] = []
    done = 0  # of the new tokens
    for a, b, c, d in hunks(old, new):
        if (kind := kind_of(old[a:b], new[c:d])) in seen:
            continue
        seen.add(kind)
        before = around(new, range(c - 1, done - 1, -1))
        if written:
            after = around(new, range(done, c))
            if done + len(after) + len(before) >= c:
                written.append(shown(new[done:c]))
            else:
                yield "".join([*written, shown(after), "…"])
                written = []
        if not written:
            written = ["…" if c > len(before) else "", shown(before[::-1])]
        written.append(f"«{shown(old[a:b])}→{shown(new[c:d])}»")
        done = d
    if written:
        after = around(new, range(done, len(new)))
        yield "".join([*written, shown(after), "…" if done + len(after) < len(new) else ""])


def around(tokens: Tokens, positions: Iterable[int]) -> list[str]:
    found: list[str] = []
    number = 0
    for position in positions:
        found.append(tokens[position])
        number += not tokens[position].isspace()
        if number == AROUND:
            break
    return found


@cache
def names_in(tokens: Tokens) -> Counter[str]:
    """The names, texts and numbers of a statement, by which it is known in any dialect."""
    return Counter(token.strip('"') for token in tokens if re.match(r"[a-z\"'0-9]", token))


def likeness(one: Tokens, other: Tokens) -> float:
    ours, theirs = names_in(one), names_in(other)
    return (ours & theirs).total() / max(1, (ours | theirs).total())


def pieces(template: str, sql: str) -> list[tuple[str, Tokens]]:
    """A statement, and before it each query that it names, which is a table of its own in other dialects."""
    sql = "".join(tokens_of(sql))
    *queries, last = NEXT_TABLE.split(sql.removeprefix("WITH "))
    query, _, rest = last.partition(")\nSELECT")
    if not (WITH_TABLES.match(sql) and rest):
        return [(template, tokens_of(sql))]
    found = [query_of.partition(" AS (") for query_of in [*queries, query]]
    return [*((name, tokens_of(text)) for name, _, text in found), (template, tokens_of("SELECT" + rest))]


class Known:
    """What a statement can be compared with: those of DuckDB, and the dialect's own that were compared before."""

    def __init__(self, duckdb: Sequence[Block]) -> None:
        self.duckdb: dict[str, dict[Tokens, None]] = {}
        self.own: dict[str, dict[Tokens, None]] = {}
        self.statements: dict[str, list[Block]] = {}
        for template, sql in duckdb:
            self.statements.setdefault(template, []).append((template, sql))
            created = CREATED.match(sql)
            found = pieces(template, sql)
            if created:
                found.append((created.group(1), tokens_of(sql[created.end() :])))
            for name, tokens in found:
                self.duckdb.setdefault(name, {})[tokens] = None

    def nearest(self, name: str, tokens: Tokens) -> tuple[Tokens, bool] | None:
        """The statement that is most like one, and whether it is DuckDB's."""
        best: tuple[float, Tokens, bool] | None = None
        for known, is_duckdb in ((self.duckdb, True), (self.own, False)):
            for other in known.get(name, ()):
                like = likeness(tokens, other)
                if best is None or like > best[0]:
                    best = (like, other, is_duckdb)
        self.own.setdefault(name, {})[tokens] = None
        return best[1:] if best and best[0] >= LIKE else None


def other_words(pairs: Sequence[tuple[Tokens, Tokens]]) -> dict[str, str]:
    """Words of DuckDB's that nearly always are one other."""
    all_of = Counter(word for old, _ in pairs for word in old)
    replaced: dict[str, Counter[str]] = {}
    for before, after in ((clauses_of(old), clauses_of(new)) for old, new in pairs):
        for i, j, k, m in changes(before, after):
            old, new = sum(before[i:j], ()), sum(after[k:m], ())
            for a, b, c, d in changed_tokens(old, new):
                for word, other in zip(old[a:b], new[c:d], strict=False):
                    if other == f'"{word}"' or (b - a == d - c == 1 and re.match(r"\w", word)):
                        replaced.setdefault(word, Counter())[other] += 1
    found = {}
    for word, others in replaced.items():
        other, times = min(others.items(), key=lambda item: (-item[1], item[0]))
        if times > 2 and times > (0.5 if other == f'"{word}"' else 0.9) * all_of[word]:
            found[word] = other
    return found


def differences_file(duckdb: Sequence[Block], statements: Sequence[Block], called: Iterable[str]) -> str:
    """The file of a dialect."""
    known = Known(duckdb)
    compared: list[tuple[str, Tokens, Tokens | None, bool]] = []
    done: set[tuple[str, Tokens]] = set()
    digests: dict[str, list[str]] = {}
    numbers = Counter(template for template, _ in duckdb)
    numbers.subtract(template for template, _ in statements)
    for template, sql in statements:
        of_template = digests.setdefault(template, [])
        same_place = [] if numbers[template] else pieces(*known.statements[template][len(of_template)])
        of_template.append(digest(sql))
        found = pieces(template, sql)
        for position, (name, new) in enumerate(found):
            if (name, new) not in done:
                done.add((name, new))
                if len(found) == len(same_place):
                    old, is_duckdb = same_place[position][1], True
                else:
                    old, is_duckdb = known.nearest(name, new) or (None, False)
                compared.append((template, new, old, is_duckdb))
    words = other_words([(old, new) for _, new, old, is_duckdb in compared if old and is_duckdb])
    differences: dict[str, list[str]] = {}
    seen: set[str] = set()
    for template, new, old, is_duckdb in compared:
        if old is None:
            found = [f"+ {shown(new)}"]
        else:
            found = list(lines(tuple(words.get(token, token) for token in old) if is_duckdb else old, new, seen))
        differences.setdefault(template, []).extend(found)
    in_quotes = sorted(word for word, other in words.items() if other == f'"{word}"')
    head = {
        "called": sorted(called),
        "order": [digest("\n".join(template for template, _ in statements))],
        "names": quotes_of(statements),
        "in quotes": in_quotes,
        "words": [f"{word} → {other}" for word, other in sorted(words.items()) if word not in in_quotes],
        "fewer": [f"{template} {number}" for template, number in sorted(numbers.items()) if number > 0],
        "more": [f"{template} {-number}" for template, number in sorted(numbers.items()) if number < 0],
    }
    written = [line for title, found in head.items() if found for line in wrapped(f"# {title}: ", ", ".join(found))]
    for template, of_template in digests.items():
        written += wrapped(f"-- {template} ", " ".join(of_template))
        written += differences.get(template, [])
    return "\n".join(written) + "\n"


def explained(kept: str, found: str) -> str:
    """What differs between two files of a dialect: which statements, and the lines without their digests."""
    (before, lines_before), (after, lines_after) = (by_template(file) for file in (kept, found))
    changed = []
    for template in dict.fromkeys([*before, *after]):
        old, new = before.get(template, []), after.get(template, [])
        if old != new:
            changed.append(f"{template} ({len([*(Counter(new) - Counter(old)).elements()])} of {len(new)})")
    compared = [
        line
        for line in unified_diff(lines_before, lines_after, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    shown_lines = [f"{line[0]} {line[1:]}" for line in compared[:MOST_SHOWN]]
    if len(compared) > MOST_SHOWN:
        shown_lines.append(
            f"and {len(compared) - MOST_SHOWN} more lines: git diff shows them when the file is made anew"
        )
    return "\n".join([*([f"statements that changed: {', '.join(changed)}"] if changed else []), *shown_lines])


def by_template(file: str) -> tuple[dict[str, list[str]], list[str]]:
    """The digests of each template, and all other lines of a file."""
    digests: dict[str, list[str]] = {}
    others = []
    template = None
    for line in file.splitlines():
        if line.startswith("-- "):
            template, *found = line.removeprefix("-- ").split()
            digests[template] = found
        elif template and line.startswith("   "):
            digests[template] += line.split()
        else:
            others.append(line)
    return digests, others


def wrapped(title: str, text: str) -> list[str]:
    return textwrap.wrap(title + text, 120, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
