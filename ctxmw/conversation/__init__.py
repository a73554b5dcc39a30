"""What a conversation has shown and what it remembers about itself.

Its state, epochs, blocks and records: enough for any process to go on with it. Imports from
`recall` and below.
"""
