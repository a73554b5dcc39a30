"""`python -m ctxmw` is the `ctxmw` command."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
