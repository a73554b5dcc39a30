"""Whose words stand in a message: its speaker's, or those of a text that was pasted into it.

Nobody marks what they paste: it is told by its structure, and by how the message speaks about it.
"""
