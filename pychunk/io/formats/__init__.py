"""The readers, one for each file format, and the functions that they share."""
