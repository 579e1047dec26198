"""`python -m aglet`: runs the command `aglet`, also if its folder is not on the path."""

from aglet.cli import main

main()
