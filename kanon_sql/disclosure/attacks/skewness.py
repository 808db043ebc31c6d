"""Skewness: a class may say more about its people than the whole table does."""

from __future__ import annotations

from typing import ClassVar

from kanon_sql.disclosure.attacks.base import Cases, Scene, Unmeasured
from kanon_sql.disclosure.attacks.class_values import class_keys, class_values
from kanon_sql.disclosure.attacks.method import AttributeAttack, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import reference_in, refuse_other_kind
from kanon_sql.frequency import value_facts_of
from kanon_sql.models import TOLERANCE
from kanon_sql.sql import identifier, render

__all__ = ["Skewness"]


@attack
class Skewness(AttributeAttack):
    """The largest gain of posterior over prior belief in any value.

    The skewness attack of Li, Li, Venkatasubramanian (2007, section 3.1): the prior is a value's
    share in the original table (in the release, if t-closeness refers to that), the posterior its
    share in the class; NULL is a value like any other. The gain of one value is at most the
    class's distance, so t-closeness with equal distance bounds it by t. Exposed are the rows of
    classes with a gain above t (up to 1e-9); without such a t-closeness of the attribute nothing says
    how much is too much, so that the gain is measured and no person is called exposed.
    """

    name: ClassVar[str] = "skewness"
    place: ClassVar[int] = 4
    attacker: ClassVar[str] = "compares a class with the whole table"
    exposes: ClassVar[str] = "rows of classes that raise the belief in a value by more than t"
    asks_for: ClassVar[str] = ""
    source: ClassVar[str] = "Li, Li, Venkatasubramanian 2007"
    threat: ClassVar[Threat] = "inference"

    def run(self, scene: Scene) -> list[Cases | Unmeasured]:
        """Compare the classes of the release with the whole table.

        Raises:
            SpecError: the source does not have the attribute.
        """
        attribute = scene.attribute
        asked = [model for model in scene.models if model.attribute == attribute and model.most_gain is not None]
        prior = scene.release if any(model.reference == "release" for model in asked) else scene.source
        if attribute not in prior.columns:
            raise SpecError(
                f"skewness: {prior.shown} has no column {attribute!r} to take the prior distribution from; expected "
                "the spec's source with all its columns"
            )
        try:
            refuse_other_kind(scene.workspace, scene.release.columns[attribute], prior.columns[attribute])
        except SpecError as error:
            return [Unmeasured(self.name, str(error))]
        scene.look_at(prior, [attribute])
        values = class_values(
            scene,
            attribute,
            reference_in(scene.workspace, "prior", prior.relation, value_facts_of((), prior.columns[attribute]), None),
        )
        most = min((model.most_gain for model in asked if model.most_gain is not None), default=None)
        reason = f"no t_closeness of {attribute} with equal distance sets a limit, so this is only measured"
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=render(
                    "disclosure/attacks/skewness",
                    values=values,
                    keys=[identifier(key) for key in class_keys(scene)],
                    most=None if most is None else most + TOLERANCE,
                ),
                keys=class_keys(scene),
                whole=scene.release.relation,
                measure="largest gain of posterior over prior belief",
                notes=[] if asked else [reason],
            )
        ]
