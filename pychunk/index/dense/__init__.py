"""Search by vectors: exact scans, codes and graphs."""
