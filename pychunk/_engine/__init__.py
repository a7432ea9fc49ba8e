"""The engine: its data, its interfaces to the native core and the GPU, and the reference implementation."""
