"""Tensors that lie on a device: they stay there, and cells and a few rows come to the host."""
