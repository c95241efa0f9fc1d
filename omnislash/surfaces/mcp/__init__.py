"""The memory of one role for programs that speak the Model Context Protocol: tools, resources and a prompt, over any transport."""
