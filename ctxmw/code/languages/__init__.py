"""What each language means: what a file of it defines, and which files its imports are of."""
