"""Numbers from blocks: the cumulative metrics, the binned ones, where predictions are off."""
