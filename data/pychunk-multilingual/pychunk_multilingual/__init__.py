"""The model files of the encoder ``multilingual``, which pychunk finds by the entry point ``pychunk.models``."""
