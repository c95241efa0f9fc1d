"""Reviewing a finished turn for what is worth keeping."""
