"""One model call: prepare it, finish it, end the conversation, and what the agent may ask.

The verbs of a `Session`, each a walk through the rooms below. Imports from `compaction` and below.
"""
