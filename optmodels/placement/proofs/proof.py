"""The file of a proof: clauses that a solver found contradictory, how it found that, and what follows.

A proof is a zip archive of three members.

``header.json``
    Which problem it is about (its name, and a SHA-256 sum of its data, cost and limits), the best placement, what is
    claimed of it, how the clauses come about, who found the contradiction, and the log of the run.
``question.cnf``
    All clauses in the DIMACS format, so that any solver and any checker can read them: overloads first, then those that
    cut off dear placements, then counters.
``proof.drat``
    The solver's proof that they contradict one another, if there is one.

A *checkpoint* is such a file of a run that has not ended: its clauses, the best placement and the bound so far.
Whatever stands in a file is data: nothing in it is run, and its sizes are limited before it is read.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...data import parse_json, pretty, replaced
from ...errors import InstanceError, UnreadableFile
from . import drat as steps

Clause = tuple[int, ...]

FORMAT = 1

HEADER, QUESTION, PROOF = "header.json", "question.cnf", "proof.drat"

#: Most bytes of each member, unpacked.
LARGEST = {HEADER: 2**26, QUESTION: 2**29, PROOF: 2**31}

#: Variables of the clauses, at most.
MOST_VARIABLES = 50_000_000


class Counted(BaseModel):
    """A counter: which sum its clauses limit, and what its variables mean.

    Parameters
    ----------
    sum
        ``"cost"`` (of the open sites, in units), ``"open"`` or ``"closed"`` (their numbers).
    most
        The limit.
    order
        Of the sites.
    first
        Number of its first variable.
    places, levels
        Variable ``first`` + i: the first ``places[i]`` sites of the order add up to at least ``levels[i]``.
    clauses
        How many it has.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    sum: str = Field(pattern="^(cost|open|closed)$")
    most: int = Field(ge=-1, lt=2**42)
    order: tuple[int, ...] = Field(strict=False)
    first: int = Field(ge=1, le=MOST_VARIABLES)
    places: tuple[int, ...] = Field(strict=False)
    levels: tuple[int, ...] = Field(strict=False)
    clauses: int = Field(ge=0)


class Header(BaseModel):
    """What a proof says of itself.

    Parameters
    ----------
    format
        Of the file.
    problem, digest
        Name of the problem, and the checksum of what it is.
    complete
        Whether the run ended with a contradiction; otherwise this is a checkpoint.
    objective, decision
        Of the best placement known.
    bound
        Below which nothing lies.
    prices, unit
        Of the sites, in whole units, and what a unit is worth.
    overloads, dear
        How many clauses there are of either sort; the rest belongs to counters.
    counters
        In the order of their clauses.
    engine, versions
        Who found the contradiction.
    log
        What happened, line by line.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    format: int = Field(ge=FORMAT, le=FORMAT)
    problem: str
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    complete: bool
    objective: float | None
    decision: tuple[int, ...] | None = Field(strict=False)
    bound: float | None
    prices: tuple[int, ...] = Field(strict=False)
    unit: float = Field(gt=0, allow_inf_nan=False)
    overloads: int = Field(ge=0)
    dear: int = Field(ge=0)
    counters: tuple[Counted, ...] = Field(strict=False)
    engine: str
    versions: dict[str, str]
    log: tuple[str, ...] = Field(strict=False)


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof, as it stands in its file.

    Parameters
    ----------
    header
        What it says of itself.
    clauses
        In signs of DIMACS, variables from 1: site j is variable j + 1.
    drat
        The proof that they contradict one another; empty where there is none.
    """

    header: Header
    clauses: tuple[Clause, ...]
    drat: bytes = field(default=b"", repr=False)

    @property
    def sha256(self) -> str:
        """The checksum of its clauses, those of counters included: see `checksum`."""
        return checksum(self.clauses)

    @property
    def overloads(self) -> tuple[Clause, ...]:
        """Clauses that every feasible placement keeps."""
        return self.clauses[: self.header.overloads]

    @property
    def dear(self) -> tuple[Clause, ...]:
        """Clauses that cut off placements for their cost."""
        return self.clauses[self.header.overloads : self.header.overloads + self.header.dear]

    def counted(self) -> Iterator[tuple[Counted, tuple[Clause, ...]]]:
        """Every counter with its clauses."""
        begin = self.header.overloads + self.header.dear
        for counter in self.header.counters:
            yield counter, self.clauses[begin : begin + counter.clauses]
            begin += counter.clauses


def write_proof(
    path: str | os.PathLike[str],
    header: Header,
    clauses: Iterable[Clause],
    drat: Path | bytes | None = None,
    lemmas: Iterable[Clause] = (),
) -> None:
    """Write a proof, whole or not at all.

    Parameters
    ----------
    path
        Of the file; what stood there is replaced.
    header, clauses
        As in `Proof`.
    drat
        The proof of a solver, or the file with it, in either format.
    lemmas
        Clauses that follow by propagation, one after the other, before the proof of the solver begins.

    Raises
    ------
    UnwritableFile
        One sentence with the file and the reason.
    """
    described = pretty(header.model_dump(mode="json"))
    with replaced(path) as stream, zipfile.ZipFile(stream, "w", compresslevel=1) as packed:
        packed.writestr(_member(HEADER), described)
        packed.writestr(_member(QUESTION), dimacs(clauses))
        if drat is not None:
            with packed.open(_member(PROOF), "w", force_zip64=True) as member, _opened(drat) as source:
                first = source.read(2**20)
                member.write(steps.written(lemmas, binary=b"\0" in first))
                member.write(first)
                shutil.copyfileobj(source, member, 2**20)


