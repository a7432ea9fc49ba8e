"""Datasets read from files: questions with known answers, spans or pages, and documents with known boundaries."""

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

from .._util.counting import counted
from .measures import answer_containment

Span = tuple[int, int]

_HEADING_WORDS = 8
_PAGE_MARK = re.compile(r"^===== Page (\d+) =====(?:\n|\Z)", re.MULTILINE)
_OPTIONS = tuple("ABCDEF")


@dataclass(frozen=True)
class Question:
    """A question about one document.

    Attributes:
        text: The question.
        document: The row of the document in the dataset, -1 if it is unknown.
        answers: The right answers; any of these strings is right.
        spans: The spans that answer the question, in characters of the document. With ``answers``, these are the places
            where the answers occur.
        paragraph: The paragraph or page that the question is about, in characters of the document.
        page: The number of the page that the question is about, counted from 1.
        options: The options of a multiple-choice question.
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
    """Documents with questions about them, or with the boundaries of their sections.

    Attributes:
        name: The name of the dataset.
        kind: The facts that the dataset has about each question: answers, reference spans or pages. A dataset of
            "boundaries" has no questions, but the sections of its documents.
        ids: The id of each document.
        documents: The text of each document.
        questions: The questions.
        page_starts: The positions at which the pages of each document begin; empty if documents have no pages.
        boundaries: The positions at which the sections of each document begin, without 0; only for the kind
            "boundaries".
        titles: The title of each document, for ``augment="title"``, only if the dataset has titles.
        notes: Problems of the questions, in words for a report.
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
        """The questions' answers and where they occur in the documents, found once."""
        return answer_containment.Gold(
            self.documents, ((each.document, each.paragraph, each.answers, each.spans) for each in self.questions)
        )


