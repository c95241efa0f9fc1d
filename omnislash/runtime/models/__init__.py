"""Models by reference: providers, commands, and the offline one."""
