from .constraints import Circulation as Circulation
from .constraints import begin_with_first_used as begin_with_first_used
from .constraints import come_after_a_gap as come_after_a_gap
from .constraints import declare_variables as declare_variables
from .constraints import fill_slots as fill_slots
from .constraints import go_on_after_a_gap as go_on_after_a_gap
from .constraints import go_round_once as go_round_once
from .constraints import limit_visits as limit_visits
from .constraints import limit_windows as limit_windows
from .constraints import linear as linear
from .constraints import net as net
from .constraints import order_equal_symbols as order_equal_symbols
from .constraints import price as price
from .points import fill_in as fill_in
from .points import gaps_of as gaps_of
from .points import read_slots as read_slots

__all__ = [
    "Circulation",
    "begin_with_first_used",
    "come_after_a_gap",
    "declare_variables",
    "fill_in",
    "fill_slots",
    "gaps_of",
    "go_on_after_a_gap",
    "go_round_once",
    "limit_visits",
    "limit_windows",
    "linear",
    "net",
    "order_equal_symbols",
    "price",
    "read_slots",
]
