"""What the labels of classes lose: the column ``class_loss``, of which some privacy models make their measure.

It is the logarithm of the vectors of the domain that the labels of a class stand for, over that of all vectors: 0 for
values, 1 for labels that all are the top, and 0 where the domain has one vector. How many values a label stands for is
joined to the classes once they are counted, as for the metrics: there are fewer classes than vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.models import PrivacyModel
from kanon_sql.sql import Sql, render

__all__ = ["LabelWidths", "judge_widths", "with_losses"]


@dataclass(frozen=True)
class LabelWidths:
    """How wide the labels of classes are.

    Attributes:
        labels: expressions that tell the labels of one column apart, constant within a class; of each column that may
            have labels for several values.
        sizes: per such column, a query of ``code``, the label, and ``label_size``, the values of the domain that it
            stands for.
        at_top: the logarithm of the vectors that columns at their top stand for.
        domain: that of all vectors.
    """

    labels: Sequence[Sql]
    sizes: Sequence[Sql]
    at_top: Sql
    domain: float

    @property
    def carried(self) -> dict[str, Sql]:
        """The labels by the columns that classes carry along."""
        return {f"x{position}": label for position, label in enumerate(self.labels)}


def judge_widths(models: Sequence[PrivacyModel]) -> bool:
    """Whether some requirement asks how wide labels are."""
    return any(model.uses_label_width for model in models)


def with_losses(found: Sql, columns: Sequence[str], widths: LabelWidths, measures: Mapping[str, Sql]) -> Sql:
    """Classes with the measures that are made of what their labels lose.

    Args:
        found: the classes, with the labels that they carry.
        columns: those of them that are needed later.
        widths: of the labels.
        measures: a model's column -> its measure.
    """
    return render(
        "evaluate/class_losses",
        classes=found,
        columns=columns,
        labels=list(widths.carried),
        sizes=list(widths.sizes),
        at_top=widths.at_top,
        domain=widths.domain,
        measures=list(measures.items()),
    )
