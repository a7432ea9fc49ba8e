"""The oracle's text: characters, words, sentences, wraps, separators."""
