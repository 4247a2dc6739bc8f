"""What is read from pages: links, title, language, encoding, fingerprints."""
