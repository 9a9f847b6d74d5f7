"""Blocks, the one table every number comes from, and how it is made and cut finer."""
