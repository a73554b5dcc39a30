"""The store for many machines: Postgres with transactions, a feed and leases.

Opened by `store.open`; what it promises is written down in `ctxmw.testing` and checked there.
Imports from `store` and below.
"""
