"""The runs page: every run, and how far one of them is."""
