"""Stand-ins for the commands that node scripts call; they act on a temporary root, not on the machine."""
