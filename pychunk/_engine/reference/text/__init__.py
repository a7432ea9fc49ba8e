"""The reference's text functions: characters, words, sentences, wraps, separators."""
