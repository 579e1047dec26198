"""`python -m aglet.gpubench`: measures a card beside the processor, as `aglet bench card` does, and writes a record."""

from __future__ import annotations

import sys

from aglet.cli import app

__all__ = ["RECORD", "main"]

RECORD = "gpubench.jsonl"
"""The file that lines are added to, a line for each operation, unless `--record` names another."""


def main(arguments: list[str]) -> None:
    """Run `aglet bench card` with these arguments and a record."""
    named = any(word == "--record" or word.startswith("--record=") for word in arguments)
    app(["bench", "card", *arguments, *([] if named else ["--record", RECORD])], prog_name="aglet")


if __name__ == "__main__":
    main(sys.argv[1:])
