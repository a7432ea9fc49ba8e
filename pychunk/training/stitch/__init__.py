"""STITCH: a planner that reasons, trained by reinforcement, by hints where that finds nothing, by imitation where hints
do not help either. ``pychunk train stitch``.
"""
