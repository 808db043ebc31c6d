"""Which warnings a spec heeds, and which fail a run."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.spec import Spec
from kanon_sql.verbs.result import Warned

__all__ = ["failed_by", "heeded"]


def heeded(spec: Spec, found: Sequence[Warned]) -> list[Warned]:
    """The warnings that a spec does not allow."""
    return [item for item in found if spec.warnings.of(item.code) != "allow"]


def failed_by(spec: Spec, found: Sequence[Warned], *, on_any: bool) -> str | None:
    """Why warnings fail a run, in a clause; None if they do not.

    Args:
        spec: what becomes of each.
        found: those of the run.
        on_any: every one of them fails it.
    """
    fatal = [item.code for item in found if on_any or spec.warnings.of(item.code) == "error"]
    if not fatal:
        return None
    asked = "with --fail-on-warning" if on_any else "as the spec says"
    return f"{', '.join(dict.fromkeys(fatal))} is an error {asked}"
