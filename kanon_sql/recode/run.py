"""What verbs share where the recoding is not full-domain: source -> frequency sets -> partitions -> classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kanon_sql.engines import Engine
from kanon_sql.errors import Obstacle, refuse
from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, search_obstacles
from kanon_sql.frequency import SetCache, prepared
from kanon_sql.models import models_of
from kanon_sql.recode.judge import partition_obstacles
from kanon_sql.recode.recoding_result import RecodingResult
from kanon_sql.spec import Spec

if TYPE_CHECKING:
    from kanon_sql.recode.kept_recoding import KeptRecoding

__all__ = ["applied", "recoded", "recoding_obstacles"]


@contextmanager
def recoded(
    engine: Engine,
    spec: Spec,
    budget: Budget | None = None,
    *,
    kept: SetCache | None = None,
) -> Iterator[NothingToSearch | NothingFound | Chosen | RecodingResult]:
    """Build the frequency sets, recode them, and keep the workspace open for what follows.

    Args:
        engine: where the source is.
        spec: what to anonymize and how; ``recoding`` is not full-domain.
        budget: when to end the rounds early; what is not divided by then is released as it is.
        kept: frequency sets of the run before, to be used if they are the same, and left for the next one.

    Yields:
        A recoding; or what the search of the lattice found, where the classes at the highest levels do not satisfy and
        no recoding that begins with the full-domain optimum suppresses as few rows as that does.

    Raises:
        UnsupportedError: the spec asks for what the recoding cannot promise.
        KanonError: whatever the stages raise.
    """
    declared = spec.recoding.declared
    assert declared.run is not None
    refuse(recoding_obstacles(engine, spec))
    models = declared.models(models_of(spec))
    asked = _at_minimum(spec) if spec.recoding.variant == "minimum" else spec
    with prepared(engine, asked, models) if kept is None else kept.prepared(asked, models) as given:
        yield declared.run(given, spec, budget or Budget())


@contextmanager
def applied(
    engine: Engine, spec: Spec, kept: KeptRecoding
) -> Iterator[NothingToSearch | NothingFound | Chosen | RecodingResult]:
    """Put rows into the classes of a recoding that was kept, and keep the workspace open for what follows.

    Args:
        engine: where the rows are.
        spec: what to release; the recoding was compared with it.
        kept: the recoding.

    Raises:
        KanonError: whatever the stages raise.
    """
    from kanon_sql.recode.kept_recoding import recoded_as_kept

    models = models_of(spec)
    refuse(
        [
            *search_obstacles(engine, spec, models),
            *partition_obstacles(kept.method, models),
            *_round_obstacles(engine, spec),
        ]
    )
    with prepared(engine, spec, models) as given:
        yield recoded_as_kept(given, spec, kept)


def recoding_obstacles(engine: Engine, spec: Spec) -> Iterator[Obstacle]:
    """What a recoding that is not full-domain cannot promise, and an engine that cannot make the tables of its rounds.

    Args:
        engine: where the source is.
        spec: what was asked.
    """
    models = spec.recoding.declared.models(models_of(spec))
    yield from search_obstacles(engine, spec, models)
    yield from partition_obstacles(spec.recoding.method, models)
    yield from _round_obstacles(engine, spec)


def _round_obstacles(engine: Engine, spec: Spec) -> Iterator[Obstacle]:
    if engine.scratch.mode == "inline":
        yield Obstacle(
            f"recoding: {spec.recoding.method} keeps its partitions in scratch tables, and the scratch mode 'inline' "
            "has none; allow scratch tables (temp or schema), or use recoding: full_domain"
        )


def _at_minimum(spec: Spec) -> Spec:
    """The spec with nothing but the minimum level of every column to choose from."""
    columns = {
        name: column.model_copy(update={"maximum_level": column.minimum_level})
        for name, column in spec.quasi_identifiers.items()
    }
    return spec.model_copy(update={"quasi_identifiers": columns})
