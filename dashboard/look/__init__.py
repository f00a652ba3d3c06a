"""How everything looks: the status table, formats, escaping, shared parts, colours and drawings."""
