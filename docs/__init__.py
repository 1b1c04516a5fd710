"""Pages that are generated: `python -m docs` writes them, a test holds them to the code."""
