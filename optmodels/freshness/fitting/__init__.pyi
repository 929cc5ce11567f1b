from .estimate import check_outputs as check_outputs
from .estimate import fit as fit
from .estimate import fit_log as fit_log
from .estimate import read_access_time as read_access_time
from .estimate import read_prior as read_prior
from .estimate import write_fit as write_fit
from .log import read_log as read_log

__all__ = [
    "check_outputs",
    "fit",
    "fit_log",
    "read_access_time",
    "read_log",
    "read_prior",
    "write_fit",
]
