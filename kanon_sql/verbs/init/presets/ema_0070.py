"""The preset for the European Medicines Agency's policy 0070 on the publication of clinical data."""

from __future__ import annotations

import math

from kanon_sql.verbs.init.presets.base import Preset

__all__ = ["EMA_0070", "THRESHOLD"]

THRESHOLD = 0.09
"""The largest risk of re-identification that the guidance names for reports that any reader may get."""

EMA_0070 = Preset(
    name="ema-0070",
    k=math.ceil(1 / THRESHOLD),
    k_is_a_rule=True,
    head=(
        "Preset ema-0070: European Medicines Agency, policy 0070 (EMA/240810/2013) on the publication of",
        "clinical data, and its external guidance, EMA/90915/2016, chapter 3: where the risk of",
        "re-identification of published reports is measured, the maximum is compared with 0.09; a report says",
        "both the maximum and the average risk.",
        "",
        "What this is not: the guidance is about clinical reports, which are texts; this is about a table of",
        "subjects, as their listings are. It asks for an anonymisation report too, with reasons for each",
        "method, what was lost, and how the three criteria of Opinion 05/2014 (WP216) are met. Whether 0.09",
        "is small enough for a rare disease or a small trial is for you to judge, and the population that one",
        "compares with may be larger than the trial.",
        "",
    ),
    on_k=(
        "The maximum risk is 1 / the smallest class: 0.083 with 12 subjects, and above 0.09 with 11.",
        "The average risk is classes / subjects. Both are shown by: kanon-sql risk SPEC --threshold 0.09",
    ),
    on_sensitive=("The threshold is about whose record it is. These are about what the records of a class share.",),
)
