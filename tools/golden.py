"""Renew the golden results: what every strategy answers, and what every simulation sees, from fixed seeds.

``tests/golden/<kind>.json`` holds one run for each built-in strategy and each class of problems that it takes, on the
shipped instance with the fewest decisions. A strategy that draws random numbers has two seeds, and two more on an
instance that it cannot exhaust (`ROOMY`): where every decision is seen, no random stream shows. Short simulations
follow, one for each kernel at least. Runs are limited by evaluations, never by seconds. A test repeats all of them: a
changed random stream, a heuristic that became worse, a sentence that changed are seen there, and renewed here if they
are meant.

>>> python tools/golden.py
>>> python tools/golden.py placement robots

What depends on the clock or on the machine is left out:

- seconds, versions of libraries, and the trace, since `exhaustive` chooses the size of its batches by the clock, also
  where the run has no limit of time, and so at which evaluation an improvement is noted;
- of strategies that call a solver (`SOLVERS`) all but status, objective, bound and what ended the run: which of several
  best decisions a solver finds depends on its version and on the platform, and so do nodes and iterations;
- how many policies `optimal-policy` looked at (`ROUNDED`): it closes a gap of 1e-11, where last digits decide, after 40
  intervals with kernels compiled for one processor and after 51 with those for any, to the same answer;
- how many errors a simulated value is from the exact one, since an error may be zero but for rounding.

Numbers are compared to nine digits (`RELATIVE`): libraries of linear algebra and compilers add up in different orders,
and differ in the last digits. What is zero but for rounding, such as a residual, is compared with zero (`ABSOLUTE`).
Everything else is compared exactly.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from heuristics import refusal
from optmodels import instance
from optmodels.registry import BUILT_IN, make_strategy, strategies
from optmodels.results import plain, result_to_data
from optmodels.solving import solve
from optmodels.studies import simulate
from queueing.processes import Constant

ROOT = Path(__file__).parents[1]
INSTANCES = ROOT / "instances"
GOLDEN = ROOT / "tests" / "golden"
RENEW = "python tools/golden.py"

EVALUATIONS = 200
SEEDS = (1, 2)

#: What is cheap may look at more: the random starts of `multimodular` come late, and change little.
MORE: Mapping[str, int] = {"multimodular": 10_000}

#: Decisions among which a search of that many evaluations cannot see all.
ROOMY = 10_000

#: Strategies whose decision is that of a solver, or may be.
SOLVERS = {"best-of", "clauses", "highs", "linear-program"}
OF_SOLVERS = ("parameters", "status", "objective", "bound", "stopped_by")
OF_OTHERS = (*OF_SOLVERS, "decision", "measures", "evaluations", "judged_in_full", "extra")

#: What rests on last digits, by strategy.
ROUNDED: Mapping[str, tuple[str, ...]] = {
    "optimal-policy": (
        "evaluations",
        "judged_in_full",
        "extra.policy_search.intervals",
        "extra.policy_search.policies",
    )
}

#: Longer decisions are told by their first entries and a checksum.
LONG, FIRST = 50, 10

RELATIVE, ABSOLUTE = 1e-9, 1e-12

#: What is simulated: instance, decision, and the length of a replication in units of the problem's time.
SIMULATIONS: tuple[tuple[str, Any, float], ...] = (
    ("threshold/avrachenkov-k5", [-1, 2, 2], 200.0),
    ("robots/talim-two-robots", [1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0], 200.0),
    ("robots/fleet-two-robots", [2, 1, 0, 2, 1, 0, 2, 1, 0, 0, 0, 0], 200.0),
    ("robots/areas-3", [5, 5, 2], 200.0),
    ("freshness/coffman-4", {"schedule": [1, 3, 0, 2]}, 200.0),
    ("freshness/coffman-4-cycle", {"schedule": [0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 1]}, 200.0),
    ("freshness/coffman-4", {"randomized": [0.2, 0.2, 0.2, 0.4]}, 200.0),
    ("routing/local-search-3", [0, 1, 2, 1], 200.0),
    ("routing/loss-3", [0, 1, 2, 1], 200.0),
    ("routing/map-3", [0, 1, 2], 200.0),
)


# -- what there is to run ----------------------------------------------------------------------------------------------


@cache
def loaded() -> dict[Path, Any]:
    """Load all shipped instances, those with the fewest decisions first."""
    found = {file: instance.load(file) for file in sorted(INSTANCES.glob("*/*.json"))}
    return {file: found[file] for file in sorted(found, key=lambda file: (found[file].space.size, file.stat().st_size))}


def sort_of(problem: Any) -> tuple[type, bool]:
    """Tell problems of one class apart by whether their spaces list all decisions: strategies take one or the other."""
    return type(problem), getattr(problem.space, "complete", True)


def runs() -> Iterator[tuple[str, str, str, int]]:
    """Yield kind, strategy, instance and seed of every run."""
    for name in sorted(entry.name for entry in strategies.entries() if entry.origin == BUILT_IN):
        strategy = make_strategy(name)
        random = not getattr(strategy, "deterministic", False)
        seen: set[tuple[tuple[type, bool], bool]] = set()
        for file, problem in loaded().items():
            roomy = random and problem.space.size >= ROOMY
            sort = sort_of(problem)
            wanted = (sort, False) not in seen or (roomy and (sort, True) not in seen)
            if wanted and refusal(problem, strategy) is None:
                seen |= {(sort, False), (sort, roomy)}
                yield from ((file.parent.name, name, file.stem, seed) for seed in SEEDS[: 1 + random])


def expected() -> dict[str, dict[str, dict[str, Any]]]:
    """Map each kind to what its file must hold: the key of each run and simulation, and how to repeat it."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for kind, name, stem, seed in runs():
        case = {"strategy": name, "instance": stem, "seed": seed}
        found.setdefault(kind, {})[f"solve {stem} by {name}, seed {seed}"] = case
    for place, decision, time in SIMULATIONS:
        kind, _, stem = place.partition("/")
        case = {"instance": stem, "at": decision, "time": time}
        form = "".join(f" {form}" for form in decision) if isinstance(decision, Mapping) else ""
        found.setdefault(kind, {})[f"simulate {stem}{form}"] = case
    found["freshness"]["simulate pages that come and go"] = {"churn": 50.0}
    return found


