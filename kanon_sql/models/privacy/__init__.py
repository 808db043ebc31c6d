"""Privacy models: one file each. A model declares what it needs and runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.models.privacy.base import Background, Monotonicity, PrivacyModel, ShareBound
from kanon_sql.models.privacy.registry import forget, label_of, model_of, models_of, register, registered
from kanon_sql.models.privacy.t_closeness import HierarchicalTCloseness, OrderedTCloseness, TCloseness
from kanon_sql.models.privacy.whole import Whole

if TYPE_CHECKING:
    from kanon_sql.models.privacy.alpha_k_anonymity import AlphaKAnonymityModel
    from kanon_sql.models.privacy.bayes_optimal import BayesOptimalModel
    from kanon_sql.models.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
    from kanon_sql.models.privacy.ck_safety import CKSafetyModel
    from kanon_sql.models.privacy.delta_disclosure import DeltaDisclosureModel
    from kanon_sql.models.privacy.delta_presence import CoveringDeltaPresenceModel, DeltaPresenceModel
    from kanon_sql.models.privacy.entropy_estimate import EntropyEstimateLDiversity
    from kanon_sql.models.privacy.epsilon_privacy import EpsilonPrivacyModel
    from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
    from kanon_sql.models.privacy.k_map import KMapModel
    from kanon_sql.models.privacy.k_map_estimate import KMapEstimateModel
    from kanon_sql.models.privacy.kk_anonymity import KKAnonymityModel
    from kanon_sql.models.privacy.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity
    from kanon_sql.models.privacy.no_attack import NoAttackModel, NoAttackPopulationModel
    from kanon_sql.models.privacy.npd_diversity import NpdRecursiveDiversity
    from kanon_sql.models.privacy.p_sensitive import PSensitiveModel
    from kanon_sql.models.privacy.personal_k import PersonalKModel
    from kanon_sql.models.privacy.population import PopulationModel
    from kanon_sql.models.privacy.population_uniqueness import PopulationUniquenessModel
    from kanon_sql.models.privacy.profitability import ProfitabilityModel, ProfitabilityPopulationModel
    from kanon_sql.models.privacy.risk import PopulationRiskModel, RiskEstimateModel, RiskModel
    from kanon_sql.models.privacy.skyline import PrivacySkylineModel

__all__ = [
    "AlphaKAnonymityModel",
    "Background",
    "BasicBetaLikeness",
    "BayesOptimalModel",
    "CKSafetyModel",
    "CoveringDeltaPresenceModel",
    "DeltaDisclosureModel",
    "DeltaPresenceModel",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyEstimateLDiversity",
    "EntropyLDiversity",
    "EpsilonPrivacyModel",
    "HierarchicalTCloseness",
    "KAnonymityModel",
    "KKAnonymityModel",
    "KMapEstimateModel",
    "KMapModel",
    "Monotonicity",
    "NoAttackModel",
    "NoAttackPopulationModel",
    "NpdRecursiveDiversity",
    "OrderedTCloseness",
    "PSensitiveModel",
    "PersonalKModel",
    "PopulationModel",
    "PopulationRiskModel",
    "PopulationUniquenessModel",
    "PrivacyModel",
    "PrivacySkylineModel",
    "ProfitabilityModel",
    "ProfitabilityPopulationModel",
    "RecursiveCLDiversity",
    "RiskEstimateModel",
    "RiskModel",
    "ShareBound",
    "TCloseness",
    "Whole",
    "forget",
    "label_of",
    "model_of",
    "models_of",
    "register",
    "registered",
]

_HOME = {
    "AlphaKAnonymityModel": "alpha_k_anonymity",
    "BasicBetaLikeness": "beta_likeness",
    "BayesOptimalModel": "bayes_optimal",
    "CKSafetyModel": "ck_safety",
    "CoveringDeltaPresenceModel": "delta_presence",
    "DeltaDisclosureModel": "delta_disclosure",
    "DeltaPresenceModel": "delta_presence",
    "DistinctLDiversity": "l_diversity",
    "EnhancedBetaLikeness": "beta_likeness",
    "EntropyEstimateLDiversity": "entropy_estimate",
    "EntropyLDiversity": "l_diversity",
    "EpsilonPrivacyModel": "epsilon_privacy",
    "KAnonymityModel": "k_anonymity",
    "KKAnonymityModel": "kk_anonymity",
    "KMapEstimateModel": "k_map_estimate",
    "KMapModel": "k_map",
    "NoAttackModel": "no_attack",
    "NoAttackPopulationModel": "no_attack",
    "NpdRecursiveDiversity": "npd_diversity",
    "PSensitiveModel": "p_sensitive",
    "PersonalKModel": "personal_k",
    "PopulationModel": "population",
    "PopulationRiskModel": "risk",
    "PopulationUniquenessModel": "population_uniqueness",
    "PrivacySkylineModel": "skyline",
    "ProfitabilityModel": "profitability",
    "ProfitabilityPopulationModel": "profitability",
    "RecursiveCLDiversity": "l_diversity",
    "RiskEstimateModel": "risk",
    "RiskModel": "risk",
}
"""The models that are imported when they are first asked for."""

__getattr__ = imported_from(__name__, _HOME)
