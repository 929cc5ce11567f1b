"""Queueing models that evaluate a decision: given a policy, a schedule or a population, they say how well it serves.

Five kinds of models, each a room of its own with the paper it comes from:

`threshold`
    one server, robots switched by the number of pages (Avrachenkov et al. 2011).
`robots`
    one server, robots sent out one at a time (Talim et al. 2001).
`freshness`
    pages that change and robots that visit them (Coffman, Liu and Weber 1998).
`routing`
    packets sent to servers without buffers in an order fixed beforehand (Altman et al. 2000).
`placement`
    a server and clients that think (Gautam 2002).

They share

`numerics`
    Markov chains without subtractions, sums, checks.
`processes`
    arrivals, and distributions of times.
`simulation`
    draws, replications and confidence intervals.

The names used most are exported here; each is loaded at first use.

`FiniteSourceQueue`
    a server and clients that all think equally long: throughput, delay, largest population.
`MixedSourceQueue`
    the same with classes of clients, exactly.
`capacity_by_distance`
    how many clients a server can take when they live at different distances.
`PhaseType`, `reduce_order`
    times made of exponential phases: moments, tails, and the same law with fewer phases.
`BMAP`
    arrivals in batches, driven by a Markov chain: rates and correlation.
`Mode`, `independent_modes`, `thinned_modes`, `marked_modes`
    what robots bring when some of them are active.
`ThresholdQueue`, `ThresholdMeasures`
    one server, robots switched by the number of pages: every measure of any threshold policy.
`SojournTimes`, `SojournLaw`
    how long pages of such a queue stay: transforms, moments, distribution, quantiles.
`deterministic_patience`
    measures where pages go out of date after a constant time, as a limit with its error.
`unbounded_room`, `Truncation`
    how much room is as good as room for all pages, under every policy.
`RobotQueue`, `RobotMeasures`, `static_measures`, `best_static`, `balancing_weight`
    one server, robots sent out one at a time: every measure of any policy, and of a fixed number of robots.
`best_policy`, `policy_step`, `PolicyStep`
    the best such policy, with a certificate.
`Constant`, `Exponential`, `Erlang`, `Hyperexponential`, `PhaseTypeTime`, `Samples`
    how long one access to a page takes.
`traits`, `even_obsolescence`, `schedule_obsolescence`, `randomized_obsolescence`, `integer_bound`
    how long pages of an index are out of date, for any way of visiting them.
`allocate`, `allocate_randomized`, `price_pages`, `objective_pass`
    how often to visit each page, with a proved bound; the same for any number of pages, by passes over them.
`RenewalArrivals`, `MarkovArrivals`, `TraceArrivals`
    packets that arrive one by one.
`loss_costs`, `freshness_costs`, `callable_costs`, `GapCosts`, `word_cost`, `words_cost`, `horizon_cost`
    what it costs to send them to servers without buffers in an order fixed beforehand.
`stationary_distribution`, `stationary_by_levels`
    Markov chains, without a subtraction: small probabilities have all their digits.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
