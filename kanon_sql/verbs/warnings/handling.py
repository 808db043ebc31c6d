"""Which warnings a spec heeds, which fail a run, and what they may advise: nothing that the spec would refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_sql.evaluate import Chosen
from kanon_sql.recode import RecodingResult
from kanon_sql.spec import Spec, parse_recoding, recoding_faults
from kanon_sql.verbs.result import Warned

if TYPE_CHECKING:
    from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, TableSpec

    Handled = Spec | CloakSpec | PerturbSpec | RelationalSpec | TableSpec

__all__ = ["failed_by", "heeded", "or_local"]


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


def or_local(found: Chosen | RecodingResult) -> str:
    """The advice to try a local recoding, as the end of a sentence; empty where the spec does not allow one.

    Args:
        found: what was chosen.
    """
    spec = found.spec
    local = spec.model_copy(update={"recoding": parse_recoding("local")})
    refused = not spec.recoding.is_full_domain or any(model.is_estimate for model in found.models)
    return "" if refused or list(recoding_faults(local)) else ", or try recoding: local"
