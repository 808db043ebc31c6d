"""A run read back: from a result, from the JSON file of one, or from a manifest.

What the report knows is read and checked here; what it does not know (results of models and audits that came
later) is kept as it is, and shown as tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kanon_sql.errors import SpecError
from kanon_sql.verbs.details import Details

__all__ = ["Run", "read_run"]


REVEALED = "revealed"
LEFT_OUT = "what --reveal listed is left out here: a report holds no values, so that it can be passed on"


class Warned(BaseModel):
    """A warning: its code, what was found, and where it is explained."""

    code: str
    message: str
    page: str


class Run(BaseModel):
    """A result as :meth:`kanon_sql.results.Result.to_dict` gives it; other keys are in ``model_extra``.

    Attributes:
        verb: what was asked.
        verdict: ``pass``, ``fail``, or ``perturbed`` for what ``perturb`` published; None for verbs without a verdict.
        message: the verdict in a sentence.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    verb: str
    verdict: str | None = None
    message: str = ""
    release: str | None = None
    node: dict[str, int] | None = None
    level_names: dict[str, list[str]] | None = None
    intervals: dict[str, int] | None = None
    recoding: dict[str, Any] | None = None
    rows: dict[str, int] = {}
    classes: dict[str, float | None] = {}
    class_sizes: list[dict[str, int | None]] = []
    achieved: dict[str, dict[str, Any]] = {}
    metrics: dict[str, float] = {}
    mean_loss: float | None = None
    other_recoding: dict[str, Any] | None = None
    search: dict[str, Any] | None = None
    cost: dict[str, float] = Field(default_factory=dict)
    notes: list[str] = []
    warnings: list[Warned] = []
    details: Details | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the verdict is ``pass``; None without a verdict, and where values are untrue."""
        return None if self.verdict in (None, "perturbed") else self.verdict == "pass"

    @property
    def others(self) -> dict[str, Any]:
        """What this module does not know."""
        return dict(self.model_extra or {})


def read_run(data: Any, where: str) -> Run:
    """Read a result or a manifest.

    Args:
        data: parsed JSON.
        where: what it came from, for messages.

    Raises:
        SpecError: it is neither.
    """
    if isinstance(data, Mapping) and "verb" not in data and "spec_hash" in data and "run_id" in data:
        data = _of_manifest(data)
    data, revealed = _without_revealed(data)
    if not isinstance(data, Mapping) or "verb" not in data:
        raise SpecError(f"{where}: expected the JSON of a result (kanon-sql ... --format json) or of a manifest")
    try:
        run = Run.model_validate({**data, "rows": {"source": rows}} if _is_count(rows := data.get("rows")) else data)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        raise SpecError(
            f"{where}: not a result of kanon-sql, or damaged at {place}; expected what --format json printed, unchanged"
        ) from None
    return run.model_copy(update={"notes": [*run.notes, LEFT_OUT]}) if revealed else run


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _without_revealed(data: Any) -> tuple[Any, bool]:
    """A result without the values that ``--reveal`` listed, and whether there were any."""
    if isinstance(data, Mapping):
        listed = isinstance(data.get(REVEALED), list | tuple)  # a quasi-identifier of this name has no list
        parts = {key: _without_revealed(value) for key, value in data.items() if not (listed and key == REVEALED)}
        found = (listed and bool(data[REVEALED])) or any(found for _, found in parts.values())
        return {key: part for key, (part, _) in parts.items()}, found
    if isinstance(data, list | tuple):
        items = [_without_revealed(item) for item in data]
        return [part for part, _ in items], any(found for _, found in items)
    return data, False


def _of_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest says of a published release what ``anonymize`` said of it, or ``perturb``."""
    if manifest.get("truthful") is False and isinstance(manifest.get("perturbation"), Mapping):
        rest = {key: value for key, value in manifest.items() if key not in ("kanon_sql", "perturbation")}
        return {**rest, **manifest["perturbation"], "verb": "perturb", "verdict": "perturbed"}
    rows = manifest.get("rows")
    counts = ""
    if isinstance(rows, Mapping) and all(isinstance(rows.get(name), int) for name in ("released", "source")):
        counts = f"published {rows['released']:,} of {rows['source']:,} rows"
    known = {"kanon_sql", "spec"} if manifest.get("details") is not None else set()
    kept = {key: value for key, value in manifest.items() if key not in known}
    return {"verb": "anonymize", "verdict": "pass", "message": counts, **kept}
