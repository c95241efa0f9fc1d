"""doctor: names what is wrong with a brain before it hurts; reads, and never repairs."""
