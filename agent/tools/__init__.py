"""Tools that do real work, and their registry."""
