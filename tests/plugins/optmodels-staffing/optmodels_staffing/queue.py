"""The queue M/M/c."""

import math


def waiting_probability(load: float, servers: int) -> float:
    """Erlang's second formula: the probability that a customer waits; 1 where the servers cannot keep up.

    >>> round(waiting_probability(2.0, 3), 6), waiting_probability(3.0, 3)
    (0.444444, 1.0)
    """
    if load >= servers:
        return 1.0
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1.0 - load / servers * (1.0 - blocked))


def mean_wait(arrival_rate: float, service_rate: float, servers: int) -> float:
    """Mean time from arrival to service; infinite where the servers cannot keep up."""
    spare = servers * service_rate - arrival_rate
    return waiting_probability(arrival_rate / service_rate, servers) / spare if spare > 0 else math.inf
