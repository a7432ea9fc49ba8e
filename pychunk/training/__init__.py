"""The models that users fit on their own data, with ``pychunk train NAME``."""
