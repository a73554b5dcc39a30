"""What turns teach: capture, statements, observations, and an optional model.

What was said is stored first and whatever becomes of the call; then it is learned from, once.
Imports from `memory` and below.
"""
