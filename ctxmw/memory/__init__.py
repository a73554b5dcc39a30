"""What people do with memories by hand: remember, edit, forget; and what a search hands back.

Every change keeps the version before it until that is forgotten too. Imports from `conversation`
and below.
"""
