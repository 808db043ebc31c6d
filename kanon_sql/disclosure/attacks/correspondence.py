"""Correspondence: cross out rows of versions of one release that only grows (Fung, Wang, Fu, Pei 2008).

The earlier version was made of some rows, the later one of these and new ones. So each row of the earlier version has a
*buddy* in the later one, a row of the same record, with the same sensitive value and labels that a record may have
together; no two share a buddy. A victim whose quasi-identifiers are known matches a group of rows in each version; when
the victim came is known, too. Of the rows with a value s that match the victim, let g1 be in the earlier version and g2
in the later one.

*Forward*: the victim was there before, and their row in the earlier version is looked for. The rows of all who have the
victim's quasi-identifiers match the victim in the later version as well. So at most min(g1, g2) rows of the earlier
version can be theirs, and g1 - min(g1, g2) are crossed out. *Cross*: likewise, their row in the later version is looked
for: g2 - min(g1, g2) are crossed out. In both, the sum of min(g1, g2) over all values is left: one number tells both.

*Backward*: the victim is new. Take rows of the later version that look alike, n of them; X is the set of the rows of
the earlier version that may have their buddy among them, and N that of all rows of the later version that may be a
buddy of one in X. All buddies of X are in N, and no more of them than N - n are outside of these n rows; so at least
X - (N - n) of the n rows are of before, and are crossed out. The rest is left, over all values.

The anonymity of the paper (BCF) is the least that is left, over all victims and the three attacks; a victim with fewer
than k rows left is exposed. What is crossed out is certain. Where the levels of the versions nest (each version is
coarser, or finer, in every column), no more could be crossed out: then rows can be given buddies so that the bounds are
met. Where they do not nest, a stronger attacker may get further. The tests compare both with all possible worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.method import (
    A_SENSITIVE_ATTRIBUTE,
    AN_EARLIER_RELEASE,
    AttributeAttack,
    Need,
    Threat,
    refuse_without,
    roles_in_source,
)
from kanon_sql.disclosure.attacks.other_releases import Others, other_releases
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.sql import Relation, Sql, render

__all__ = ["Correspondence", "Newcomers"]

_ON_REQUEST = "it is about versions of one release that only grows, the oldest first; name it with --attack"


@attack
class Correspondence(AttributeAttack):
    """People of the source with fewer than k rows left when versions of a growing release are compared.

    The forward and the cross attack of Fung, Wang, Fu, Pei (2008, sections 3 and 4) for each pair of versions, on the
    people whose row the earlier one may have; both leave the same number of rows. The versions are the earlier releases
    in the order in which they are given, and the attacked one as the last. A person counts whose own value both
    versions have in rows that may be theirs, and the pair that leaves the fewest rows.
    """

    name: ClassVar[str] = "correspondence"
    place: ClassVar[int] = 11
    attacker: ClassVar[str] = (
        "has versions of one release that only grows, and knows which persons the earlier ones may hold"
    )
    exposes: ClassVar[str] = "persons with fewer than k rows left in both (runs only if named)"
    asks_for: ClassVar[str] = "`--earlier`, the oldest first"
    source: ClassVar[str] = "Fung, Wang, Fu, Pei 2008: forward and cross"
    threat: ClassVar[Threat] = "linkability"
    reads_labels: ClassVar[bool] = True
    on_request: ClassVar[str | None] = _ON_REQUEST
    needs: ClassVar[tuple[Need, ...]] = (A_SENSITIVE_ATTRIBUTE, AN_EARLIER_RELEASE)
    default_noted: ClassVar[Literal["k", "l"] | None] = "k"

    measure: ClassVar[str] = "1 / the rows that may be theirs in both versions"

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source lists the people and their values."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Cases | Unmeasured]:
        """Compare every two versions.

        Raises:
            SpecError: a version does not have the attribute, or lacks a quasi-identifier.
        """
        attribute, names = scene.attribute, list(scene.spec.quasi_identifiers)
        versions = [*scene.given.earlier, scene.release]
        for table in versions:
            refuse_without(table, [*names, attribute])
        what = f"{self.name}_{scene.spec.sensitive.index(attribute)}_"
        others = other_releases(scene, scene.given.earlier, [attribute], what)
        links = scene.workspace.table(f"{what}_links")
        scene.workspace.execute(
            "disclosure/attacks/correspondence_links", target=links, people=others.people,
            quasi_identifiers=len(names), versions=[*others.joined[1:], others.joined[0]],
        )  # fmt: skip
        pairs, why = self.pairs(scene, links, what, versions)
        if why is not None:
            return [Unmeasured(self.name, why)]
        query = render(
            "disclosure/attacks/correspondence", links=links, quasi_identifiers=len(names), least=scene.k, pairs=pairs
        )
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=query,
                keys={f"q{index}": column for index, column in enumerate(names)},
                measure=self.measure,
                against=self.against(others),
                unmatched=f"no person of the source may be in two of {', '.join(item.shown for item in versions)}",
                notes=[f"versions, the oldest first: {', '.join(item.shown for item in versions)}", *others.notes],
            )
        ]

    def pairs(
        self, scene: Scene, links: Relation, what: str, versions: Sequence[Target]
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Each pair of versions, by their numbers, with what is crossed out of the later one; or why that is not known.

        Args:
            scene: where.
            links: persons and the rows of each version that may be theirs.
            what: a word for scratch names.
            versions: the oldest first.
        """
        both = combinations(range(len(versions)), 2)
        return [{"earlier": earlier, "later": later, "crossed": None} for earlier, later in both], None

    def against(self, others: Others) -> Sql | None:
        """The number of those who could be in two versions."""
        return others.against


@attack
class Newcomers(Correspondence):
    """People of the source who have fewer than k possible rows in a version, if they are new in it.

    The backward attack of Fung, Wang, Fu, Pei (2008, section 4) for each pair of versions. Nothing is said where some
    row of an earlier version can have no buddy in the later one: then rows have gone, or were suppressed later.
    """

    name: ClassVar[str] = "correspondence_backward"
    place: ClassVar[int] = 12
    attacker: ClassVar[str] = "has such versions, and knows who is new"
    exposes: ClassVar[str] = (
        "persons for which fewer than k rows of the later version may be a newcomer's (runs only if named)"
    )
    asks_for: ClassVar[str] = "`--earlier`, the oldest first; no row of an earlier version is gone"
    source: ClassVar[str] = "Fung, Wang, Fu, Pei 2008: backward"
    measure: ClassVar[str] = "1 / the rows that may be a newcomer's"

    def pairs(
        self, scene: Scene, links: Relation, what: str, versions: Sequence[Target]
    ) -> tuple[list[dict[str, Any]], str | None]:
        """With what is crossed out of the later one."""
        found, impossible = [], []
        for earlier, later in combinations(range(len(versions)), 2):
            table = scene.workspace.table(f"{what}_crossed{earlier}_{later}")
            scene.workspace.execute(
                "disclosure/attacks/correspondence_crossed", target=table, links=links, earlier=earlier, later=later
            )
            (lines,) = scene.workspace.row("disclosure/attacks/correspondence_impossible", crossed=table)
            if lines:
                impossible.append(f"{versions[earlier].shown} and {versions[later].shown}")
            found.append({"earlier": earlier, "later": later, "crossed": table})
        if not impossible:
            return found, None
        return found, (
            f"of {'; '.join(impossible)}: some rows of the former cannot be in the latter, so rows were deleted "
            "or suppressed, and the remaining rows do not show who is new; use the attack composition, which "
            "compares any releases"
        )

    def against(self, others: Others) -> None:
        """There may be no newcomers."""
