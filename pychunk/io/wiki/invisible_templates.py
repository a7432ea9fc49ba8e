"""The names of templates that show readers no text of the article: references, notices, boxes, icons, anchors."""

from __future__ import annotations

import re

#: The beginnings, and then the ends, of the names of such templates, in lower case.
_BEGIN = re.compile(
    r"(?:cite|citation|vcite|harv|sfn|efn|refn|ref|#|r from|r to|use |pp-|infobox|taxobox|automatic taxobox|speciesbox|"
    r"chembox|drugbox|geobox|navbox|sidebar|portal|commons|wikt|wikisource|wikiquote|wikibooks|wikinews|wikispecies|"
    r"wikiversity|wikivoyage|wikimedia|wikidata|wikipedia|sister|authority|unreferenced|refimprove|more citations|more "
    r"footnotes|no footnotes|expand|unreliable|verify|failed|better source|page needed|self-published|according to|by "
    r"whom|div col|col-|colbegin|colend|s-|toc|clear|anchor|dead link|webarchive|wayback|good article|featured article|"
    r"disambig|multiple|about|other uses|redirect|distinguish|hatnote|short description|default|pad |flagicon|"
    r"link |image|wide image|css image|photo|external media|audio|listen|pron|bar |bartable|chart|graph|legend|"
    r"location map|climate|weather|historical pop|us census|campaign|election|football|goal|yellow card|sent off|"
    r"subst:|user|talk|unsigned|prose|tone|pov|npov|original research|update|outdated|copy ?edit|cleanup|lead |undue|"
    r"imdb|google|youtube|internet archive|gutenberg|librivox|worldcat|find a grave|dmoz|curlie|official|icd|mesh|"
    r"medlineplus|emedicine|diseasesdb|omim|kegg|drugbank|pubchem|chemspider|unii|cia world|inpho|philpapers|sep |iep)"
)
_END = re.compile(r"(?:icons?|stub|box|topics|needed|inline|navigation|footer|header|category|end|begin|start)$")
_NAMES = frozenset(
    name.replace("_", " ")
    for name in re.findall(
        r"\S+",
        "for for2 for_multi cn fact who when where which why what how vague clarify dubious disputed specify quantify "
        "weasel peacock or "
        "syn rp r note notelist reflist ntsh dtsh hs sort_hidden hid hide inflation inflation-fn inflation/fn clade "
        "increase_icon steady nochange same noref lsj nbsp_hidden fossil_range geological_range in_our_time pn dn "
        "sic_hidden tl tlx tlp citeneeded spaceflight_crew marriage metaphysics ethics details3 no_more_links harvid "
        "rwd bots nobots ambox efn-ua efn-lr sfnp sfnm sfnref primary_source third-party medref improve_categories "
        "uncategorized orphan notability advert coi blp_sources authority_control persondata sortkey - -- ran "
        "subscription subscription_required registration_required closed_access open_access free_access not_english "
        "in_lang languageicon language_icon pdf pdflink doc xls link_language dlw flagg flagdeco flag_icon fb fbicon "
        "fbw cr crw ru ruw gold silver bronze gold01 silver02 bronze03 gold_medal silver_medal bronze_medal yes no won "
        "nom pending tba n/a dash_cell rh rd rs ",
    )
)


def is_unseen(name: str) -> bool:
    """Return whether a template with this name (in lower case) shows readers no text of the article.

    >>> is_unseen("cite web"), is_unseen("fr icon"), is_unseen("railgauge")
    (True, True, False)
    """
    return name in _NAMES or _BEGIN.match(name) is not None or _END.search(name) is not None
