from .search import Multimodular as Multimodular
from .words import Descent as Descent
from .words import WordCosts as WordCosts
from .words import judged as judged

__all__ = [
    "Descent",
    "Multimodular",
    "WordCosts",
    "judged",
]
