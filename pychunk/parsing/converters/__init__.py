"""The converters of files that are neither text nor tables, one module for each kind; each runs in a worker process."""
