"""``python -m agdbg``."""

import sys

from agdbg.cli import main

if __name__ == "__main__":
    sys.exit(main())
