"""A report in headless Chromium: it opens, sorts, filters, asks for nothing, and is whole without JavaScript."""

import browse
import pytest

import optmodels as om
from optmodels.reporting import report_html

NAME = "a <script>window.broken = 1</script> long-name-without-a-place-to-break-" + "x" * 80


@pytest.fixture(scope="module")
def looked_through(tmp_path_factory):
    """What is said of a sound report, of one without its script, and of one that asks for something."""
    if sentence := browse.missing():
        pytest.skip(sentence)
    folder = tmp_path_factory.mktemp("pages")
    problem = om.PlacementProblem(
        demand=[[3, 2]], opening_cost=[[1, 1]], service_rate=20, think_time={"base": 0.8, "per_distance": 0.2},
        quality={"min_throughput": 0.1, "max_delay_probability": 0.9, "delay": 1.0}, name=NAME,
    )  # fmt: skip
    strategies = ["exhaustive", "dejavu", "annealing", "local-search"]
    comparison = om.compare([problem, "gautam-2x3", "loss-3"], strategies, seeds=3, evaluations=200)
    page = report_html(comparison, title=NAME)
    (folder / "report.html").write_text(page, encoding="utf-8")
    (folder / "still.html").write_text(page.replace("head.append(button)", ""), encoding="utf-8")
    asking = page.replace("</main>", '<img src="http://192.0.2.1/x.png"></main>').replace("<main>", "<main><input>")
    (folder / "asking.html").write_text(asking, encoding="utf-8")
    count, complaints = browse.look_through(folder, folder / "pictures")
    assert count == 3
    assert {file.name for file in (folder / "pictures").iterdir()} == {
        f"report-{name}.png" for name in ("wide-light", "wide-dark", "phone-light", "phone-dark", "print")
    }
    return complaints


def test_nothing_is_wrong_with_a_report(looked_through):
    assert [one for one in looked_through if one.startswith("report.html")] == []


def test_a_report_that_cannot_be_used_is_noticed(looked_through):
    assert any(one.startswith("still.html: its last table cannot be used") for one in looked_through)


def test_the_policy_of_the_page_stops_a_request_and_a_control_without_a_script_is_noticed(looked_through):
    told = [one for one in looked_through if one.startswith("asking.html")]
    assert any("Content Security Policy" in one for one in told), told
    assert not any("a request leaves" in one for one in told), told
    assert any("controls that do nothing" in one for one in told), told
