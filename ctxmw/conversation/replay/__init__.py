"""What stood where: earlier parts and views are found again in the caller's messages.

Messages are known by hashes of all that stands before them, so that what was sent once is sent
again to the byte. Imports from `recall` and below.
"""
