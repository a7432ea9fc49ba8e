"""The decompression of files to plain blocks of bounded size."""
