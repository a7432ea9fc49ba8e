"""``--tiny``: the synthetic task and a random model for it."""

from __future__ import annotations

from ..teacher import import_torch
from .loop import Training
from .settings import Settings
from .tiny_model import TinyModel
from .tiny_task import END, ID, LONGEST, VOCABULARY, WRITTEN, TinyTask


def training(method: str, settings: Settings) -> Training:
    """A training of random weights by the seed. One thread: sums of several depend on how many there are."""
    torch = import_torch()
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    model = TinyModel(len(VOCABULARY), len(WRITTEN), ID[END], LONGEST)
    return Training(model, TinyTask(), method, settings, "tiny")
