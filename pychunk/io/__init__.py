"""Files to batches of documents and back; no chunking here."""
