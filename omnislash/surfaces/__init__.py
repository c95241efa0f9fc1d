"""What people and programs touch: the command line, and later the MCP server, the dashboard and the adapters."""
