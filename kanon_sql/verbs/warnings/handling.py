"""Which warnings a spec heeds, and which fail a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_sql.spec import Spec
from kanon_sql.verbs.result import Warned

if TYPE_CHECKING:
    from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, TableSpec

    Handled = Spec | CloakSpec | PerturbSpec | RelationalSpec | TableSpec

__all__ = ["failed_by", "heeded"]


def heeded(spec: Handled, found: Sequence[Warned]) -> list[Warned]:
    """The warnings that a spec does not allow."""
    return [item for item in found if spec.warnings.of(item.code) != "allow"]


def failed_by(spec: Handled, found: Sequence[Warned], *, on_any: bool) -> str | None:
    """Why warnings fail a run, in a clause; None if they do not.

    Args:
        spec: what becomes of each.
        found: those of the run.
        on_any: every one of them fails it.
    """
    if on_any and found:
        return f"{_codes(found)} is an error with --fail-on-warning"
    fatal = [item for item in found if spec.warnings.of(item.code) == "error"]
    severe = [item for item in found if item.severe and spec.warnings.of(item.code) == "by_share"]
    reasons = [f"{_codes(fatal)} is an error because the spec says so"] if fatal else []
    if severe:
        accepted = f"warnings: {{{severe[0].code}: warn}} accepts the risk"
        reasons.append(f"{_codes(severe)} is an error because so large a share of rows is affected ({accepted})")
    return "; ".join(reasons) or None


def _codes(found: Sequence[Warned]) -> str:
    return ", ".join(dict.fromkeys(item.code for item in found))
