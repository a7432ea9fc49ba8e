"""The reference's parsers of Markdown, and of HTML that lexbor has parsed into a tree."""
