"""Where model answers come from: the table of providers, the client, the offline model."""
