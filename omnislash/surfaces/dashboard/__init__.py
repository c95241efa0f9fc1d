"""The dashboard: pages over the engine, for a person; each page is also the JSON that it shows."""
