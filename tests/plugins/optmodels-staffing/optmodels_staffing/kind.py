"""The record that optmodels finds by its entry point; it imports little, and refers to everything else by name."""

from pathlib import Path

from optmodels.kinds import Kind

KIND = Kind(
    name="staffing",
    question="How many servers work in each hour, so that nobody waits too long?",
    paper=(
        'A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in automatic '
        'telephone exchanges", Elektroteknikeren 13 (1917), 5-13.'
    ),
    problem="optmodels_staffing.problem:StaffingProblem",
    data="optmodels_staffing.problem:StaffingData",
    measures={
        "wages": "sum over hours of the wage times the number of servers, in the unit of wages",
        "server_hours": "sum over hours of the number of servers, in hours",
        "worst_waiting_probability": "largest probability, over hours, that a customer has to wait",
        "worst_mean_wait": "largest mean wait, over hours, in hours; undefined where a queue grows for ever",
    },
    recommended=("highs", "local-search"),
    example=str(Path(__file__).with_name("small.json")),
    generator="optmodels_staffing.generate:StaffingGenerator",
    picture="optmodels_staffing.plots:draw_staffing",
    simulated=True,
    commands={"erlang": "optmodels_staffing.commands:erlang"},
)
