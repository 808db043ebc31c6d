"""Pages of the documentation that answers refer to, from the package itself: nothing is fetched.

The wheel holds a copy of each beside this module; a checkout has the file where it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

__all__ = ["PAGES", "Page", "address", "page", "rendered"]

PAGES = ("warnings",)
"""Those of ``docs/reference/`` that can be read here."""


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        title: its first heading.
        html: all of it.
    """

    title: str
    html: Markup


def address(named: str) -> str | None:
    """Where the page of a name such as ``docs/reference/warnings.md#unnamed_columns`` is; None where it is not here."""
    found = re.fullmatch(r"docs/reference/(\w+)\.md(#[\w-]+)?", named)
    return f"/docs/reference/{found[1]}{found[2] or ''}" if found and found[1] in PAGES else None


@cache
def page(name: str) -> Page | None:
    """A page as HTML: headings can be linked to, and links to pages that are not here are words.

    Args:
        name: such as ``warnings``; None comes out of any that is not in :data:`PAGES`.
    """
    return rendered(_text(name)) if name in PAGES else None


def rendered(text: str) -> Page:
    """Markdown of the documentation's kind as HTML; comments are left out."""
    tokens, title = _READER.parse(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)), ""
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = tokens[place + 1].content
            token.attrSet("id", re.sub(r"[^\w]+", "-", words.lower()).strip("-"))
            title = words if token.tag == "h1" else title
        elif token.type == "inline" and token.children:
            token.children = _within(token.children)
    return Page(title, Markup(_READER.renderer.render(tokens, _READER.options, {})))


def _text(name: str) -> str:
    packaged = Path(__file__).parent / "manual" / f"{name}.md"
    written = Path(__file__).parents[2] / "docs" / "reference" / f"{name}.md"
    return next(path for path in (packaged, written) if path.is_file()).read_text("utf-8")


def _within(children: list[Token]) -> list[Token]:
    """Without links that lead out of the page."""
    kept, leaves = [], False
    for token in children:
        if token.type == "link_open":
            leaves = not str(token.attrGet("href")).startswith("#")
        if not (leaves and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def _fence(_self: object, tokens: list[Token], index: int, *_: object) -> str:
    """Code that is too wide is scrolled, by the keyboard as well."""
    return f'<pre tabindex="0"><code>{Markup.escape(tokens[index].content)}</code></pre>\n'


def _table_open(*_: object) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(*_: object) -> str:
    return "</table></div>\n"


_READER = MarkdownIt("commonmark", {"html": False}).enable("table")
_READER.add_render_rule("fence", _fence)
_READER.add_render_rule("table_open", _table_open)
_READER.add_render_rule("table_close", _table_close)
