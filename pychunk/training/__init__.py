"""What users fit on their own data: ``pychunk train NAME``."""
