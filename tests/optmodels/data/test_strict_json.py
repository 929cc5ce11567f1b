"""JSON files: what is refused, where it stands, and at what price."""

import json
import subprocess
import sys

import pytest

from optmodels.data import check_tree, parse_json, read_json
from optmodels.data.strict_json import DEEPEST
from optmodels.errors import InstanceError
from optmodels.instance import Instance

NESTED = "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": [1, 2, {"b": NaN}]}', "a[2].b is NaN; numbers are finite."),
        ("[" + "1.5, " * 20 + "Infinity]", "[20] is Infinity; numbers are finite."),
        ("[" + "1, " * 20 + "9223372036854775808]", "[20] is 9223372036854775808; whole numbers lie below 2^63."),
        ("[1.5, " + "1, " * 20 + "-9223372036854775808]", "[21] is -9223372036854775808; whole numbers lie below"),
        ('["a", "\\ud800"]', '[1] is "\\ud800"; texts are valid Unicode.'),
        ('{"a": {"\\ud800": 1}}', 'a.a key is "\\ud800"; texts are valid Unicode.'),
        ('{"a": {"b": 1, "b": 2}}', "a.b is 2; this key stands twice in its object."),
        ("[" * 62 + "1" + "]" * 62, "nested deeper than 60 levels"),
        ("[" * 100_000, "nested deeper than 60 levels"),
        ("1" * 5000, "a number has thousands of digits"),
        ("\0", "this is not JSON"),
        ("NaN", "the file is NaN; numbers are finite."),
        ('[NaN, {"a": 1, "a": 2}]', "[0] is NaN"),  # the first of two, in the order of the file
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, sentence):
    with pytest.raises(InstanceError) as told:
        parse_json(text, "x")
    assert sentence in str(told.value)


def test_what_is_allowed_is_read_as_it_is():
    values = [[1, 2.5, None, True, "é", -(2**63) + 1], {"a": {"b": [[]]}}, [1e308] * 20, ["x"] * 20, [None] * 20]
    assert parse_json(json.dumps(values), "x") == values
    assert parse_json(json.dumps(json.loads(NESTED[1:-1])), "x")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf[1]", b"[1]\n\n"])
def test_a_mark_at_the_beginning_is_no_content(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    assert read_json(tmp_path / "a.json") == [1]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_another_encoding_is_named_a_wrong_file(tmp_path, encoding):
    (tmp_path / "a.json").write_text("[1]", encoding=encoding)
    with pytest.raises(InstanceError, match="this is not a text file: byte 0 is not UTF-8"):
        read_json(tmp_path / "a.json")


def test_a_large_tree_is_checked_without_a_copy():
    """It was laid out on a stack, with the place of every number spelled.

    A copy takes 8 bytes for each entry at least; what other threads do meanwhile is counted too, but does not grow with
    the tree.
    """
    import tracemalloc

    tree = {"a": [1.5, 1] * 200_000, "b": [{"c": 1}] * 200_000}
    tracemalloc.start()
    check_tree(tree)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600_000  # a byte for each entry


def test_one_unknown_field_is_told_of_a_million():
    """An error was made for each of them."""
    head = {"format": 1, "kind": "placement", "name": "x", "data": {}}
    with pytest.raises(InstanceError, match=r"^k0 is 0; there is no such field"):
        Instance.from_data(head | {f"k{index}": index for index in range(1000)})
    with pytest.raises(InstanceError, match=r"^best_known\.k0 is 0; there is no such field"):
        best = {"objective": 1.0} | {f"k{index}": index for index in range(1000)}
        Instance.from_data(head | {"best_known": best})
    with pytest.raises(InstanceError, match=r"^format is missing"):
        Instance.from_data({f"k{index}": index for index in range(1000)})


# -- large files ------------------------------------------------------------------------------------------------------

HEAD = {"format": 1, "kind": "placement", "name": "x"}
N = 40_000_000


def keys():
    return {f"k{index:07d}": index for index in range(N // 20)}


LARGE = {
    "a list": lambda: "[" + "1.5," * (N // 4) + "1]",
    "unknown fields": lambda: json.dumps(keys()),
    "one long key": lambda: '{"' + "a" * N + '": 1}',
    "a long kind": lambda: json.dumps(HEAD | {"kind": "a" * N, "data": {}}),
    "a long name": lambda: json.dumps(HEAD | {"name": "a" * N, "data": {}}),
    "data that are a list": lambda: json.dumps(HEAD | {"data": [1] * (N // 3)}),
    "unknown data": lambda: json.dumps(HEAD | {"data": keys()}),
    "texts": lambda: json.dumps(HEAD | {"data": {"demand": ["x"] * (N // 5)}}),
    "objects": lambda: json.dumps(HEAD | {"data": {"demand": [{"a": 1}] * (N // 10)}}),
    "a list of objects": lambda: json.dumps([{"a": 1, "b": [1, 2]}] * (N // 23)),
    "weights": lambda: json.dumps(HEAD | {"data": {}, "cost": {"name": "weighted-sum", "weights": keys()}}),
    "limits": lambda: json.dumps(HEAD | {"data": {}, "limits": keys()}),
    "a best known": lambda: json.dumps(HEAD | {"data": {}, "best_known": keys()}),
    "a key many times": lambda: "{" + '"a": 1,' * (N // 8) + '"a": 2}',
    "a long number": lambda: "1" * N,
    "brackets": lambda: "[" * N,
    "zeros": lambda: "\0" * N,
}


#: Runs a command, and tells its exit code, seconds of CPU and kilobytes. The system charges a process with the memory
#: of the one that starts it, and this one has less than a worker that has seen hundreds of tests.
MEASURING = """
import json, os, subprocess, sys
_, code, used = os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(code), used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_a_wrong_file_of_40_megabytes_is_refused_at_a_moderate_price(tmp_path, kind):
    file = tmp_path / "large.json"
    file.write_text(LARGE[kind]())
    command = [sys.executable, "-m", "optmodels", "check", str(file)]
    process = subprocess.run([sys.executable, "-c", MEASURING, *command], capture_output=True, text=True, check=True)
    code, seconds, kilobytes = json.loads(process.stdout)
    told = process.stderr
    assert code == 2
    assert told.startswith(f"optmodels: {file}: ") and told.count("\n") == 1 and len(told) < 1000
    assert seconds < 10.0  # of CPU, twice what it takes on a busy machine
    assert kilobytes < 1.1e6
