"""Real nodes without AWS: hosts as namespaces of one Linux machine, on which the scripts run as they are.

Each host has its own network, processes, users, file systems and systemd; munged, slurmctld, slurmd, slurmdbd
and MariaDB are the real ones. What only AWS has is played by the stand-ins beside this file.
"""
