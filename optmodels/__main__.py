"""The command line as ``python -m optmodels``."""

from .entry import main

if __name__ == "__main__":
    main()
