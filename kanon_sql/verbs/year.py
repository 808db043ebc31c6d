"""The year of a release, where a spec names it: that of an earlier release is what its own manifest says."""

from __future__ import annotations

from kanon_sql.engines import Engine
from kanon_sql.release import manifest_of
from kanon_sql.spec import Spec

__all__ = ["as_published"]


def as_published(engine: Engine, spec: Spec, parts: tuple[str, ...]) -> Spec:
    """The spec with the year of a release that is there, where it follows the calendar.

    Args:
        engine: with a run open, and no workspace.
        spec: the spec.
        parts: the release. A table without a manifest has no year of its own, and the spec stays as it is.
    """
    if not spec.follows_the_calendar:
        return spec
    manifest = manifest_of(engine, parts)
    return spec if manifest is None else spec.in_year(manifest.get("spec", {}).get("release_year"))
