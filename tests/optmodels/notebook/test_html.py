"""What notebooks show: a line, a table, a picture; and nothing that a file may have smuggled in."""

import base64
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import optmodels as om
from heuristics import Evaluation
from optmodels.instance import Instance
from optmodels.notebook import page
from optmodels.notebook.html import LARGEST_DRAWING, MOST_ROWS

EVIL = "<script>alert('x')</script>\"&"


class Reader(HTMLParser):
    """What a browser would see: elements, their attributes, and texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def picture(text):
    """The picture of a page, decoded."""
    [content] = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    return base64.b64decode(content).decode()


@pytest.fixture
def evil():
    """A problem whose name is a script."""
    content = om.read_instance("gautam-2x3").to_data()
    return Instance.from_data(content | {"name": EVIL}).problem()


def shown(evil):
    answer = om.solve(evil, "exhaustive")
    return {
        "result": answer,
        "evaluation": om.evaluate(evil, [0, 0, 0, 0, 0, 1]),
        "comparison": om.compare(evil, ["exhaustive", "dejavu"]),
        "sweep": om.sweep(evil, {"data.service_rate": [20, 25]}, "exhaustive"),
        "front": om.pareto(evil, ["opening", "mean_delay"]),
    }


def test_names_are_data_and_never_markup(evil):
    for what, one in shown(evil).items():
        seen = Reader(one._repr_html_())
        assert set(seen.tags) <= {"div", "p", "b", "table", "tr", "td", "th", "img"}, what
        assert set(seen.attributes) <= {"alt", "style", "src"}, what
        assert any(EVIL in text for text in seen.texts), what
        assert "img" in seen.tags, what
        drawn = picture(one._repr_html_())
        assert drawn.lstrip().startswith("<?xml"), what
        assert "<script" not in drawn, what


def test_parameters_measures_and_errors_are_escaped_too(evil):
    odd = om.evaluate(evil, [0, 0, 1, 1, 1, 0])
    odd = replace(odd, evaluation=Evaluation(8.0, {EVIL: 1.0}, {EVIL: 1.0}), strategy=EVIL, stopped_by=EVIL, kind=EVIL)
    seen = Reader(odd._repr_html_())
    assert "script" not in seen.tags
    assert sum(EVIL in text for text in seen.texts) >= 5


def test_a_table_tells_what_is_known():
    text = " ".join(Reader(om.solve("gautam-2x3", "exhaustive")._repr_html_()).texts)
    for word in ("gautam-2x3 (placement)", "optimal", "gap to best known", "opening", "[0, 0, 1, 1, 1, 0]"):
        assert word in text
    broken = Reader(om.evaluate("gautam-2x3", [0, 0, 0, 0, 0, 1])._repr_html_()).texts
    assert any(text.startswith("broken: ") for text in broken)


def test_without_matplotlib_the_table_is_shown(monkeypatch):
    answer = om.solve("gautam-2x3", "exhaustive")
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    seen = Reader(answer._repr_html_())
    assert "img" not in seen.tags
    assert "optimal" in seen.texts
    assert "no picture: plots need an extra: pip install 'optmodels[plots]'" in seen.texts


def test_a_result_without_its_problem_is_a_table(tmp_path):
    om.write_result(om.solve("gautam-2x3", "exhaustive"), tmp_path / "r.json")
    read = om.read_result(tmp_path / "r.json")
    assert "img" not in Reader(read._repr_html_()).tags
    assert "img" in Reader(read.of("gautam-2x3")._repr_html_()).tags


def test_nothing_found_and_nothing_run_are_shown():
    tight = om.load("gautam-2x3").to_data()
    tight["quality"]["min_throughput"] = 0.99
    instance = Instance.from_data({"format": 1, "kind": "placement", "name": "tight", "data": tight})
    nothing = om.solve(instance, "exhaustive")
    assert nothing.decision is None
    assert "infeasible" in Reader(nothing._repr_html_()).texts
    assert "img" not in Reader(om.Comparison(())._repr_html_()).tags
    assert Reader(om.pareto(instance, ["opening", "mean_delay"])._repr_html_()).texts


def test_of_very_many_rows_the_first_are_shown():
    seen = Reader(page("many", ["n"], [[i] for i in range(1000)]))
    assert seen.tags.count("tr") == MOST_ROWS + 1
    assert f"{1000 - MOST_ROWS} more rows are not shown" in seen.texts


def test_a_drawing_of_very_many_lines_is_sent_as_dots():
    from optmodels.plotting import new_figure

    figure = new_figure(4, 3)
    axes = figure.subplots()
    for i in range(LARGEST_DRAWING // 400):
        axes.plot([0, 1, 2], [i, i + 0.5, i * 0.3], marker="o")
    text = page("many", (), [], lambda: figure)
    assert "data:image/png;base64,iVBOR" in text


# -- one line ----------------------------------------------------------------------------------------------------------


def test_a_repr_is_one_short_line(evil):
    for what, one in shown(om.load("gautam-2x3")).items():
        text = repr(one)
        assert "\n" not in text, what
        assert text.startswith(f"<{type(one).__name__}"), what
        assert len(text) < 140, what


def test_a_repr_of_a_million_entries_is_as_short():
    answer = om.solve("gautam-2x3", "exhaustive")
    assert len(repr(replace(answer, decision=tuple(range(10**6))))) < 140
    assert len(Reader(replace(answer, decision=tuple(range(10**6)), asked=None)._repr_html_()).texts[-5]) < 300


def test_measures_print_as_a_mapping():
    assert str(om.solve("gautam-2x3", "exhaustive").measures).startswith("{'opening': 8.0, ")


# -- pictures ----------------------------------------------------------------------------------------------------------


def test_answers_and_studies_are_drawn_on_figures_of_their_own():
    from matplotlib.figure import Figure

    for what, one in shown(om.load("gautam-2x3")).items():
        assert isinstance(one.plot(), Figure), what


def test_studies_are_drawn_into_given_axes():
    from matplotlib.figure import Figure

    studies = shown(om.load("gautam-2x3"))
    for what in ("comparison", "sweep", "front"):
        figure = Figure()
        left, right = figure.subfigures(1, 2)[1].subplots(1, 2)
        assert studies[what].plot(ax=right) is figure, what
        assert right.has_data(), what
        assert not left.has_data(), what
        assert figure.legends == [], what


def test_a_picture_with_panels_of_its_own_takes_no_axes(monkeypatch):
    from matplotlib.figure import Figure

    from optmodels import registry
    from optmodels.errors import RequestError
    from optmodels.kinds import Kind

    def draw(problem, result):
        return Figure()

    def draw_into(problem, result, ax=None):
        ax.plot([1, 2])
        return ax.figure

    class Sketch(type(om.load("gautam-2x3"))):
        kind = "sketch"

    axes = Figure().subplots()
    problem = Sketch.from_data(om.load("gautam-2x3").to_data(), name="sketch")
    for picture_of, works in ((draw, False), (draw_into, True)):
        record = Kind("sketch", "What?", "nobody", Sketch, {"x": "how many"}, picture=picture_of)
        registry.kinds.register("sketch", record, replace=True)
        try:
            if works:
                assert om.plot(problem, ax=axes) is axes.figure
                assert axes.has_data()
            else:
                with pytest.raises(RequestError, match="the picture of kind 'sketch' takes no ax"):
                    om.plot(problem, ax=axes)
        finally:
            registry.kinds.unregister("sketch")


def test_a_picture_takes_a_result_in_every_form(tmp_path):
    answer = om.solve("gautam-2x3", "exhaustive")
    om.write_result(answer, tmp_path / "r.json")
    data = om.result_to_data(answer)
    counts = {len(om.plot("gautam-2x3", one).axes[0].get_children()) for one in (answer, data, tmp_path / "r.json")}
    assert len(counts) == 1
    om.plot("gautam-2x3", answer, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")
    with pytest.raises(om.RequestError, match="this is an answer to 'gautam-2x3', not to 'gautam-4x4'"):
        om.plot("gautam-4x4", answer)


def test_a_figure_shows_itself_in_a_notebook_that_knows_no_pyplot():
    import pickle

    for one in (om.plot("gautam-2x3"), om.pareto("gautam-2x3", ["opening", "mean_delay"]).plot()):
        assert one._repr_png_().startswith(b"\x89PNG")
        assert pickle.loads(pickle.dumps(one))._repr_png_() == one._repr_png_()
