"""`python -m askhouse` is the command `askhouse`."""

from .cli import main

main(prog_name="askhouse")
