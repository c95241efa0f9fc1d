"""The durable writer: the queue, planning a job against the bytes on disk, applying it, recovery, verdicts."""
