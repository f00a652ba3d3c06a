"""The records database: tables, migrations and the gateway that knows SQL."""
