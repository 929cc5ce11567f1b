"""Markov decision processes: average and fractional costs, policy and value iteration.

`decision_process`
    Markov decision processes with an average cost, and policy iteration with a certificate.
`fractional_process`
    Markov decision processes whose cost is an average plus a quotient of averages, with a certificate.
`policy_improvement`
    Policy iteration: evaluate a policy, improve it wherever that helps, until nothing is left to improve.
`value_iteration`
    Relative value iteration: the same sweep over all states again and again, until values move alike.
`whittle`
    Whittle's index rule: at each slot, whatever is worth most when it is chosen now.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
