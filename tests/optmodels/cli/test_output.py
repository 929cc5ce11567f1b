"""How measures are printed."""

import pytest

from optmodels.cli.output import print_measures


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [(0.25, 1e-9, "0.25"), (1e-20, 0.5, "1e-20"), (1e-20, 4.0, "< 5e-20"), (None, 3.0, "-"), (0.0, 0.0, "0")],
)
def test_a_measure_smaller_than_its_error_is_told_as_less_than_both_together(value, error, shown, capsys):
    print_measures({"measures": {"loss": value}, "extra": {"errors": {"loss": error}}})
    assert capsys.readouterr().out.split(maxsplit=1) == ["loss", f"{shown}\n"]


def test_measures_without_errors_are_printed_as_they_are(capsys):
    print_measures({"measures": {"loss": 0.5, "sojourn": 2}, "extra": {}})
    assert capsys.readouterr().out == "  loss     0.5\n  sojourn  2\n"
    print_measures({"measures": {}, "extra": {}})
    assert capsys.readouterr().out == ""
