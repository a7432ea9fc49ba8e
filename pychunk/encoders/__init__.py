"""Encoders: sentences to vectors."""
