"""The options of an audit, and which of them fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from kanon_sql.disclosure.attacks import ATTACKS, Option, methods
from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec import QuasiIdentifier, Spec

__all__ = ["AuditOptions", "parsed_hierarchies"]

PROGRAMS = ("arx",)
"""Other programs whose rules attacks know."""

MOST_EARLIER = 60
"""Which of the releases a person is in is told by a bit each, in a number of 64."""


def parsed_hierarchies(spec: Spec, hierarchies: Mapping[str, Any]) -> dict[str, QuasiIdentifier]:
    """Hierarchies of sensitive attributes, as a spec writes those of quasi-identifiers.

    Raises:
        SpecError: one is not a hierarchy, or not of a sensitive attribute.
    """
    parsed = {}
    for name, written in hierarchies.items():
        if name not in spec.sensitive:
            raise SpecError(
                f"hierarchies: {name!r} is not listed under sensitive; expected one of {', '.join(spec.sensitive)}"
            )
        try:
            parsed[name] = QuasiIdentifier.model_validate(written)
        except ValidationError as error:
            problems = [Problem(f"hierarchies.{name}: {item['msg']}") for item in error.errors(include_input=False)]
            raise SpecError(problems) from None
        if parsed[name].point is not None:
            raise SpecError(f"hierarchies.{name}: a point needs two columns; use another kind of hierarchy")
    return parsed


@dataclass(frozen=True)
class AuditOptions:
    """What :func:`kanon_sql.audit` was given besides the spec and the table; see there."""

    external: str | None
    on: tuple[str, ...]
    earlier: tuple[str, ...]
    other_views: tuple[str, ...]
    negations: int
    hierarchies: Mapping[str, QuasiIdentifier]
    attacks: Sequence[str] | None
    reveal: int
    made_by: str | None

    @property
    def _given(self) -> list[Option]:
        """The options that are given of those that only some attacks use."""
        given = {
            Option.EXTERNAL: self.external is not None,
            Option.EARLIER: bool(self.earlier),
            Option.VIEWS: bool(self.other_views),
            Option.NEGATIONS: self.negations != 1,
            Option.HIERARCHIES: bool(self.hierarchies),
            Option.MADE_BY: self.made_by is not None,
        }
        return [option for option, is_given in given.items() if is_given]

    def check(self, spec: Spec, count_rows: bool) -> None:
        """Refuse options that do not fit together."""
        problems = []
        for name in self.attacks or ():
            if name not in ATTACKS:
                close = get_close_matches(name, ATTACKS, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(ATTACKS)}"
                problems.append(f"attack: there is no {name!r}; {hint}")
        if self.attacks is not None:
            for option in self._given:
                users = [method.name for method in methods() if option in method.options]
                if not set(users) & set(self.attacks):
                    problems.append(
                        f"{option}: only the attack {' or '.join(users)} uses it; add --attack, or leave it out"
                    )
        if self.on and self.external is None:
            problems.append("on: needs an external table; name it with --external")
        if len(self.earlier) > MOST_EARLIER:
            problems.append(f"earlier: {len(self.earlier)} releases; give at most {MOST_EARLIER}")
        if self.negations < 1:
            problems.append("negations: expected a whole number of at least 1")
        if self.made_by not in (None, *PROGRAMS):
            problems.append(f"made_by: expected {' or '.join(PROGRAMS)}; leave it out for releases of this program")
        if self.reveal < 0:
            problems.append("reveal: expected a whole number of at least 0")
        if spec.unit is not None and not count_rows:
            problems.append(
                f"unit: a release has no column {spec.unit!r}, so an audit can only count rows, of which a person may "
                "have several; allow that with --rows: every number of matching rows is then an upper bound"
            )
        if spec.unit is None and count_rows:
            problems.append("--rows: the spec has no unit, so rows are counted in any case; leave it out")
        if problems:
            raise SpecError([Problem(problem) for problem in problems])
