from .published_iteration import PaperIteration as PaperIteration
from .published_iteration import paper_iteration as paper_iteration
from .remaking import Remade as Remade
from .remaking import remake as remake
from .tables import Cell as Cell
from .tables import PaperTable as PaperTable

__all__ = [
    "Cell",
    "PaperIteration",
    "PaperTable",
    "Remade",
    "paper_iteration",
    "remake",
]
