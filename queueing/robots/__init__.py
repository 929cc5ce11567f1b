"""One server, robots sent out one at a time: measures of any policy, and the best one.

J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM Sigmetrics*
2001, *Performance Evaluation Review* 29 (1), 236-244.

`control`
    The best activation policy of the robot queue, by policy iteration on its structure, with a certificate.
`feedback_states`
    Policies of the robot queue, evaluated through the few states where their course turns.
`levels`
    Policies of the robot queue that are falling switching curves, eliminated level by level, and better curves.
`measures`
    What a policy of robots achieves, of one queue or of a fleet.
`queue`
    Robots that bring pages to one indexing server, sent out or kept back after every event.
`relative_values`
    Relative values of the robot queue to twice the digits of a double, and the step of policy iteration from them.
`structure`
    Shapes of an optimal policy of the robot queue: a monotone switching curve, as Talim et al. conjecture, or not.
`talim`
    The decision process of Talim, Liu, Nain and Coffman (2001), on their own chain, event types included.
`value_iteration`
    Value iteration for the robot queue, on states (q, r) after a decision.
`fleet`
    Fleets: robots of several classes, on journeys of phases, in a random environment.
`simulation`
    Robots and their server, event by event.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
