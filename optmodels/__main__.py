"""The command line as ``python -m optmodels``."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
