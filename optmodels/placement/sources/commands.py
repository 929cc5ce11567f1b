"""The command ``import``: instances of files of other collections."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...cli import ANSWERED, Json, check_target, deliver, note
from ...errors import RequestError
from .lines import FORMATS


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File of another collection.")],
    format: Annotated[
        str, typer.Option(metavar="orlib-pmed|tsplib", help="Layout of the file.", autocompletion=_complete_format)
    ],
    out: Annotated[str, typer.Option(metavar="F.json", help="Write the instance to this file.")],
    sites: Annotated[int | None, typer.Option(metavar="P", help="Sites to open; TSPLIB files do not say.")] = None,
    clients: Annotated[int, typer.Option(metavar="N", help="Clients at each node.")] = 1,
    service_rate: Annotated[float | None, typer.Option(metavar="X", help="Requests served per unit of time.")] = None,
    base: Annotated[
        float | None, typer.Option(metavar="A", help="Think time A + B d of clients at distance d.")
    ] = None,
    per_distance: Annotated[float | None, typer.Option(metavar="B", help="See --base.")] = None,
    min_throughput: Annotated[float | None, typer.Option(metavar="X", help="Least throughput of a client.")] = None,
    max_delay_probability: Annotated[
        float | None, typer.Option(metavar="P", help="Largest probability of waiting longer than --delay.")
    ] = None,
    delay: Annotated[float | None, typer.Option(metavar="T", help="The wait that few requests exceed.")] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of the instance; by default the file's.")] = None,
    json: Json = False,
) -> int:
    """Make a placement of a file of the OR-Library or TSPLIB.

    orlib-pmed: a p-median problem. Nodes, edges and p stand in the first line, then an edge in each line, with its
    cost; of several lines about an edge the last one counts. Distances are those of shortest paths.

    tsplib: cities with coordinates (NODE_COORD_SECTION) and the rule EUC_2D, CEIL_2D, ATT or GEO for distances.

    Every node is a site and has clients, exactly p sites are opened, and the cost is the sum of all distances. What
    such files do not have is chosen so that no capacity binds, unless options say otherwise; the notes of the instance
    tell what it is.

    For example:
        optmodels import pmed1.txt --format orlib-pmed --out pmed1.json
        optmodels import burma14.tsp --format tsplib --sites 3 --out burma14.json
        optmodels import pmed1.txt --format orlib-pmed --clients 4 --service-rate 200 --min-throughput 0.9 --out q.json
    """
    from ...instance import write_instance
    from .importing import import_file

    if format not in FORMATS:
        raise RequestError(f"format must be one of {', '.join(FORMATS)}, got {format!r}.")
    check_target(out, file)
    told: dict[str, Any] = {
        "service_rate": service_rate,
        "base": base,
        "per_distance": per_distance,
        "min_throughput": min_throughput,
        "max_delay_probability": max_delay_probability,
        "delay": delay,
    }
    server = {option: value for option, value in told.items() if value is not None}
    instance = import_file(file, format, sites=sites, clients=clients, name=name, **server)  # type: ignore[arg-type]
    write_instance(instance, out)
    problem: Any = instance.problem()
    nodes, opened, notes = problem.layout.sites, int(problem.numbers[1]), instance.notes or ""

    def say() -> None:
        note(f"wrote {out}: {nodes} nodes, {opened} open sites")
        note(notes)

    deliver({"file": out, "nodes": nodes, "open_sites": opened, "notes": notes}, say, as_json=json)
    return ANSWERED
