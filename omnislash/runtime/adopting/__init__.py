"""Making a brain of a folder that holds notes already: what is there, what would move, and the moves themselves."""
