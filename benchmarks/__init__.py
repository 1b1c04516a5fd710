"""What is measured, and the last figures: `make bench`."""
