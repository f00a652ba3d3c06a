"""The overview: whether anything needs me, and whether everything is well."""
