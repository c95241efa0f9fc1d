"""Heartbeats by cron, hooks by events: what is due, running it once, and noting what came of it."""
