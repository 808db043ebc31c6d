"""The kinds of spec files: what each is of, and the verb that reads it."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.spec.checks import Check, choice, fail

__all__ = ["KINDS", "in_kind", "only_kind"]

KINDS: Mapping[str, str] = {
    "release": "kanon-sql anonymize",
    "table": "kanon-sql publish table",
    "positions": "kanon-sql publish positions",
    "perturbed": "kanon-sql publish perturbed",
}
"""What a spec is of -> the verb that makes it."""


def in_kind(kind: str) -> str:
    """The message about a key that belongs into a spec of this kind."""
    return f"this key belongs in a spec of kind: {kind}, for {KINDS[kind]}; leave it out, or move it there"


def only_kind(kind: str) -> Check[str]:
    """A check that a spec is of this kind, which names the verb that reads one of another kind."""
    known = choice("kind of spec", tuple(KINDS))

    def check(value: object) -> str:
        given = known(value)
        if given != kind:
            fail(f"expected {kind}, got {given}; run this spec with {KINDS[given]}")
        return given

    return Check(check)
