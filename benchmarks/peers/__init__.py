"""ctxmw beside what one would use instead: the same turns, questions and embedder, in one run."""
