"""Arrival processes and modes: the paper's figures, closed forms, and laws that hold for every process."""

import pickle

import numpy as np
import pytest

from queueing import BMAP, Mode, independent_modes, marked_modes, thinned_modes

# Section 7 of the paper with the three signs put right: D0, D1, ... for 1, 2, 3, 4 active robots.
PAPER = (
    ([[-10, 2], [0, -0.5]], [[0.05, 3], [0.29, 0.005]], [[0.05, 4.9], [0.2, 0.005]]),
    (
        [[-5.65, 1.1], [0, -0.85]],
        [[0.01, 2.5], [0.25, 0]],
        [[0.02, 0.5], [0.25, 0]],
        [[0.02, 1.5], [0.1, 0.25]],
    ),
    ([[-2.48, 0.48], [0.48, -3.48]], [[1.5, 0], [0, 2.25]], [[0.5, 0], [0, 0.75]]),
    (
        [[-1.45, 0.45], [0.6, -2.6]],
        [[0.25, 0], [0, 0.5]],
        [[0, 0], [0, 0]],
        [[0, 0], [0, 0]],
        [[0.75, 0], [0, 1.5]],
    ),
)
PRINTED = ((1.28, 0.853, -0.218), (2.41, 1.208, -0.111), (3.125, 2.5, 0.02), (4.64, 1.43, 0.035))


def random_process(rng: np.random.Generator, phases: int, largest: int) -> BMAP:
    blocks = rng.random((largest + 1, phases, phases)) * (rng.random((largest + 1, phases, phases)) < 0.7)
    blocks[1] += 0.1
    np.fill_diagonal(blocks[0], 0.0)
    blocks[0] -= np.diag(blocks.sum(axis=(0, 2)))
    return BMAP(tuple(blocks))


@pytest.mark.parametrize(("blocks", "printed"), list(zip(PAPER, PRINTED, strict=True)), ids=["1", "2", "3", "4"])
def test_the_papers_rates_and_correlations(blocks, printed):
    process = BMAP(blocks)
    digits = [len(str(value).split(".")[1]) for value in printed]
    for value, figure, places in zip(
        (process.rate, process.group_rate, process.correlation), printed, digits, strict=True
    ):
        assert value == pytest.approx(figure, abs=10.0**-places)  # the print truncates


def test_the_signs_as_printed_are_refused():
    wrong = (
        [[-5.65, 1.1], [0, -0.85]],
        [[-0.01, 2.5], [0.25, 0]],
        [[-0.02, 0.5], [0.25, 0]],
        [[0.02, 1.5], [0.1, 0.25]],
    )
    with pytest.raises(ValueError, match=r"D1\[0\]\[0\] must be a rate of at least 0, but it is -0\.01"):
        BMAP(wrong)
    with pytest.raises(ValueError, match=r"Row 1 of D0 \+ \.\.\. \+ D2 must sum to 0, but it sums to 6\.96"):
        BMAP(([[-2.48, 0.48], [0.48, 3.48]], *PAPER[2][1:]))


def test_poisson_arrivals_are_uncorrelated():
    process = BMAP.poisson(3.0)
    assert process.rate == process.group_rate == 3.0
    assert process.interval_variance == pytest.approx(1 / 9, rel=1e-14)
    assert process.correlation == pytest.approx(0.0, abs=1e-15)


def test_renewal_arrivals_are_uncorrelated_and_have_their_variance():
    erlang_two = BMAP.map([[-2.0, 2.0], [0.0, -2.0]], [[0.0, 0.0], [2.0, 0.0]])
    assert erlang_two.rate == pytest.approx(1.0)
    assert erlang_two.interval_variance == pytest.approx(0.5, rel=1e-14)
    assert erlang_two.correlation == pytest.approx(0.0, abs=1e-14)


def test_mmpp_has_the_mean_of_its_rates():
    process = BMAP.mmpp([[-1.0, 1.0], [3.0, -3.0]], [2.0, 10.0])
    assert process.rate == pytest.approx(0.75 * 2 + 0.25 * 10, rel=1e-14)
    assert process.correlation > 0


def test_batches_multiply_the_rate():
    process = BMAP.batches(BMAP.poisson(2.0), [0.5, 0.0, 0.5])
    assert process.group_rate == pytest.approx(2.0)
    assert process.rate == pytest.approx(4.0)
    assert process.mean_batch == pytest.approx(2.0)
    assert process.batch_rates == pytest.approx((1.0, 0.0, 1.0))
    assert process.largest_batch == 3


@pytest.mark.parametrize("seed", range(5))
def test_correlation_is_that_of_two_successive_intervals(seed):
    """E[T1 T2] from the joint transform of two successive intervals, by finite differences."""
    process = random_process(np.random.default_rng(seed), 3, 2)
    quiet = process.blocks[0]
    arrival = process.generator - quiet
    start = process.stationary @ arrival / process.group_rate
    eye, step = np.eye(3), 1e-3

    def transform(first: float, second: float) -> float:
        early = np.linalg.inv(first * eye - quiet) @ arrival
        late = np.linalg.inv(second * eye - quiet) @ arrival
        return float(start @ early @ late @ np.ones(3))

    mixed = transform(step, step) - transform(step, -step) - transform(-step, step) + transform(-step, -step)
    product = mixed / (4 * step**2)
    mean = 1 / process.group_rate
    assert process.correlation == pytest.approx((product - mean**2) / process.interval_variance, abs=1e-4)


