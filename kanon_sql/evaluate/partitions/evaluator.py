"""The evaluator of partitions: a batch of spans in, one generated statement, their verdicts out.

A partition of a domain is written as the bits of its cuts, see :class:`kanon_sql.search.Cuts`. The
spans of a batch have much in common: the vectors are grouped once by what they share, and each span
is a row of numbers that says which cut it has besides, or lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.errors import Obstacle
from kanon_sql.evaluate.classes import Frames, classes, conditions
from kanon_sql.evaluate.evaluator import Evaluator, is_sound
from kanon_sql.evaluate.partitions.order import Ordered, Places
from kanon_sql.evaluate.partitions.packing import Packing
from kanon_sql.models import Measured, PrivacyModel
from kanon_sql.search import Batch, Cuts, Lattice, Question, Span, Verdict, metric_of, rounded
from kanon_sql.spec import Spec
from kanon_sql.sql import Sql, identifier, render, slot, sql_list

__all__ = ["Partitions", "cut_obstacles"]

_NONE = 2**30
"""A number above those of all intervals."""

_COST = "cost"
"""Where a verdict keeps what its head costs as a sum over classes."""

_NO_SPAN = (None,) * 6
"""A span that no row of the answer is about."""

_MAP = ("atom", "interval_number", "head_digit", "finest_digit")
_MAP_SIZES = ("head_size", "finest_size")
_MOVES = ("node", "changes", "adds", "cut_at")
_MOVES_SIZES = ("cut_low", "cut_high", "size_below", "size_above")


def cut_obstacles(spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Requirements that a partition may satisfy although a coarser one does not, or its labels do not."""
    for model in models:
        if (why := _why_not_cut(model)) is not None:
            yield Obstacle(f"k_optimize cannot search for {model.label}: {why}; use another algorithm, such as optimal")
        elif not is_sound(model, by_person=spec.unit is not None, may_suppress=spec.suppression.allows_some):
            way, instead = "while rows may be suppressed", ", or a suppression limit of 0"
            if spec.unit is not None:
                way, instead = "with persons as the unit", ""
            yield Obstacle(
                f"k_optimize cannot search for {model.label} {way}: merging a class that satisfies it with one that "
                f"does not may break it, so that no bound holds; use another algorithm, such as optimal{instead}"
            )


def _why_not_cut(model: PrivacyModel) -> str | None:
    """Why no cuts are searched for a requirement, whatever else is asked; None where they may be."""
    if model.population is not None:
        return (
            "its intervals end at values that released rows hold, so that which persons of a population they stand for "
            "is known only afterwards"
        )
    if model.is_estimate:
        return "its intervals make classes that satisfy it in the source, so that they say little of what is estimated"
    if model.uses_label_width:
        return "wider labels earn less, so that a partition may satisfy it although a coarser one does not"
    if model.others:
        return "it counts the values of a class alone, and not by other sensitive attributes"
    if model.quasi_identifiers is not None:
        return "it counts the classes of all quasi-identifiers alone"
    if model.of_table or model.among_classes:
        return "it judges classes one by one, and this is about all of them together"
    if model.needs_facts or model.lists or model.hierarchy is not None or model.second is not None:
        return "it counts the values of a class alone, and not what else the requirement asks of them"
    return None


@dataclass(frozen=True, slots=True)
class _Change:
    """The one cut by which a span differs from what its batch has in common.

    Attributes:
        attribute: the quasi-identifier's position.
        place: where its domain is cut.
        adds: the span's head has the cut; else its finest partition lacks it.
    """

    attribute: int
    place: int
    adds: bool


