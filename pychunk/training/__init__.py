"""How each shipped model was made: one runnable module per model, ``python -m pychunk.training.<name>``."""
