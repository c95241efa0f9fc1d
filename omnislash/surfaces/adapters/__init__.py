"""Hosts: programs that run sessions of their own, such as Claude Code, and carry a role's memory in them."""