class Partitions:
    """Answers questions about spans of partitions.

    Args:
        evaluator: of the same frequency sets; it knows the requirements and the metric.
        ordered: the domains and the frequency sets over them.
    """

    def __init__(self, evaluator: Evaluator, ordered: Ordered) -> None:
        self._evaluator = evaluator
        self._ordered = ordered
        self._workspace = evaluator.workspace
        self._packing = Packing([2, *(len(domain.first) + 1 for domain in ordered.domains)])
        self._offsets: list[int] = []
        groups, used = [], 0
        for domain in ordered.domains:
            self._offsets.append(used)
            cuts = len(domain.first) - 1
            groups.append(((1 << cuts) - 1) << used)
            used += cuts
        self.cuts = Cuts(tuple(groups))
        # A class that satisfies must do so with any other; some requirements promise it of two that satisfy alone.
        by_person = evaluator.sets.persons is not None
        always = all(is_sound(model, by_person=by_person, may_suppress=True) for model in evaluator.models)
        self._added = evaluator.metric.added(evaluator.counts) if always else None

    @property
    def cost(self) -> Callable[[Verdict], int] | None:
        """A verdict -> what its head costs as a sum over classes.

        None where the metric is no such sum, or where a class that satisfies may not do so together with another.
        """
        return None if self._added is None else lambda verdict: int(verdict.details[_COST])

    def question(self) -> Question:
        """What the search may know. Its nodes are spans: pairs of numbers whose bits are cuts."""
        every = (self.cuts.every, self.cuts.every)
        return Question(
            lattice=Lattice((0, 0), every),
            heights=every,
            monotone=True,
            bound=lambda _: 0.0,
            bounds=lambda _: (),
            staged=False,
            least=lambda _: 0.0,
            expected=lambda _: 0.0,
            rank=lambda verdict: (rounded(metric_of(verdict)), verdict.suppressed, verdict.node),
            prefer=lambda verdict: (verdict.suppressed, rounded(metric_of(verdict)), verdict.node),
            labels=(),
            rows=self._evaluator.sets.rows,
            max_suppressed=self._evaluator.max_suppressed,
        )

    def places(self, cuts: int) -> list[list[int]]:
        """Per quasi-identifier, where a partition cuts its domain."""
        found = []
        for offset, domain in zip(self._offsets, self._ordered.domains, strict=True):
            own = cuts >> offset
            found.append([place for place in range(1, len(domain.first)) if own >> (place - 1) & 1])
        return found

    def ask(self, batch: Batch) -> list[Verdict]:
        """The verdicts of a batch: one statement, if no span differs by more than a cut from the others."""
        spans = [Span(*node) for node in batch.nodes]
        head, finest = spans[0]
        for span in spans:
            head &= span.head
            finest |= span.finest
        changes = [self._changes(span, Span(head, finest)) for span in spans]
        if max(map(len, changes)) <= 1:
            return self._together(spans, Span(head, finest), changes)
        return [verdict for span in spans for verdict in self.ask(Batch((span,), metrics=True))]

    def _changes(self, span: Span, common: Span) -> list[_Change]:
        """The cuts that a span has more in its head, or less in its finest partition."""
        return [
            _Change(attribute, place, adds)
            for adds, cuts in ((True, span.head & ~common.head), (False, common.finest & ~span.finest))
            for attribute, places in enumerate(self.places(cuts))
            for place in places
        ]

    # --- The statement ---

    @property
    def _sized(self) -> list[int]:
        """The quasi-identifiers whose intervals' sizes the metric asks for."""
        return self._ordered.cut if self._evaluator.metric.carries == "sizes" else []

    @property
    def _smallest(self) -> int:
        """Rows that every released class has at least; a person has a row at least."""
        return max((model.least_size or 1 for model in self._evaluator.models if model.judges_size), default=1)

    def _together(self, spans: Sequence[Span], common: Span, changes: Sequence[list[_Change]]) -> list[Verdict]:
        compiler, evaluator = self._workspace.compiler, self._evaluator
        metric = evaluator.metric
        numbers = compiler.dialect.numbers
        heads, finests = self.places(common.head), self.places(common.finest)
        columns = [*_MAP, *(_MAP_SIZES if self._sized else ())]
        fills = {
            f"map_{position}": numbers(f"map{index}", columns, self._map(index, heads[index], finests[index]))
            for position, index in enumerate(self._ordered.cut)
        }
        columns = [*_MOVES, *(_MOVES_SIZES if self._sized else ())]
        rows = [[node, *self._move(heads, finests, own)] for node, own in enumerate(changes)]
        fills["spans"] = numbers("spans", columns, rows)
        fills["base"] = self._workspace.quoted(self._ordered.base)
        for position, table in enumerate(self._ordered.values.values()):
            fills[f"values_{position}"] = self._workspace.quoted(table)
        key = (metric.shape, self._smallest, evaluator.sets.counting, *self._ordered.cut, *self._packing.places)
        text = compiler.shape("evaluate/partitions/spans", key, self._context)
        found = self._workspace.query(compiler.fill("evaluate/partitions/spans", text, fills), len(spans))
        judged = {int(row[0]): row for row in found}
        for number, _ in enumerate(spans):
            _, _, _, _, rows, sizes, *_ = judged.get(number, _NO_SPAN)
            evaluator.sets.refuse_incomplete("evaluate/partitions/spans", rows, sizes)
        return [self._verdict(spans, *row) for row in found]

    def _map(self, index: int, head: Places, finest: Places) -> list[list[int]]:
        """Per atom: its interval in the finest partition, the digits of both keys, and both sizes."""
        domain, stride = self._ordered.domains[index], self._packing.places[index + 1].stride
        inside = {
            atom: (number, size)
            for number, (start, end, size) in enumerate(domain.intervals(head))
            for atom in range(start, end)
        }
        rows = []
        for number, (start, end, size) in enumerate(domain.intervals(finest)):
            for atom in range(start, end):
                head_number, head_size = inside[atom]
                row = [atom, number, head_number * stride, number * stride]
                rows.append([*row, head_size, size] if self._sized else row)
        return rows

    def _move(self, heads: Sequence[Places], finests: Sequence[Places], changes: list[_Change]) -> list[int]:
        """Which interval is cut where, or which two become one, by numbers of the finest, and the sizes they get."""
        if not changes:
            return [-1, 1, _NONE, *([_NONE, _NONE, 0, 0] if self._sized else [])]
        (change,) = changes
        domain, finest = self._ordered.domains[change.attribute], finests[change.attribute]
        low = high = below = above = 0
        if change.adds:
            for start, end, size in domain.intervals(sorted({*heads[change.attribute], change.place})):
                if end == change.place:
                    low, below = start, size
                if start == change.place:
                    high, above = end, size
        else:
            for start, end, size in domain.intervals(sorted({*finest} - {change.place})):
                if start < change.place < end:
                    low, high, below, above = start, end, size, size
        move = [change.attribute, int(change.adds), _number(finest, change.place)]
        return [*move, _number(finest, low), _number(finest, high - 1) + 1, below, above] if self._sized else move

    def _context(self) -> dict[str, Any]:
        evaluator, metric = self._evaluator, self._evaluator.metric
        cut, sized, places = self._ordered.cut, self._sized, self._packing.places
        words = range(places[-1].word + 1)
        costs = metric.least_costs(self._smallest, [f"z{position}" for position, _ in enumerate(sized)])

        def moved(vectors: str, *, values: bool) -> Sql:
            return render(
                "evaluate/partitions/moved",
                vectors=slot(vectors),
                maps=[slot(f"map_{position}") for position, _ in enumerate(cut)],
                spans=slot("spans"),
                moves=[*_MOVES, *(_MOVES_SIZES if sized else ())],
                attributes=cut,
                sized=sized,
                words=list(words),
                strides=[
                    [(index, places[index + 1].stride) for index in cut if places[index + 1].word == word]
                    for word in words
                ],
                values=values,
                costs=list(costs.values()),
                sums_rows=metric.carries is None,
                counting=evaluator.sets.counting,
            )

        frames = Frames(
            base=moved("base", values=False),
            values={
                name: moved(f"values_{position}", values=True) for position, name in enumerate(self._ordered.values)
            },
            counting=evaluator.sets.counting,
            keys=[identifier("node"), *(identifier(f"head{word}") for word in words)],
            carried=[identifier(f"head_size{index}") for index in sized],
            summed=[identifier(f"least{position}") for position, _ in enumerate(costs)],
        )
        kept = sql_list([Sql(f"({item})") for item in conditions(evaluator.models)], " AND ")
        return {
            "classes": classes(frames, evaluator.models),
            "kept": kept,
            "aggregates": list(metric.aggregates(kept, frames.carried_names).items()),
            "summed": frames.summed_names,
        }

    def _verdict(
        self, spans: Sequence[Span], number: Any, total: Any, kept_classes: Any, violating: Any, *more: Any
    ) -> Verdict:
        """The verdict on a span by its row: what was judged, the metric's aggregates, its least costs."""
        _, _, *sums = more
        evaluator, metric = self._evaluator, self._evaluator.metric
        sets, sized = evaluator.sets, self._sized
        names = [f"z{position}" for position, _ in enumerate(sized)]
        aggregates = list(metric.aggregates(Sql("1 = 1"), names))
        costs = list(metric.least_costs(self._smallest, names))
        suppressed = int(violating or 0) + sets.null_rows

        def measured(names: Sequence[str], numbers: Sequence[Any]) -> Measured:
            return Measured(
                node=(0,) * len(sets.lookups),
                suppressed=suppressed,
                classes=int(total or 0),
                kept_classes=int(kept_classes or 0),
                sized=sized,
                keyed=sized,
                values=dict(zip(names, numbers, strict=True)),
            )

        found = measured(aggregates, sums[: len(aggregates)])
        least = measured(costs, sums[len(aggregates) :])
        satisfied = suppressed <= evaluator.max_suppressed and suppressed < sets.rows
        return Verdict(
            node=spans[int(number)],
            satisfied=satisfied,
            prunable=not satisfied,
            suppressed=suppressed,
            classes=int(total or 0),
            kept_classes=int(kept_classes or 0),
            metric=metric.value(evaluator.counts, found),
            floor=metric.value(evaluator.counts, least),
            details={} if self._added is None else {_COST: self._added(found)},
        )


def _number(places: Places, atom: int) -> int:
    """The number of the interval that an atom is in."""
    return sum(1 for place in places if place <= atom)
