"""The year of a release, which the expressions of hierarchies may name: ``release_year``.

Which years of birth tell an age over 89 depends on when a release is made. So a spec names the year by a word, which
is read as the current year whenever the spec is loaded, or as the year that the spec gives.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kanon_sql.spec.checks import Fault

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["RELEASE_YEAR", "YEARS", "names_release_year", "release_year_faults", "this_year"]

RELEASE_YEAR = "release_year"
"""The name that stands for the year."""

YEARS = (1900, 2999)
"""The years that a release may be of."""

_NAMED = re.compile(rf"\b{RELEASE_YEAR}\b", re.IGNORECASE)


def this_year() -> int:
    """The current year, by the calendar of this machine."""
    return datetime.date.today().year


def names_release_year(expressions: Iterable[str]) -> bool:
    """Whether one of some SQL expressions names the year of the release."""
    return any(_NAMED.search(expression) for expression in expressions)


def release_year_faults(given: Mapping[str, Any], value: Spec | None) -> Iterator[Fault]:
    """A year that nothing depends on."""
    if value is None or value.release_year is None:
        return
    if not any(item.names_release_year for item in value.quasi_identifiers.values()):
        why = (
            "no sql: hierarchy of the quasi-identifiers uses release_year, so this has no effect; leave it out, or "
            "use it in an expression, such as x <= release_year - 90"
        )
        yield Fault((RELEASE_YEAR,), why, True)
