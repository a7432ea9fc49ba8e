"""Pages of HTML to Markdown with blocks, and what of them is noise."""
