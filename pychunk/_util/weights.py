"""The weights of a small model: one ``.npz`` next to the facts file that holds its checksum."""

from __future__ import annotations

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
        facts_file: The JSON file. The arrays are in the file that its ``weights`` names, else in the ``.npz`` of its
            name.
        what: The kind of model, for the error if it is missing.
        remedy: The remedy for damage.
        needed: The facts that must exist.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """
    folder = facts_file.parent
    if not facts_file.is_file():
        raise ValueError(f"no {what} in {folder}: {facts_file.name} is missing")
    facts = read_facts(facts_file, remedy, ("name", "weights_sha256", *needed))
    file = folder / facts.get("weights", facts_file.with_suffix(".npz").name)
    check(file, facts["weights_sha256"], remedy)
    with np.load(file, allow_pickle=False) as stored:
        return facts, {name: stored[name] for name in stored.files}
