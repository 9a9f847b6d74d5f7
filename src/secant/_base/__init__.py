"""What every room stands on: types, files written whole, progress, extras."""
