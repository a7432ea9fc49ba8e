"""The lookup of encoders by their names or directories."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .._util.lazy_imports import LazyModule
from .._util.user_cache import cache_home
from . import static_encoder, static_nsp
from .model_cache import loaded, read
from .runtime.placement import ModelPlacement

if TYPE_CHECKING:
    from . import cross_encoder, model2vec, piece_encoder, transformer
    from .cross_encoder import PairScorer
    from .custom_encoder import Encoder
    from .files import model_dir
    from .piece_encoder import PieceEncoder
    from .transformer import TransformerEncoder
else:
    # Only encoders other than the static one need these. Without them, ``import pychunk`` takes a quarter less time.
    cross_encoder, model2vec, model_dir, piece_encoder, transformer = (
        LazyModule(f"pychunk.encoders.{name}")
        for name in ("cross_encoder", "model2vec", "files.model_dir", "piece_encoder", "transformer")
    )

VectorEncoder: TypeAlias = "static_encoder.StaticEncoder | TransformerEncoder | Encoder | PieceEncoder"
#: The values of arguments ``encoder=``.
EncoderLike: TypeAlias = "str | Path | Encoder"
PairEncoder: TypeAlias = "PairScorer | static_nsp.StaticPairs"


def vector_encoder(encoder: Any, runtime: str | ModelPlacement = "onnxruntime") -> VectorEncoder:
    """Return the encoder that a name or directory refers to.

    ``None`` or ``"static"`` is the static encoder that pychunk ships, and ``"multilingual"`` that of the package
    ``pychunk-multilingual``. A :class:`pychunk.Encoder` is returned unchanged. Any other value is a directory, or the
    name of a model in the user's cache.

    Raises:
        ValueError: There is no encoder of that name, or it is damaged. The message lists the choices, or says how to
            get the model.
        ImportError: The package is not installed. The message has the command.
    """
    if encoder is None or (isinstance(encoder, str) and encoder == "static"):
        return static_encoder.load()
    if not isinstance(encoder, (str, Path)):
        return _own(encoder, ModelPlacement.of(runtime))
    path = _directory(encoder, "vectors")
    if _is_model2vec(path):
        found: PieceEncoder = loaded(path, model2vec.CONFIG, lambda: model2vec.load(path), *model2vec.identity(path))
        return found
    if os.path.isfile(path / static_encoder.FACTS):
        return piece_encoder.load(path, _remedy(encoder)) or static_encoder.load(path)
    return transformer.load(path, runtime)


def name_of(encoder: EncoderLike) -> str:
    """Return the name by which manifests know the encoder of an argument."""
    return str(encoder) if isinstance(encoder, (str, Path)) else encoder.name


def _own(encoder: Any, placement: ModelPlacement) -> Encoder:
    """Return an encoder of the caller's own.

    Raises:
        ValueError: It has no name, or a device is given.
        TypeError: It is no encoder.
    """
    from .custom_encoder import Encoder  # imported here because few programs have one

    if not isinstance(encoder, Encoder):
        if hasattr(encoder, "encode") or callable(encoder):
            raise ValueError(
                f"encoder={encoder!r:.60} has no name by which its vectors are known: pass pychunk.Encoder(model, "
                "'name:version')"
            )
        raise TypeError(
            f"encoder must be a name from `pychunk model list`, a folder or a pychunk.Encoder; got {encoder!r:.80}"
        )
    if placement.device is not None:
        raise ValueError(
            f"encoder {encoder.name!r} chooses its own device; got the device {placement.device.name}: leave it out"
        )
    return encoder


def pair_encoder(encoder: Any, runtime: str | ModelPlacement = "onnxruntime") -> PairEncoder:
    """Return the next-sentence model that a name or directory refers to.

    ``None`` is the cross-encoder of the package ``pychunk-nsp``. ``"static"`` and ``"multilingual"`` are the networks
    that read the vectors of these encoders. For other values see :func:`vector_encoder`.

    Raises:
        ValueError: There is no model of that name, it is for another task, or it is damaged.
        ImportError: The package or the runtime of the cross-encoder is not installed. The message has the command.
    """
    if encoder is None:
        from .files import model_packages  # imported here because few programs need a model of a package

        nsp = model_packages.NSP
        return cross_encoder.load(model_packages.folder(nsp), runtime, remedy=model_packages.remedy(nsp))
    if encoder == "static":
        return static_nsp.load()
    path = _directory(encoder, "pairs")
    if os.path.isfile(path / static_encoder.FACTS):
        return static_nsp.load(path, _remedy(encoder))
    return cross_encoder.load(path, runtime)


def relevance_model(model: Any, runtime: str | ModelPlacement = "onnxruntime") -> PairScorer:
    """Return the cross-encoder, named or in a directory, that scores how well a passage answers a question.

    Raises:
        ValueError: There is no model of that name, or it is for another task.
    """
    return cross_encoder.load(_directory(model, "relevance"), runtime, "relevance")


def identity(encoder: Any) -> Hashable:
    """Return a value that identifies the model that a name or directory refers to now.

    The value is None for the models that pychunk ships, and if there is no such model.
    """
    if encoder is None or (isinstance(encoder, str) and encoder == "static"):
        return None
    if not isinstance(encoder, (str, Path)):
        return encoder if isinstance(encoder, Hashable) else id(encoder)
    try:
        path = _directory(encoder, "vectors")
    except (ImportError, ValueError):
        return None
    own = model2vec.identity(path) if _is_model2vec(path) else None
    facts = (model_dir.FACTS, static_encoder.FACTS, static_nsp.FACTS)
    return os.path.abspath(path), *(read(path / name) for name in facts), own


def check_not_auto(encoder: Any) -> None:
    """Raise ValueError for ``"auto"``, by which a Segmenter chooses one of two encoders for each document."""
    if isinstance(encoder, str) and encoder == "auto":
        raise ValueError(
            f"encoder='auto' chooses static or {MULTILINGUAL} for each document that is cut, and one encoder is needed "
            "here: pass one of these two"
        )


def _is_model2vec(path: Path) -> bool:
    """Return whether a folder holds a model of model2vec, and none in pychunk's own formats."""
    own = any(os.path.isfile(path / facts) for facts in (model_dir.FACTS, static_encoder.FACTS))
    return not own and os.path.isfile(path / "config.json") and bool(model2vec.is_folder(path))


