"""``python -m tclose``: the command line."""

from tclose.cli import main

main()
