"""Which model computes what for the engine, on the CPU or a GPU: vectors, probabilities, scores."""
