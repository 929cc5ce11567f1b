"""Demands that a topology is published with, as clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import is_number, refuse_unknown
from ...errors import InstanceError, MissingField
from ..geometry.by_site import MOST_CLIENTS

_FORM = 'published demands are {"topohub": "sum", "per_client": x}, where x is what one client asks for.'

#: Below a whole number by this much, relative, is that number: sums and quotients are rounded.
ROUNDING = 1e-9


def published_demand(data: Mapping[str, Any], layout: Any, place: str = "data.demand") -> NDArray[np.int64]:
    """Make clients of the demands of a topology: summed by node, divided by what one client asks for, rounded up.

    A demand of a pair of nodes counts at both.

    Parameters
    ----------
    data
        ``{"topohub": "sum", "per_client": x}``.
    layout
        Of the instance: has ``demands``, and ``topohub``, the name of the topology.
    place
        Where the field stands.

    Returns
    -------
    array
        Clients of each node.

    Raises
    ------
    InstanceError
        One sentence, also where the topology has no demands.

    Examples
    --------
    >>> from optmodels.placement.sources import published_demand, read_topology
    >>> published_demand({"topohub": "sum", "per_client": 20}, read_topology("sndlib/germany50"))[:6].tolist()
    [3, 4, 3, 10, 6, 3]
    """
    refuse_unknown(data, {"topohub", "per_client"}, place)
    for name in ("topohub", "per_client"):
        if name not in data:
            raise MissingField(f"{place}.{name}", _FORM)
    if data["topohub"] != "sum":
        raise InstanceError(f"{place}.topohub", data["topohub"], _FORM)
    each = data["per_client"]
    if not is_number(each) or each <= 0:
        raise InstanceError(f"{place}.per_client", each, "what one client asks for is a positive number.")
    demands = getattr(layout, "demands", None)
    if demands is None:
        rule = 'these are the demands of a named topology, "network": {"topohub": name}, and there is none.'
        raise InstanceError(place, dict(data), rule)
    if not demands.any():
        raise InstanceError(place, dict(data), f"topohub has no demands of {layout.topohub!r}; list the clients.")
    clients = np.ceil(demands / each * (1 - ROUNDING))
    if clients.max() > MOST_CLIENTS:
        rule = f"at most {MOST_CLIENTS} clients of a node are supported, and there would be {clients.max():.4g}."
        raise InstanceError(f"{place}.per_client", each, rule)
    return np.asarray(clients, dtype=np.int64)
