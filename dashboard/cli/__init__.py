"""The command line: what the pages do, for a terminal or a script. Each command imports only what it uses."""
