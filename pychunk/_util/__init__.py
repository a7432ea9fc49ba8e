"""The utilities that all parts share: files that appear as a whole or not at all, locks, bounded stages, progress."""
