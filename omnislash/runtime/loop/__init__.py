"""A turn with a model, from the message to the answer and what is kept of it."""
