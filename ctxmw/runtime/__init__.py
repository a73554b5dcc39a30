"""Threads, time, caches and measurements; it knows nothing of memory.

What is here may be used by every room above: the async twins, deadlines, the LRU cache, stages,
statistics, and the border that keeps one record's fault from stopping others. Imports from `text`.
"""
