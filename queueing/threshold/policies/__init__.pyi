from .chain import SINGLE_LIMIT as SINGLE_LIMIT
from .chain import PolicyChain as PolicyChain
from .chain import checked_policy as checked_policy
from .chain import policy_chain as policy_chain
from .chain import policy_measures as policy_measures
from .chain import stationary_of_policy as stationary_of_policy
from .chain import too_large as too_large
from .transitions import YIELDS as YIELDS

__all__ = [
    "SINGLE_LIMIT",
    "YIELDS",
    "PolicyChain",
    "checked_policy",
    "policy_chain",
    "policy_measures",
    "stationary_of_policy",
    "too_large",
]
