"""The preset for the three criteria of Opinion 05/2014 on anonymisation techniques."""

from __future__ import annotations

from kanon_sql.verbs.init.presets.base import Preset

__all__ = ["GDPR_WP216"]

GDPR_WP216 = Preset(
    name="gdpr-wp216",
    k=5,
    head=(
        "Preset gdpr-wp216: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation",
        "Techniques, WP216, 0829/14/EN, adopted on 10 April 2014. It judges a technique by three questions:",
        "  singling out: can a person's records be isolated?            k_anonymity below",
        "  linkability:  can two records of one person be linked?       no requirement of a single release; see below",
        "  inference:    can a value be deduced from the others?        l_diversity, or t_closeness, below",
        "",
        "What this is not: the opinion names no k, l or t, and says that k-anonymity alone leaves linkability",
        "and inference a risk (section 3.2). Where one of the three questions is answered by yes, it asks for",
        "an evaluation of the risk of identification. It reads Directive 95/46/EC; recital 26 of the GDPR",
        "asks which means are reasonably likely to be used. Who may come by the release, with which other",
        "data, is not measured here.",
        "",
    ),
    on_k=("Singling out: no person's records are alone with what others may know (WP216, section 3.2.1).",),
    on_sensitive=(
        "Inference: a class does not have the same value throughout (WP216, section 3.2.2). What bounds how",
        "much more a class tells than the whole table:  t_closeness: {attribute: NAME, t: 0.3}",
    ),
    after=(
        "Linkability: the unit and the identifiers are not released, so no column links records. Two releases",
        "of the same persons can be linked by what they have in common; ledger: judges them together (with",
        "one level per column). Measure what is left: kanon-sql audit SPEC.",
    ),
)
