"""The reference's functions on text: characters, words, tokens, sentences, wrapped lines and separators."""
