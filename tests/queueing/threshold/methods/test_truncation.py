"""Queues with more room than exact methods take, cut off where they hardly ever are."""

from dataclasses import replace

import pytest

from queueing import BMAP, Mode, PhaseType
from queueing.threshold import MEASURES
from queueing.threshold.methods import HeavyTailError
from queueing.threshold.methods.truncation import truncated_flows
from queueing.threshold.queue import METHODS

LOST = ("loss", "loss_rate")
LIGHT = PhaseType.erlang(2, 60.0)


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
def test_a_light_tail_is_cut_off_where_exact_methods_end(admission, paper_queue):
    found = paper_queue(60, LIGHT, admission=admission).measures((-1, 1, 1))
    exact = paper_queue(13, LIGHT, admission=admission).measures((-1, 1, 1))
    assert found.truncated_at is not None and found.truncated_at <= 13
    assert found.method.endswith(f", truncated at {found.truncated_at}")
    assert found.tail < 1e-8 and found.tail < found.error_estimate < 1e-5
    for name in set(MEASURES) - set(LOST):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=found.errors[name]), name
    # Of the loss at 60 pages only that it is less is known.
    assert found.errors["loss"] >= 1 and found.loss < 1e-8
    assert len(found.level_probabilities) == len(paper_queue(60, LIGHT, admission=admission).mode_by_level((-1, 1, 1)))
    assert sum(found.mode_probabilities) == pytest.approx(1.0, rel=1e-12)


def test_truncation_is_asked_for_by_name_and_refuses_what_is_exact_anyway(paper_queue):
    assert "truncated at" in paper_queue(60, LIGHT).measures((-1, 1, 1), method="truncated").method
    with pytest.raises(ValueError, match="Method 'truncated' takes queues only that exact methods do not"):
        paper_queue(5, LIGHT).measures((-1, 1, 1), method="truncated")
    with pytest.raises(ValueError, match="Method 'truncated' takes queues only that exact methods do not"):
        paper_queue(1000).measures((-1, 1, 1), method="truncated")


def test_a_full_queue_is_not_cut_off_but_left_to_the_next_method(monkeypatch, paper_queue):
    queue = paper_queue(60, PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.1]]))
    always = (60, 60, 60)
    with pytest.raises(
        HeavyTailError, match="must find less than 1e-08 at the last levels it reaches, 20 pages at most"
    ):
        queue.measures(always, method="truncated")
    asked = []
    tensor = queue.method("tensor-train")
    flows = truncated_flows(paper_queue(60, LIGHT).model, queue.mode_by_level((-1, 1, 1)))

    def answer(model, modes):
        asked.append(model)
        return replace(flows, method="")

    monkeypatch.setitem(METHODS, "tensor-train", replace(tensor, flows=answer))
    assert queue.measures(always).method == "tensor-train"
    assert asked == [queue.model]


def test_patience_of_very_many_phases_is_refused_at_once_unless_a_method_is_named(monkeypatch, paper_queue):
    queue = paper_queue(12, PhaseType.erlang(30, 6.0))

    def never(model, modes):
        raise AssertionError("minutes of work that nobody asked for")

    monkeypatch.setitem(METHODS, "tensor-train", replace(METHODS["tensor-train"], flows=never))
    with pytest.raises(ValueError, match=r"pages leave .*; lower the capacity or give patience fewer phases\.$"):
        queue.measures((-1, 1, 1))
    assert queue.method("tensor-train").name == "tensor-train"
    # Few pages wait where robots bring little: this is told, whatever the number of phases.
    quiet = replace(queue, modes=(Mode(1, BMAP.poisson(0.02)),))
    found = quiet.measures(())
    assert "truncated at" in found.method and found.errors["mean_length"] < 1e-5
