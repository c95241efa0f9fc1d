"""What a check of doctor is, what it is shown, and the run of all checks; the checks themselves lie in `doctor/`."""
