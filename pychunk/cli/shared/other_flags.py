"""The flags that users know from older versions and other tools, with what to write instead."""

from __future__ import annotations

from collections.abc import Collection

#: What to write for each flag that no command has. Each entry begins with the option that replaces the flag.
INSTEAD = {
    "--size": "-m METHOD:size=N, such as -m recursive:size=100",
    "--unit": "-m METHOD:unit=words, such as -m fixed:size=100,unit=words",
    "--threshold": "-m METHOD:threshold=VALUE, such as -m semantic:threshold=percentile:20",
    "--window": "-m METHOD:window=N, such as -m semantic:window=2",
    "--summary": "-m pic:summary=VALUE, such as -m pic:summary=lead",
    "--k": "-m pic:k=NUMBER, such as -m pic:k=0.5",
    "--summaries-out": "-m pic:summaries_out=true",
    "--within": "-m structure:within=RULE, such as -m structure:within=topic",
    "--titles": "--column titles=COLUMN",
    "--summaries": "--column summaries=COLUMN",
    "--page-starts": "--column page_starts=COLUMN",
    "--blocks": "--column blocks=COLUMN",
    "--removed": "--column removed=COLUMN",
    "--encoding": "--reader encoding=NAME, such as --reader encoding=cp1252",
    "--quotes": "--reader quotes=yes",
    "--no-quotes": "--reader quotes=no",
    "--redirects": "--reader redirects=yes",
    "--namespace": "--reader namespaces=NUMBERS, such as --reader namespaces=0+14",
    "--workers": "--reader workers=N",
    "--noise": "--reader noise=model, noise=rules or noise=off",
    "--noise-threshold": "--reader noise_threshold=NUMBER",
    "--links": "--reader links=text or links=inline",
    "--ocr": "--reader ocr=yes",
    "--hide-parameter": "--reader hide_parameters=NAMES, such as --reader hide_parameters=visitor+sid",
    "--shard-size": "--compression none,shard_size=MB",
    "--device": "--placement DEVICE, such as --placement cuda",
    "--threads": "--placement threads=N",
    "--runtime": "--placement runtime=NAME",
    "--precision": "--placement precision=NAME",
    # The flags of other tools.
    "--chunk-size": "--max-tokens N for the longest chunk, or -m fixed:size=N for chunks of one size",
    "--chunk-overlap": "--overlap N",
    "--max-length": "--max-tokens N",
    "--strategy": "-m METHOD",
    "--model": "--encoder NAME",
    "--embedding-model": "--encoder NAME",
    "--text-column": "--column COLUMN",
    "--metadata": "--metadata-columns COLUMN",
    "--gpu": "--placement cuda",
    "--jobs": "--placement threads=N",
    "-j": "--placement threads=N",
    "--num-workers": "--reader workers=N",
    "--format": "-o FILE, whose ending chooses the format",
}

#: What to write for an option of the program that stands after a command.
PROGRAM = {
    "--memory-limit": "it before the command: pychunk --memory-limit 2GB COMMAND",
    "--log-format": "it before the command: pychunk --log-format json COMMAND",
}


def advice(flag: str, known: Collection[str]) -> str | None:
    """Return what to write instead of a flag, or None if nothing replaces it among the ``known`` options of a command.

    >>> advice("--no-quotes", {"--reader"}), advice("--chunk_overlap", {"--overlap"}), advice("--noise", {"--mode"})
    ('--reader quotes=no', '--overlap N', None)
    """
    flag = flag.replace("_", "-")
    if flag in PROGRAM:
        return PROGRAM[flag]
    found = None if flag in known else INSTEAD.get(flag)
    return found if found and found.split()[0] in known else None
