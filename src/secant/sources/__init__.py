"""Where observations come from: each module turns one kind of data into blocks."""
