"""The levels of a document, from its sentences to the whole document: nested spans with vectors of their own."""
