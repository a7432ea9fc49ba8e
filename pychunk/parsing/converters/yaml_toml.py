"""The conversion of YAML and TOML to text: one line for each value, after the path that leads to it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from ..._engine.data.blocks import Blocks
from ..pdf.paged_text import Paged
from .dispatch import ConversionError, decoded
from .json_text import Members, of_values


def yaml(data: bytes) -> Paged:
    r"""Convert YAML as JSON is converted; values are the strings that the file has, and no object is made of a tag.

    The numbers of several documents, from 0, begin their paths. Without PyYAML the text stays as it is.

    Raises:
        ConversionError: The bytes are not YAML, or aliases make too many values.

    Example:
        >>> yaml(b"pet:\n  name: Mia\n  age: 3.50\n").text
        'pet.name: Mia\npet.age: 3.50'
    """
    text = decoded(data)
    try:
        import yaml as library
    except ImportError:
        return _lines(text)
    # The base loader makes only strings, lists and mappings; libyaml is 8 times as fast as Python.
    base: Any = getattr(library, "CBaseLoader", library.BaseLoader)
    loader = type("Loader", (base,), {"construct_mapping": _members})
    try:
        found = [each for each in library.load_all(text, loader) if each is not None]
    except library.YAMLError as error:
        raise ConversionError(f"not YAML: {error!s:.300}; correct the file, or pass kind='text'") from None
    return of_values(found[0] if len(found) == 1 else found)


def toml(data: bytes) -> Paged:
    r"""Convert TOML as JSON is converted. On Python 3.10 without tomli, the text stays as it is.

    Raises:
        ConversionError: The bytes are not TOML.

    Example:
        >>> toml(b"[pet]\nname = 'Mia'\nage = 3.50\n").text
        'pet.name: Mia\npet.age: 3.50'
    """
    text = decoded(data)
    name = next((each for each in ("tomllib", "tomli") if importlib.util.find_spec(each)), "")
    if not name:
        return _lines(text)
    library = importlib.import_module(name)
    try:
        found = library.loads(text.replace("\r\n", "\n"), parse_float=str)
    except library.TOMLDecodeError as error:
        raise ConversionError(f"not TOML: {error}; correct the file, or pass kind='text'") from None
    return of_values(found)


def _members(loader: Any, node: Any, deep: bool = False) -> Members:
    """Make a mapping of a loader, without losing the values of a key that occurs again."""
    return Members(
        (loader.construct_object(key, deep), loader.construct_object(each, deep)) for key, each in node.value
    )


def _lines(text: str) -> Paged:
    """Return a document with the same text, which is cut like code: at blank lines and by indentation."""
    bare = text.strip()
    at = text.find(bare)
    blocks = [("code", 0, at, at + len(bare))] if bare else []
    return Paged(text, Blocks.of([blocks]), np.empty(0, np.int64), "", [], [])
