"""Strings in, strings out: cleaning, words, English, secrets.

The lowest room: it knows nothing of memory and imports from no other room. Everything here is a
function of its arguments, takes linear time, and gives the same answer on every machine.
"""
