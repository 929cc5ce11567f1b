"""DEJAVU: decompose, evaluate, join, append, verify, unplug.

References
----------
.. [1] N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites",
   *European Journal of Operational Research* 142 (2002) 396-418, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..oracle import Oracle
from ..protocols import Decision, Incremental
from ..result import Result

#: Costs closer than this (relative) are ties: the same prices summed in another order.
TIE = 1e-9


@runtime_checkable
class SitingProblem(Incremental, Protocol):
    """A problem of choosing which of n sites to open, with a limit on the clients of each; 0 or 1 per site.

    ``distances[i, j]`` counts steps from 1 (a site and its own clients), in whole numbers; neighbours are at distance
    2. ``allowed`` are the sites that are open in some feasible placement, and all of them together are feasible, or
    nothing is. ``overloaded`` gives the clients too many per site, ``load_and_farthest`` the clients per site and the
    distance of the farthest of them. ``restrict`` makes the problem of some sites alone, at the same distances,
    evaluated by opening costs alone.
    """

    @property
    def shape(self) -> tuple[int, int] | None: ...
    @property
    def distances(self) -> NDArray[Any]: ...
    @property
    def demand(self) -> NDArray[np.int64]: ...
    @property
    def opening_cost(self) -> NDArray[np.float64]: ...
    @property
    def allowed(self) -> NDArray[np.bool_]: ...
    def load_and_farthest(self, decision: Decision) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def overloaded(self, decision: Decision) -> NDArray[np.int64]: ...
    def restrict(self, cells: Sequence[int]) -> SitingProblem: ...


@dataclass(frozen=True)
class Road:
    """Where one pass through the stages led: a placement per stage."""

    name: str
    blocks: int
    placements: dict[str, Decision]

    @property
    def final(self) -> Decision:
        """The placement after the last stage."""
        return list(self.placements.values())[-1]


@dataclass(frozen=True)
class Dejavu:
    """Run the heuristic of Gautam (2002); it reproduces all three matrices printed for the 11 x 22 example.

    A grid is cut into blocks (DECOMPOSE), each block is solved on its own by enumeration (EVALUATE), the answers are
    put together (JOIN), servers are added where others have too many clients (APPEND) until none has (VERIFY), and
    servers nobody needs are closed again (UNPLUG). All stages look at opening costs and capacities only; the oracle
    then evaluates the placements by the problem's own cost and limits.

    DECOMPOSE needs two rows and six columns. A grid that has them only when transposed is transposed; other small
    grids are one block (up to 12 cells) or strips. A network is cut into connected pieces of 4 to 9 nodes; since
    nothing is known about how well pieces of networks go together, the short road from all allowed sites straight to
    UNPLUG is tried as well, and the cheaper of the two placements is the answer.

    ``extra["stages"]`` holds the opening costs after each stage, ``extra["placements"]`` the placements,
    ``extra["roads"]`` the final costs of all roads tried.

    Parameters
    ----------
    transpose
        Run on the transposed matrices too and take the better, as Gautam (2002) suggests in section 6.2. Networks have
        no transpose.
    """

    transpose: bool = False

    name: ClassVar[str] = "dejavu"
    needs: ClassVar[type] = SitingProblem
    deterministic: ClassVar[bool] = True
    tunable: ClassVar[Mapping[str, str]] = {"transpose": "false,true"}

    def refuses(self, problem: SitingProblem) -> str | None:
        """Refuse distances that are no steps from site to site."""
        distances = problem.distances
        if len(distances) == distances.shape[1] and distances.dtype.kind == "i":
            return None
        name = getattr(problem, "name", "the problem")
        return (
            "strategy 'dejavu' cuts grids, and networks whose distances are hops, into pieces, and the distances of "
            f"{name!r} are others."
        )

    def solve(self, oracle: Oracle[SitingProblem], rng: np.random.Generator) -> Result:
        """Run all stages on every reading of the grid, and close on the best placement shown."""
        problem = oracle.problem
        everything = tuple(int(value) for value in problem.allowed)
        oracle(everything)
        if not any(everything):
            return oracle.result(proved=True)  # nothing can be open, so this was the only placement
        whole = oracle.part(problem.restrict(range(len(everything))))
        if problem.shape is not None:
            roads = [travel(oracle, whole, one) for one in grid_readings(*problem.shape, self.transpose)]
        else:
            roads = [travel(oracle, whole, network_reading(problem.distances))]
            order = unplugging_order(problem, tuple(range(len(everything))))
            roads.append(Road("all open", 0, {"all": everything, "unplug": unplug(whole, everything, order)}))
        for road in roads:
            oracle(road.final)
        return oracle.result(extra=told(problem, roads))


def travel(oracle: Oracle[SitingProblem], whole: Oracle[SitingProblem], reading: Reading) -> Road:
    """One pass through the stages.

    Parameters
    ----------
    oracle
        Pays for the blocks, and sees the first feasible placement, in case the budget ends later.
    whole
        Evaluates all sites together by opening costs alone.
    reading
        Order of the sites, and blocks.
    """
    problem = whole.problem
    chosen = []
    for block in reading.blocks:
        part = oracle.part(problem.restrict(block))
        free = [at for at, site in enumerate(block) if problem.allowed[site]]
        chosen.append(evaluate(part, free))
    joined = join(reading.blocks, chosen, len(reading.order))
    appended = joined
    while not verify(whole, appended):
        appended = append(problem, appended, reading.order)
    oracle(appended)
    unplugged = unplug(whole, appended, unplugging_order(problem, reading.order))
    return Road(reading.name, len(reading.blocks), {"join": joined, "append": appended, "unplug": unplugged})


def evaluate(part: Oracle[SitingProblem], free: Sequence[int]) -> Decision:
    """The cheapest feasible placement of one block, by enumeration: algorithm EVALUATE.

    Gautam (2002) goes through all placements and keeps the last of the cheapest. The printed answers come out if they
    are counted from all ones downwards, the first cell being the most significant bit; so of several cheapest
    placements the one that is the smallest binary number is taken. Here neighbouring placements of a Gray code are
    evaluated, each a flip from the last.

    Parameters
    ----------
    part
        Evaluates the block.
    free
        Cells that may be open at all; the others stay closed.

    Returns
    -------
    Decision
        All free cells open if nothing is feasible on its own.
    """
    problem = part.problem
    walk = part.walk((0,) * len(problem.demand))
    count = len(free)
    feasible = np.zeros(1 << count, bool)
    feasible[0] = walk.feasible
    for step in range(1, 1 << count):
        walk.flip(free[count - (step & -step).bit_length()])  # the lowest set bit of the step is the bit that changes
        feasible[step ^ (step >> 1)] = walk.feasible
    if not feasible.any():
        return _opened(len(problem.demand), free)
    bits = (np.arange(1 << count)[:, None] >> np.arange(count - 1, -1, -1)) & 1
    costs = np.where(feasible, bits @ problem.opening_cost[list(free)], np.inf)
    least = costs.min()
    first = int(np.flatnonzero(costs <= least + TIE * abs(least))[0])
    return _opened(len(problem.demand), [at for at, bit in zip(free, bits[first], strict=True) if bit])


def join(blocks: Sequence[Sites], chosen: Sequence[Decision], count: int) -> Decision:
    """Put the placements of the blocks together."""
    decisions = zip(blocks, chosen, strict=True)
    return _opened(count, [site for block, bits in decisions for site, bit in zip(block, bits, strict=True) if bit])


def verify(whole: Oracle[SitingProblem], decision: Decision) -> bool:
    """Whether no site has too many clients: algorithm FEASIBLE, read for open sites (printed: for closed ones)."""
    return whole(decision).feasible


def append(problem: SitingProblem, decision: Decision, order: Sites) -> Decision:
    """Open one more site: algorithm APPEND.

    The printed loop overwrites its answer, so the last overloaded site of the scan decides: of the closed cells as far
    from it as its farthest client the one with the largest demand is opened, the last of several. If none of them may
    hold a server, the nearest closed cell that may is opened; if no site is open at all, the allowed one with the
    largest demand.
    """
    excess = problem.overloaded(decision)
    closed = [site for site in order if problem.allowed[site] and not decision[site]]
    overloaded = [site for site in order if excess[site] > 0]
    if overloaded:
        distances = problem.distances[overloaded[-1]]
        _, farthest = problem.load_and_farthest(decision)
        there = [site for site in closed if distances[site] == farthest[overloaded[-1]]]
        closest = min((int(distances[site]) for site in closed), default=0)
        closed = there or [site for site in closed if distances[site] == closest]
    # All allowed sites together are feasible, so one is still closed. Reversed, the last maximum is the first.
    added = max(reversed(closed), key=lambda site: int(problem.demand[site]))
    return _opened(len(decision), [site for site, bit in enumerate(decision) if bit or site == added])


def unplug(whole: Oracle[SitingProblem], decision: Decision, order: Sites) -> Decision:
    """Close sites in the given order wherever the placement stays feasible: algorithm GREEDY."""
    walk = whole.walk(decision)
    for site in order:
        if decision[site]:
            walk.flip(site)
            if not walk.feasible:
                walk.flip(site)
    return walk.current


def unplugging_order(problem: SitingProblem, order: Sites) -> Sites:
    """Sites by clients per cost, fewest first; of equal ones the last of the scan first, as in the printed run."""
    demand, cost = problem.demand.astype(float), problem.opening_cost
    value = np.divide(demand, cost, out=np.full(len(demand), np.inf), where=cost > 0)
    backwards = order[::-1]
    return tuple(sorted(backwards, key=lambda site: float(value[site])))


def told(problem: SitingProblem, roads: Sequence[Road]) -> dict[str, Any]:
    """Stages of the cheapest road, and where the others ended."""

    def price(decision: Decision) -> float:
        return float(np.dot(problem.opening_cost, decision))

    best = min(roads, key=lambda road: price(road.final))
    return {
        "road": best.name,
        "blocks": best.blocks,
        "stages": {stage: price(decision) for stage, decision in best.placements.items()},
        "placements": {stage: list(decision) for stage, decision in best.placements.items()},
        "roads": {road.name: price(road.final) for road in roads},
    }


def _opened(count: int, sites: Sequence[int]) -> Decision:
    decision = [0] * count
    for site in sites:
        decision[site] = 1
    return tuple(decision)


# -- blocks and pieces -------------------------------------------------------------------------------------------------

Sites: TypeAlias = tuple[int, ...]

#: Cells of the largest block enumerated (4096 placements), nodes of the largest and the smallest piece of a network.
LARGEST_BLOCK, LARGEST_PIECE, SMALLEST_PIECE = 12, 9, 4


@dataclass(frozen=True)
class Block:
    """Cells of a matrix, first and last row and column included, counted from 1 as in Gautam (2002)."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


