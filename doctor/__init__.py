"""The checks of `omnislash doctor`: one file each; they read, and never repair."""
