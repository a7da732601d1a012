"""`python -m refdesk` is the `refdesk` command."""

from refdesk.cli import main

main()