def test_a_process_without_arrivals_has_rate_zero_and_no_correlation():
    process = BMAP.mmpp([[-1.0, 1.0], [3.0, -3.0]], [0.0, 0.0])
    assert process.rate == 0.0 and process.largest_batch == 0
    with pytest.raises(ValueError, match="only where something arrives"):
        _ = process.correlation


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        (([[-1.0]],), "two matrices or more"),
        (([[-1.0]], [[2.0]]), r"Row 0 of D0 \+ D1 must sum to 0, but it sums to 1\.0"),
        (([[-1.0]], [[0.5, 0.5]]), "D1 must be a square matrix"),
        (([[-1.0, 0.0], [0.0, -1.0]], [[1.0]]), "D1 must have as many rows as D0, 2, but it has 1"),
        (([[-1.0, 0.0], [0.0, -1.0]], np.eye(2)), "state 1 is out of reach of state 0"),
        (([[-1.0, 0.0], [0.0, -1.0]], [[0.0, 1.0], [0.0, 1.0]]), "state 0 is out of reach of state 1"),
        (3, "two matrices or more"),
    ],
)
def test_what_is_no_process_is_refused_with_place_and_rule(blocks, sentence):
    with pytest.raises(ValueError, match=sentence):
        BMAP(blocks)


def test_processes_are_values():
    process = BMAP(PAPER[0])
    assert process == BMAP(PAPER[0]) and process != BMAP(PAPER[2]) and hash(process) == hash(BMAP(PAPER[0]))
    assert pickle.loads(pickle.dumps(process)) == process


@pytest.mark.parametrize("seed", range(4))
def test_independent_robots_add_their_rates(seed):
    rng = np.random.default_rng(seed)
    robots = [random_process(rng, phases, largest) for phases, largest in ((2, 2), (3, 1), (1, 3))]
    modes = independent_modes(robots)
    assert [mode.robots for mode in modes] == [1, 2, 3]
    assert [mode.arrivals.phases for mode in modes] == [6, 6, 6]
    for active, mode in enumerate(modes, start=1):
        assert mode.arrivals.rate == pytest.approx(sum(robot.rate for robot in robots[:active]), rel=1e-12)
        assert mode.arrivals.group_rate == pytest.approx(sum(robot.group_rate for robot in robots[:active]), rel=1e-12)
    assert modes[0].arrivals.correlation == pytest.approx(robots[0].correlation, abs=1e-12)
    assert modes[0].arrivals.interval_variance == pytest.approx(robots[0].interval_variance, rel=1e-12)


def test_independent_poisson_robots_are_one_poisson_process():
    modes = independent_modes([BMAP.poisson(1.0), BMAP.poisson(2.0)])
    assert modes[1].arrivals == BMAP.poisson(3.0)


@pytest.mark.parametrize("seed", range(4))
def test_thinning_keeps_a_share_of_the_batches(seed):
    process = random_process(np.random.default_rng(seed), 3, 3)
    modes = thinned_modes(process, [0.2, 0.7, 1.0])
    for chance, mode in zip((0.2, 0.7, 1.0), modes, strict=True):
        assert mode.arrivals.batch_rates == pytest.approx([chance * rate for rate in process.batch_rates], rel=1e-12)
        assert mode.arrivals.generator == pytest.approx(process.generator, abs=1e-14)
    assert modes[-1].arrivals == process


@pytest.mark.parametrize("seed", range(4))
def test_marked_arrivals_of_inactive_robots_are_not_made(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 2, 2)), rng.random((3, 2, 2))
    quiet = rng.random((2, 2))
    np.fill_diagonal(quiet, 0.0)
    quiet -= np.diag(quiet.sum(axis=1) + first.sum(axis=(0, 2)) + second.sum(axis=(0, 2)))
    one, two = marked_modes(quiet, [list(first), list(second)])
    assert one.arrivals.largest_batch == 2 and two.arrivals.largest_batch == 3
    assert one.arrivals.generator == pytest.approx(two.arrivals.generator, abs=1e-14)
    assert np.array(two.arrivals.blocks[1]) == pytest.approx(first[0] + second[0])
    assert np.array(two.arrivals.blocks[3]) == pytest.approx(second[2])
    theta = one.arrivals.stationary
    assert two.arrivals.rate - one.arrivals.rate == pytest.approx(
        sum((size + 1) * theta @ second[size].sum(axis=1) for size in range(3)), rel=1e-12
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: independent_modes([]), "robots must not be empty"),
        (
            lambda: thinned_modes(BMAP.poisson(1.0), [0.5, 0.9]),
            r"rise from above 0 to 1, the last one, but they are 0\.5",
        ),
        (lambda: thinned_modes(BMAP.poisson(1.0), [0.5, 0.5, 1.0]), "rise from above 0 to 1"),
        (lambda: marked_modes([[-1.0]], [[]]), r"robots\[0\] must not be empty"),
        (
            lambda: marked_modes([[-1.0]], [[np.eye(2)]]),
            r"robots\[0\]\[0\] must have as many rows as D0, 1, but it has 2",
        ),
        (lambda: Mode(-1, BMAP.poisson(1.0)), "robots must be a whole number of at least 0"),
        (lambda: BMAP.batches(BMAP(PAPER[0]), [1.0]), "arrivals must come one by one"),
        (lambda: BMAP.mmpp([[0.0]], [1.0, 2.0]), "one rate for each state"),
        (lambda: BMAP.mmpp([[0.0]], [-1.0]), r"rates\[0\] must be a finite number of at least 0"),
    ],
)
def test_modes_that_make_no_sense_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
