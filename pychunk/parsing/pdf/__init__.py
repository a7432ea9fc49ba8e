"""The conversion of PDF to text with blocks, pages and removed spans."""
