"""The system of record: rows, a feed of changes, and two databases that keep them.

Everything that is known lies here, durable once a call returns; all other rooms hold copies that
can be made anew. Imports from `tokens` and below.
"""
