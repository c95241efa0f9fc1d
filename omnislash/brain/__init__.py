"""Opening a brain: every file that configures it, decoded strictly, with file, line, column and key in each fault."""
