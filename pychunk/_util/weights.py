"""The weights of a small model, which are in an ``.npz`` file. A JSON file next to it has its checksum."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .checksums import check
from .model_facts import read_facts

if TYPE_CHECKING:
    import numpy.typing as npt


def read_weights(
    facts_file: Path, what: str, remedy: str, needed: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the facts of a model and its arrays by name, as they are stored.

    Args:
        facts_file: The JSON file with the facts. Its entry ``weights`` names the file with the arrays. Without this
            entry, the arrays are in the ``.npz`` file with the name of the JSON file.
        what: The kind of model, for the message if the model is missing.
        remedy: What the user can do if a file is damaged, for the message.
        needed: The names of facts that the file must have.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """
    folder = facts_file.parent
    if not os.path.isfile(facts_file):
        raise ValueError(f"no {what} in {folder}: {facts_file.name} is missing; {remedy}")
    facts = read_facts(facts_file, remedy, ("name", "weights_sha256", *needed))
    file = folder / facts.get("weights", facts_file.with_suffix(".npz").name)
    check(file, facts["weights_sha256"], remedy)
    with np.load(file, allow_pickle=False) as stored:
        return facts, {name: stored[name] for name in stored.files}
