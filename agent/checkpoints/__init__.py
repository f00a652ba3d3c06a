"""A safe reader of any LangGraph checkpoint store: never imports, never writes."""
