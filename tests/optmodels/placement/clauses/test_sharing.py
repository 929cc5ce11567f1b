"""What engines side by side tell one another: clauses, placements, bounds."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import optmodels as om
from heuristics import Oracle
from optmodels.mip.program import Bound, Incumbent, Outcome
from optmodels.placement.clauses.search import Search
from optmodels.placement.engines import missing
from optmodels.placement.engines.rounds import Answer, Learnt, MasterRequest, complete

sat_only = pytest.mark.skipif(missing() is not None, reason="the extra 'sat' is not installed")


class Told:
    """A channel that keeps what is sent."""

    def __init__(self):
        self.sent, self.stopped, self.remaining_seconds = [], False, math.inf

    def send(self, message):
        self.sent.append(message)


class Asked:
    """A process that answers with what it is given, and keeps what it was asked."""

    def __init__(self, *messages):
        self.messages, self.request = messages, None

    def ask(self, request, seconds, check, settled):
        self.request = request
        yield from self.messages


def search_of(name, engines):
    search = Search(Oracle(om.load(name)), np.random.default_rng(0), engines)
    search.make_clauses()
    return search


def prepared(search):
    from optmodels.placement.engines.sat import Sat

    search.sat = Sat(search, alone=False)
    for _ in search.sat.preparing():
        pass
    return search.sat


def test_what_a_solver_learns_between_two_rounds_is_told_at_once():
    search, told = search_of("gautam-4x4", ("highs",)), Told()
    nothing, everything = np.zeros(16, np.uint8), np.array(search.problem.allowed, np.uint8)
    answers = iter([nothing, everything])
    known = []

    def cheapest():
        if known:  # the second round: what the first gave was told before it began
            assert [type(message) for message in told.sent] == [Learnt]
            assert list(told.sent[0].clauses) == known
        return Answer(Outcome("optimal", 0.0, 0.0), (next(answers),))

    request = MasterRequest(SimpleNamespace(cost=np.ones(16)), source=search.source)
    outcome = complete(request, told, cheapest, known.extend)
    assert len(known) > 0
    assert outcome.status == "optimal"
    assert isinstance(told.sent[-1], Incumbent)


@sat_only
def test_clauses_placements_and_bounds_of_the_other_engine_reach_all():
    search = search_of("gautam-4x4", ("cpsat", "sat"))
    sat = prepared(search)
    best = np.array(om.read_instance("gautam-4x4").best_known.decision, float)
    assert search.cost > 11.0
    clause = (-16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    before = len(search.pool)
    process = Asked(Learnt("one", (clause,)), Incumbent(best, 11.0), Bound(10.0), Outcome("gave up"))
    search.ask(process, "cpsat")
    assert clause in search.pool.clauses
    assert len(search.pool) == before + 1
    assert any(set(short) <= set(clause) for short in sat.strong)
    assert search.oracle.best.evaluation.objective == 11.0
    assert search.bound == 10.0


@sat_only
def test_the_other_engine_starts_from_the_shorter_clauses_and_the_best_placement():
    search = search_of("gautam-4x4", ("cpsat", "sat"))
    sat = prepared(search)
    search.judge(np.array(search.problem.allowed, np.uint8))
    process = Asked(Outcome("gave up"))
    search.ask(process, "cpsat")
    assert set(process.request.clauses) == set(sat.strong)
    assert sum(map(len, sat.strong)) < sum(map(len, search.pool))
    assert process.request.start.tolist() == list(search.oracle.best.decision)


@sat_only
def test_shorter_clauses_follow_by_propagation_from_those_before_them():
    """What a checker of proofs sees: no step needs more than unit clauses, nor what a solver learnt on its way."""
    from pysat.solvers import Glucose4

    from optmodels.placement.proofs import check_refutation

    search = search_of("gautam-8x8", ("sat",))
    sat = prepared(search)
    for _ in sat.completing():
        pass
    lemmas, made = sat.shortener.lemmas, list(search.pool)
    assert len(lemmas) > 1000
    with Glucose4(bootstrap_with=[list(clause) for clause in made]) as plain:  # it never searches
        for lemma in lemmas:
            assert not plain.propagate(assumptions=[-literal for literal in lemma])[0]
            plain.add_clause(list(lemma))
    for at in range(0, len(lemmas), 400):  # supposed not to hold, each contradicts those before
        denied = [(-literal,) for literal in lemmas[at]]
        assert check_refutation([*made, *lemmas[:at], *denied], b"").proved
