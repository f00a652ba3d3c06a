"""`python -m dashboard.cli` is `plandeck`."""

from dashboard.cli.main import main

main()
