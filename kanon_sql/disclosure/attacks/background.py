"""Background knowledge: who knows a few values that a person does not have is left with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import Cases, Scene
from kanon_sql.disclosure.attacks.class_values import class_keys, class_values
from kanon_sql.disclosure.attacks.method import AttributeAttack, Option, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.sql import Sql, identifier, render

__all__ = ["Background", "ruled_out"]


@attack
class Background(AttributeAttack):
    """Classes in which ruling out this many values leaves at most one.

    The attacker knows of the person ``negations`` statements of the form "does not have s"
    (Machanavajjhala et al. 2007, section 2.2, and section 3.2: l - 1 of them break a class with l
    values). Exposed are all rows of a class with at most ``negations`` + 1 different values;
    beyond the requirement, if an l-diversity of the attribute asks for more values than the
    class has. NULL is no value: it neither protects nor is it disclosed, so that a class with
    nothing but NULL exposes no person.

    The risk is the attacker's belief in the most frequent value once the next frequent ones are
    ruled out: r1 / (r1 + r_(n+2) + ... + r_m), the statements that hurt most.

    With recursive (c,l)-diversity, a note says with which l the classes are left: each statement costs
    one level at most (section 4.1). It counts rows, so that a spec with a unit gets no such note.
    """

    name: ClassVar[str] = "background"
    place: ClassVar[int] = 3
    attacker: ClassVar[str] = "can also rule out some values"
    exposes: ClassVar[str] = "rows of classes in which that leaves one value"
    asks_for: ClassVar[str] = "`--set negations=N`"
    source: ClassVar[str] = "Machanavajjhala et al. 2007"
    threat: ClassVar[Threat] = "inference"
    uses: ClassVar[tuple[Option, ...]] = (Option.NEGATIONS,)
    default_noted: ClassVar[Literal["k", "l"] | None] = "l"

    def run(self, scene: Scene) -> list[Cases]:
        """Look at the classes of the release."""
        attribute, negations = scene.attribute, scene.given.negations
        others = "others are" if negations > 1 else "other is"
        values = class_values(scene, attribute)
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=ruled_out(scene, values, negations, scene.l_of(attribute)),
                keys=class_keys(scene),
                whole=scene.release.relation,
                measure=f"largest share of a value once {negations} {others} ruled out",
                notes=[
                    f"the attacker rules out {negations} value{'s' if negations > 1 else ''} of the class",
                    *_levels(scene, values, negations),
                ],
            )
        ]


def _levels(scene: Scene, values: Sql, negations: int) -> Iterator[str]:
    """With which l each class is recursive (c,l)-diverse, before and after values are ruled out."""
    if scene.spec.unit is not None:
        return
    factors = {model.recursive_c for model in scene.models if model.attribute == scene.attribute}
    for c in sorted(c for c in factors if c is not None):
        before, after = (
            scene.workspace.row(
                "disclosure/attacks/recursive_level",
                values=values, keys=[identifier(key) for key in class_keys(scene)], negations=count, c=c,
            )[0]
            for count in (0, negations)
        )  # fmt: skip
        if before is not None and after is not None:
            yield (
                f"with c = {c:g}, every class is recursive {_diverse(int(before))}; with any {negations} "
                f"value{'s' if negations > 1 else ''} ruled out, {_diverse(int(after))}"
            )


def _diverse(level: int) -> str:
    return f"(c, {level})-diverse" if level else "(c, l)-diverse for no l"


def ruled_out(scene: Scene, values: Sql, negations: int, diversity: int) -> Sql:
    """The cases of classes whose values (or labels) are known once this many are ruled out.

    Args:
        scene: the release.
        values: a FROM form of :mod:`kanon_sql.disclosure.attacks.class_values`.
        negations: how many values are ruled out; 0 for none.
        diversity: the fewest different values that the requirements leave to a class.
    """
    return render(
        "disclosure/attacks/ruled_out",
        values=values,
        keys=[identifier(key) for key in class_keys(scene)],
        negations=negations,
        fewer=min(negations + 1, diversity - 1),
    )
