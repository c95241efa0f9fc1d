"""How memory reaches the agent: the blocks that a turn carries, made from what was read."""
