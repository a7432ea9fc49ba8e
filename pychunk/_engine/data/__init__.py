"""Frozen, flat arrays that pass between the stages of a call. These modules import nothing else of pychunk."""
