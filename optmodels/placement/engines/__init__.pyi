from .deciding import missing as missing

__all__ = ["missing"]
