"""The value iteration of Talim et al. (2001), a rival of the robot benchmarks, by the name that they have for it."""

from optmodels.benchmarking.papers import PaperIteration, paper_iteration

__all__ = ["PaperIteration", "paper_iteration"]
