"""What a person sees of a brain's memory and sources, and changes of its memory: every line, whatever a role may do."""
