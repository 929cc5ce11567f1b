from .checks import SUM_TOLERANCE as SUM_TOLERANCE
from .checks import Integers as Integers
from .checks import Matrix as Matrix
from .checks import Vector as Vector
from .checks import comparable as comparable
from .checks import distribution as distribution
from .checks import equally_many as equally_many
from .checks import not_negative as not_negative
from .checks import not_negative_rates as not_negative_rates
from .checks import numbers as numbers
from .checks import positive as positive
from .checks import refuse_rows as refuse_rows
from .checks import square as square
from .checks import whole as whole
from .elementary import SMALL as SMALL
from .elementary import VECTOR as VECTOR
from .elementary import bits_of as bits_of
from .elementary import double_of as double_of
from .elementary import log1p_and_excess as log1p_and_excess
from .elementary import minus_log as minus_log
from .elementary import plus as plus
from .elementary import plus_product as plus_product
from .elementary import small_excess as small_excess
from .elementary import sum_of_products as sum_of_products
from .elementary import sums_by as sums_by
from .markov import DENSE_LIMIT as DENSE_LIMIT
from .markov import check_generator as check_generator
from .markov import check_irreducible as check_irreducible
from .markov import clean_exits as clean_exits
from .markov import communicating_classes as communicating_classes
from .markov import eliminate_all as eliminate_all
from .markov import factor_in_place as factor_in_place
from .markov import solve_in_place as solve_in_place
from .markov import solve_left_in_place as solve_left_in_place
from .markov import states_reached as states_reached
from .markov import stationary_by_levels as stationary_by_levels
from .markov import stationary_distribution as stationary_distribution
from .markov import stationary_of_rates as stationary_of_rates
from .markov import transient_factors as transient_factors
from .markov import transient_solution as transient_solution

__all__ = [
    "DENSE_LIMIT",
    "SMALL",
    "SUM_TOLERANCE",
    "VECTOR",
    "Integers",
    "Matrix",
    "Vector",
    "bits_of",
    "check_generator",
    "check_irreducible",
    "clean_exits",
    "communicating_classes",
    "comparable",
    "distribution",
    "double_of",
    "eliminate_all",
    "equally_many",
    "factor_in_place",
    "log1p_and_excess",
    "minus_log",
    "not_negative",
    "not_negative_rates",
    "numbers",
    "plus",
    "plus_product",
    "positive",
    "refuse_rows",
    "small_excess",
    "solve_in_place",
    "solve_left_in_place",
    "square",
    "states_reached",
    "stationary_by_levels",
    "stationary_distribution",
    "stationary_of_rates",
    "sum_of_products",
    "sums_by",
    "transient_factors",
    "transient_solution",
    "whole",
]
