"""Pictures become parts of a page: without addresses, scripts or names that clash; texts stay texts."""

import doctest

import pytest

import optmodels as om
import optmodels.reporting.pictures
from optmodels.errors import RequestError
from optmodels.reporting.pictures import Styles, as_inline, draw_answer
from optmodels.studies import Comparison


def test_the_examples_hold():
    for module in (optmodels.reporting.pictures, optmodels.reporting.writing, optmodels.reporting.charts):
        assert doctest.testmod(module).failed == 0


def test_scripts_comments_handlers_and_addresses_are_left_out():
    svg = (
        '<svg xmlns="http://x" onload="a()"><!-- c --><script>a()</script><metadata>m</metadata>'
        '<a href="http://y"><path d="M 0 0"/></a><image href="http://z/p.png"/>'
        '<path onclick="a()" d="M 0.0000 1.23456"/>'
        '<foreignObject><b xmlns="http://h">b</b></foreignObject></svg>'
    )
    assert as_inline(svg, "p") == '<svg><image/><path d="M0 1.23"/></svg>'


def test_looks_are_shared_unless_they_could_end_the_sheet():
    styles = Styles()
    svg = (
        '<svg xmlns="x"><path style="fill: #ffffff"/><path style="fill: #ffffff"/><path style="a: &lt;/style>"/></svg>'
    )
    assert as_inline(svg, "p", styles) == (
        '<svg><path class="p0"/><path class="p0"/><path style="a:&lt;/style&gt;"/></svg>'
    )
    assert styles.sheet == ".p0{fill:#ffffff}"


def test_what_is_no_picture_is_refused():
    with pytest.raises(RequestError, match="not well-formed SVG"):
        as_inline("<svg", "p")


def test_a_stored_run_of_a_shipped_instance_is_drawn_and_any_other_is_not(make_run):
    run = om.compare("gautam-2x3", "local-search", evaluations=20).runs[0]
    stored = om.result_from_data(om.result_to_data(run.result))
    again = type(run)(run.problem, run.strategy, run.seed, stored, None, run.key)
    assert stored.asked is None
    assert draw_answer(again, "p").svg == draw_answer(run, "p").svg != ""
    assert "not at hand" in draw_answer(make_run("instances/placement/gautam-2x3.json"), "p").missing


def test_a_name_full_of_markup_stays_a_text(tmp_path):
    name = "<script>alert(1)</script>"
    problem = om.PlacementProblem(
        demand=[[3, 2]], opening_cost=[[1, 1]], service_rate=20, think_time={"base": 0.8, "per_distance": 0.2},
        quality={"min_throughput": 0.1, "max_delay_probability": 0.9, "delay": 1.0}, name=name,
    )  # fmt: skip
    comparison = om.compare(problem, "exhaustive")
    assert isinstance(comparison, Comparison)
    picture = draw_answer(comparison.runs[0], "p")
    assert picture.missing == "" and "<script" not in picture.svg
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in picture.svg


def test_a_picture_that_fails_becomes_a_sentence(monkeypatch):
    run = om.compare("gautam-2x3", "local-search", evaluations=20).runs[0]

    def fail(*arguments, **options):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("optmodels.plotting.plot_problem", fail)
    assert draw_answer(run, "p").missing == "no picture: by nought."
