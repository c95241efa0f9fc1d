"""Bytes on disk: durable replace, safe reads, hashes, the OS lock, the state database, git, the one real clock."""
