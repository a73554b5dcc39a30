"""Whether a sentence tells something that lasts: by its marks, and weights trained on examples.

Sentences in, kinds out. `benchmarks/train_lasting.py` makes the weights. Imports from nothing else.
"""
