"""Files that are no proofs, or were damaged: one sentence each."""

import json
import zipfile

import pytest
from placement_proofs import make_proof

import optmodels as om
from optmodels.placement.proofs import proof as proofs
from optmodels.placement.proofs import read_proof, write_proof


@pytest.fixture(scope="module")
def members():
    header, clauses, steps = make_proof(om.load("gautam-2x3"))
    return {
        "header.json": header.model_dump_json().encode(),
        "question.cnf": proofs.dimacs(clauses),
        "proof.drat": steps,
    }


@pytest.fixture
def packed(tmp_path, members):
    """Write an archive of members, some of them changed or left out (None)."""

    def write(**changed):
        path = tmp_path / "some.proof"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (members | {key.replace("_", "."): value for key, value in changed.items()}).items():
                if content is not None:
                    archive.writestr(name, content)
        return path

    return write


def told(path):
    """The sentence with which a file is refused."""
    with pytest.raises(om.InstanceError) as failure:
        read_proof(path)
    sentence = str(failure.value)
    assert sentence.startswith(str(path)) and "\n" not in sentence and sentence.endswith(".")
    return sentence


def test_the_members_make_a_proof(packed):
    assert read_proof(packed()).header.problem == "gautam-2x3"
    assert read_proof(packed(proof_drat=None)).drat == b""
    assert read_proof(packed(), drat=False).drat == b""


def test_what_is_no_archive_is_refused(tmp_path, packed):
    path = tmp_path / "other.proof"
    for content in (b"", b"hello", b"PK\3\4" + b"x" * 100):
        path.write_bytes(content)
        assert "no proof of `optmodels solve --proof`, or it is damaged" in told(path)
    assert "cannot be read: No such file" in told(tmp_path / "absent.proof")
    assert "cannot be read: Is a directory" in told(tmp_path)
    whole = packed().read_bytes()
    for end in range(100, len(whole), len(whole) // 7):
        path.write_bytes(whole[:end])
        assert "damaged" in told(path)


def test_one_byte_changed_is_noticed_or_changes_nothing(tmp_path, packed):
    whole = packed().read_bytes()
    before = read_proof(packed())
    path = tmp_path / "other.proof"
    for at in range(0, len(whole), 37):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            after = read_proof(path)
        except om.InstanceError as failure:
            assert str(failure).startswith(str(path))
        else:
            assert (after.header, after.clauses, after.drat) in (
                (before.header, before.clauses, before.drat),
                (before.header, before.clauses, b""),
            )


def test_members_are_those_of_a_proof(packed):
    assert "it has no member header.json" in told(packed(header_json=None))
    assert "it has no member question.cnf" in told(packed(question_cnf=None))
    assert "and no others" in told(packed(other_txt=b"x"))


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"format": 2}, "header.json: format is 2; proofs of format 1 are read here."),
        ({"format": None}, "format is null"),
        ({"digest": "x"}, "header.json: digest"),
        ({"unit": 0.0}, "header.json: unit is 0.0"),
        ({"unit": "1"}, "header.json: unit"),
        ({"overloads": -1}, "header.json: overloads is -1"),
        ({"overloads": 3}, "the header speaks of 3 + 0 + 37 clauses, and question.cnf has 52."),
        ({"prices": [1.5]}, "header.json: prices.0 is 1.5"),
        ({"extra": 1}, "header.json: extra is 1"),
        ({"counters": [{"sum": "all"}]}, "header.json: counters.0"),
    ],
)
def test_fields_of_the_header_are_checked(packed, members, change, sentence):
    header = json.loads(members["header.json"]) | change
    assert sentence in told(packed(header_json=json.dumps(header).encode()))


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"[1]", "holds no object"),
        (b"\xff", "no text in UTF-8"),
        (b"{", "header.json"),
        (b'{"format": 1, "format": 1}', "header.json"),
        (b"[" * 10_000, "header.json"),
    ],
)
def test_headers_that_are_none_are_refused(packed, content, sentence):
    assert sentence in told(packed(header_json=content))


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"", "does not begin with the line"),
        (b"1 2 0\n", "does not begin with the line"),
        (b"p cnf 2 1\n1 x 0\n", "at byte 10"),
        (b"p cnf 2 1\n1 2", "at byte 10"),
        (b"p cnf 2 1\nd 1 2 0\n", "holds a deletion"),
        (b"p cnf 2 1\n1 2 0\n", "question.cnf has 1"),
    ],
)
def test_clauses_that_are_none_are_refused(packed, content, sentence):
    assert sentence in told(packed(question_cnf=content))


def test_sizes_are_limited_before_anything_is_unpacked(packed, monkeypatch):
    """A bomb: a member that says how large it is, and one that does not."""
    path = packed(question_cnf=b"p cnf 1 0\n" + b" " * 10**6)
    monkeypatch.setitem(proofs.LARGEST, "question.cnf", 10**5)
    assert "question.cnf has 1000010 bytes unpacked, more than 100000" in told(path)
    content = path.read_bytes()
    size = (1000010).to_bytes(4, "little")
    path.write_bytes(content.replace(size, (50).to_bytes(4, "little")))
    assert "question.cnf" in told(path) or "damaged" in told(path)


def test_a_proof_replaces_what_stood_there_only_when_it_is_whole(tmp_path, members):
    path = tmp_path / "kept.proof"
    path.write_bytes(b"before")
    header, clauses, _ = make_proof(om.load("gautam-2x3"))
    with pytest.raises(om.RequestError):
        write_proof(path, header, clauses, tmp_path / "absent.drat")
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]
