"""The runtimes that execute models on a CPU or a GPU, and the batches of rows that they process."""
