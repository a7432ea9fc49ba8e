"""Semantic segmentation of text at the speed of tokenisation."""
