"""What verbs say of a recoding that has no node, or refuse to do with it."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Chosen
from kanon_sql.recode import Recoded
from kanon_sql.spec import Spec

__all__ = ["notes_of_local", "refuse_local", "refuse_nodes_of_local"]


def refuse_local(spec: Spec, verb: str, why: str) -> None:
    """Refuse to do with a local recoding what needs one level per column.

    Args:
        spec: what was asked.
        verb: what cannot be done.
        why: the reason, after a colon.

    Raises:
        UnsupportedError: the spec asks for local recoding.
    """
    if spec.recoding.is_local:
        raise UnsupportedError(f"{verb}: {why}; use recoding: full_domain")


def refuse_nodes_of_local(spec: Spec, option: str) -> None:
    """Refuse to tell of the nodes of a lattice where none is searched.

    Raises:
        UnsupportedError: the spec asks for local recoding.
    """
    refuse_local(spec, option, "the levels of a local recoding differ by class, so that no node of a lattice is chosen")


def notes_of_local(found: Chosen | Recoded) -> Sequence[str]:
    """What the user should know of a local recoding, or of the node that was taken instead."""
    if isinstance(found, Recoded):
        return () if found.stopped is None else [f"the recoding ended early: {found.stopped}"]
    if not found.spec.recoding.is_local:
        return ()
    worse = "would have to suppress more rows than the full-domain optimum"
    if found.spec.recoding.effort == "best":
        worse += ", or was not sure to lose less"
    return [f"recoding: local begins with classes that satisfy, and {worse}: that is taken instead"]
