"""The training with ``--tiny``: the synthetic task and a random model for it."""

from __future__ import annotations

from ..teacher import import_torch
from .loop import Training
from .settings import Settings
from .tiny_model import TinyModel
from .tiny_task import END, ID, LONGEST, VOCABULARY, WRITTEN, TinyTask


def policy() -> TinyModel:
    """Return a model with random weights."""
    return TinyModel(len(VOCABULARY), len(WRITTEN), ID[END], LONGEST)


def training(method: str, settings: Settings) -> Training:
    """Return a training of random weights drawn with the seed.

    It uses one thread, because sums over several threads depend on their number.
    """
    torch = import_torch()
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    return Training(policy(), TinyTask(), method, settings, "tiny")
