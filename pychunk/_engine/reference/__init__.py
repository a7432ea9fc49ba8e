"""The native functions in plain Python and NumPy, slow and obvious. Tests compare the core with them."""
