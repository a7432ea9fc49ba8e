"""The results as tables on a terminal, as JSON and as an HTML page."""
