"""The tick that grows the period ladder."""