def load(
    path: str | Path, limit: int | None = None, *, pdf: bool = False, documents: str | Path | None = None
) -> Dataset:
    """Load the dataset in a file or folder of any supported kind, with its first ``limit`` questions.

    If the path does not exist, it is looked up in the folder that PYCHUNK_DATA names. All documents are loaded, but for
    a dataset without questions ``limit`` is the number of documents.

    Args:
        path: The file or folder.
        limit: The most questions to load; None loads all.
        pdf: Whether to read the PDF files of leaflets; see :func:`unlp`.
        documents: The file or folder of the documents that the questions name; see :func:`questions_of`.

    Raises:
        ValueError: The path does not exist or is not a dataset, or ``limit`` is below 1.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1; got {limit}")
    where = _there(path, "dataset")
    if documents is not None:
        if where.is_dir() or where.suffix not in _QUESTIONS:
            raise ValueError(f"--documents needs questions in a {_ANY_OF} file; got {where}")
        return questions_of(where, _there(documents, "documents"), limit)
    if pdf:
        if not (where / "questions.csv").is_file():
            raise ValueError(
                f"{where} has no questions.csv about PDF files, and only such a folder is read as PDF: leave out --pdf"
            )
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
        f"{where} is not a dataset: it must be .json (SQuAD, questions), .jsonl, .csv or .parquet; got {where.suffix!r}"
    )


def _there(path: str | Path, what: str) -> Path:
    """Return the path, or the same path in the folder that PYCHUNK_DATA names.

    Raises:
        ValueError: Neither exists.
    """
    where = Path(path)
    if not where.exists():
        where = Path(os.environ.get("PYCHUNK_DATA", "")) / path
    if not where.exists():
        raise ValueError(
            f"no {what} at {path}: no such file or folder here, nor in the folder that PYCHUNK_DATA names; "
            "correct the path"
        )
    return where


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}; correct the file") from None


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
            f"{table} is no dataset: it must have the column question and one of answers, answer and spans; or all of "
            f"{', '.join(sorted(_REFERENCE_COLUMNS))}; or all of {', '.join(sorted(_PAGE_COLUMNS))}; got "
            f"{', '.join(columns) or 'no columns'}"
        )
    if (folder / "questions.jsonl").exists():
        return questions_of(folder / "questions.jsonl", limit=limit)
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".json", ".jsonl", ".parquet")]
    if len(files) == 1:
        return load(files[0], limit)
    raise ValueError(
        f"{folder} is no dataset: it must have questions.csv, questions.jsonl or one .json, .jsonl or .parquet file; "
        f"found {', '.join(file.name for file in files) or 'none of them'}"
    )


def squad(path: str | Path, limit: int | None = None) -> Dataset:
    """Load the answerable questions of SQuAD 1 or 2 (Rajpurkar et al., 2016, 2018).

    A document is an article, with its paragraphs joined by line breaks. An answer may be a string or {"text": ...}. If
    every answer of a question has an ``answer_start``, only a chunk that contains an answer at its position counts as a
    hit.
    """
    file = Path(path)
    content = _json(file)
    if not isinstance(content, dict) or "data" not in content:
        got = sorted(content) if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{file} is not SQuAD: it must have the key 'data'; got {got}")
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
    """Return the spans of the answers by their ``answer_start``.

    The result is empty if an answer lacks ``answer_start``, and None if another text is at that position.
    """
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
    """Return a list with a note about the ``count`` questions whose answers are not at the places that ``key`` states.

    The list is empty if ``count`` is 0.
    """
    if not count:
        return []
    which = "1 question has its answer" if count == 1 else f"{count} questions have their answers"
    return [f"{which}, of {of}, at another place than {key} says; their text was searched for instead"]


_REFERENCE_COLUMNS = {"question", "references", "corpus_id"}


def chunking_evaluation(folder: str | Path, limit: int | None = None) -> Dataset:
    """Load Chroma's chunking evaluation: questions.csv, and a text <corpus_id>.md for each corpus."""
    folder = Path(folder)
    texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.md"))}
    rows = {name: row for row, name in enumerate(texts)}
    questions = []
    for number, row in islice(_csv_rows(folder / "questions.csv", _REFERENCE_COLUMNS), limit):
        corpus = row["corpus_id"]
        if corpus not in texts:
            raise ValueError(
                f"questions.csv row {number}: corpus_id is {corpus!r:.80}, but {folder} has no {corpus}.md, only "
                f"{', '.join(f'{name}.md' for name in texts) or 'no .md'}: add the file, or correct corpus_id"
            )
        spans = []
        for reference in json.loads(row["references"]):
            start, end = int(reference["start_index"]), int(reference["end_index"])
            if texts[corpus][start:end] != reference["content"]:
                raise ValueError(
                    f"questions.csv row {number}: characters {start} to {end} of {corpus}.md are "
                    f"{texts[corpus][start:end]!r:.80}, not {reference['content']!r:.80}: correct start_index and "
                    "end_index"
                )
            spans.append((start, end))
        questions.append(Question(row["question"], rows[corpus], spans=tuple(spans)))
    return Dataset(folder.name, "references", list(texts), list(texts.values()), questions)


_PAGE_COLUMNS = {"Question", "Doc_ID", "Page_Num", *_OPTIONS}