@dataclass(frozen=True)
class Reading:
    """One way to go through the sites: the order in which they are scanned, and the blocks they are cut into."""

    name: str
    order: Sites
    blocks: tuple[Sites, ...]


def is_decomposable(rows: int, columns: int) -> bool:
    """Tell whether `decompose` is defined: with 5 columns its number of 3-column blocks would be -1."""
    return rows >= 2 and columns >= 6


def decompose(rows: int, columns: int) -> list[Block]:
    r"""Cut an :math:`A \times B` matrix into blocks of 3 x 3, 2 x 3, 3 x 2 and 2 x 4 cells: algorithm DECOMPOSE.

    Step 1 counts strips: :math:`A_3` of three rows and :math:`A_2` of two, :math:`B_3` of three columns and
    :math:`B_4` of four. Gautam (2002) divides the remainders a and b where it must divide A and B, and does not start
    again at the left in each strip (`v` is not reset); with both put right 10 x 13 gives its 18 blocks and 11 x 22 its
    31.
    """
    if not is_decomposable(rows, columns):
        raise ValueError(f"DECOMPOSE needs 2 rows and 6 columns or more, got {rows} x {columns}.")
    a, b = rows % 3, columns % 3
    threes, twos = rows // 3 - (1 if a == 1 else 0), (0, 2, 1)[a]
    wide_threes, fours = columns // 3 - b, b
    high, low = _strips(0, threes, 3), _strips(3 * threes, twos, 2)
    narrow, right = _strips(0, wide_threes, 3), 3 * wide_threes
    steps = (  # 2 to 5
        (high, narrow),
        (low, narrow),
        (high, _strips(right, 2 * fours, 2)),
        (low, _strips(right, fours, 4)),
    )
    return [Block(*row, *column) for across, down in steps for row in across for column in down]


