"""What runs a model: a runtime on a CPU or a GPU, and batches of rows through it."""
