"""Questions with known answers, reference spans or pages, and documents with known boundaries, read from files."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

from .measures import answer_containment

Span = tuple[int, int]

_HEADING_WORDS = 8
_PAGE_MARK = re.compile(r"^===== Page (\d+) =====(?:\n|\Z)", re.MULTILINE)
_OPTIONS = tuple("ABCDEF")


@dataclass(frozen=True)
class Question:
    """A question about one document.

    Attributes:
        document: row in the dataset's documents; -1 where it is not known.
        answers: any of these strings is right.
        spans: what answers it, in characters of the document; with ``answers`` the places of these.
        paragraph: what it was asked about, in characters of the document (a paragraph or a page).
        page: the same as a page number, counted from 1.
        options: of a multiple-choice question.
    """

    text: str
    document: int
    answers: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    paragraph: Span | None = None
    page: int | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """Documents and what is known about them.

    Attributes:
        kind: what the questions come with; "boundaries" has none and is about the documents themselves.
        ids: one a document.
        page_starts: of each document, in characters; only where there are pages.
        boundaries: where the sections of each document begin, in characters, without 0; only of kind "boundaries".
        titles: of each document, for ``augment="title"``; only where they are told.
        notes: what of the questions is not as it should be, for people to read.
    """

    name: str
    kind: Literal["answers", "references", "pages", "boundaries"]
    ids: list[str]
    documents: list[str]
    questions: list[Question] = field(default_factory=list)
    page_starts: list[list[int]] = field(default_factory=list)
    boundaries: list[list[int]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def gold(self) -> answer_containment.Gold:
        """The questions' answers as they stand in the documents, looked for once."""
        return answer_containment.Gold(
            self.documents, ((each.document, each.paragraph, each.answers, each.spans) for each in self.questions)
        )


