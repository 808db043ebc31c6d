"""What each requirement promises, in a sentence for a reader who knows no formulas."""

from __future__ import annotations

__all__ = ["CLASS", "definition"]

CLASS = (
    "A class is all rows of the release that have the same labels in every quasi-identifier: an attacker who knows "
    "these of a person cannot tell by them which of the rows of a class is theirs."
)

_DEFINITIONS = {
    "k_anonymity": "Every class has at least k rows, or persons where persons are protected (Samarati 2001; Sweeney "
    "2002). It promises nothing about sensitive values: all of a class may have the same.",
    "l_diversity": "The sensitive attribute has at least l well-represented values in every class, by the kind that is "
    "named: different ones, or spread so that none is too frequent (Machanavajjhala et al. 2007).",
    "t_closeness": "In every class the sensitive attribute is distributed as in the whole table, up to the distance t "
    "(Li, Li, Venkatasubramanian 2007).",
    "alpha_k_anonymity": "Every class has at least k rows, and no sensitive value has a share of it above alpha (Wong, "
    "Li, Fu, Wang 2006).",
    "p_sensitive_k_anonymity": "Every class has at least k rows and p different sensitive values (Truta, Vinay 2006).",
    "beta_likeness": "No value is more frequent in a class than in the whole table by more than a factor that beta "
    "bounds (Cao, Karras 2012).",
    "delta_disclosure": "The shares of every value in a class and in the table differ by a factor that delta bounds "
    "(Brickell, Shmatikov 2008).",
    "ck_safety": "No value of any person is believed with the probability c, by an attacker who knows any k "
    "implications (Martin et al. 2007).",
    "privacy_skyline": "No value of any person is believed with the probability c, by an attacker who knows a number "
    "of facts of the person, of others, and of the family (Chen, LeFevre, Ramakrishnan 2007).",
    "epsilon_privacy": "That a person is in the table moves no belief in their value by more than a factor epsilon "
    "(Machanavajjhala, Gehrke, Goetz 2009).",
    "k_map": "Every row stands for at least k persons of a population; where none is named, this is estimated (Sweeney "
    "2001; El Emam, Dankar 2008).",
    "delta_presence": "The probability that a person of the population is in the release lies between two bounds "
    "(Nergiz, Atzori, Clifton 2007).",
    "bayes_optimal": "The release changes no attacker's belief in a person's value by more than theta (Machanavajjhala "
    "et al. 2007, section 3).",
    "risk": "The risk of being found is at or below thresholds, for the record that is easiest to find, on average, or "
    "for a share of the records, by the attacker that is named (El Emam 2013; Dankar, El Emam 2010).",
    "kk_anonymity": "Every row fits k records of the source, every record k rows, or one of both, as its kind says. It "
    "is weaker than k-anonymity (Gionis, Mazza, Tassa 2008).",
    "population_uniqueness": "At most a share of the population is estimated to be unique in it (Dankar et al. 2012).",
    "no_attack": "Finding a person is expected to cost an attacker more than it gains, at the prices that are named "
    "(Wan et al. 2015).",
    "profitability": "Every record earns its publisher more than an attack on it is expected to cost, at the prices "
    "that are named. It protects no person by itself (Wan et al. 2015).",
}


def definition(name: str) -> str | None:
    """The definition of a requirement by its key in a spec; None for one that a user has added."""
    return _DEFINITIONS.get(name)
