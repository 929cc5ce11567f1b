"""The command ``new``: a problem to begin with, whose notes explain every field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import RequestError
from .arguments import ANSWERED, Json, KindName
from .listing import field_line
from .output import check_target, deliver, note

if TYPE_CHECKING:
    from ..instance import Instance


def new(
    kind: KindName,
    out: Annotated[str | None, typer.Option(metavar="F.json", help="Write it to this file instead of stdout.")] = None,
    json: Json = False,
) -> int:
    """Write a small instance to start from.

    Its `notes` explain each field. It is valid as it is: `check` accepts it and `solve` solves it. A file that exists
    is not overwritten.

    For example:
        optmodels new placement --out mine.json
    """
    from ..data import write_text
    from ..instance import pretty

    content = skeleton(kind)
    text = pretty(content.to_data())
    if out is None:
        deliver(None, text, as_json=False)
        if not json:
            note(f"this is an instance to start from; --out {kind}.json writes it to a file.")
        return ANSWERED
    if Path(out).is_file():
        raise RequestError(f"{out}: this file exists, and is not overwritten; choose another name.")
    check_target(out)
    write_text(out, text + "\n")
    told = f"wrote {out}; its notes explain the fields. Edit it, then: optmodels check {out}; optmodels solve {out}"
    deliver({"file": out, "kind": content.kind, "name": content.name}, lambda: note(told), as_json=json)
    return ANSWERED


def skeleton(kind: str) -> Instance:
    """Make an instance to begin with: the example of the kind under another name, with notes on all fields.

    Parameters
    ----------
    kind
        Name of the kind.

    Returns
    -------
    Instance
        What a file would hold.

    Raises
    ------
    RequestError
        If there is no such kind, or it has neither an example nor a generator.
    """
    from ..generating import generate
    from ..instance import Instance, read
    from ..registry import kinds

    record = kinds[kind]
    example = record.beginning_file()
    if example is not None:
        base = read(example).to_data()
    elif record.generator is not None:
        base = generate(kind).to_data()
    else:
        raise RequestError(f"kind {kind!r} has neither an example nor a generator to begin with.")
    kept: dict[str, Any] = {name: base[name] for name in ("format", "kind", "data", "cost", "limits") if name in base}
    head = {"format": kept.pop("format", 1), "kind": kept.pop("kind"), "name": f"my-{kind}"}
    return Instance.from_data({**head, "notes": notes_on(kind), **kept})


def notes_on(kind: str) -> str:
    """Explain the fields of a kind's data, a line each.

    Parameters
    ----------
    kind
        Name of the kind; one that does not describe its data has its measures explained alone.

    Returns
    -------
    str
        Fields, then measures, which cost and limits may name.
    """
    from ..instance import data_fields
    from ..registry import kinds

    record = kinds[kind]
    lines = [record.question, "Fields of data:"]
    lines += [field_line(row) for row in (data_fields(kind) if record.data is not None else [])]
    lines.append("Measures, which cost and limits may name:")
    lines += [f"{name}: {meaning}" for name, meaning in record.measures.items()]
    return "\n".join(lines)
