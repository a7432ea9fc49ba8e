"""Tokenizers of language models, implemented by the native core."""
