"""What runs on top of the rooms below: the memory tools and their grants, approvals, events."""