def load(
    path: str | Path, limit: int | None = None, *, pdf: bool = False, documents: str | Path | None = None
) -> Dataset:
    """The dataset in a file or folder, of whatever kind it is; its first ``limit`` questions.

    ``pdf``: of leaflets the PDF files, as :func:`unlp` has it. ``documents``: of questions the file or folder of the
    documents that they name, as :func:`questions_of` has it.

    A path that is not there is looked for in the folder that PYCHUNK_DATA names. Documents are never left out, but
    where there are no questions ``limit`` is of documents.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1; got {limit}")
    where = _there(path, "dataset")
    if documents is not None:
        if where.is_dir() or where.suffix not in _QUESTIONS:
            raise ValueError(f"documents are named beside questions in a {_ANY_OF} file; got {where}")
        return questions_of(where, _there(documents, "documents"), limit)
    if pdf:
        if not (where / "questions.csv").is_file():
            raise ValueError(f"{where} has no questions.csv about PDF files, which alone are read as such")
        return unlp(where, limit, pdf=True)
    if where.is_dir():
        return _load_folder(where, limit)
    if where.suffix == ".parquet":
        return wikipedia_sections(where, limit)
    if where.suffix == ".json" and isinstance(_json(where), dict):
        return squad(where, limit)
    if where.suffix in _QUESTIONS:
        return questions_of(where, limit=limit)
    raise ValueError(
        f"{where} is no dataset: looked for .json (SQuAD, questions), .jsonl, .csv or .parquet; got {where.suffix!r}"
    )


def _there(path: str | Path, what: str) -> Path:
    """The path, or that in the folder of data.

    Raises:
        ValueError: neither is there.
    """
    where = Path(path)
    if not where.exists():
        where = Path(os.environ.get("PYCHUNK_DATA", "")) / path
    if not where.exists():
        raise ValueError(f"no {what} at {path}: no such file or folder, nor one in the folder PYCHUNK_DATA names")
    return where


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}") from None


def _load_folder(folder: Path, limit: int | None) -> Dataset:
    table = folder / "questions.csv"
    if table.exists():
        with table.open(encoding="utf-8-sig", newline="") as lines:
            columns = next(csv.reader(lines), [])
        if set(columns) >= _REFERENCE_COLUMNS:
            return chunking_evaluation(folder, limit)
        if set(columns) >= _PAGE_COLUMNS:
            return unlp(folder, limit)
        if "question" in columns and {"answers", "answer", "spans"} & set(columns):
            return questions_of(table, limit=limit)
        raise ValueError(
            f"{table} is no dataset: looked for the columns {sorted(_REFERENCE_COLUMNS)}, {sorted(_PAGE_COLUMNS)}, or "
            f"question, answers and document; got {columns}"
        )
    if (folder / "questions.jsonl").exists():
        return questions_of(folder / "questions.jsonl", limit=limit)
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".json", ".jsonl", ".parquet")]
    if len(files) == 1:
        return load(files[0], limit)
    raise ValueError(
        f"{folder} is no dataset: looked for questions.csv, questions.jsonl or one .json, .jsonl or .parquet file; "
        f"found {', '.join(file.name for file in files) or 'none of them'}"
    )


def squad(path: str | Path, limit: int | None = None) -> Dataset:
    """SQuAD 1 or 2 (Rajpurkar et al., 2016, 2018), its answerable questions.

    A document is an article, its paragraphs joined by a line break. An answer may be a string or {"text": ...}; where
    every answer of a question has its ``answer_start``, chunks are held to these places.
    """
    file = Path(path)
    content = _json(file)
    if not isinstance(content, dict) or "data" not in content:
        got = sorted(content) if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{file} is not SQuAD: looked for the key 'data'; got {got}")
    ids, documents, questions, astray = [], [], [], 0
    titles = [str(article.get("title", "")).replace("_", " ") for article in content["data"]]
    for number, article in enumerate(content["data"]):
        start = 0
        for paragraph in article["paragraphs"]:
            span = (start, start + len(paragraph["context"]))
            start = span[1] + 1
            for asked in paragraph["qas"]:
                answers = _distinct(
                    answer if isinstance(answer, str) else answer["text"] for answer in asked["answers"]
                )
                if answers and not asked.get("is_impossible"):
                    places = _places(paragraph["context"], asked["answers"])
                    astray += places is None
                    there = tuple((span[0] + begin, span[0] + end) for begin, end in places or ())
                    questions.append(Question(asked["question"], number, answers, there, span))
        ids.append(str(article.get("title", number)))
        documents.append("\n".join(paragraph["context"] for paragraph in article["paragraphs"]))
    notes = _astray(astray, len(questions), "answer_start")
    known = titles if any(titles) else []
    return Dataset(file.stem, "answers", ids, documents, questions[:limit], titles=known, notes=notes)


def _places(text: str, answers: Iterable[Any]) -> tuple[Span, ...] | None:
    """Return where the answers stand by their ``answer_start``; none if one lacks it, None if one is not there."""
    found = []
    for answer in answers:
        begin = None if isinstance(answer, str) else answer.get("answer_start")
        if begin is None:
            return ()
        span = (int(begin), int(begin) + len(answer["text"]))
        if answer_containment.folded(text[slice(*span)]) != answer_containment.folded(answer["text"]):
            return None
        found.append(span)
    return tuple(dict.fromkeys(found))


def _astray(count: int, of: int, key: str) -> list[str]:
    """Return what is to be said of questions whose answers stand elsewhere than is said."""
    if not count:
        return []
    which = "1 question has its answer" if count == 1 else f"{count} questions have their answers"
    return [f"{which}, of {of}, elsewhere than {key} says: looked for by characters"]


_REFERENCE_COLUMNS = {"question", "references", "corpus_id"}


def chunking_evaluation(folder: str | Path, limit: int | None = None) -> Dataset:
    """Chroma's chunking evaluation: questions.csv, and a text <corpus_id>.md for each of its corpora."""
    folder = Path(folder)
    texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.md"))}
    rows = {name: row for row, name in enumerate(texts)}
    questions = []
    for number, row in islice(_csv_rows(folder / "questions.csv", _REFERENCE_COLUMNS), limit):
        corpus = row["corpus_id"]
        if corpus not in texts:
            raise ValueError(
                f"questions.csv row {number}: no {corpus}.md in {folder}; got {', '.join(texts) or 'none'}"
            )
        spans = []
        for reference in json.loads(row["references"]):
            start, end = int(reference["start_index"]), int(reference["end_index"])
            if texts[corpus][start:end] != reference["content"]:
                raise ValueError(
                    f"questions.csv row {number}: characters {start} to {end} of {corpus}.md are "
                    f"{texts[corpus][start:end]!r}, not {reference['content']!r}"
                )
            spans.append((start, end))
        questions.append(Question(row["question"], rows[corpus], spans=tuple(spans)))
    return Dataset(folder.name, "references", list(texts), list(texts.values()), questions)


