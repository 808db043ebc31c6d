"""What verbs share where the recoding is not full-domain: source -> frequency sets -> partitions -> classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kanon_sql.engines import Engine, Reporter
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, refuse_together
from kanon_sql.frequency import KeptSets, Prepared, prepared
from kanon_sql.models import models_of
from kanon_sql.recode.cells import recoded_in_cells
from kanon_sql.recode.local import recoded_locally
from kanon_sql.recode.microaggregation import recoded_by_aggregates
from kanon_sql.recode.mondrian import recoded_by_medians
from kanon_sql.recode.recoded import Recoded
from kanon_sql.spec import Spec

__all__ = ["recoded"]

METHODS: Mapping[str, Callable[[Prepared, Spec, Budget], NothingToSearch | NothingFound | Chosen | Recoded]] = {
    "local": recoded_locally,
    "cells": recoded_in_cells,
    "mondrian": recoded_by_medians,
    "microaggregation": recoded_by_aggregates,
}
"""By the name that a spec calls it by; each is one file."""


@contextmanager
def recoded(
    engine: Engine,
    spec: Spec,
    report: Reporter | None,
    budget: Budget | None = None,
    *,
    kept: KeptSets | None = None,
) -> Iterator[NothingToSearch | NothingFound | Chosen | Recoded]:
    """Build the frequency sets, recode them, and keep the workspace open for what follows.

    Args:
        engine: where the source is.
        spec: what to anonymize and how; ``recoding`` is not full-domain.
        report: called with each stage in plain words.
        budget: when to end the rounds early; what is not divided by then is released as it stands.
        kept: frequency sets of the run before, to be used if they are the same, and left for the next one.

    Yields:
        A recoding; or what the search of the lattice found, where the classes at the highest levels do not satisfy and
        no recoding that begins with the full-domain optimum suppresses as few rows as that does.

    Raises:
        UnsupportedError: the spec asks for what the recoding cannot promise.
        KanonError: whatever the stages raise.
    """
    models = models_of(spec)
    refuse_together(engine, spec, models)
    method = f"recoding: {spec.recoding.method}"
    if not engine.capabilities.derives_often:
        raise UnsupportedError(
            f"{method} makes each round's tables out of those of the round before, which {engine.dialect.name} plans "
            "for longer with every round, minutes after a few; recode in another engine, or use recoding: full_domain"
        )
    if engine.scratch.mode == "inline":
        raise UnsupportedError(
            f"{method} keeps its partitions in scratch tables, and the scratch mode 'inline' has none; allow scratch "
            "tables (temp or schema), or use recoding: full_domain"
        )
    asked = _at_minimum(spec) if spec.recoding.levels == "minimum" else spec
    with prepared(engine, asked, models, report) if kept is None else kept.prepared(asked, models, report) as given:
        yield METHODS[spec.recoding.method](given, spec, budget or Budget())


def _at_minimum(spec: Spec) -> Spec:
    """The spec with nothing but the minimum level of every column to choose from."""
    columns = {
        name: column.model_copy(update={"maximum_level": column.minimum_level})
        for name, column in spec.quasi_identifiers.items()
    }
    return spec.model_copy(update={"quasi_identifiers": columns})
