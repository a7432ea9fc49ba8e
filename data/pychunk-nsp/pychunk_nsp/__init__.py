"""The model files of the method ``nsp``, which pychunk finds by the entry point ``pychunk.models``."""
