"""Search within a scope: one score, one order, and a plain word when the search could not look."""
