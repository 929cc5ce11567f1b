"""Kind "robots": when to send out a robot.

J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM Sigmetrics*
2001, *Performance Evaluation Review* 29 (1), 236-244.

`areas`
    Robots split over areas, each with a server of its own.
`data`
    The data of a robot instance: every field with its rule, and what they make together.
`enough`
    How many robots ever help: numbers are doubled until the best policy never wants more than half of them.
`fleet`
    Robots of one server in general: several classes, long journeys, a world that changes, several sent out at once.
`generate`
    Random queues with robots that are sent out: instances of kind "robots".
`kind`
    Kind "robots" as one value: what `optmodels list robots` tells, and where the rest is found.
`linear_program`
    Costs and limits of robots as a linear program, and what its solution means.
`mip`
    Robots as a linear program, and under limits as an integer program, in Pyomo.
`plots`
    Pictures of robot problems: maps as in Figures 2 to 4 of Talim et al. (2001), what control gains, maps of fleets.
`pricing`
    Cost and limits of problems of kind "robots": prices, limits as rows of a program, and which of them no policy
    keeps.
`problem`
    When to send crawler robots out and when to keep them back: kind "robots".
`simulation`
    Policies of robots, tried out event by event: of one queue, or of several areas side by side.
`space`
    Policies of robots: an entry for each state, of those that idle robots allow.
`static`
    Fixed numbers of active robots: which are best, and strategy `static`.
`structure`
    What a policy of robots does: switching curves and shapes of values, how often robots go out, and up to which
    number.
`value_iteration`
    What `value-iteration` iterates for kind "robots": values after a decision, or those of Talim et al.
    (2001).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
