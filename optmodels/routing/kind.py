"""Kind "routing" as one value: what `optmodels list routing` tells, and where the rest is found."""

from __future__ import annotations

from ..kinds import Kind

KIND = Kind(
    name="routing",
    question="Which server does the next packet go to, if none can be observed?",
    paper=(
        'E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no '
        'buffers", Journal of Applied Probability 37 (2000), 668-684.'
    ),
    problem="optmodels.routing.problem:RoutingProblem",
    data="optmodels.routing.data:RoutingData",
    measures={
        "cost": "weighted packets lost per arrival, or weighted fraction of time that pages are out of date",
        "period": "length of the period, in packets",
    },
    recommended=("min-mean-cycle", "multimodular", "whittle"),
    example="routing/example-3-4.json",
    generator="optmodels.routing.generate:RoutingGenerator",
    picture="optmodels.routing.plots:draw_routing",
    simulated=True,
)
