"""A process that keeps a memory open answers for those that would have to open it first.

Starting Python with the whole core takes longer than any answer. Whoever serves a memory (`ctxmw
serve`, `ctxmw mcp`) therefore also answers `ctxmw inject`, over the loopback interface. What asks
imports next to nothing.
"""
