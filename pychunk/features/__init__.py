"""The results of models that the engine needs, on the CPU or a GPU: vectors, probabilities, scores."""
