from .following import follow_batch as follow_batch
from .following import follow_run as follow_run
from .frames import COLUMNS as COLUMNS
from .frames import frame as frame
from .frames import run_row as run_row
from .html import page as page
from .html import result_html as result_html

__all__ = [
    "COLUMNS",
    "follow_batch",
    "follow_run",
    "frame",
    "page",
    "result_html",
    "run_row",
]
