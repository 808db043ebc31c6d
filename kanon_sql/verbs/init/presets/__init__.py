"""Presets: what ``init`` writes for a rule or guideline, with its sources, and what following it does not make sure."""

from __future__ import annotations

from kanon_sql.verbs.init.presets.base import Preset, PresetKnowledge
from kanon_sql.verbs.init.presets.ema_0070 import EMA_0070
from kanon_sql.verbs.init.presets.gdpr_wp216 import GDPR_WP216
from kanon_sql.verbs.init.presets.safe_harbor import SAFE_HARBOR, SMALL_AREA

__all__ = ["PRESETS", "SMALL_AREA", "Preset", "PresetKnowledge"]

PRESETS = {preset.name: preset for preset in (SAFE_HARBOR, EMA_0070, GDPR_WP216)}
"""All of them by name."""
