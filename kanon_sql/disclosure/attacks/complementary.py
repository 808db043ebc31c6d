"""Complementary releases and temporal attacks: what two releases of the same people say together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target
from kanon_sql.disclosure.attacks.method import AN_EARLIER_RELEASE, AttackMethod, Need, Threat, roles_in_source
from kanon_sql.disclosure.attacks.other_releases import other_releases
from kanon_sql.disclosure.attacks.registry import attack

__all__ = ["Complementary"]


@attack
class Complementary(AttackMethod):
    """People of the source with fewer than k rows left when all releases are joined.

    The complementary release attack of Sweeney (2002, section 4.2), and, if the source grew between
    the releases, her temporal attack (section 4.3). Releases are joined on what they have in common
    as it is (sensitive and kept columns, ``p``) and on compatible quasi-identifiers. For a person
    with quasi-identifiers q, release j has n_j(q, p) rows that q may be behind; a row of values p is
    in all of some releases J at most min n_j(q, p) times (j of J), so a person in these is one of at most
    s(q, J) = sum over p of min n_j(q, p). J are the releases that the person is in: where n_j is not 0 for the person's
    own p. The attacked release and another one must be among them. Exposed, at the risk 1 / s(q, J), are those with
    s(q, J) < k. Every attack on some of J is included: leaving a release out only makes s larger. And no release that a
    person is not in, being suppressed there or not yet known, hides what the others tell. Where no person is in two of
    them, nothing is measured.

    What it cannot see: people who are no longer in the source or whose plain values changed since, and
    deductions over several people at once. The number is a lower bound for an attacker who makes those.
    """

    name: ClassVar[str] = "complementary"
    place: ClassVar[int] = 6
    attacker: ClassVar[str] = "has another release of the same persons, and looks for their rows"
    exposes: ClassVar[str] = "persons with fewer than k rows left when the releases are joined"
    asks_for: ClassVar[str] = "`--earlier`"
    source: ClassVar[str] = "Sweeney 2002"
    threat: ClassVar[Threat] = "linkability"
    reads_labels: ClassVar[bool] = True
    needs: ClassVar[tuple[Need, ...]] = (AN_EARLIER_RELEASE,)
    about_tables: ClassVar[bool] = True
    default_noted: ClassVar[Literal["k", "l"] | None] = "k"

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source lists the people and their values."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Cases]:
        """Join all releases."""
        earlier, source = scene.given.earlier, scene.source
        kept = [*scene.spec.sensitive, *scene.spec.keep]
        plain = [name for name in kept if all(name in table.columns for table in (scene.release, source, *earlier))]
        others = other_releases(scene, earlier, plain, "joined")
        on = ", ".join(["compatible quasi-identifiers", *plain])
        return [
            Cases(
                name=self.name,
                about=", ".join(table.shown for table in earlier),
                query=others.combined(scene, of_values=False, least=scene.k),
                keys={f"q{index}": name for index, name in enumerate(scene.spec.quasi_identifiers)},
                measure="1 / the rows that all releases leave",
                against=others.against,
                unmatched=(
                    f"no person of the source has the same {on} in {scene.release.shown} and in another release"
                ),
                notes=[f"people of the source; releases joined on {on}", *others.notes],
            )
        ]
