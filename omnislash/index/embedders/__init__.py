"""What turns text into vectors; nothing is imported here, because models are loaded only where a text needs one."""
