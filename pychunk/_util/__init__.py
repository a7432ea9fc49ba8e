"""What any room needs and none owns: files that appear whole or not at all, locks, bounded stages, progress."""
