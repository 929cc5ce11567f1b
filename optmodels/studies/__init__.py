"""Many runs: comparisons, parameter studies, Pareto fronts, simulations, on one machine or many.

`comparing`
    Problems times strategies times seeds, under one budget, and the folder in which every finished run is kept.
`comparison`
    The runs of a comparison, and what is told about them: the table, the best answers, one record per run.
`comparison_table`
    The table of a comparison: for a terminal of any width, for Markdown, for LaTeX.
`pareto_front`
    The Pareto front of two measures: every decision that is not beaten in both.
`pareto_plots`
    The picture of a Pareto front: its points and steps, the hull that weighted sums reach, and what is dominated.
`pareto_search`
    Two roads to a Pareto front, and which of the points met on the way are on it or on its hull.
`pool`
    Many independent calls, in this process or in several.
`resources`
    Threads and memory of runs: the same number of threads for all of them, and the peak of what a process holds.
`runs`
    The runs that a study asks for: what makes two of them the same run, and how they are made.
`simulating`
    Exact and simulated side by side: a simulation that shares nothing with the evaluator confirms it, or not.
`store`
    What a comparison is asked for, and what it leaves: the study file, its folder, exports.
`sweep_file`
    The CSV file of a sweep, from which a sweep that was killed resumes.
`sweeping`
    Parameter studies: one instance, some of its numbers varied, one answer per point.
`visiting`
    What is visited when, if an answer is followed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