_PAGE_COLUMNS = {"Question", "Doc_ID", "Page_Num", *_OPTIONS}


def unlp(folder: str | Path, limit: int | None = None, *, pdf: bool = False) -> Dataset:
    """The UNLP 2026 shared task: questions.csv, and at any depth a text <Doc_ID>.txt with page marks for each document.

    With ``pdf``, or where there are no texts, the files <Doc_ID>.pdf are read in their place (extra ``docs``).

    A mark is a line ``===== Page 3 =====``. It follows its page; if text goes on after the last mark, they precede.
    Marks are not part of the documents. The answer is the right option, where the table says which that is.
    """
    folder = Path(folder)
    files = [] if pdf else sorted(folder.rglob("*.txt"))
    pages = [_split_pages(file) for file in files] if files else _pages_of_pdf(folder)
    files = files or sorted(folder.rglob("*.pdf"))
    rows = {file.stem: row for row, file in enumerate(files)}
    documents = ["".join(parts) for parts in pages]
    starts = [_starts(parts) for parts in pages]
    questions = []
    for number, row in islice(_csv_rows(folder / "questions.csv", _PAGE_COLUMNS), limit):
        document, page = rows.get(Path(row["Doc_ID"]).stem), int(row["Page_Num"])
        if document is None:
            raise ValueError(f"questions.csv row {number}: no text of {row['Doc_ID']} in {folder}")
        if not 1 <= page <= len(starts[document]):
            raise ValueError(
                f"questions.csv row {number}: {row['Doc_ID']} has pages 1 to {len(starts[document])}; got {page}"
            )
        begin = starts[document][page - 1]
        right = row.get("Correct_Answer")
        questions.append(
            Question(
                row["Question"],
                document,
                answers=(row[right],) if right in _OPTIONS else (),
                paragraph=(begin, begin + len(pages[document][page - 1])),
                page=page,
                options=tuple(row[option] for option in _OPTIONS),
            )
        )
    return Dataset(folder.name, "pages", [file.stem for file in files], documents, questions, page_starts=starts)


def _pages_of_pdf(folder: Path) -> list[list[str]]:
    """The text of each page of the PDF files in a folder, at any depth, in the order of their paths."""
    from ..io import open_source

    found: dict[str, list[str]] = {}
    if any(folder.rglob("*.pdf")):
        for batch in open_source(folder, kind="pdf").batches():
            for row in batch.table.select(["file", "text", "page_starts"]).to_pylist():
                borders = pairwise([0, *row["page_starts"][1:], len(row["text"])])
                found[row["file"]] = [row["text"][begin:end] for begin, end in borders]
    return [found.get(str(file), [""]) for file in sorted(folder.rglob("*.pdf"))]


def _split_pages(file: Path) -> list[str]:
    """The text of each page; joined they are the document."""
    text = file.read_text(encoding="utf-8")
    parts = _PAGE_MARK.split(text)  # text, number, text, number, ..., text
    numbers, texts = [int(number) for number in parts[1::2]], parts[::2]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"{file} must mark its pages from 1 on by lines '===== Page 1 ====='; got {numbers}")
    outside = texts.pop(0 if texts[-1].strip() else -1)
    if outside.strip():
        raise ValueError(f"{file} has text after its last page mark, yet {outside[:40]!r} before its first")
    return texts


def _starts(parts: list[str]) -> list[int]:
    starts, end = [], 0
    for part in parts:
        starts.append(end)
        end += len(part)
    return starts


