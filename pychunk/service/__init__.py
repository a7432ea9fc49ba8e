"""The HTTP service, which ``pychunk serve`` starts: documents in, chunks out."""
