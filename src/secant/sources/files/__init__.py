"""Files as a source: Parquet, CSV and Feather, streamed with constant memory."""
