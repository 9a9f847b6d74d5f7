"""One kind of data each, turned into blocks."""
