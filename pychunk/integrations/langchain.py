"""A LangChain text splitter."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

try:
    from langchain_core.documents import Document
    from langchain_text_splitters import TextSplitter
except ImportError:
    raise ImportError("integrations.langchain needs LangChain: pip install langchain-text-splitters") from None

from ..io.markup import Markup
from ..methods import METHODS
from ..methods.method_options import MethodName
from ..segmenter import Segmenter
from ..tokenizers.published import at_hand
from .document_metadata import chunks_of, described, keys_of, parsed, values_of
from .store_ids import store_ids

if TYPE_CHECKING:
    from typing_extensions import Self


class PychunkTextSplitter(TextSplitter):
    """A LangChain text splitter that cuts a list of documents in one native call.

    A chunk's metadata are those of its document, with ``path`` (the headings above it, joined by " > ") if the document
    has headings, and ``page`` and ``page_end`` if it has pages. Documents of
    :class:`.langchain_loader.PychunkLoader` have both. Keys of the document with these names stay as they are.

    A chunk of a document with an id has an ``id``, too, which stores use: its ``text_id``, a hash of the document's
    id, the text and its number among equal texts. An edit changes only the ids of the chunks whose text it changes. A
    chunk of a document without an id has none, and stores give it a new one. An id made from the text alone would
    let chunks of different documents replace each other.

    Args:
        method, **options: The arguments of :class:`pychunk.Segmenter`. ``columns`` names by role the keys of
            the documents' metadata, such as ``columns={"titles": "title"}``.
        add_start_index: Whether to add the position of each chunk's first character to its metadata, as
            ``start_index``. It is exact, even if a text repeats itself. The end is ``start_index + len(page_content)``.
        ids: The key of the documents' metadata that has the id of a document without an ``id``, such as ``"source"``
            for documents that a loader made. Documents may share it, such as the pages of a file; a warning names
            them. Default: only ``id`` is used.
        markup: ``"markdown"``, ``"html"`` or ``"auto"``: the texts are parsed as this markup, so that headings, tables
            and lists decide where chunks end. See :func:`pychunk.parse`. Default: texts are plain text.

    LangChain's ``chunk_size`` is ``size`` or, for methods without it, ``max_tokens``; ``chunk_overlap`` is ``overlap``.
    All of them count tokens.

    Example:
        >>> splitter = PychunkTextSplitter("sentence", add_start_index=True)
        >>> [(part.page_content, part.metadata) for part in splitter.create_documents(["One. Two."], [{"file": "a"}])]
        [('One.', {'file': 'a', 'start_index': 0}), ('Two.', {'file': 'a', 'start_index': 5})]
    """

    def __init__(
        self,
        method: MethodName | None = None,
        *,
        add_start_index: bool = False,
        ids: str | None = None,
        markup: Markup | None = None,
        **options: Any,
    ) -> None:
        super().__init__(chunk_overlap=0, add_start_index=add_start_index)  # The Segmenter handles sizes.
        if not options.keys().isdisjoint(("chunk_size", "chunk_overlap")):
            options = _sizes({"method": method, **options})
            del options["method"]
        self._keys, self._markup, self._ids = keys_of(options), markup, ids
        self.segmenter = Segmenter(method, **options)

    @classmethod
    def from_huggingface_tokenizer(cls, tokenizer: Any, **kwargs: Any) -> Self:
        """Return a splitter that counts the tokens of a tokenizer of transformers.

        Args:
            tokenizer: The tokenizer.
            **kwargs: ``chunk_size`` and ``chunk_overlap``, in tokens, and the arguments of the class. A chunk has at
                most ``chunk_size`` tokens.

        Raises:
            ValueError, TypeError: See :class:`pychunk.Segmenter`.
        """
        return cls(tokenizer=tokenizer, **_sizes(kwargs))

    @classmethod
    def from_tiktoken_encoder(
        cls,
        encoding_name: str = "gpt2",
        model_name: str | None = None,
        allowed_special: Any = None,
        disallowed_special: Any = "all",
        **kwargs: Any,
    ) -> Self:
        """Return a splitter that counts the tokens of an encoding of tiktoken.

        It uses the vocabulary from ``pychunk model get`` if it is at hand, and otherwise tiktoken's.

        Args:
            encoding_name: The name of the encoding, such as ``"o200k_base"``.
            model_name: The name of a model of OpenAI, whose encoding is then used.
            allowed_special: Must be None or empty, because special tokens in a text are text here.
            disallowed_special: Has no effect, for the same reason.
            **kwargs: See :meth:`from_huggingface_tokenizer`.

        Raises:
            ValueError: ``allowed_special`` names special tokens.
            ImportError: The vocabulary is not at hand, and tiktoken is not installed.
        """
        if allowed_special:
            raise ValueError(
                "allowed_special must be None, because special tokens in a text are counted as text; got "
                f"{allowed_special!r:.80}"
            )
        return cls(tokenizer=_encoding(encoding_name, model_name), **_sizes(kwargs))

    def split_text(self, text: str) -> list[str]:
        """Return the texts of a document's chunks."""
        return [chunk.text for chunk in self.segmenter(parsed([text], self._markup))]

    def create_documents(
        self, texts: Sequence[str], metadatas: Sequence[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Return one Document for each chunk, with a copy of its document's metadata, and an id if that has one.

        Only the option ``ids`` names ids of texts.
        """
        texts = list(texts)
        return self._split(texts, metadatas, [None] * len(texts))

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Return one Document for each chunk, with a copy of its document's metadata, and an id if that has one."""
        documents = list(documents)
        metadatas = [document.metadata for document in documents]
        return self._split(
            [document.page_content for document in documents], metadatas, [document.id for document in documents]
        )

    def _split(
        self, texts: list[str], metadatas: Sequence[dict[Any, Any]] | None, names: list[str | None]
    ) -> list[Document]:
        metadatas = metadatas or [{}] * len(texts)
        if len(metadatas) != len(texts):
            raise ValueError(f"metadatas must hold one dictionary for each of {len(texts)} texts; got {len(metadatas)}")
        if self._ids is not None:
            (own,) = values_of({"ids": self._ids}, metadatas).values()
            names = [name or (None if value is None else str(value)) for name, value in zip(names, own, strict=True)]
        # Documents without an id get one for this call only.
        ids = [name or str(uuid.uuid4()) for name in names] if any(names) else None
        lists = chunks_of(self.segmenter, texts, metadatas, keys=self._keys, markup=self._markup, ids=ids)
        own_ids = iter(store_ids(chunk for chunks in lists for chunk in chunks))
        documents = []
        for chunks, metadata, name in zip(lists, metadatas, names, strict=True):
            for chunk in chunks:
                said, own_id = copy.deepcopy(described(metadata, chunk)), next(own_ids)
                if self._add_start_index:
                    said["start_index"] = chunk.start
                documents.append(Document(page_content=chunk.text, metadata=said, id=own_id if name else None))
        return documents


def _sizes(options: dict[str, Any]) -> dict[str, Any]:
    """Return options in which pychunk's names replace those of LangChain for the sizes of chunks."""
    found = dict(options)
    if found.get("unit", "tokens") != "tokens":
        raise ValueError(
            f"unit must be 'tokens' here, which chunk_size counts; got {found['unit']!r:.80}: leave it out"
        )
    if "chunk_size" in found:
        for name in ("size", "max_tokens"):
            if name in found:
                raise ValueError(f"pass either chunk_size or {name}; got both of them")
        method = METHODS.get(str(found.get("method")))
        found["size" if method is not None and method.sized else "max_tokens"] = found.pop("chunk_size")
    if "chunk_overlap" in found:
        found["overlap"] = found.pop("chunk_overlap")
    return found


def _encoding(name: str, model: str | None) -> Any:
    """Return the name of an encoding whose vocabulary is at hand, or tiktoken's own encoding."""
    if model is None and at_hand(name):
        return name
    try:
        import tiktoken
    except ImportError:
        raise ImportError(
            f"the vocabulary of {model or name!r} is not at hand: get it with `pychunk model get`, or install tiktoken "
            "(pip install tiktoken)"
        ) from None
    found = tiktoken.encoding_name_for_model(model) if model else name
    return found if at_hand(found) else tiktoken.get_encoding(found)
