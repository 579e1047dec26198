"""`python -m aglet`: the command `aglet`, where its folder is not on the path."""

from aglet.cli import main

main()