def _strips(start: int, count: int, width: int) -> list[tuple[int, int]]:
    """First and last line of `count` strips of so many lines each, after line `start`."""
    return [(start + k * width + 1, start + (k + 1) * width) for k in range(count)]


def cut(rows: int, columns: int) -> list[Block]:
    """Cut any matrix: by DECOMPOSE where it is defined, else one block of up to 12 cells, else strips."""
    if is_decomposable(rows, columns):
        return decompose(rows, columns)
    if rows * columns <= LARGEST_BLOCK:
        return [Block(1, rows, 1, columns)]
    if rows >= columns:
        return [Block(first, last, 1, columns) for first, last in _stretches(rows, LARGEST_BLOCK // columns)]
    return [Block(1, rows, first, last) for first, last in _stretches(columns, LARGEST_BLOCK // rows)]


def _stretches(length: int, most: int) -> list[tuple[int, int]]:
    """Cut 1..length into as few stretches as possible, none longer than `most`, all nearly equal."""
    count = -(-length // most)
    ends = [length * part // count for part in range(count + 1)]
    return [(first + 1, last) for first, last in pairwise(ends)]


def grid_readings(rows: int, columns: int, transpose: bool) -> list[Reading]:
    """Read a grid by rows, and by columns if asked to or if only the transposed matrix can be decomposed."""
    number = np.arange(rows * columns).reshape(rows, columns)
    only_transposed = not is_decomposable(rows, columns) and is_decomposable(columns, rows)
    chosen = [] if only_transposed and not transpose else [("rows", number)]
    chosen += [("columns", number.T)] if only_transposed or transpose else []
    return [Reading(name, *_read(matrix)) for name, matrix in chosen]


def _read(number: NDArray[np.int64]) -> tuple[Sites, tuple[Sites, ...]]:
    blocks = [
        number[block.first_row - 1 : block.last_row, block.first_column - 1 : block.last_column]
        for block in cut(*number.shape)
    ]
    return tuple(number.ravel().tolist()), tuple(tuple(block.ravel().tolist()) for block in blocks)


def network_reading(distances: NDArray[np.int64]) -> Reading:
    """Read a network node by node, cut into connected pieces of 4 to 9 nodes."""
    return Reading("pieces", tuple(range(len(distances))), tuple(pieces(distances)))


def pieces(distances: NDArray[np.int64]) -> list[Sites]:
    """Cut a network into connected pieces of up to 9 nodes, and of at least 4 where its shape allows.

    A piece grows from the free node with the fewest free neighbours, always by the node with the most links into the
    piece, so that dead ends are not left behind. What is left of fewer than 4 nodes joins a neighbouring piece, which
    is cut in two if it gets too large; it stays alone only if no neighbour can be cut like that (the leaves of a star).
    """
    linked = distances == 2
    free = np.ones(len(distances), bool)
    grown: list[list[int]] = []
    while free.any():
        neighbours = (linked & free).sum(axis=1)
        piece = [int(min(np.flatnonzero(free), key=lambda node: (neighbours[node], node)))]
        free[piece[0]] = False
        while len(piece) < LARGEST_PIECE:
            links = np.where(free, linked[piece].sum(axis=0), 0)
            if not links.any():
                break
            # Among equally linked nodes the one with the fewest other ways out.
            best = max(np.flatnonzero(links == links.max()), key=lambda node: (-(linked[node] & free).sum(), -node))
            piece.append(int(best))
            free[best] = False
        grown.append(piece)
    return [tuple(sorted(piece)) for piece in _without_crumbs(grown, linked)]


def _without_crumbs(grown: list[list[int]], linked: NDArray[np.bool_]) -> list[list[int]]:
    kept = [piece for piece in grown if len(piece) >= SMALLEST_PIECE]
    for crumb in (piece for piece in grown if len(piece) < SMALLEST_PIECE):
        hosts = [piece for piece in kept if linked[np.ix_(piece, crumb)].any()]
        for host in sorted(hosts, key=len):
            parts = _halves(host + crumb, linked)
            if parts:
                kept.remove(host)
                kept.extend(parts)
                break
        else:
            kept.append(crumb)
    return kept


def _halves(nodes: list[int], linked: NDArray[np.bool_]) -> list[list[int]]:
    """The nodes as one piece, or as two connected ones cut at an edge of a spanning tree; empty if neither can be."""
    if len(nodes) <= LARGEST_PIECE:
        return [nodes]
    best: list[list[int]] = []
    for root in nodes:
        for branch in _branches(root, nodes, linked):
            rest = [node for node in nodes if node not in branch]
            if min(len(branch), len(rest)) >= max(SMALLEST_PIECE, 1 + len(min(best, key=len, default=[]))):
                best = [branch, rest]
    return best


def _branches(root: int, nodes: list[int], linked: NDArray[np.bool_]) -> list[list[int]]:
    """The nodes below each node of a depth-first tree from `root`: cutting one off leaves the rest connected."""
    below: list[list[int]] = []
    seen = {root}

    def visit(node: int) -> list[int]:
        branch = [node]
        for other in nodes:
            if other not in seen and linked[node, other]:
                seen.add(other)
                found = visit(other)
                below.append(found)
                branch.extend(found)
        return branch

    visit(root)
    return below
