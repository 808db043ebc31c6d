"""Attacks on a release, one file each: how many people does it expose, in one aggregate query.

An attack says which *cases* it looks at (classes of the release, or vectors of a table that
the attacker has besides) and, per case, how many people it stands for and how much is learned
about them. They are counted in the database. What an attack needs, what it is about and how it
is run, it declares itself, as an :class:`AttackMethod`; :func:`register` adds one, also from
outside of this package.
"""

from __future__ import annotations

from kanon_sql.disclosure.attacks.base import Attack, AuditInput, Cases, Reading, Revealed, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.class_values import class_keys, class_values
from kanon_sql.disclosure.attacks.method import (
    A_HIERARCHY,
    A_SENSITIVE_ATTRIBUTE,
    AN_EARLIER_RELEASE,
    AN_EXTERNAL_TABLE,
    ANOTHER_VIEW,
    COSTLY_ESTIMATE,
    AttackMethod,
    AttributeAttack,
    Need,
    Option,
    Threat,
    needed,
    refuse_without,
)
from kanon_sql.disclosure.attacks.promises import default_notes
from kanon_sql.disclosure.attacks.readings import worst_of, worst_reading
from kanon_sql.disclosure.attacks.registry import (
    ATTACKS,
    ON_REQUEST,
    label_of,
    methods,
    register,
    result_names,
    unregister,
)

__all__ = [
    "ANOTHER_VIEW",
    "AN_EARLIER_RELEASE",
    "AN_EXTERNAL_TABLE",
    "ATTACKS",
    "A_HIERARCHY",
    "A_SENSITIVE_ATTRIBUTE",
    "COSTLY_ESTIMATE",
    "ON_REQUEST",
    "Attack",
    "AttackMethod",
    "AttributeAttack",
    "AuditInput",
    "Cases",
    "Need",
    "Option",
    "Reading",
    "Revealed",
    "Scene",
    "Target",
    "Threat",
    "Unmeasured",
    "class_keys",
    "class_values",
    "default_notes",
    "label_of",
    "methods",
    "needed",
    "refuse_without",
    "register",
    "result_names",
    "unregister",
    "worst_of",
    "worst_reading",
]
