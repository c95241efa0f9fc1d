"""Thin doors to the engine: the command line, the MCP server, the dashboard, and the hooks of hosts such as Claude Code."""
