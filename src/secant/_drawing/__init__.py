"""What pictures and the page share."""
