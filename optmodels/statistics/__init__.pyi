from .anytime import TARGETS as TARGETS
from .anytime import Clock as Clock
from .anytime import StepCurve as StepCurve
from .anytime import curve_of as curve_of
from .anytime import ecdf as ecdf
from .anytime import expected_running_time as expected_running_time
from .anytime import primal_dual_gap as primal_dual_gap
from .anytime import primal_dual_integral as primal_dual_integral
from .anytime import primal_gap as primal_gap
from .anytime import primal_integral as primal_integral
from .anytime import times_to_targets as times_to_targets
from .distributions import Distribution as Distribution
from .distributions import distribution_of as distribution_of
from .intervals import CONFIDENCE as CONFIDENCE
from .intervals import RESAMPLES as RESAMPLES
from .intervals import Interval as Interval
from .intervals import median_interval as median_interval
from .intervals import nested_interval as nested_interval
from .intervals import resampled_medians as resampled_medians
from .pairs import FEWEST_DIFFERENT as FEWEST_DIFFERENT
from .pairs import LEVEL as LEVEL
from .pairs import PairedTest as PairedTest
from .pairs import compare_pairs as compare_pairs
from .pairs import holm as holm
from .pairs import mean_ranks_of as mean_ranks_of
from .pairs import signed_rank as signed_rank
from .profiles import data_profiles as data_profiles
from .profiles import performance_profiles as performance_profiles
from .profiles import performance_ratios as performance_ratios
from .ranks import Ranking as Ranking
from .ranks import critical_difference as critical_difference
from .ranks import rank_strategies as rank_strategies
from .referee import judge as judge
from .references import BEST_KNOWN as BEST_KNOWN
from .references import BEST_SEEN as BEST_SEEN
from .references import NOT_APPLICABLE as NOT_APPLICABLE
from .references import OPTIMUM as OPTIMUM
from .references import Reference as Reference
from .references import comparable as comparable
from .references import references_of as references_of
from .scores import Score as Score
from .scores import Standing as Standing
from .scores import Statistics as Statistics
from .sentences import percent as percent
from .tables import statistics_data as statistics_data
from .tables import statistics_text as statistics_text

__all__ = [
    "BEST_KNOWN",
    "BEST_SEEN",
    "CONFIDENCE",
    "FEWEST_DIFFERENT",
    "LEVEL",
    "NOT_APPLICABLE",
    "OPTIMUM",
    "RESAMPLES",
    "TARGETS",
    "Clock",
    "Distribution",
    "Interval",
    "PairedTest",
    "Ranking",
    "Reference",
    "Score",
    "Standing",
    "Statistics",
    "StepCurve",
    "comparable",
    "compare_pairs",
    "critical_difference",
    "curve_of",
    "data_profiles",
    "distribution_of",
    "ecdf",
    "expected_running_time",
    "holm",
    "judge",
    "mean_ranks_of",
    "median_interval",
    "nested_interval",
    "percent",
    "performance_profiles",
    "performance_ratios",
    "primal_dual_gap",
    "primal_dual_integral",
    "primal_gap",
    "primal_integral",
    "rank_strategies",
    "references_of",
    "resampled_medians",
    "signed_rank",
    "statistics_data",
    "statistics_text",
    "times_to_targets",
]
