"""The decompression of files to blocks of plain bytes, each of bounded size."""
