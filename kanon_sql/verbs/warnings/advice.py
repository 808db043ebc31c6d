"""What a warning may advise: nothing that the rest of the spec would refuse."""

from __future__ import annotations

from kanon_sql.evaluate import Chosen
from kanon_sql.recode import RecodingResult
from kanon_sql.spec import parse_recoding, recoding_faults

__all__ = ["or_local"]


def or_local(found: Chosen | RecodingResult) -> str:
    """The advice to try a local recoding, as the end of a sentence; empty where the spec does not allow one.

    Args:
        found: what was chosen.
    """
    spec = found.spec
    local = spec.model_copy(update={"recoding": parse_recoding("local")})
    refused = not spec.recoding.is_full_domain or any(model.is_estimate for model in found.models)
    return "" if refused or list(recoding_faults(local)) else ", or try recoding: local"
