"""The training of the models that pychunk ships, from data of a checkout: ``python -m training.NAME``."""
