"""Tables of engines as a source: only sums leave them."""
