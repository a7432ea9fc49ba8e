"""The native functions once more in plain Python and NumPy: slow, obvious, the oracle of the tests."""
