"""Secrets that a spec names and does not hold: where they are, and what is made of them."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from typing import Annotated

from pydantic import Field

from kanon_sql.errors import SpecError
from kanon_sql.spec.checks import text

__all__ = ["KeyVariable", "derived_key", "new_secret", "secret_in"]

SHORTEST_KEY = 16
"""Characters of a secret; a shorter one is guessed."""

KeyVariable = Annotated[
    str | None,
    text("the name of an environment variable"),
    Field(description="The environment variable that holds the secret; by default each run draws one."),
]
"""A key of a spec that says where a secret is."""


def secret_in(variable: str, where: str) -> str:
    """The secret in an environment variable.

    Args:
        variable: its name.
        where: the key of the spec that names it, for the message.

    Raises:
        SpecError: it holds none, or one that is too short.
    """
    found = os.environ.get(variable, "")
    if len(found) < SHORTEST_KEY:
        raise SpecError(
            f"{where}: the environment variable {variable!r} does not hold a key; set it to a secret of {SHORTEST_KEY} "
            "characters or more, the same for every run"
        )
    return found


def new_secret() -> str:
    """A secret that no one knows, from the operating system."""
    return secrets.token_hex(32)


def derived_key(secret: str, purpose: str) -> str:
    """A key for one purpose: 64 digits of base 16, of which neither the secret nor another key follows (HMAC-SHA256).

    Statements hold these and never the secret.
    """
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()
