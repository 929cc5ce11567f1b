from . import krylov as krylov
from .control import FleetMeasures as FleetMeasures
from .control import FleetStep as FleetStep
from .control import best_fleet_policy as best_fleet_policy
from .control import fleet_cost as fleet_cost
from .control import fleet_measures as fleet_measures
from .control import fleet_rates as fleet_rates
from .control import fleet_step as fleet_step
from .mixed import Chances as Chances
from .mixed import EventMoves as EventMoves
from .mixed import event_moves as event_moves
from .mixed import likeliest as likeliest
from .mixed import mixed_chances as mixed_chances
from .mixed import mixed_classes as mixed_classes
from .mixed import mixed_measures as mixed_measures
from .model import Environment as Environment
from .model import RobotClass as RobotClass
from .model import RobotFleet as RobotFleet
from .model import fleet_of as fleet_of
from .policies import allowed_actions as allowed_actions
from .policies import first_actions as first_actions
from .policies import keep_out as keep_out
from .policies import led_to as led_to
from .policies import mean_loads as mean_loads
from .stationary import closed_classes as closed_classes
from .stationary import shares_from_start as shares_from_start
from .transitions import chain_of as chain_of
from .transitions import moves_of as moves_of
from .value_iteration import PACE as PACE
from .value_iteration import greedy as greedy
from .value_iteration import sweep as sweep

__all__ = [
    "PACE",
    "Chances",
    "Environment",
    "EventMoves",
    "FleetMeasures",
    "FleetStep",
    "RobotClass",
    "RobotFleet",
    "allowed_actions",
    "best_fleet_policy",
    "chain_of",
    "closed_classes",
    "event_moves",
    "first_actions",
    "fleet_cost",
    "fleet_measures",
    "fleet_of",
    "fleet_rates",
    "fleet_step",
    "greedy",
    "keep_out",
    "krylov",
    "led_to",
    "likeliest",
    "mean_loads",
    "mixed_chances",
    "mixed_classes",
    "mixed_measures",
    "moves_of",
    "shares_from_start",
    "sweep",
]