def wikipedia_sections(path: str | Path, limit: int | None = None) -> Dataset:
    """Wikipedia articles with the boundaries of their sections, from a Parquet file with columns ``id`` and ``text``.

    The text is WikiExtractor's, a paragraph a line. A line is taken for a heading if it has at most 8 words, ends with
    one full stop, has a capital or a digit as its first letter, and is followed by a longer line or another heading.
    Headings that follow on each other begin one section. A few short sentences pass for headings.
    """
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    missing = {"id", "text"} - set(file.schema_arrow.names)
    if missing:
        raise ValueError(f"{path} must have the columns id and text; got {', '.join(file.schema_arrow.names)}")
    rows = (row for batch in file.iter_batches(256, columns=["id", "text"]) for row in batch.to_pylist())
    articles = list(islice(rows, limit))
    documents = [article["text"] or "" for article in articles]
    boundaries = [section_starts(text) for text in documents]
    if not any(boundaries):
        raise ValueError(
            f"{path}: none of {len(documents)} articles has sections to compare with (looked for lines of at most "
            f"{_HEADING_WORDS} words that end with a full stop, before a longer line); questions come as .json or "
            ".jsonl"
        )
    ids = [str(article["id"]) for article in articles]
    return Dataset(Path(path).stem, "boundaries", ids, documents, boundaries=boundaries)


def section_starts(text: str) -> list[int]:
    """Where the sections of a WikiExtractor text begin, in characters, without 0.

    Example:
        >>> section_starts("Ada was a mathematician.\\nLife.\\nYouth.\\nAda was born in London.")
        [25]
    """
    lines = lines_with_headings(text)
    return [start for (_, _, before), (start, _, heading) in pairwise(lines) if heading and not before]


def lines_with_headings(text: str) -> list[tuple[int, str, bool]]:
    """(first character, text, whether it is a heading) of each line of a WikiExtractor text that is not blank.

    Example:
        >>> lines_with_headings("Ada lived.\\nLife.\\nShe was born.")
        [(0, 'Ada lived.', False), (11, 'Life.', True), (17, 'She was born.', False)]
    """
    lines, start = [], 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((start, line))
        start += len(line) + 1
    heading = [False] * (len(lines) + 1)
    for i in range(len(lines) - 2, 0, -1):
        line, following = lines[i][1], lines[i + 1][1]
        heading[i] = _looks_like_heading(line) and (heading[i + 1] or len(following) > len(line))
    return [(start, line, found) for (start, line), found in zip(lines, heading, strict=False)]


def _looks_like_heading(line: str) -> bool:
    if line[0].isspace() or not line.endswith(".") or line.endswith("..") or len(line.split()) > _HEADING_WORDS:
        return False
    letter = next((character for character in line if character.isalnum()), "")
    return letter.isupper() or letter.isdigit()


def questions_of(
    path: str | os.PathLike[str],
    documents: str | os.PathLike[str] | tuple[list[str], list[str]] | None = None,
    limit: int | None = None,
) -> Dataset:
    """Questions of a JSON Lines, JSON or CSV file: ``question``, ``answers`` and ``document`` of each.

    - ``document`` is the text; or with ``documents`` the id there, and may be missing where it is not known.
    - ``answers`` may be called ``answer``, and be one string, a list of strings, or SQuAD's ``text`` and
      ``answer_start``; in CSV a list is written as JSON.
    - ``spans``, pairs of characters of the document, say where the answers stand; chunks are held to these places.

    Args:
        documents: (ids, texts), or a file or folder that :func:`read_documents` reads. By itself a table ``documents``
            beside the questions, where all that name a document name one there.

    Raises:
        ValueError: a row that lacks what it needs; an id that is not in the documents, or there twice.

    Example:
        >>> import json, tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        ...     _ = file.write(json.dumps({"question": "Who purrs?", "answers": ["cats"], "document": "Cats purr."}))
        ...     file.flush()
        ...     questions_of(file.name).questions[0].answers
        ('cats',)
    """
    file = Path(path)
    rows = list(_question_rows(file))
    if documents is None and (beside := _beside(file)) is not None:
        ids, _ = given = read_documents(beside)
        named = [str(row["document"]) for _, row in rows if row.get("document") is not None]
        known = set(ids)
        if all(name in known for name in named):
            return questions_from(rows, file.stem, given, limit, beside)
        if any(name in known for name in named):
            name = next(name for name in named if name not in known)
            raise ValueError(f"{file}: document {name!r:.80} is not an id in {beside}, though others are: mend it")
    if documents is None or isinstance(documents, tuple):
        return questions_from(rows, file.stem, documents, limit)
    return questions_from(rows, file.stem, read_documents(documents), limit, documents)


