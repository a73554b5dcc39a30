"""What a person states: rules over sentences that tell a preference from a question.

Text in, statements out; nothing is written here. Imports from `memory` and below.
"""
