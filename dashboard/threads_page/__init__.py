"""The page of threads: which there are, and one of them replayed checkpoint by checkpoint."""
