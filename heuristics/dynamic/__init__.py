"""Markov decision processes: average and fractional costs, policy and value iteration.

`decision_process`
    Markov decision processes with an average cost, solved with a certificate.
`fractional_process`
    Markov decision processes whose cost is an average plus a quotient of averages, with a certificate.
`policy_iteration`
    The strategy `policy-iteration`: evaluate a policy, improve it wherever that helps, until nothing is left to
    improve.
`value_iteration`
    The strategy `value-iteration`: update the values of all states until all change alike. The problem supplies the
    update, that of Talim et al. (2001) included.
`whittle`
    The strategy `whittle`, whose index rule the problem names: that of page visits is in `heuristics.sequencing`,
    that of servers in `heuristics.routing`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
