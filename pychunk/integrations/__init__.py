"""Adapters: pychunk inside distributed data frames, and behind the interfaces of other packages."""
