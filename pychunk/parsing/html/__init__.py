"""The conversion of HTML to Markdown with blocks, and the detection of noise in it."""
