"""Small files of Office, made of their XML, so that no library is needed to write them."""

from __future__ import annotations

import io
import zipfile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{}</Types>'
)
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>Report</dc:title><dc:creator>Anna</dc:creator><dcterms:modified>2024-05-06T07:08:09Z</dcterms:modified>"
    "</cp:coreProperties>"
)


def zipped(members: dict[str, str | bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def rels(**targets: str) -> str:
    """Return relations: the type of each and its target, by id."""
    rows = (
        f'<Relationship Id="{name}" Type="{DOCUMENT}/{target.partition(" ")[0]}" Target="{target.partition(" ")[2]}"/>'
        for name, target in targets.items()
    )
    return f'<Relationships xmlns="{RELS}">{"".join(rows)}</Relationships>'


def paragraph(text: str, style: str = "", inside: str = "") -> str:
    about = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{about}<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>{inside}</w:p>"


def table(*rows: tuple[str, ...], header: bool = False) -> str:
    mark = "<w:trPr><w:tblHeader/></w:trPr>"
    lines = (
        f"<w:tr>{mark if header and not at else ''}{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>"
        for at, row in enumerate(rows)
    )
    return f"<w:tbl>{''.join(lines)}</w:tbl>"


STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/>
<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Teil"><w:name w:val="Teil"/><w:basedOn w:val="Kapitel"/></w:style>
<w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/><w:basedOn w:val="B"/></w:style>
<w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="A"/></w:style>
</w:styles>"""


def docx(body: str, **parts: str) -> bytes:
    """Return a document of Word with this body; ``parts`` are further members, such as ``footnotes``."""
    return zipped(
        {
            "[Content_Types].xml": TYPES.format(""),
            "_rels/.rels": rels(a="officeDocument word/document.xml"),
            "word/_rels/document.xml.rels": rels(s="styles styles.xml", **{x: f"{x} {x}.xml" for x in parts}),
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": STYLES,
            "docProps/core.xml": CORE,
            **{f"word/{name}.xml": text for name, text in parts.items()},
        }
    )


def xlsx(**sheets: str) -> bytes:
    """Return a workbook; each value is the XML of a sheet's rows."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    names = list(sheets)
    listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="s{at}"/>' for at, name in enumerate(names, 1))
    return zipped(
        {
            "[Content_Types].xml": TYPES.format(""),
            "_rels/.rels": rels(a="officeDocument xl/workbook.xml"),
            "xl/_rels/workbook.xml.rels": rels(
                **{f"s{at}": f"worksheet worksheets/sheet{at}.xml" for at in range(1, len(names) + 1)}
            ),
            "xl/workbook.xml": f'<workbook {main} xmlns:r="{DOCUMENT}"><sheets>{listed}</sheets></workbook>',
            **{
                f"xl/worksheets/sheet{at}.xml": f"<worksheet {main}><sheetData>{sheets[name]}</sheetData></worksheet>"
                for at, name in enumerate(names, 1)
            },
        }
    )


def row(number: int, *values: str | float | bool | None) -> str:
    """Return a row of a sheet."""
    cells = []
    for at, value in enumerate(values):
        place = f"{chr(65 + at)}{number}"
        if isinstance(value, bool):
            cells.append(f'<c r="{place}" t="b"><v>{int(value)}</v></c>')
        elif isinstance(value, str):
            cells.append(f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>')
        elif value is not None:
            cells.append(f'<c r="{place}"><v>{value}</v></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'
