"""The index of meanings: embedders, and three places that keep their vectors.

Optional: without an embedder nothing here is loaded. Imports from `store` and below.
"""
