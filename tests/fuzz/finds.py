"""What counts as a find: an exception that is not the package's own, or a message that holds a value."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kanon_sql.errors import KanonError

IN_DATA = "d4ta-7731"
"""Stands in the tables' cells alone; no message may hold it."""

IN_INPUT = "c4nary-7731"
"""Stands in values that a spec, a file or a query holds; no message may hold it, but as somebody's name."""


class Find(Exception):
    """Something that must not happen.

    Attributes:
        key: the kind of error and the place that raised it; equal finds have equal keys.
        report: the traceback, or the message that holds a value.
    """

    def __init__(self, key: str, report: str) -> None:
        super().__init__(key)
        self.key = key
        self.report = report


def of_exception(error: BaseException) -> Find:
    """An exception as a find, known by its type and by the line of the package's that it passed last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "kanon_sql" in Path(frame.filename).parts] or frames
    place = ours[-1]
    report = "".join(traceback.format_exception(error))
    return Find(f"{type(error).__name__} at {Path(place.filename).name}:{place.name}", report)


class _Notes(logging.Handler):
    """Remembers what a library logs: it would stand on the user's terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@contextmanager
def judged(*, named: bool = True) -> Iterator[None]:
    """Let the package's own errors pass, if their messages hold no value; everything else is a find.

    Args:
        named: the input has the canary as a name too, which messages may say.
    """
    notes = _Notes()
    logger = logging.getLogger("sqlglot")
    logger.addHandler(notes)
    said = ""
    try:
        yield
    except KanonError as error:
        said = str(error)
        said.encode("utf-8")
    except Find:
        raise
    except Exception as error:
        raise of_exception(error) from error
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        raise of_exception(error) from error
    finally:
        logger.removeHandler(notes)
    for text in (said, *notes.said):
        if IN_DATA in text or (IN_INPUT in text and not named):
            raise Find(f"value in a message: {text.replace(IN_INPUT, '?').replace(IN_DATA, '?')[:60]}", text)
