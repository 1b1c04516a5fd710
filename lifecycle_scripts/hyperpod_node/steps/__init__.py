"""The steps: one module a concern, each function takes the context and returns what it did, in a line."""
