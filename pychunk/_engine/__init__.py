"""The engine: what flows through it, its borders to the native core and the GPU, and the oracle."""
