"""The memory tools: one function for each, the same for the CLI, the Python API and every other door."""
