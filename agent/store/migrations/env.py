"""Runs the migrations on the connection, and in the transaction, that `agent.store.migrate` gives."""

from alembic import context

from agent.store.migrate import VERSION_TABLE
from agent.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    # Also for SQLite, so that a migration that fails leaves nothing behind.
    transactional_ddl=True,
)
context.run_migrations()
