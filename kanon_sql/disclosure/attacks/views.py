"""Views: what several projections of one private table say together of a person's sensitive value.

The problem of Yao, Wang, Jajodia (2005), for projections and without functional dependencies, where it is
polynomial in the size of the views' join. Given are views v_1 ... v_m, each with the set of its rows over some of the
columns of one private table that no reader sees. A *possible world* is a table whose projections are exactly these
sets. The attacker knows the identity a of a person (here: the quasi-identifiers that the views have) and that the
person is in the table. A set A of values of the sensitive attribute is an *association cover* of a if every possible
world in which a occurs has a row of a with a value of A. The views violate k-anonymity for a if some cover has fewer
than k values.

Let J be the natural join of the views. Every possible world is a part of J, and a part of J is a possible world if
every row of every view is still the projection of one of its rows. So take the rows of a with a value of A out of J.
If what is left is a possible world in which a occurs, A is no cover; and if it is not, no smaller part of J is either.
Hence A is a cover if and only if it holds

    all values that J has of a, or
    for some row u of some view: all values of the rows of J that project to u, these being rows of a alone

and the smallest cover is the smallest of those sets: one GROUP BY per view. (The paper's example: v1 lists names and
jobs, v2 jobs and problems. The only lawyer has the lawyers' only problem.)

A NULL identity is an identity like any other. NULL is no value: rows of J without a value are left out, as if the
views had been published without them. How often a row occurs is not used; an attacker who counts may learn more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target
from kanon_sql.disclosure.attacks.method import A_SENSITIVE_ATTRIBUTE, ANOTHER_VIEW, AttributeAttack, Need, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import vectors_of
from kanon_sql.errors import SpecError
from kanon_sql.frequency import refuse_lost
from kanon_sql.sql import Relation, Sql, identifier, render

__all__ = ["Views"]


@dataclass(frozen=True)
class _View:
    """One view's distinct rows.

    Attributes:
        table: a scratch table, its columns being ``p<i>``.
        names: what they are called.
        shown: the view, for messages.
    """

    table: Relation
    names: tuple[str, ...]
    shown: str

    def column(self, name: str) -> Sql:
        """The scratch column that stands for one of the view's."""
        return identifier(f"p{self.names.index(name)}")


@attack
class Views(AttributeAttack):
    """Identities with an association cover smaller than what the requirements leave to a person.

    That is l of the attribute where a requirement promises l values, and k otherwise (the paper's k). The
    risk is one over the smallest cover.
    """

    name: ClassVar[str] = "views"
    place: ClassVar[int] = 8
    attacker: ClassVar[str] = "has several views of one table"
    exposes: ClassVar[str] = (
        "rows of a view, or persons, for which the views together leave fewer than k (or l) associations"
    )
    asks_for: ClassVar[str] = "`--set view=TABLE`"
    source: ClassVar[str] = "Yao, Wang, Jajodia 2005"
    threat: ClassVar[Threat] = "linkability"
    needs: ClassVar[tuple[Need, ...]] = (A_SENSITIVE_ATTRIBUTE, ANOTHER_VIEW)
    whole_release: ClassVar[bool] = False

    def subjects(self, given: AuditInput) -> Sequence[str | None]:
        """The sensitive attributes that some view has.

        Raises:
            SpecError: no view has a quasi-identifier, or none a sensitive attribute.
        """
        spec, tables = given.spec, given.views
        shown = ", ".join(table.shown for table in tables)
        for what, names in (("quasi-identifier", spec.quasi_identifiers), ("sensitive attribute", spec.sensitive)):
            if not any(name in table.columns for table in tables for name in names):
                raise SpecError(
                    f"views: none of {shown} has a {what} of the spec, so together they reveal nothing; give "
                    "views that have one"
                )
        return [name for name in spec.sensitive if any(name in table.columns for table in tables)]

    def run(self, scene: Scene) -> list[Cases]:
        """Join the views, and find the smallest covers.

        Raises:
            SpecError: the views are not projections of one table: some rows join with none of the others.
        """
        attribute, tables = scene.attribute, scene.given.views
        identity = [name for name in scene.spec.quasi_identifiers if any(name in table.columns for table in tables)]
        found = _ordered([_view(scene, index, table, tables, attribute) for index, table in enumerate(tables)])
        columns = list(dict.fromkeys(name for view in found for name in view.names))
        ours = {name: f"c{index}" for index, name in enumerate(columns)}
        joined = _joined(scene, found, ours, identity)
        _refuse_dangling(scene, found, ours, joined)
        least = scene.least_values(attribute)
        groups = [identity, *(view.names for view in found)]
        missing = [name for name in scene.spec.quasi_identifiers if name not in identity]
        notes = [
            f"identities ({', '.join(identity)}) counted once each; exposed by fewer than {least} possible "
            f"values of {attribute}; repeated rows of a view count once"
        ]
        if missing:
            notes.append(f"no view has {', '.join(missing)}")
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=render(
                    "disclosure/attacks/association_cover",
                    joined=joined,
                    identity=[identifier(ours[name]) for name in identity],
                    value=identifier(ours[attribute]),
                    groups=[[identifier(ours[name]) for name in names] for names in groups],
                    least=least,
                ),
                keys={ours[name]: name for name in identity},
                examined=render("disclosure/attacks/identities", joined=joined),
                measure="1 / the smallest set of values of which a person must have one",
                notes=notes,
            )
        ]


