"""A server and clients that think: throughput, delay, and how many clients it can take.

N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal of
Operational Research* 142 (2002), 396-418.

`capacity`
    How many clients a server can take at which distance.
`finite_source`
    A server with a fixed crowd of clients: the finite-source queue M/M/s//R, and what an arriving request waits.
`mixed_source`
    A server whose clients think for different times: the finite-source queue with classes, exactly.
`priority_source`
    A server whose clients have priorities: the finite-source queue with non-preemptive priorities, by its chain.
`simulation`
    One server and its clients, request by request.
`tokens`
    Clients that send several requests without waiting for the answers: closed networks of tokens.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
