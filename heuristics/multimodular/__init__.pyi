from .search import Multimodular as Multimodular
from .words import Descent as Descent
from .words import WordCosts as WordCosts
from .words import judged as judged
from .words import least_word as least_word

__all__ = [
    "Descent",
    "Multimodular",
    "WordCosts",
    "judged",
    "least_word",
]
