"""Stand-ins for the commands that node scripts call; they act on a temporary root, not on the machine.

Each call is a process of its own, so they import next to nothing: among themselves they import relatively,
and are started without the packages above them.
"""
