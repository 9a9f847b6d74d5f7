"""What users pass in, checked once."""
