"""What comes back, what was found, and the words for it."""
