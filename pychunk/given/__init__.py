"""What the caller knows already of each document: spans and vectors of sentences, page starts, summaries."""
