"""The store in one file: SQLite with a pool of connections, many processes at once.

Opened by `store.open`; what it promises is written down in `ctxmw.testing` and checked there.
Imports from `store` and below.
"""
