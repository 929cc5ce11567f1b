"""Charts have the right numbers at the right places."""

import re
from itertools import pairwise

import numpy as np
import pytest

from optmodels.reporting.charts import Axis, Chart, Line, band, level, marks, plane_of, steps, time_axis, value_axis


def corners(path):
    """The corners of a path of moves, and horizontal and vertical lines."""
    at, found = [0.0, 0.0], []
    for letter, numbers in re.findall(r"([MHVz])([-\d. ]*)", path):
        values = [float(one) for one in numbers.split()]
        if letter == "M":
            at = values
        elif letter in "HV":
            at = [values[0], at[1]] if letter == "H" else [at[0], values[0]]
        found.append(tuple(at))
    return found


def test_a_step_line_has_its_corners():
    x, y = Axis("x", 0, 10), Axis("y", 0, 100)
    plane = plane_of(y)
    path = steps(x, y, [0, 5], [100, 50], until=10)
    middle = plane.left + plane.width / 2
    expected = [(plane.left, plane.top), (middle, plane.top), (middle, plane.top + plane.height / 2)]
    expected.append((plane.right, expected[-1][1]))
    assert np.allclose(corners(path), expected, atol=0.06)


def test_nothing_is_drawn_where_there_is_no_value():
    x, y = Axis("x", 0, 3), Axis("y", 0, 1)
    assert steps(x, y, [0, 1, 2], [np.inf, np.nan, np.inf]) == ""
    assert steps(x, y, [0, 1, 2], [np.inf, 1, np.inf]).count("M") == 1


def test_steps_too_small_to_be_seen_are_left_out():
    x, y = Axis("x", 0, 1), Axis("y", 0, 1)
    xs = np.linspace(0, 1, 10_000)
    assert len(steps(x, y, xs, 0.5 + 1e-9 * xs)) < 40


def test_what_lies_outside_is_drawn_just_outside():
    y = Axis("y", 0, 1)
    plane = plane_of(y)
    heights = {height for _, height in corners(steps(Axis("x", 0, 1), y, [0, 0.3, 0.6], [50, 0.5, -50]))}
    assert min(heights) < plane.top - 4 and max(heights) > plane.bottom + 4


def test_a_band_covers_what_lies_between_and_nothing_else():
    x, y = Axis("x", 0, 4), Axis("y", 0, 4)
    assert band(x, y, [0, 1, 2, 4], [1, 1, 1, 1], [1, 1, 1, 1]) == ""
    plane = plane_of(y)
    found = corners(band(x, y, [0, 1, 2, 4], [1, 1, 2, 2], [1, 3, 2, 2]))
    assert {round(at) for at, _ in found} == {round(plane.left + plane.width * k / 4) for k in (1, 2)}


def test_marks_of_different_looks_stand_at_different_places():
    x, y = Axis("x", 0, 1), Axis("y", 0, 1)
    first, second = (marks(x, y, [0, 1], [0.5, 0.5], look) for look in (0, 1))
    assert len(first) == len(second) == 4 and not set(first) & set(second)
    assert marks(x, y, [0], [np.inf], 0) == ()


@pytest.mark.parametrize(
    ("axis", "texts"),
    [
        (Axis("", 0, 1, percent=True), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (Axis("", 0.002, 30, log=True), ["0.01", "0.1", "1", "10"]),
        (Axis("", 1, 12, log=True), ["1", "2", "5", "10"]),
        (Axis("", 1.05, 1.4, log=True), ["1.05", "1.4"]),
        (Axis("", 0.0, 60.0), ["0", "10", "20", "30", "40", "50", "60"]),
        (Axis("", 163.2, 163.4), ["163.20", "163.25", "163.30", "163.35", "163.40"]),
        (Axis("", 500, 24000, log=True), ["500", "1000", "2000", "5000", "10000", "20000"]),
        (Axis("", -2e9, 2e9), ["-2e9", "-1e9", "0", "1e9", "2e9"]),
    ],
)
def test_ticks_are_plain_numbers(axis, texts):
    assert [text for _, text in axis.ticks()] == texts
    places = [place for place, _ in axis.ticks()]
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= 1


def test_time_is_logarithmic_over_decades():
    assert time_axis("t", [0.01, 5.0]).log and not time_axis("t", [1.0, 5.0]).log
    for moments in ([], [0.0], [np.inf]):
        axis = time_axis("t", moments)
        assert axis.low < axis.high


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-3.0, 4.0], [1e300]])
def test_a_scale_of_values_is_never_empty(values):
    axis = value_axis("v", values)
    assert axis.low < min(values) <= max(values) < axis.high
    assert axis.ticks()


def test_ticks_do_not_touch_and_stay_in_the_drawing():
    line = Line("a", 0, level(Axis("x", 0, 1), Axis("y", 0, 1), 0.5))
    chart = Chart("t", "c", Axis("x", 500, 24000, log=True), Axis("y", 0, 1), (line,))
    places = [float(place) for place, _ in chart.x_ticks]
    assert all(b - a > 30 for a, b in pairwise(places))
    assert chart.looks == {"a": 0} and not chart.has("bound")
