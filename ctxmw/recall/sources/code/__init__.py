"""Code as a source of items: what a message points at, what it is about, and how it is shown."""
