"""The utilities that all packages share, such as durable files, locks, a bounded pipeline and progress bars."""
