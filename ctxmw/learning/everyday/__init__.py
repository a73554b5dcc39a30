"""What people say every day: of themselves, and as requests that hold on, in six languages.

Sentences in, kinds and spans out. Imports from `text` only.
"""
