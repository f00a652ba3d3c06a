"""From a task to a checked plan: prompts, tolerant reading, strict validation, hash. Pure."""