def _member(name: str) -> zipfile.ZipInfo:
    """A member without a date, so that the same proof gives the same file."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    return member


def _opened(drat: Path | bytes) -> IO[bytes]:
    return io.BytesIO(drat) if isinstance(drat, bytes) else drat.open("rb")


def dimacs(clauses: Iterable[Clause]) -> bytes:
    """Write clauses in the DIMACS format."""
    listed = list(clauses)
    variables = max((abs(literal) for clause in listed for literal in clause), default=0)
    lines = [" ".join(map(str, (*clause, 0))) for clause in listed]
    return "\n".join([f"p cnf {variables} {len(lines)}", *lines, ""]).encode()


def checksum(clauses: Iterable[Clause]) -> str:
    """SHA-256 of `QUESTION`, by which clauses are named."""
    return hashlib.sha256(dimacs(clauses)).hexdigest()


def read_proof(path: str | os.PathLike[str], *, drat: bool = True) -> Proof:
    """Read a proof, or a checkpoint.

    Parameters
    ----------
    path
        Of the file.
    drat
        Whether the proof of the solver is read, too.

    Returns
    -------
    Proof
        As it stands in the file; nothing of it is checked but that it is one.

    Raises
    ------
    InstanceError
        One sentence with the file and what is wrong with it.
    """
    file = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as packed:
            members = {info.filename: info for info in packed.infolist()}
            for name in (HEADER, QUESTION):
                if name not in members:
                    raise UnreadableFile(f"this is no proof of `optmodels solve --proof`: it has no member {name}.")
            if len(packed.infolist()) > len(LARGEST) or set(members) - set(LARGEST):
                raise UnreadableFile(f"a proof has the members {', '.join(LARGEST)} and no others.")
            header = _header(_content(packed, members[HEADER]))
            clauses = _clauses(_content(packed, members[QUESTION]))
            proof = _content(packed, members[PROOF]) if drat and PROOF in members else b""
    except InstanceError as failure:
        raise failure if failure.file else failure.at(file) from None
    except OSError as failure:
        raise UnreadableFile(f"the proof cannot be read: {failure.strerror or failure}.", file) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as failure:
        reason = " ".join(str(failure).split()) or type(failure).__name__
        told = "this is no proof of `optmodels solve --proof`, or it is damaged"
        raise UnreadableFile(f"{told}: {reason.rstrip('.')}.", file) from None
    counted = sum(counter.clauses for counter in header.counters)
    if len(clauses) != header.overloads + header.dear + counted:
        told = f"the header speaks of {header.overloads} + {header.dear} + {counted} clauses"
        raise UnreadableFile(f"{told}, and {QUESTION} has {len(clauses)}.", file)
    return Proof(header, clauses, proof)


def _content(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member, unpacked, whatever size it says it has."""
    most = LARGEST[member.filename]
    if member.file_size > most:
        raise UnreadableFile(f"{member.filename} has {member.file_size} bytes unpacked, more than {most}.")
    if member.flag_bits & 1:
        raise UnreadableFile(f"{member.filename} is encrypted; a proof is not.")
    with packed.open(member) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise UnreadableFile(f"{member.filename} has more than {most} bytes unpacked.")
    return content


def _header(content: bytes) -> Header:
    try:
        told: Any = parse_json(content.decode(), HEADER)
    except UnicodeDecodeError:
        raise UnreadableFile(f"{HEADER} is no text in UTF-8.") from None
    except InstanceError as failure:
        raise UnreadableFile(str(failure)) from None
    if not isinstance(told, Mapping):
        raise UnreadableFile(f"{HEADER} holds no object.")
    if told.get("format") != FORMAT:
        raise InstanceError(f"{HEADER}: format", told.get("format"), f"proofs of format {FORMAT} are read here.")
    try:
        return Header.model_validate(told)
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise InstanceError(f"{HEADER}: {place}", first.get("input"), f"{first['msg'].rstrip('.')}.") from None


def _clauses(content: bytes) -> tuple[Clause, ...]:
    first, _, rest = content.partition(b"\n")
    words = first.split()
    if words[:2] != [b"p", b"cnf"] or len(words) != 4:
        raise UnreadableFile(f"{QUESTION} does not begin with the line `p cnf VARIABLES CLAUSES`.")
    data = np.frombuffer(rest, np.uint8)
    nothing = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int8)
    at, count, used = steps.read_text(data, *nothing, MOST_VARIABLES)
    if at != steps.SOUND:
        raise UnreadableFile(f"{QUESTION} breaks off, or is no list of clauses, at byte {len(first) + 1 + at}.")
    literals, ends, deletes = np.zeros(used, np.int32), np.zeros(count, np.int64), np.zeros(count, np.int8)
    if count:
        steps.read_text(data, literals, ends, deletes, MOST_VARIABLES)
    if deletes.any():
        raise UnreadableFile(f"{QUESTION} holds a deletion, and it is a list of clauses.")
    signed = np.where(literals % 2 == 1, -(literals // 2), literals // 2).tolist()
    begins = [0, *ends.tolist()]
    return tuple(tuple(signed[a:b]) for a, b in itertools.pairwise(begins))
