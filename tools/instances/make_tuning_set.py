"""Write benchmarks/tuning/placement-tuning.toml: python tools/instances/make_tuning_set.py (some seconds).

Two grids for each of the 20 larger ones of gautam-25, with the same options and other seeds: strategies are tuned on
instances that are like those of the set, and none of them is in it. Nothing is solved here.
"""

import json
from pathlib import Path

from make_sets import family

from optmodels.benchmarking import read_set

FILE = Path(__file__).parents[2] / "benchmarks" / "tuning" / "placement-tuning.toml"

HEAD = '''# Written by tools/instances/make_tuning_set.py, not by hand.
format = 1
name = "placement-tuning"
title = "40 grids to tune on, like those of gautam-25"
about = """
Two grids for each of the 20 larger ones of gautam-25, with the same options and other seeds.
"""
strategies = ["annealing", "genetic"]
evaluations = 20000
'''


def main() -> None:
    """Write the set."""
    families = []
    for member in read_set("gautam-25").members[5:]:
        options = dict(member.options)
        seed = options.pop("seed")
        name = member.name.replace("gautam-25", "tuning") + "-{seed}"
        families.append(family("placement", name, [seed + 10_000, seed + 20_000], **options))
    FILE.write_text(HEAD + "".join(families), encoding="utf-8")
    print(json.dumps({"instances": len(read_set(FILE)), "file": FILE.name}))


if __name__ == "__main__":
    main()
