"""Statistics of traces by plain loops, from the definitions: the rival of bench_statistics.py, and a road for tests."""

import math


def steps(result, clock):
    """Moments with the best objective and bound from then on; None where there is none."""
    points = [(getattr(point, clock), point.objective, point.bound) for point in result.trace]
    points.append((getattr(result, clock), result.objective, result.bound))
    best = bound = None
    answer = []
    for time, objective, low in sorted(points, key=lambda point: point[0]):
        if objective is not None and (best is None or objective < best):
            best = objective
        if low is not None and (bound is None or low > bound):
            bound = low
        answer.append((time, best, bound))
    return answer


def gap(value, reference):
    if value is None or reference is None or not math.isfinite(value) or not math.isfinite(reference):
        return 1.0
    if value <= reference:
        return 0.0
    if value > 0 > reference:
        return 1.0
    return (value - reference) / max(abs(value), abs(reference))


def integral(result, clock, reference, horizon):
    """Of the primal gap; of the primal-dual gap if the reference is None."""
    total, last, level = 0.0, 0.0, 1.0
    for time, best, bound in steps(result, clock):
        time = min(time, horizon)
        total += level * (time - last)
        last, level = time, gap(best, bound if reference is None else reference)
    return total + level * (horizon - last)


def time_to_target(result, clock, reference, target):
    for time, best, _ in steps(result, clock):
        if best is not None and best - reference <= (target + 1e-9) * abs(reference):
            return time
    return math.inf


def expected_running_time(times, spent):
    successes = [time for time in times if time < math.inf]
    if not successes:
        return math.inf
    return sum(time if time < math.inf else end for time, end in zip(times, spent, strict=True)) / len(successes)


def share_within(values, x):
    return sum(value <= x for value in values) / len(values) if values else 0.0
