"""The readers, one for each format of files."""
