"""Write the cards of the shipped models again, each from the facts that its training wrote; this measures nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pychunk._util.model_facts import read_facts
from pychunk.encoders import static_encoder
from pychunk.encoders.files import model_dir
from pychunk.training.train_options import add_out, new_parser

from . import (
    compressor_card,
    languages_card,
    multilingual_card,
    noise_card,
    nsp_card,
    nsp_multilingual_card,
    nsp_static_card,
    planner_card,
    rank_card,
    static_card,
    topic_card,
)

REMEDY = "install pychunk again"


def cards(models: Path) -> dict[Path, str]:
    """Return the text of each card, by its file."""
    minilm = models / "compressor-minilm"
    return {
        models / "static.md": static_card.card(read_facts(models / "static.json", REMEDY)),
        models / "compressor.md": compressor_card.card(read_facts(models / "compressor.json", REMEDY)),
        minilm / "compressor.md": compressor_card.card(read_facts(minilm / "compressor.json", REMEDY)),
        models / "languages.md": languages_card.card(read_facts(models / "languages.json", REMEDY)),
        models / "nsp_static.md": nsp_static_card.card(read_facts(models / "nsp_static.json", REMEDY)),
        models / "noise.md": noise_card.card(read_facts(models / "noise.json", REMEDY)),
        models / "planner.md": planner_card.card(read_facts(models / "planner.json", REMEDY)),
        models / "rank.md": rank_card.card(read_facts(models / "rank.json", REMEDY)),
        models / "topic.md": topic_card.card(read_facts(models / "topic.json", REMEDY)),
        multilingual_card.FOLDER / "README.md": multilingual_card.card(
            read_facts(multilingual_card.FOLDER / "static.json", REMEDY)
        ),
        multilingual_card.FOLDER / "topic.md": topic_card.card(
            read_facts(multilingual_card.FOLDER / "topic.json", REMEDY)
        ),
        multilingual_card.FOLDER / "rank.md": rank_card.card(
            read_facts(multilingual_card.FOLDER / "rank.json", REMEDY)
        ),
        multilingual_card.FOLDER / "nsp_static.md": nsp_multilingual_card.card(
            read_facts(multilingual_card.FOLDER / "nsp_static.json", REMEDY)
        ),
        nsp_card.FOLDER / "README.md": nsp_card.card(model_dir.read(nsp_card.FOLDER, "pairs")),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the cards and return the process's exit status."""
    parser = new_parser("python -m training.cards", __doc__)
    add_out(parser, static_encoder.SHIPPED)
    for path, text in cards(parser.parse_args(arguments).out).items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
