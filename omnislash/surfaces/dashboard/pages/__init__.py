"""The pages, one file each: routes, what they ask the engine, and nothing that the engine decides."""