def unlp(folder: str | Path, limit: int | None = None, *, pdf: bool = False) -> Dataset:
    """Load the UNLP 2026 shared task: questions.csv, and a text <Doc_ID>.txt with page marks for each document.

    The texts may be at any depth below the folder. With ``pdf``, or if there are no texts, the files <Doc_ID>.pdf are
    read instead (extra ``docs``).

    A page mark is a line ``===== Page 3 =====`` after the text of page 3. But if text follows the last mark of a file,
    each mark precedes the text of its page. Marks are not part of the documents. If the table names the right option,
    the answer is the text of that option.
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
            raise ValueError(
                f"questions.csv row {number}: no text of {row['Doc_ID']} in {folder}; add it, or leave out the row"
            )
        if not 1 <= page <= len(starts[document]):
            raise ValueError(
                f"questions.csv row {number}: Page_Num must be from 1 to {len(starts[document])}, the number of pages "
                f"of {row['Doc_ID']}; got {page}"
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
    """Return the text of each page of the PDF files in a folder, at any depth, in the order of their paths."""
    from ..io import open_source

    found: dict[str, list[str]] = {}
    if any(folder.rglob("*.pdf")):
        for batch in open_source(folder, kind="pdf").batches():
            for row in batch.table.select(["file", "text", "page_starts"]).to_pylist():
                borders = pairwise([0, *row["page_starts"][1:], len(row["text"])])
                found[row["file"]] = [row["text"][begin:end] for begin, end in borders]
    return [found.get(str(file), [""]) for file in sorted(folder.rglob("*.pdf"))]


def _split_pages(file: Path) -> list[str]:
    """Return the text of each page; joined, they are the document."""
    text = file.read_text(encoding="utf-8")
    parts = _PAGE_MARK.split(text)  # text, number, text, number, ..., text
    numbers, texts = [int(number) for number in parts[1::2]], parts[::2]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(
            f"{file} must mark its pages from 1 on with lines '===== Page 1 ====='; got the pages {numbers!s:.80}"
        )
    outside = texts.pop(0 if texts[-1].strip() else -1)
    if outside.strip():
        raise ValueError(
            f"{file} has text before its first page mark, {outside[:40]!r}, and after its last, {texts[-1][:40]!r}, so "
            f"a mark is missing: add '===== Page {len(numbers) + 1} =====' as the last line, or remove the first text"
        )
    return texts


def _starts(parts: list[str]) -> list[int]:
    starts, end = [], 0
    for part in parts:
        starts.append(end)
        end += len(part)
    return starts


def wikipedia_sections(path: str | Path, limit: int | None = None) -> Dataset:
    """Load Wikipedia articles and the boundaries of their sections from a Parquet file with columns ``id``, ``text``.

    The text is WikiExtractor's, with one paragraph on each line. A line counts as a heading if it meets these
    conditions:

    - It has at most 8 words and ends with one full stop.
    - Its first letter is a capital or a digit.
    - A longer line or another heading follows.

    Consecutive headings begin one section. A few short sentences pass for headings.
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
            f"{_HEADING_WORDS} words that end with a full stop, before a longer line); questions must be in a .json "
            "or .jsonl file"
        )
    ids = [str(article["id"]) for article in articles]
    return Dataset(Path(path).stem, "boundaries", ids, documents, boundaries=boundaries)


def section_starts(text: str) -> list[int]:
    r"""Return the first characters of the sections of a WikiExtractor text, without 0.

    Example:
        >>> section_starts("Ada was a mathematician.\nLife.\nYouth.\nAda was born in London.")
        [25]
    """
    lines = lines_with_headings(text)
    return [start for (_, _, before), (start, _, heading) in pairwise(lines) if heading and not before]


def lines_with_headings(text: str) -> list[tuple[int, str, bool]]:
    r"""Return (first character, text, whether it is a heading) of each line of a WikiExtractor text that is not blank.

    Example:
        >>> lines_with_headings("Ada lived.\nLife.\nShe was born.")
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
    """Load questions with ``question``, ``answers`` and ``document`` from a JSON Lines, JSON or CSV file.

    - ``document`` is the text of the document. With the argument ``documents``, it is the id of one of these, and may
      be missing if it is unknown.
    - ``answers`` may be called ``answer``. It is one string, a list of strings, or SQuAD's ``text`` and
      ``answer_start``. In CSV, a list is written as JSON.
    - ``spans`` gives the places of the answers as pairs: the first character, and the one after the last. Only chunks
      that contain such a span count as hits.

    Args:
        path: The file.
        documents: (ids, texts), or a file or folder for :func:`read_documents`. By default, this is a file
            ``documents.jsonl`` (or .json, .csv, .parquet) in the questions' folder, if it has all documents that the
            questions name.
        limit: The most questions to load; None loads all.

    Raises:
        ValueError: A row lacks a value, or an id is missing from the documents or occurs twice in them.

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
            raise ValueError(
                f"{file}: document {name!r:.80} is not an id in {beside}, though others are: correct the id, or pass "
                "documents= with the file that has all of them"
            )
    if documents is None or isinstance(documents, tuple):
        return questions_from(rows, file.stem, documents, limit)
    return questions_from(rows, file.stem, read_documents(documents), limit, documents)