def read_documents(path: str | os.PathLike[str]) -> tuple[list[str], list[str]]:
    """(ids, texts) of a file or folder that :func:`pychunk.io.open_source` reads.

    Ids of tables are their column ``id``, those of other files in a folder their paths in it.

    Raises:
        ValueError: nothing to read; an id that is there twice.
    """
    from ..io import open_source

    ids: list[str] = []
    texts: list[str] = []
    inside = os.path.join(os.fspath(path), "") if os.path.isdir(path) else ""
    for batch in open_source(os.fspath(path)).batches():
        ids += (str(name).removeprefix(inside) for name in batch.table["id"].to_pylist())
        texts += batch.table["text"].to_pylist()
    if not texts:
        raise ValueError(f"{path} holds no documents")
    if len(set(ids)) < len(ids):
        twice = next(name for name, count in Counter(ids).items() if count > 1)
        raise ValueError(f"{path} must give each id once; got {twice!r:.80} twice or more")
    return ids, texts


def questions_from(
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    name: str,
    documents: tuple[list[str], list[str]] | None = None,
    limit: int | None = None,
    where: Any = None,
) -> Dataset:
    """The dataset of questions with (ids, texts) of documents, or None where each question brings its text.

    ``rows``: (where it stands, for errors; keys as :func:`questions_of` has them). ``where``: what errors call the
    documents.

    Raises:
        ValueError: as :func:`questions_of`.
    """
    ids, texts = ([], []) if documents is None else (list(documents[0]), list(documents[1]))
    places = {text: number for number, text in enumerate(ids)}
    questions: list[Question] = []
    astray = 0
    for at, row in rows:
        text = row.get("question")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{at}: looked for 'question', a text; got {text!r:.80}")
        key = row.get("document")
        document = -1
        if documents is None:
            if not isinstance(key, str):
                raise ValueError(
                    f"{at}: looked for 'document', the text, or an id of --documents FILE; got {key!r:.80}"
                )
            document = places.setdefault(key, len(texts))
            if document == len(texts):
                ids.append(str(document))
                texts.append(key)
        elif key is not None and key != "":
            if str(key) not in places:
                source = where or "the documents"
                first = ", ".join(repr(each)[:30] for each in ids[:3])
                raise ValueError(
                    f"{at}: document {str(key)!r:.80} is not an id in {source}, which has {len(ids)}: {first}"
                    f"{' ...' if len(ids) > 3 else ''}"
                )
            document = places[str(key)]
        answers, spans, wrong = _answers_of(row, texts[document] if document >= 0 else None, at)
        astray += wrong
        questions.append(Question(text, document, answers, spans))
    if not questions:
        raise ValueError(f"{name} holds no questions")
    notes = _astray(astray, len(questions), "answer_start")
    return Dataset(name, "answers", ids, texts, questions[:limit], notes=notes)


def _answers_of(row: Mapping[str, Any], text: str | None, at: str) -> tuple[tuple[str, ...], tuple[Span, ...], bool]:
    """(answers, their places, whether they stand elsewhere than the row says)."""
    given = row.get("answers")
    given = row.get("answer") if given is None else given
    if isinstance(given, Mapping) and isinstance(given.get("text"), (list, tuple)):
        starts = given.get("answer_start")
        listed = [{"text": own} for own in given["text"]]
        if isinstance(starts, (list, tuple)) and len(starts) == len(listed):
            listed = [{**own, "answer_start": begin} for own, begin in zip(listed, starts, strict=True)]
        given = listed
    several: list[Any] = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
    answers = []
    for each in several:
        own = each.get("text") if isinstance(each, Mapping) else each
        if not isinstance(own, (str, int, float)) or isinstance(own, bool):
            raise ValueError(f"{at}: looked for 'answers', a string or a list of strings; got {given!r:.80}")
        answers.append(str(own))
    spans = _spans_of(row, text, at)
    if spans and not answers and text is not None:
        answers = [text[slice(*span)] for span in spans]
    found = tuple(each for each in _distinct(answers) if each.strip())
    if not found:
        raise ValueError(f"{at}: looked for 'answers', a string or a list of strings; got {given!r:.80}")
    if spans or text is None or not all(isinstance(each, Mapping) for each in several):
        return found, spans, False
    places = _places(text, several)
    return found, places or (), places is None


