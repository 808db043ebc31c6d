"""Pages of ``explore`` in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.command_line import SPEC

TEXT = SPEC.replace("incognito", "optimal")


WAIT = 60_000
"""Milliseconds until something is missed, on a machine that does much else."""


@contextmanager
def page_of(chromium: Any, address: str, width: int = 1440, **options: Any) -> Iterator[Any]:
    """A page, whose script must not fail and whose policy nothing may break."""
    context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
    page, wrong = context.new_page(), []
    page.set_default_timeout(WAIT)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if "Failed to load" not in message.text else None)
    page.goto(address)
    yield page
    assert wrong == []
    context.close()


def answered(page: Any, words: str) -> None:
    """Wait until an answer has some words, and all the rest is there, too."""
    page.wait_for_function(
        "(words) => document.querySelector('#answer')?.innerText.includes(words)"
        " && !document.querySelector('[aria-busy]')",
        arg=words,
    )


def refuse_violations(page: Any) -> None:
    """No rule of axe-core is broken, the best practices among them."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in found] == []


def overflow(page: Any) -> int:
    return int(page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))
