"""The sections of the page, from top to bottom."""
