from .benching import Benchmark as Benchmark
from .benching import Finding as Finding
from .benching import bench as bench
from .sets import BenchmarkSet as BenchmarkSet
from .sets import Member as Member
from .sets import instance_digest as instance_digest
from .sets import read_set as read_set
from .sets import shipped_sets as shipped_sets
from .solutions import Solution as Solution
from .solutions import check_solution as check_solution
from .solutions import kept_decision as kept_decision
from .solutions import patch_text as patch_text
from .solutions import read_solutions as read_solutions
from .solutions import solutions_text as solutions_text
from .tuned import Tuning as Tuning
from .tuning import tune as tune
from .tuning_race import Entrant as Entrant
from .tuning_race import Race as Race
from .tuning_space import TuningSpace as TuningSpace
from .tuning_space import space_of as space_of

__all__ = [
    "Benchmark",
    "BenchmarkSet",
    "Entrant",
    "Finding",
    "Member",
    "Race",
    "Solution",
    "Tuning",
    "TuningSpace",
    "bench",
    "check_solution",
    "instance_digest",
    "kept_decision",
    "patch_text",
    "read_set",
    "read_solutions",
    "shipped_sets",
    "solutions_text",
    "space_of",
    "tune",
]
