"""STITCH trains a planner that reasons, with ``pychunk train stitch``.

It uses reinforcement learning, hints for questions where reinforcement finds nothing, and imitation where hints do not
help either.
"""
