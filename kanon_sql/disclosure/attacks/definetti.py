"""deFinetti: learn from all classes together which quasi-identifiers go with which values, and guess better in each.

A class leaves every person its values, in their proportions. But classes together tell that one value
goes with smokers more often than another, and so whose it is within a class. Kifer (2009, "Attacks on
Privacy and deFinetti's Theorem", section 5) attacks Anatomy that way, by a naive Bayes classifier that is trained
on the very rows it then classifies. Here:

*The attacker holds* the release and the quasi-identifiers of the people in the source, and knows which rows of the
release may be theirs (as for ``composition``). Of the rows that may be those of a person with quasi-identifiers x,
n(x, s) have the value s.

*Estimate.* w(x, s), the belief that a person with x has s, starts at n(x, s) / sum over s' of n(x, s'). In each of
:data:`ROUNDS` rounds of expectation maximization, all at once for all people,

    p_i(v | s) = (1 + sum of w over people whose i-th quasi-identifier is v) / (d_i + sum of w over all people)
    w(x, s)    = n(x, s) * product over i of p_i(x_i | s), divided by its sum over s

with d_i the size of the attribute's domain. Kifer samples whole assignments instead, so that the beliefs of the people
of a class add up to its counts; here they need not, and he may guess better. No randomness: the same tables give the
same figures.

*Figure.* The share of people whose own value is the one believed most, against that of guessing the most frequent value
of the rows that may be theirs. Several equally believed values (up to 1e-9) count by the chance to pick the right one.
NULL is no value, and its people are left out. It needs what an attacker does not have, the source's own
values, to count who is right: so it is an estimate, and decides no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import Attack, AuditInput, Scene, Target
from kanon_sql.disclosure.attacks.method import COSTLY_ESTIMATE, AttributeAttack, Threat, roles_in_source
from kanon_sql.disclosure.attacks.other_releases import other_releases
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.frequency import refuse_lost
from kanon_sql.models import TOLERANCE
from kanon_sql.sql import Relation, Sql, identifier

__all__ = ["ROUNDS", "DeFinetti"]

ROUNDS = 5
"""Rounds of expectation maximization. Each is one more step inside the same statement."""


@attack
class DeFinetti(AttributeAttack):
    """How many people a classifier learned from the release guesses right."""

    name: ClassVar[str] = "definetti"
    place: ClassVar[int] = 16
    attacker: ClassVar[str] = "learns from all classes which values go with which quasi-identifiers"
    exposes: ClassVar[str] = (
        "persons whose value the learned classifier ranks first; beyond the requirements are those in excess of "
        "guessing the most frequent value of the class (an estimate; runs only if named)"
    )
    asks_for: ClassVar[str] = "the source"
    source: ClassVar[str] = "Kifer 2009"
    threat: ClassVar[Threat] = "inference"
    reads_labels: ClassVar[bool] = True
    on_request: ClassVar[str | None] = COSTLY_ESTIMATE

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source lists the people and their values."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Attack]:
        """Learn, and guess.

        Returns:
            An estimate: exposed are the people guessed right, beyond those more than by the most frequent value.
        """
        attribute = scene.attribute
        what = f"guessed{scene.spec.sensitive.index(attribute)}_"
        found = other_releases(scene, (), [attribute], what)
        names = [identifier(lookup.column) for lookup in found.lookups]
        domains = [lookup.domain_rows for lookup in found.lookups]
        beliefs = _first(scene, what, found.people, found.candidates[0], names)
        for number in range(1, ROUNDS + 1):
            learned = scene.workspace.table(f"{what}learned{number}")
            scene.workspace.execute(
                "disclosure/attacks/learned", target=learned, beliefs=beliefs, names=names, domains=domains
            )
            beliefs = scene.workspace.table(f"{what}beliefs{number}")
            scene.workspace.execute("disclosure/attacks/beliefs", target=beliefs, learned=learned, names=names)
        examined, right, plain, believed, *again = scene.workspace.row(
            "disclosure/attacks/guessed", people=found.people, beliefs=beliefs, names=names, tolerance=TOLERANCE,
            sides=list(scene.sides.values()),
        )  # fmt: skip
        refuse_lost("disclosure/attacks/guessed", again)
        rows, guessed, usual = int(examined or 0), _whole(right), _whole(plain)
        notes = [
            f"guessing the most frequent value of the rows that may be a person's is right for {usual:,}; a naive "
            f"Bayes classifier learned from the release in {ROUNDS} rounds, for {guessed:,}",
            "assumes that the attacker knows the source's quasi-identifiers, and that these are independent "
            "given the sensitive value; correct guesses were counted with the source",
        ]
        if rows:
            notes.append(f"people's own values are believed with {float(believed) / rows:.6f} on average")
        return [
            Attack(
                name=self.name,
                about=attribute,
                examined=rows,
                exposed=guessed,
                beyond=max(0, guessed - usual),
                risk=float(right) / rows if rows else None,
                measure="share of people whose value is guessed right",
                estimate=True,
                notes=[*notes, *found.notes],
            )
        ]


def _first(scene: Scene, what: str, people: Relation, candidates: Relation, names: Sequence[Sql]) -> Relation:
    """What each person may have before anything is learned."""
    target = scene.workspace.table(f"{what}beliefs0")
    scene.workspace.execute(
        "disclosure/attacks/believed", target=target, people=people, candidates=candidates, names=names
    )
    return target


def _whole(people: object) -> int:
    """An expected number of people as a whole one, whatever the order of the sums."""
    return int(float(str(people or 0)) + 0.5 + TOLERANCE)
