"""P-values and confidence limits."""
