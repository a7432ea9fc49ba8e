"""Search by vectors: exact scans, codes, graphs."""
