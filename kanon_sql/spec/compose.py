"""YAML text as a graph of nodes, and how long and deep it may be: the parser is slow, and calls itself per level."""

from __future__ import annotations

import warnings
from typing import Any

from kanon_sql.errors import Problem, SpecError

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "MAX_NODES", "compose"]

MAX_DEPTH = 60
"""Deeper nesting is refused: it is a mistake, or an attack on the stack."""

MAX_LENGTH = 1_000_000
"""Characters; a longer text is refused unread."""

MAX_NODES = 50_000
"""Keys and values that are written out, which take some seconds to read."""

_MAX_MARKS = 4 * MAX_NODES
"""More commas, colons and line ends are refused unread. Text and comments have some too, so this is generous."""


def compose(text: str, name: str) -> Any:
    """The node graph of one YAML document; None when there is none.

    Args:
        text: the document.
        name: what to call it in messages.

    Raises:
        SpecError: it is not valid YAML, too long, or nested too deeply.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    _refuse_large(text, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an anchor that is used twice is legal
            yaml = YAML(typ="rt", pure=True)
            yaml.Parser, yaml.Scanner = _limited_parser(name), _limited_scanner(name)
            return yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        message = ", ".join(part for part in (error.context, error.problem) if part)
        raise SpecError([Problem(f"not valid YAML: {_one_line(message)}", name, *place)]) from None
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise SpecError(
            [
                Problem(
                    "not valid YAML: a control character; write it as an escape sequence in double quotes",
                    name,
                    line,
                    column,
                )
            ]
        ) from None
    except RecursionError:
        raise SpecError(
            [Problem("the spec is nested too deeply; see kanon-sql pipeline schema for its form", name)]
        ) from None
    except (YAMLError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
        # The parser fails in its own ways on some malformed directives and escapes.
        raise SpecError([Problem("not valid YAML; expected a mapping such as version: 1", name)]) from None


def _refuse_large(text: str, name: str) -> None:
    """Refuse a text that would take long to read."""
    if len(text) > MAX_LENGTH:
        why = f"the spec is longer than {MAX_LENGTH:,} characters"
    elif sum(map(text.count, ",:\n")) > _MAX_MARKS:
        why = f"the spec has more than {MAX_NODES:,} keys and values"
    else:
        return
    raise SpecError([Problem(f"{why}; put a long hierarchy into a file", name)])


def _limited_parser(name: str) -> type[Any]:
    """ruamel.yaml's parser, which stops at what is too deep or too much."""
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
    from ruamel.yaml.parser import RoundTripParser

    class LimitedParser(RoundTripParser):
        depth = nodes = 0

        def get_event(self) -> Any:
            event = super().get_event()
            if isinstance(event, NodeEvent):
                self.nodes += 1
            if isinstance(event, CollectionStartEvent):
                self.depth += 1
            elif isinstance(event, CollectionEndEvent):
                self.depth -= 1
            if self.depth > MAX_DEPTH:
                raise _too_deep(name, event.start_mark)
            if self.nodes > MAX_NODES:
                mark = event.start_mark
                what = f"more than {MAX_NODES:,} keys and values; put a long hierarchy into a file"
                raise SpecError([Problem(what, name, mark.line + 1, mark.column + 1)])
            return event

    return LimitedParser


def _limited_scanner(name: str) -> type[Any]:
    """ruamel.yaml's scanner, which reads some thousand brackets ahead, and looks at all of them at each."""
    from ruamel.yaml.scanner import RoundTripScanner

    class LimitedScanner(RoundTripScanner):
        def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:
            if self.flow_level >= MAX_DEPTH:
                raise _too_deep(name, self.reader.get_mark())
            super().fetch_flow_collection_start(TokenClass, to_push)

    return LimitedScanner


def _too_deep(name: str, mark: Any) -> SpecError:
    what = f"nested more than {MAX_DEPTH} levels deep; see kanon-sql pipeline schema for the form of a spec"
    return SpecError([Problem(what, name, mark.line + 1, mark.column + 1)])


def _one_line(message: str) -> str:
    """A parser's message without line breaks."""
    return " ".join(message.split())
