from .chain import Blocks as Blocks
from .chain import Chain as Chain
from .chain import Incoming as Incoming
from .chain import assemble as assemble
from .chain import chain_of as chain_of
from .chain import level_offsets as level_offsets
from .elimination import COMPLETE as COMPLETE
from .elimination import ELIMINATION as ELIMINATION
from .elimination import PARTIAL as PARTIAL
from .elimination import WHOLE as WHOLE
from .elimination import Rates as Rates
from .elimination import climb_of as climb_of
from .elimination import outcomes_of as outcomes_of
from .elimination import rates_of as rates_of
from .elimination import reach_of as reach_of
from .elimination import room_at as room_at
from .elimination import stationary_by_state as stationary_by_state
from .elimination import stationary_levels as stationary_levels
from .flows import SAFETY as SAFETY
from .flows import Outcomes as Outcomes
from .flows import balance as balance
from .flows import flows_of_rows as flows_of_rows
from .flows import guessed_row as guessed_row
from .flows import judged as judged
from .flows import measures_of_flows as measures_of_flows
from .flows import outcomes_of_pages as outcomes_of_pages
from .generator import BLOCK as BLOCK
from .generator import BLOCK_LIMIT as BLOCK_LIMIT
from .generator import RECURSION as RECURSION
from .generator import REFERENCE as REFERENCE
from .generator import block_levels as block_levels
from .generator import full_generator as full_generator
from .generator import level_blocks as level_blocks
from .generator import outcomes_ahead as outcomes_ahead
from .generator import reference_levels as reference_levels
from .krylov import KRYLOV as KRYLOV
from .krylov import KRYLOV_LIMIT as KRYLOV_LIMIT
from .krylov import KRYLOV_PREFERRED as KRYLOV_PREFERRED
from .krylov import KRYLOV_TOLERANCE as KRYLOV_TOLERANCE
from .krylov import fixed_point as fixed_point
from .krylov import krylov_iterates as krylov_iterates
from .krylov import krylov_rows as krylov_rows
from .matrix_free import MATRIX_FREE as MATRIX_FREE
from .matrix_free import MATRIX_FREE_LIMIT as MATRIX_FREE_LIMIT
from .matrix_free import MATRIX_FREE_TOLERANCE as MATRIX_FREE_TOLERANCE
from .matrix_free import iterated as iterated
from .matrix_free import level_inverses as level_inverses
from .matrix_free import sweep as sweep
from .matrix_free import tables_of as tables_of
from .phase_words import Classes as Classes
from .phase_words import Letters as Letters
from .phase_words import Numbers as Numbers
from .phase_words import classes_of_words as classes_of_words
from .phase_words import plain_letters as plain_letters
from .phase_words import reversed_letters as reversed_letters
from .phase_words import rotated as rotated
from .phase_words import solve_level as solve_level
from .phase_words import triangular_letters as triangular_letters
from .phase_words import weights_of_words as weights_of_words
from .truncation import TRUNCATED as TRUNCATED
from .truncation import HeavyTailError as HeavyTailError
from .truncation import exact_flows as exact_flows
from .truncation import largest_capacity as largest_capacity
from .truncation import with_tail as with_tail

__all__ = [
    "BLOCK",
    "BLOCK_LIMIT",
    "COMPLETE",
    "ELIMINATION",
    "KRYLOV",
    "KRYLOV_LIMIT",
    "KRYLOV_PREFERRED",
    "KRYLOV_TOLERANCE",
    "MATRIX_FREE",
    "MATRIX_FREE_LIMIT",
    "MATRIX_FREE_TOLERANCE",
    "PARTIAL",
    "RECURSION",
    "REFERENCE",
    "SAFETY",
    "TRUNCATED",
    "WHOLE",
    "Blocks",
    "Chain",
    "Classes",
    "HeavyTailError",
    "Incoming",
    "Letters",
    "Numbers",
    "Outcomes",
    "Rates",
    "assemble",
    "balance",
    "block_levels",
    "chain_of",
    "classes_of_words",
    "climb_of",
    "exact_flows",
    "fixed_point",
    "flows_of_rows",
    "full_generator",
    "guessed_row",
    "iterated",
    "judged",
    "krylov_iterates",
    "krylov_rows",
    "largest_capacity",
    "level_blocks",
    "level_inverses",
    "level_offsets",
    "measures_of_flows",
    "outcomes_ahead",
    "outcomes_of",
    "outcomes_of_pages",
    "plain_letters",
    "rates_of",
    "reach_of",
    "reference_levels",
    "reversed_letters",
    "room_at",
    "rotated",
    "solve_level",
    "stationary_by_state",
    "stationary_levels",
    "sweep",
    "tables_of",
    "triangular_letters",
    "weights_of_words",
    "with_tail",
]
