"""Sentences about what others wrote are safe to print."""

import doctest

import pytest

import optmodels.errors
from optmodels.errors import InstanceError, MissingField, RequestError, UnreadableFile, printable
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
