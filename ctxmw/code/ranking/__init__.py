"""Code found by words: how source text becomes words, where they stand, and what fits a message."""
