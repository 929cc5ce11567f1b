"""Sentences about what others wrote are safe to print."""

import doctest

import pytest

import optmodels.errors
from optmodels.errors import (
    LONGEST_SENTENCE,
    InstanceError,
    MissingField,
    RequestError,
    UnreadableFile,
    printable,
    short,
    suggestion,
)
from optmodels.instance import Instance

NASTY = "a\x1b[31m\nb\u202e\udc80\x07"
SHOWN = r"a\x1b[31m\nb\u202e\udc80\x07"


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.errors).failed == 0


@pytest.mark.parametrize(
    "failure",
    [
        InstanceError(NASTY, 1, "a rule."),
        InstanceError("field", 1, NASTY),
        InstanceError("field", 1, "a rule.", NASTY),
        MissingField(NASTY, "a rule."),
        UnreadableFile(NASTY),
        RequestError(NASTY),
        InstanceError(NASTY, 1, "a rule.").at("file"),
    ],
)
def test_no_control_character_gets_into_a_sentence(failure):
    assert str(failure).isprintable()
    assert SHOWN in str(failure)


def test_letters_of_every_language_stay_as_they_are():
    assert printable("größer – 待ち行列 \\x1b") == "größer – 待ち行列 \\x1b"


def test_a_key_of_a_file_is_shown_escaped():
    with pytest.raises(InstanceError) as caught:
        Instance.from_data({"format": 1, "kind": "k", "name": "n", "data": {}, "so\x1b[2Jurce\n": 1})
    assert str(caught.value).startswith(r"so\x1b[2Jurce\n is 1; there is no such field.")


# -- what is long -----------------------------------------------------------------------------------------------------

LONG = "a" * 100_000


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "FILE", "--strategy", LONG],
        ["solve", "FILE", "--strategy", f"genetic:{LONG}=5"],
        ["solve", "FILE", "--strategy", f"genetic:population={LONG}"],
        ["solve", "FILE", "--strategy", "exhaustive", "--out", f"{LONG}.json"],
        ["list", LONG],
        ["generate", "placement", f"--{LONG}", "5"],
        ["sweep", "FILE", "--vary", f"data.{LONG}=1..3", "--strategy", "exhaustive"],
        ["evaluate", "FILE", "--at", LONG],
        ["check", LONG],
        ["pareto", "FILE", "--measures", LONG, "b"],
        [LONG],
    ],
    ids=lambda words: " ".join(word[:12] for word in words),
)
def test_long_names_are_shortened_in_messages(words, instances, capsys):
    from optmodels.cli import main

    file = str(instances / "placement" / "gautam-2x3.json")
    assert main([file if word == "FILE" else word for word in words]) == 2
    told = capsys.readouterr().err
    assert "aaa...aaa" in told and len(told) < 1000 and told.count("\n") == 1


def test_a_sentence_has_an_end_whatever_it_quotes():
    assert len(str(RequestError("word " * 100_000))) == LONGEST_SENTENCE
    assert len(str(InstanceError(LONG, LONG, LONG, LONG))) < LONGEST_SENTENCE
    assert suggestion(LONG, ["genetic"]) == "Known: genetic."


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([[1, 2], {"a": None}], '[[1, 2], {"a": null}]'),
        ([list(range(30))] * 9, "[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1..."),
        ([[[[7] * 4] * 4] * 4] * 4, "[[[[7, 7, 7, 7], [7, 7, 7, 7], [7, 7, 7, 7], [7, 7, 7, 7]..."),
        ({"a": LONG}, '{"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'),
        ({1, 2}, "{1, 2}"),
    ],
)
def test_a_value_is_shown_by_its_beginning(value, shown):
    assert short(value) == shown


def test_a_number_of_thousands_of_digits_is_not_spelled():
    assert short(10**5000) == "a very large int"


def test_of_a_large_value_only_the_beginning_is_looked_at():
    class Counting(list):
        taken = 0

        def __getitem__(self, index):
            found = super().__getitem__(index)
            Counting.taken += len(found)
            return found

        def __iter__(self):
            raise AssertionError("all of it was looked at")

    assert short(Counting(range(10**6))).endswith("...") and Counting.taken < 100
