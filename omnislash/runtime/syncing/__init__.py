"""Brain-sync: commits what changed, says who changed it, and brings other clones together."""
