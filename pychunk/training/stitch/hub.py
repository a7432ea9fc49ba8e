"""The training with ``--config``: a model of Hugging Face and a file of questions."""

from __future__ import annotations

from pathlib import Path

from ..teacher import import_torch
from .hub_model import HubModel
from .hub_task import HubTask
from .loop import Training
from .settings import Settings


def training(model: str, data: Path, method: str, settings: Settings) -> Training:
    """Return the training of an existing model.

    Raises:
        ValueError: The model has no chat template, or the data have no answers.
    """
    import_torch().manual_seed(settings.seed)
    policy = HubModel(model)
    return Training(policy, HubTask(data, policy.tokenizer, policy.prompt), method, settings, model)
