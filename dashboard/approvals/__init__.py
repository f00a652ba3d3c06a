"""The approvals page: what waits for a person, and what will happen if that person says yes."""
