"""``python -m gpufluid`` is the command ``gpufluid``."""

import sys

from gpufluid.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
