"""What a (k,k)-anonymous recoding is released as, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_sql.evaluate import Examination, achieved_by, flagged_classes
from kanon_sql.frequency import Prepared
from kanon_sql.recode.bound import Bound, bound_of
from kanon_sql.recode.recoding_result import RecodingResult, highest_levels
from kanon_sql.sql import Relation, render

__all__ = ["KKResult"]


@dataclass(frozen=True, kw_only=True)
class KKResult(RecodingResult):
    """A recoding whose rows and records are consistent with at least k of each other.

    Attributes:
        inner: the local recoding, k-anonymous, that it began with, as its frequency sets were prepared.
        found: per class, how many records and rows are at least consistent.
        unexamined_vectors: vectors whose cells were not looked at, since there would be too many pairs.
        widened: rounds in which rows were widened again, for global (1,k)-anonymity; None without such.
    """

    inner: Prepared
    found: Relation
    unexamined_vectors: int
    widened: int | None

    @property
    def notes(self) -> list[str]:
        """What the user should know: above all, that this is not k-anonymity."""
        (model,) = self.models
        k = model.least_consistent
        if model.needs_perfect_matchings:
            weaker = (
                f"{model.label} is not {k}-anonymity: every record has {k} rows that may be its own, also for an "
                "attacker who knows the quasi-identifiers of every person in the table, but these are not equally "
                "likely, and classes may have fewer rows"
            )
        else:
            weaker = (
                f"{model.label} is weaker than {k}-anonymity: it does not protect from an attacker who knows the "
                "quasi-identifiers of every person in the table, and classes may have fewer rows"
            )
        sentences = [*super().notes, weaker]
        if model.needs_perfect_matchings:
            sentences.append(
                "the classes of the local recoding are released as they are: no other rows that were found lose less"
                if self.widened is None
                else f"rounds in which rows were widened, so that every record has {k} matches: {self.widened}"
            )
        if self.unexamined_vectors:
            sentences.append(
                f"{self.unexamined_vectors:,} different rows keep the labels of the local recoding: to "
                "compare all would take too many pairs"
            )
        return sentences

    def achieved(self) -> Examination:
        """What the rows achieve at least, from the frequency sets."""
        classes = self.judge.classes(self.mapped.classed)
        (model,) = self.models
        assert model.frame is not None
        frames = replace(
            classes,
            values={model.frame: render("recode/kk/frame", found=self.found)},
            facts={model.frame: model.needs_facts},
            group_levels={},
            references={},
        )
        flagged = flagged_classes(frames, self.models, with_keys=False)
        return achieved_by(self.workspace, flagged, self.models, self.mapped.rows)

    def bound(self) -> Bound | None:
        """What no release loses less than whose rows cover k records each: that bounds local recodings, too."""
        return bound_of(self.inner, highest_levels(self.sets), in_classes=False)
