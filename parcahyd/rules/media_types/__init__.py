"""What kind of document an answer is."""