def read_documents(path: str | os.PathLike[str]) -> tuple[list[str], list[str]]:
    """Return (ids, texts) of a file or folder that :func:`pychunk.io.open_source` reads.

    The ids in a table are the values of its column ``id``. The ids of other files in a folder are their paths below the
    folder.

    Raises:
        ValueError: There is nothing to read, or an id occurs twice.
    """
    from ..io import open_source

    ids: list[str] = []
    texts: list[str] = []
    inside = os.path.join(os.fspath(path), "") if os.path.isdir(path) else ""
    for batch in open_source(os.fspath(path)).batches():
        ids += (str(name).removeprefix(inside) for name in batch.table["id"].to_pylist())
        texts += batch.table["text"].to_pylist()
    if not texts:
        raise ValueError(f"{path} holds no documents; name a file or folder that does")
    if len(set(ids)) < len(ids):
        twice = next(name for name, count in Counter(ids).items() if count > 1)
        raise ValueError(f"{path} must have each id once; got {twice!r:.80} twice or more")
    return ids, texts


def questions_from(
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    name: str,
    documents: tuple[list[str], list[str]] | None = None,
    limit: int | None = None,
    where: Any = None,
) -> Dataset:
    """Return the dataset of questions about documents.

    Args:
        rows: A pair for each question: its position, for errors, and its values by the keys that :func:`questions_of`
            describes.
        name: The name of the dataset.
        documents: (ids, texts), or None if each question contains its text.
        limit: The most questions to take; None takes all.
        where: The name of the documents for errors.

    Raises:
        ValueError: See :func:`questions_of`.
    """
    ids, texts = ([], []) if documents is None else (list(documents[0]), list(documents[1]))
    places = {text: number for number, text in enumerate(ids)}
    questions: list[Question] = []
    astray = 0
    for at, row in rows:
        text = row.get("question")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{at}: 'question' must be a text that is not blank; got {text!r:.80}")
        key = row.get("document")
        document = -1
        if documents is None:
            if not isinstance(key, str):
                raise ValueError(f"{at}: 'document' must be the text; got {key!r:.80} (for ids, pass documents=)")
            document = places.setdefault(key, len(texts))
            if document == len(texts):
                ids.append(str(document))
                texts.append(key)
        elif key is not None and key != "":
            if str(key) not in places:
                source = where or "the documents"
                first = ", ".join(repr(each)[:30] for each in ids[:3])
                raise ValueError(
                    f"{at}: document {str(key)!r:.80} is not an id in {source}; choose from {first}"
                    f"{f' ... ({len(ids):,} ids)' if len(ids) > 3 else ''}"
                )
            document = places[str(key)]
        answers, spans, wrong = _answers_of(row, texts[document] if document >= 0 else None, at)
        astray += wrong
        questions.append(Question(text, document, answers, spans))
    if not questions:
        raise ValueError(f"{name} holds no questions; add at least one")
    notes = _astray(astray, len(questions), "answer_start")
    return Dataset(name, "answers", ids, texts, questions[:limit], notes=notes)


