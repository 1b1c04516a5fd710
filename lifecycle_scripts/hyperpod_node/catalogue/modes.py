"""Names for the modes and node types that steps belong to, and for what only one may use at a time."""

# the modes in which the service leaves mounting and Slurm to these scripts
OURS = ("custom", "legacy")
SERVICES = ("extension",)

CONTROLLER = ("Controller",)
LOGIN = ("Login",)
COMPUTE = ("Compute",)

# `uses` of steps that install, hold or remove packages, that change /etc/passwd and /etc/group, that change
# plugstack.conf
PACKAGES = ("packages",)
ACCOUNTS = ("accounts",)
PLUGSTACK = ("plugstack",)
