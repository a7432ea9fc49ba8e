"""Wikipedia: XML dumps, what WikiExtractor made of them, wikitext to plain text."""
