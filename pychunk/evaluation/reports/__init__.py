"""Results as tables on a terminal, as JSON and as a page."""
