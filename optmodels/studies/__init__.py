"""Many runs: comparisons, parameter studies, Pareto fronts, simulations, on one machine or many.

`comparing`
    Problems times strategies times seeds, under one budget.
`comparing_stored`
    The folder of a comparison: every finished run on disk, and what of it holds when the comparison is resumed.
`comparing_table`
    The table of a comparison: a line per problem and strategy, computed from the runs.
`comparison`
    The runs of a comparison, and what is told about them: the table, the best answers, one record per run.
`pareto`
    The Pareto front of two measures: every decision that is not beaten in both.
`pareto_plots`
    The picture of a Pareto front: its points and steps, the hull that weighted sums reach, and what is dominated.
`pareto_points`
    Which of many points are worth having when two numbers are to be small, and which of those a weighted sum finds.
`pareto_search`
    Two roads to a Pareto front: judge every decision, or solve again and again under limits on one measure.
`pool`
    Many independent calls, in this process or in several.
`simulating`
    Exact and simulated side by side: a simulation that shares nothing with the evaluator confirms it, or not.
`simulating_report`
    Exact and simulated side by side, as a table and as data.
`sweeping`
    Parameter studies: one instance, some of its numbers varied, one answer per point.
`sweeping_stored`
    Points of a parameter study as they stand in its CSV file, and back.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
