"""PDF to text with blocks, pages and what is left out."""
