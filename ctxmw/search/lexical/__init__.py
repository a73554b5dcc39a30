"""The index of words: postings and columns in numpy arrays, one index a user.

It can be saved and read as bytes, and takes changes one record at a time. Imports from `store` and
below.
"""
