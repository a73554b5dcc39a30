"""The command `ctxmw`: its commands, the doctor and the demo.

A command opens a memory by settings, calls one method, and prints. Imports from every room.
"""
