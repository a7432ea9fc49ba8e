"""The reference's parsers: Markdown, and HTML on lexbor's tree."""
