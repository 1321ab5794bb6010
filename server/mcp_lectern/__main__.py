"""``python -P -m mcp_lectern`` and the console script; must not know what a subcommand does."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process; the exit code."""
    from mcp_lectern.cli.program import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
