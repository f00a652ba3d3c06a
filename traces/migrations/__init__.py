"""Alembic revisions of the tables in `traces.schema`; run by `traces.database` when a store is opened."""
