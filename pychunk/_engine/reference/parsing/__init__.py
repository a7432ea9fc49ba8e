"""The oracle's parsers: Markdown, and pages of HTML on lexbor's tree."""
