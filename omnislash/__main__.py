"""`python -m omnislash` is the command line."""

from __future__ import annotations

import sys

from omnislash.surfaces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