def _view(scene: Scene, index: int, table: Target, tables: Sequence[Target], attribute: str) -> _View:
    """The view's rows over the columns that matter: of an identity, of the attribute, or of another view.

    A column that is in no other view distinguishes rows of the view that have the same rows of the join behind them.
    """
    others = {name for other in tables if other is not table for name in other.columns}
    needed = {*scene.spec.quasi_identifiers, attribute, *others}
    names = tuple(name for name in table.columns if name in needed)
    if not names:
        raise SpecError(
            f"views: {table.shown} has no column in common with the other views, no quasi-identifier and not "
            f"{attribute}; leave it out"
        )
    return _View(vectors_of(scene, table, f"view{index}", (), names, tables), names, table.shown)


def _ordered(found: Sequence[_View]) -> list[_View]:
    """The views so that each has a column in common with those before it, where that is possible."""
    left, ordered, known = list(found), list[_View](), set[str]()
    while left:
        following = next((view for view in left if known & set(view.names)), left[0])
        left.remove(following)
        ordered.append(following)
        known |= set(following.names)
    return ordered


def _joined(scene: Scene, found: Sequence[_View], ours: dict[str, str], identity: Sequence[str]) -> Relation:
    """The natural join of the views, with a number per identity."""
    owners: dict[str, int] = {}
    conditions = []
    for index, view in enumerate(found):
        shared = [name for name in view.names if name in owners]
        conditions.append([(_of(owners[name], found[owners[name]], name), _of(index, view, name)) for name in shared])
        for name in view.names:
            owners.setdefault(name, index)
    target = scene.workspace.table("joined_views")
    scene.workspace.execute(
        "disclosure/attacks/joined_views",
        target=target,
        views=[view.table for view in found],
        conditions=conditions,
        columns=[(identifier(ours[name]), _of(index, found[index], name)) for name, index in owners.items()],
        identity=[_of(owners[name], found[owners[name]], name) for name in identity],
    )
    return target


def _of(index: int, view: _View, name: str) -> Sql:
    return Sql(f"{identifier(f'view{index}')}.{view.column(name)}")


def _refuse_dangling(scene: Scene, found: Sequence[_View], ours: dict[str, str], joined: Relation) -> None:
    """Refuse views with rows that no world could have: then nothing is known of any world."""
    counts = scene.workspace.row(
        "disclosure/attacks/view_rows",
        views=[view.table for view in found],
        groups=[[identifier(ours[name]) for name in view.names] for view in found],
        joined=joined,
        sides=list(scene.sides.values()),
    )
    refuse_lost("disclosure/attacks/view_rows", counts[2 * len(found) :])
    for index, view in enumerate(found):
        own, matched = int(counts[2 * index]), int(counts[2 * index + 1])
        if own != matched:
            raise SpecError(
                f"views: {own - matched:,} of {own:,} different rows of {view.shown} match no row of the other "
                "views, so they are not projections of one table; give views that were made of the same rows, "
                "with the same levels of generalization"
            )
