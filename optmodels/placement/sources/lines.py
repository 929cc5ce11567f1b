"""Text files of collections, line by line: what is no such text ends in a sentence with file and line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from ...errors import InstanceError, UnreadableFile, short

#: Layouts that are read.
FORMATS = ("orlib-pmed", "tsplib")

#: Characters of the longest line, and lines of the longest file: a collection's largest have a hundredth of that.
LONGEST_LINE, MOST_LINES = 1_000, 5_000_000


class Lines:
    """The lines of a text file that are not empty, with their numbers.

    Parameters
    ----------
    path
        Of the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.number, self.text = str(path), 0, ""

    def __iter__(self) -> Iterator[str]:
        try:
            with open(self.path, "rb") as file:
                while line := file.readline(LONGEST_LINE + 1):
                    self.number += 1
                    self.text = line.decode("latin-1").strip()
                    if len(line) > LONGEST_LINE or not self.text.replace("\t", " ").isprintable():
                        raise UnreadableFile(f"line {self.number} is no text.", self.path)
                    if self.number > MOST_LINES:
                        raise UnreadableFile(f"there are more than {MOST_LINES} lines.", self.path)
                    if self.text:
                        yield self.text
        except OSError as failure:
            raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", self.path) from None

    def refuse(self, rule: str) -> NoReturn:
        """Refuse the line that was read last."""
        raise InstanceError(f"line {self.number}", self.text, rule, self.path)

    def ended(self, rule: str) -> NoReturn:
        """Refuse a file that ends too early."""
        if self.number == 0:
            raise UnreadableFile(f"the file is empty; {rule}", self.path)
        raise UnreadableFile(f"the file ends after line {self.number}; {rule}", self.path)

    def whole(self, word: str, least: int, most: int, noun: str) -> int:
        """Read a whole number of the line that was read last."""
        try:
            number = int(word)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            self.refuse(f"{noun} is a whole number from {least} to {most}, not {short(word)}.")
        return number

    def real(self, word: str, noun: str) -> float:
        """Read a number of the line that was read last."""
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.refuse(f"{noun} is a number, not {short(word)}.")
        return number
