from .search import Multimodular as Multimodular
from .words import Descent as Descent
from .words import WordCosts as WordCosts
from .words import evaluate_word as evaluate_word

__all__ = [
    "Descent",
    "Multimodular",
    "WordCosts",
    "evaluate_word",
]
