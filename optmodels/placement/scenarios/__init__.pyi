from .data import DrawnScenarios as DrawnScenarios
from .data import Scenario as Scenario
from .problem import ScenarioPlacement as ScenarioPlacement

__all__ = [
    "DrawnScenarios",
    "Scenario",
    "ScenarioPlacement",
]
