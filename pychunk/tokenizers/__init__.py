"""Tokenizers of language models, implemented natively, with ids equal to those of each model's own library."""
