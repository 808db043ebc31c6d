"""What a preset is: the requirements that a rule asks for, words about them, and what it makes of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanon_sql.verbs.init.suggest import Suggestion

__all__ = ["Preset", "PresetKnowledge"]


@dataclass(frozen=True)
class PresetKnowledge:
    """What a preset knows besides the columns.

    Attributes:
        areas: the first three digits of the postal codes of areas that are large enough; None where no table of
            populations was given.
    """

    areas: Sequence[str] | None


def _as_they_are(found: Sequence[Suggestion], known: PresetKnowledge) -> list[Suggestion]:
    return list(found)


@dataclass(frozen=True)
class Preset:
    """A preset.

    Attributes:
        name: as on the command line.
        k: of k-anonymity.
        k_is_a_rule: whether a smaller one would not follow it.
        head: lines on top of the spec: what is followed, where it stands, and what it is not.
        on_k: lines above k-anonymity.
        on_sensitive: lines above the requirements for sensitive attributes.
        after: lines below the requirements.
        takes_population: whether a table of populations of postal areas changes anything.
        adapt: what becomes of the columns.
    """

    name: str
    k: int
    head: Sequence[str]
    k_is_a_rule: bool = False
    on_k: Sequence[str] = ()
    on_sensitive: Sequence[str] = ()
    after: Sequence[str] = ()
    takes_population: bool = False
    adapt: Callable[[Sequence[Suggestion], PresetKnowledge], list[Suggestion]] = _as_they_are
