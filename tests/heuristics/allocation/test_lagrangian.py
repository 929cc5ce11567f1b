"""One price for a shared budget: strategy `lagrangian` on a toy with a closed form."""

import math
from dataclasses import dataclass

import pytest

from heuristics import Budget, Evaluation, Simplex, Status, UnsupportedProblem, run
from heuristics.allocation import Lagrangian, Relaxation
from heuristics.testing import Separable, check_strategy


@dataclass(frozen=True)
class Hyperbolic:
    r"""Shares x of 1 that cost :math:`\sum a_i / x_i`; the optimum has :math:`x_i \propto \sqrt{a_i}`.

    At a price p the cost and p times the shares are least at :math:`x_i = \sqrt{a_i / p}`, so the dual is
    :math:`2 \sqrt{p} S - p` with :math:`S = \sum \sqrt{a_i}`, and its largest value is :math:`S^2` at :math:`p = S^2`.
    """

    amounts: tuple[float, ...] = (1.0, 4.0, 9.0)
    price: float = 36.0
    additive: bool = True
    name: str = "hyperbolic"

    @property
    def space(self) -> Simplex:
        return Simplex(len(self.amounts))

    def evaluate(self, decision):
        return Evaluation(math.fsum(a / x if x > 0 else 1e9 for a, x in zip(self.amounts, decision, strict=True)))

    def unseparable(self):
        return None if self.additive else "its costs do not add up."

    def relaxation(self):
        roots = [math.sqrt(amount) for amount in self.amounts]
        total = math.fsum(roots)
        dual = 2 * math.sqrt(self.price) * total - self.price
        return Relaxation(tuple(root / total for root in roots), self.price, dual, 0.0, {"told": 1})


def test_the_value_of_the_dual_proves_the_shares():
    result = run(Hyperbolic(), Lagrangian())
    assert result.status == Status.OPTIMAL
    assert result.decision == pytest.approx((1 / 6, 2 / 6, 3 / 6))
    assert result.objective == pytest.approx(36.0)
    assert result.extra == {"multiplier": 36.0, "residual": 0.0, "told": 1}


def test_another_price_is_a_bound_and_no_proof():
    result = run(Hyperbolic(price=30.0), Lagrangian())
    assert result.status == Status.FEASIBLE
    assert result.bound == pytest.approx(2 * math.sqrt(30) * 6 - 30)
    assert result.bound < result.objective


def test_one_evaluation_is_enough():
    assert run(Hyperbolic(), Lagrangian(), Budget(evaluations=1)).evaluations == 1


def test_costs_that_do_not_add_up_are_refused():
    with pytest.raises(UnsupportedProblem, match="'lagrangian' cannot take 'hyperbolic': its costs do not add up"):
        run(Hyperbolic(additive=False), Lagrangian())


def test_a_problem_without_prices_is_refused():
    with pytest.raises(UnsupportedProblem, match="this one has no relaxation, unseparable"):
        run(Separable(), Lagrangian())


def test_it_keeps_the_house_rules():
    check_strategy(Lagrangian(), [Hyperbolic(), Hyperbolic(price=30.0), Separable()])
