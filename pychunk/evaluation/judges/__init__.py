"""The judgement of chunks, hits and answers by a model."""
