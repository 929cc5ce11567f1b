"""The command ``erlang``, which the kind adds to the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from optmodels.cli import ANSWERED, Json, deliver

from .queue import waiting_probability


def erlang(
    load: Annotated[float, typer.Argument(metavar="LOAD", help="Arrival rate divided by service rate.")],
    servers: Annotated[int, typer.Argument(metavar="SERVERS", help="How many there are.")],
    json: Json = False,
) -> int:
    """The probability that a customer waits.

    Example: optmodels erlang 2 3
    """
    probability = waiting_probability(load, servers)
    data = {"load": load, "servers": servers, "waiting_probability": probability}
    deliver(data, f"{probability:.6g}", as_json=json)
    return ANSWERED
