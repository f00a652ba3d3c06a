"""What the agent's manifest said when a run began."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column; runs from before have none."""
    op.add_column("runs", sa.Column("manifest", sa.JSON(), nullable=True))
