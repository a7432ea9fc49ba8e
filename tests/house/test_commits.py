"""Subjects of commits have the area, then an imperative, in at most 72 characters."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: The rule applies to commits after this one.
BASE = "7e533a1"
SUBJECT = re.compile(r"[a-z][a-z0-9_/.-]*(, [a-z][a-z0-9_/.-]*)*: (?P<verb>[a-z]+)\b.*[^.]")
#: First words that are imperatives in spite of their endings.
VERBS = {
    "address",
    "bypass",
    "compress",
    "discuss",
    "embed",
    "feed",
    "need",
    "pass",
    "process",
    "seed",
    "speed",
    "string",
}
NOUNS = {
    "a",
    "all",
    "an",
    "any",
    "every",
    "how",
    "its",
    "more",
    "no",
    "of",
    "one",
    "the",
    "these",
    "what",
    "where",
    "which",
}


def fault_of(subject: str) -> str:
    """Return the fault of a subject, or "" if it has none."""
    if len(subject) > 72:
        return f"{len(subject)} characters; at most 72"
    found = SUBJECT.fullmatch(subject)
    if not found:
        return 'no "area: imperative" without a full stop'
    verb = found["verb"]
    if verb in NOUNS or (verb not in VERBS and re.search(r"(ed|ing|s)$", verb)):
        return f"{verb!r} is no imperative"
    return ""


def test_subjects_name_an_area_and_what_the_commit_does() -> None:
    command = ["git", "log", "--no-merges", "--format=%h %s", f"{BASE}..HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the history is not here: {done.stderr.strip()[:80]}")
    wrong = {line: fault for line in done.stdout.splitlines() if (fault := fault_of(line.partition(" ")[2]))}
    assert not wrong


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("index: skip unchanged files by digest", ""),
        ("csrc/text: embed a table of characters", ""),
        ("csrc, urls: mend what random inputs found", ""),
        ("Index: skip unchanged files", 'no "area: imperative" without a full stop'),
        ("skip unchanged files", 'no "area: imperative" without a full stop'),
        ("index: skip unchanged files.", 'no "area: imperative" without a full stop'),
        ("index: skips unchanged files", "'skips' is no imperative"),
        ("index: what is unchanged is skipped", "'what' is no imperative"),
        ("index: " + "skip " * 14, "77 characters; at most 72"),
    ],
)
def test_faults_of_a_subject(subject: str, fault: str) -> None:
    assert fault_of(subject) == fault
