"""Runs the revisions on the connection that the caller has open, in the caller's transaction."""

from alembic import context

from traces.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
context.run_migrations()
