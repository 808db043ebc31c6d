"""Undo and redo: the specs that the controls of a page had, and what was changed from one to the next, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from kanon_sql.explore.controls import limit_words, privacy_controls, recoding_label
from kanon_sql.explore.roles import SHORT, roles_in
from kanon_sql.spec import Spec

__all__ = ["History", "changes_between"]

MOST_STEPS = 200
"""This many steps can be taken back; the oldest goes."""

ONE_STEP_SECONDS = 2.0
"""Changes of the same controls within this time are one step: a number that is typed, or an arrow key held down."""


@dataclass(frozen=True)
class _Step:
    """From one spec to the next.

    Attributes:
        before, after: the specs.
        changes: control -> what became of it, in words.
        title: what the step was, where it has a name of its own; empty for that of its changes.
        at: when, by the clock of :func:`time.monotonic`.
    """

    before: Spec
    after: Spec
    changes: Mapping[str, str]
    title: str
    at: float

    @property
    def words(self) -> str:
        changes = [f"{control}: {change}" for control, change in self.changes.items()]
        return "; ".join([*([self.title] if self.title else []), *changes]) or "the spec"


@dataclass
class History:
    """The steps of a page, and how many of them are taken back."""

    steps: list[_Step] = field(default_factory=list)
    taken_back: int = 0

    @property
    def to_undo(self) -> str:
        """What would be taken back, in words; empty for nothing."""
        done = len(self.steps) - self.taken_back
        return self.steps[done - 1].words if done else ""

    @property
    def to_redo(self) -> str:
        """What would be done again, in words; empty for nothing."""
        return self.steps[-self.taken_back].words if self.taken_back else ""

    def record(self, before: Spec, after: Spec, title: str = "") -> None:
        """Add a step, or go on with the last one; what was taken back cannot be done again after it."""
        del self.steps[len(self.steps) - self.taken_back :]
        self.taken_back = 0
        now, changes = monotonic(), changes_between(before, after)
        if self.steps and not title:
            last = self.steps[-1]
            same = not last.title and last.changes.keys() == changes.keys() and now - last.at < ONE_STEP_SECONDS
            if same and last.after == before:
                self.steps.pop()
                before, changes = last.before, changes_between(last.before, after)
        if changes:
            self.steps.append(_Step(before, after, changes, title, now))
        del self.steps[:-MOST_STEPS]

    def undo(self) -> tuple[Spec, str] | None:
        """Take a step back: the spec before it, and what it was; None where there is none."""
        done = len(self.steps) - self.taken_back
        if not done:
            return None
        self.taken_back += 1
        return self.steps[done - 1].before, self.steps[done - 1].words

    def redo(self) -> tuple[Spec, str] | None:
        """Do a step again that was taken back: the spec after it, and what it was; None where there is none."""
        if not self.taken_back:
            return None
        step = self.steps[-self.taken_back]
        self.taken_back -= 1
        return step.after, step.words


def changes_between(before: Spec, after: Spec) -> dict[str, str]:
    """What differs: control -> what became of it, in words. It holds names and numbers, and no label of a hierarchy."""
    old, new = _controls(before), _controls(after)
    for one, other in ((old, new), (new, old)):
        one |= {control: _LEFT_OUT for control in other if control.startswith(_ROLE) and control not in one}
    found = {}
    for control in dict.fromkeys([*old, *new]):
        if control not in new:
            found[control] = "removed"
        elif control not in old:
            found[control] = f"added ({new[control][1]})" if new[control][1] else "added"
        elif old[control][0] != new[control][0]:
            (_, was), (_, now) = old[control], new[control]
            found[control] = f"{was} → {now}" if was != now else "changed"
    roles = {control.removeprefix(_ROLE) for control in found if control.startswith(_ROLE)}
    return {  # a column that becomes a quasi-identifier gets a weight and a hierarchy with it
        control: change
        for control, change in found.items()
        if not (control.startswith(_OF_COLUMN) and control.partition(" of ")[2] in roles)
    }


_ROLE = "role of "
_LEFT_OUT = ("left_out", SHORT["left_out"])
_OF_COLUMN = ("weight of ", "lowest level of ", "highest level of ", "hierarchy of ")


def _controls(spec: Spec) -> dict[str, tuple[Any, str]]:
    """Control -> its value, and that in words."""
    data = spec.to_dict()
    found: dict[str, tuple[Any, str]] = {}
    found |= {f"{_ROLE}{name}": (role, SHORT[role]) for name, role in roles_in(spec).items()}
    for index, title, numbers in privacy_controls(spec):
        name = title if title not in found else f"{title} ({index + 1})"
        ((_, options),) = data["privacy"][index].items()
        values = ", ".join(f"{item.label} = {item.value:g}" for item in numbers)
        found[name] = (options, values)
    found["suppression limit"] = (data["suppression"], limit_words(spec))
    found["recoding"] = (data["recoding"], recoding_label(spec))
    found["search"] = (data["search"], f"{spec.search.algorithm}, {spec.search.metric}")
    for name, item in data["quasi_identifiers"].items():
        limits = {key: item.pop(key, None) for key in ("weight", "minimum_level", "maximum_level")}
        found[f"weight of {name}"] = (limits["weight"], f"{limits['weight']:g}")
        found[f"lowest level of {name}"] = (limits["minimum_level"], str(limits["minimum_level"]))
        highest = limits["maximum_level"]
        found[f"highest level of {name}"] = (highest, "the top" if highest is None else str(highest))
        found[f"hierarchy of {name}"] = (item, "")
    return found | {f"the key {key}": (value, "") for key, value in data.items() if key not in _SHOWN}


_SHOWN = {
    "privacy", "suppression", "recoding", "search", "quasi_identifiers", "identifiers", "sensitive", "keep", "unit",
}  # fmt: skip
"""The keys of a spec that have controls of their own."""
