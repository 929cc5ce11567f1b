from .strategy import BestOf as BestOf

__all__ = ["BestOf"]
