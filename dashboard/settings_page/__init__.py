"""The settings page: what is in force, and which variable changes it."""
