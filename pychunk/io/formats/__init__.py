"""One reader for each format of files."""
