"""Levels of a document, from its sentences to its whole: spans that lie in each other, with vectors of their own."""
