"""How names, numbers and sentences are written in a report; escaping is left to the template."""

from __future__ import annotations

import math

from ..data import number
from ..errors import brief, printable
from ..statistics import percent

#: Letters of a name, and of a sentence from elsewhere, that are shown.
LONGEST_NAME, LONGEST_SENTENCE = 60, 600
#: Letters of a file that are shown.
LONGEST_FILE = 50_000

NOTHING = "–"


def name_of(text: str) -> str:
    """Write the name of an instance or a strategy as one short line without control characters.

    Parameters
    ----------
    text
        From a file.

    Returns
    -------
    str
        Plain text, to be escaped like any other.
    """
    return brief(printable(text), LONGEST_NAME)


def sentence_of(text: str) -> str:
    """Write a sentence from elsewhere, such as an error, at a bounded length.

    Parameters
    ----------
    text
        From a run or a file.

    Returns
    -------
    str
        Plain text, to be escaped like any other.
    """
    return brief(printable(text), LONGEST_SENTENCE)


def lines_of(text: str) -> str:
    """Write a text of several lines, such as a file, at a bounded length and without control characters.

    Parameters
    ----------
    text
        Of a file.

    Returns
    -------
    str
        Plain text, to be escaped like any other.
    """
    kept = text if len(text) <= LONGEST_FILE else f"{text[:LONGEST_FILE]}\n... ({len(text)} letters in all)"
    return "\n".join(
        "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line) for line in kept.split("\n")
    )


def value(given: float | None) -> str:
    """Write a number, a dash where there is none, and a word where it is infinite.

    Parameters
    ----------
    given
        A number.

    Returns
    -------
    str
        Six digits.
    """
    if given is None or math.isnan(given):
        return NOTHING
    return number(float(given)) if math.isfinite(given) else "none"


def gap(given: float | None) -> str:
    """Write a relative gap in percent.

    Parameters
    ----------
    given
        0.01 is one percent; infinite where there was no answer.

    Returns
    -------
    str
        With its unit.
    """
    if given is None or math.isnan(given):
        return NOTHING
    return "no answer" if math.isinf(given) else percent(given)


def target(given: float) -> str:
    """Write a target, a round number as a rule, in percent.

    Parameters
    ----------
    given
        0.01 is one percent.

    Returns
    -------
    str
        With its unit.

    Examples
    --------
    >>> target(0.1), target(0.001), target(0.0)
    ('10%', '0.1%', '0%')
    """
    return f"{100 * given:g}%"


def seconds(given: float | None) -> str:
    """Write a length of time in seconds.

    Parameters
    ----------
    given
        Seconds; infinite where a target was never reached.

    Returns
    -------
    str
        Without its unit, which stands in the head of the column.
    """
    if given is None or math.isnan(given):
        return NOTHING
    if math.isinf(given):
        return "never"
    return f"{given:.1f}" if given >= 10 else f"{given:.3f}"


def count(given: float | None) -> str:
    """Write a count, or a mean of counts.

    Parameters
    ----------
    given
        Zero or more; infinite where a target was never reached.

    Returns
    -------
    str
        A whole number.
    """
    if given is None or math.isnan(given):
        return NOTHING
    return "never" if math.isinf(given) else f"{given:.0f}"


def counted(amount: int, noun: str, plural: str = "") -> str:
    """Write an amount with its noun.

    Parameters
    ----------
    amount
        How many.
    noun, plural
        Of what; the plural has an ``s`` unless it is given.

    Returns
    -------
    str
        In words.

    Examples
    --------
    >>> counted(1, "run"), counted(3, "strategy", "strategies")
    ('1 run', '3 strategies')
    """
    return f"{amount} {noun if amount == 1 else plural or noun + 's'}"