def _spans_of(row: Mapping[str, Any], text: str | None, at: str) -> tuple[Span, ...]:
    given: Any = row.get("spans")
    if given is None or given == "":
        return ()
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = None
    pairs = isinstance(given, (list, tuple)) and all(
        isinstance(each, (list, tuple)) and len(each) == 2 and all(isinstance(end, int) for end in each)
        for each in given
    )
    if not pairs or text is None or any(not 0 <= begin < end <= len(text) for begin, end in given):
        has = "no document" if text is None else f"a document of {len(text)} characters"
        raise ValueError(
            f"{at}: looked for 'spans', pairs of the first character and the one after the last, in {has}; "
            f"got {row['spans']!r:.80}"
        )
    return tuple((begin, end) for begin, end in given)


#: Endings of files of questions, and of tables of documents beside them.
_QUESTIONS = (".jsonl", ".json", ".csv")
_ANY_OF = ".jsonl, .json or .csv"


def _beside(file: Path) -> Path | None:
    """A table of documents in the folder of a file of questions."""
    found = (file.with_name(f"documents{ending}") for ending in (*_QUESTIONS, ".parquet"))
    return next((each for each in found if each.is_file() and each != file), None)


def _question_rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where it stands, row) of each question of a file."""
    if file.suffix == ".csv":
        for number, cells in _csv_rows(file, {"question"}):
            row: dict[str, Any] = dict(cells)
            for name in ("answers", "answer"):
                if (row.get(name) or "").lstrip().startswith("["):
                    with suppress(ValueError):
                        listed = json.loads(row[name])
                        row[name] = listed if isinstance(listed, list) else row[name]
            yield f"{file} row {number}", row
    elif file.suffix == ".json":
        rows = _json(file)
        if not isinstance(rows, list):
            raise ValueError(f"{file}: looked for a list of questions, or SQuAD's 'data'; got {type(rows).__name__}")
        for number, each in enumerate(rows, 1):
            if not isinstance(each, dict):
                raise ValueError(f"{file} entry {number}: looked for an object with 'question'; got {each!r:.80}")
            yield f"{file} entry {number}", each
    else:
        for number, each in _json_rows(file, {"question"}):
            yield f"{file} line {number}", each


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(values))


def _json_rows(file: Path, needed: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, object)."""
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"{file} line {number} is not JSON: {error}") from None
                if not isinstance(row, dict) or not needed <= set(row):
                    got = sorted(row) if isinstance(row, dict) else type(row).__name__
                    raise ValueError(f"{file} line {number}: looked for the keys {sorted(needed)}; got {got}")
                yield number, row


def _csv_rows(file: Path, needed: set[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (row number from 1, without the header; columns).

    Raises:
        ValueError: columns are missing, a row has more or fewer fields than the first, or a quote that means nothing,
            which would take along the rows up to the next one.
    """
    longest = csv.field_size_limit(2**31 - 1)  # a cell may hold a document
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            missing = needed - set(reader.fieldnames or [])
            if missing:
                raise ValueError(f"{file} lacks the columns {sorted(missing)}; got {reader.fieldnames}")
            try:
                for number, row in enumerate(reader, 1):
                    if None in row or None in row.values():
                        raise ValueError(
                            f"{file}: row {number}, which ends in line {reader.line_num}, has more or fewer fields "
                            "than the first row"
                        )
                    yield number, row
            except csv.Error as error:
                raise ValueError(
                    f'{file}, line {reader.line_num + 1}: {error}: write quotes inside of a quoted field twice ("")'
                ) from None
    finally:
        csv.field_size_limit(longest)
