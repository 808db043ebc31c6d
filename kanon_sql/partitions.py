"""The evaluator of partitions: a batch of spans in, one generated statement, their verdicts out.

A partition of a domain is written as the bits of its cuts, see :class:`kanon_sql.search.Cuts`. The
spans of a batch have much in common: the vectors are grouped once by what they share, and each span
is a row of numbers that says which cut it has besides, or lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kanon_sql.classes import Frames, classes, conditions
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Evaluator, is_sound, rounded
from kanon_sql.lattice import Lattice
from kanon_sql.ordering import Ordered, Places
from kanon_sql.packing import Packing
from kanon_sql.privacy import KAnonymityModel, PrivacyModel
from kanon_sql.quality import Measured
from kanon_sql.search import Batch, Cuts, Question, Span, Verdict
from kanon_sql.spec import Spec
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Sql, identifier, slot, sql_list

__all__ = ["Partitions", "refuse_what_cuts_break"]

_NOWHERE = 2**31 - 1
"""Above every number of an interval."""

_MOVES = (
    "node", "adds", "add_low", "add_at", "add_high", "add_null", "add_below", "add_above",
    "drops", "drop_low", "drop_at", "drop_high", "drop_size",
)  # fmt: skip


def refuse_what_cuts_break(spec: Spec, models: Sequence[PrivacyModel]) -> None:
    """Refuse requirements that a partition may satisfy although a coarser one does not.

    Raises:
        UnsupportedError: names the requirement and says why.
    """
    for model in models:
        if not is_sound(model, by_person=spec.unit is not None, may_suppress=spec.suppression.limit != 0):
            way = "with persons as the unit" if spec.unit is not None else "while rows may be suppressed"
            raise UnsupportedError(
                f"k_optimize cannot search for {model.label} {way}: merging a class that satisfies it with one that "
                "does not may break it, so that no bound holds; use another algorithm, such as optimal"
                + ("" if spec.unit is not None else ", or a suppression limit of 0")
            )


@dataclass(frozen=True, slots=True)
class _Change:
    """The one cut by which a span differs from what its batch has in common.

    Attributes:
        attribute: the quasi-identifier's position.
        place: where its domain is cut.
    """

    attribute: int
    place: int


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
        self._packing = Packing([3, *(len(domain.first) + 1 for domain in ordered.domains)])
        self._offsets: list[int] = []
        groups, nulls, used = [], [], 0
        for domain in ordered.domains:
            self._offsets.append(used)
            cuts = len(domain.first) - 1
            groups.append(((1 << cuts) - 1) << used)
            nulls.append(1 << (used + cuts - 1) if domain.null and cuts else 0)
            used += cuts
        self.cuts = Cuts(tuple(groups), tuple(nulls))

    def question(self) -> Question:
        """What the search may know. Its nodes are spans: pairs of numbers whose bits are cuts."""
        every = (self.cuts.every, self.cuts.every)
        return Question(
            lattice=Lattice((0, 0), every),
            heights=every,
            monotone=True,
            bound=lambda _: 0.0,
            staged=False,
            least=lambda _: 0.0,
            rank=lambda verdict: (rounded(verdict.metric), verdict.suppressed, verdict.node),
            prefer=lambda verdict: (verdict.suppressed, rounded(verdict.metric), verdict.node),
            labels=(),
        )

    def places(self, cuts: int) -> list[list[int]]:
        """Per quasi-identifier, where a partition cuts its domain."""
        found = []
        for offset, domain in zip(self._offsets, self._ordered.domains, strict=True):
            own = cuts >> offset
            found.append([place for place in range(1, len(domain.first)) if own >> (place - 1) & 1])
        return found

    def ask(self, batch: Batch) -> list[Verdict]:
        """The verdicts of a batch: one statement, if its spans differ by a cut each."""
        spans = [Span(*node) for node in batch.nodes]
        head, finest = spans[0]
        for span in spans:
            head &= span.head
            finest |= span.finest
        added = [self._added(span.head & ~head) for span in spans]
        dropped = [self._changes(finest & ~span.finest) for span in spans]
        if max(map(len, added)) <= 1 and max(map(len, dropped)) <= 1:
            return self._together(spans, Span(head, finest), added, dropped)
        return [verdict for span in spans for verdict in self.ask(Batch((span,), metrics=True))]

    def _added(self, cuts: int) -> list[_Change]:
        """The changes that add cuts; one that sets NULL apart comes with any other by itself."""
        for group, null in zip(self.cuts.groups, self.cuts.nulls, strict=True):
            if cuts & group & ~null:
                cuts &= ~null
        return self._changes(cuts)

    def _changes(self, cuts: int) -> list[_Change]:
        return [_Change(attribute, place) for attribute, places in enumerate(self.places(cuts)) for place in places]

    # --- The statement ---

    def _together(
        self, spans: Sequence[Span], common: Span, added: Sequence[list[_Change]], dropped: Sequence[list[_Change]]
    ) -> list[Verdict]:
        compiler, metric = self._workspace.compiler, self._evaluator.metric
        numbers = compiler.dialect.numbers
        heads, finests = self.places(common.head), self.places(common.finest)
        fills = {
            f"map_{position}": numbers(f"map{index}", _MAP, self._map(index, heads[index], finests[index]))
            for position, index in enumerate(self._ordered.cut)
        }
        rows = [
            [node, *self._addition(heads, finests, more), *self._removal(finests, less)]
            for node, (more, less) in enumerate(zip(added, dropped, strict=True))
        ]
        fills["spans"] = numbers("spans", [*_MOVES, *(f"drop{word}" for word in self._words)], rows)
        fills["base"] = self._workspace.quoted(self._ordered.base)
        for position, table in enumerate(self._ordered.values.values()):
            fills[f"values_{position}"] = self._workspace.quoted(table)
        text = compiler.shape("partition/spans", (metric.name,), self._context)
        found = self._workspace.query(compiler.fill("partition/spans", text, fills), len(spans))
        return [self._verdict(spans[int(row[0])], row[1:]) for row in found]

    def _map(self, index: int, head: Places, finest: Places) -> list[list[int]]:
        """Per atom: its interval in the finest partition, the digits of both keys, and both sizes."""
        domain, stride = self._ordered.domains[index], self._packing.places[index + 1].stride
        inside = {
            atom: (number, size)
            for number, (start, end, size) in enumerate(domain.intervals(head))
            for atom in range(start, end)
        }
        return [
            [atom, number, inside[atom][0] * stride, number * stride, inside[atom][1], size]
            for number, (start, end, size) in enumerate(domain.intervals(finest))
            for atom in range(start, end)
        ]

    def _addition(self, heads: Sequence[Places], finests: Sequence[Places], changes: list[_Change]) -> list[int]:
        """Which interval of the head is cut where, in numbers of finest intervals, and the sizes it leaves."""
        if not changes:
            return [-1, *[_NOWHERE] * 4, 0, 0]
        (change,) = changes
        domain, finest = self._ordered.domains[change.attribute], finests[change.attribute]
        cut = _with(heads[change.attribute], change.place)
        null = len(domain.first) - 1 if domain.null else None
        if null is not None:
            cut = _with(cut, null)
        sizes = {start: (end, size) for start, end, size in domain.intervals(cut)}
        end, above = sizes[change.place]
        low, below = next((start, size) for start, (stop, size) in sizes.items() if stop == change.place)
        places = [_number(finest, low), _number(finest, change.place), _number(finest, end - 1) + 1]
        return [change.attribute, *places, _NOWHERE if null is None else _number(finest, null), below, above]

    def _removal(self, finests: Sequence[Places], changes: list[_Change]) -> list[int]:
        """Which intervals of the finest partition become one, and its size; at last the digit by word."""
        if not changes:
            return [-1, *[_NOWHERE] * 3, 0, *[0] * len(self._words)]
        (change,) = changes
        domain, finest = self._ordered.domains[change.attribute], finests[change.attribute]
        left = [place for place in finest if place != change.place]
        low, high, size = next(item for item in domain.intervals(left) if item[0] < change.place < item[1])
        digit = self._packing.places[change.attribute + 1]
        places = [_number(finest, low), _number(finest, change.place), _number(finest, high - 1) + 1]
        return [change.attribute, *places, size, *(digit.stride * (digit.word == word) for word in self._words)]

    @property
    def _words(self) -> range:
        return range(self._packing.places[-1].word + 1)

    def _context(self) -> dict[str, Any]:
        evaluator, metric = self._evaluator, self._evaluator.metric
        sized = [domain.lookup.index for domain in self._ordered.domains] if metric.carries == "sizes" else []
        cut = self._ordered.cut

        def moved(vectors: str, *, values: bool) -> Sql:
            placed = [[index for index in cut if self._packing.places[index + 1].word == word] for word in self._words]
            return render(
                "partition/moved",
                vectors=slot(vectors),
                maps=[slot(f"map_{position}") for position, _ in enumerate(cut)],
                spans=slot("spans"),
                moves=[*_MOVES, *(f"drop{word}" for word in self._words)],
                attributes=cut,
                sized=[index for index in sized if index in cut],
                words=list(self._words),
                placed=placed,
                values=values,
                counting=evaluator.sets.counting,
            )

        carried = [identifier(f"head_size{index}") for index in sized if index in cut]
        frames = Frames(
            base=moved("base", values=False),
            values={
                name: moved(f"values_{position}", values=True) for position, name in enumerate(self._ordered.values)
            },
            counting=evaluator.sets.counting,
            keys=[identifier("node"), *(identifier(f"head{word}") for word in self._words)],
            carried=carried,
        )
        kept = sql_list([Sql(f"({item})") for item in conditions(evaluator.models)], " AND ")
        aggregates = metric.aggregates(kept, frames.carried_names)
        least = metric.least_aggregates(self._smallest, frames.carried_names)
        assert least is not None  # the spec refuses such metrics
        return {
            "classes": classes(frames, evaluator.models),
            "kept": kept,
            "aggregates": list(aggregates.items()),
            "refined": list(least.items()),
            "words": list(self._words),
            "sized": [index for index in sized if index in cut],
            "moved": frames.base,
        }

    @property
    def _smallest(self) -> int:
        """Rows that every released class has at least; a person has a row at least."""
        return max((model.k for model in self._evaluator.models if isinstance(model, KAnonymityModel)), default=1)

    def _verdict(self, span: Span, row: Sequence[Any]) -> Verdict:
        evaluator, metric = self._evaluator, self._evaluator.metric
        sets, carried = evaluator.sets, self._ordered.cut if metric.carries == "sizes" else []
        names = [f"z{position}" for position, _ in enumerate(carried)]
        aggregates = list(metric.aggregates(Sql("1 = 1"), names))
        least = list(metric.least_aggregates(self._smallest, names) or ())
        total, kept_classes, suppressed = (int(value or 0) for value in row[:3])
        suppressed += sets.null_rows

        def value(kind: Literal["head", "finest"]) -> float:
            numbers = row[3 : 3 + len(aggregates)] if kind == "head" else row[3 + len(aggregates) :]
            measured = Measured(
                node=(0,) * len(sets.lookups),
                suppressed=suppressed,
                classes=total,
                kept_classes=kept_classes,
                sized=carried,
                keyed=carried,
                values=dict(zip(aggregates if kind == "head" else least, numbers, strict=True)),
            )
            return metric.value(evaluator.counts, measured)

        satisfied = suppressed <= evaluator.max_suppressed and suppressed < sets.rows
        return Verdict(
            node=span,
            satisfied=satisfied,
            prunable=not satisfied,
            suppressed=suppressed,
            classes=total,
            kept_classes=kept_classes,
            metric=value("head"),
            floor=value("finest"),
        )


_MAP = ("atom", "interval_number", "head_digit", "finest_digit", "head_size", "finest_size")


def _with(places: Places, place: int) -> list[int]:
    return sorted({*places, place})


def _number(places: Places, atom: int) -> int:
    """The number of the interval that an atom is in."""
    return sum(1 for place in places if place <= atom)
