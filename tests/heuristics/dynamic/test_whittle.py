"""The strategy `whittle` follows whatever rule a problem names."""

from dataclasses import dataclass

import pytest

from heuristics import run
from heuristics.dynamic import Whittle
from heuristics.routing import IndexRule
from heuristics.running import UnsupportedProblem
from heuristics.testing import Routed, losses

TABLES = losses([1.0, 2.0, 0.5])


@dataclass(frozen=True)
class Indexed(Routed):
    """A problem of a third party that names a rule."""

    def index_rule(self, slots):
        return IndexRule(slots)


def test_the_rule_of_the_problem_is_followed():
    found, own = run(Indexed(TABLES), Whittle(40)), run(Routed(TABLES), IndexRule(40))
    assert (found.decision, found.bound) == (own.decision, own.bound)
    assert len(found.decision) <= 40


def test_a_problem_without_a_rule_is_refused_by_the_name_of_what_it_lacks():
    with pytest.raises(
        UnsupportedProblem, match=r"does not apply to 'routed': it needs a problem with an index rule, .* no index_rule"
    ):
        run(Routed(TABLES), Whittle())


def test_what_the_rule_refuses_is_refused():
    with pytest.raises(UnsupportedProblem, match="strategy 'whittle' cannot take 'routed': nobody asks"):
        run(Indexed(TABLES, refusal="nobody asks."), Whittle())
