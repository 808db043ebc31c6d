"""What a search begins with: the source's frequency sets, made for one search or kept for several.

Searches that differ in k or another threshold, in their limit, weights, level limits or strategy ask the same sets.
``compare`` and ``explore`` keep them, so that the source is read once for all of their runs; and for ``explore`` what a
search was told of nodes is remembered for the next one under the same requirements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from types import TracebackType
from typing import Any, Self

from kanon_sql.engines import Column, Engine, Workspace, open_workspace
from kanon_sql.frequency.population import populations_of
from kanon_sql.frequency.sets import FrequencySets, build_frequency_sets, counted_attributes
from kanon_sql.frequency.source import explained_if_missing, source_columns, source_of
from kanon_sql.frequency.value_facts import measured_models
from kanon_sql.hierarchies import UNLIMITED, chosen_for, limited
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec, written_key

__all__ = [
    "Prepared",
    "Remembered",
    "SetCache",
    "prepared",
]


REMEMBERED = 32
"""Under this many lists of requirements answers are remembered; the oldest go first."""


@dataclass(frozen=True)
class Remembered:
    """What searches of the same frequency sets leave for the next one.

    Attributes:
        answers: what was told of nodes under the same requirements.
        sets: what was made of the frequency sets, whatever the requirements were.
    """

    answers: dict[Any, Any]
    sets: dict[str, Any]


class Memory:
    """What was asked of frequency sets that are kept, and told.

    Args:
        keeps: whether there will be another search; without one nothing is remembered.
    """

    def __init__(self, *, keeps: bool) -> None:
        self._keeps = keeps
        self._known: list[tuple[object, dict[Any, Any]]] = []
        self._sets: dict[str, Any] = {}

    def under(self, models: Sequence[PrivacyModel], *, may_suppress: bool) -> Remembered | None:
        """What was left by searches under equal requirements, to be added to; None where nothing is remembered.

        Args:
            models: the requirements, thresholds included.
            may_suppress: whether rows may be suppressed, by which it differs what may be pruned.
        """
        if not self._keeps:
            return None
        key = list(models), may_suppress
        for known, answers in self._known:
            if known == key:
                return Remembered(answers, self._sets)
        del self._known[: max(0, 1 + len(self._known) - REMEMBERED)]
        self._known.append((key, {}))
        return Remembered(self._known[-1][1], self._sets)


@dataclass(frozen=True)
class Prepared:
    """The frequency sets of a spec's source.

    Attributes:
        workspace: still open; the sets are in it.
        columns: the source's columns by name.
        models: the requirements, with what the source says of their attributes.
        sets: the frequency sets.
        max_suppressed: MaxSup, in rows: the most that the spec allows to be suppressed.
        remembered: what they told.
    """

    workspace: Workspace
    columns: Mapping[str, Column]
    models: list[PrivacyModel]
    sets: FrequencySets
    max_suppressed: int
    remembered: Memory = field(default_factory=lambda: Memory(keeps=False))


@contextmanager
def prepared(engine: Engine, spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Prepared]:
    """Build the frequency sets of a spec and its requirements; they vanish at the end of the block."""
    relation = source_of(engine, spec, counts=True)
    with open_workspace(engine, relation, counted=spec.rows_in is None) as workspace:
        with explained_if_missing(engine, spec.source.table):
            columns = source_columns(workspace, spec, relation)
        attributes = counted_attributes(spec, models)
        populations = populations_of(workspace, spec, models, columns)
        sets = build_frequency_sets(workspace, spec, models, columns, attributes, populations)
        yield Prepared(workspace, columns, _measured(models, sets), sets, spec.suppression.most(sets.rows))


class SetCache:
    """Frequency sets that outlive a search, for the next one that asks for the same; a context manager.

    Args:
        engine: where the source is. The runs of all searches must be inside one block of this object.
        remembers: leave what a search was told, and the sets that it rolled up, to the next one. Its answer is the
            same then, and what it took is not.
    """

    def __init__(self, engine: Engine, *, remembers: bool = False) -> None:
        self._engine = engine
        self._remembers = remembers
        self._open = ExitStack()
        self._key: object = None
        self._kept: Prepared | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    @contextmanager
    def prepared(self, spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Prepared]:
        """The frequency sets of a spec: those of the last search where they are the same, else new ones in their place.

        What the search adds to their workspace vanishes at the end of the block.
        """
        key = _key(spec, models)
        if self._kept is None or key != self._key:
            self._kept = None
            self._open.close()
            made = self._open.enter_context(prepared(self._engine, spec, models))
            self._kept = replace(made, remembered=Memory(keeps=self._remembers))
            self._key = key
        kept = self._kept
        columns = source_columns(kept.workspace, spec, source_of(self._engine, spec, counts=True))
        with kept.workspace.lasting():
            sets = replace(kept.sets, lookups=limited(kept.sets.lookups, spec))
            limit = spec.suppression.most(sets.rows)
            yield replace(kept, columns=columns, models=_measured(models, kept.sets), sets=sets, max_suppressed=limit)


def _key(spec: Spec, models: Sequence[PrivacyModel]) -> object:
    """Equal where the frequency sets are the same.

    Thresholds, the limit, weights, level limits, the search and the release may differ, and no more; not even k where
    it decides which of several parents a value gets.
    """
    others = [_without_thresholds(model) for model in models if not model.judges_size]
    columns = [(name, item.model_copy(update=UNLIMITED)) for name, item in spec.quasi_identifiers.items()]
    sampled = spec.steps is not None and spec.steps.sample is not None
    steps = None if spec.steps is None else (spec.steps.to_dict(), spec.sampling_key if sampled else None)
    several = any(item.parents == "several" or item.by_counts for item in spec.quasi_identifiers.values())
    least = chosen_for(spec) if several else None
    read = (spec.source, spec.base_dir, steps, written_key(spec.unit), spec.count, spec.missing, spec.nulls)
    return *read, columns, spec.inspected_columns, others, least


def _without_thresholds(model: PrivacyModel) -> object:
    """What tells a model from others that are measured by the same frequency sets."""
    named = {item.name: getattr(model, item.name) for item in fields(model) if item.name not in model.judging}
    return type(model), named


def _measured(models: Sequence[PrivacyModel], sets: FrequencySets) -> list[PrivacyModel]:
    """The models with what the sets tell: the heights of hierarchies, and the persons of populations."""
    return [
        model.with_population_size(sets.population_size[model.frame])
        if model.penalizes_missing_persons and model.frame
        else model
        for model in measured_models(models, sets.facts)
    ]