def _answers_of(row: Mapping[str, Any], text: str | None, at: str) -> tuple[tuple[str, ...], tuple[Span, ...], bool]:
    """Return (answers, their spans, whether an answer is not at the position that the row gives)."""
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
            raise ValueError(f"{at}: 'answers' must be a string or a list of strings, not all blank; got {given!r:.80}")
        answers.append(str(own))
    spans = _spans_of(row, text, at)
    if spans and not answers and text is not None:
        answers = [text[slice(*span)] for span in spans]
    found = tuple(each for each in _distinct(answers) if each.strip())
    if not found:
        raise ValueError(f"{at}: 'answers' must be a string or a list of strings, not all blank; got {given!r:.80}")
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
        if text is None:
            raise ValueError(f"{at}: 'spans' need a document; got {row['spans']!r:.80} without one: add 'document'")
        has = f"a document of {counted(len(text), 'character')}"
        raise ValueError(
            f"{at}: 'spans' must be pairs of the first character and the one after the last, in {has}; "
            f"got {row['spans']!r:.80}"
        )
    return tuple((begin, end) for begin, end in given)


#: The endings of files of questions, and of tables of documents in the same folder.
_QUESTIONS = (".jsonl", ".json", ".csv")
_ANY_OF = ".jsonl, .json or .csv"


def _beside(file: Path) -> Path | None:
    """Return the table of documents in the folder of a file of questions, None if there is none."""
    found = (file.with_name(f"documents{ending}") for ending in (*_QUESTIONS, ".parquet"))
    return next((each for each in found if each.is_file() and each != file), None)


def _question_rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (position for errors, row) of each question of a file."""
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
            raise ValueError(f"{file} must have a list of questions, or SQuAD's key 'data'; got {type(rows).__name__}")
        for number, each in enumerate(rows, 1):
            if not isinstance(each, dict):
                raise ValueError(f"{file} entry {number} must be an object with the key 'question'; got {each!r:.80}")
            yield f"{file} entry {number}", each
    else:
        for number, each in _json_rows(file, {"question"}):
            yield f"{file} line {number}", each


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return each value once, in order."""
    return tuple(dict.fromkeys(values))


def _json_rows(file: Path, needed: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of each line."""
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"{file} line {number} is not JSON: {error}; correct the line") from None
                if not isinstance(row, dict) or not needed <= set(row):
                    got = f"the keys {sorted(row)}" if isinstance(row, dict) else f"a {type(row).__name__}"
                    keys = f"key{'s' * (len(needed) > 1)} {', '.join(map(repr, sorted(needed)))}"
                    raise ValueError(f"{file} line {number} must be a JSON object with the {keys}; got {got!s:.200}")
                yield number, row


#: What to do about a quote that a CSV file must not have where it is.
_QUOTES = 'inside a quoted field, write each quote twice ("")'


def _csv_rows(file: Path, needed: set[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (row number, values by column). The first row after the header is number 1.

    Raises:
        ValueError: Columns are missing, a row has more or fewer fields than the first, or a quote is misplaced. A
            misplaced quote would swallow the rows up to the next quote.
    """
    longest = csv.field_size_limit(2**31 - 1)  # a cell may contain a document
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            missing = needed - set(reader.fieldnames or [])
            if missing:
                raise ValueError(f"{file} lacks the columns {sorted(missing)}, so add them; got {reader.fieldnames}")
            try:
                for number, row in enumerate(reader, 1):
                    if None in row or None in row.values():
                        more = len(row.get(None) or ())
                        held = sum(value is not None for key, value in row.items() if key is not None) + more
                        named = len(reader.fieldnames or [])
                        mend = "put a field that has a comma in double quotes"
                        if held < named:
                            mend = f"add the missing field{'s' * (named - held > 1)}"
                        raise ValueError(
                            f"{file}: row {number}, which ends in line {reader.line_num}, has "
                            f"{counted(held, 'field')}, but the header has {named}: {mend}"
                        )
                    yield number, row
            except csv.Error as error:
                ended = "unexpected end" in str(error)
                mend = "a quoted field is not closed, so add its closing quote" if ended else _QUOTES
                raise ValueError(f"{file}, line {reader.line_num + 1}: {error}: {mend}") from None
    finally:
        csv.field_size_limit(longest)