# -- one run -----------------------------------------------------------------------------------------------------------


def repeat(kind: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """Run a case and return what is kept of it."""
    if "churn" in case:
        return churn(case["churn"])
    file = INSTANCES / kind / f"{case['instance']}.json"
    if "strategy" in case:
        name = case["strategy"]
        result = solve(file, name, evaluations=MORE.get(name, EVALUATIONS), seed=case["seed"])
        told = result_to_data(result, files=False)
        kept = {field: told[field] for field in (OF_SOLVERS if name in SOLVERS else OF_OTHERS)}
        for place in ROUNDED.get(name, ()):
            *outside, last = place.split(".")
            del reduce(getitem, outside, kept)[last]
    else:
        kept = simulate(file, case["at"], replications=2, time=case["time"], seed=SEEDS[0]).to_data()
        for field in ("seconds", "versions", "largest_z"):
            del kept[field]
        for line in kept["measures"].values():
            del line["z"]
    if "decision" in kept:
        kept["decision"] = shortened(kept["decision"])
    return kept


def churn(rounds: float) -> dict[str, Any]:
    """Simulate pages that come and go, as a benchmark does and no command."""
    sys.path.append(str(ROOT / "benchmarks"))
    from freshness_churn import ChurningPages, simulate_churn

    world = ChurningPages(np.array([1.0, 2.0, 0.5]), np.ones(3), Constant(0.1), leave_rate=0.01)
    kept: dict[str, Any] = plain(simulate_churn(world, rounds=rounds, replications=2, seed=SEEDS[0]))
    return kept


def shortened(decision: Any) -> Any:
    """Replace long lists of whole numbers by their length, first entries and a checksum; others must be compared."""
    if isinstance(decision, Mapping):
        return {name: shortened(part) for name, part in decision.items()}
    if not isinstance(decision, list) or len(decision) <= LONG or not all(type(entry) is int for entry in decision):
        return decision
    checksum = hashlib.sha256(json.dumps(decision).encode()).hexdigest()
    return {"entries": len(decision), "first": decision[:FIRST], "sha256": checksum}


# -- golden and new ----------------------------------------------------------------------------------------------------


def differences(golden: Any, now: Any, place: str = "") -> Iterator[str]:
    """Yield a sentence for every difference, with both values."""
    if isinstance(golden, Mapping) and isinstance(now, Mapping):
        for name in sorted(golden.keys() | now.keys()):
            inside = f"{place}.{name}" if place else name
            if name not in now:
                yield f"{inside} was {golden[name]!r} and is gone"
            elif name not in golden:
                yield f"{inside} is new: {now[name]!r}"
            else:
                yield from differences(golden[name], now[name], inside)
    elif isinstance(golden, list) and isinstance(now, list) and len(golden) == len(now):
        for index, (one, other) in enumerate(zip(golden, now, strict=True)):
            yield from differences(one, other, f"{place}[{index}]")
    elif isinstance(golden, float) and isinstance(now, float):
        if not math.isclose(golden, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{place} was {golden!r} and is {now!r}"
    elif type(golden) is not type(now) or golden != now:
        yield f"{place} was {golden!r} and is {now!r}"


def read(kind: str) -> dict[str, Any]:
    """Read the file of a kind: key of a case to how it is repeated (``case``) and what came out (``told``)."""
    file = GOLDEN / f"{kind}.json"
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return content


def written(value: Any, indent: str = "") -> str:
    """Write JSON with sorted keys; what fits in a line stands in one, so that a difference is read at a glance."""
    line = json.dumps(value, sort_keys=True, allow_nan=False)
    if len(indent) + len(line) <= 110 or not isinstance(value, dict | list) or not value:
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + written(entry, deeper) for entry in value) + f"\n{indent}]"
    entries = (f"{deeper}{json.dumps(name)}: {written(value[name], deeper)}" for name in sorted(value))
    return "{\n" + ",\n".join(entries) + f"\n{indent}}}"


def main() -> int:
    """Run everything again and write the files, telling what is different."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kinds", nargs="*", help="all unless said")
    options = parser.parse_args()
    cases = expected()
    if unknown := set(options.kinds) - set(cases):
        parser.error(f"no kind is called {', '.join(sorted(unknown))}; there are {', '.join(sorted(cases))}")
    for kind in sorted(options.kinds or cases):
        before = read(kind)
        # Through JSON and back, so that what is compared is what is read.
        after = {
            key: {"case": case, "told": json.loads(json.dumps(repeat(kind, case), allow_nan=False))}
            for key, case in cases[kind].items()
        }
        for key in sorted(before.keys() | after.keys()):
            for sentence in differences(before.get(key, {}), after.get(key, {})):
                print(f"{kind}: {key}: {sentence[:300]}")
        # Numbers that differ by rounding alone stay as they were: a renewed file shows what is different.
        for key in after:
            if key in before and not any(differences(before[key], after[key])):
                after[key] = before[key]
        (GOLDEN / f"{kind}.json").write_text(written(after) + "\n", encoding="utf-8")
        print(f"{kind}: {len(after)} golden results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
