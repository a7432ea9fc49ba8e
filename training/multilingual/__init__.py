"""The training of the multilingual table: its text, and the fit."""
