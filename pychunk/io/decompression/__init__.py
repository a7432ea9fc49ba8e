"""Files, compressed or not, to plain blocks of bounded size."""