#: The static encoder that is a package of its own.
MULTILINGUAL = "multilingual"


def _remedy(encoder: Any) -> str:
    """Return the command that mends the files of a static encoder."""
    if encoder != MULTILINGUAL:
        return static_encoder.REMEDY
    from .files import model_packages  # imported here because few programs need a model of a package

    return model_packages.remedy(model_packages.MULTILINGUAL)


def _directory(encoder: Any, task: str) -> Path:
    if encoder == MULTILINGUAL and task != "relevance":
        from .files import model_packages  # imported here because few programs need a model of a package

        return model_packages.folder(model_packages.MULTILINGUAL)
    check_not_auto(encoder)
    from .files import catalogue  # imported here because it loads everything that builds models

    if isinstance(encoder, (str, Path)):
        if any(os.path.isfile(Path(encoder) / facts) for facts in (model_dir.FACTS, static_encoder.FACTS)):
            return Path(encoder)
        if task == "vectors" and _is_model2vec(Path(encoder)):
            return Path(encoder)
        if isinstance(encoder, str) and "/" not in encoder:
            if os.path.isfile(model_dir.cached(encoder) / model_dir.FACTS):
                return model_dir.cached(encoder)
            if encoder in catalogue.names():
                raise ValueError(
                    f"the model {encoder!r} is not in {model_dir.cached(encoder)}; get it with: "
                    f"pychunk model get {encoder}"
                )
    others = {name for name in catalogue.names() if catalogue.about(name).get("task", "vectors") != task}
    shipped = [] if task == "relevance" else ["static", MULTILINGUAL]
    known = [*shipped, *sorted({*catalogue.names(), *cached_names()} - others)]
    from .._util.suggestions import did_you_mean  # imported here because only an error needs it

    kind = "encoder" if task == "vectors" else "model"
    vectors, pairs = f"{static_encoder.FACTS}, a model of model2vec or ", f"{static_nsp.FACTS} or "
    tables = {"vectors": vectors, "pairs": pairs}.get(task, "")
    raise ValueError(
        f"unknown {kind} {encoder!r}; choose one of {', '.join(known)}, or a directory that holds {tables}"
        f"{model_dir.FACTS}{did_you_mean(encoder, known)}"
    )


def cached_names() -> list[str]:
    """Return the names of the models in the user's cache."""
    folder = cache_home() / "models"
    return sorted(path.parent.name for path in folder.glob(f"*/{model_dir.FACTS}"))
